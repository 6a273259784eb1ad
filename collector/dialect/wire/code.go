package wire

import (
	"regexp"
	"strconv"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// code is the form of an error code that may become a label: an identifier such as RESOURCE_EXHAUSTED or httpx.ConnectError, words with
// dashes such as consecutive-tool-failures, which no id consists of, an HTTP status, a code of JSON-RPC. Anything else could be free text.
var code = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_.]*|[a-z]+(?:-[a-z]+)+|[1-5][0-9]{2}|-32[0-9]{3})$`)

// maxCode bounds a code, in bytes.
const maxCode = 64

// Code returns an error code that is sent as a string or as a number, or "" if it does not have the form of one.
func Code(v strictjson.Value) string {
	text := v.Text()
	if n, ok := v.Int(); ok {
		text = strconv.AppendInt(nil, n, 10)
	}
	return checked(text)
}

// noCode is what ADK writes where an error has no code of its own. Our class of the failure says more.
const noCode = "UNKNOWN_ERROR"

func checked(text []byte) string {
	if len(text) > maxCode || string(text) == noCode || !code.Match(text) {
		return ""
	}
	return string(text)
}

// Specific returns the most specific of the codes of one failure: the first that is the name of a gRPC status, else the first that is
// not empty.
func Specific(codes ...string) string {
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

// ErrorCode returns the code of an error in the forms in which APIs send one, or "": a number, a text as TextCode reads it, or an object.
// An object may be an error of JSON-RPC or a google.rpc.Status, whose details may name a more specific reason.
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
	if !IsStatus(status) { // "failed"
		status = ""
	}
	return Specific(status, Code(v.Get("code")))
}

// ResponseCode returns the code of the error that a tool's response reports, or "".
func ResponseCode(response strictjson.Value) string {
	own := ""
	if err := response.Get("error"); err.Kind() != strictjson.String { // a text could be any tool's own words
		own = ErrorCode(err)
	}
	return Specific(own, Code(response.First("error_code", "errorCode")), Code(response.Get("code")))
}

// IsStatus reports whether an error code is the name of a gRPC status, as Gemini's API reports a failed request. An agent's code reports
// the class of an exception instead.
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

// maxText bounds how much of an error's text is searched for a code, in bytes.
const maxText = 4 << 10

// apiError is how google-genai prints the error of a request to a model, which ADK may introduce by lines of its own: in Python the HTTP
// status, the name of the gRPC status, the response; in Go each with its name.
//
// Source: google/genai/errors.py, APIError.__init__; google.golang.org/genai, APIError.Error.
var apiError = regexp.MustCompile(`(?m)(?:^|: )(?:[1-5][0-9]{2} ([A-Z_]+)\. |Error [1-5][0-9]{2}, Message: (?s:.*?), Status: ([A-Z_]+), Details: )`)

// APIErrorCode returns the name of the gRPC status with which a request to a model failed, if an error's text is that of such a failure.
func APIErrorCode(message []byte) string {
	found := apiError.FindSubmatch(message[:min(len(message), maxText)])
	if found == nil {
		return ""
	}
	if status := string(found[1]) + string(found[2]); IsStatus(status) {
		return status
	}
	return ""
}

// raised is how an exception is printed that has a class of its own: its class, then its words. The classes that every error has say
// nothing, and any sentence could begin with their names.
var raised = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*_*[A-Z]\w*(?:Error|Exception))(?::\s|:?$)`)

// rust is how adk-rust prints an error: its component, its category, its words.
//
// Source: adk-core/src/error.rs, AdkError.
var rust = regexp.MustCompile(`^((?:agent|model|tool|session|artifact|memory|graph|realtime|code|server|auth|guardrail|eval|deploy)\.` +
	`(?:invalid_input|unauthorized|forbidden|not_found|rate_limited|timeout|unavailable|cancelled|internal|unsupported)): `)

// answered is how clients print the HTTP status of a request that failed.
var answered = regexp.MustCompile(`^HTTP ([1-5][0-9]{2})\b`)

// TextCode returns the code with which the text of an error begins, as SDKs print one, or "". It never returns other words of the text.
func TextCode(message []byte) string {
	if status := APIErrorCode(message); status != "" {
		return status
	}
	message = message[:min(len(message), maxText)]
	for _, form := range []*regexp.Regexp{raised, rust, answered} {
		if found := form.FindSubmatch(message); found != nil {
			return checked(found[1])
		}
	}
	return ""
}
