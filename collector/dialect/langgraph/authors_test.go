package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// by is a message of an author, or of none, with an ID and a text.
func by(author, id, text string) string {
	name := ""
	if author != "" {
		name = `,"name":"` + author + `"`
	}
	return `{"type":"ai","id":"` + id + `"` + name + `,"content":"` + text + `"}`
}

// announcedIn is the announcement of a message of a task.
func announcedIn(id, task string) sent {
	node, _, _ := strings.Cut(task, ":")
	return sent{"messages/metadata", `{"` + id + `":{"metadata":{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + task + `"}}}`}
}

// TestAuthors sends the text of bob where alice is the only author that may be shown.
func TestAuthors(t *testing.T) {
	alice, bob, nameless := by("alice", "m6", "x"), by("bob", "m5", "secret"), by("", "m5", "secret")
	first := sent{"values", `{"messages":[` + userAsks + `]}`}
	piece := func(author string) string {
		return strings.Replace(by(author, "m5", "secret"), `"ai"`, `"AIMessageChunk"`, 1)
	}
	of := func(agent string) string {
		return `,"lc_agent_name":"` + agent + `","langgraph_checkpoint_ns":"model:1"`
	}
	announced := sent{"messages/metadata", `{"m5":{"metadata":{"langgraph_node":"model"` + of("bob") + `}}}`}
	within := sent{"messages|tools:1", `[` + by("", "m4", "") + `,{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:1|model:2","lc_agent_name":"bob"}]`}
	aliceSays := inTuple(by("alice", "m7", ""), of("alice"))
	handoff := `{"type":"ai","id":"m8","name":"alice","content":"","tool_calls":[{"name":"transfer_to_bob","args":{},"id":"c1"}]},` +
		`{"type":"tool","id":"m9","name":"transfer_to_bob","content":"Successfully transferred to bob","tool_call_id":"c1","response_metadata":{"__handoff_destination":"bob"}}`
	readers := []filter.Settings{}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		for _, authors := range [][]string{{"alice"}, {"alice", "user"}} {
			readers = append(readers, filter.Settings{Policy: policy, Authors: authors, Thoughts: event.ThoughtsDetailed})
		}
	}
	for _, stream := range [][]sent{
		{{"updates", `{"model":{"messages":[` + alice + `,` + bob + `]}}`}}, {{"updates", `{"model":{"messages":[` + bob + `,` + alice + `]}}`}},
		{{"updates", `{"n1":{"messages":[` + alice + `]},"n2":{"messages":[` + bob + `]}}`}}, {{"updates", `{"n1":[{"messages":[` + alice + `]},{"messages":[` + bob + `]}]}`}},
		{{"updates", `{"n1":{"messages":` + alice + `},"n2":{"messages":` + bob + `}}`}}, {{"updates", `{"n1":{"messages":[` + alice + `],"log":[{"a":` + bob + `}]}}`}},
		{{"updates", `{"supervisor":{"messages":[` + handoff + `,` + bob + `]}}`}},
		{{"updates", `{"n1":{"messages":[` + alice + `,` + strings.Replace(bob, `"name"`, `"Name"`, 1) + `]}}`}},
		{{"updates", `{"n1":{"messages":[` + alice + `,` + strings.Replace(bob, `"bob"`, `["bob"]`, 1) + `]}}`}},
		{{"updates", `{"n1":{"messages":[` + alice + `,{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"secret","name":"bob"}}]}}`}},
		{{"values", `{"messages":[` + alice + `,` + bob + `]}`}}, {{"values", `{"messages":[` + alice + `],"history":[` + bob + `]}`}},
		{{"messages/complete", `[` + alice + `,` + bob + `]`}}, {inTuple(piece("bob"), of("alice"))}, {inTuple(by("alice", "m5", "secret"), of("bob"))},
		{inTuple(piece(""), of("bob")), {"updates", `{"n1":{"messages":[` + alice + `,` + nameless + `]}}`}},
		{announced, {"messages/partial", `[` + by("alice", "m5", "secret") + `]`}}, {announced, {"updates", `{"n1":{"messages":[` + alice + `,` + nameless + `]}}`}},
		{announced, first, {"values", `{"messages":[` + alice + `,` + nameless + `]}`}},
		{within, {"updates|tools:1", `{"model":{"messages":[` + nameless + `]}}`}, aliceSays, {"updates", `{"n1":{"messages":[` + alice + `,` + nameless + `]}}`}},
		{{"updates", `{"n1":{"messages":[` + bob + `]}}`}, inTuple(piece(""), of("alice"))},
		{{"updates", `{"n1":{"messages":[` + nameless + `]}}`}, {"updates", `{"n2":{"messages":[` + nameless + `]}}`}},        // of an unknown agent
		{{"updates", `{"research":{"messages":[` + alice + `]}}`}, {"updates", `{"writer":{"messages":[` + nameless + `]}}`}}, // of another node
		{{"values", `{"messages":[` + userAsks + `,` + alice + `]}`}, {"values", `{"messages":[` + userAsks + `,` + alice + `,` + nameless + `]}`}},
		{inTuple(by("alice", "m6", "x"), `,"langgraph_checkpoint_ns":"research:1"`), inTuple(piece(""), `,"langgraph_checkpoint_ns":"writer:2"`)},
		{announcedIn("m6", "research:1"), {"messages/complete", `[` + alice + `]`}, announcedIn("m5", "writer:2"), {"messages/partial", `[` + nameless + `]`}},
	} {
		checkStaysIn(t, readers, append([]sent{first}, stream...)...)
	}
	checkStaysIn(t, readers[:2], first, sent{"updates", `{"n1":{"content":"secret"}}`}) // a state of one message
	mixed := sent{"updates", `{"model":{"messages":[{"type":"human","id":"h2","content":"secret"},` + alice + `]}}`}
	checkStaysIn(t, []filter.Settings{readers[0], readers[2]}, first, mixed)
	for _, reader := range readers {
		if out := leaving(reader, first, mixed); !strings.Contains(out, `"x"`) && reader.Policy == event.PolicyPublic {
			t.Errorf("to the public the answer of a listed author does not leave beside the user's words: %s", out)
		}
	}
	for _, one := range []sent{
		{"updates", `{"model":{"messages":[` + by("alice", "m5", "shown") + `]}}`}, inTuple(by("alice", "m5", "shown"), of("alice")), inTuple(by("", "m5", "shown"), of("alice")),
		{"updates", `{"model":{"name":"x","messages":[` + by("alice", "m5", "shown") + `,{"type":"tool","id":"m9","name":"f","content":"","tool_call_id":"c1"}]}}`},
	} {
		for _, reader := range readers {
			if out := leaving(reader, first, one); !strings.Contains(out, "shown") {
				t.Errorf("%s: %v of a listed author does not leave: %s", reader.Policy, one, out)
			}
			reader.Authors = append([]string{"bob"}, reader.Authors...)
			if out := leaving(reader, first, sent{"updates", `{"model":{"messages":[` + alice + `,` + bob + `]}}`}); !strings.Contains(out, "secret") {
				t.Errorf("%s: of two listed authors this leaves: %s", reader.Policy, out)
			}
		}
	}
}

