package custom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsOfTypes checks that every frame of a type that means a thought is one, whatever its
// members.
func TestThoughtsOfTypes(t *testing.T) {
	for data, want := range map[string]filter.Reason{
		`{"type":"thought","text":"secret"}`:          filter.ReasonSetting,
		`{"type":"thought","content":"secret"}`:       filter.ReasonSetting,
		`{"type":"thought","text":{"note":"secret"}}`: filter.ReasonSetting,
		`{"type":"answer","content":"hi"}`:            filter.Passed,
	} {
		if _, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(decode(custom.New(mapping()), "", data)); why != want {
			t.Errorf("%s is withheld for %q, want %q", data, why, want)
		}
	}
}

// TestEventNames checks that the agent's own client gets the SSE event names of frames with a type in the JSON, unless the names are
// internal. Other readers get none, because they may be any text.
func TestEventNames(t *testing.T) {
	for name, want := range map[string]string{
		"":           "data: {\"type\":\"answer\",\"text\":\"hi\"}\n\n",
		"answer":     "event: answer\ndata: {\"type\":\"answer\",\"text\":\"hi\"}\n\n",
		"any. name":  "event: any. name\ndata: {\"type\":\"answer\",\"text\":\"hi\"}\n\n",
		"a\x00b":     "data: {\"type\":\"answer\",\"text\":\"hi\"}\n\n",
		"internal:x": "",
	} {
		b := decode(custom.New(mapping()), name, `{"type":"answer","text":"hi"}`)
		if got := string(filter.NewRelay(filter.Settings{Policy: event.PolicyClient}, uncounted{}).Append(nil, b)); got != want {
			t.Errorf("client: %q is relayed as %q, want %q", name, got, want)
		}
		if got := string(filter.NewRelay(filter.Settings{Policy: event.PolicyPublic}, uncounted{}).Append(nil, b)); strings.Contains(got, "event:") {
			t.Errorf("public: %q is relayed as %q", name, got)
		}
	}
}

// uncounted counts nothing.
type uncounted struct{}

func (uncounted) CountWithheld(string, filter.Reason) {}
func (uncounted) CountRemovedID(string)               {}

// TestHiddenSpellings checks that hidden members are cut in any spelling.
func TestHiddenSpellings(t *testing.T) {
	m := mapping()
	m.HiddenMembers = []string{"debug", "Äx"}
	for _, name := range []string{"debug", "Debug", "Äx", "äx", "ÄX"} {
		got, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(decode(custom.New(m), "", `{"type":"answer","text":"hi","`+name+`":"secret"}`))
		if why != filter.Passed || strings.Contains(string(got.Data), "secret") {
			t.Errorf("with %s, %s leaves (%q)", name, got.Data, why)
		}
	}
}

// TestPublicConfidence checks that a text leaves as a confidence only if it is one.
func TestPublicConfidence(t *testing.T) {
	d, public := custom.New(mapping()), filter.New(filter.Settings{Policy: event.PolicyPublic})
	for sent, want := range map[string]string{
		`0.9`: `0.9`, `7`: `7`, `"92 %"`: `"92 %"`, `"Quite High"`: `"Quite High"`,
		`"ask Bob"`: `null`, `"high, as Bob says"`: `null`, `"0.9 of Bob"`: `null`, `""`: `null`,
	} {
		frame, why := public.Apply(decode(d, "", `{"type":"answer","text":"hi","confidence":`+sent+`}`))
		if why != filter.Passed || !strings.Contains(string(frame.Data), `"confidence":`+want+`}`) {
			t.Errorf("%s leaves as %s (%s), want %s", sent, frame.Data, why, want)
		}
	}
}

