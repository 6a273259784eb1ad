package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestOtherNames sends events under names of older versions and other servers. The client gets them, unless a
// setting excludes their kind, and the public does not.
func TestOtherNames(t *testing.T) {
	item := func(text string) string { return strings.Replace(added, `"message","role":"assistant"`, text, 1) }
	for kind, names := range map[event.Kind][]string{
		event.KindThought: {
			`reasoning_part.added","part":{"type":"reasoning_text","text":"secret"}`, `reasoning_part.done","part":{"type":"reasoning_text","text":"secret"}`,
			`reasoning.delta","delta":"secret"`, `reasoning.delta","delta":{"text":"secret"}`, `reasoning.done","text":"secret"`,
			`reasoning_summary.delta","delta":{"text":"secret"}`, `reasoning_summary.done","text":"secret"`,
		},
		event.KindToolStarted: {
			`apply_patch_call_operation_diff.delta","delta":"secret"`, `apply_patch_call_operation_diff.done","diff":"secret"`,
			`mcp_call.arguments_delta","delta":{"q":"secret"}`, `mcp_call.arguments_done","arguments":{"q":"secret"}`,
			`mcp_call.arguments.delta","delta":"secret"`, `mcp_call.arguments.done","arguments":"secret"`,
			`code_interpreter_call.code.delta","delta":"secret"`, `code_interpreter_call.code.done","code":"secret"`,
		},
		event.KindCitation: {`output_text_annotation.added","annotation":{"type":"file_citation","filename":"secret"}`},
	} {
		start := map[event.Kind]string{event.KindThought: `"reasoning"`, event.KindToolStarted: `"mcp_call","name":"n"`, event.KindCitation: `"message","role":"assistant"`}[kind]
		for _, name := range names {
			for _, form := range []string{"%", `{"type":"raw_response_event","data":%}`} {
				sent := []string{created, item(start), `{"type":"response.` + name + `,"output_index":0,"item_id":"i"}`}
				for i := range sent {
					sent[i] = strings.Replace(form, "%", sent[i], 1)
				}
				if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
					t.Errorf("the client does not get %s", sent[2])
				}
				readers := []filter.Settings{public}
				if kind != event.KindCitation {
					readers = append(readers, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}})
				}
				checkStaysIn(t, readers, sent...)
			}
		}
	}
}
