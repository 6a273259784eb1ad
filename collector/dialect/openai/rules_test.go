package openai_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarkedFrames marks a frame internal at each place that counts, and in disguises. It stays in.
func TestMarkedFrames(t *testing.T) {
	item := `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`
	said := choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`)
	for name, sent := range map[string]string{
		"a kind":                     strings.Replace(delta, `{`, `{"kind":"internal:llm-call",`, 1),
		"a type":                     strings.Replace(delta, `"response.`, `"internal:response.`, 1),
		"capital letters":            strings.Replace(delta, `{`, `{"Kind":"INTERNAL:x",`, 1),
		"accents":                    strings.Replace(delta, `{`, `{"kind":"Ínternal",`, 1),
		"a blank":                    strings.Replace(delta, `{`, `{"kind":" \u200binternal",`, 1),
		"a list":                     strings.Replace(delta, `{`, `{"kind":["internal"],`, 1),
		"the member event":           strings.Replace(delta, `{`, `{"event":"internal_x",`, 1),
		"the member object":          strings.Replace(said, `chat.completion.chunk`, `internal.chunk`, 1),
		"the SSE event name":         delta + "\nevent: internal:x",
		"an envelope":                `{"type":"raw_response_event","kind":"internal","data":` + delta + `}`,
		"an event in an envelope":    `{"type":"raw_response_event","data":` + strings.Replace(delta, `{`, `{"kind":"internal",`, 1) + `}`,
		"an event in JavaScript":     ofModel(strings.Replace(delta, `{`, `{"kind":"internal",`, 1)),
		"an item":                    strings.Replace(item, `"raw_item":{`, `"raw_item":{"kind":"internal",`, 1),
		"a part":                     strings.Replace(item, `"output_text"`, `"internal_text"`, 1),
		"the name of a run item":     strings.Replace(item, `message_output_created`, `internal_output_created`, 1),
		"a choice":                   strings.Replace(said, `"index":0`, `"index":0,"kind":"internal"`, 1),
		"an item in a response":      strings.Replace(ended, `"id":"i"`, `"id":"i","kind":"internal"`, 1),
		"an object of the metadata":  strings.Replace(delta, `{`, `{"x":{"y":[{"kind":"internal"}]},`, 1),
		"an event of the JavaScript": strings.Replace(piece, `"data":{`, `"data":{"kind":"internal",`, 1),
	} {
		t.Run(name, func(t *testing.T) { checkStaysIn(t, []filter.Settings{client, public}, sent) })
	}
}

// TestContinuations continues what a withheld frame has begun, by each ID of the protocol. The last frame stays in, but leaves without the
// first one.
func TestContinuations(t *testing.T) {
	mark := func(sent string) string { return strings.Replace(sent, `{`, `{"kind":"internal",`, 1) }
	call := `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}}`
	bare := strings.NewReplacer(`"item_id":"i",`, "", `"id":"i",`, "")
	chunk := choice(`{"index":0,"delta":{"role":"assistant"}}`)
	result := func(role, text string) string {
		return `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"` + role + `","content":"` + text + `"}}]}`
	}
	for name, sent := range map[string][]string{
		"the ID of an item":        {created, mark(added), strings.Replace(delta, `"output_index":0,`, "", 1)},
		"the number of an item":    {created, mark(bare.Replace(added)), bare.Replace(delta)},
		"the end of an item":       {created, mark(added), strings.Replace(strings.Replace(added, "item.added", "item.done", 1), `[]`, `[{"type":"output_text","text":"secret"}]`, 1)},
		"the end of the response":  {created, mark(added), ended},
		"an item of the SDK":       {`{"type":"raw_response_event","data":` + mark(added) + `}`, message},
		"the result of a call":     {created, mark(call), `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call_output","id":"o","call_id":"c","output":"secret"}}`},
		"the result in the SDK":    {mark(called), strings.ReplaceAll(output, `"o"`, `"secret"`)},
		"an approval":              {created, mark(`{"type":"response.output_item.added","output_index":0,"item":{"id":"q","type":"mcp_approval_request","name":"f","arguments":""}}`), `{"type":"response.output_item.done","output_index":1,"item":{"id":"m","type":"mcp_call","name":"f","approval_request_id":"q","output":"secret"}}`},
		"parts of a response":      {mark(created), added, delta},
		"a resumed response":       {created, mark(strings.Replace(created, "created", "in_progress", 1)), added, delta},
		"the ID of a response":     {mark(created), later.Replace(created), ended},
		"a response that ended":    {mark(created), ended, later.Replace(created), strings.NewReplacer("created", "in_progress", "prompt", "secret").Replace(created)},
		"a failure after an error": {mark(strings.Replace(created, `"id":"r",`, "", 1)), `{"type":"error","message":"m"}`, `{"type":"response.failed","response":{"error":{"message":"secret"}}}`},
		"an item in a response":    {mark(`{"type":"raw_response_event","data":` + ended + `}`), message},
		"more of a result":         {mark(result("tool", "")), result("", "secret")},
		"the ID of a completion":   {mark(chunk), choice(`{"index":0,"delta":{"content":"secret"}}`)},
		"another choice":           {mark(chunk), choice(`{"index":1,"delta":{"role":"assistant","content":"secret"}}`)},
		"a completion without IDs": {mark(strings.Replace(chunk, `"id":"c",`, "", 1)), strings.Replace(choice(`{"index":0,"delta":{"content":"secret"}}`), `"id":"c",`, "", 1)},
		"the result in a chunk":    {mark(choice(`{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t","function":{"name":"f"}}]}}`)), `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"tool","tool_call_id":"t","content":"secret"}}]}`},
		"an answer in JavaScript":  {mark(started), piece},
		"its second form":          {mark(unnamed), ofModel(created), ofModel(added), ofModel(delta)},
	} {
		t.Run(name, func(t *testing.T) {
			checkStaysIn(t, []filter.Settings{client, public}, sent...)
			all := strings.ReplaceAll(stream(sent...), `{"kind":"internal",`, `{`)
			if out := leaving(t, client, all); !strings.Contains(out, "secret") {
				t.Errorf("without a mark, this leaves: %s", out)
			}
		})
	}
}

// TestNumbersAfterWithheld gives an item the number of a withheld one. It leaves under its own ID.
func TestNumbersAfterWithheld(t *testing.T) {
	internal := strings.Replace(added, `{`, `{"kind":"internal",`, 1)
	other := strings.NewReplacer(`"i"`, `"j"`)
	for _, sent := range [][]string{
		{created, internal, other.Replace(added), other.Replace(delta)},
		{strings.Replace(delta, `{`, `{"kind":"internal",`, 1), delta, other.Replace(delta)}, // a stream that shows only parts
		{created, internal, ended, later.Replace(created), other.Replace(added), other.Replace(delta)},
	} {
		if out := leaving(t, client, stream(sent...)); strings.Count(out, "secret") != 1 || !strings.Contains(out, `"item_id":"j"`) {
			t.Errorf("of %s\nthis leaves: %s", strings.Join(sent, "\n"), out)
		}
	}
}

// TestUnreadableStarts continues what an unreadable frame has begun, and what began before and after it.
func TestUnreadableStarts(t *testing.T) {
	const unreadable = `{"type":"response.output_item.added","output_index":1,"item":{"id":"j","kind":"internal","kind":"x"}}`
	begun := choice(`{"index":0,"delta":{"role":"assistant"}}`)
	said := choice(`{"index":0,"delta":{"content":"secret"}}`)
	second := strings.NewReplacer(`"i"`, `"j"`, `"output_index":0`, `"output_index":1`)
	for name, c := range map[string]struct {
		leaves bool
		sent   []string
	}{
		"a piece of its item":              {false, []string{created, added, unreadable, second.Replace(delta)}},
		"the end of its item":              {false, []string{created, added, unreadable, second.Replace(strings.Replace(strings.Replace(added, "item.added", "item.done", 1), `[]`, `[{"type":"output_text","text":"secret"}]`, 1))}},
		"a piece of an earlier item":       {true, []string{created, added, unreadable, delta}},
		"a piece of a later item":          {true, []string{created, unreadable, added, delta}},
		"an item of the SDK":               {true, []string{agentA, unreadable, message}},
		"the result of an unseen call":     {false, []string{agentA, unreadable, strings.ReplaceAll(output, `"o"`, `"secret"`)}},
		"the result of a call":             {true, []string{agentA, called, unreadable, strings.ReplaceAll(output, `"o"`, `"secret"`)}},
		"a result with an ID":              {true, []string{created, calledOf(1, "c", "f"), called, unreadable, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call_output","id":"o","call_id":"c","output":"secret"}}`}},
		"a completion":                     {false, []string{unreadable, said}},
		"an earlier completion":            {true, []string{begun, unreadable, said}},
		"a later completion":               {true, []string{unreadable, begun, said}},
		"a text of the SDK without an ID":  {true, []string{agentA, unreadable, strings.Replace(piece, `"itemId":"i",`, "", 1)}},
		"a frame that is no event, before": {true, []string{created, `{"x":1}`, delta}},
	} {
		t.Run(name, func(t *testing.T) {
			if out := leaving(t, client, stream(c.sent...)); strings.Contains(out, "secret") != c.leaves {
				t.Errorf("this leaves: %s", out)
			}
		})
	}
}

// TestInternalNames names agents, tools, functions and servers internal, in recordings of the Agents SDK and in other streams. All frames
// leave unchanged.
func TestInternalNames(t *testing.T) {
	recordings, err := filepath.Glob("testdata/names/*.jsonl")
	if err != nil || len(recordings) == 0 {
		t.Fatal("no recordings", err)
	}
	streams := map[string][]string{
		"agents of a response": {created, `{"type":"response.output_item.added","output_index":0,"agent":{"agent_name":"/root/internal_x"},"item":{"id":"i","type":"message","role":"assistant","agent":{"agent_name":"/root/internal_x"},"content":[]}}`, delta, ended},
		"tools":                {created, strings.Replace(calledOf(1, "c", "internal_search"), `"data":{`, `"data":{"agent_name":"internal_x",`, 1), `{"type":"response.function_call_arguments.done","output_index":0,"item_id":"fc","name":"internal_search","arguments":"{}"}`},
		"servers":              {created, `{"type":"response.output_item.done","output_index":0,"item":{"type":"mcp_call","id":"m","name":"internal_f","server_label":"internal_server","arguments":"{}","output":"secret"}}`},
		"handoffs":             {begins("internal_x"), callItem("internal_x", "c", "transfer_to_internal_y"), outputItem("internal_x", "c"), begins("internal_y"), item("message_output_created", "internal_y", `"type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]`)},
		"tools of a chunk":     {choice(`{"index":0,"delta":{"role":"assistant","name":"internal_x","tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"internal_search","arguments":"{}"}}]}}`)},
		"names of frames":      {created, added, strings.Replace(delta, `{`, `{"name":"internal_x",`, 1)},
		"errors":               {begins("internal_x"), `{"type":"error","code":"internal_error","message":"secret"}`},
	}
	for _, path := range recordings {
		recorded, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		streams[filepath.Base(path)] = strings.Split(strings.TrimSpace(string(recorded)), "\n")
	}
	for name, sent := range streams {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(stream(sent...), "internal_") {
				t.Error("nothing has an internal name")
			}
			for _, of := range []*event.Stream{{SingleRun: true}, {}} {
				if out, want := leavingOf(t, client, of, stream(sent...)), strings.Join(sent, "\n")+"\n"; out != want {
					t.Errorf("this leaves: %s\nof %s", out, want)
				}
			}
			ordinary := strings.NewReplacer("internal_", "q_")
			if out, want := ordinary.Replace(leaving(t, public, stream(sent...))), leaving(t, public, ordinary.Replace(stream(sent...))); out != want {
				t.Errorf("the public gets: %s\nwith other names: %s", out, want)
			}
		})
	}
}

// TestManyWithheldItems withholds more items than are recorded. From then on, only pieces of items that have left before leave.
func TestManyWithheldItems(t *testing.T) {
	sent := []string{created, added}
	for i := range 1100 {
		sent = append(sent, strings.NewReplacer(`"i"`, `"n`+strconv.Itoa(i)+`"`, `"output_index":0,`, `"kind":"internal",`).Replace(added))
	}
	other := strings.NewReplacer(`"i"`, `"n1099"`, `"output_index":0,`, "")
	checkStaysIn(t, []filter.Settings{client, public}, append(sent[:len(sent):len(sent)], other.Replace(delta))...)
	if out := leaving(t, client, stream(append(sent, delta)...)); !strings.Contains(out, "secret") {
		t.Error("a piece of an item that has left does not leave")
	}
}
