package langgraph

import (
	"strings"
	"testing"
)

// ofThread is a piece of a message from a graph with a checkpointer of its own, which an agent works in. task is the task around it.
func ofThread(id, text, task, agent string) sent {
	return sent{"messages|tools", `[{"type":"AIMessageChunk","id":"run-` + id + `","content":"` + text + `","chunk_position":"last"},{"langgraph_node":"model",` +
		`"langgraph_checkpoint_ns":"tools|model:` + id + `","checkpoint_ns":"tools:` + task + `","lc_agent_name":"` + agent + `"}]`}
}

// startedBy is the start of a task of an agent in a graph.
func startedBy(graph, id, agent string) sent {
	return sent{"tasks" + graph, `{"id":"` + id + `","name":"model","input":{},"triggers":[],"metadata":{"lc_agent_name":"` + agent + `"}}`}
}

// executing and executed are the start and the end of a task that executes a call.
func executing(id, call string) sent {
	return sent{"tasks", `{"id":"` + id + `","name":"tools","input":[{"name":"ask","args":{},"id":"` + call + `","type":"tool_call"}],"triggers":[]}`}
}

func executed(id, call string) sent {
	return sent{"tasks", `{"id":"` + id + `","name":"tools","error":null,"result":{"messages":[` + resulting("r"+id, "x", call) + `]},"interrupts":[]}`}
}

func framesOf(stream ...sent) (frames []string) {
	for _, one := range stream {
		frames = append(frames, frame(one.name, one.data))
	}
	return frames
}

func asksTools(ids ...string) sent {
	var all []string
	for _, id := range ids {
		all = append(all, `{"name":"ask","args":{},"id":"`+id+`","type":"tool_call"}`)
	}
	return sent{"updates", `{"model":{"messages":[{"type":"ai","id":"run-` + ids[0] + `","name":"boss","content":"","tool_calls":[` + strings.Join(all, ",") + `]}]}}`}
}

func answers(call string) sent { return updated("tools", resulting("r"+call, "x", call)) }

// TestInvocationsOfThread has tools call graphs whose namespaces have no IDs of tasks. Each invocation is an agent of its own, in its call.
func TestInvocationsOfThread(t *testing.T) {
	spoken := func(graph, agent, id string) sent {
		return sent{"updates|" + graph, `{"model":{"messages":[` + by(agent, "run-"+id, "x") + `]}}`}
	}
	state := func(graph, messages string) sent { return sent{"values" + graph, `{"messages":[` + messages + `]}`} }
	const asked = `{"type":"human","id":"h","content":"x"}`
	for _, c := range []struct {
		name   string
		stream []sent
		want   []string
	}{
		{"metadata", []sent{asksTools("c1"), ofThread("1", "x", "T", "a"), answers("c1"), asksTools("c2"), ofThread("2", "x", "U", "b")},
			[]string{`agent="a" branch="tools:T" within="c1"`, `agent="b" branch="tools:U" within="c2"`}},
		{"metadata, the same agent", []sent{asksTools("c1"), ofThread("1", "x", "T", "a"), answers("c1"), asksTools("c2"), ofThread("2", "x", "U", "a")},
			[]string{`agent="a" branch="tools:T" within="c1"`, `agent="a" branch="tools:U" within="c2"`}},
		{"a state before metadata", []sent{asksTools("c1"), state("|tools", asked), ofThread("1", "x", "T", "a"), answers("c1"), asksTools("c2"), state("|tools", asked), ofThread("2", "x", "U", "b")},
			[]string{`agent="a" branch="tools" within="c1"`, `agent="b" branch="tools#2" within="c2"`}},
		{"tasks", []sent{asksTools("c1"), executing("T", "c1"), startedBy("|tools", "1", "a"), spoken("tools", "a", "1"), executed("T", "c1"), asksTools("c2"), executing("U", "c2"), startedBy("|tools", "2", "b"), spoken("tools", "b", "2")},
			[]string{`agent="a" branch="tools:T" within="c1"`, `agent="b" branch="tools:U" within="c2"`}},
		{"updates", []sent{asksTools("c1"), spoken("tools", "a", "1"), answers("c1"), asksTools("c2"), spoken("tools", "b", "2")},
			[]string{`agent="a" branch="tools" within="c1"`, `agent="b" branch="tools#2" within="c2"`}},
		{"updates, parallel calls", []sent{asksTools("c1", "c2"), spoken("tools", "a", "1"), answers("c1"), spoken("tools", "a", "2")},
			[]string{`agent="a" branch="tools"`, `agent="a" branch="tools"`}},
		{"parallel tasks", []sent{asksTools("c1", "c2"), executing("T", "c1"), executing("U", "c2"), spoken("tools", "a", "1")}, []string{`agent="a" branch="tools"`}},
		{"states", []sent{state("", asked), state("", asked+","+calling("m1", "", "c1")), state("|tools", asked), state("|tools", asked+","+by("a", "run-1", "x")),
			state("", asked+","+calling("m1", "", "c1")+","+resulting("r1", "x", "c1")), state("", asked+","+calling("m2", "", "c2")), state("|tools", asked), state("|tools", by("b", "run-2", "x"))},
			[]string{`agent="a" branch="tools" within="c1"`, `agent="b" branch="tools#2" within="c2"`}},
		{"a graph within", []sent{asksTools("c1"), spoken("tools|a", "a", "1"), answers("c1"), asksTools("c2"), spoken("tools|a", "a", "2")},
			[]string{`agent="a" branch="a" parent="tools"`, `agent="a" branch="a#2" parent="tools#2"`}},
		{"a graph within parallel tasks", []sent{asksTools("c1", "c2"), executing("T", "c1"), executing("U", "c2"),
			{"tasks|tools:T", `{"id":"V","name":"a","input":{},"triggers":[]}`}, {"tasks|tools:U", `{"id":"W","name":"b","input":{},"triggers":[]}`}, spoken("tools|b", "b", "1"), spoken("tools|a", "a", "2")},
			[]string{`agent="b" branch="b:W" parent="tools:U"`, `agent="a" branch="a:V" parent="tools:T"`}},
	} {
		got := strings.Join(facts(nil, framesOf(c.stream...)...), "\n")
		rest := got
		for _, want := range c.want {
			_, after, found := strings.Cut(rest, want)
			if rest = after; !found {
				t.Errorf("%s: there is no %s in\n%s", c.name, want, got)
				break
			}
		}
	}
}

