package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const chunk = `{"id":"c","object":"chat.completion.chunk","choices":[CHOICE]}`

func choice(text string) string { return strings.Replace(chunk, "CHOICE", text, 1) }

// withoutThoughts is a client whose settings exclude thoughts.
var withoutThoughts = filter.Settings{Policy: event.PolicyClient}

// TestNumbersInOtherForms continues a withheld item or choice under another spelling of its number, or under none.
func TestNumbersInOtherForms(t *testing.T) {
	system := strings.Replace(added, "assistant", "system", 1)
	for _, number := range []string{`"output_index":0.0,`, `"output_index":0e0,`, `"output_index":-0,`, `"output_index":"0",`, `"output_index":18446744073709551616,`, `"output_index":[0],`, ""} {
		for _, kind := range []string{"output_text.delta", "output_text.done", "refusal.delta", "content_part.done", "function_call_arguments.delta", "audio.delta"} {
			piece := `{"type":"response.` + kind + `",` + number + `"delta":"secret","text":"secret","part":{"type":"output_text","text":"secret"}}`
			checkStaysIn(t, []filter.Settings{client, public}, created, system, piece)
			checkStaysIn(t, []filter.Settings{client, public}, created, strings.Replace(system, `"output_index":0,`, number, 1), piece)
		}
	}
	for _, number := range []string{`"index":0,`, `"index":0.0,`, `"index":"0",`, `"index":null,`, ""} {
		checkStaysIn(t, []filter.Settings{client, public}, choice(`{`+number+`"delta":{"role":"system"}}`), choice(`{"delta":{"content":"secret"}}`))
		checkStaysIn(t, []filter.Settings{client, public}, choice(`{"delta":{"role":"system"}}`), choice(`{`+number+`"delta":{"content":"secret"}}`))
	}
	checkStaysIn(t, []filter.Settings{client, public}, choice(`{"index":[0],"delta":{"role":"system"}}`), choice(`{"index":0,"delta":{"content":"secret"}}`))
}

// TestMarkedOnce repeats an item of which only the first event is marked as a thought.
func TestMarkedOnce(t *testing.T) {
	const (
		item   = `{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"secret"}]}`
		marked = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"i","role":"assistant","thought":true,"content":[]}}`
	)
	for _, next := range []string{
		delta,
		`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
		`{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[` + item + `]}}`,
		`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":` + item + `}}`,
	} {
		checkStaysIn(t, []filter.Settings{withoutThoughts, public}, created, marked, next)
		if next == delta {
			continue
		}
		if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, stream(created, marked, next)); strings.Contains(facts, "secret") {
			t.Errorf("a thought is reported as an answer:\n%s", facts)
		}
	}
}

// TestItemsWithinResponse continues an item of a withheld response's output.
func TestItemsWithinResponse(t *testing.T) {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		for _, item := range []string{`{"type":"message","id":"i","role":"system","content":[]}`, `{"type":"function_call","id":"i","call_id":"c","name":"n","arguments":"","kind":"internal:x"}`} {
			first := `{"type":"` + kind + `","response":{"id":"r","object":"response","output":[` + item + `]}}`
			for _, next := range []string{delta, strings.Replace(delta, `"output_index":0,`, "", 1), strings.Replace(delta, `"item_id":"i",`, "", 1), strings.Replace(added, `[]`, `[{"type":"output_text","text":"secret"}]`, 1), ended} {
				checkStaysIn(t, []filter.Settings{client, public}, first, next)
			}
		}
	}
}

// TestResultsOfWithheldCalls sends the result of a withheld call, which names the call only by its other ID.
func TestResultsOfWithheldCalls(t *testing.T) {
	call := `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"n","arguments":"","kind":"internal:x"}}`
	for _, next := range []string{
		`{"type":"response.output_item.added","output_index":5,"item":{"type":"function_call_output","id":"o","call_id":"c","output":"secret"}}`,
		`{"type":"response.completed","response":{"id":"r","object":"response","output":[{"type":"function_call_output","id":"o","call_id":"c","output":"secret"}]}}`,
		`{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","output":"secret","raw_item":{"type":"function_call_output","call_id":"c","output":"secret"}}}`,
		`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","raw_item":{"type":"function_call","id":"i","name":"n","arguments":"secret"}}}`,
		`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","rawItem":{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`,
	} {
		checkStaysIn(t, []filter.Settings{client, public}, created, call, next)
	}
}

