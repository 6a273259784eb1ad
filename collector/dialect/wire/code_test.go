package wire

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/strictjson"
)

func value(t *testing.T, json string) strictjson.Value {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(json), 100); err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return doc.Root()
}

// TestCode checks which values have the format of an error code.
func TestCode(t *testing.T) {
	longest := "E" + strings.Repeat("x", 63)
	for json, want := range map[string]string{
		`"RESOURCE_EXHAUSTED"`:        "RESOURCE_EXHAUSTED",
		`"SAFETY"`:                    "SAFETY",
		`"ValueError"`:                "ValueError",
		`"_ResourceExhaustedError"`:   "_ResourceExhaustedError",
		`"httpx.ConnectError"`:        "httpx.ConnectError",
		`"rate_limit_exceeded"`:       "rate_limit_exceeded",
		`"consecutive-tool-failures"`: "consecutive-tool-failures",
		`"429"`:                       "429",
		`429`:                         "429",
		`4.29e2`:                      "429",
		`-32603`:                      "-32603",
		`"-32603"`:                    "-32603",
		`"` + longest + `"`:           longest,

		`"UNKNOWN_ERROR"`: "", `null`: "", `true`: "", `{}`: "", `[]`: "", `""`: "", `1.5`: "", `1e999`: "",
		`0`: "", `7`: "", `42`: "", `999`: "", `1000`: "", `-1`: "", `-3260`: "", `-326031`: "", `1767081391059`: "",
		`"` + longest + `x"`:  "",
		`"the model hung up"`: "", `"quota exceeded"`: "", `"ValueError: x"`: "", `"9lives"`: "", `".x"`: "", `"a/b"`: "", `"a b"`: "",
		`"a8f3e9c0-1b2d-4e5f-8a9b-0c1d2e3f4a5b"`: "", `"req-01"`: "", `"-a"`: "", `"a-"`: "", `"a--b"`: "", `"Über-lauf"`: "", `"` + strings.Repeat("a-", 32) + `b"`: "",
		`"SAFETY\n"`: "", `"\nSAFETY"`: "", `"SAFETY\nSAFETY"`: "", `"\u0000"`: "", `"Überlauf"`: "", `"Erro\u0300r"`: "", `"X\u202eY"`: "",
	} {
		if got := Code(value(t, json)); got != want {
			t.Errorf("Code(%s) = %q, want %q", json, got, want)
		}
	}
	if got := Code(strictjson.Value{}); got != "" {
		t.Errorf("Code() of a missing value = %q, want none", got)
	}
}

// TestMostSpecific checks that a status is preferred to the name of a class.
func TestMostSpecific(t *testing.T) {
	for _, c := range []struct {
		codes []string
		want  string
	}{
		{nil, ""},
		{[]string{"", ""}, ""},
		{[]string{"", "ValueError"}, "ValueError"},
		{[]string{"_ResourceExhaustedError", "RESOURCE_EXHAUSTED"}, "RESOURCE_EXHAUSTED"},
		{[]string{"RESOURCE_EXHAUSTED", "_ResourceExhaustedError"}, "RESOURCE_EXHAUSTED"},
		{[]string{"429", "ClientError"}, "429"},
		{[]string{"SAFETY", "ValueError"}, "SAFETY"},
	} {
		if got := MostSpecific(c.codes...); got != c.want {
			t.Errorf("MostSpecific(%q) = %q, want %q", c.codes, got, c.want)
		}
	}
}

// TestErrorCode checks the members of an error object that may have its code.
func TestErrorCode(t *testing.T) {
	for json, want := range map[string]string{
		`{"code":-32603,"message":"boom"}`:                                        "-32603",
		`{"code":-32001,"message":"x","data":[{"reason":"TASK_NOT_FOUND"}]}`:      "TASK_NOT_FOUND",
		`{"code":500,"status":"INTERNAL","message":"x"}`:                          "INTERNAL",
		`{"code":404,"status":"NOT_FOUND","details":[{},{"reason":"TASK_GONE"}]}`: "TASK_GONE",
		`{"message":"model overloaded","code":529}`:                               "529",
		`{"code":"rate_limit_exceeded","type":"tokens"}`:                          "rate_limit_exceeded",
		`{"code":503,"status":"failed"}`:                                          "503",
		`{"code":-32603,"data":{"reason":"X"}}`:                                   "-32603",
		`{"code":1,"message":"x","details":[{"reason":"some words"}]}`:            "",
		`{"message":"secret"}`:                                                    "",
		`{"status":"secret"}`:                                                     "",
		`"model overloaded"`:                                                      "",
		`"TimeoutError: late"`:                                                    "TimeoutError",
		`429`:                                                                     "429",
		`true`:                                                                    "",
		`null`:                                                                    "",
	} {
		if got := ErrorCode(value(t, json)); got != want {
			t.Errorf("ErrorCode(%s) = %q, want %q", json, got, want)
		}
	}
}

