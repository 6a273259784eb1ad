package openai_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// statements counts what a stream states about runs, model calls, tool calls and answers.
func statements(t *testing.T, single bool, sent string) map[string]int {
	t.Helper()
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	d := c.Decode(&event.Stream{SingleRun: single}, collector.Input{Reader: strings.NewReader(sent), ReceivedAt: time.Now}, "openai")
	stated := map[string]int{}
	for {
		b, err := d.Next()
		if err != nil {
			return stated
		}
		for _, e := range b.Events {
			switch e.Kind {
			case event.KindRunStarted, event.KindModelStarted, event.KindToolStarted, event.KindFinal, event.KindTransfer, event.KindInputRequested, event.KindInputAnswered:
				stated[fmt.Sprintf("%s %q of %q", e.Kind, e.CallID, b.Run)]++
			case event.KindRunEnded, event.KindModelEnded, event.KindToolEnded:
				stated[fmt.Sprintf("%s %q of %q: failed %t", e.Kind, e.CallID, b.Run, e.Error != event.NoFailure)]++
			case event.KindText:
				if !b.Partial {
					stated[fmt.Sprintf("text of %q: %s", b.Run, e.Text())]++
				}
			}
		}
	}
}

// TestTextsOfTwoResponses checks that the pieces of two open responses are not joined.
func TestTextsOfTwoResponses(t *testing.T) {
	part := func(kind, id, members string) string {
		return `{"type":"response.` + kind + `","output_index":0` + strings.NewReplacer("ID", id).Replace(members) + `}`
	}
	const added, piece = `,"item":{"id":"ID","type":"message","role":"assistant","content":[]}`, `,"item_id":"ID","delta":"ID"`
	sent := stream(createdJS("r"), createdJS("s"), part("output_item.added", "i", added), part("output_item.added", "j", added),
		part("output_text.delta", "i", piece), part("output_text.delta", "j", piece), part("output_text.delta", "i", piece))
	texts := textsOf(sent, func(*event.Batch) bool { return true })
	if len(texts) != 2 || texts["id i"] != "ii" || texts["id j"] != "j" {
		t.Errorf("the texts are %q", texts)
	}
}

// textsOf joins the texts of a stream that have the same message. Only those of batches that match count.
func textsOf(sent string, matches func(*event.Batch) bool) map[string]string {
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	d := c.Decode(&event.Stream{SingleRun: true}, collector.Input{Reader: strings.NewReader(sent), ReceivedAt: time.Now}, "openai")
	texts := map[string]string{}
	for {
		b, err := d.Next()
		if err != nil {
			break
		}
		for _, e := range b.Events {
			if e.Kind == event.KindText && matches(b) {
				texts[e.Message] += string(e.Text())
			}
		}
	}
	return texts
}

// TestMessagesOfOneResponse shows pieces of two messages of a response, and then an item with each. A reader must not join the two.
func TestMessagesOfOneResponse(t *testing.T) {
	sent := stream(begins("a"), deltaOf(2, "i"), deltaOf(4, "j"), deltaOf(5, "j"), messageItem("a", "i"), messageItem("a", "j"), deltaOf(2, "k"), messageItem("a", "k"))
	for _, isPartial := range []bool{true, false} {
		texts := textsOf(sent, func(b *event.Batch) bool { return b.Partial == isPartial })
		if j := texts["id j"]; len(texts) != 2 || texts[""] != "ik" || isPartial && j != "jj" || !isPartial && j != "j" {
			t.Errorf("the texts are %q", texts)
		}
	}
}

// checkTruth checks that what leaves of a stream under public states nothing that the stream does not, and all calls that it states.
// Formats are written from it.
func checkTruth(t *testing.T, name, sent string) {
	t.Helper()
	for _, single := range []bool{true, false} {
		inside := statements(t, single, sent)
		outside := statements(t, single, stream(strings.Split(strings.TrimSpace(leaving(t, public, sent)), "\n")...))
		for stated, n := range outside {
			if n > inside[stated] {
				t.Errorf("%s, single run %t: what leaves states %d times, not %d: %s", name, single, n, inside[stated], stated)
			}
		}
		for stated, n := range inside {
			if strings.HasPrefix(stated, "tool_started") && n > outside[stated] {
				t.Errorf("%s, single run %t: what leaves states %d times, not %d: %s", name, single, outside[stated], n, stated)
			}
		}
	}
}

