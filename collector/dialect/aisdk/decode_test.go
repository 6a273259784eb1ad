package aisdk

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func TestDetect(t *testing.T) {
	for data, want := range map[string]dialect.Match{
		`{"type":"start-step"}`:                                           dialect.Sure,
		`{"type":"text-delta","id":"1","delta":"x"}`:                      dialect.Sure,
		`{"type":"text-delta","delta":"x"}`:                               dialect.No,
		`{"type":"text-delta","id":1,"delta":"x"}`:                        dialect.No,
		`{"type":"tool-output-available","toolCallId":"c","output":null}`: dialect.Sure,
		`{"type":"error","errorText":"x"}`:                                dialect.Sure,
		`{"type":"error","error":{"message":"x"}}`:                        dialect.No,
		`{"type":"message-metadata","messageMetadata":null}`:              dialect.Sure,
		`{"type":"start"}`:                                                dialect.Maybe,
		`{"type":"start","messageId":"m"}`:                                dialect.Sure,
		`{"type":"start","messageId":"m","messageMetadata":{"x":1}}`:      dialect.Sure,
		`{"type":"start","messageId":"m","v":2}`:                          dialect.Maybe,
		`{"type":"start","messageId":1}`:                                  dialect.Maybe,
		`{"type":"finish"}`:                                               dialect.Maybe,
		`{"type":"data-x","data":1}`:                                      dialect.Maybe,
		`{"type":"data-x"}`:                                               dialect.No,
		`{"type":"text_delta","id":"1","delta":"x"}`:                      dialect.No,
		`{"type":"content_block_delta","index":0,"delta":{"type":"x"}}`:   dialect.No,
		`{"type":"response.output_text.delta","item_id":"m","delta":"x"}`: dialect.No,
		`[{"type":"start-step"}]`:                                         dialect.No,
		`[DONE]`:                                                          dialect.No,
	} {
		var doc strictjson.Doc
		_ = doc.Parse([]byte(data), 128)
		if got := (Dialect{}).Detect(dialect.Frame{Frame: sse.Frame{Data: []byte(data)}, JSON: doc.Root()}); got != want {
			t.Errorf("%s: %d, want %d", data, got, want)
		}
	}
}

// TestNewestAnswers sends more answers than are read, the newest of which is a decision.
func TestNewestAnswers(t *testing.T) {
	parts := strings.Repeat(`{"state":"output-available","toolCallId":"c"},`, 130) + `{"state":"approval-responded","approval":{"id":"a"}}`
	var doc strictjson.Doc
	_ = doc.Parse([]byte(`{"messages":[{"role":"assistant","parts":[`+parts+`]}]}`), 128)
	got := Dialect{}.Identify(dialect.Request{Method: http.MethodPost, Path: "/x", Body: doc.Root()}).Answers
	if len(got) != 128 || got[127] != "a" {
		t.Errorf("the answers are %q", got)
	}
}