// TestAnswersOfWithheldApprovals sends the answer to a withheld approval request, and the call that it allows. Those of another one leave.
func TestAnswersOfWithheldApprovals(t *testing.T) {
	const call = `{"id":"c","type":"mcp_call","name":"f","arguments":"secret","output":"secret","approval_request_id":"q"}`
	asked := `{"type":"response.output_item.added","output_index":0,"item":{"id":"q","type":"mcp_approval_request","name":"f","arguments":"secret","kind":"internal"}}`
	askedItem := `{"type":"run_item_stream_event","name":"mcp_approval_requested","item":{"type":"mcp_approval_request_item","raw_item":{"id":"q","type":"mcp_approval_request","name":"f","arguments":"secret","kind":"internal"}}}`
	for _, next := range [][]string{
		{`{"type":"response.output_item.added","output_index":1,"item":` + call + `}`},
		{`{"type":"response.output_item.added","output_index":1,"item":` + call + `}`, `{"type":"response.mcp_call_arguments.done","output_index":1,"item_id":"c","arguments":"secret"}`},
		{`{"type":"response.output_item.done","output_index":1,"item":{"id":"a","type":"mcp_approval_response","approval_request_id":"q","approve":false,"reason":"secret"}}`},
		{`{"type":"response.output_item.added","output_index":1,"item":{"id":"c","type":"mcp_call","name":"f","arguments":""}}`, `{"type":"response.completed","response":{"id":"r","output":[` + call + `]}}`},
		{`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","raw_item":` + call + `}}`},
		{`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","rawItem":{"id":"c","type":"hosted_tool_call","name":"mcp_call","output":"secret","providerData":{"type":"mcp_call","approval_request_id":"q"}}}}`},
		{`{"type":"run_item_stream_event","name":"mcp_approval_response","item":{"type":"mcp_approval_response_item","raw_item":{"type":"mcp_approval_response","approval_request_id":"q","approve":false,"reason":"secret"}}}`},
	} {
		for _, first := range []string{asked, askedItem} {
			checkStaysIn(t, []filter.Settings{client, public}, append([]string{created, first}, next...)...)
		}
	}
	other := `{"type":"response.output_item.added","output_index":1,"item":` + strings.Replace(call, `"q"`, `"p"`, 1) + `}`
	if out := leaving(t, client, stream(created, asked, other)); !strings.Contains(out, other) {
		t.Errorf("of the call that another request allows this leaves: %s", out)
	}
}

// TestResultsAreData sends results and arguments that a tool or a model chooses. Their members are no marks. The items of a response are
// not chosen by a tool.
func TestResultsAreData(t *testing.T) {
	for _, result := range []string{`{"type":"internal","x":"secret"}`, `{"kind":"internal_transfer","x":"secret"}`, `[{"type":"internal","x":"secret"}]`, `{"data":[{"kind":"internal","x":"secret"}]}`} {
		for _, sent := range []string{
			`{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","output":` + result + `,"raw_item":{"type":"function_call_output","call_id":"c","output":"x"}}}`,
			`{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","rawItem":{"type":"function_call_result","callId":"c","output":` + result + `}}}`,
			`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","raw_item":{"type":"function_call","call_id":"c","name":"f","arguments":` + result + `}}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"mcp_call","id":"c","name":"f","arguments":"","output":` + result + `}}`,
			`{"type":"response.completed","response":{"id":"r","output":[{"type":"function_call_output","id":"o","call_id":"c","output":` + result + `}]}}`,
		} {
			if out := leaving(t, client, stream(created, sent, strings.Replace(added, `"output_index":0`, `"output_index":2`, 1))); !strings.Contains(out, sent) || !strings.Contains(out, `"id":"i"`) {
				t.Errorf("of %s this leaves: %s", sent, out)
			}
		}
	}
	for _, output := range []string{`[{"type":"internal","x":"secret"}]`, `[[{"type":"function_call","kind":"internal","x":"secret"}]]`, `{"type":"internal","x":"secret"}`} {
		checkStaysIn(t, []filter.Settings{client, public}, created,
			`{"type":"response.completed","response":{"id":"r","Output":`+output+`}}`,
			`{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"id":"r","output":`+output+`}}}`)
	}
}

