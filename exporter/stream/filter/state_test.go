package filter_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// filterPart returns the part of a frame that passes under a rule, or the reason why it is withheld.
func filterPart(s filter.Settings, rule *event.Rule, sent string) string {
	table := event.Table{Types: map[string]event.Type{"": {Client: true, Public: rule}}}
	var doc strictjson.Doc
	b := decode(sse.Frame{Data: []byte(sent)}, &table, &doc)
	frame, why := filter.New(s).Apply(b)
	if why != filter.Passed {
		return string(why)
	}
	return string(frame.Data)
}

// TestPatches checks that only the operations of a JSON Patch on configured keys pass, and that an invalid operation withholds
// the whole patch.
func TestPatches(t *testing.T) {
	rule := event.Rule{Members: map[string]*event.Rule{"delta": {Patch: true, Fact: event.KindState, Required: true}}}
	settings := filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"plan", "a/b", "m~n", "~1", "0"}}
	patch := func(ops ...string) string { return `{"delta":[` + strings.Join(ops, ",") + `]}` }
	const good = `{"op":"replace","path":"/plan","value":1}`
	for _, op := range []string{
		good, `{"op":"add","path":"/plan/x/y","value":{"secret":1}}`, `{"op":"test","path":"/plan","value":null}`, `{"op":"remove","path":"/plan/0"}`,
		`{"op":"move","from":"/plan/0","path":"/plan/1"}`, `{"op":"copy","from":"/a~1b","path":"/m~0n/x"}`, `{"op":"add","path":"/~01/x","value":1}`,
		`{"op":"remove","path":"/plan/~"}`, `{"op":"remove","path":"/0"}`, `{"path":"/plan","op":"remove"}`,
	} {
		if got, want := filterPart(settings, &rule, patch(op, good)), patch(op, good); got != want {
			t.Errorf("of %s leaves %s", op, got)
		}
	}
	for _, op := range []string{
		`{"op":"replace","path":"/secret","value":"secret"}`, `{"op":"remove","path":"/Plan"}`, `{"op":"remove","path":"/plan2"}`, `{"op":"remove","path":"/"}`,
		`{"op":"remove","path":"//plan"}`, `{"op":"remove","path":"/ plan"}`, `{"op":"remove","path":"/pla\u200bn"}`, `{"op":"remove","path":"/a"}`,
		`{"op":"remove","path":"/a~01b"}`, `{"op":"remove","path":"/%70lan"}`, `{"op":"remove","path":"/~1/x"}`, `{"op":"remove","path":"/x~1plan"}`,
		`{"op":"copy","from":"/secret","path":"/plan"}`, `{"op":"move","from":"/secret","path":"/plan"}`, `{"op":"move","from":"/plan","path":"/secret"}`,
		`{"op":"copy","from":"/secret","path":"/x"}`,
	} {
		if got, want := filterPart(settings, &rule, patch(op, good)), patch(good); got != want {
			t.Errorf("beside %s leaves %s", op, got)
		}
		if got := filterPart(settings, &rule, patch(op)); got != string(filter.ReasonEmpty) {
			t.Errorf("of %s leaves %s", op, got)
		}
	}
	for _, op := range []string{
		`{}`, `[]`, `null`, `"x"`, `{"path":"/plan","value":1}`, `{"op":"add","value":1}`, `{"op":"add","path":"/plan"}`, `{"op":"ADD","path":"/plan","value":1}`,
		`{"op":["add"],"path":"/plan","value":1}`, `{"op":"add","path":"plan","value":1}`, `{"op":"add","path":"","value":{"plan":"secret"}}`,
		`{"op":"add","path":["/plan"],"value":1}`, `{"op":"add","path":"#/plan","value":1}`, `{"op":"add","path":"/plan~","value":1}`, `{"op":"add","path":"/pl~2an","value":1}`,
		`{"op":"add","Path":"/plan","value":1}`, `{"op":"move","path":"/plan"}`, `{"op":"copy","path":"/plan","from":7}`, `{"op":"copy","path":"/plan","from":""}`,
		`{"op":"copy","path":"/plan","from":"/plan","value":"secret"}`, `{"op":"remove","path":"/plan","value":"secret"}`, `{"op":"add","path":"/plan","value":1,"from":"/secret"}`,
		`{"op":"merge","path":"/plan","value":1}`,
	} {
		if got := filterPart(settings, &rule, patch(good, op)); got != string(filter.ReasonEmpty) {
			t.Errorf("with %s leaves %s", op, got)
		}
	}
	if got := filterPart(settings, &rule, patch(`{"op":"add","path":"/plan","value":1,"note":"secret"}`)); got != patch(`{"op":"add","path":"/plan","value":1}`) {
		t.Errorf("beside an operation leaves %s", got)
	}
	for _, op := range []string{ // they lose their value
		`{"op":"add","path":"/plan","value":{"thought":true,"t":"secret"}}`, `{"op":"add","path":"/plan","value":[{"thought":true,"t":"secret"}]}`,
	} {
		if got, want := filterPart(settings, &rule, patch(good, op, op, good)), patch(good, good); got != want {
			t.Errorf("beside %s leaves %s", op, got)
		}
		if got := filterPart(settings, &rule, patch(op)); got != string(filter.ReasonEmpty) {
			t.Errorf("of %s leaves %s", op, got)
		}
	}
	for sent, want := range map[string]string{`{"delta":[]}`: `{"delta":[]}`, `{"delta":` + good + `}`: string(filter.ReasonEmpty), `{"delta":"x"}`: string(filter.ReasonEmpty)} {
		if got := filterPart(settings, &rule, sent); got != want {
			t.Errorf("of %s leaves %s", sent, got)
		}
	}
	if got := filterPart(filter.Settings{Policy: event.PolicyPublic}, &rule, patch(good)); got != string(filter.ReasonEmpty) {
		t.Errorf("without keys leaves %s", got)
	}
}

