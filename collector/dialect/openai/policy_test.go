package openai_test

import (
	"os"
	"path/filepath"
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

// leaving returns what leaves of a stream, given as on the wire.
func leaving(t *testing.T, s filter.Settings, stream string) string {
	t.Helper()
	return leavingOf(t, s, &event.Stream{SingleRun: true}, stream)
}

// leavingOf is leaving for a stream with the given description.
func leavingOf(t *testing.T, s filter.Settings, of *event.Stream, stream string) string {
	t.Helper()
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	d := c.Decode(of, collector.Input{Reader: strings.NewReader(stream), ReceivedAt: time.Now}, "openai")
	f := filter.New(s)
	var out strings.Builder
	for {
		b, err := d.Next()
		if err != nil {
			return out.String()
		}
		if frame, why := f.Apply(b); why == filter.Passed {
			out.Write(frame.Data)
			out.WriteString("\n")
		}
	}
}

var (
	client = filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	public = filter.Settings{Policy: event.PolicyPublic}
)

const (
	created = `{"type":"response.created","response":{"id":"r","object":"response","model":"m","output":[],"instructions":"prompt"}}`
	added   = `{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[]}}`
	delta   = `{"type":"response.output_text.delta","output_index":0,"item_id":"i","delta":"secret"}`
	ended   = `{"type":"response.completed","response":{"id":"r","output":[{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}]}}`
)

func stream(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

// TestContinuationsStayIn sends items and choices of which the beginning is withheld or was not read. Nothing of them leaves.
func TestContinuationsStayIn(t *testing.T) {
	for name, sent := range map[string][]string{
		"internal item":           {created, strings.Replace(added, `"message"`, `"internal_note"`, 1), delta, ended},
		"internal label":          {created, strings.Replace(added, `{"type"`, `{"event":"internal:x","type"`, 1), delta, ended},
		"internal part":           {created, added, `{"type":"response.content_part.added","output_index":0,"item_id":"i","part":{"type":"internal"}}`, delta, ended},
		"instructions":            {created, strings.Replace(added, "assistant", "developer", 1), delta, strings.Replace(ended, "assistant", "developer", 1)},
		"unreadable role":         {created, strings.Replace(added, `"assistant"`, `["system"]`, 1), delta, ended},
		"same number, another id": {created, strings.Replace(added, `"message"`, `"internal_note"`, 1), strings.Replace(delta, `"i"`, `"j"`, 1)},
		"number of a withheld item, id of another": {
			created, strings.Replace(added, `"message"`, `"internal_note"`, 1), strings.NewReplacer(`:0`, `:1`, `"i"`, `"j"`).Replace(added), strings.Replace(delta, `"i"`, `"j"`, 1),
		},
		"same id, another number":  {created, strings.Replace(added, `"message"`, `"internal_note"`, 1), strings.Replace(delta, `:0`, `:7`, 1)},
		"unreadable beginning":     {created, `{"type":"response.output_item.added","output_index":0,"item":{"id":"i","id":"j"}}`, delta},
		"unknown beginning":        {created, `{"type":"response.surprise.added","kind":"internal","output_index":0,"item_id":"i"}`, delta, ended},
		"wrapped":                  {`{"type":"raw_response_event","data":` + created + `}`, `{"type":"raw_response_event","data":` + strings.Replace(added, `"message"`, `"internal_note"`, 1) + `}`, `{"type":"raw_response_event","data":` + delta + `}`},
		"wrapped, of another type": {`{"type":"raw_response_event","data":{"type":"response.surprise","delta":"secret"}}`},
		"system choice": {
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"System"}}]}`, `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"secret"}}]}`,
		},
		"internal call": {
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t","type":"internal"}]}}]}`,
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"secret"}}]}}]}`,
		},
		"unreadable call": {
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"choices":[{"index":0,"index":1}]}`,
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"secret"}}]}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range []filter.Settings{client, public} {
				if out := leaving(t, s, stream(sent...)); strings.Contains(out, "secret") {
					t.Errorf("under %s this leaves: %s", s.Policy, out)
				}
			}
		})
	}
	if out := leaving(t, client, stream(created, added, `{"type":"response.surprise","output_index":0}`, delta, ended)); strings.Count(out, "secret") != 2 {
		t.Errorf("an unknown event in an item withholds the item: %s", out)
	}
}

