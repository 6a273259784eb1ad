package adk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// usage returns the usage of a response, in tokens.
func usage(prompt, answer int) string {
	return fmt.Sprintf(`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d}`, prompt, answer, prompt+answer)
}

// TestJavaScript checks streams that only @google/adk writes.
func TestJavaScript(t *testing.T) {
	const code, result = `{"executableCode":{"code":"1"}}`, `{"codeExecutionResult":{"output":"1"}}`
	toB := `"actions":{"transferToAgent":"b"},` + parts(answer)
	calling := whole + "," + stop + "," + parts(call)
	runDecode(t, []decodeCase{
		{"a response in sections",
			[]string{
				by(partial + "," + usage(10, 3) + "," + parts(hi)), by(whole + "," + usage(10, 6) + "," + parts(hi)),
				by(whole + "," + usage(10, 6) + "," + parts(code)), by(whole + "," + usage(10, 9) + "," + parts(result)),
				by(partial + "," + stop + "," + usage(10, 12) + "," + parts(hi)), by(whole + "," + stop + "," + usage(10, 12) + "," + parts(hi)),
			},
			[]string{
				`model_started; text "hi"`, `model_ended unmetered input=10 output=6; text "hi"; final`,
				`usage unmetered; tool_started name="code_execution" {"code":"1"}; final`, `usage unmetered output=3; tool_ended name="code_execution" {"output":"1"}`,
				`text "hi"`, `usage output=3; text "hi"; final`,
			}},
		{"an unknown agent", []string{by(toB), by(`"errorCode":"UNKNOWN_ERROR","errorMessage":"Agent b not found in the agent tree."`)},
			[]string{`tool_ended name="look" call="c1" {}; transfer name="b"`, `error name="b" agent_error from_code; final`}},
		{"another error after a transfer", []string{by(toB), by(`"errorCode":"503","errorMessage":"out of order"`)},
			[]string{`tool_ended name="look" call="c1" {}; transfer name="b"`, `model_ended model_error code="503"; error model_error code="503" from_code; final`}},
		{"the ends of responses of two invocations",
			[]string{by(calling + "," + usage(10, 2)), by(toB), by(calling + "," + usage(20, 3)), by(whole + "," + stop + "," + usage(20, 3)), by(whole + "," + stop + "," + usage(10, 2)), by(whole + "," + stop + "," + usage(10, 2))},
			[]string{
				ended + `; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}; transfer name="b"`,
				`model_ended finish="STOP" input=20 output=3; tool_started name="look" call="c1" {}`, "final", "final", "final",
			}},
	})
}

// TestJavaScriptPauses checks that the author of a question is the function that asks, and that the workflow that waits
// for the answer has not spoken.
func TestJavaScriptPauses(t *testing.T) {
	const state, waits = `"actions":{"agentState":{"input":"x"}},`, `"longRunningToolIds":["q"],`
	at := func(path, members string) string {
		return by(`"nodeInfo":{"path":"` + path + `"},` + members + `"id":"x"`)
	}
	asks := func(args string) string {
		return parts(`{"functionCall":{"id":"q","name":"adk_request_input","args":`+args+`}}`) + ","
	}
	for _, c := range []struct{ frame, want string }{
		{at("w.a", state+waits+asks(`{"interruptId":"q"}`)), `place="/w:workflow/a:function"`},
		{at("w.a", state+waits+asks(`{"interruptId":"q"}`)+used+","), `place="/w:workflow/a"`},
		{at("w.a", state+waits+asks(`{"message":"?"}`)), `place="/w:workflow/a"`},
		{at("w.a", state+waits), `place="/w:workflow/a:workflow"`},
		{at("a", state+waits), `place="/a:workflow"`},
		{at("a", state), `place="/a:container"`},
		{at("a", waits), `place="/a"`},
	} {
		if got := headersOf(&event.Stream{}, c.frame)[0]; got != `1 event run="e-1" agent="a" `+c.want {
			t.Errorf("%s decodes to %q, want %s", c.frame, got, c.want)
		}
	}
}