// TestAuthorsBesideData has a listed author's text beside arguments, files and a plan that have content, as deepagents sends them.
func TestAuthorsBesideData(t *testing.T) {
	const (
		todos = `[{"content":"a","status":"pending"}]`
		files = `{"/a.md":{"content":["a"],"created_at":"2026-01-01T00:00:00Z"}}`
	)
	asks := `{"type":"ai","id":"m5","name":"alice","content":"shown","tool_calls":[{"name":"write_todos","args":{"todos":[{"content":"a","name":"b"}]},"id":"c1","type":"tool_call"}]}`
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		reader := filter.Settings{Policy: policy, Authors: []string{"alice", "user"}, Thoughts: event.ThoughtsDetailed}
		for _, more := range []string{"", `,"todos":` + todos, `,"files":` + files} {
			for _, one := range []sent{{"values", `{"messages":[` + asks + `]` + more + `}`}, {"updates", `{"model":{"messages":[` + asks + `]` + more + `}}`}} {
				if out := leaving(reader, sent{"values", `{"messages":[]}`}, one); !strings.Contains(out, "shown") {
					t.Errorf("%s: %v does not leave: %s", policy, one, out)
				}
			}
		}
	}
}

// TestAuthorsOfQuestions has bob ask a question, which the run's own graph repeats, where only alice may be shown.
func TestAuthorsOfQuestions(t *testing.T) {
	speaks := func(namespace, agent string) sent {
		return sent{"messages" + namespace, `[` + by("", "m-"+agent, "") + `,{"langgraph_node":"model","langgraph_checkpoint_ns":"` + strings.TrimPrefix(namespace+"|model:1", "|") + `","lc_agent_name":"` + agent + `"}]`}
	}
	start := []sent{{"values", `{"messages":[` + userAsks + `]}`}, speaks("", "alice"), speaks("|tools:1", "bob"), speaks("|tools:2", "alice")}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		reader := filter.Settings{Policy: policy, Authors: []string{"alice", "user"}, Thoughts: event.ThoughtsDetailed}
		for _, question := range []string{`{"id":"i1","value":"secret"}`, `{"interrupt_id":"i1","value":{"question":"secret"}}`, `{"value":"secret"}`} {
			update := `{"__interrupt__":[` + question + `]}`
			rest := []sent{{"updates", update}, {"values", update}, {"values", `{"messages":[],"__interrupt__":[{"id":"i2","value":"x"},` + question + `]}`}}
			for _, first := range []sent{{"updates|tools:1", update}, {"values|tools:1", update}, {"tasks|tools:1", `{"id":"1","name":"ask","result":{},"interrupts":[` + question + `]}`}, {"updates|tools:1|step:1", update}} {
				checkStaysIn(t, []filter.Settings{reader}, append(append(start[:len(start):len(start)], first), rest...)...)
			}
			checkStaysIn(t, []filter.Settings{reader}, append(start[:len(start):len(start)], sent{"updates", strings.Replace(update, `"value"`, `"ns":["tools:1"],"value"`, 1)})...)
			for _, own := range []sent{{"updates", update}, {"updates|tools:2", update}} {
				stream := append(start[:len(start):len(start)], own, rest[0])
				if out := leaving(reader, stream...); strings.Count(out, "secret") != 2 {
					t.Errorf("%s: a question of a listed agent does not leave: of %v this does\n%s", policy, stream, out)
				}
			}
		}
	}
}
