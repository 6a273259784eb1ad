package filter_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// textTable is the table of a protocol with text frames.
var textTable = event.Table{
	Discriminators:  []string{"type"},
	TypeIsEventName: true,
	Types: map[string]event.Type{
		"chunk": {Text: true, Client: true, Public: &event.Rule{Fact: event.KindText, Form: event.FormText}},
		"whole": {Text: true, Answer: true, Client: true, Public: &event.Rule{Fact: event.KindText, Form: event.FormText}},
		"error": {Text: true, Client: true, Public: &event.Rule{Replacement: "the run failed", Fact: event.KindError}},
		"log":   {Text: true, Client: true},
		"debug": {Text: true},
		"trace": {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{"step": {}}}},
	},
}

// TestText checks that text frames are filtered by their type, even if the text looks like JSON.
func TestText(t *testing.T) {
	const kept = ""
	for _, c := range []struct {
		name, typ, data string
		fact            event.Kind
		client, public  string
		why             filter.Reason // under public
	}{
		{"an answer", "chunk", "two\n lines", event.KindText, "two\n lines", "two\n lines", filter.Passed},
		{"an answer that looks like JSON", "chunk", `{"type":"internal:x"}`, event.KindText, `{"type":"internal:x"}`, `{"type":"internal:x"}`, filter.Passed},
		{"an answer that the decoder takes for none", "chunk", "x", event.KindOther, "x", kept, filter.ReasonSetting},
		{"an answer that the decoder has seen", "whole", "x", event.KindOther, "x", "x", filter.Passed},
		{"an error", "error", "secret at 10.0.0.1", event.KindError, "secret at 10.0.0.1", "the run failed", filter.Passed},
		{"what is for the client", "log", "calling", event.KindOther, "calling", kept, filter.ReasonPolicy},
		{"what is for nobody", "debug", "x", event.KindOther, kept, kept, filter.ReasonPolicy},
		{"no text", "chunk", "\xff", event.KindText, kept, kept, filter.ReasonUnreadable},
		{"text where JSON should be", "trace", "x", event.KindOther, kept, kept, filter.ReasonUnreadable},
		{"what the table does not have", "other", "x", event.KindText, kept, kept, filter.ReasonUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &event.Batch{Frame: sse.Frame{Event: []byte(c.typ), Data: []byte(c.data)}, Table: &textTable, Type: c.typ, Agent: "a"}
			var doc strictjson.Doc
			if doc.Parse(b.Frame.Data, 100) == nil {
				b.JSON = doc.Root()
			}
			if e := b.Add(c.fact); c.fact == event.KindText {
				e.SetText(b.Frame.Data)
			}
			for policy, want := range map[event.Policy]string{event.PolicyClient: c.client, event.PolicyPublic: c.public} {
				frame, why := filter.New(filter.Settings{Policy: policy}).Apply(b)
				if string(frame.Data) != want || (why == filter.Passed) != (want != kept) || want != kept && frame.Name != c.typ {
					t.Errorf("%s: %q named %q, %s", policy, frame.Data, frame.Name, why)
				}
				if policy == event.PolicyPublic && why != c.why {
					t.Errorf("public: %s, want %s", why, c.why)
				}
			}
			b.Internal = true
			if _, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(b); why != filter.ReasonInternal {
				t.Errorf("an internal one: %s", why)
			}
		})
	}
	b := &event.Batch{Frame: sse.Frame{Event: []byte("chunk"), Data: []byte("x")}, Table: &textTable, Type: "chunk", Agent: "a"}
	b.Add(event.KindText).SetText(b.Frame.Data)
	for name, s := range map[string]filter.Settings{
		"no text":         {Policy: event.PolicyClient, Exclude: []event.Kind{event.KindText}},
		"of others":       {Policy: event.PolicyPublic, Authors: []string{"b"}},
		"no other fact":   {Policy: event.PolicyPublic, Include: []event.Kind{event.KindArtifact}},
		"a policy of old": {Policy: "old"},
	} {
		if _, why := filter.New(s).Apply(b); why == filter.Passed {
			t.Errorf("%s: the text leaves", name)
		}
	}
}