// TestJavaScriptOutputs checks that the author of an output without a path is a workflow.
func TestJavaScriptOutputs(t *testing.T) {
	for _, c := range []struct{ frame, want string }{
		{by(parts(hi) + `,"output":"hi"`), `place="/a:workflow"`},
		{by(parts(hi) + `,"output":"hi","nodeInfo":{"path":"w.a"}`), `place="/w:workflow/a:function"`},
		{by(parts(hi) + `,"output":"hi",` + used), `agent="a"`},
		{by(parts(hi) + `,"output":"hi","branch":"p.a"`), `/p:container/a[p.a]"`},
		{by(raised + `,"output":"hi"`), `agent="a"`},
	} {
		if got := headersOf(&event.Stream{}, c.frame)[0]; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s decodes to %q, want %s", c.frame, got, c.want)
		}
	}
}

// TestLateEvents checks that an event that is older than an error without a branch may have come late.
func TestLateEvents(t *testing.T) {
	const late, later = `"timestamp":1795825908.5,`, `"timestamp":1795825908.7,`
	for _, c := range []struct {
		failed, then string
		late         bool
	}{
		{`"timestamp":1795825908.6,` + raised, late + parts(hi), true},
		{`"timestamp":1795825908.6,` + raised, later + parts(hi), false},
		{`"timestamp":1795825908.6,` + raised, parts(hi), false},
		{`"timestamp":1795825908.6,"branch":"p.b",` + raised, late + parts(hi), false},
		{`"timestamp":1795825908.6,"nodeInfo":{"path":"a@1"},` + raised, late + parts(hi), false},
		{`"timestamp":1795825908.6,` + parts(hi), late + parts(hi), false},
	} {
		d := Dialect{}.New(&event.Stream{})
		b := &event.Batch{Table: &table}
		d.Decode(dialect.Frame{JSON: value(t, by(c.failed))}, &event.Batch{Table: &table})
		d.Decode(dialect.Frame{JSON: value(t, by(`"branch":"p.a",`+c.then))}, b)
		if b.OrderUnknown != c.late {
			t.Errorf("after %s, the order of %s is unknown: %t, want %t", c.failed, c.then, b.OrderUnknown, c.late)
		}
	}
}

// TestErrorsWithoutBranch checks that an error without a branch gets the last branch of its agent.
func TestErrorsWithoutBranch(t *testing.T) {
	d := Dialect{}.New(&event.Stream{})
	branchOf := func(frame string) string {
		b := &event.Batch{Table: &table}
		d.Decode(dialect.Frame{JSON: value(t, frame)}, b)
		return b.Branch
	}
	for _, c := range []struct{ frame, branch string }{
		{by(raised), ""},
		{by(`"branch":"p.a",` + parts(hi)), "p.a"},
		{by(raised), "p.a"},
		{by(`"errorMessage":"boom"`), "p.a"},
		{by(`"nodeInfo":{"path":"a@1"},` + raised), ""}, // from Python, which states the branch
		{by(parts(hi)), ""},
		{by(raised), ""},
	} {
		if got := branchOf(c.frame); got != c.branch {
			t.Errorf("%s is in the branch %q, want %q", c.frame, got, c.branch)
		}
	}
}

// TestSummaries checks that a summary of the session is of no agent, and no answer.
func TestSummaries(t *testing.T) {
	for _, frame := range []string{
		`{"invocationId":"","author":"system","isCompacted":true,"compactedContent":"hi",` + parts(hi) + `}`,
		by(parts(hi) + `,"customMetadata":{"a2a:response":{"artifact":{},"metadata":{"adk_author":"system","adk_invocation_id":""}}}`),
	} {
		if got := headersOf(&event.Stream{}, by(parts(hi)), frame)[1]; got != `2 summary run="e-1"` {
			t.Errorf("%s decodes to %s", frame, got)
		}
		if got := factsOf(&event.Stream{}, by(parts(hi)), frame); got != `text "hi"; final`+"\nother" {
			t.Errorf("%s decodes to %s", frame, got)
		}
	}
	for _, frame := range []string{
		by(parts(hi) + `,"isCompacted":false`),
		by(parts(hi) + `,"customMetadata":{"a2a:response":{"artifact":{},"metadata":{"adk_author":"system","adk_invocation_id":"e-2"}}}`),
		by(parts(hi) + `,"customMetadata":{"a2a:response":{"status":{},"metadata":{"adk_author":"system","adk_invocation_id":""}}}`),
	} {
		if got := factsOf(&event.Stream{}, frame); got != `text "hi"; final` {
			t.Errorf("%s decodes to %s", frame, got)
		}
	}
}