func TestIdentify(t *testing.T) {
	const user = `{"role":"user","parts":[{"type":"text","text":"Hi"}]}`
	for _, c := range []struct {
		method, path, body string
		want               event.Identity
	}{
		{http.MethodPost, "/x", `{"id":"c1","trigger":"submit-message","messages":[` + user + `]}`, event.Identity{Session: "c1", RequestDialect: "aisdk"}},
		{http.MethodPost, "/x", `{"id":"c1","trigger":"regenerate-message","messages":[]}`, event.Identity{Session: "c1", RequestDialect: "aisdk"}},
		{http.MethodPost, "/x", `{"id":"c1","messages":[` + user + `]}`, event.Identity{Session: "c1"}},
		{http.MethodPost, "/x", `{"id":"c1","message":` + user + `}`, event.Identity{Session: "c1"}},
		{http.MethodPost, "/x", `{"id":"c1","trigger":"submit-message","message":` + user + `}`, event.Identity{Session: "c1"}},
		{http.MethodPost, "/x", `{"id":"c1","message":{"role":"assistant","parts":[{"state":"output-available","toolCallId":"d"}]}}`, event.Identity{Session: "c1", Answers: []string{"d"}}},
		{http.MethodPost, "/x", `{"id":"c1","message":{"role":"user","content":"Hi"}}`, event.Identity{}},
		{http.MethodPost, "/x", `{"id":"c1","message":"Hi"}`, event.Identity{}},
		{http.MethodPost, "/x", `{"id":"c1","trigger":"submit-message"}`, event.Identity{}},
		{http.MethodPost, "/x", `{"messages":[{"role":"assistant","parts":[{"state":"approval-responded","toolCallId":"c","approval":{"id":"a"}},{"state":"output-error","toolCallId":"d"},{"state":"approval-requested","toolCallId":"e"}]}]}`,
			event.Identity{Answers: []string{"a", "d"}}},
		{http.MethodPost, "/x", `{"messages":[{"role":"assistant","parts":[{"state":"output-available","toolCallId":"d"}]},` + user + `]}`, event.Identity{}},
		{http.MethodGet, "/api/chat/c1/stream", ``, event.Identity{Session: "c1", JoinedRun: "c1", ReplayedRun: "c1"}},
		{http.MethodGet, "/agent/c1/stream", ``, event.Identity{Session: "c1", JoinedRun: "c1", ReplayedRun: "c1"}},
		{http.MethodGet, "/agent/c1", ``, event.Identity{}},
		{http.MethodPost, "/api/chat/c1/stream", ``, event.Identity{}},
		{http.MethodGet, "/api/chat", ``, event.Identity{}},
	} {
		var doc strictjson.Doc
		_ = doc.Parse([]byte(c.body), 128)
		got := Dialect{}.Identify(dialect.Request{Method: c.method, Path: c.path, Body: doc.Root(), Unambiguous: true})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s: %s", c.path, c.body, diff)
		}
	}
}

// TestIdentifyAmong sends requests that other dialects may answer too.
func TestIdentifyAmong(t *testing.T) {
	const body = `{"id":"c1","message":{"role":"user","parts":[]}}`
	var doc strictjson.Doc
	_ = doc.Parse([]byte(body), 128)
	for path, want := range map[string]string{"/api/chat": "c1", "/x": ""} {
		if got := (Dialect{}).Identify(dialect.Request{Method: http.MethodPost, Path: path, Body: doc.Root()}).Session; got != want {
			t.Errorf("%s: session %q, want %q", path, got, want)
		}
	}
}

