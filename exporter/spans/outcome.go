package spans

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

// outcome is what an attempt to deliver a batch came to.
type outcome int

const (
	delivered   outcome = iota // though perhaps not every span of it
	refused                    // for good
	tooLarge                   // for good, but its halves may pass
	nobody                     // an outage: nobody takes a connection
	unreachable                // an outage otherwise, of somebody who may only be slow
	obscure                    // the error does not say
)

// verdict is an outcome with what else is known of it.
type verdict struct {
	outcome
	rejected int    // spans of a batch that was delivered
	cause    string // of all but success. In our words: errors hold URLs, and what the backend says
}

// The OTLP exporters of the SDK hide in text what an HTTP backend answered, and behind internal types what it took only in
// part. Tests hold these texts against the exporters themselves.
var (
	partialSuccess = regexp.MustCompile(`(?s)^(?:traces export: )?OTLP partial success: .* \((-?\d+) spans rejected\)$`)
	refusedStatus  = regexp.MustCompile(`^(?:traces export: )?failed to send to \S+: (\d{3}) `)
	clientLimit    = regexp.MustCompile(`^(?:traces export: )?request (?:body|message) too large: exceeded \d+ bytes$`)
)

const retryableStatus = "traces export: retry-able request failure: "

// judge reads an exporter's error.
func judge(err error) verdict {
	if err == nil {
		return verdict{outcome: delivered}
	}
	text := err.Error()
	if part := partialSuccess.FindStringSubmatch(text); part != nil {
		// A count over int is one over the batch.
		rejected, _ := strconv.Atoi(part[1])
		return verdict{delivered, max(rejected, 0), "some of a batch"}
	}
	var answer interface{ GRPCStatus() *status.Status } // status.FromError would give a wrapped one the wrapper's text
	if errors.As(err, &answer) {
		return judgeCode(answer.GRPCStatus())
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return verdict{outcome: unreachable, cause: "canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return verdict{outcome: unreachable, cause: timedOut}
	case errors.As(err, &network):
		return judgeNetwork(network)
	case strings.HasPrefix(text, retryableStatus):
		return verdict{outcome: unreachable, cause: "HTTP status 429, 502, 503 or 504"}
	case clientLimit.MatchString(text):
		return verdict{outcome: tooLarge, cause: "too large for the exporter"}
	}
	code := refusedStatus.FindStringSubmatch(text)
	switch {
	case code == nil:
		return verdict{outcome: obscure, cause: "an answer that is not understood"}
	case code[1] == "413":
		return verdict{outcome: tooLarge, cause: "HTTP status 413"}
	}
	return verdict{outcome: refused, cause: "HTTP status " + code[1]}
}

// judgeCode follows the OTLP specification's table of what is retryable.
func judgeCode(answer *status.Status) verdict {
	v := verdict{outcome: refused, cause: "gRPC status " + answer.Code().String()}
	switch answer.Code() {
	case codes.Unavailable:
		if strings.HasPrefix(answer.Message(), "connection error: ") || strings.HasPrefix(answer.Message(), "name resolver error: ") {
			return unconnected(answer.Message())
		}
		v.outcome = unreachable
	case codes.DeadlineExceeded:
		return verdict{outcome: unreachable, cause: timedOut}
	case codes.Canceled, codes.Aborted, codes.OutOfRange, codes.DataLoss:
		v.outcome = unreachable
	case codes.ResourceExhausted:
		// Without word of when to come back it is the batch that exhausts: grpc says so of a message over its limit.
		v.outcome = tooLarge
		for _, detail := range answer.Details() {
			if _, ok := detail.(*errdetails.RetryInfo); ok {
				v.outcome = unreachable
			}
		}
	}
	return v
}

// judgeNetwork has what an HTTP client says of a request that got no answer.
func judgeNetwork(err net.Error) verdict {
	if err.Timeout() {
		return verdict{outcome: unreachable, cause: timedOut}
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
	outcome
}{
	{"i/o timeout", timedOut, unreachable},
	{"connection timed out", timedOut, unreachable},
	{"connection refused", "connection refused", nobody},
	{"no such host", "no such host", nobody},
	{"zero addresses", "no such host", nobody},
	{"tls: ", "TLS handshake failed", nobody},
	{"HTTP response to HTTPS client", "TLS handshake failed", nobody},
	{"HTTP/1.1 header", "no gRPC server; see OTEL_EXPORTER_OTLP_PROTOCOL", nobody},
	{"dial ", "no connection", nobody},
}

func unconnected(says string) verdict {
	for _, fault := range connectionFaults {
		if strings.Contains(says, fault.says) {
			return verdict{outcome: fault.outcome, cause: fault.cause}
		}
	}
	return verdict{outcome: unreachable, cause: "connection broken"}
}
