package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// thoughtForms are the members of a message with the thought THOUGHT, in the forms of LangChain's models.
var thoughtForms = map[string]string{
	"LangChain's standard":         `"content":[{"type":"reasoning","reasoning":"THOUGHT","id":"rs_1","index":"lc_rs_0"},{"type":"text","text":"Hi"}]`,
	"OpenAI's Responses":           `"content":[{"type":"reasoning","id":"rs_1","summary":[{"index":0,"type":"summary_text","text":"THOUGHT"}],"index":0},{"type":"text","text":"Hi"}]`,
	"OpenAI's open models":         `"content":[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"THOUGHT"}]},{"type":"text","text":"Hi"}]`,
	"OpenAI's Responses, v0":       `"content":[{"type":"text","text":"Hi"}],"additional_kwargs":{"reasoning":{"id":"rs_1","type":"reasoning","summary":[{"index":0,"type":"summary_text","text":"THOUGHT"}]}}`,
	"Anthropic":                    `"content":[{"type":"thinking","thinking":"THOUGHT","signature":"s"},{"type":"text","text":"Hi"}]`,
	"Mistral":                      `"content":[{"type":"thinking","thinking":[{"type":"text","text":"THOUGHT"}]},{"type":"text","text":"Hi"}]`,
	"Bedrock":                      `"content":[{"type":"reasoning_content","reasoning_content":{"text":"THOUGHT","signature":"s"},"index":0},{"type":"text","text":"Hi"}]`,
	"a text":                       `"content":[{"type":"reasoning","text":"THOUGHT"},{"type":"text","text":"Hi"}]`,
	"a text that is marked":        `"content":[{"type":"text","text":"THOUGHT","thought":true},{"type":"text","text":"Hi"}]`,
	"DeepSeek":                     `"content":"Hi","additional_kwargs":{"reasoning_content":"THOUGHT"}`,
	"DeepSeek in two forms":        `"content":[{"type":"reasoning","reasoning":"THOUGHT"},{"type":"text","text":"Hi"}],"additional_kwargs":{"reasoning_content":"THOUGHT"}`,
	"OpenRouter":                   `"content":"Hi","additional_kwargs":{"reasoning_content":null,"reasoning_details":[{"type":"reasoning.text","text":"THOUGHT"}]}`,
	"LiteLLM":                      `"content":"Hi","additional_kwargs":{"reasoning_content":"THOUGHT","thinking_blocks":[{"type":"thinking","thinking":"THOUGHT"}]}`,
	"nothing that is a text":       `"content":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SEALED"},{"type":"redacted_thinking","data":"SEALED"},{"type":"text","text":"Hi"}]`,
	"unknown blocks of a provider": `"content":[{"type":"non_standard","value":{"type":"redacted_thinking","data":"SEALED"}},{"type":"text","text":"Hi"}]`,
}

// TestThoughtForms checks that each form is a thought and no text in each mode, and that it leaves only where thoughts may.
func TestThoughtForms(t *testing.T) {
	for name, members := range thoughtForms {
		message := `{"type":"ai","id":"lc_run--1",` + members + `}`
		piece := strings.Replace(message, `"ai"`, `"AIMessageChunk"`, 1)
		asked := sent{"values", `{"messages":[{"type":"human","id":"h1","content":"?"}]}`}
		for mode, stream := range map[string][]sent{
			"in a piece":     {inTuple(piece, ""), inTuple(`{"type":"AIMessageChunk","id":"lc_run--1","content":"","chunk_position":"last"}`, "")},
			"in a last one":  {inTuple(strings.Replace(piece, `"id"`, `"chunk_position":"last","id"`, 1), "")},
			"partial":        {{"messages/partial", `[` + message + `]`}},
			"complete":       {{"messages/complete", `[` + message + `]`}},
			"updates":        {{"updates", `{"a":{"messages":[` + message + `]}}`}},
			"values":         {asked, {"values", `{"messages":[{"type":"human","id":"h1","content":"?"},` + message + `]}`}},
			"tasks":          {{"tasks", `{"id":"t1","name":"model","result":{"messages":[` + message + `]},"interrupts":[]}`}},
			"the functional": {{"updates", `{"a":` + message + `}`}},
		} {
			var frames []string
			for _, f := range stream {
				frames = append(frames, frame(f.name, f.data))
			}
			got := slices.DeleteFunc(facts(nil, frames...), func(line string) bool {
				return !strings.HasPrefix(line, "text ") && !strings.HasPrefix(line, "thought ")
			})
			want := []string{`thought "THOUGHT"`, `text "Hi"`}
			if !strings.Contains(members, "THOUGHT") {
				want = want[1:]
			}
			slices.Sort(got) // blocks and pieces come in any order
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, mode, diff)
			}
			for _, s := range []filter.Settings{withoutThoughts, public} {
				if out := leaving(s, stream...); strings.Contains(out, "THOUGHT") || strings.Contains(out, "SEALED") {
					t.Errorf("%s, %s: %v lets a thought leave: %s", name, mode, s.Policy, out)
				}
			}
		}
	}
	detailed := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	for _, name := range []string{"LangChain's standard", "OpenAI's Responses", "Anthropic", "Bedrock", "DeepSeek"} {
		if out := leaving(detailed, sent{"updates", `{"a":{"messages":[{"type":"ai","id":"lc_run--1",` + thoughtForms[name] + `}]}}`}); !strings.Contains(out, "THOUGHT") {
			t.Errorf("of %s this leaves to a public that may read thoughts: %s", name, out)
		}
	}
}

// TestAnswerBesideThought checks that the public gets the answer beside a thought that a member of its block marks.
func TestAnswerBesideThought(t *testing.T) {
	message := `{"type":"ai","id":"lc_run--1","content":[{"type":"text","text":"THOUGHT","thought":true},{"type":"text","text":"Hi"}]}`
	for _, update := range []string{`{"messages":[` + message + `]}`, message, `[{"messages":[` + message + `]}]`} {
		out := leaving(public, sent{"updates", `{"a":` + update + `}`})
		if !strings.Contains(out, "Hi") || strings.Contains(out, "THOUGHT") {
			t.Errorf("of %s this leaves: %s", update, out)
		}
	}
}
