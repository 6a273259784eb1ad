package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// jsEvent is an event of LangGraph.js, which sends no parent_ids.
func jsEvent(kind, name, run, node string, step int, data string) sent {
	metadata := fmt.Sprintf(`{"langgraph_step":%d,"langgraph_node":%q,"langgraph_path":["__pregel_pull",%[2]q],"langgraph_checkpoint_ns":"%[2]s:t%[1]d"}`, step, node)
	return sent{"events", fmt.Sprintf(`{"event":%q,"data":%s,"name":%q,"run_id":%q,"metadata":%s}`, kind, data, name, run, metadata)}
}

// TestOrdinaryWorkAfterInternalEvents has nodes work after an internal one. Their events repeat its messages, but what they return leaves.
func TestOrdinaryWorkAfterInternalEvents(t *testing.T) {
	const (
		ofInternal = `{"type":"ai","id":"run-b","content":"secret"}`
		written    = `{"type":"ai","id":"w1","content":"written"}`
		input      = `{"messages":[` + userAsks + `,` + ofInternal + `]}`
		answer     = `{"type":"ai","id":"run-c","content":"answer","tool_calls":[{"name":"lookup","args":{},"id":"call_1","type":"tool_call"}]}`
		result     = `{"type":"tool","id":"r1","name":"lookup","tool_call_id":"call_1","content":"found"}`
	)
	piece := func(id, content string) string {
		return fmt.Sprintf(`{"chunk":{"type":"ai","id":%q,"content":%q}}`, id, content)
	}
	of := func(output string) string { return `{"input":` + input + `,"output":` + output + `}` }
	stream := []sent{
		{"values", `{"messages":[` + userAsks + `]}`},
		jsEvent("on_chain_start", "internal_b", "1", "internal_b", 1, `{"input":{"messages":[`+userAsks+`]}}`),
		jsEvent("on_chat_model_stream", "M", "2", "internal_b", 1, piece("run-b", "secret")),
		jsEvent("on_chain_end", "internal_b", "1", "internal_b", 1, `{"output":{"messages":[`+ofInternal+`]}}`),
		updated("internal_b", ofInternal),
		jsEvent("on_chain_start", "c", "3", "c", 2, `{"input":`+input+`}`),
		{"custom", `{"p":"secret"}`},
		jsEvent("on_chat_model_stream", "M", "4", "c", 2, piece("run-c", "ans")),
		jsEvent("on_chat_model_stream", "M", "4", "c", 2, piece("run-c", "wer")),
		jsEvent("on_chat_model_end", "M", "4", "c", 2, of(answer)),
		jsEvent("on_chain_end", "c", "3", "c", 2, of(`{"messages":[`+answer+`,`+strings.Replace(written, `"w1"`, `null`, 1)+`]}`)),
		updated("c", answer+`,`+written),
		jsEvent("on_chain_start", "tools", "5", "tools", 3, `{"input":`+input+`}`),
		{"custom", `{"p":"progress"}`},
		jsEvent("on_tool_start", "lookup", "6", "tools", 3, `{"input":{}}`),
		jsEvent("on_tool_end", "lookup", "6", "tools", 3, of(result)),
		jsEvent("on_chain_end", "tools", "5", "tools", 3, of(`{"messages":[`+result+`]}`)),
		updated("tools", result),
	}
	checkStaysIn(t, []filter.Settings{client, public}, stream...)
	out := leaving(client, stream...)
	for _, want := range []string{`updates {"c":`, `"content":"answer"`, `"content":"written"`, `updates {"tools":`, `"on_tool_start"`, `progress`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s does not leave:\n%s", want, out)
		}
	}
	beside := []sent{stream[0], stream[7], updated("internal_b", ofInternal), {"values", `{"messages":[` + userAsks + `,` + ofInternal + `,` + answer + `]}`}}
	if out := leaving(client, beside...); !strings.Contains(out, `"answer"`) {
		t.Errorf("a message does not leave whose pieces came before an internal one:\n%s", out)
	}
	repeats := jsEvent("on_chain_end", "RunnableLambda", "7", "c", 2, of(`{"messages":[`+ofInternal+`,`+said("")+`]}`))
	checkStaysIn(t, []filter.Settings{client, public}, append(stream[:6:6], repeats, updated("c", said("")))...)
}

// TestResultsInSavedStates has a saved state show results of the next tasks, as LangGraph.js sends them. Those of ordinary tasks leave later.
func TestResultsInSavedStates(t *testing.T) {
	task := func(node, message string) string {
		return `{"id":"` + node + `1","name":"` + node + `","path":[],"interrupts":[],"result":{"messages":[` + message + `]},"error":null}`
	}
	const answer, ofInternal = `{"type":"ai","id":"run-c","content":"answer"}`, `{"type":"ai","id":"run-b","content":"secret"}`
	for name, tasks := range map[string]string{"alone": task("c", answer), "beside an internal task": task("c", answer) + "," + task("internal_d", said(""))} {
		state := `{"values":{"messages":[` + userAsks + `,` + ofInternal + `]},"next":["c"],"tasks":[` + tasks + `]}`
		for _, saved := range []sent{{"checkpoints", state}, {"debug", `{"type":"checkpoint","payload":` + state + `}`}} {
			stream := []sent{{"values", `{"messages":[` + userAsks + `]}`}, updated("internal_b", ofInternal), saved, updated("c", answer), {"values", `{"messages":[` + userAsks + `,` + ofInternal + `,` + answer + `,` + said("") + `]}`}}
			if name == "alone" {
				stream[4] = sent{"values", `{"messages":[` + userAsks + `,` + ofInternal + `,` + answer + `]}`}
			}
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, stream...); strings.Count(out, "answer") != 2 {
				t.Errorf("%s, %s: the answer does not leave:\n%s", name, saved.name, out)
			}
		}
	}
}

