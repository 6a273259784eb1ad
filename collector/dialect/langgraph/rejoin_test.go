package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	threadID = "0b0b1111-1111-1111-1111-11111111111A"
	joinedID = "22222222-2222-2222-2222-222222222222"
	begin    = `{"run_id":"` + joinedID + `","attempt":1}`
	nextRun  = `{"run_id":"33333333-2222-2222-2222-222222222222","attempt":1}`
	userAsks = `{"type":"human","id":"h","content":"question"}`
)

// inThread is the identity of a request for a thread, in a spelling.
func inThread(thread, joined string) event.Identity {
	return event.Identity{Session: thread, JoinedRun: joined, ReplayedRun: joined}
}

// later are the streams on which a client may get what an earlier stream withheld.
var later = map[string]event.Identity{
	"rejoin":            inThread(threadID, joinedID),
	"another spelling":  inThread("{"+strings.ToUpper(strings.ReplaceAll(threadID, "-", ""))+"}", joinedID),
	"stream of threads": {Session: threadID, JoinedSession: threadID},
}

// secretsOf are the frames that contain a secret in a message with an id.
func secretsOf(id string) [][]sent {
	message := strings.Replace(wholeX, "m1", id, 1)
	state := `{"messages":[` + userAsks + `,` + message + `]}`
	return [][]sent{
		{{"values", state}}, {{"values", `{"messages":[` + userAsks + `]}`}, {"values", state}},
		{{"updates", `{"agent":{"messages":[` + message + `]}}`}},
		{fromServer(strings.Replace(pieceX, "m1", id, 1), "agent")},
		{{"messages/partial", `[` + message + `]`}}, {{"messages/complete", `[` + message + `]`}},
		{{"metadata", nextRun}, {"values", state}},
		{{"checkpoints", `{"values":` + state + `}`}}, {{"tasks", `{"id":"1","name":"a","input":` + state + `,"triggers":[]}`}},
		{{"tasks", `{"id":"1","name":"a","result":` + state + `,"interrupts":[]}`}},
		{{"values|a:1", state}}, {{"custom", `{"m":` + message + `}`}},
		ofRun("events", "on_chain_start", message),
	}
}

func ofRun(mode, kind, message string) []sent {
	return []sent{{mode, `{"event":"` + kind + `","name":"a","run_id":"r9","parent_ids":[],"data":{"input":{"messages":[` + message + `]}},"metadata":{}}`}}
}

