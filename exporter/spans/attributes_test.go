package spans

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Where an attribute can be, besides the operations and the events by their names.
const (
	onServer = "server spans"
	onRun    = "the run's span"
	onLink   = "links"
)

var (
	onAll       = []string{"invoke_workflow", "invoke_agent", "invoke_node", "execute_tool", "chat"}
	onState     = []string{"invoke_agent", "invoke_node"}
	onAgents    = []string{"invoke_agent", "execute_tool", "chat"}
	onProofs    = []string{"invoke_agent", "execute_tool"}
	onTools     = []string{"execute_tool"}
	onChats     = []string{"chat"}
	onRuns      = []string{onRun}
	onLoops     = []string{"invoke_agent", "chat"}
	onUsage     = []string{"chat", onRun}
	onRequests  = []string{onServer}
	onLinks     = []string{onLink}
	onCitations = []string{citationEvent}
	onInputs    = []string{inputEvent}
	onResults   = []string{names.EvaluationEvent}
)

// spanRows are the spans: name, kind, what it is, parent.
var spanRows = [][4]string{
	{"`{http.request.method} {http.route}`", "server", "A run request that a proxy forwards.", "the caller's span, from `traceparent`"},
	{"`invoke_workflow {gen_ai.workflow.name}`", "internal", "A whole run of an application that runs agents and is none itself.", "the server span, if there is one"},
	{"`invoke_agent {gen_ai.agent.name}`", "internal", "What one agent does. The run's own span is the outermost operation, this or `invoke_workflow`.", "the agent or the tool call that it works for, else the run; of the run itself, the server span"},
	{"`invoke_node {name}`", "internal", "A step of a workflow or a graph that is no agent.", "the agent or the workflow that it is a part of"},
	{"`execute_tool {gen_ai.tool.name}`", "internal", "A tool call until its response.", "the agent that called it"},
	{"`chat {gen_ai.response.model}`", "client", "A model's response.", "the agent that asked for it"},
}

// row is what the documentation says of an attribute.
type row struct {
	key     attribute.Key
	kind    attribute.Type
	places  []string
	when    string
	example string
}