// TestPublicKeepsSecrets reads every recording as the public does.
func TestPublicKeepsSecrets(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out := leaving(t, public, string(text))
		for _, secret := range []string{
			"usage", "instructions", "\"tools\"", "annotation_index", "url_citation", "encrypted_content", "Let me think", "Search first", "Be brief",
			"Rome", "rain", "on fire", "Rate limit", "bad gateway", "EngineCore", "fingerprint", "http_error", "handoff_description", "sunny in", "secret place", "Um9tZQ", "screenshot",
		} {
			if strings.Contains(out, secret) {
				t.Errorf("%s: %q leaves", file, secret)
			}
		}
		if !strings.Contains(out, "\n") {
			t.Errorf("%s: nothing leaves", file)
		}
	}
}

// TestItemsAsText sends an object of the Agents SDK as a text, as Python's str and JSON.stringify write it.
func TestItemsAsText(t *testing.T) {
	for _, name := range []string{"tool_called", "tool_output", "message_output_created", "mcp_approval_requested"} {
		for _, member := range []string{"raw_item", "rawItem"} {
			item := `{"type":"run_item_stream_event","name":"` + name + `","item":{"type":"tool_call_item","` + member + `":"ResponseFunctionToolCall(arguments='secret')"}}`
			if out := leaving(t, public, stream(item)); strings.Contains(out, "secret") || !strings.Contains(out, "tool_call_item") {
				t.Errorf("of %s this leaves: %s", item, out)
			}
		}
	}
}

// TestExcludedThoughts reads recordings as a client that gets no thoughts, wherever an event repeats them.
func TestExcludedThoughts(t *testing.T) {
	for _, name := range []string{"chat-reasoning", "responses-reasoning", "sdk-reasoning", "made-builtin"} {
		text, err := os.ReadFile("testdata/" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		out := leaving(t, filter.Settings{Policy: event.PolicyClient}, string(text))
		if strings.Contains(out, "Let me think") || strings.Contains(out, "Search first") {
			t.Errorf("%s: a thought leaves: %s", name, out)
		}
		if !strings.Contains(out, "aloud") && !strings.Contains(out, "Two fires") {
			t.Errorf("%s: the answer stays in: %s", name, out)
		}
	}
}

// TestErrorsLeave sends errors whose type or code sounds internal: the client learns of them.
func TestErrorsLeave(t *testing.T) {
	for _, sent := range []string{
		`{"error":{"message":"broken","type":"internal_server_error","param":null,"code":"500"}}`, `{"error":{"message":"broken","type":"InternalServerError","param":null,"code":500}}`,
		`{"type":"error","code":"internal_error","message":"broken","param":null,"sequence_number":1}`,
	} {
		if out := leaving(t, client, stream(created, sent)); !strings.Contains(out, "broken") {
			t.Errorf("the client does not get %s", sent)
		}
		if out := leaving(t, public, stream(created, sent)); strings.Contains(out, "broken") || !strings.Contains(out, "the run failed") {
			t.Errorf("of %s the public gets %s", sent, out)
		}
	}
}

// TestResumedItems reads a response from its middle on. Of an item whose start was not seen, only the client gets parts, unless
// something is excluded that they may have.
func TestResumedItems(t *testing.T) {
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	for _, s := range []struct {
		filter.Settings
		want bool
	}{{client, true}, {public, false}, {filter.Settings{Policy: event.PolicyClient}, false}} {
		of := &event.Stream{Identity: event.Identity{JoinedRun: "r", ReplayedRun: "r"}}
		d := c.Decode(of, collector.Input{Reader: strings.NewReader(stream(delta)), ReceivedAt: time.Now}, "openai")
		b, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if _, why := filter.New(s.Settings).Apply(b); b.Run != "r" || b.ContentHash == 0 || (why == filter.Passed) != s.want {
			t.Errorf("run %q, under %s with thoughts %v: %v", b.Run, s.Policy, s.Thoughts, why)
		}
	}
}

// TestExcludedReasoning sends reasoning as each server writes it. It leaves only where thoughts may, and the answer always does.
func TestExcludedReasoning(t *testing.T) {
	const answer = `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}`
	for _, delta := range []string{
		`"reasoning_content":"secret"`, `"reasoning":"secret"`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"secret"}]`,
		`"reasoning_details":[{"type":"reasoning.summary","summary":"secret"}]`, `"thinking_blocks":[{"type":"thinking","thinking":"secret","signature":"x"}]`,
		`"thinking_blocks":[{"type":"redacted_thinking","data":"secret"}]`, `"provider_specific_fields":{"thinking_blocks":[{"type":"thinking","thinking":"secret"}]}`,
		`"provider_specific_fields":{"reasoning_content":"secret"}`, `"reasoning_text":"secret"`, `"reasoning_opaque":"secret"`, `"Encrypted_Reasoning":"secret"`, `"thoughts":["secret"]`,
		`"thought":"secret"`, `"provider_specific_fields":{"thought":["secret"]}`, `"content":[{"type":"reasoning","text":"secret"}]`, `"content":[{"type":"text","channel":"analysis","text":"secret"}]`,
		`"content":[{"type":"thinking","thinking":[{"type":"text","text":"secret"}]}]`, `"content":[{"type":"thinking","thinking":"secret"}]`,
	} {
		sent := stream(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{`+delta+`}}]}`, answer)
		for _, c := range []struct {
			filter.Settings
			want bool
		}{{client, true}, {filter.Settings{Policy: event.PolicyClient}, false}, {public, false}} {
			out := leaving(t, c.Settings, sent)
			if strings.Contains(out, "secret") != c.want || !strings.Contains(out, "Hello") {
				t.Errorf("under %s with thoughts %v: %s", c.Policy, c.Thoughts, out)
			}
		}
	}
}

