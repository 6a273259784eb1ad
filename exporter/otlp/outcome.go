package otlp

import (
	"context"
	"errors"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Outcome classifies the result of an attempt to deliver a batch.
type Outcome int

// The outcomes of an attempt.
const (
	Delivered    Outcome = iota // perhaps only in part
	Refused                     // permanently
	Malformed                   // permanently, perhaps because of a single span
	TooLarge                    // permanently, but its halves may be accepted
	NoConnection                // temporarily: the backend accepts no connection
	Unreachable                 // temporarily, for other reasons; the backend may only be slow
	Unclassified                // the error does not tell
)

// Result is an outcome and its details.
type Result struct {
	Outcome
	Rejected   int           // rejected spans or series of a delivered batch
	Cause      string        // of a failure, in our own words: error texts contain URLs and responses of the backend
	RetryAfter time.Duration // how long the backend asks to wait before the next attempt; 0 if it does not ask
}

// The SDK's OTLP exporters give an HTTP backend's response only as text, and a partial success only as
// an internal type. Tests compare these patterns with the exporters' actual errors.
var (
	partialSuccess  = regexp.MustCompile(by + `OTLP partial success: .* \((-?\d+) (?:spans|metric data points) rejected\)$`)
	refusedStatus   = regexp.MustCompile(by + `failed to send (?:metrics )?to \S+: (\d{3}) `)
	retryableStatus = regexp.MustCompile(by + `retry-able request failure`)
	unencodable     = regexp.MustCompile(by + `failed to marshal request body`)
	clientLimit     = regexp.MustCompile(by + `request (?:body|message) too large: exceeded \d+ bytes$`)
)

// by matches the prefix that each signal's exporter adds.
const by = `(?s)^(?:traces export: |failed to upload metrics: )?`

// Classify classifies an exporter's error.
func Classify(err error) Result {
	if err == nil {
		return Result{Outcome: Delivered}
	}
	text := err.Error()
	if part := partialSuccess.FindStringSubmatch(text); part != nil {
		// A count over int is one over the batch.
		rejected, _ := strconv.Atoi(part[1])
		return Result{Outcome: Delivered, Rejected: max(rejected, 0), Cause: "some of a batch"}
	}
	var answer interface{ GRPCStatus() *status.Status } // status.FromError would use the wrapper's text
	if errors.As(err, &answer) {
		return classifyStatus(answer.GRPCStatus())
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return Result{Outcome: Unreachable, Cause: "canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return Result{Outcome: Unreachable, Cause: timedOut}
	case errors.Is(err, errRedirected):
		return Result{Outcome: Refused, Cause: "redirect without the telemetry"}
	case errors.As(err, &network):
		return classifyNetwork(network)
	case retryableStatus.MatchString(text):
		return Result{Outcome: Unreachable, Cause: "HTTP status 429, 502, 503 or 504", RetryAfter: retryAfter(err)}
	case unencodable.MatchString(text):
		return Result{Outcome: Malformed, Cause: "cannot be encoded"}
	case errors.Is(err, proto.Error): // the answer cannot be decoded, but its status is a success
		return Result{Outcome: Delivered}
	case clientLimit.MatchString(text):
		return Result{Outcome: TooLarge, Cause: "too large for the exporter"}
	}
	code := refusedStatus.FindStringSubmatch(text)
	switch {
	case code == nil:
		return Result{Outcome: Unclassified, Cause: "unknown error"}
	case code[1] == "413":
		return Result{Outcome: TooLarge, Cause: "HTTP status 413"}
	case code[1] == "400", code[1] == "422":
		return Result{Outcome: Malformed, Cause: "HTTP status " + code[1]}
	}
	return Result{Outcome: Refused, Cause: "HTTP status " + code[1]}
}

// retryAfter returns the Retry-After header of an HTTP backend's response. The SDK's error has it in an unexported field.
func retryAfter(err error) time.Duration {
	var temporary interface{ As(target any) bool } // only this error of the SDK has the method
	if !errors.As(err, &temporary) {
		return 0
	}
	if wait := reflect.Indirect(reflect.ValueOf(temporary)).FieldByName("throttle"); wait.IsValid() && wait.CanInt() {
		return time.Duration(wait.Int())
	}
	return 0
}

// classifyStatus follows the OTLP specification's table of what is retryable.
func classifyStatus(answer *status.Status) Result {
	v := Result{Outcome: Refused, Cause: "gRPC status " + answer.Code().String()}
	mayRetry := false
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			mayRetry, v.RetryAfter = true, max(info.GetRetryDelay().AsDuration(), 0)
		}
	}
	switch answer.Code() {
	case codes.Unavailable:
		if strings.HasPrefix(answer.Message(), "connection error: ") || strings.HasPrefix(answer.Message(), "name resolver error: ") {
			return unconnected(answer.Message())
		}
		v.Outcome = Unreachable
	case codes.DeadlineExceeded:
		return Result{Outcome: Unreachable, Cause: timedOut}
	case codes.InvalidArgument:
		v.Outcome = Malformed
	case codes.Internal:
		if strings.HasPrefix(answer.Message(), "grpc: error while marshaling: ") { // before anything was sent
			return Result{Outcome: Malformed, Cause: "cannot be encoded"}
		}
	case codes.Canceled, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		v.Outcome = Unreachable
	case codes.ResourceExhausted:
		// Without retry information, the message is too large: grpc returns this code for a message
		// over its limit.
		if v.Outcome = TooLarge; mayRetry {
			v.Outcome = Unreachable
		}
	}
	return v
}

// classifyNetwork classifies the error of an HTTP request that got no response.
func classifyNetwork(err net.Error) Result {
	if err.Timeout() {
		return Result{Outcome: Unreachable, Cause: timedOut}
	}
	var request *url.Error
	if errors.As(err, &request) { // its own text begins with the URL
		return unconnected(request.Err.Error())
	}
	return unconnected("")
}

const timedOut = "timeout"

// connectionFaults classifies connection errors by the texts of Go's net package, which both exporters
// pass on.
var connectionFaults = []struct {
	says, cause string
	Outcome
}{
	{"i/o timeout", timedOut, Unreachable},
	{"connection timed out", timedOut, Unreachable},
	{"connection refused", "connection refused", NoConnection},
	{"no such host", "no such host", NoConnection},
	{"zero addresses", "no such host", NoConnection},
	{"tls: ", "TLS handshake failed", NoConnection},
	{"HTTP response to HTTPS client", "TLS handshake failed", NoConnection},
	{"HTTP/1.1 header", "no gRPC server; see OTEL_EXPORTER_OTLP_PROTOCOL", NoConnection},
	{"dial ", "no connection", NoConnection},
}

func unconnected(says string) Result {
	for _, fault := range connectionFaults {
		if strings.Contains(says, fault.says) {
			return Result{Outcome: fault.Outcome, Cause: fault.cause}
		}
	}
	return Result{Outcome: Unreachable, Cause: "connection broken"}
}