// TestResponses checks when a model's response ends: with its last part, whatever returns meanwhile.
func TestResponses(t *testing.T) {
	const (
		step, reset = `{"type":"start-step"}`, `{"type":"reset-step"}`
		text        = `{"type":"text-delta","id":"t","delta":"x"}`
		unreadable  = `{"type":"tool-input-start","x":1,"X":1}`
	)
	input := func(id string) string { return `{"type":"tool-input-start","toolCallId":"` + id + `","toolName":"f"}` }
	call := func(id string) string {
		return `{"type":"tool-input-available","toolCallId":"` + id + `","toolName":"f"}`
	}
	output := func(id string) string { return `{"type":"tool-output-available","toolCallId":"` + id + `","output":1}` }
	piece := func(id string) string {
		return `{"type":"tool-input-delta","toolCallId":"` + id + `","inputTextDelta":"1"}`
	}
	refused := func(id string) string {
		return `{"type":"tool-input-error","toolCallId":"` + id + `","toolName":"f","errorText":"x"}`
	}
	for name, c := range map[string]struct {
		sent []string
		want []string // of each frame, the facts about the model
	}{
		"no call":                       {[]string{step, `{"type":"text-start","id":"1"}`, `{"type":"text-end","id":"1"}`, `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_ended"}},
		"one call":                      {[]string{step, input("c"), call("c"), output("c"), `{"type":"finish-step"}`}, []string{"model_started", "", "model_ended unmetered", "", ""}},
		"two calls at the end":          {[]string{step, input("c"), input("d"), call("c"), call("d"), output("c"), `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "model_ended unmetered", "", ""}},
		"a call after a call":           {[]string{step, call("c"), input("d"), call("d"), output("c"), output("d")}, []string{"model_started", "model_ended unmetered", "usage unmetered", "usage unmetered", "", ""}},
		"a result before a call":        {[]string{step, call("c"), input("d"), output("c"), call("d"), output("d")}, []string{"model_started", "model_ended unmetered", "usage unmetered", "usage unmetered", "usage unmetered", ""}},
		"a result before a late call":   {[]string{step, input("c"), input("d"), call("c"), output("c"), call("d"), `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "", "model_ended unmetered uncertain", ""}},
		"a refused call before another": {[]string{step, input("c"), input("d"), refused("c"), output("c"), call("d"), `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "", "model_ended unmetered", ""}},
		"a result within a call":        {[]string{step, input("c"), input("d"), call("c"), output("c"), piece("d"), call("d"), output("d")}, []string{"model_started", "", "", "", "", "", "model_ended unmetered", ""}},
		"a result before a text":        {[]string{step, input("c"), input("d"), call("c"), output("c"), text, `{"type":"text-end","id":"t"}`, `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "", "", "", "model_ended"}},
		"a result within a text":        {[]string{step, text, call("c"), output("c"), `{"type":"text-end","id":"t"}`, `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "", "model_ended"}},
		"a result, and no more":         {[]string{step, input("c"), input("d"), call("c"), output("c"), `{"type":"finish-step"}`}, []string{"model_started", "", "", "", "", "model_ended uncertain"}},
		"a call of the provider":        {[]string{step, `{"type":"tool-input-available","toolCallId":"c","toolName":"f","providerExecuted":true}`, output("c"), `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_ended"}},
		"a failure within a response":   {[]string{step, `{"type":"error","errorText":"x"}`, `{"type":"finish-step"}`}, []string{"model_started", "", ""}},
		"a response after a failure":    {[]string{step, `{"type":"error","errorText":"x"}`, `{"type":"finish-step"}`, step, `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_started", "model_ended"}},
		"a reset before the response":   {[]string{step, reset, text, `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_ended"}},
		"a response that starts over":   {[]string{step, reset, text, reset, text, `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_ended model_error; model_started uncertain", "", "model_ended"}},
		"one that starts over late":     {[]string{step, call("c"), output("c"), reset, call("d"), `{"type":"finish-step"}`}, []string{"model_started", "model_ended unmetered", "", "model_started uncertain", "model_ended unmetered", ""}},
		"one after a streamed call":     {[]string{step, input("c"), reset, call("d"), output("d"), `{"type":"finish-step"}`}, []string{"model_started", "", "model_ended model_error; model_started uncertain", "model_ended unmetered", "", ""}},
		"one after a failure":           {[]string{step, `{"type":"error","errorText":"x"}`, text, reset, text, `{"type":"finish-step"}`}, []string{"model_started", "", "", "model_started uncertain", "", "model_ended"}},
		"after a withheld call":         {[]string{unreadable, step, call("c"), output("c"), `{"type":"finish-step"}`}, []string{"", "model_started", "model_ended unmetered", "", ""}},
		"calls with the same ID":        {[]string{step, call("c"), output("c"), `{"type":"finish-step"}`, step, call("c"), output("c"), `{"type":"finish-step"}`}, []string{"model_started", "model_ended unmetered", "", "", "model_started", "model_ended unmetered", "", ""}},
		"a call without a step":         {[]string{call("c"), output("c")}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{}, "data: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n")
			var got []string
			for _, line := range strings.Split(strings.TrimSpace(facts), "\n") {
				fact := strings.TrimSpace(line)
				switch {
				case !strings.HasPrefix(line, " "):
					got = append(got, "")
				case strings.HasPrefix(fact, "model_") || strings.HasPrefix(fact, "usage"):
					got[len(got)-1] += "; " + fact
				}
			}
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "; ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMergedResponses sends steps of several models at once, as an application that merges streams. Each step is a response with a name
// of its own. Which one a chunk belongs to is not on the wire.
func TestMergedResponses(t *testing.T) {
	const (
		step, finish = `{"type":"start-step"}`, `{"type":"finish-step"}`
		text, piece  = `{"type":"text-start","id":"t"}`, `{"type":"text-delta","id":"t","delta":"x"}`
		call, output = `{"type":"tool-input-available","toolCallId":"c","toolName":"f"}`, `{"type":"tool-output-available","toolCallId":"c","output":1}`
		failure      = `{"type":"error","errorText":"x"}`
		reset        = `{"type":"reset-step"}`
	)
	for name, c := range map[string]struct {
		sent []string
		want []string // of each frame, the response, and the facts about the model
	}{
		"one after the other":       {[]string{step, finish, step, finish}, []string{" model_started", " model_ended", " model_started", " model_ended"}},
		"at once":                   {[]string{step, step, finish, finish}, []string{" model_started", "2 model_started uncertain", " model_ended uncertain", "2 model_ended uncertain"}},
		"and one after them":        {[]string{step, step, finish, finish, step, finish}, []string{" model_started", "2 model_started uncertain", " model_ended uncertain", "2 model_ended uncertain", "3 model_started uncertain", "3 model_ended"}},
		"a text before the second":  {[]string{step, text, step, piece, finish}, []string{" model_started", "", "2 model_started uncertain", "", " model_ended uncertain"}},
		"a text of one of two":      {[]string{step, step, text, piece, finish, piece}, []string{" model_started", "2 model_started uncertain", "?", "?", " model_ended uncertain", "?"}},
		"a call of one of two":      {[]string{step, step, call, output, finish, finish}, []string{" model_started", "2 model_started uncertain", "?", "?", " model_ended uncertain", "2 model_ended uncertain"}},
		"one within a call":         {[]string{step, call, step, text, piece, finish, output, finish}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "2", "2", "2 model_ended", "", ""}},
		"a text beside a call":      {[]string{step, call, step, text, output, piece, finish, finish}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "2", "", "2", "2 model_ended", ""}},
		"a text and its own call":   {[]string{step, text, call, step, output, finish}, []string{" model_started", "", "", "2 model_started uncertain", "", " model_ended uncertain"}},
		"two calls at once":         {[]string{step, call, step, `{"type":"tool-input-start","toolCallId":"d","toolName":"f"}`, output, finish}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "2", "", "2 model_ended"}},
		"two within a call":         {[]string{step, call, step, step, finish, finish, output, finish}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "3 model_started uncertain", "2 model_ended uncertain", "3 model_ended uncertain", "", ""}},
		"one after both in a call":  {[]string{step, call, step, step, finish, finish, output, finish, step}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "3 model_started uncertain", "2 model_ended uncertain", "3 model_ended uncertain", "", "", "4 model_started"}},
		"a failure of one of two":   {[]string{step, step, failure, finish, finish, step, finish}, []string{" model_started", "2 model_started uncertain", "", "", "2", "3 model_started uncertain", "3 model_ended"}},
		"one after a failure":       {[]string{step, failure, step, finish, finish}, []string{" model_started", "", "2 model_started uncertain", "2 model_ended uncertain", ""}},
		"one that starts over":      {[]string{step, step, text, reset, finish, finish}, []string{" model_started", "2 model_started uncertain", "?", "", " model_ended uncertain", "2 model_ended uncertain"}},
		"one of two starts over":    {[]string{step, text, step, reset, finish, finish}, []string{" model_started", "", "2 model_started uncertain", "", " model_ended uncertain", "2 model_ended uncertain"}},
		"one in a call starts over": {[]string{step, call, step, reset, text, reset, piece, finish, output, finish}, []string{" model_started", " model_ended unmetered", "2 model_started uncertain", "2", "2", "2 model_ended model_error model_started uncertain", "2", "2 model_ended", "", ""}},
		"an end too many":           {[]string{step, finish, finish}, []string{" model_started", " model_ended", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, frame := range strings.Split(dialecttest.Facts(Dialect{}, &event.Stream{}, "data: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n"), "\n") {
				fact := strings.TrimSpace(frame)
				switch _, response, named := strings.Cut(frame, `response="`); {
				case fact == "":
				case !strings.HasPrefix(frame, " "):
					got = append(got, "")
					if named {
						got[len(got)-1], _, _ = strings.Cut(response, `"`)
					}
				case strings.HasPrefix(fact, "model_"), strings.HasPrefix(fact, "usage"):
					got[len(got)-1] += " " + fact
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTooManySteps starts more steps than are remembered. No response is reported twice.
func TestTooManySteps(t *testing.T) {
	const start, finish = "data: {\"type\":\"start-step\"}\n\n", "data: {\"type\":\"finish-step\"}\n\n"
	facts := dialecttest.Facts(Dialect{}, &event.Stream{}, strings.Repeat(start, 100)+strings.Repeat(finish, 100))
	if started, ended := strings.Count(facts, "model_started"), strings.Count(facts, "model_ended"); started != 64 || ended != 64 {
		t.Errorf("%d responses start and %d end, want 64", started, ended)
	}
}

// TestEnds checks how an answer ends.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct{ sent, want string }{
		"well":                  {`{"type":"finish","finishReason":"stop"}`, "final; run_ended"},
		"without a reason":      {`{"type":"finish"}`, "final; run_ended"},
		"at its length":         {`{"type":"finish","finishReason":"length"}`, "final; run_ended"},
		"at a content filter":   {`{"type":"finish","finishReason":"content-filter"}`, `error model_error code="content-filter"; run_ended model_error code="content-filter"`},
		"with an error":         {`{"type":"finish","finishReason":"error"}`, "error agent_error; run_ended agent_error"},
		"with an exception":     {`{"type":"error","errorText":"TimeoutError: x"}`, `error agent_error code="TimeoutError"; run_ended agent_error code="TimeoutError"`},
		"stopped":               {`{"type":"abort"}`, "error canceled; run_ended canceled"},
		"with usage":            {`{"type":"finish","messageMetadata":{"totalUsage":{"inputTokens":5,"outputTokens":2,"inputTokenDetails":{"cacheReadTokens":4},"reasoningTokens":1}}}`, "usage input=5 output=2 cached=4 reasoning=1; final; run_ended"},
		"with usage of a step":  {`{"type":"finish","messageMetadata":{"usage":{"inputTokens":5,"outputTokens":2},"totalUsage":{"inputTokens":9,"outputTokens":4}}}`, "usage input=9 output=4; final; run_ended"},
		"with other metadata":   {`{"type":"finish","messageMetadata":{"usage":"high","tokens":5}}`, "final; run_ended"},
		"with calls to execute": {`{"type":"tool-input-available","toolCallId":"c","toolName":"f"}` + "\n\ndata: " + `{"type":"finish","finishReason":"tool-calls"}`, `tool_started name="f" call="c"; tool_paused call="c"; final; run_ended`},
	} {
		t.Run(name, func(t *testing.T) {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{}, "data: "+c.sent+"\n\ndata: [DONE]\n\n")
			var got []string
			for _, line := range strings.Split(facts, "\n") {
				if strings.HasPrefix(line, "  ") {
					got = append(got, strings.TrimSpace(line))
				}
			}
			if all := strings.Join(got, "; "); all != c.want {
				t.Errorf("%s, want %s", all, c.want)
			}
		})
	}
}

// TestRepeatedEnd checks that an end without an answer ends no run.
func TestRepeatedEnd(t *testing.T) {
	const answer = "data: {\"type\":\"start\",\"messageId\":\"m\"}\n\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n"
	for sent, want := range map[string]int{
		answer + "data: [DONE]\n\n": 1, answer + answer: 2, answer + "data: {\n\ndata: [DONE]\n\n": 1, answer + "data: {\"type\":1}\n\ndata: [DONE]\n\n": 1, answer + "data: {\"type\":\"x\"}\n\ndata: [DONE]\n\n": 1,
	} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{}, sent)
		if n := strings.Count(facts, "run_ended"); n != want {
			t.Errorf("%d runs end, want %d: %s", n, want, facts)
		}
		if frames, n := strings.Count(sent, "data: ")-strings.Count(sent, "[DONE]\n\ndata: {\n")-strings.Count(sent, `:1}`)-strings.Count(sent, `"x"`), strings.Count(facts, `run="m"`); n < frames {
			t.Errorf("%d of %d chunks belong to the run: %s", n, frames, facts)
		}
	}
}

// TestLateID sends other chunks before the first start that has an ID. That start names the run, and the run starts only once.
func TestLateID(t *testing.T) {
	const start = `{"type":"start","messageId":"m"}`
	for _, before := range []string{
		`{"type":"data-notification","data":1,"transient":true}`, `{"type":"data-sources","id":"s","data":1}`, `{"type":"message-metadata","messageMetadata":{}}`,
		`{"type":"text-start","id":"1"}`, `{"type":"reasoning-start","id":"1"}`, `{"type":"tool-input-available","toolCallId":"c","toolName":"f"}`,
		`{"type":"error","errorText":"x"}`, `{"type":"abort"}`, `{"type":"start"}`, `{"type":"start","messageId":""}`, `{"type":"unknown"}`, `{`,
	} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{}, "data: "+strings.Join([]string{before, start, `{"type":"start","messageId":"n"}`, `{"type":"start-step"}`, "[DONE]"}, "\n\ndata: ")+"\n\n")
		if named, started := strings.Count(facts, `run="m"`), strings.Count(facts, "run_started"); named != 4 || started != 1 {
			t.Errorf("after %s, %d chunks of 4 belong to the run, which starts %d times: %s", before, named, started, facts)
		}
	}
}

