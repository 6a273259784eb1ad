package formats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/schema"
)

// TestLongTexts checks that the whole text of an answer is what its pieces say, or says that its beginning is missing.
func TestLongTexts(t *testing.T) {
	events, err := schema.Read("../../../docs/reference/events.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	openAI := `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
	langGraph := `[{"type":"AIMessageChunk","id":"run--1","content":%s,"response_metadata":%s},{"langgraph_node":"model","langgraph_step":1}]`
	a2a := `{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","contextId":"c","append":%t,"lastChunk":%t,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":%s}]}}}`
	for dialect, c := range map[string]struct {
		event      string
		begin, end []string
		piece      string // with a place for the JSON string
	}{
		"agui": {begin: []string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`},
			piece: `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":%s}`,
			end:   []string{`{"type":"TEXT_MESSAGE_END","messageId":"m"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`}},
		"openai": {begin: []string{fmt.Sprintf(openAI, `{"role":"assistant","content":""}`, "null")},
			piece: fmt.Sprintf(openAI, `{"content":%s}`, "null"),
			end:   []string{fmt.Sprintf(openAI, `{}`, `"stop"`), "[DONE]"}},
		"aisdk": {begin: []string{`{"type":"start","messageId":"m"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"1"}`},
			piece: `{"type":"text-delta","id":"1","delta":%s}`,
			end:   []string{`{"type":"text-end","id":"1"}`, `{"type":"finish-step"}`, `{"type":"finish"}`, "[DONE]"}},
		"langgraph": {event: "messages", piece: fmt.Sprintf(langGraph, "%s", `{}`),
			end: []string{fmt.Sprintf(langGraph, `""`, `{"finish_reason":"stop"}`)}},
		"a2a": {begin: []string{fmt.Sprintf(a2a, false, false, `""`)}, piece: strings.Replace(a2a, `%t,"lastChunk":%t`, `true,"lastChunk":false`, 1),
			end: []string{fmt.Sprintf(a2a, true, true, `""`)}},
	} {
		for name, pieces := range map[string][]string{
			"short": {"a", "b"}, "in the middle": {"begin ", strings.Repeat("b", 700_000), " end"}, "at the end": {strings.Repeat("b", 120_000)},
			"two": {"begin ", strings.Repeat("b", 70_000), " middle ", strings.Repeat("c", 70_000), " end"},
		} {
			var stream strings.Builder
			say := func(data string) {
				if c.event != "" {
					fmt.Fprintf(&stream, "event: %s\n", c.event)
				}
				fmt.Fprintf(&stream, "data: %s\n\n", data)
			}
			for _, data := range c.begin {
				say(data)
			}
			for _, piece := range pieces {
				say(fmt.Sprintf(c.piece, fmt.Sprintf("%q", piece)))
			}
			for _, data := range c.end {
				say(data)
			}
			file := filepath.Join(t.TempDir(), dialect+".sse")
			if err := os.WriteFile(file, []byte(stream.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			want, partial, finals := strings.Join(pieces, ""), "", 0
			for _, f := range harness.Frames(t, harness.ReplayAs(t, "public", "normalized", file)) {
				var e struct {
					Kind, Text         string
					Partial, Truncated bool
				}
				var v map[string]any
				if err := json.Unmarshal(f.Data, &e); err != nil {
					t.Fatal(err)
				}
				if _ = json.Unmarshal(f.Data, &v); schema.Check(events, v) != "" {
					t.Errorf("%s, %s: %s", dialect, name, schema.Check(events, v))
				}
				switch {
				case e.Kind != "text":
				case e.Partial:
					partial += e.Text
				default:
					finals++
					if e.Truncated != (e.Text != want) || !strings.HasSuffix(want, e.Text) {
						t.Errorf("%s, %s: %d of %d bytes, truncated: %t", dialect, name, len(e.Text), len(want), e.Truncated)
					}
				}
			}
			if partial != want || finals != 1 {
				t.Errorf("%s, %s: the pieces have %d of %d bytes, and %d texts are whole", dialect, name, len(partial), len(want), finals)
			}
		}
	}
}