// TestRepeatedEvents checks that an event counts once if it comes again, without its thoughts.
func TestRepeatedEvents(t *testing.T) {
	at := func(run, id, time, parts string) string {
		return fmt.Sprintf(`{"invocationId":%q,"author":"a","id":%q,"timestamp":%s,%s,%s,"content":{"parts":[%s]}}`, run, id, time, used, stop, parts)
	}
	first := at("e-1", "x", "1", thought+","+call)
	for name, c := range map[string]struct{ frame, want string }{
		"the event":               {first, "other"},
		"without its thought":     {at("e-1", "x", "1", call), "other"},
		"of an older run":         {at("e-0", "x", "1", call), "other"},
		"another ID":              {at("e-1", "y", "1", call), ended + `; tool_started name="look" call="c1" {}`},
		"another time":            {at("e-1", "x", "2", call), ended + `; tool_started name="look" call="c1" {}`},
		"other parts":             {at("e-1", "x", "1", hi), ended + `; text "hi"; final`},
		"a piece of the same ID":  {strings.Replace(at("e-1", "x", "1", call), "{", "{"+partial+",", 1), "model_started"},
		"without a time":          {strings.Replace(first, `"timestamp":1,`, "", 1), ended + `; thought "hm"; tool_started name="look" call="c1" {}`},
		"the event without an ID": {strings.Replace(first, `"id":"x",`, "", 1), ended + `; thought "hm"; tool_started name="look" call="c1" {}`},
	} {
		for spelling, s := range map[string]*event.Stream{"a recording": {}, "an answer": {SingleRun: true}} {
			lines := strings.Split(factsOf(s, first, by(parts(answer)), c.frame), "\n")
			if got := lines[2]; got != c.want {
				t.Errorf("%s, in %s: it decodes to %s, want %s", name, spelling, got, c.want)
			}
		}
	}
	if got := headersOf(&event.Stream{}, first, at("e-2", "z", "3", hi), at("e-1", "x", "1", call))[2]; got != `3 event run="e-2"` {
		t.Errorf("a repeated event decodes to %s", got)
	}
	d, b := Dialect{}.New(&event.Stream{}), new(event.Batch)
	early := at("e-1", "x", "1700000001", call)
	for _, frame := range []string{early, at("e-1", "z", "1700000003", hi), early} {
		*b = event.Batch{Table: &table, JSON: value(t, frame)}
		d.Decode(dialect.Frame{JSON: b.JSON}, b)
	}
	if b.Time.Unix() != 1700000003 {
		t.Errorf("a repeated event has the time %s", b.Time)
	}
}

// TestRepeatedEventsAreOfOneAnswer checks that only the latest events of the same answer count as repeated.
func TestRepeatedEventsAreOfOneAnswer(t *testing.T) {
	many := make([]string, 2*maxHistory)
	for i := range many {
		many[i] = by(fmt.Sprintf(`"id":"%d","timestamp":1,`, i) + used + "," + parts(hi))
	}
	answer, tail := &event.Stream{Live: true, SingleRun: true, States: new(event.States)}, &event.Stream{Live: true}
	for name, c := range map[string]struct {
		stream    *event.Stream
		frames    []string
		isCounted bool
	}{
		"the last one":    {answer, append(many, many[len(many)-1]), false},
		"the oldest":      {answer, append(many, many[len(many)-maxHistory]), false},
		"an older one":    {answer, append(many, many[len(many)-maxHistory-1]), true},
		"a later request": {answer, many[:1], true},
		"a tail":          {tail, []string{many[0], many[0]}, true},
	} {
		lines := strings.Split(factsOf(c.stream, c.frames...), "\n")
		if got := lines[len(c.frames)-1] != "other"; got != c.isCounted {
			t.Errorf("%s: %s", name, lines[len(c.frames)-1])
		}
	}
}