// A person allows a call of an MCP server, as the Agents SDK for Python writes it.
const (
	asksMCP    = `{"type":"run_item_stream_event","name":"mcp_approval_requested","item":{"type":"mcp_approval_request_item","raw_item":{"type":"mcp_approval_request","id":"q","name":"w","server_label":"s","arguments":"{}"}}}`
	answersMCP = `{"type":"run_item_stream_event","name":"mcp_approval_response","item":{"type":"mcp_approval_response_item","raw_item":{"type":"mcp_approval_response","approval_request_id":"q","approve":true}}}`
)

// failedCalls are items with the results of calls that failed, and the word "secret" in what does not leave.
var failedCalls = []string{
	`{"type":"mcp_call","id":"x","name":"w","server_label":"s","arguments":"secret","output":null,"status":"completed","error":{"type":"mcp_tool_execution_error","content":"secret"}}`,
	`{"type":"mcp_call","id":"x","name":"w","server_label":"s","arguments":"","output":null,"error":"secret"}`,
	`{"type":"image_generation_call","id":"x","status":"failed","error":{"code":"secret","message":"secret"}}`,
	`{"type":"shell_call_output","id":"x","call_id":"c","status":"completed","output":[{"stdout":"secret","stderr":"secret","outcome":{"type":"timeout"}}]}`,
	`{"type":"apply_patch_call_output","id":"x","call_id":"c","status":"failed","output":"secret"}`,
}

// TestFailedCalls checks that the public sees that a call failed, and not why.
func TestFailedCalls(t *testing.T) {
	inAgent := func(item, output string) string {
		return `{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","rawItem":` + item + output + `}}`
	}
	failed := []string{inAgent(`{"type":"function_call_result","callId":"c","name":"w","output":"secret"}`, `,"output":"An error occurred while running the tool. Please try again. Error: secret"`), inAgent(`{"type":"function_call_output","call_id":"c","output":"An error occurred while running the tool. Please try again. secret"}`, ``)}
	for _, item := range failedCalls {
		failed = append(failed, `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`, inAgent(item, `,"output":"secret"`), `{"type":"response.completed","response":{"id":"r","output":[`+item+`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"open"}]}]}}`)
	}
	for _, ended := range failed {
		sent := []string{created, ended, "[DONE]"}
		if strings.Contains(ended, "run_item") {
			sent = []string{agentA, called, ended, "[DONE]"}
		}
		checkTruth(t, ended, stream(sent...))
		out := leaving(t, public, stream(sent...))
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(strings.Split(strings.TrimSpace(out), "\n")...))
		if strings.Contains(out, "secret") || !strings.Contains(facts, "tool_error") && !strings.Contains(facts, "timeout") {
			t.Errorf("of %s\nthis leaves: %s\nwhich states %s", ended, out, facts)
		}
	}
}

// callOf returns a chunk of a completion with a call, and callsEnd the chunk that ends the completion.
func callOf(completion, id, tool string) string {
	return strings.Replace(choice(`{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"`+id+`","function":{"name":"`+tool+`","arguments":"{}"}}]}}`), `"c"`, `"`+completion+`"`, 1)
}

