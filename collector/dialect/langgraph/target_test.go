package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// handsOver returns a model's call of an agent that hands control to another, and the result.
func handsOver(from, to string, n int) string {
	return fmt.Sprintf(`{"type":"ai","id":"lc_run--h%d","name":"%s","content":"","tool_calls":[{"name":"transfer_to_%s","id":"h%[1]d","args":{}}]},`+
		`{"type":"tool","id":"t%[1]d","name":"transfer_to_%[3]s","tool_call_id":"h%[1]d","content":"","response_metadata":{"__handoff_destination":"%[3]s"}}`, n, from, to)
}

// returnsTo returns the messages with which a supervisor's node gives control back.
func returnsTo(from, to string, n int) string {
	return fmt.Sprintf(`{"type":"ai","id":"u%d","name":"%s","content":"","tool_calls":[{"name":"transfer_back_to_%s","id":"b%[1]d","args":{}}],"response_metadata":{"__is_handoff_back":true}},`+
		`{"type":"tool","id":"v%[1]d","name":"transfer_back_to_%[3]s","tool_call_id":"b%[1]d","content":"","response_metadata":{"__is_handoff_back":true}}`, n, from, to)
}

func update(node, messages string) string {
	return frame("updates", `{"`+node+`":{"messages":[`+messages+`]}}`)
}

// isNoPlace reports whether a line of facts neither names a speaker nor states a transfer or an end.
func isNoPlace(line string) bool {
	return !strings.Contains(line, " branch=") && !strings.HasPrefix(line, "transfer") && line != "agent_ended"
}

// TestTargetsAreAgents checks that a node to which control was transferred is an agent, although its graph does not name one.
func TestTargetsAreAgents(t *testing.T) {
	moved := update("boss", handsOver("boss", "expert", 1))
	piece := func(namespace string) string {
		return frame("messages|"+namespace, `[{"type":"AIMessageChunk","id":"lc_run--2","content":"x","chunk_position":"last"},{"langgraph_checkpoint_ns":"`+namespace+`|agent:3"}]`)
	}
	named := func(namespace, agent string) string {
		return strings.ReplaceAll(piece(namespace), `agent:3"`, `agent:3","lc_agent_name":"`+agent+`"`)
	}
	inTeam := frame("updates|team:1|boss:2", `{"agent":{"messages":[`+handsOver("boss", "expert", 1)+`]}}`)
	tool := frame("events", `{"event":"on_tool_end","name":"go","metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"boss:1|tools:2"},"data":{"output":{"graph":"__parent__","update":{"messages":[`+handsOver("boss", "expert", 1)+`]}}}}`)
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"a target":                       {[]string{moved, piece("expert:2")}, `agent="expert" branch="expert:2"`},
		"a target in a state":            {[]string{frame("values", `{"messages":[]}`), frame("values", `{"messages":[`+handsOver("boss", "expert", 1)+`]}`), piece("expert:2")}, `agent="expert" branch="expert:2"`},
		"a target in an event":           {[]string{tool, piece("expert:2")}, `agent="expert" branch="expert:2"`},
		"a target that names itself":     {[]string{moved, named("expert:2", "expert")}, `agent="expert" branch="expert:2"`},
		"a target of another name":       {[]string{moved, named("expert:2", "other")}, `agent="other" branch="expert:2"`},
		"another node":                   {[]string{moved, piece("writer:2")}, `step="writer" branch="writer:2"`},
		"a node of the name, within one": {[]string{moved, piece("team:1|expert:2")}, `step="expert" branch="expert:2"`},
		"a target in another graph":      {[]string{inTeam, piece("expert:2")}, `step="expert" branch="expert:2"`},
		"a target in the same graph":     {[]string{inTeam, piece("team:1|expert:2")}, `agent="expert" branch="expert:2"`},
	} {
		lines := slices.DeleteFunc(facts(nil, c.frames...), isNoPlace)
		last := lines[len(lines)-1]
		if !strings.Contains(last, c.want) {
			t.Errorf("%s: want %s in %q", name, c.want, lines)
		}
	}
}

