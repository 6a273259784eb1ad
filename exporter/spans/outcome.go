package spans

import (
	"context"
	"errors"
	"net"
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
	unreachable                // an outage, which lasts as long as it lasts
	obscure                    // the error does not say
)

// The OTLP exporters of the SDK hide in text what an HTTP backend answered, and behind internal types what it took only in
// part. Tests hold these texts against the exporters themselves.
var (
	partialSuccess = regexp.MustCompile(`(?s)^(?:traces export: )?OTLP partial success: .* \((-?\d+) spans rejected\)$`)
	refusedStatus  = regexp.MustCompile(`^(?:traces export: )?failed to send to \S+: (\d{3}) `)
	clientLimit    = regexp.MustCompile(`^(?:traces export: )?request (?:body|message) too large: exceeded \d+ bytes$`)
)

const retryableStatus = "traces export: retry-able request failure: "

// judge reads an exporter's error: what the attempt came to and, where the backend took a batch in part, how many of its
// spans it did not take.
func judge(err error) (o outcome, rejected int) {
	if err == nil {
		return delivered, 0
	}
	text := err.Error()
	if part := partialSuccess.FindStringSubmatch(text); part != nil {
		// A count over int is one over the batch.
		rejected, _ = strconv.Atoi(part[1])
		return delivered, max(rejected, 0)
	}
	if answer, ok := status.FromError(err); ok {
		return judgeCode(answer), 0
	}
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &network),
		strings.HasPrefix(text, retryableStatus):
		return unreachable, 0
	case clientLimit.MatchString(text):
		return tooLarge, 0
	}
	answer := refusedStatus.FindStringSubmatch(text)
	switch {
	case answer == nil:
		return obscure, 0
	case answer[1] == "413":
		return tooLarge, 0
	}
	return refused, 0
}

// judgeCode follows the OTLP specification's table of what is retryable.
func judgeCode(answer *status.Status) outcome {
	switch answer.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		return unreachable
	case codes.ResourceExhausted:
		// Without word of when to come back it is the batch that exhausts: grpc says so of a message over its limit.
		for _, detail := range answer.Details() {
			if _, ok := detail.(*errdetails.RetryInfo); ok {
				return unreachable
			}
		}
		return tooLarge
	default:
		return refused
	}
}