// TestWithheldOperations checks that a patch leaves without the operations that its decoder withholds.
func TestWithheldOperations(t *testing.T) {
	rule := event.Rule{Members: map[string]*event.Rule{"delta": {Patch: true, Fact: event.KindState}}}
	const good, bad = `{"op":"replace","path":"/plan","value":1}`, `{"op":"replace","path":"/plan","value":"secret"}`
	for _, withhold := range []func(*event.Batch, strictjson.Value){
		func(b *event.Batch, op strictjson.Value) { b.Cut(op) },
		func(b *event.Batch, op strictjson.Value) { b.SetTextKind(op, event.KindThought) },
	} {
		for sent, want := range map[string]string{
			bad + "," + good: `{"delta":[` + good + `]}`, good + "," + bad: `{"delta":[` + good + `]}`, good + "," + bad + "," + good: `{"delta":[` + good + "," + good + `]}`,
			bad: string(filter.ReasonEmpty), bad + "," + bad: string(filter.ReasonEmpty),
		} {
			var doc strictjson.Doc
			b := decode(sse.Frame{Data: []byte(`{"delta":[` + sent + `]}`)}, &event.Table{Types: map[string]event.Type{"": {Public: &rule}}}, &doc)
			for op := range b.JSON.Get("delta").Elements() {
				if op.Get("value").Is("secret") {
					withhold(b, op)
				}
			}
			frame, why := filter.New(filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"plan"}}).Apply(b)
			if got := string(frame.Data) + string(why); got != want {
				t.Errorf("of %s leaves %s, want %s", sent, got, want)
			}
		}
	}
}

// TestThoughtsInState checks that values of a state that are marked as thoughts pass only if thoughts may.
func TestThoughtsInState(t *testing.T) {
	rule := event.Rule{Members: map[string]*event.Rule{"state": {State: true, Fact: event.KindState}}}
	settings := filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"x", "y"}}
	for sent, want := range map[string]string{
		`{"state":{"x":{"thought":true,"t":"secret"},"y":1}}`:                `{"state":{"y":1}}`,
		`{"state":{"x":[{"adk_thought":"true","t":"secret"},2],"y":1}}`:      `{"state":{"x":[2],"y":1}}`,
		`{"state":{"x":{"q":{"thought":1,"t":"secret"},"r":2}}}`:             `{"state":{"x":{"r":2}}}`,
		`{"state":{"thought":true,"x":"secret"}}`:                            string(filter.ReasonEmpty),
		`{"state":{"x":{"thought":false,"t":"said"},"y":{"thoughts":"t"}}}`:  `{"state":{"x":{"thought":false,"t":"said"},"y":{"thoughts":"t"}}}`,
		`{"state":{"x":{"thought":"a word","t":"said"}},"other":{"x":"no"}}`: `{"state":{"x":{"thought":"a word","t":"said"}}}`,
	} {
		if got := filterPart(settings, &rule, sent); got != want {
			t.Errorf("of %s leaves %s, want %s", sent, got, want)
		}
	}
	settings.Thoughts = event.ThoughtsDetailed
	const marked = `{"state":{"x":{"thought":true,"t":"said"}}}`
	if got := filterPart(settings, &rule, marked); got != marked {
		t.Errorf("with thoughts, of %s leaves %s", marked, got)
	}
}