// TestTeams has an agent whose graph has no frames work for a team to which control was transferred.
func TestTeams(t *testing.T) {
	boss, again := handsOver("boss", "team", 1), handsOver("boss", "team", 2)
	lead := func(n string) string { return by("lead", "run-"+n, "x") }
	state := func(messages ...string) string {
		return frame("values", `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	inTask := func(messages string) (all []string) {
		for _, m := range strings.Split(strings.ReplaceAll(messages, `,{"type"`, "\n"+`{"type"`), "\n") {
			all = append(all, frame("messages", `[`+m+`,{"langgraph_checkpoint_ns":"team:1"}]`))
		}
		return all
	}
	back := returnsTo("team", "boss", 1)
	for name, c := range map[string]struct{ frames, want []string }{
		"updates": {
			[]string{update("boss", boss), update("team", lead("3")+","+back), update("boss", boss+","+back+","+by("boss", "run-4", "y"))},
			[]string{`2 updates agent="boss" branch="boss" may be root`, `transfer name="team" call="h1"`, `3 updates agent="lead" branch="lead" parent="team" around="team"`, `4 updates agent="boss" branch="boss" may be root`},
		},
		"values": {
			[]string{state(), state(boss), state(boss, lead("3"), back), state(boss, lead("3"), back, by("boss", "run-4", "y"))},
			[]string{`transfer name="team" call="h1"`, `4 values agent="lead" branch="lead" parent="team" around="team"`},
		},
		"twice": {
			[]string{update("boss", boss), update("team", lead("3")), update("boss", again), update("team", lead("4"))},
			[]string{`2 updates agent="boss" branch="boss" may be root`, `transfer name="team" call="h1"`, `3 updates agent="lead" branch="lead" parent="team" around="team"`,
				`4 updates agent="boss" branch="boss" may be root`, `transfer name="team" call="h2"`, `5 updates agent="lead" branch="lead:2" parent="team:2" around="team:2"`},
		},
		"values, twice": {
			[]string{state(), state(boss), state(boss, lead("3")), state(boss, lead("3"), again), state(boss, lead("3"), again, lead("4"))},
			[]string{`transfer name="team" call="h1"`, `4 values agent="lead" branch="lead" parent="team" around="team"`, `transfer name="team" call="h2"`, `6 values agent="lead" branch="lead:2" parent="team:2" around="team:2"`},
		},
		"values, two targets at once": {
			[]string{state(), state(boss, handsOver("boss", "expert", 2)), state(boss, handsOver("boss", "expert", 2), lead("3"))},
			[]string{`transfer name="team" call="h1"`, `transfer name="expert" call="h2"`},
		},
		"messages-tuple": {
			append([]string{update("boss", boss)}, append(inTask(handsOver("lead", "expert", 2)), append(inTask(by("expert", "run-5", "x")+","+returnsTo("expert", "lead", 3)), inTask(lead("6")+","+back)...)...)...),
			[]string{
				`2 updates agent="boss" branch="boss" may be root`, `transfer name="team" call="h1"`,
				`3 messages agent="lead" branch="lead:1" parent="team:1" around="team:1"`,
				`4 messages agent="lead" branch="lead:1" parent="team:1" around="team:1"`, `transfer name="expert" call="h2"`,
				`5 messages agent="expert" branch="expert:1" parent="team:1" around="team:1"`,
				`7 messages agent="expert" branch="expert:1" parent="team:1" around="team:1"`, `transfer name="lead" call="b3"`,
				`8 messages agent="lead" branch="lead:1" parent="team:1" around="team:1"`,
				`10 messages agent="team" branch="team:1"`, `transfer name="boss" call="b1"`,
			},
		},
	} {
		got := slices.DeleteFunc(facts(nil, c.frames...), isNoPlace)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRepeatedTargets checks that an agent to which control is transferred again works in another place than before, and that an
// agent that gets control back does not.
func TestRepeatedTargets(t *testing.T) {
	first, second := handsOver("boss", "expert", 1), handsOver("boss", "expert", 2)
	want := []string{
		`2 updates agent="boss" branch="boss" may be root`, `transfer name="expert" call="h1"`,
		`3 updates agent="expert" branch="expert" may be root`, `transfer name="boss" call="b1"`,
		`4 updates agent="boss" branch="boss" may be root`, `transfer name="expert" call="h2"`,
		`5 updates agent="expert" branch="expert:2" may be root`, `transfer name="boss" call="b2"`,
		`6 updates agent="boss" branch="boss" may be root`,
	}
	got := slices.DeleteFunc(facts(nil,
		update("boss", first), update("expert", by("expert", "run-3", "x")+","+returnsTo("expert", "boss", 1)),
		update("boss", second), update("expert", by("expert", "run-4", "x")+","+returnsTo("expert", "boss", 2)),
		update("boss", by("boss", "run-5", "x"))), isNoPlace)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
