package wire

import "regexp"

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

// apiError is how google-genai prints the error of a request to a model, which ADK may introduce by lines of its own: the HTTP status,
// the name of the gRPC status, the response.
//
// Source: google/genai/errors.py, APIError.__init__.
var apiError = regexp.MustCompile(`(?m)(?:^|: )[1-5][0-9]{2} ([A-Z_]+)\. `)

// APIErrorCode returns the name of the gRPC status with which a request to a model failed, if an error's text is that of such a failure.
func APIErrorCode(message []byte) string {
	found := apiError.FindSubmatch(message[:min(len(message), 1<<10)])
	if found == nil || !IsStatus(string(found[1])) {
		return ""
	}
	return string(found[1])
}