// TestSchemas checks that filtered frames stay valid: required members, placeholders and renamed members.
func TestSchemas(t *testing.T) {
	type rules = map[string]*event.Rule
	part := event.Rule{Members: rules{
		"kind": {}, "text": {Fact: event.KindText, Required: true}, "bytes": {RenameTo: "uri", Replacement: `"x:"`}, "uri": {Replacement: `"x:"`}, "note": {DropNull: true},
	}}
	rule := event.Rule{Members: rules{
		"id": {}, "name": {Fact: event.KindArtifact, Fallback: `"?"`}, "parts": {Elements: &part, Fallback: `[]`}, "last": {Required: true, Members: rules{"part": {Required: true, Members: part.Members}}},
	}}
	for _, c := range []struct{ sent, all, noText, noNames string }{
		{`{"id":1,"parts":[{"kind":"t","text":"a"}]}`, `{"id":1,"parts":[{"kind":"t","text":"a"}]}`, "empty", `{"id":1,"parts":[{"kind":"t","text":"a"}]}`},
		{`{"id":1,"name":"n","parts":[{"kind":"t","text":"a"}]}`, `{"id":1,"name":"n","parts":[{"kind":"t","text":"a"}]}`, `{"id":1,"name":"n","parts":[]}`, `{"id":1,"name":"?","parts":[{"kind":"t","text":"a"}]}`},
		{`{"id":1,"name":"n","parts":[{"kind":"t","text":["a"]},{"kind":"u"}]}`, `{"id":1,"name":"n","parts":[{"kind":"u"}]}`, `{"id":1,"name":"n","parts":[{"kind":"u"}]}`, "empty"},
		{`{"id":1,"name":"n","parts":[{"text":null,"note":null}]}`, `{"id":1,"name":"n","parts":[{"text":null}]}`, `{"id":1,"name":"n","parts":[{"text":null}]}`, "empty"},
		{`{"id":1,"name":"n","parts":"x"}`, `{"id":1,"name":"n","parts":[]}`, `{"id":1,"name":"n","parts":[]}`, "empty"},
		{`{"id":1,"parts":[{"bytes":"b"},{"uri":"u"},{"bytes":"b","uri":"u"},{"uri":"u","bytes":"b"}]}`, `{"id":1,"parts":[{"uri":"x:"},{"uri":"x:"},{"uri":"x:"},{"uri":"x:"}]}`, `{"id":1,"parts":[{"uri":"x:"},{"uri":"x:"},{"uri":"x:"},{"uri":"x:"}]}`, `{"id":1,"parts":[{"uri":"x:"},{"uri":"x:"},{"uri":"x:"},{"uri":"x:"}]}`},
		{`{"id":1,"name":"n","last":{"part":{"text":"a"}}}`, `{"id":1,"name":"n","last":{"part":{"text":"a"}}}`, "empty", `{"id":1,"name":"?","last":{"part":{"text":"a"}}}`},
	} {
		for want, s := range map[string]filter.Settings{
			"a" + c.all: {}, "b" + c.noText: {Exclude: []event.Kind{event.KindText}}, "c" + c.noNames: {Exclude: []event.Kind{event.KindArtifact}},
		} {
			s.Policy = event.PolicyPublic
			var got string
			table := event.Table{Types: map[string]event.Type{"": {Public: &rule}}}
			var doc strictjson.Doc
			b := decode(sse.Frame{Data: []byte(c.sent)}, &table, &doc)
			b.Add(event.KindText).SetText([]byte("a")) // it is an answer's
			b.Add(event.KindArtifact)
			if frame, why := filter.New(s).Apply(b); why != filter.Passed {
				got = string(why)
			} else if got = string(frame.Data); frame.Kinds&(1<<event.KindArtifact) != 0 != strings.Contains(got, `"n"`) {
				t.Errorf("%s leaves with the facts %b", got, frame.Kinds)
			}
			if got != want[1:] {
				t.Errorf("%s: of %s leaves %s, want %s", want[:1], c.sent, got, want[1:])
			}
		}
	}
}

// TestEnds checks that the end of a run passes without its withheld members, unless the settings exclude it.
func TestEnds(t *testing.T) {
	rule := event.Rule{Members: map[string]*event.Rule{"done": {}, "text": {Fact: event.KindText}}}
	table := event.Table{Types: map[string]event.Type{"": {Public: &rule}}}
	for _, c := range []struct {
		out  []event.Kind
		ends bool
		want string
	}{
		{[]event.Kind{event.KindText}, true, `{"done":1}`}, {[]event.Kind{event.KindText}, false, "empty"},
		{[]event.Kind{event.KindText, event.KindRunEnded}, true, "empty"}, {nil, true, `{"done":1,"text":"a"}`},
	} {
		var doc strictjson.Doc
		b := decode(sse.Frame{Data: []byte(`{"done":1,"text":"a"}`)}, &table, &doc)
		b.Add(event.KindText).SetText([]byte("a"))
		if c.ends {
			b.Add(event.KindRunEnded)
		}
		frame, why := filter.New(filter.Settings{Policy: event.PolicyPublic, Exclude: c.out}).Apply(b)
		if got := string(frame.Data) + string(why); got != c.want {
			t.Errorf("without %v: %s, want %s", c.out, got, c.want)
		}
	}
}