// TestCheckpointIDs has LangGraph.js send the ID of a checkpoint before each state. What internal work has written stays in.
func TestCheckpointIDs(t *testing.T) {
	const (
		run      = "run-01a22624-2807-728b-8e52-bae9aba2665c"
		streamed = `{"type":"ai","id":"` + run + `","content":"secret"}`
		written  = `{"type":"ai","id":"` + run + `-out-1","content":"secret","response_metadata":{}}`
		beside   = `{"type":"ai","id":"11b1","content":"secret","response_metadata":{}}`
		asks     = `{"type":"ai","id":"run-m","content":"plan","tool_calls":[{"name":"internal_lookup","args":{},"id":"call_1","type":"tool_call"}]}`
		result   = `{"type":"tool","id":"` + run + `-tool-call_1","name":"internal_lookup","tool_call_id":"call_1","content":"secret"}`
		answer   = `{"type":"ai","id":"run-c","content":"answer","response_metadata":{}}`
	)
	saved := func(step int) sent {
		return sent{"checkpoints", fmt.Sprintf(`{"id":"k%d","parent_id":"k%d","step":%[1]d,"source":"loop"}`, step, step-1)}
	}
	state := func(messages string) sent { return sent{"values", `{"messages":[` + userAsks + messages + `]}`} }
	of := func(message, node string) sent {
		return sent{"messages", `[` + message + `,{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + node + `:t1"}]`}
	}
	whole := func(message string) sent { return sent{"messages/complete", `[` + message + `]`} }
	for name, stream := range map[string][]sent{
		"a node":              {saved(0), state(""), of(streamed, "internal_b"), saved(1), state("," + streamed + "," + beside)},
		"a node's own":        {saved(0), state(""), of(streamed, "internal_b"), of(written, "internal_b"), saved(1), state("," + streamed + "," + written + "," + beside)},
		"a node without IDs":  {saved(0), state(""), of(streamed, "internal_b"), saved(1), state("," + streamed + "," + written)},
		"a tool":              {saved(0), state(""), of(asks, "model"), saved(1), state("," + asks), of(result, "tools"), of(written, "tools"), saved(2), state("," + asks + "," + result + "," + written + "," + beside)},
		"a tool's results":    {saved(0), state(""), of(asks, "model"), saved(1), state("," + asks), of(result, "tools"), saved(2), state("," + asks + "," + result + "," + written + "," + beside)},
		"a tool, in messages": {saved(0), state(""), whole(asks), saved(1), state("," + asks), whole(result), saved(2), state("," + asks + "," + result + "," + written + "," + beside)},
	} {
		t.Run(name, func(t *testing.T) {
			last, _ := strings.CutSuffix(stream[len(stream)-1].data, "]}")
			stream = append(stream, of(answer, "c"), saved(3), sent{"values", last + "," + answer + "]}"})
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, stream...); strings.Count(out, "answer") != 2 || strings.Count(out, `"source":"loop"`) != strings.Count(fmt.Sprint(stream), `"source":"loop"`) {
				t.Errorf("an answer or a checkpoint does not leave:\n%s", out)
			}
		})
	}
}

// TestOpenTasksOfJavaScript has LangGraph.js send an empty list of questions with the start of an internal task. The task is open.
func TestOpenTasksOfJavaScript(t *testing.T) {
	begun, ended := tasksOf("t1", "internal_x", `"result":{},"interrupts":[],"error":null`)
	for i, start := range begun {
		start.data = strings.Replace(start.data, `"triggers":[]`, `"triggers":["branch:to:internal_x"],"interrupts":[]`, 1)
		for _, then := range []sent{
			{"custom", `{"text":"secret"}`}, {"updates", `{"__interrupt__":[{"value":"secret","id":"i1"}]}`}, {"values", `{"__interrupt__":[{"value":"secret","id":"i1"}]}`},
			{"error", `{"error":"ValueError","message":"secret"}`},
		} {
			checkStaysIn(t, []filter.Settings{client, public}, start, then)
			if out := leaving(client, start, ended[i], then); !strings.Contains(out, "secret") {
				t.Errorf("after %v, %v does not leave:\n%s", ended[i], then, out)
			}
		}
	}
}

// TestAgentInJavaScript has an agent call another one in a tool, as LangChain's createAgent does. The metadata has the caller's name, and only the
// response the agent's own one.
func TestAgentInJavaScript(t *testing.T) {
	within := startOf("|tools:T", "2", "model_request", "{}", "boss")
	answered := frame("tasks|tools:T", `{"id":"2","name":"model_request","error":null,"result":{"messages":[`+by("expert", "run-2", "x")+`]},"interrupts":[]}`)
	got := strings.Join(facts(nil, startOf("", "1", "model_request", "{}", "boss"), asksTwice, within, answered), "\n")
	if !strings.Contains(got, `2 tasks agent="boss"`) || !strings.Contains(got, `agent="expert" branch="tools:T"`) {
		t.Errorf("the agents are not named:\n%s", got)
	}
}