// TestContradictingNames checks that a frame whose SSE event name is another event of a response does not leave.
func TestContradictingNames(t *testing.T) {
	for _, frame := range []string{
		"event: response.reasoning_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"a\",\"output_index\":0,\"content_index\":0,\"delta\":\"secret\"}\n\n",
		"event: response.reasoning_text.delta\ndata: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"secret\"}}]}\n\n",
	} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, frame)
		if strings.Contains(facts, "secret") {
			t.Errorf("a frame with another name is read:\n%s", facts)
		}
	}
}

// TestEventsOfThoughts sends events about a thought without its text: they leave only where thoughts do.
func TestEventsOfThoughts(t *testing.T) {
	detailed := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	for _, sent := range []string{
		`{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs","summary_index":0,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_part.done","output_index":0,"item_id":"rs","summary_index":0,"part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":0,"delta":""}`,
		`{"type":"response.reasoning_text.done","output_index":0,"item_id":"rs","content_index":0,"text":""}`,
	} {
		for _, c := range []struct {
			reader filter.Settings
			leaves bool
		}{{public, false}, {filter.Settings{Policy: event.PolicyClient}, false}, {detailed, true}, {client, true}} {
			if out := leaving(t, c.reader, stream(sent)); strings.Contains(out, "reasoning") != c.leaves {
				t.Errorf("%s, thoughts %d: of %s this leaves:\n%s", c.reader.Policy, c.reader.Thoughts, sent, out)
			}
		}
	}
}

// TestPublicNoReason checks that an empty reason leaves as null, because clients that check only for null would stop.
func TestPublicNoReason(t *testing.T) {
	for _, none := range []string{`null`, `""`, `"null"`} {
		out := leaving(t, public, stream(choice(`{"index":0,"delta":{"role":"assistant","content":"open"},"finish_reason":`+none+`}`)))
		if !strings.Contains(out, `"open"},"finish_reason":null`) {
			t.Errorf("with %s this leaves: %s", none, out)
		}
	}
}

// TestPublicNull checks that no null becomes an object or a list: clients would take it for a call. The frame is a chunk as the openai
// package for Python writes it.
func TestPublicNull(t *testing.T) {
	const nulls = `"audio":null,"content":null,"function_call":null,"refusal":null,"role":null,"tool_calls":null`
	for _, delta := range []string{`{` + nulls + `}`, `null`, `{"tool_calls":[{"index":0,"id":"a","type":"function","function":null,"custom":null}]}`} {
		out := leaving(t, public, stream(choice(`{"delta":`+delta+`,"index":0,"finish_reason":"stop","logprobs":null}`)))
		if strings.Contains(out, "{}") || strings.Contains(out, "[]") || !strings.Contains(out, `"delta":`) {
			t.Errorf("of %s this leaves: %s", delta, out)
		}
	}
}
