package filter_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCutParts checks that a part that the decoder cuts, or that is for models only, leaves under no policy, wherever it is.
func TestCutParts(t *testing.T) {
	anything := &event.Rule{AllowAny: true, Fact: event.KindArtifact}
	list := event.Type{Client: true, Public: anything, Messages: &event.Messages{ListMember: "messages", RoleMember: "role"}}
	whole := event.Type{Client: true, Public: anything}
	table := event.Type{Client: true, Public: &event.Rule{AnyMember: anything}}
	state := event.Type{Client: true, Public: &event.Rule{State: true, Fact: event.KindState}}
	for name, c := range map[string]struct {
		rules event.Type
		sent  string
		cut   func(strictjson.Value) strictjson.Value // nil: nothing
		left  string                                  // "": nothing
	}{
		"the frame":                 {whole, `{"a":"secret"}`, func(v strictjson.Value) strictjson.Value { return v }, ""},
		"a frame that is no object": {whole, `["secret"]`, func(v strictjson.Value) strictjson.Value { return v }, ""},
		"a member":                  {whole, `{"a":"secret","b":1}`, func(v strictjson.Value) strictjson.Value { return v.Get("a") }, `{"b":1}`},
		"the list of messages":      {list, `{"messages":[{"role":"a","content":"secret"}],"b":1}`, func(v strictjson.Value) strictjson.Value { return v.Get("messages") }, `{"b":1}`},
		"a frame for models":        {whole, `{"role":"system","content":"secret"}`, nil, ""},
		"a member for models":       {whole, `{"v":{"For_Models":["secret"],"z":1}}`, nil, `{"v":{"z":1}}`},
		"a member of any name":      {table, `{"for_models":["secret"],"z":[1]}`, nil, `{"z":[1]}`},
		"a key of the state":        {state, `{"for_models":["secret"],"z":1}`, nil, `{"z":1}`},
		"a list for models":         {list, `{"messages":[{"role":"a","for_models":"secret","z":1}]}`, nil, `{"messages":[{"role":"a","z":1}]}`},
	} {
		c.rules.AnyJSON = true
		t.Run(name, func(t *testing.T) {
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				var doc strictjson.Doc
				if err := doc.Parse([]byte(c.sent), depthLimit); err != nil {
					t.Fatal(err)
				}
				rules := event.Table{
					Types:        map[string]event.Type{"": c.rules},
					Instructions: &event.Instructions{Roles: []string{"system"}, Members: []string{"for_models"}},
				}
				b := &event.Batch{Table: &rules, JSON: doc.Root()}
				b.Frame.Data = []byte(c.sent)
				if c.cut != nil {
					b.Cut(c.cut(b.JSON))
				}
				frame, why := filter.New(filter.Settings{Policy: policy, StateKeys: []string{"for_models", "z"}}).Apply(b)
				if string(frame.Data) != c.left || (why == filter.Passed) != (c.left != "") {
					t.Errorf("%s: %q leaves (%s), want %q", policy, frame.Data, why, c.left)
				}
			}
		})
	}
}

// TestInternalMessages checks that the client gets the list of messages without those with an internal role.
func TestInternalMessages(t *testing.T) {
	rules := event.Table{Types: map[string]event.Type{"": {Client: true, Messages: &event.Messages{ListMember: "messages", RoleMember: "role", InternalRoles: []string{"system"}}}}}
	const sent, left = `{"messages":[{"role":"system"},{"role":"a"}],"b":{"messages":[]}}`, `{"messages":[{"role":"a"}],"b":{"messages":[]}}`
	var doc strictjson.Doc
	if err := doc.Parse([]byte(sent), depthLimit); err != nil {
		t.Fatal(err)
	}
	b := &event.Batch{Table: &rules, JSON: doc.Root()}
	b.Frame.Data = []byte(sent)
	if frame, why := filter.New(filter.Settings{Policy: event.PolicyClient}).Apply(b); string(frame.Data) != left {
		t.Errorf("%q leaves (%s), want %q", frame.Data, why, left)
	}
}

// TestTypesOfParts checks that the public gets only parts of the types that a rule lists.
func TestTypesOfParts(t *testing.T) {
	part := &event.Rule{Fact: event.KindText, Members: map[string]*event.Rule{"type": {}, "text": {Form: event.FormText}}}
	allowed, byType := *part, event.Rule{ByType: map[string]*event.Rule{"a": part}}
	allowed.AllowedTypes = []string{"a"}
	for name, rule := range map[string]*event.Rule{"allowed": &allowed, "by type": &byType} {
		rules := event.Table{Discriminators: []string{"type"}, Types: map[string]event.Type{"": {AnyJSON: true, Public: &event.Rule{Elements: rule}}, "a": {}, "b": {}}}
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`[{"type":"a","text":"left"},{"type":"b","text":"secret"},"secret"]`), depthLimit); err != nil {
			t.Fatal(err)
		}
		b := &event.Batch{Table: &rules, JSON: doc.Root()}
		b.Add(event.KindText)
		if frame, why := filter.New(filter.Settings{Policy: event.PolicyPublic}).Apply(b); string(frame.Data) != `[{"type":"a","text":"left"}]` {
			t.Errorf("%s: %q leaves (%s)", name, frame.Data, why)
		}
	}
}
