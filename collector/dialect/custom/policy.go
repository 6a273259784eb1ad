package custom

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
)

// newTable lets frames of mapped types out. The public gets the mapped members, without arguments, results, errors, codes, models and tokens.
func (d Dialect) newTable() *event.Table {
	t := &event.Table{Types: map[string]event.Type{}, Named: d.kind == nil, Unnamed: d.kind != nil}
	if len(d.kind) == 1 {
		t.Discriminators = d.kind
	}
	for name, f := range d.frames {
		if !generous.Internal([]byte(name)) {
			t.Types[name] = event.Type{Client: true, Inner: d.hidden, Public: f.public(d.hidden)}
		}
	}
	if d.end != "" && d.kind != nil {
		t.Types[d.end] = event.Type{Client: true, Text: true, Public: &event.Rule{Form: event.FormPlain, Values: []string{d.end}}}
	}
	return t
}

// visible are the rules of the members that the public may see.
var visible = map[string]event.Rule{
	PathType: {}, pathRun: {}, pathSession: {}, pathAgent: {}, pathStatus: {},
	pathName: {}, pathCall: {}, pathTarget: {Fact: event.KindTransfer},
	pathTime:       {Form: event.FormTime},
	pathConfidence: {Fact: event.KindConfidence},
	pathText:       {Form: event.FormText, Fact: event.KindText},
}

// factOf are the facts that names state, by meaning.
var factOf = map[string]event.Kind{"tool_started": event.KindToolStarted, "tool_ended": event.KindToolEnded, "tool_failed": event.KindToolEnded}

func (f *frame) public(hidden []string) *event.Rule {
	root := &event.Rule{Members: map[string]*event.Rule{}}
	if f.means == "thought" {
		root.Fact = event.KindThought
	}
	for of, p := range f.paths {
		rule, shown := visible[of]
		if !shown || slices.Contains(hidden, p[0]) {
			continue
		}
		if of == pathName {
			rule.Fact = factOf[f.means]
		}
		if of == pathText && f.means == "thought" {
			rule.Fact, root.Thought = event.KindThought, []string{p[0]}
		}
		add(root, p, rule)
	}
	return root
}

// add puts a rule where a path leads. Where a path goes on from what another leads to, only what is further in leaves; and where two lead
// to one value, what lets less out holds.
func add(at *event.Rule, p path, rule event.Rule) {
	for _, name := range p[:len(p)-1] {
		next := at.Members[name]
		if next == nil {
			next = &event.Rule{}
			at.Members[name] = next
		}
		if next.Members == nil {
			*next = event.Rule{Members: map[string]*event.Rule{}}
		}
		at = next
	}
	last := p[len(p)-1]
	if there := at.Members[last]; there == nil || there.Members == nil && there.Form == event.FormText {
		at.Members[last] = &rule
	}
}
