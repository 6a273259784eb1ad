package adk

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestUsage checks that missing counts are derived only from the total, and that invalid ones are ignored.
func TestUsage(t *testing.T) {
	for usage, want := range map[string]string{
		`{"promptTokenCount":10,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":15}`: "input=10 output=5 reasoning=3",
		`{"promptTokenCount":10,"candidatesTokenCount":2,"thoughtsTokenCount":3}`:                      "input=10 output=5 reasoning=3",
		`{"promptTokenCount":10,"totalTokenCount":10}`:                                                 "input=10 output=0",
		`{"promptTokenCount":10,"totalTokenCount":17}`:                                                 "input=10 output=7",
		`{"promptTokenCount":10}`:                                                                      "input=10",
		`{"totalTokenCount":10}`:                                                                       "",
		`{"promptTokenCount":10,"totalTokenCount":9}`:                                                  "input=10",
		`{"promptTokenCount":-1,"candidatesTokenCount":1.5,"cachedContentTokenCount":"7"}`:             "",
		`{"promptTokenCount":1e3,"candidatesTokenCount":1099511627777}`:                                "input=1000",
		`{"promptTokenCount":0,"candidatesTokenCount":0}`:                                              "input=0 output=0",
		`{"trafficType":"ON_DEMAND"}`:                                                                  "",
	} {
		want = strings.TrimSpace("model_ended "+want) + "; final"
		if got := factsOf(&event.Stream{}, by(`"usageMetadata":`+usage)); got != want {
			t.Errorf("the usage %s decodes to %q, want %q", usage, got, want)
		}
	}
}

// TestToolFailures checks the convention of a member "error" in a tool's response.
func TestToolFailures(t *testing.T) {
	for response, failed := range map[string]bool{
		`{"error":"x"}`: true, `{"error":true}`: true, `{"error":{"code":1}}`: true, `{"error":["x"]}`: true, `{"error":7}`: true, `{"error":1e999}`: true,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":null}`: false, `{"error":{}}`: false, `{"error":[]}`: false, `{"error":0}`: false,
		`{}`: false, `{"result":{"error":"x"}}`: false, `"error"`: false, `null`: false, `{"Error":"x"}`: false,
	} {
		got := factsOf(&event.Stream{}, by(parts(`{"functionResponse":{"id":"c1","name":"look","response":`+response+`}}`)))
		if strings.Contains(got, "tool_error") != failed || !strings.HasPrefix(got, `tool_ended name="look" call="c1"`) {
			t.Errorf("the response %s decodes to %s, want an error: %t", response, got, failed)
		}
	}
}