func callsEnd(completion string) string {
	return strings.Replace(choice(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`), `"c"`, `"`+completion+`"`, 1)
}

// TestResults sends the results of calls between completions, whole and in pieces. None of them leaves as an answer.
func TestResults(t *testing.T) {
	result := func(id, delta string) string {
		return strings.Replace(choice(`{"index":0,"delta":{`+delta+`}}`), `"c"`, `"`+id+`"`, 1)
	}
	without := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindToolEnded}}
	for _, pieces := range [][]string{
		{result("k", `"role":"tool","tool_call_id":"k","content":"secret"`)}, {result("k", `"role":"Tool","content":"secret"`)},
		{result("k", `"role":"tool","content":""`), result("k", `"content":"secret"`)}, {result("k", `"role":"tool"`), result("l", `"content":"secret"`)},
		{result("", `"role":"tool","content":"secret"`), result("", `"content":"secret"`)}, {result("c", `"role":"tool","content":"secret"`), result("c", `"content":"secret"`)},
	} {
		sent := slices.Concat([]string{callOf("c", "k", "f"), callsEnd("c")}, pieces, []string{callOf("d", "l", "g"), callsEnd("d"), "[DONE]"})
		checkStaysIn(t, []filter.Settings{public, without}, sent...)
		checkTruth(t, strings.Join(pieces, "\n"), stream(sent...))
		if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get %s", pieces)
		}
	}
}

// TestTruth reads what leaves of the recordings, and of streams whose ends depend on members that do not leave.
func TestTruth(t *testing.T) {
	captures, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(captures) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, name := range captures {
		sent, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkTruth(t, name, string(sent))
	}
	begun, finished := choice(`{"index":0,"delta":{"role":"assistant","content":"Hi"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)
	usage := func(choices string) string {
		return strings.Replace(choice(choices), `"choices"`, `"usage":{"prompt_tokens":3,"completion_tokens":9},"choices"`, 1)
	}
	for _, reason := range []string{"content_filter", "SAFETY", "content_filter: RECITATION", "network_error", "abort", "Cancelled", "TIMEOUT", "ERROR", "secret"} {
		failing, good := choice(`{"index":0,"delta":{},"finish_reason":"`+reason+`"}`), choice(`{"index":0,"delta":{},"finish_reason":"`+reason+`"},{"index":1,"delta":{},"finish_reason":"stop"}`)
		checkTruth(t, reason, stream(begun, failing, "[DONE]"))
		checkTruth(t, reason, stream(begun, choice(`{"index":1,"delta":{"role":"assistant","content":"Ho"}}`), good, "[DONE]"))
		if out := leaving(t, public, stream(begun, failing, "[DONE]")); strings.Contains(out, "secret") || strings.Contains(out, "RECITATION") {
			t.Errorf("with the reason %s this leaves: %s", reason, out)
		}
	}
	for _, sent := range [][]string{
		{begun, strings.Replace(choice(`{"index":0,"delta":{},"finish_reason":null}`), `"choices"`, `"x_groq":{"id":"r","error":"over capacity"},"choices"`, 1), "[DONE]"},
		{begun, finished, usage(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`), "[DONE]"}, // OpenRouter
		{begun, finished, usage(`{"index":0,"delta":{"content":""},"finish_reason":null}`), "[DONE]"},
		{begun, finished, usage(`{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}`), "[DONE]"},
		{begun, usage(``), finished, "[DONE]"},
		{begun, finished, strings.Replace(usage(``), `"choices":[]`, `"choices":null`, 1), "[DONE]"},
		{begun, finished, strings.Replace(usage(``), `"choices":[]`, `"x":0`, 1), "[DONE]"},
		{usage(`{"index":0,"delta":{"role":"assistant","content":"Hi"}}`), usage(`{"index":0,"delta":{},"finish_reason":"stop"}`), usage(``), "[DONE]"}, // vLLM
		{choice(`{"index":0,"delta":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}}`), choice(`{"index":0,"delta":{"function_call":{"arguments":"{\"x\":1}"}}}`),
			choice(`{"index":0,"delta":{},"finish_reason":"function_call"}`), "[DONE]"},
		{choice(`{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":""}`), choice(`{"index":0,"delta":{"content":" you"},"finish_reason":"null"}`), finished, "[DONE]"},
		{callOf("c", "0", "f"), callsEnd("c"), strings.Replace(choice(`{"index":0,"delta":{"role":"tool","tool_call_id":"0","content":"secret"}}`), `"c"`, `"0"`, 1), callOf("d", "0", "g"), callsEnd("d"), "[DONE]"},
		{agentA, called, asks, "[DONE]"},
		{agentA, called, asks, output, message, "[DONE]"},
		{agentA, called, asks, rejected, message, "[DONE]"},
		{agentA, rejected, message, "[DONE]"},
		{agentA, strings.Replace(rejected, `,"output":"Tool execution was not approved."`, "", 1), message, "[DONE]"},
		{agentA, asksB, toB, agentB, called, output, message, "[DONE]"},
		{agentA, asksMCP, answersMCP, message, "[DONE]"},
		{`{"type":"raw_response_event","data":` + created + `}`, `{"type":"raw_response_event","data":` + ended + `}`, asksMCP, "[DONE]"},
	} {
		checkTruth(t, strings.Join(sent, "\n"), stream(sent...))
	}
}