// TestInheritedName has a graph that is a node, so that its metadata names the agent around it.
func TestInheritedName(t *testing.T) {
	tuple := func(namespace, id, agent, text string) sent {
		return sent{"messages|" + namespace, `[{"type":"AIMessageChunk","id":"run-` + id + `","content":"` + text + `","chunk_position":"last"},{"langgraph_node":"model",` +
			`"langgraph_checkpoint_ns":"` + namespace + `|model:` + id + `","lc_agent_name":"` + agent + `"}]`}
	}
	first := []sent{{"tasks", `{"id":"0","name":"model","input":{},"triggers":[],"metadata":{"lc_agent_name":"boss"}}`}, inTuple(by("boss", "run-0", "x"), `,"langgraph_checkpoint_ns":"model:0","lc_agent_name":"boss"`)}
	ended := sent{"tasks|tools:T|a:U", `{"id":"1","name":"model","error":null,"result":{"messages":[` + by("writer", "run-1", "x") + `]},"interrupts":[]}`}
	for _, c := range []struct {
		name   string
		stream []sent
		want   string
	}{
		{"no other name", []sent{tuple("tools:T|a:U", "1", "boss", "x")}, `agent="boss" step="a" branch="a:U"`},
		{"a message names it", []sent{tuple("tools:T|a:U", "1", "boss", "x"), ended, tuple("tools:T|a:U", "2", "boss", "x")}, `agent="writer" branch="a:U"`},
		{"a name of its own", []sent{tuple("tools:T|a:U", "1", "writer", "x")}, `agent="writer" branch="a:U"`},
		{"it calls itself", []sent{tuple("tools:T", "1", "boss", "x")}, `agent="boss" branch="tools:T"`},
	} {
		if got := strings.Join(facts(nil, framesOf(append(first, c.stream...)...)...), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: there is no %s in\n%s", c.name, c.want, got)
		}
	}
}

// TestAgentInTwoNodes uses one agent in two nodes of the run's own graph. It is not the run's own agent.
func TestAgentInTwoNodes(t *testing.T) {
	lines := facts(nil, speaks("draft:T", "a", "1"), frame("updates", `{"draft":null}`), speaks("revise:U", "a", "2"))
	if got := strings.Join(lines, "\n"); !strings.Contains(got, `agent="a" branch="revise:U" may be root parallel`) {
		t.Errorf("the second is the first:\n%s", got)
	}
}