// TestInternalObjects sends objects of the protocol that call themselves internal, at any depth. Not searched is what users, models, tools
// and servers choose: errors, schemas, and what was parsed with them.
func TestInternalObjects(t *testing.T) {
	chunks := []string{
		`{"index":0,"delta":{"function_call":MARKED}}`, `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":MARKED}]}}`, `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"custom","custom":MARKED}]}}`,
		`{"index":0,"message":MARKED}`, `{"index":0,"delta":{"audio":MARKED}}`, `{"index":0,"delta":{"annotations":[MARKED]}}`, `{"index":0,"delta":{"reasoning_details":[MARKED]}}`, `{"index":0,"delta":{"thinking_blocks":[MARKED]}}`,
		`{"index":0,"delta":{"images":[MARKED]}}`, `{"index":0,"delta":{"executed_tools":[MARKED]}}`, `{"index":0,"delta":{"context":MARKED}}`, `{"index":0,"delta":{"provider_specific_fields":MARKED}}`, `{"index":0,"delta":{},"logprobs":{"content":[MARKED]}}`,
	}
	items := []string{
		`"type":"web_search_call","action":MARKED`, `"type":"file_search_call","results":[MARKED]`, `"type":"code_interpreter_call","outputs":[MARKED]`, `"type":"apply_patch_call","call_id":"c","operation":MARKED`,
		`"type":"computer_call","call_id":"c","pending_safety_checks":[MARKED]`, `"type":"message","role":"assistant","content":[{"type":"output_text","text":"","annotations":[MARKED]}]`,
	}
	for _, marked := range []string{`{"type":"internal","x":"secret"}`, `{"Kind":"internal:x","x":"secret"}`, `{"x":[{"type":"Internal_note","x":"secret"}]}`} {
		of := strings.NewReplacer("MARKED", marked)
		for _, c := range chunks {
			checkStaysIn(t, []filter.Settings{client, public}, choice(of.Replace(c)), choice(`{"index":0,"delta":{"content":"secret"}}`))
		}
		checkStaysIn(t, []filter.Settings{client, public}, of.Replace(`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":MARKED,"x_groq":MARKED}`))
		for _, item := range items {
			item = `{"id":"i",` + of.Replace(item) + `}`
			for _, sent := range [][]string{
				{`{"type":"response.output_item.added","output_index":0,"item":` + item + `}`, delta},
				{`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","raw_item":` + item + `}}`, delta},
				{`{"type":"response.completed","response":{"id":"r","output":[` + item + `]}}`},
			} {
				checkStaysIn(t, []filter.Settings{client, public}, append([]string{created}, sent...)...)
			}
		}
		for _, member := range []string{"conversation", "usage", "text", "reasoning", "prompt"} {
			checkStaysIn(t, []filter.Settings{client, public}, of.Replace(`{"type":"response.created","response":{"id":"r","`+member+`":MARKED}}`))
		}
		for _, member := range []string{`"error":MARKED`, `"text":{"format":{"schema":MARKED}}`, `"prompt":{"variables":MARKED}`, `"metadata":MARKED`, `"tools":[MARKED]`, `"output":[{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"","parsed":MARKED}]}]`,
			`"output":[{"id":"f","type":"function_call","parsed_arguments":MARKED}]`, `"output":[{"id":"l","type":"local_shell_call","action":{"type":"exec","env":MARKED}}]`} {
			if out := leaving(t, client, stream(of.Replace(`{"type":"response.completed","response":{"id":"r",`+member+`}}`))); !strings.Contains(out, "secret") {
				t.Errorf("of a response with %s nothing leaves", of.Replace(member))
			}
		}
	}
}