// TestPublicFailuresWithin maps values within an error. Under the policy public, the error leaves as the sentence, and what is no error
// as it came.
func TestPublicFailuresWithin(t *testing.T) {
	for _, member := range []string{"agent", "status", "time"} { // before and after "error" in the order of their names
		m := custom.Mapping{Paths: map[string]string{"type": "type"}, Frames: map[string]custom.Frame{
			"end": {Means: "tool_ended", Paths: map[string]string{"name": "name", "error": "e", member: "e.inner.x"}},
		}}
		d, public := custom.New(m), filter.New(filter.Settings{Policy: event.PolicyPublic})
		for sent, want := range map[string]string{
			`{"message":"secret"}`: `"the tool failed"`, `{"message":"secret","inner":{"x":"ok"}}`: `"the tool failed"`, `{}`: `"the tool failed"`,
			`"secret"`: `"the tool failed"`, `null`: `null`, `false`: `false`, `""`: `""`,
		} {
			frame, why := public.Apply(decode(d, "", `{"type":"end","name":"f","e":`+sent+`}`))
			if want := `{"type":"end","name":"f","e":` + want + `}`; why != filter.Passed || string(frame.Data) != want {
				t.Errorf("with %s within it, the error %s leaves as %s (%q), want %s", member, sent, frame.Data, why, want)
			}
		}
	}
}

// TestPublicFailures checks that a decoder of the public stream finds the failures that the frames state, and no others.
func TestPublicFailures(t *testing.T) {
	d, public := custom.New(mapping()), filter.New(filter.Settings{Policy: event.PolicyPublic})
	for _, what := range []string{"run", "agent", "tool", "model"} {
		for member, want := range map[string]string{
			`"error":"ValueError: secret"`: `"error":"the ` + what + ` failed"`, `"error":"x"`: `"error":"the ` + what + ` failed"`,
			`"error":{"code":"secret"}`: `"error":"the ` + what + ` failed"`, `"error":{}`: `"error":"the ` + what + ` failed"`,
			`"error":["secret"]`: `"error":"the ` + what + ` failed"`,
			`"error":true`:       `"error":true`, `"error":503`: `"error":503`, `"error":0`: `"error":0`,
			`"error":""`: `"error":""`, `"error":false`: `"error":false`, `"error":null`: `"error":null`,
			`"status":"error"`: `"status":"error"`, `"status":"ok"`: `"status":"ok"`,
		} {
			before := decode(d, "", `{"type":"`+what+`_ended","name":"n",`+member+`}`)
			frame, why := public.Apply(before)
			if why != filter.Passed || !strings.Contains(string(frame.Data), want) {
				t.Errorf("%s with %s leaves as %s (%q)", what, member, frame.Data, why)
				continue
			}
			after := decode(d, "", string(frame.Data))
			for i := range before.Events {
				if after.Events[i].Kind != before.Events[i].Kind || after.Events[i].Error != before.Events[i].Error {
					t.Errorf("%s with %s leaves as %s, which states %s %q", what, member, frame.Data, after.Events[i].Kind, after.Events[i].Error)
				}
			}
		}
	}
}

// TestNames maps names to members that hold types in other protocols. Only a type is a mark, and a name is no object.
func TestNames(t *testing.T) {
	m := custom.Mapping{Paths: map[string]string{"type": "type", "agent": "source.kind"}, Frames: map[string]custom.Frame{
		"call": {Means: "tool_started", Paths: map[string]string{"name": "kind"}}, "to": {Means: "transfer", Paths: map[string]string{"target": "event"}},
		"end": {Means: "model_ended", Paths: map[string]string{"model": "model.type"}}, "say": {Means: "answer", Paths: map[string]string{"text": "text"}},
	}}
	d, client := custom.New(m), filter.New(filter.Settings{Policy: event.PolicyClient})
	for data, leaves := range map[string]bool{
		`{"type":"say","source":{"kind":"internal_x"},"text":"hi"}`:   true,
		`{"type":"say","source":{"kind":["internal_x"]},"text":"hi"}`: false,
		`{"type":"say","source":{"type":"internal_x"},"text":"hi"}`:   false,
		`{"type":"say","kind":"internal_x","text":"hi"}`:              false,
		`{"type":"call","kind":"internal_x"}`:                         true,
		`{"type":"call","kind":{"type":"internal_x"}}`:                false,
		`{"type":"to","event":"internal_x"}`:                          true,
		`{"type":"end","model":{"type":"internal_x"}}`:                true,
		`{"type":"end","model":{"type":"x","kind":"internal_x"}}`:     false,
		`{"type":"internal_call","kind":"x"}`:                         false,
	} {
		if _, why := client.Apply(decode(d, "", data)); (why == filter.Passed) != leaves {
			t.Errorf("%s is withheld for %q", data, why)
		}
	}
}

