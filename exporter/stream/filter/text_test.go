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
