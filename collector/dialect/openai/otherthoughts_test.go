package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsInOtherFrames sends thoughts beside what a frame is about. They do not leave if thoughts are off.
func TestThoughtsInOtherFrames(t *testing.T) {
	off := []filter.Settings{{Policy: event.PolicyClient}}
	for _, thought := range []string{`"thinking":"secret"`, `"reasoning_details":[{"type":"reasoning.text","text":"secret"}]`, `"reasoning_content":"secret"`} {
		checkStaysIn(t, off, created, `{"type":"response.completed","response":{"id":"r","output":[],`+thought+`}}`)
		checkStaysIn(t, off, choice(`{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}`), "[DONE]", `{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1},`+thought+`}`)
		checkStaysIn(t, off, created, `{"error":{"message":"m"},`+thought+`}`)
		checkStaysIn(t, off, created, `{"error":"m","choices":[],`+thought+`}`)
		checkStaysIn(t, off, created, `{"type":"error","message":"m",`+thought+`}`)
		checkStaysIn(t, off, created, `{"type":"keepalive",`+thought+`}`)
		checkStaysIn(t, off, `{"type":"agent_updated_stream_event","new_agent":{"name":"a"},`+thought+`}`)
	}
	checkStaysIn(t, []filter.Settings{client}, choice(`{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}`), "[DONE]", `{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1},"role":"system","x":"secret"}`)
	set := strings.Replace(created, `"output"`, `"reasoning":{"effort":"low","summary":"auto"},"output"`, 1)
	if out := leaving(t, off[0], stream(set)); !strings.Contains(out, "effort") {
		t.Errorf("of a response with a setting of reasoning this leaves: %s", out)
	}
}
