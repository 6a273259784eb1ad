package wire

import (
	"regexp"
	"strconv"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// codePattern matches an error code that may become a label: an identifier (RESOURCE_EXHAUSTED,
// httpx.ConnectError), words with dashes (consecutive-tool-failures), an HTTP status, or a JSON-RPC code. An
// id never consists of words with dashes. Anything else could be free text.
var codePattern = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_.]*|[a-z]+(?:-[a-z]+)+|[1-5][0-9]{2}|-32[0-9]{3})$`)

// maxCode is the maximum length of a code, in bytes.
const maxCode = 64

// Code returns an error code that is sent as a string or a number, or "" if it does not look like one.
func Code(v strictjson.Value) string {
	text := v.Text()
	if n, ok := v.Int(); ok {
		text = strconv.AppendInt(nil, n, 10)
	}
	return checkCode(text)
}

// noCode is what ADK writes for an error without a code of its own. event.Failure is more specific.
const noCode = "UNKNOWN_ERROR"

func checkCode(text []byte) string {
	if len(text) > maxCode || string(text) == noCode || !codePattern.Match(text) {
		return ""
	}
	return string(text)
}

// MostSpecific returns the most specific code of one failure: the first that is the name of a gRPC
// status, else the first that is not empty.
func MostSpecific(codes ...string) string {
	first := ""
	for _, c := range codes {
		if IsStatus(c) {
			return c
		}
		if first == "" {
			first = c
		}
	}
	return first
}

// ErrorCode returns the code of an error as APIs send it, or "". The error may be a number, a text that
// TextCode reads, or an object. An object may be a JSON-RPC error or a google.rpc.Status. Its details may
// have a more specific reason.
//
// Source: google/rpc/error_details.proto, ErrorInfo.
func ErrorCode(v strictjson.Value) string {
	switch v.Kind() {
	case strictjson.Number:
		return Code(v)
	case strictjson.String:
		return TextCode(v.Text())
	}
	for detail := range v.First("details", "data").Elements() {
		if reason := Code(detail.Get("reason")); reason != "" {
			return reason
		}
	}
	status := Code(v.Get("status"))
	if !IsStatus(status) { // a word such as "failed"
		status = ""
	}
	return MostSpecific(status, Code(v.Get("code")))
}

// ResponseCode returns the code of the error that a tool's response reports, or "".
func ResponseCode(response strictjson.Value) string {
	own := ""
	if err := response.Get("error"); err.Kind() != strictjson.String { // a string could be free text of any tool
		own = ErrorCode(err)
	}
	return MostSpecific(own, Code(response.First("error_code", "errorCode")), Code(response.Get("code")))
}

// IsStatus reports whether an error code is the name of a gRPC status. Gemini's API reports a failed
// request with one. An agent's own code is the class of an exception instead.
//
// Source: google/rpc/code.proto.
func IsStatus(code string) bool {
	switch code {
	case "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"UNAUTHENTICATED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
		"UNAVAILABLE", "DATA_LOSS":
		return true
	}
	return false
}

// maxErrorText limits how many bytes of an error's text are searched for a code.
const maxErrorText = 4 << 10

// apiErrorText matches a failed model request as google-genai prints it, possibly after lines that ADK adds.
// In Python these are the HTTP status, the name of the gRPC status and the response. In Go each value comes
// after its name.
//
// Source: google/genai/errors.py, APIError.__init__; google.golang.org/genai, APIError.Error.
var apiErrorText = regexp.MustCompile(`(?m)(?:^|: )(?:[1-5][0-9]{2} ([A-Z_]+)\. |Error [1-5][0-9]{2}, Message: (?s:.*?), Status: ([A-Z_]+), Details: )`)

// APIErrorCode returns the name of the gRPC status of a failed model request, or "" if the text does not
// report one.
func APIErrorCode(message []byte) string {
	message = message[:min(len(message), maxErrorText)]
	if !mayBeAPIError(message) {
		return ""
	}
	found := apiErrorText.FindSubmatch(message)
	if found == nil {
		return ""
	}
	if status := string(found[1]) + string(found[2]); IsStatus(status) {
		return status
	}
	return ""
}

// mayBeAPIError reports whether a text may match apiErrorText. It looks only for the first character of a match
// and what comes before it, which is much faster.
func mayBeAPIError(text []byte) bool {
	for i, c := range text {
		if begins := c == 'E' || '1' <= c && c <= '5'; begins && (i == 0 || text[i-1] == '\n' || i > 1 && string(text[i-2:i]) == ": ") {
			return true
		}
	}
	return false
}

// exceptionText matches an exception as it is printed: its class, then its message. Error and Exception
// alone do not match: they say nothing, and any sentence could begin with them.
var exceptionText = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*_*[A-Z]\w*(?:Error|Exception))(?::\s|:?$)`)

// adkRustText matches an error as adk-rust prints it: its component, its category and its message.
//
// Source: adk-core/src/error.rs, AdkError.
var adkRustText = regexp.MustCompile(`^((?:agent|model|tool|session|artifact|memory|graph|realtime|code|server|auth|guardrail|eval|deploy)\.` +
	`(?:invalid_input|unauthorized|forbidden|not_found|rate_limited|timeout|unavailable|cancelled|internal|unsupported)): `)

// httpStatusText matches the HTTP status of a failed request as clients print it.
var httpStatusText = regexp.MustCompile(`^HTTP ([1-5][0-9]{2})\b`)

// TextCode returns the code at the beginning of an error's text, or "". It knows the forms that SDKs print,
// and never returns other text.
func TextCode(message []byte) string {
	if status := APIErrorCode(message); status != "" {
		return status
	}
	message = message[:min(len(message), maxErrorText)]
	for _, form := range []*regexp.Regexp{exceptionText, adkRustText, httpStatusText} {
		if found := form.FindSubmatch(message); found != nil {
			return checkCode(found[1])
		}
	}
	return ""
}