// TestUnclearMessages sends messages with a role or form that the protocol does not have.
func TestUnclearMessages(t *testing.T) {
	checkStaysIn(t, []filter.Settings{client, public}, created, strings.Replace(added, `"assistant"`, "null", 1), delta)
	for _, output := range []string{`{"0":{"type":"message","role":"system","id":"z","content":"secret"}}`, `[[{"type":"message","role":"system","id":"z","content":"secret"}]]`} {
		checkStaysIn(t, []filter.Settings{client, public}, created, `{"type":"response.completed","response":{"id":"r","object":"response","output":`+output+`}}`)
	}
	checkStaysIn(t, []filter.Settings{client, public}, created,
		`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":[{"type":"message","id":"m","role":"developer","content":"secret"}]}}`)
}

// TestItemsBesideWithheld checks that a withheld item does not withhold the next one.
func TestItemsBesideWithheld(t *testing.T) {
	next := strings.NewReplacer(`"output_index":0`, `"output_index":1`, `"i"`, `"j"`)
	out := leaving(t, client, stream(created, strings.Replace(added, "assistant", "system", 1), delta, next.Replace(added), next.Replace(delta)))
	if strings.Count(out, "secret") != 1 || !strings.Contains(out, `"item_id":"j","delta":"secret"`) {
		t.Errorf("this leaves: %s", out)
	}
}

// TestOtherResponses checks that an item stays withheld when another response begins, and that the other response leaves.
func TestOtherResponses(t *testing.T) {
	other := strings.NewReplacer(`"id":"r"`, `"id":"s"`, `"i"`, `"j"`, "secret", "answer")
	sent := []string{created, strings.Replace(added, "assistant", "system", 1), other.Replace(created), other.Replace(added), other.Replace(delta), delta, other.Replace(ended), ended}
	checkStaysIn(t, []filter.Settings{client, public}, sent...)
	if out := leaving(t, client, stream(sent...)); strings.Count(out, "answer") != 2 {
		t.Errorf("of the other response this leaves: %s", out)
	}
}

func TestKeepAlive(t *testing.T) {
	const sent = `{"type":"keepalive","sequence_number":3}`
	for _, reader := range []filter.Settings{client, public} {
		if out := leaving(t, reader, "event: keepalive\ndata: "+sent+"\n\n"); out != sent+"\n" {
			t.Errorf("under %s this leaves: %s", reader.Policy, out)
		}
	}
}

// TestPiecesOfOtherItems sends text that continues an item which is no answer.
func TestPiecesOfOtherItems(t *testing.T) {
	for _, item := range []string{
		`{"id":"i","type":"message","role":"user"}`, `{"id":"i","type":"message","role":"tool"}`, `{"id":"i","type":"function_call","name":"f","call_id":"c"}`,
		`{"id":"i","type":"reasoning"}`, `{"id":"i","type":"message","role":"assistant","thought":true}`,
	} {
		begun := strings.Replace(added, `{"id":"i","type":"message","role":"assistant","content":[]}`, item, 1)
		for _, piece := range []string{delta, strings.NewReplacer("delta", "done", `"secret"`, `"","text":"secret"`).Replace(delta)} {
			checkStaysIn(t, []filter.Settings{public}, created, begun, piece)
			if strings.Contains(item, "reasoning") || strings.Contains(item, "thought") {
				checkStaysIn(t, []filter.Settings{withoutThoughts}, created, begun, piece)
			}
		}
	}
	reasoning := func(index, id string) string {
		return `{"type":"response.output_item.added","output_index":` + index + `,"item":{"id":` + id + `,"type":"reasoning","summary":[]}}`
	}
	for _, c := range [][2]string{ // pieces that name no item, or none that began
		{reasoning("0", `"i"`), `"output_index":-1,"item_id":""`}, {reasoning("0", `"i"`), `"x":0`}, {reasoning("0", `"i"`), `"output_index":7`},
		{reasoning("null", "5"), `"output_index":null,"item_id":5`}, {reasoning("null", `""`), `"x":0`},
	} {
		piece := strings.Replace(delta, `"output_index":0,"item_id":"i"`, c[1], 1)
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, created, c[0], piece)
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, c[0], piece) // a stream that shows only parts
	}
	second := strings.NewReplacer(`"id":"r"`, `"id":"s"`, `"i"`, `"j"`)
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, created, reasoning("0", `"i"`), second.Replace(created), second.Replace(added), strings.Replace(delta, `"item_id":"i"`, `"response_id":"r"`, 1))
	part := `{"type":"response.content_part.added","output_index":0,"item_id":"i","content_index":0,"part":{"type":"reasoning_text"}}`
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, created, added, part, strings.Replace(delta, `"delta":`, `"content_index":0,"delta":`, 1))
}