// TestTextsMarkedAtTheirEnd marks a text as a thought after its pieces. The whole is no answer.
func TestTextsMarkedAtTheirEnd(t *testing.T) {
	facts := dialecttest.Facts(Dialect{}, &event.Stream{}, `data: {"type":"text-start","id":"t"}

data: {"type":"text-delta","id":"t","delta":"x"}

data: {"type":"text-end","id":"t","providerMetadata":{"thought":true}}

`)
	if n := strings.Count(facts, `text "x"`); n != 1 {
		t.Errorf("the text is reported %d times: %s", n, facts)
	}
}

// TestDiscardedTexts resets a step with a text that goes on. The whole text lacks the discarded piece.
func TestDiscardedTexts(t *testing.T) {
	facts := dialecttest.Facts(Dialect{}, &event.Stream{}, "data: "+strings.Join([]string{
		`{"type":"start-step"}`, `{"type":"text-start","id":"t"}`, `{"type":"text-delta","id":"t","delta":"hi"}`, `{"type":"reset-step"}`, `{"type":"text-delta","id":"t","delta":"hello"}`, `{"type":"text-end","id":"t"}`,
	}, "\n\ndata: ")+"\n\n")
	if strings.Contains(facts, "hihello") || strings.Count(facts, `text "hello"`) != 2 {
		t.Error(facts)
	}
}