// sections are all attributes, in the order of the documentation.
var sections = []struct {
	title, about string
	rows         []row
}{
	{"Operations", "Operation spans are made from the agent's stream. A span whose status is an error has its `error.type` as the description of the status.", []row{
		{names.OperationName, attribute.STRING, onAll, "always", "invoke_agent"},
		{names.AgentName, attribute.STRING, onAgents, "if the stream names the agent: the one that works, or that called the tool or the model", "coordinator"},
		{names.WorkflowName, attribute.STRING, []string{"invoke_workflow"}, "if the request or the stream names the application", "helpdesk"},
		{names.ConversationID, attribute.STRING, onAll, "if the request or the stream names the session", "ctx-1"},
		{names.SessionID, attribute.STRING, onAll, "with `gen_ai.conversation.id`, and the same: some backends group by it", "ctx-1"},
		{names.ErrorType, attribute.STRING, onAll, "if it failed, timed out or was canceled: the code that the stream gives, else `delegraph.failure`", "RESOURCE_EXHAUSTED"},
		{failureClass, attribute.STRING, onAll, "with `error.type`: `tool_error`, `model_error`, `agent_error`, `timeout`, `canceled` or `_other`", "model_error"},
		{runID, attribute.STRING, onAll, "if the stream gives the run an id", "e-923dcd13"},
		{dialectName, attribute.STRING, onAll, "always", "adk"},
		{sourceName, attribute.STRING, onAll, "always; on server spans too", "support"},
		{timingWorth, attribute.STRING, onAll, "always: `observed` by our clock, `reported` by the stream, or `unknown`", "observed"},
		{reasoningSteps, attribute.INT64, onProofs, "if an answer states a reasoning chain: its steps", "3"},
		{statementsDropped, attribute.INT64, onProofs, "if there were more confidences, citations and reasoning chains than an operation keeps", "7"},
		{loopIteration, attribute.INT64, onLoops, "if the stream numbers the rounds of the agent's loop: that of the response, on an agent the last", "2"},
		{loopMessages, attribute.INT64, onLoops, "likewise: messages that the model is given", "12"},
		{loopTools, attribute.INT64, onLoops, "likewise: tools that the model is offered", "4"},
		{reportedIterations, attribute.INT64, []string{"invoke_agent"}, "if the protocol says at the agent's end how many rounds its loop took", "3"},
		{thoughtTypes, attribute.STRINGSLICE, []string{"invoke_agent"}, "if the agent's thoughts have types: each type once, and no text", `["planning", "decision"]`},
		{stateKeys, attribute.STRINGSLICE, onState, "if the agent showed shared state: the names of its members, never a value", `["query", "plan"]`},
		{stateBytes, attribute.INT64, onState, "with `delegraph.state.keys`: its size as JSON", "120"},
	}},
	{"Runs", "These are on the span of the run's outermost operation only.", []row{
		{runStatus, attribute.STRING, onRuns, "always", "completed"},
		{runReason, attribute.STRING, onRuns, "if the run did not complete", "client_left"},
		{clockOffset, attribute.FLOAT64, onRuns, "of a live stream that reports times: the least time of receipt less time reported, in seconds", "0.02"},
		{reportedDuration, attribute.FLOAT64, onRuns, "if the protocol says how long the run took, in seconds", "8.5"},
		{reportedToolCalls, attribute.INT64, onRuns, "if the protocol says how many tool calls there were", "2"},
		{planPending, attribute.INT64, onRuns, "if the run stated a plan: items not begun", "1"},
		{planInProgress, attribute.INT64, onRuns, "with `delegraph.plan.pending`: items under way", "2"},
		{planCompleted, attribute.INT64, onRuns, "with `delegraph.plan.pending`: items done", "3"},
		{planCanceled, attribute.INT64, onRuns, "with `delegraph.plan.pending`: items given up", "0"},
	}},
	{"Model responses", "On a run's span, tokens are those of the whole run.", []row{
		{names.RequestModel, attribute.STRING, onChats, "if the stream says which model is asked", "gemini-2.5-flash"},
		{names.ResponseModel, attribute.STRING, onChats, "if the stream names the model that answered", "gemini-2.5-flash"},
		{names.FinishReasons, attribute.STRINGSLICE, onChats, "if the stream says why the model stopped; `error` if the response failed or was cut before", `["STOP"]`},
		{names.InputTokens, attribute.INT64, onUsage, "if the stream says so; with what came from a cache", "100"},
		{names.OutputTokens, attribute.INT64, onUsage, "if the stream says so; with reasoning", "20"},
		{names.CacheReadTokens, attribute.INT64, onUsage, "if the stream says so; on a run's span, not by the newest conventions", "50"},
		{names.ReasoningTokens, attribute.INT64, onUsage, "if the stream says so", "5"},
		{names.OutputMessages, attribute.STRING, onChats, "with `traces.content: all`: what the model answered, as JSON", `[{"role":"assistant","parts":[{"type":"text","content":"Hi."}]}]`},
		{contentTruncated, attribute.BOOL, []string{"execute_tool", "chat"}, "with `traces.content: all`, if content was cut", "true"},
	}},
	{"Tool calls", "A hand-over is the tool call by which control goes to another agent.", []row{
		{names.ToolName, attribute.STRING, onTools, "if the stream names the tool", "get_weather"},
		{names.ToolCallID, attribute.STRING, onTools, "if the protocol gives calls ids", "call-1"},
		{names.ToolArguments, attribute.STRING, onTools, "with `traces.content: all`, as JSON", `{"city":"Paris"}`},
		{names.ToolResult, attribute.STRING, onTools, "with `traces.content: all`, as JSON", `{"temperature":18}`},
		{names.HandoffSource, attribute.STRING, onTools, "on a hand-over: who gave control away", "coordinator"},
		{names.HandoffTarget, attribute.STRING, onTools, "on a hand-over: who got it", "billing"},
		{toolIsAgent, attribute.BOOL, onTools, "if the configuration names the tool in `agents_as_tools`", "true"},
		{toolProgress, attribute.FLOAT64, onTools, "if the tool reported its progress: the last value, as the stream has it", "0.5"},
		{toolInferred, attribute.BOOL, onTools, "if the protocol has no call ids, so that call and response were joined by name and order", "true"},
	}},
	{"Server spans", "A proxy makes one for each run request. These also have `delegraph.source`, and `error.type` if the status is 500 or more.", []row{
		{"http.request.method", attribute.STRING, onRequests, "always; `_OTHER` for a method that HTTP does not define", "POST"},
		{"http.request.method_original", attribute.STRING, onRequests, "if `http.request.method` is `_OTHER`", "RUN"},
		{"http.route", attribute.STRING, onRequests, "always: the pattern of the path", "/run_sse"},
		{"url.scheme", attribute.STRING, onRequests, "always", "http"},
		{"url.path", attribute.STRING, onRequests, "always", "/run_sse"},
		{"server.address", attribute.STRING, onRequests, "if the request names the host", "agent.example"},
		{"server.port", attribute.INT64, onRequests, "if the request names the port", "8000"},
		{"http.response.status_code", attribute.INT64, onRequests, "if there was an answer", "200"},
	}},
	{"Events", "An operation has at most 128 events; more are in OTLP's `dropped_events_count`. `delegraph.citation` and `gen_ai.evaluation.result` are on the operation whose answer states them, `delegraph.input` is on the run's span.", []row{
		{names.EvaluationName, attribute.STRING, onResults, "always", proofConfidence},
		{names.EvaluationScore, attribute.FLOAT64, onResults, "if the answer states a number, from 0 to 1", "0.92"},
		{names.EvaluationLabel, attribute.STRING, onResults, "if the answer states a word, a range or a score, as written", "high"},
		{confidenceLow, attribute.FLOAT64, onResults, "if the answer states a range, or at least how much", "0.85"},
		{confidenceHigh, attribute.FLOAT64, onResults, "if the answer states a range, or at most how much", "0.9"},
		{names.EvaluationExplanation, attribute.STRING, onResults, "always: where the answer states it", "structured, overall"},
		{citationSource, attribute.STRING, onCitations, "always", "36 CFR 220.6"},
		{citationReference, attribute.STRING, onCitations, "if the answer states one", "2022-09-15"},
		{citationURI, attribute.STRING, onCitations, "if the answer states one", "https://www.ecfr.gov/"},
		{inputKind, attribute.STRING, onInputs, "always", "confirmation"},
		{inputStatus, attribute.STRING, onInputs, "always: `open`, `answered` or `expired`", "answered"},
		{inputID, attribute.STRING, onInputs, "if the protocol gives requests for input ids", "q-1"},
		{inputRouting, attribute.STRING, onInputs, "if the stream says who is to answer", "user"},
		{inputWait, attribute.FLOAT64, onInputs, "if the answer came on the same stream: after how many seconds", "3"},
	}},
	{"Links", "The span of an agent that control was handed to links to the hand-over; the span of a run that answers an earlier run's question links to that run.", []row{
		{linkKind, attribute.STRING, onLinks, "always: `transfer` or `resumes`", "transfer"},
	}},
}