// TestOtherStreams withholds a message on one stream and repeats it on another.
func TestOtherStreams(t *testing.T) {
	for _, id := range []string{"m1", "lc_run--44444444-2222-2222-2222-222222222222-0"} {
		whole, piece := strings.Replace(wholeX, "m1", id, 1), strings.Replace(pieceX, "m1", id, 1)
		for name, first := range map[string][]sent{
			"announced":    {{"messages/metadata", `{"` + id + `":{"metadata":{"langgraph_node":"internal_x"}}}`}},
			"tuple":        {fromServer(piece, "internal_x")},
			"update":       {{"updates", `{"internal_x":{"messages":[` + whole + `]}}`}},
			"updates":      {{"values", `{"messages":[` + userAsks + `]}`}, {"updates", `{"internal_x":{"messages":[` + userAsks + `,` + whole + `]}}`}},
			"list":         {{"updates", `{"internal_x":{"messages":[` + userAsks + `,` + whole + `,{"type":"ai","id":"m7","content":"x"}]}}`}},
			"user":         {{"values", `{"messages":[` + userAsks + `]}`}, {"updates", `{"internal_x":{"messages":[` + strings.Replace(whole, "ai", "human", 1) + `]}}`}},
			"user's tuple": {fromServer(strings.Replace(whole, "ai", "human", 1), "internal_x")},
			"named":        {{"values", `{"messages":[` + userAsks + `,` + strings.Replace(whole, "{", `{"name":"internal_x",`, 1) + `]}`}},
			"task":         {{"tasks", `{"id":"1","name":"internal_x","result":{"messages":[` + whole + `]},"interrupts":[]}`}},
			"debug":        {{"debug", `{"type":"task_result","step":1,"payload":{"id":"1","name":"internal_x","result":{"messages":[` + whole + `]}}}`}},
			"event":        {{"events", `{"event":"on_chat_model_stream","name":"m","data":{"chunk":` + piece + `},"metadata":{"langgraph_node":"internal_x"}}`}},
			"graph":        {{"values", `{"messages":[` + userAsks + `]}`}, {"values|internal_x:1", `{"messages":[` + userAsks + `,` + whole + `]}`}},
			"saved graph":  {saved("", `"internal_x"`, `{"messages":[`+userAsks+`]}`), saved("|internal_x:1", ``, `{"messages":[`+userAsks+`,`+whole+`]}`)},
			"call, result": {{"updates", `{"internal_x":{"messages":[{"type":"ai","id":"m0","content":"","tool_calls":[{"id":"c1","name":"f","args":{}}]}]}}`}, {"updates", `{"tools":{"messages":[{"type":"tool","id":"` + id + `","tool_call_id":"c1","content":""}]}}`}},
		} {
			for _, reader := range []filter.Settings{client, public} {
				for place, identity := range later {
					for _, stream := range secretsOf(id) {
						memory := new(event.Withheld)
						leavingOf(reader, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, append([]sent{{"metadata", begin}}, first...)...)
						if out := leavingOf(reader, &event.Stream{Identity: identity, Withheld: memory}, stream...); strings.Contains(out, "secret") {
							t.Errorf("%s, %s, %s, message %s: of %v this leaves:\n%s", reader.Policy, name, place, id, stream, out)
						}
					}
				}
			}
		}
	}
}

// TestOtherRuns checks that a run without a thread shares what it withheld with a stream that joins it in a thread.
func TestOtherRuns(t *testing.T) {
	memory := new(event.Withheld)
	leavingOf(client, &event.Stream{Withheld: memory}, sent{"metadata", begin}, fromServer(pieceX, "internal_x"))
	stream := []sent{{"metadata", begin}, {"values", `{"messages":[` + wholeX + `]}`}}
	if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, stream...); strings.Contains(out, "secret") {
		t.Errorf("a run that is joined in a thread repeats what it withheld: %s", out)
	}
	if out := leavingOf(client, &event.Stream{Identity: inThread("another", ""), Withheld: memory}, sent{"metadata", nextRun}, stream[1]); !strings.Contains(out, "secret") {
		t.Errorf("an ID of another thread is withheld: %s", out)
	}
}