// TestItemsWithoutStart sends parts of items whose start is not in the stream, so that only the end could say what they are. Only a client
// for which nothing is excluded gets them. Streams that never show starts, and other IDs of an item that began, are no reason to withhold.
func TestItemsWithoutStart(t *testing.T) {
	other := strings.NewReplacer(`"output_index":0`, `"output_index":1`, `"i"`, `"j"`)
	done := `{"type":"response.output_text.done","output_index":0,"item_id":"i","text":"secret"}`
	part := `{"type":"response.content_part.done","output_index":0,"item_id":"i","part":{"type":"output_text","text":"secret"}}`
	args := `{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"i","delta":"secret"}`
	whole := `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}`
	envelopes := []func(string) string{func(v string) string { return v }, ofModel, func(v string) string { return `{"type":"raw_response_event","data":` + v + `}` }}
	for _, wrap := range envelopes {
		for _, sent := range [][]string{
			{created, delta}, {created, done}, {created, part}, {created, args}, {created, added, other.Replace(delta)},
			{created, added, ended, strings.Replace(created, `"r"`, `"s"`, 1), other.Replace(delta)},
			{created, strings.Replace(delta, `"output_index":0,"item_id":"i",`, "", 1)},
		} {
			for i, v := range sent {
				sent[i] = strings.Replace(wrap(v), "secret", strconv.Itoa(i)+" secret", 1)
			}
			last := strconv.Itoa(len(sent)-1) + " secret"
			for _, s := range []filter.Settings{public, withoutThoughts, client} {
				if out := leaving(t, s, stream(sent...)); strings.Contains(out, last) != (s.Thoughts == client.Thoughts) {
					t.Errorf("under %s, thoughts %d, this leaves: %s\nof %s", s.Policy, s.Thoughts, out, strings.Join(sent, "\n"))
				}
			}
		}
		for _, sent := range [][]string{
			{delta}, {created, whole}, {created, added, strings.Replace(delta, `"i"`, `"j"`, 1)}, {created, strings.Replace(added, `"output_index":0,`, "", 1), delta},
		} {
			for i, v := range sent {
				sent[i] = wrap(v)
			}
			for _, s := range []filter.Settings{public, withoutThoughts} {
				if out := leaving(t, s, stream(sent...)); !strings.Contains(out, "secret") {
					t.Errorf("under %s this leaves: %s\nof %s", s.Policy, out, strings.Join(sent, "\n"))
				}
			}
		}
	}
	const fake = "__fake_id__" // of which the SDK's events have only the number
	sent := []string{begins("a"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "secret"), begins("b"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "secret"), wholePart(3, "secret")}
	if out := leaving(t, public, stream(sent...)); strings.Count(out, "secret") != 3 {
		t.Errorf("of two responses at the same time this leaves: %s", out)
	}
}

// TestThoughtsInOtherPlaces sends thoughts where the protocol has answers.
func TestThoughtsInOtherPlaces(t *testing.T) {
	for _, sent := range []string{
		`{"type":"response.created","response":{"id":"r","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"secret"}]}]}}`,
		`{"type":"response.content_part.done","output_index":0,"item_id":"i","part":{"type":"reasoning_text","text":"secret"}}`,
		`{"type":"run_item_stream_event","name":"message_output_created","agent":"a","item":{"raw_item":{"type":"reasoning","content":[{"type":"reasoning_text","text":"secret"}]}}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","thought":true,"content":[{"type":"output_text","text":"secret"}]}}`,
		choice(`{"index":0,"delta":{"role":"assistant","channel":"analysis","content":"secret"}}`),
		choice(`{"index":0,"delta":{"role":"assistant","type":"Thinking","content":"secret"}},{"index":1,"delta":{"role":"assistant","content":"x"}}`),
		choice(`{"index":0,"thought":true,"delta":{"role":"assistant","content":"secret"}}`),
		choice(`{"index":0,"delta":{"role":"assistant","content":"secret","extra_content":{"google":{"thought":true}}}}`),
	} {
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, created, added, sent)
		if out := leaving(t, client, stream(created, added, sent)); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get %s", sent)
		}
	}
}