// everything are runs whose spans have all that a span can have.
func everything() (runs []*tracker.Run) {
	r := delegation()
	r.Root.Error, r.Operations[1].Error, r.Operations[4].Error = event.AgentError, event.ModelError, event.FailureTimeout
	r.Usage.CacheRead, r.Usage.Reasoning = counted(50), counted(5)
	r.Operations[1].Details = &tracker.Details{Content: &tracker.Content{Said: []tracker.Part{{Kind: event.KindText}}, Truncated: true}}
	r.Operations[2].Details.Content = &tracker.Content{Arguments: []byte("{}"), Result: []byte("{}"), Truncated: true}
	target := r.Operations[4].Details
	target.ReasoningStep, target.Confidence, target.Citations = counted(1), r.Operations[2].Details.Confidence, r.Operations[2].Details.Citations
	loop := event.Loop{Iteration: counted(2), Messages: counted(12), Tools: counted(4)}
	target.Loop, target.Iterations, target.Thoughts = loop, counted(3), []string{"planning"}
	r.Operations[1].Details.Loop, r.Operations[1].Details.RequestModel = loop, "m"
	r.Operations[2].Details.Progress = event.Progress{Value: 0.5, Known: true}
	target.Dropped, r.Operations[2].Details.Dropped = 7, 7
	workflow := *r
	workflow.Root = &tracker.Operation{
		ID: id(9), Kind: tracker.InvokeWorkflow, Name: "helpdesk", Error: event.AgentError, Started: at(0), Ended: at(9), Timing: tracker.Observed,
	}
	step := &tracker.Operation{
		ID: id(8), Parent: id(9), Kind: tracker.InvokeNode, Name: "tools", Error: event.AgentError, Started: at(0), Ended: at(9), Timing: tracker.Observed,
		Details: &tracker.Details{State: event.State{Keys: []string{"plan"}, Bytes: counted(1)}},
	}
	workflow.Operations = []*tracker.Operation{workflow.Root, step}
	return []*tracker.Run{r, &workflow}
}

// emitted returns the attributes of the spans of everything, each as its type and where it is.
func emitted(t *testing.T) map[string]string {
	t.Helper()
	types, places := map[string]string{}, map[string]map[string]bool{}
	add := func(place string, attributes []attribute.KeyValue) {
		for _, a := range attributes {
			key := string(a.Key)
			if types[key] != "" && types[key] != a.Value.Type().String() {
				t.Errorf("%s is a %s, and a %s", key, types[key], a.Value.Type())
			}
			types[key] = a.Value.Type().String()
			if places[key] == nil {
				places[key] = map[string]bool{}
			}
			places[key][place] = true
		}
	}
	var roots []trace.ReadOnlySpan
	for _, r := range everything() {
		for i, span := range observe(t, r) {
			kind, _, _ := strings.Cut(span.Name(), " ")
			if r.Operations[i] == r.Root {
				roots = append(roots, span)
			} else {
				add(kind, span.Attributes())
			}
			for _, e := range span.Events() {
				add(e.Name, e.Attributes)
			}
			for _, l := range span.Links() {
				add(onLink, l.Attributes)
			}
		}
	}
	// What the run's span alone has is what the agents below it have not, but for the name of a workflow.
	for _, root := range roots {
		kind, _, _ := strings.Cut(root.Name(), " ")
		for _, a := range root.Attributes() {
			place := onRun
			if places[string(a.Key)]["invoke_agent"] || a.Key == names.WorkflowName {
				place = kind
			}
			add(place, []attribute.KeyValue{a})
		}
	}
	got := map[string]string{}
	for key, kind := range types {
		var where []string
		for _, place := range slices.Concat(onAll, slices.Sorted(maps.Keys(places[key]))) {
			if places[key][place] && !slices.Contains(where, place) {
				where = append(where, place)
			}
		}
		got[key] = kind + " on " + strings.Join(where, ", ")
	}
	return got
}
