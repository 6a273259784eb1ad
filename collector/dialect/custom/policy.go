package custom

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// newTable returns the rules for the external stream. Frames of mapped types leave. Under the policy public,
// only the mapped members in publicMembers leave.
func (d Dialect) newTable() *event.Table {
	isInJSON := d.typePath != nil
	t := &event.Table{Types: map[string]event.Type{}, TypeIsEventName: !isInJSON, IgnoreEventName: isInJSON, KeepEvents: isInJSON}
	if len(d.typePath) == 1 {
		t.Discriminators = d.typePath
	}
	for name, f := range d.frames {
		for _, member := range []string{pathArguments, pathResult} {
			if p := f.paths[member]; p != nil {
				t.FreeMembers = append(t.FreeMembers, p[len(p)-1])
			}
		}
		if !lenient.IsInternal([]byte(name)) {
			t.Types[name] = event.Type{Client: true, InternalMembers: d.hiddenMembers, Public: f.publicRule(d.hiddenMembers)}
		}
	}
	if d.endMarker != "" {
		t.Types[d.endMarker] = event.Type{Client: true, Text: true, Public: &event.Rule{Form: event.FormEnum, AllowedValues: []string{d.endMarker}}}
	}
	return t
}

// publicMembers maps the paths that may leave under the policy public to their rules.
var publicMembers = map[string]event.Rule{
	PathType: {}, pathRun: {}, pathSession: {}, pathAgent: {}, pathStatus: {},
	pathName: {}, pathCall: {Form: event.FormID}, pathTarget: {},
	pathTime:       {Form: event.FormTime},
	pathConfidence: {Fact: event.KindConfidence},
	pathText:       {Form: event.FormText, Fact: event.KindText},
	pathError:      {Form: event.FormEnum, AllowedValues: []string{""}}, // "" and false say that nothing failed
}

// frameFacts maps meanings to the fact that the whole frame states. Other frames state what their members do.
var frameFacts = map[string]event.Kind{
	"run_started": event.KindRunStarted, "run_ended": event.KindRunEnded, "run_failed": event.KindRunEnded,
	"agent_started": event.KindAgentStarted, "agent_ended": event.KindAgentEnded, "agent_failed": event.KindAgentEnded,
	"tool_started": event.KindToolStarted, "tool_progress": event.KindToolProgress, "tool_ended": event.KindToolEnded, "tool_failed": event.KindToolEnded,
	"transfer": event.KindTransfer, "thought": event.KindThought, "model_ended": event.KindModelEnded,
	"input_requested": event.KindInputRequested, "input_answered": event.KindInputAnswered,
}

// failureText returns the JSON that replaces an error under the policy public, such as "the run failed".
func (f *frame) failureText() string {
	what, _, _ := strings.Cut(f.means, "_")
	return `"the ` + what + ` failed"`
}

// publicRule returns the rule for a frame under the policy public. hidden are the names of members that no rule may allow.
func (f *frame) publicRule(hidden []string) *event.Rule {
	root := &event.Rule{Members: map[string]*event.Rule{}, Fact: frameFacts[f.means]}
	for _, name := range slices.Sorted(maps.Keys(f.paths)) {
		p := f.paths[name]
		rule, ok := publicMembers[name]
		if !ok || lenient.MatchesAny([]byte(p[0]), hidden) {
			continue
		}
		switch name {
		case pathName:
			rule.Form = event.FormTool
		case pathError:
			rule.Fallback = f.failureText()
		}
		if name == pathText && f.means == "thought" {
			rule.Fact, root.ThoughtMarkers = event.KindThought, []string{p[0]}
		}
		addRule(root, p, rule)
	}
	return root
}

// addRule adds a rule at a path. If one path is a prefix of another, only the value at the longer one
// leaves. Nothing within an error leaves: an error object of which only a mapped member is left would not look like an error. If two
// paths lead to the same value, the stricter rule applies, with the fact that either states.
func addRule(at *event.Rule, p path, rule event.Rule) {
	for _, name := range p[:len(p)-1] {
		next := at.Members[name]
		if next != nil && next.Fallback != "" {
			return
		}
		if next == nil || next.Members == nil {
			next = &event.Rule{Members: map[string]*event.Rule{}}
			at.Members[name] = next
		}
		at = next
	}
	last := p[len(p)-1]
	switch existing := at.Members[last]; {
	case existing == nil, existing.Members != nil && rule.Fallback != "":
		at.Members[last] = &rule
	case existing.Members == nil:
		if existing.Form == event.FormText {
			existing.Form = rule.Form
		}
		existing.Fact = cmp.Or(existing.Fact, rule.Fact)
	}
}
