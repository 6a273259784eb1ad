package spans

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestContent checks the content attributes against the conventions' JSON schema.
func TestContent(t *testing.T) {
	r := delegation()
	r.Operations[1].Details = &tracker.Details{Content: &tracker.Content{Output: []tracker.MessagePart{
		{Kind: event.KindThought, Text: []byte("hm")},
		{Kind: event.KindText, Text: []byte("I look.\xff")},
		{Kind: event.KindText, Text: nil},
		{Kind: event.KindToolStarted, CallID: "call-1", Name: "burn_analyst", Arguments: []byte(`{"q":1}`)},
		{Kind: event.KindToolStarted, Name: "unnamed"},
	}}}
	r.Operations[2].Details.Content = &tracker.Content{Arguments: []byte(`{"q":1}`), Result: []byte(`{"r":[2]}`), Truncated: true}
	spans := observe(t, r)
	for i, want := range []map[attribute.Key]string{
		{},
		{names.OutputMessages: `[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"I look.\ufffd"},` +
			`{"type":"text","content":""},{"type":"tool_call","id":"call-1","name":"burn_analyst","arguments":{"q":1}},` +
			`{"type":"tool_call","name":"unnamed"}],"finish_reason":"STOP"}]`},
		{names.ToolArguments: `{"q":1}`, names.ToolResult: `{"r":[2]}`, contentTruncated: "true"},
	} {
		if diff := cmp.Diff(want, contentOf(t, spans[i])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spans[i].Name(), diff)
		}
	}
}

func contentOf(t *testing.T, s sdktrace.ReadOnlySpan) map[attribute.Key]string {
	t.Helper()
	out := map[attribute.Key]string{}
	for _, a := range s.Attributes() {
		switch a.Key {
		case names.OutputMessages, names.ToolArguments, names.ToolResult:
			if !json.Valid([]byte(a.Value.AsString())) {
				t.Errorf("%s is no JSON: %s", a.Key, a.Value.AsString())
			}
			out[a.Key] = a.Value.AsString()
		case contentTruncated:
			out[a.Key] = a.Value.String()
		}
	}
	return out
}