// TestResponseCode checks the members of a failed tool's response that may have its code.
func TestResponseCode(t *testing.T) {
	for json, want := range map[string]string{
		`{"error":"refused: closed"}`:                              "",
		`{"error":"secret"}`:                                       "",
		`{"error":"ValueError: secret"}`:                           "",
		`{"error":"x","error_code":"QUOTA"}`:                       "QUOTA",
		`{"error":"x","errorCode":"QUOTA"}`:                        "QUOTA",
		`{"error":"x","code":404}`:                                 "404",
		`{"error":"x","code":"some words"}`:                        "",
		`{"error":"x","code":1}`:                                   "",
		`{"error":true,"error_code":null,"code":"E_BUSY"}`:         "E_BUSY",
		`{"error":{"code":404,"status":"NOT_FOUND"}}`:              "NOT_FOUND",
		`{"error":{"message":"x"},"code":"ABORTED"}`:               "ABORTED",
		`{"error":503}`:                                            "503",
		`{"error":"x","error_code":"MyCode","code":"UNAVAILABLE"}`: "UNAVAILABLE",
		`{"result":"ok"}`:                                          "",
		`"error"`:                                                  "",
		`null`:                                                     "",
	} {
		if got := ResponseCode(value(t, json)); got != want {
			t.Errorf("ResponseCode(%s) = %q, want %q", json, got, want)
		}
	}
}

// adviceOn429 is the text that ADK adds before the message of a quota error.
const adviceOn429 = "\nOn how to mitigate this issue, please refer to:\n\nhttps://google.github.io/adk-docs/#error-code-429-resource_exhausted\n\n\n"

// TestTextCode checks which texts have an error code.
func TestTextCode(t *testing.T) {
	for text, want := range map[string]string{
		"503 UNAVAILABLE. {'error': {'code': 503}}":                                                         "UNAVAILABLE",
		"ServerError: 503 UNAVAILABLE. {'error': {'code': 503}}":                                            "UNAVAILABLE",
		adviceOn429 + "429 RESOURCE_EXHAUSTED. {'error': {}}":                                               "RESOURCE_EXHAUSTED",
		"_ResourceExhaustedError: " + adviceOn429 + "429 RESOURCE_EXHAUSTED. {'error': {}}":                 "RESOURCE_EXHAUSTED",
		"Error 429, Message: Resource has been exhausted., Status: RESOURCE_EXHAUSTED, Details: []":         "RESOURCE_EXHAUSTED",
		"failed to call model: Error 503, Message: Try later., Status: UNAVAILABLE, Details: []":            "UNAVAILABLE",
		"Error 429, Message: You exceeded your quota.\n* metric x, Status: RESOURCE_EXHAUSTED, Details: []": "RESOURCE_EXHAUSTED",
		"ValueError: the tool failed":                                                                       "ValueError",
		"ValueError: ":                                                                                      "ValueError",
		"ValueError:":                                                                                       "ValueError",
		"ValueError":                                                                                        "ValueError",
		"_ResourceExhaustedError: x":                                                                        "_ResourceExhaustedError",
		"litellm.RateLimitError: x":                                                                         "litellm.RateLimitError",
		"com.example.QuotaException: x":                                                                     "com.example.QuotaException",
		"model.rate_limited: slow down":                                                                     "model.rate_limited",
		"HTTP 503":                                                                                          "503", "HTTP 503: secret": "503",
		"tool.internal: no index for x": "tool.internal",

		"": "", "the tool failed: no luck": "", "quota: spent": "", "Error: x": "", "Exception: x": "", "error": "", "secret": "",
		"500 None. {}": "", "503 BUSY. {}": "", "Error 503, Message: x, Status: BUSY, Details: []": "", "Timeout": "",
		"HTTP 5031": "", "HTTP 700": "", "got HTTP 503": "",
		"The ValueError: x": "", "ValueErrors: x": "", "ValueError=x": "", "tool.secret: x": "", "secret.internal: x": "", "ValueError\x00: x": "",
		strings.Repeat("x", maxErrorText) + "\n503 UNAVAILABLE. {}": "",
		"E" + strings.Repeat("x", 80) + "Error: x":                  "",
		"FehlerÜberError: x":                                        "",
	} {
		if got := TextCode([]byte(text)); got != want {
			t.Errorf("TextCode(%.60q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzTextCode checks that the result is always a valid code or empty.
func FuzzTextCode(f *testing.F) {
	for _, seed := range []string{"", "ValueError: x", "503 UNAVAILABLE. {}", "Error 429, Message: x, Status: ABORTED, Details: []", "tool.internal: x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := TextCode(text); got != "" && checkCode([]byte(got)) != got {
			t.Errorf("TextCode() = %q, want a valid code or none", got)
		}
	})
}