// TestManyWithheldCalls sends more internal calls than are remembered. Only results leave of calls that began outside.
func TestManyWithheldCalls(t *testing.T) {
	d, s := custom.New(mapping()), &event.Stream{}
	decoder, client := d.New(s), filter.New(filter.Settings{Policy: event.PolicyClient})
	sent := []string{`{"type":"tool_started","call":"a"}`}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"tool_started","call":"%d","x":{"kind":"internal"}}`, i))
	}
	want := map[int]bool{0: true}
	for call, leaves := range map[string]bool{"a": true, "0": false, "1099": false} {
		want[len(sent)] = leaves
		sent = append(sent, `{"type":"tool_ended","call":"`+call+`"}`)
	}
	for i := range 1024 { // other calls with the same IDs
		want[len(sent)] = true
		sent = append(sent, fmt.Sprintf(`{"type":"tool_started","call":"%d"}`, i))
	}
	sent = append(sent, `{"type":"tool_ended"}`)
	for i, data := range sent {
		b := &event.Batch{}
		b.Begin(s, sse.Frame{Data: []byte(data)}, b.Received)
		b.Table = d.Table()
		malformed := b.Parse(32)
		decoder.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
		if _, why := client.Apply(b); (why == filter.Passed) != want[i] {
			t.Errorf("%s is withheld for %q", data, why)
		}
	}
}

// TestCallsOfInternalFrames checks that what a call's other frames say of it is withheld if its start was.
func TestCallsOfInternalFrames(t *testing.T) {
	const (
		started  = `{"type":"tool_started","name":"pay","call":"c","arguments":"secret"}`
		hidden   = `{"type":"tool_started","name":"pay","call":"c","arguments":"secret","x":{"kind":"internal"}}`
		nameless = `{"type":"tool_started","name":"pay","x":{"kind":"internal"}}`
		unnamed  = `{"type":"tool_started","x":{"kind":"internal"}}`
		unmapped = `{"type":"internal:tool","name":"pay","call":"c","arguments":"secret"}`
		ended    = `{"type":"tool_ended","name":"pay","call":"c","result":"secret"}`
	)
	for _, c := range []struct {
		sent   []string
		leaves bool // the last frame
	}{
		{[]string{started, ended}, true},
		{[]string{hidden, ended}, false},
		{[]string{hidden, `{"type":"tool_progress","call":"c","text":"secret"}`}, false},
		{[]string{hidden, `{"type":"input_requested","call":"c","text":"secret"}`}, false},
		{[]string{hidden, `{"type":"tool_ended","name":"pay","result":"secret"}`}, false},
		{[]string{nameless, `{"type":"tool_ended","name":"pay","result":"secret"}`}, false},
		{[]string{nameless, ended}, false}, // the start has no ID, and the result its tool
		{[]string{nameless, ended, `{"type":"tool_progress","call":"c","text":"secret"}`}, false},
		{[]string{nameless, `{"type":"tool_started","name":"pay","call":"d"}`, ended}, true}, // there is another start
		{[]string{unnamed, ended}, true},
		{[]string{unnamed, `{"type":"tool_ended","result":"secret"}`}, false},
		{[]string{`{"type":"internal:log"}`, `{"type":"tool_failed","result":"secret"}`}, false},
		{[]string{hidden, `{"type":"tool_ended","result":"secret"}`}, false},
		{[]string{nameless, `{"type":"tool_progress","text":"secret"}`}, false},
		{[]string{started, `{"type":"tool_ended","result":"shown"}`}, true},
		{[]string{nameless, `{"type":"tool_ended","call":"c","result":"secret"}`}, false}, // the call may be the withheld one
		{[]string{nameless, `{"type":"tool_progress","call":"c","text":"secret"}`}, false},
		{[]string{nameless, `{"type":"tool_ended","call":"c"}`, `{"type":"input_requested","call":"c","text":"secret"}`}, false},
		{[]string{nameless, `{"type":"tool_started","name":"look","call":"c"}`, `{"type":"tool_ended","call":"c"}`}, true},
		{[]string{nameless, `{"type":"tool_started","name":"pay"}`, `{"type":"tool_ended","call":"c"}`}, true},
		{[]string{nameless, strings.Replace(ended, "ended", "failed", 1), ended}, false},
		{[]string{nameless, `{"type":"tool_ended","name":"look","call":"c"}`}, true},
		{[]string{nameless, `{"type":"input_requested","call":"q","text":"which?"}`}, true},
		{[]string{nameless, started, ended}, true},
		{[]string{started, nameless, ended}, true},
		{[]string{`{"type":"internal","a":1,"a":2}`, ended}, true},
		{[]string{started, hidden, ended}, false},
		{[]string{hidden, `{"type":"tool_started","name":"pay","call":"d"}`, `{"type":"tool_ended","name":"pay","call":"d"}`}, true},
		{[]string{hidden, ended, started, ended}, true},
		{[]string{hidden, `{"type":"tool_progress","call":"c"}`, started}, true},
		{[]string{nameless, `{"type":"tool_ended","name":"pay","result":"secret"}`, `{"type":"tool_started","name":"pay"}`, `{"type":"tool_ended","name":"pay","result":"secret"}`}, true},
		{[]string{hidden, `{"type":"answer","text":"hi"}`}, true},
		{[]string{unmapped, ended}, false},
		{[]string{unmapped, `{"type":"tool_progress","call":"c","text":"secret"}`}, false},
		{[]string{unmapped, `{"type":"input_requested","call":"c","text":"secret"}`}, false},
		{[]string{unmapped, `{"type":"tool_ended","name":"pay","result":"secret"}`}, false},
		{[]string{unmapped, `{"type":"tool_ended","result":"secret"}`}, false},
		{[]string{`{"type":"internal:tool","name":"pay"}`, ended}, false},
		{[]string{`{"type":"internal:tool","name":"pay"}`, `{"type":"tool_failed","name":"pay","result":"secret"}`}, false},
		{[]string{`{"type":"x","kind":"internal","call":"c"}`, ended}, false},
		{[]string{`{"type":"internal:tool","name":"pay","call":18446744073709551617}`, `{"type":"tool_ended","call":18446744073709551617,"result":"secret"}`}, false},
		{[]string{`[{"type":"tool_started","name":"pay","call":"c","kind":"internal"}]`, ended}, true},
		{[]string{started, ended, unmapped, ended}, false},
		{[]string{started, unmapped, strings.Replace(ended, `"call":"c"`, `"call":"d"`, 1)}, true},
		{[]string{started, unmapped, ended}, true}, // the internal frame is about a call that left
		{[]string{started, `{"type":"internal:log","name":"pay"}`, `{"type":"tool_ended","name":"pay"}`}, true},
		{[]string{unmapped, started, ended}, true}, // it has another start
		{[]string{unmapped, started, ended, ended}, true},
		{[]string{unmapped, started, `{"type":"tool_ended","name":"pay"}`}, true},
		{[]string{unmapped, `{"type":"tool_started","name":"look","call":"d"}`, `{"type":"tool_ended","name":"look","call":"d"}`}, true},
		{[]string{unmapped, `{"type":"input_requested","call":"q","text":"which?"}`}, true},
		{[]string{`{"type":"unmapped","name":"pay","call":"c"}`, ended}, true}, // it has no mark
		{[]string{strings.Replace(started, "pay", "internal_x", 1)}, true},
		{[]string{strings.Replace(started, "pay", "internal_x", 1), strings.Replace(ended, "pay", "internal_x", 1)}, true},
	} {
		if why := reasonOfLast(mapping(), &event.Stream{}, c.sent...); (why == filter.Passed) != c.leaves {
			t.Errorf("%s: the last frame is withheld for %q", strings.Join(c.sent, "\n"), why)
		}
	}
}

// reasonOfLast returns the reason why the last frame of a stream is withheld from the agent's own client.
func reasonOfLast(m custom.Mapping, s *event.Stream, sent ...string) (why filter.Reason) {
	d := custom.New(m)
	decoder, client := d.New(s), filter.New(filter.Settings{Policy: event.PolicyClient})
	for _, data := range sent {
		b := &event.Batch{}
		b.Begin(s, sse.Frame{Data: []byte(data)}, b.Received)
		b.Table = d.Table()
		malformed := b.Parse(32)
		decoder.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
		_, why = client.Apply(b)
	}
	return why
}