// TestMemoryOfUnendedTexts sends long texts without an end, each in a step of its own.
func TestMemoryOfUnendedTexts(t *testing.T) {
	d := &decoder{}
	for n := range 100 {
		for _, data := range []string{`{"type":"start-step"}`, fmt.Sprintf(`{"type":"text-start","id":"%d"}`, n), fmt.Sprintf(`{"type":"text-delta","id":"%d","delta":"x"}`, n), `{"type":"finish-step"}`} {
			var doc strictjson.Doc
			_ = doc.Parse([]byte(data), 128)
			d.Decode(dialect.Frame{Frame: sse.Frame{Data: []byte(data)}, JSON: doc.Root()}, &event.Batch{Table: &table})
		}
		if len(d.parts) > 16 {
			t.Fatalf("after %d steps, %d texts are open", n+1, len(d.parts))
		}
	}
}

// TestResumed checks that a stream that resumes an answer brings the run of the answer's message, if the message has an ID.
func TestResumed(t *testing.T) {
	for start, want := range map[string]int{`{"type":"start","messageId":"m"}`: 2, `{"type":"start"}`: 0} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{Identity: event.Identity{JoinedRun: "c1", ReplayedRun: "c1"}}, "data: "+start+"\n\ndata: {\"type\":\"start-step\"}\n\n")
		if n := strings.Count(facts, `run="m"`); n != want {
			t.Errorf("%d chunks of %d belong to the message: %s", n, want, facts)
		}
	}
}

// TestOtherStreams checks that a path that other protocols share resumes no answer.
func TestOtherStreams(t *testing.T) {
	if got := (Dialect{}).Identify(dialect.Request{Method: http.MethodGet, Path: "/agent/c1/stream"}); got.JoinedRun != "" {
		t.Errorf("joins %q", got.JoinedRun)
	}
}
