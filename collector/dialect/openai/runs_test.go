package openai

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// factsByRun returns the facts of each run of a stream.
func factsByRun(s *event.Stream, frames ...string) map[string]string {
	runs, run := make(map[string]string), ""
	for _, line := range strings.Split(dialecttest.Facts(Dialect{}, s, "data: "+strings.Join(frames, "\n\ndata: ")+"\n\n"), "\n") {
		switch fact := strings.TrimSpace(line); {
		case !strings.HasPrefix(line, " "):
			_, run, _ = strings.Cut(line, `run="`)
			run, _, _ = strings.Cut(run, `"`)
		case fact == "other":
		case runs[run] == "":
			runs[run] = fact
		default:
			runs[run] += "; " + fact
		}
	}
	return runs
}

// TestInterleavedRuns reads responses and completions that an application forwards at once.
func TestInterleavedRuns(t *testing.T) {
	response := func(kind, id, members string) string {
		return `{"type":"response.` + kind + `","response":{"id":"` + id + `","model":"m"` + members + `}}`
	}
	part := func(kind, item, members string) string {
		return `{"type":"response.` + kind + `","output_index":0,"item_id":"` + item + `"` + members + `}`
	}
	item := func(id string) string {
		return `{"type":"response.output_item.added","output_index":0,"item":{"id":"` + id + `","type":"message","role":"assistant","content":[]}}`
	}
	message := func(id string) string {
		return `{"id":"` + id + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + id + `"}]}`
	}
	whole := func(id string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + message(id) + `}`
	}
	const call = `{"id":"i","type":"function_call","call_id":"k","name":"f"}`
	chunk := func(id, choices, rest string) string {
		return `{"id":"` + id + `","object":"chat.completion.chunk","model":"m","choices":[` + choices + `]` + rest + `}`
	}
	says := func(id, delta string) string {
		return chunk(id, `{"index":0,"delta":{`+delta+`},"finish_reason":null}`, "")
	}
	stops := func(id, reason, rest string) string {
		return chunk(id, `{"index":0,"delta":{},"finish_reason":"`+reason+`"}`, rest)
	}
	calls := func(id, call, tool string) string {
		return says(id, `"tool_calls":[{"index":0,"id":"`+call+`","function":{"name":"`+tool+`","arguments":"{}"}}]`)
	}
	usage := func(n string) string { return `,"usage":{"prompt_tokens":` + n + `,"completion_tokens":` + n + `}` }
	const (
		used     = `,"status":"completed","usage":{"input_tokens":5,"output_tokens":6}`
		failed   = `,"status":"failed","error":{"code":"server_error","message":"x"}`
		done     = `[DONE]`
		begins   = `model_started model="m"; `
		unclear  = `model_started model="m" uncertain; `
		starts   = `run_started; ` + begins
		succeeds = `model_ended model="m" finish="completed" input=5 output=6; final; run_ended`
		fails    = `model_ended model="m" finish="failed" model_error code="server_error"; error agent_error code="server_error"; run_ended agent_error code="server_error"`
		stopped  = `model_ended model="m" finish="stop" unmetered; final; `
		called   = `model_ended model="m" finish="tool_calls" unmetered; `
		ended    = `run_ended awaits_outcome`
	)
	tokens := func(n string) string { return `usage model="m" unmetered input=` + n + ` output=` + n }
	for name, c := range map[string]struct {
		sent []string
		want map[string]string
	}{
		"responses": {[]string{response("created", "r", ""), response("created", "s", ""), response("completed", "r", used), response("failed", "s", failed)},
			map[string]string{"r": starts + succeeds, "s": starts + fails}},
		"the other one fails": {[]string{response("created", "r", ""), response("created", "s", ""), response("failed", "r", failed), response("completed", "s", used)},
			map[string]string{"r": starts + fails, "s": starts + succeeds}},
		"the end of a response whose beginning is missing": {[]string{response("created", "r", ""), response("failed", "s", failed), response("completed", "r", used)},
			map[string]string{"r": starts + succeeds, "s": starts + fails}},
		"items": {[]string{response("created", "r", ""), item("i"), response("created", "s", ""), item("j"), part("output_text.done", "i", `,"text":"I"`),
			part("output_text.done", "j", `,"text":"J"`), response("completed", "r", used), response("completed", "s", used)},
			map[string]string{"r": starts + `text "I"; ` + succeeds, "s": starts + `text "J"; ` + succeeds}},
		"an item after the end of the other": {[]string{response("created", "r", ""), response("created", "s", ""), response("completed", "s", used), item("i"),
			part("output_text.done", "i", `,"text":"I"`), response("completed", "r", used)},
			map[string]string{"r": starts + `text "I"; ` + succeeds, "s": starts + succeeds}},
		"a response and a completion": {[]string{response("created", "r", ""), says("c", `"role":"assistant","content":"a"`), response("completed", "r", used), stops("c", "stop", ""), done},
			map[string]string{"r": starts + succeeds, "c": starts + `text "a"; text "a"; ` + stopped + ended}},
		"completions": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), stops("c", "stop", ""), stops("d", "stop", ""),
			chunk("d", "", usage("7")), chunk("c", "", usage("5")), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + ended + "; " + tokens("5"), "d": starts + `text "x"; text "x"; ` + stopped + ended + "; " + tokens("7")}},
		"usage beside the finish reason": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), stops("d", "stop", usage("7")), stops("c", "stop", usage("5"))},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + tokens("5") + "; " + ended, "d": starts + `text "x"; text "x"; ` + stopped + tokens("7") + "; " + ended}},
		"calls": {[]string{calls("c", "k", "f"), calls("d", "l", "g"), stops("c", "tool_calls", ""), stops("d", "tool_calls", ""), done},
			map[string]string{"c": starts + `tool_started name="f" call="k" {}; ` + called + `tool_paused call="k"; ` + ended, "d": starts + `tool_started name="g" call="l" {}; ` + called + `tool_paused call="l"; ` + ended}},
		"without roles": {[]string{says("c", `"content":"a"`), says("c", `"content":"b"`), says("d", `"content":"x"`), says("c", `"content":"c"`), stops("d", "stop", ""), stops("c", "stop", "")},
			map[string]string{"c": starts + `text "a"; text "b"; text "c"; text "abc"; ` + stopped + ended, "d": starts + `text "x"; text "x"; ` + stopped + ended}},
		"a mark at the end of each": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), stops("c", "stop", ""), says("d", `"content":"y"`), done, stops("d", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + ended, "d": starts + `text "x"; text "y"; text "xy"; ` + stopped + ended}},
		"marks": {[]string{says("c", `"role":"assistant","channel":"analysis"`), says("d", `"role":"assistant"`), stops("d", "stop", ""), says("e", `"role":"assistant"`), says("c", `"content":"a"`)},
			map[string]string{"c": starts + `thought "a"`, "d": starts + stopped + ended, "e": strings.TrimSuffix(starts, "; ")}},
		"another ID in each chunk": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"content":"b"`), says("e", `"content":"c"`), stops("f", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; text "b"; text "c"; text "abc"; ` + stopped + ended}},
		"another ID in the usage": {[]string{says("c", `"role":"assistant","content":"a"`), says("c", `"content":"b"`), stops("c", "stop", ""), chunk("d", "", usage("5")), done},
			map[string]string{"c": starts + `text "a"; text "b"; text "ab"; ` + stopped + ended + "; " + tokens("5")}},
		"a loop": {[]string{calls("c", "k", "f"), stops("c", "tool_calls", ""), chunk("c", "", usage("5")), says("d", `"role":"assistant","content":"x"`), stops("d", "stop", usage("7")), done},
			map[string]string{"c": starts + `tool_started name="f" call="k" {}; ` + called + `tool_paused call="k"; ` + ended + "; " + tokens("5"), "d": starts + `text "x"; text "x"; ` + stopped + tokens("7") + "; " + ended}},
		"an error after the end": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), `{"error":{"message":"x","type":"server_error"}}`, done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + ended + `; error agent_error code="server_error"; run_ended agent_error code="server_error"`}},
		"no ID in the last chunk": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), chunk("", "", usage("5")), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + ended + "; " + tokens("5")}},
		"no ID in the first chunk": {[]string{`{"id":"","object":"","model":"","choices":[],"prompt_filter_results":[]}`, says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + ended}},
	} {
		if diff := cmp.Diff(c.want, factsByRun(&event.Stream{}, c.sent...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, c := range map[string]struct {
		sent []string
		want map[string]string
	}{
		"a server changes the ID": {[]string{response("created", "r", ""), response("completed", "s", used)}, map[string]string{"r": starts + succeeds}},
		"two responses": {[]string{response("created", "r", ""), response("created", "s", ""), response("completed", "r", used), response("failed", "s", failed)},
			map[string]string{"r": starts + begins + strings.TrimSuffix(succeeds, "; run_ended") + "; " + fails}},
		"items of two responses": {[]string{response("created", "r", ""), response("created", "s", ""), item("i"), item("j"), part("output_text.delta", "i", `,"delta":"I"`), part("output_text.delta", "j", `,"delta":"J"`),
			whole("i"), whole("j"), response("completed", "r", used+`,"output":[`+message("i")+`]`), response("completed", "s", used+`,"output":[`+message("j")+`]`)},
			map[string]string{"r": starts + begins + `text "I"; text "J"; text "i"; text "j"; ` + strings.TrimSuffix(succeeds, "run_ended") + succeeds}},
		"calls of two responses": {[]string{response("created", "r", ""), response("created", "s", ""), `{"type":"response.output_item.done","output_index":0,"item":` + call + `}`, response("completed", "r", used+`,"output":[`+call+`]`), response("completed", "s", used+`,"output":[]`)},
			map[string]string{"r": starts + begins + `tool_started name="f" call="k"; ` + strings.TrimSuffix(succeeds, "; final; run_ended") + `; ` + strings.Replace(succeeds, "final", `tool_paused call="k"`, 1)}},
		"a loop of responses": {[]string{response("created", "r", ""), response("completed", "r", used), response("created", "s", ""), response("completed", "s", used), response("completed", "s", used)},
			map[string]string{"r": starts + succeeds + "; " + begins + succeeds}},
		"a failure twice": {[]string{`{"type":"error","code":"server_error","message":"x","sequence_number":1}`, response("failed", "r", failed)},
			map[string]string{"": `run_started; error agent_error code="server_error"; run_ended agent_error code="server_error"`}},
		"a loop": {[]string{calls("c", "k", "f"), stops("c", "tool_calls", ""), chunk("c", "", usage("5")), says("d", `"role":"assistant","content":"x"`), stops("d", "stop", usage("7")),
			says("e", `"role":"assistant","content":"y"`), stops("e", "stop", ""), chunk("e", "", usage("9")), done},
			map[string]string{"c": starts + `tool_started name="f" call="k" {}; ` + called + tokens("5") + "; " + unclear + `text "x"; text "x"; ` + stopped + tokens("7") + "; " + begins + `text "y"; text "y"; ` + stopped + tokens("9") + "; run_ended"}},
		"a loop with one ID": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), says("c", `"role":"assistant","content":"x"`), stops("c", "stop", ""), says("c", `"role":"assistant","content":"y"`), stops("c", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + begins + `text "x"; text "x"; ` + stopped + begins + `text "y"; text "y"; ` + stopped + "run_ended"}},
		"a loop without IDs": {[]string{says("", `"role":"assistant","content":"a"`), stops("", "stop", ""), chunk("", "", usage("5")), says("", `"role":"assistant","content":"x"`), stops("", "stop", ""), chunk("", "", usage("7")), done},
			map[string]string{"": starts + `text "a"; text "a"; ` + stopped + tokens("5") + "; " + begins + `text "x"; text "x"; ` + stopped + tokens("7") + "; run_ended"}},
		"a role beside the usage": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), chunk("c", `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, usage("5")), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + tokens("5") + "; run_ended"}},
		"a role beside another finish reason": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), chunk("c", `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}`, ""), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + "run_ended"}},
		"a loop with marks": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), done, says("d", `"role":"assistant","content":"x"`), stops("d", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + "run_ended; " + begins + `text "x"; text "x"; ` + stopped + "run_ended"}},
		"no finish reason in a loop": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), says("d", `"role":"assistant","content":"x"`), done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + begins + `text "x"; text "x"; model_ended model="m" unmetered; final; run_ended`}},
		"a loop that uses an ID of a call again": {[]string{calls("c", "0", "f"), stops("c", "tool_calls", ""), calls("d", "0", "g"), stops("d", "tool_calls", ""), done},
			map[string]string{"c": starts + `tool_started name="f" call="0" {}; ` + called + unclear + `tool_started name="g" call="0" reuses_id {}; ` + called + `tool_paused call="0"; run_ended`}},
		"results between completions": {[]string{calls("c", "k", "f"), stops("c", "tool_calls", ""), says("c", `"role":"tool","tool_call_id":"k","content":"r"`), calls("d", "l", "g"), stops("d", "tool_calls", ""),
			says("l", `"role":"tool","content":"r"`), says("l", `"content":"r"`), says("x", `"role":"function","name":"h","content":"r"`), says("e", `"role":"assistant","content":"x"`), stops("e", "stop", ""), done},
			map[string]string{"c": starts + `tool_started name="f" call="k" {}; ` + called + `tool_ended name="f" call="k" "r"; ` + begins + `tool_started name="g" call="l" {}; ` + called + `tool_ended name="g" call="l" "r"; ` + begins + `text "x"; text "x"; ` + stopped + `run_ended`}},
		"a result before a completion": {[]string{says("k", `"role":"tool","tool_call_id":"k","content":"r"`), says("c", `"role":"assistant","content":"x"`), stops("c", "stop", ""), done, says("k", `"role":"tool","tool_call_id":"k","content":"r"`)},
			map[string]string{"c": starts + `text "x"; text "x"; ` + stopped + `run_ended`}},
		"an error in a loop": {[]string{says("c", `"role":"assistant","content":"a"`), stops("c", "stop", ""), says("d", `"role":"assistant","content":"x"`), `{"error":{"message":"x","type":"server_error"}}`, done},
			map[string]string{"c": starts + `text "a"; text "a"; ` + stopped + begins + `text "x"; model_ended model="m" model_error code="server_error"; error agent_error code="server_error"; run_ended agent_error code="server_error"`}},
		"completions at once": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), stops("c", "stop", ""), stops("d", "stop", usage("7")), chunk("c", "", usage("5")), done},
			map[string]string{"c": starts + `text "a"; ` + begins + `text "x"; text "a"; ` + stopped + `text "x"; ` + stopped + tokens("7") + "; " + tokens("5") + "; run_ended"}},
		"one that was cut off": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), stops("d", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; ` + begins + `text "x"; text "x"; ` + stopped + "run_ended"}},
		"two that were cut off": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"b"`), says("e", `"role":"assistant","content":"x"`), stops("e", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; ` + begins + `text "b"; ` + begins + `text "x"; text "x"; ` + stopped + "run_ended"}},
		"a mark at the end of one of two": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"role":"assistant","content":"x"`), says("c", `"content":"b"`), stops("d", "stop", ""), done, stops("c", "stop", ""), done},
			map[string]string{"c": starts + `text "a"; ` + begins + `text "x"; text "b"; text "x"; ` + stopped + `text "ab"; ` + stopped + "run_ended"}},
		"another ID in each chunk": {[]string{says("c", `"role":"assistant","content":"a"`), says("d", `"content":"b"`), stops("e", "stop", ""), chunk("f", "", usage("5")), done},
			map[string]string{"c": starts + `text "a"; text "b"; text "ab"; ` + stopped + tokens("5") + "; run_ended"}},
	} {
		if diff := cmp.Diff(c.want, factsByRun(&event.Stream{SingleRun: true}, c.sent...)); diff != "" {
			t.Errorf("answer, %s: %s", name, diff)
		}
	}
}

// TestManyInterleavedRuns begins more responses than a decoder remembers.
func TestManyInterleavedRuns(t *testing.T) {
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	for i := range 10 * maxOthers {
		d.begun, d.response.id = true, strconv.Itoa(i)
		d.resetRun()
	}
	last := func(r *runState) bool { return r.response.id == strconv.Itoa(10*maxOthers-1) }
	if len(d.others) != maxOthers || !d.restoreRun(last, new(event.Batch)) || !last(&d.runState) || len(d.others) != maxOthers-1 {
		t.Errorf("%d runs are remembered", len(d.others))
	}
}

// TestResponseNames reads answers of a model that begin before the end of another: the model was called again, or at the same time. Each
// frame belongs to its own answer.
func TestResponseNames(t *testing.T) {
	said := func(id, delta, rest string) string {
		return `{"id":"` + id + `","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + delta + `}` + rest + `}]}`
	}
	of := func(envelope, kind, id string) string {
		data := `{"type":"response.` + kind + `","response":{"id":"` + id + `"}}`
		if envelope != "" {
			data = `{"type":"` + envelope + `","data":` + data + `}`
		}
		return data
	}
	const begins, stops = `"role":"assistant","content":"x"`, `,"finish_reason":"stop"`
	for name, c := range map[string]struct {
		single bool
		sent   []string
		want   string
	}{
		"one after the other":         {true, []string{said("c", begins, stops), said("d", begins, stops), "[DONE]"}, ", , "},
		"a completion cut off":        {true, []string{said("c", begins, ""), said("d", begins, ""), said("d", "", stops), said("e", begins, stops), "[DONE]"}, ", 1, 1, 2, 2"},
		"completions at once":         {true, []string{said("c", begins, ""), said("d", begins, ""), said("c", "", stops), said("d", "", stops), "[DONE]"}, ", 1, , 1, 1"},
		"runs at once":                {false, []string{said("c", begins, ""), said("d", begins, ""), said("c", "", stops)}, ", , "},
		"a response cut off":          {true, []string{of("", "created", "r"), of("", "created", "s"), of("", "completed", "s")}, ", 1, 1"},
		"a response of an agent":      {true, []string{of("raw_response_event", "created", "r"), of("raw_response_event", "created", "s"), of("raw_response_event", "completed", "s"), of("raw_response_event", "created", "t")}, ", 1, 1, 2"},
		"a response of no known name": {false, []string{of("raw_response_event", "created", fakeID), of("raw_response_event", "created", fakeID), "[DONE]"}, ", 1, 1"},
	} {
		var got []string
		for line := range strings.SplitSeq(dialecttest.Facts(Dialect{}, &event.Stream{SingleRun: c.single}, "data: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n"), "\n") {
			if line != "" && !strings.HasPrefix(line, " ") {
				_, name, _ := strings.Cut(line, `response="`)
				name, _, _ = strings.Cut(name, `"`)
				got = append(got, name)
			}
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: the names are %q, want %q", name, all, c.want)
		}
	}
}

// TestKeptCompletions begins and finishes more completions than a decoder remembers beside one that is open. It reports that one whole.
func TestKeptCompletions(t *testing.T) {
	chunk := func(id, text, reason string) string {
		return `{"id":"` + id + `","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":` + reason + `}]}`
	}
	sent := []string{chunk("open", "o", "null")}
	for i := range maxOthers + 2 {
		sent = append(sent, strings.Replace(chunk(strconv.Itoa(i), "x", `"stop"`), `"content"`, `"role":"assistant","content"`, 1))
	}
	sent = append(sent, chunk("open", "p", `"stop"`))
	want := `run_started; model_started; text "o"; text "op"; model_ended finish="stop" unmetered; final; run_ended awaits_outcome`
	if got := factsByRun(&event.Stream{}, sent...)["open"]; got != want {
		t.Errorf("the facts are %s, want %s", got, want)
	}
}