// TestOtherMarks shares the marks of thoughts, of runs within internal ones, of questions, calls and graphs.
func TestOtherMarks(t *testing.T) {
	const run, graph = "55555555-2222-2222-2222-222222222222", "tools:66666666-2222-2222-2222-222222222222"
	asking := sent{"updates", `{"__interrupt__":[{"id":"i1","value":{"action_requests":[{"name":"w","args":{"q":"secret"}}]}}]}`}
	within := sent{"values|" + graph, `{"messages":[{"type":"human","id":"h2","content":"secret"}]}`}
	call := sent{"updates", `{"internal_x":{"messages":[{"type":"ai","id":"m2","content":"","tool_calls":[{"id":"c2","name":"task","args":{"subagent_type":"a"}}]}]}}`}
	for _, test := range []struct {
		first []sent
		then  sent
	}{
		{[]sent{{"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"a","thought":true}}}`}}, sent{"messages/partial", `[` + wholeX + `]`}},
		{[]sent{ofEvents("on_chain_start", "internal_x", `{}`, `,"run_id":"`+run+`","parent_ids":[]`)}, ofEvents("on_chain_end", "b", `{"output":"secret"}`, `,"run_id":"r3","parent_ids":["`+run+`"]`)},
		{[]sent{asked}, asking},
		{[]sent{{"tasks", `{"id":"1","name":"internal_x","result":{},"interrupts":[{"id":"i1","value":"secret"}]}`}}, sent{"updates", `{"__interrupt__":[{"id":"i1","value":"secret"}]}`}},
		{[]sent{call, within, {"updates", `{"tools":{"messages":[{"type":"tool","id":"m3","tool_call_id":"c2","content":""}]}}`}}, within},
	} {
		for _, reader := range []filter.Settings{withoutThoughts, public} {
			memory := new(event.Withheld)
			leavingOf(reader, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, append([]sent{{"metadata", begin}}, test.first...)...)
			if out := leavingOf(reader, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, test.then); strings.Contains(out, "secret") {
				t.Errorf("%s: after %v on another stream this leaves: %s", reader.Policy, test.first, out)
			}
		}
	}
}

// TestHistoryLeaves shows an internal node messages of earlier runs on a stream that has not shown them. Other streams
// go on with them.
func TestHistoryLeaves(t *testing.T) {
	earlier := `{"type":"ai","id":"m8","content":"shown"}`
	list := `{"messages":[` + userAsks + `,` + earlier + `,{"type":"human","id":"h2","content":"again"}]}`
	latest := `{"messages":[` + userAsks + `,` + earlier + `]}`
	for _, first := range [][]sent{
		{saved("|internal_x:1", ``, list)}, {saved("|internal_x:1", ``, latest)}, {saved("", `"a"`, `{"messages":[`+userAsks+`]}`), saved("", `"internal_x"`, latest), saved("|internal_x:1", ``, latest)},
		{{"tasks", `{"id":"1","name":"internal_x","input":` + list + `,"triggers":[]}`}},
		{{"tasks", `{"id":"1","name":"internal_x","result":` + list + `,"interrupts":[]}`}},
		{{"updates", `{"internal_x":` + list + `}`}}, {{"values|internal_x:1", list}},
		{{"debug", `{"type":"checkpoint","step":1,"payload":{"next":["internal_x"],"values":` + list + `}}`}},
		{{"updates", `{"internal_x":{"messages":[{"type":"remove","id":"m8","content":""}]}}`}},
		{{"updates", `{"a":{"messages":[{"type":"system","id":"s","content":"x"},` + earlier + `]}}`}},
	} {
		memory := new(event.Withheld)
		leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, append([]sent{{"metadata", begin}}, first...)...)
		out := leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", nextRun}, sent{"values", list})
		if !strings.Contains(out, "shown") {
			t.Errorf("after %v the next run does not show its history: %s", first, out)
		}
	}
}

// TestUnnamed withholds a message without an ID. The state has it with an ID.
func TestUnnamed(t *testing.T) {
	const text = `"content":"secret"`
	for _, message := range []string{
		`{"type":"ai",` + text + `,"id":null}`, `{"type":"ai",` + text + `}`, `{"role":"assistant",` + text + `}`, `{"type":"human",` + text + `,"id":null}`, `["ai","secret"]`, `"secret"`,
		`{"type":"ai","content":[{"type":"text","text":"secret"}]}`, `{"type":"ai","content":[{"type":"text","text":"sec"},"ret"]}`, `{"type":"ai","content_blocks":[{"type":"text","text":"secret"}],"content":[]}`,
		`{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"secret"}}`,
	} {
		for _, first := range []sent{
			{"updates", `{"internal_x":{"messages":[` + message + `]}}`}, {"updates|a:1", `{"internal_x":[{"messages":` + message + `}]}`},
			{"tasks", `{"id":"1","name":"internal_x","result":{"messages":[` + message + `]},"interrupts":[]}`},
			ofEvents("on_chain_end", "internal_x", `{"output":{"messages":[`+message+`]}}`, ""),
		} {
			state := `{"messages":[` + userAsks + `,{"type":"ai","id":"u1",` + text + `}]}`
			blocks := strings.Replace(state, `"content":"secret"`, `"content":[{"type":"text","text":"secret"},{"type":"text","text":""}]`, 1)
			whole := strings.Replace(state, `"content":"secret"`, `"content":[" secret\n"]`, 1)
			for _, then := range []sent{{"values", state}, {"values", blocks}, {"values", whole}, {"checkpoints", `{"values":` + state + `}`}, {"updates", `{"a":` + state + `}`}, {"values", `{"draft":{"type":"ai",` + text + `,"id":null}}`}} {
				checkStaysIn(t, []filter.Settings{client, public}, first, then, then)
				memory := new(event.Withheld)
				leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", begin}, first)
				for range 2 {
					if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, then); strings.Contains(out, "secret") {
						t.Errorf("after %v on another stream this leaves: %s", first, out)
					}
				}
			}
		}
	}
}

// TestSameText lets other messages have the text of a withheld one without an ID.
func TestSameText(t *testing.T) {
	internal := sent{"updates", `{"internal_x":{"messages":[{"type":"ai","content":"shown","id":null}]}}`}
	state := sent{"values", `{"messages":[` + userAsks + `,{"type":"ai","id":"u1","content":"shown"}]}`}
	again := strings.Replace(state.data, "]}", `,{"type":"ai","id":"u2","content":"shown"}]}`, 1)
	for _, stream := range [][]sent{
		{internal, state, {"values", again}}, // the first state has the withheld message
		{internal, {"updates", `{"a":{"messages":[{"type":"ai","id":"u2","content":"shown"}]}}`}},
		{internal, fromServer(`{"type":"ai","id":"u2","content":"shown"}`, "a")},
		{{"values", again}, internal, {"values", again}},
	} {
		out := leaving(client, stream...)
		if !strings.Contains(out, "u2") {
			t.Errorf("of %v another message with the same text does not leave: %s", stream, out)
		}
	}
}

// TestSameRun checks that runs of one name share nothing: a name is no UUID.
func TestSameRun(t *testing.T) {
	memory, same := new(event.Withheld), sent{"metadata", `{"run_id":"r1","attempt":1}`}
	leavingOf(client, &event.Stream{Withheld: memory}, same, fromServer(pieceX, "internal_x"))
	if out := leavingOf(client, &event.Stream{Withheld: memory}, same, fromServer(pieceX, "a")); !strings.Contains(out, "secret") {
		t.Errorf("a message of another run is withheld: %s", out)
	}
}

// TestPublicRepeats repeats answers that left before, or on another stream, to the public: never with their text removed.
func TestPublicRepeats(t *testing.T) {
	answer := `{"type":"ai","id":"lc_run--2","content":"shown"}`
	list := `{"messages":[` + userAsks + `,` + answer + `,` + wholeX + `]}`
	for _, repeat := range []sent{
		{"values", list}, {"values|a:1", list}, {"updates", `{"a":` + list + `}`}, {"messages/complete", `[` + answer + `]`}, {"messages/partial", `[` + answer + `]`}, fromServer(answer, "a"),
	} {
		memory := new(event.Withheld)
		leavingOf(public, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", begin}, fromServer(pieceX, "internal_x"))
		out := leavingOf(public, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, sent{"values", list}, repeat)
		if strings.Count(out, "shown") != 2 || strings.Contains(out, "secret") || strings.Contains(out, "question") || strings.Contains(out, `"lc_run--2","content":""`) {
			t.Errorf("of a state and %v this leaves: %s", repeat, out)
		}
		one := filter.Settings{Policy: event.PolicyPublic, Authors: []string{"writer"}}
		if out := leavingOf(one, &event.Stream{}, sent{"values", list}, repeat); strings.Contains(out, "shown") {
			t.Errorf("of a state and %v the text of an unknown author leaves: %s", repeat, out)
		}
	}
	if got := facts(&event.Stream{}, frame("values", list)); strings.Contains(strings.Join(got, " "), "text") {
		t.Errorf("the text of an earlier run counts again: %q", got)
	}
}
