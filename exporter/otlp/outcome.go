package otlp

import (
	"context"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Outcome is what an attempt to deliver a batch came to.
type Outcome int

// The outcomes.
const (
	Delivered   Outcome = iota // though perhaps not all of it
	Refused                    // for good
	Malformed                  // for good, perhaps for one span of many
	TooLarge                   // for good, but its halves may pass
	Nobody                     // an outage: nobody takes a connection
	Unreachable                // an outage otherwise, of somebody who may only be slow
	Obscure                    // the error does not say
)

// Verdict is an outcome with what else is known of it.
type Verdict struct {
	Outcome
	Rejected int    // spans or series of a batch that was delivered
	Cause    string // of all but success. In our words: errors hold URLs, and what the backend says
}

// The OTLP exporters of the SDK hide in text what an HTTP backend answered, and behind internal types what it took only in
// part. Tests hold these texts against the exporters themselves.
var (
	partialSuccess  = regexp.MustCompile(by + `OTLP partial success: .* \((-?\d+) (?:spans|metric data points) rejected\)$`)
	refusedStatus   = regexp.MustCompile(by + `failed to send (?:metrics )?to \S+: (\d{3}) `)
	retryableStatus = regexp.MustCompile(by + `retry-able request failure`)
	unencodable     = regexp.MustCompile(by + `failed to marshal request body`)
	clientLimit     = regexp.MustCompile(by + `request (?:body|message) too large: exceeded \d+ bytes$`)
)

// by is who says it: the exporter of a signal.
const by = `(?s)^(?:traces export: |failed to upload metrics: )?`

// Judge reads an exporter's error.
func Judge(err error) Verdict {
	if err == nil {
		return Verdict{Outcome: Delivered}
	}
	text := err.Error()
	if part := partialSuccess.FindStringSubmatch(text); part != nil {
		// A count over int is one over the batch.
		rejected, _ := strconv.Atoi(part[1])
		return Verdict{Delivered, max(rejected, 0), "some of a batch"}
	}
	var answer interface{ GRPCStatus() *status.Status } // status.FromError would give a wrapped one the wrapper's text
	if errors.As(err, &answer) {
		return judgeCode(answer.GRPCStatus())
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return Verdict{Outcome: Unreachable, Cause: "canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return Verdict{Outcome: Unreachable, Cause: timedOut}
	case errors.As(err, &network):
		return judgeNetwork(network)
	case retryableStatus.MatchString(text):
		return Verdict{Outcome: Unreachable, Cause: "HTTP status 429, 502, 503 or 504"}
	case unencodable.MatchString(text):
		return Verdict{Outcome: Malformed, Cause: "cannot be encoded"}
	case clientLimit.MatchString(text):
		return Verdict{Outcome: TooLarge, Cause: "too large for the exporter"}
	}
	code := refusedStatus.FindStringSubmatch(text)
	switch {
	case code == nil:
		return Verdict{Outcome: Obscure, Cause: "an answer that is not understood"}
	case code[1] == "413":
		return Verdict{Outcome: TooLarge, Cause: "HTTP status 413"}
	case code[1] == "400", code[1] == "422":
		return Verdict{Outcome: Malformed, Cause: "HTTP status " + code[1]}
	}
	return Verdict{Outcome: Refused, Cause: "HTTP status " + code[1]}
}

// judgeCode follows the OTLP specification's table of what is retryable.
func judgeCode(answer *status.Status) Verdict {
	v := Verdict{Outcome: Refused, Cause: "gRPC status " + answer.Code().String()}
	switch answer.Code() {
	case codes.Unavailable:
		if strings.HasPrefix(answer.Message(), "connection error: ") || strings.HasPrefix(answer.Message(), "name resolver error: ") {
			return unconnected(answer.Message())
		}
		v.Outcome = Unreachable
	case codes.DeadlineExceeded:
		return Verdict{Outcome: Unreachable, Cause: timedOut}
	case codes.InvalidArgument:
		v.Outcome = Malformed
	case codes.Internal:
		if strings.HasPrefix(answer.Message(), "grpc: error while marshaling: ") { // before anything was sent
			return Verdict{Outcome: Malformed, Cause: "cannot be encoded"}
		}
	case codes.Canceled, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		v.Outcome = Unreachable
	case codes.ResourceExhausted:
		// Without word of when to come back it is the batch that exhausts: grpc says so of a message over its limit.
		v.Outcome = TooLarge
		for _, detail := range answer.Details() {
			if _, ok := detail.(*errdetails.RetryInfo); ok {
				v.Outcome = Unreachable
			}
		}
	}
	return v
}

// judgeNetwork has what an HTTP client says of a request that got no answer.
func judgeNetwork(err net.Error) Verdict {
	if err.Timeout() {
		return Verdict{Outcome: Unreachable, Cause: timedOut}
	}
	var request *url.Error
	if errors.As(err, &request) { // whose own text begins with the URL
		return unconnected(request.Err.Error())
	}
	return unconnected("")
}

const timedOut = "timeout"

// connectionFaults tell by words of Go's network, which both exporters pass on, why there is no connection.
var connectionFaults = []struct {
	says, cause string
	Outcome
}{
	{"i/o timeout", timedOut, Unreachable},
	{"connection timed out", timedOut, Unreachable},
	{"connection refused", "connection refused", Nobody},
	{"no such host", "no such host", Nobody},
	{"zero addresses", "no such host", Nobody},
	{"tls: ", "TLS handshake failed", Nobody},
	{"HTTP response to HTTPS client", "TLS handshake failed", Nobody},
	{"HTTP/1.1 header", "no gRPC server; see OTEL_EXPORTER_OTLP_PROTOCOL", Nobody},
	{"dial ", "no connection", Nobody},
}

func unconnected(says string) Verdict {
	for _, fault := range connectionFaults {
		if strings.Contains(says, fault.says) {
			return Verdict{Outcome: fault.Outcome, Cause: fault.cause}
		}
	}
	return Verdict{Outcome: Unreachable, Cause: "connection broken"}
}