// TestTextThatMayNotPass checks that a text that may not pass withholds its frame, unless the frame begins or ends a run. Then the frame
// passes without the text. A frame of which a setting excludes the fact of the rule is always withheld.
func TestTextThatMayNotPass(t *testing.T) {
	free := &event.Rule{Fact: event.KindText, Form: event.FormText}
	fixed := &event.Rule{Form: event.FormEnum, AllowedValues: []string{"bye"}}
	const withheld = "withheld"
	for name, c := range map[string]struct {
		rules    event.Type
		settings filter.Settings
		why      filter.Reason // if the frame neither begins nor ends a run
		left     string        // if it does
	}{
		"all may pass":                     {event.Type{Public: free}, filter.Settings{}, filter.Passed, "bye"},
		"text is excluded":                 {event.Type{Public: free}, filter.Settings{Exclude: []event.Kind{event.KindText}}, filter.ReasonSetting, withheld},
		"its author is excluded":           {event.Type{Public: free}, filter.Settings{Authors: []string{"b"}}, filter.ReasonSetting, withheld},
		"its words are excluded":           {event.Type{Public: free, Words: &event.Words{}}, filter.Settings{Authors: []string{"a"}}, filter.ReasonSetting, ""},
		"text without a rule is excluded":  {event.Type{Public: &event.Rule{}}, filter.Settings{Exclude: []event.Kind{event.KindText}}, filter.ReasonSetting, ""},
		"its form is not allowed":          {event.Type{Public: &event.Rule{Fact: event.KindText, Form: event.FormTime}}, filter.Settings{}, filter.ReasonEmpty, ""},
		"another fact is excluded":         {event.Type{Public: free}, filter.Settings{Exclude: []event.Kind{event.KindFinal}}, filter.ReasonSetting, ""},
		"a constant beside excluded facts": {event.Type{Public: fixed}, filter.Settings{Exclude: []event.Kind{event.KindFinal}}, filter.ReasonSetting, "bye"},
		"a constant that is excluded":      {event.Type{Public: &event.Rule{Fact: event.KindText, AllowedValues: []string{"bye"}}}, filter.Settings{Exclude: []event.Kind{event.KindText}}, filter.ReasonSetting, withheld},
		"a replacement that is excluded":   {event.Type{Public: &event.Rule{Fact: event.KindError, Replacement: "failed"}}, filter.Settings{Exclude: []event.Kind{event.KindError}}, filter.ReasonSetting, withheld},
	} {
		for _, boundary := range []event.Kind{event.KindOther, event.KindRunStarted, event.KindRunEnded} {
			c.rules.Text, c.settings.Policy = true, event.PolicyPublic
			table := event.Table{Types: map[string]event.Type{"": c.rules}}
			b := &event.Batch{Frame: sse.Frame{Data: []byte("bye")}, Table: &table, Agent: "a"}
			for _, kind := range []event.Kind{boundary, event.KindText, event.KindFinal} {
				b.Add(kind)
			}
			want, wantWhy := c.left, filter.Passed
			if c.left == withheld || boundary == event.KindOther && c.why != filter.Passed {
				want, wantWhy = "", c.why
			}
			frame, why := filter.New(c.settings).Apply(b)
			if string(frame.Data) != want || why != wantWhy {
				t.Errorf("%s, %s: %q, %q; want %q, %q", name, boundary, frame.Data, why, want, wantWhy)
			}
			if hidden := c.settings.Exclude; why == filter.Passed && len(hidden) > 0 && frame.Kinds&(1<<hidden[0]) != 0 {
				t.Errorf("%s, %s: the frame shows %b", name, boundary, frame.Kinds)
			}
		}
	}
}