// TestInstructionsInOtherPlaces sends instructions of a model where the protocol has answers.
func TestInstructionsInOtherPlaces(t *testing.T) {
	for _, sent := range []string{
		`{"type":"run_item_stream_event","name":"message_output_created","agent":"a","item":{"role":"system","content":"secret"}}`,
		`{"type":"run_item_stream_event","name":"message_output_created","agent":"a","item":{"raw_item":{"type":"message","role":"developer","content":[{"type":"output_text","text":"secret"}]}}}`,
		`{"type":"response.in_progress","response":{"id":"r","output":[{"type":"message","role":"system","content":[{"type":"output_text","text":"secret"}]}]}}`,
		choice(`{"index":0,"message":{"role":"system","content":"secret"}}`),
	} {
		checkStaysIn(t, []filter.Settings{client, public}, created, sent)
	}
}

func checkStaysIn(t *testing.T, readers []filter.Settings, sent ...string) {
	t.Helper()
	for _, s := range readers {
		if out := leaving(t, s, stream(sent...)); strings.Contains(out, "secret") {
			t.Errorf("under %s, thoughts %d, this leaves: %s\nof %s", s.Policy, s.Thoughts, out, strings.Join(sent, "\n"))
		}
	}
}

// TestEnds checks what a stream that says several things about its end becomes.
func TestEnds(t *testing.T) {
	completed := `{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`
	for _, c := range []struct {
		name, want string // the last fact
		sent       []string
	}{
		{"an error after the end", "other", []string{created, completed, `{"type":"error","code":"server_error","message":"m"}`}},
		{"completed with an error", `run_ended agent_error code="server_error"`, []string{created, `{"type":"response.completed","response":{"id":"r","status":"completed","error":{"code":"server_error"},"output":[]}}`}},
		{"[DONE] without an end", "other", []string{created, "[DONE]"}},
	} {
		facts := strings.Split(strings.TrimSpace(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(c.sent...))), "\n")
		if got := strings.TrimSpace(facts[len(facts)-1]); got != c.want {
			t.Errorf("%s: the last fact is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestManyChoices sends a chunk of a megabyte with as many choices as fit, and the end of a resumed response with as many calls. With more
// work than in proportion to their number, this takes longer than a test may.
func TestManyChoices(t *testing.T) {
	const frame = 1_000_000
	for _, one := range []string{`{},`, `{"index":0,"delta":{}},`, `{"index":%d,"delta":{}},`, `{"delta":{"role":"assistant"}},`} {
		var choices strings.Builder
		for i := 0; choices.Len() < frame; i++ {
			choices.WriteString(strings.Replace(one, "%d", strconv.Itoa(i), 1))
		}
		sent := stream(choice(`{"index":0,"delta":{"role":"assistant"}}`), choice(choices.String()+`{"index":0,"delta":{"content":"last"}}`))
		if out := leaving(t, client, sent); !strings.Contains(out, "last") {
			t.Errorf("of choices such as %s nothing leaves", one)
		}
	}
	const call = `{"type":"program"},`
	sent := stream(`{"type":"response.completed","response":{"id":"r","output":[` + strings.Repeat(call, frame/len(call)) + `{"type":"program_output"},{"type":"function_call","call_id":"last"}]}}`)
	if out := leavingOf(t, client, &event.Stream{Identity: event.Identity{JoinedRun: "r"}}, sent); !strings.Contains(out, "last") {
		t.Error("of a response with many calls nothing leaves")
	}
}
