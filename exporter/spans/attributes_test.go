package spans

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Places of attributes other than operations and events, which have their names.
const (
	onServer = "server spans"
	onRun    = "the run's span"
	onLink   = "links"
)

var (
	onAll       = []string{"invoke_workflow", "invoke_agent", "invoke_node", "execute_tool", "chat"}
	onState     = []string{"invoke_agent", "invoke_node"}
	onTook      = []string{"invoke_workflow", "invoke_agent", "invoke_node", "execute_tool"}
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

// spanRows lists the spans: name, kind, description, parent.
var spanRows = [][4]string{
	{"`{http.request.method} {http.route}`", "server", "a run request to a proxy", "the caller's span (`traceparent`)"},
	{"`invoke_workflow {gen_ai.workflow.name}`", "internal", "a run of an application that is no agent", "the request"},
	{"`invoke_agent {gen_ai.agent.name}`", "internal", "what one agent does", "the agent or tool call that it works for, else the run or request"},
	{"`invoke_node {name}`", "internal", "a step of a workflow or graph", "its agent or workflow"},
	{"`execute_tool {gen_ai.tool.name}`", "internal", "a tool call", "the calling agent"},
	{"`chat {gen_ai.response.model}`", "client", "a model's response", "the asking agent"},
}

// row documents an attribute.
type row struct {
	key     attribute.Key
	kind    attribute.Type
	places  []string
	when    string
	example string
}

// sections lists all attributes in the order of the documentation.
var sections = []struct {
	title, about string
	rows         []row
}{
	{"Operations", "`error.type` is also the description of an error status.", []row{
		{names.OperationName, attribute.STRING, onAll, "always", "invoke_agent"},
		{names.ConversationID, attribute.STRING, onAll, "the session", "ctx-1"},
		{names.SessionID, attribute.STRING, onAll, "the session", "ctx-1"},
		{names.ErrorType, attribute.STRING, onAll, "if failed, timed out or canceled; the stream's code, else `delegraph.failure`", "RESOURCE_EXHAUSTED"},
		{failureClass, attribute.STRING, onAll, "our class, `tool_error`, `model_error`, `agent_error`, `timeout`, `canceled` or `_other`", "model_error"},
		{runID, attribute.STRING, onAll, "the stream's ID of the run", "e-923dcd13"},
		{dialectName, attribute.STRING, onAll, "always", "adk"},
		{sourceName, attribute.STRING, onAll, "always; on server spans too", "support"},
		{timing, attribute.STRING, onAll, "always; `observed` by our clock, `reported` by the stream, or `unknown`", "observed"},
	}},
	{"Agents, tools and steps", "", []row{
		{names.AgentName, attribute.STRING, onAgents, "the agent, or the caller", "coordinator"},
		{names.WorkflowName, attribute.STRING, []string{"invoke_workflow"}, "the application", "helpdesk"},
		{reportedDuration, attribute.FLOAT64, onTook, "seconds; if `delegraph.timing` is `unknown`, or the run is shorter", "1.5"},
		{reasoningSteps, attribute.INT64, onProofs, "steps of its reasoning chain", "3"},
		{statementsDropped, attribute.INT64, onProofs, "statements over the limit", "7"},
		{loopIteration, attribute.INT64, onLoops, "round of the agent's loop; of an agent, the last", "2"},
		{loopMessages, attribute.INT64, onLoops, "sent and offered to the model in that round", "12"},
		{loopTools, attribute.INT64, onLoops, "sent and offered to the model in that round", "4"},
		{reportedIterations, attribute.INT64, []string{"invoke_agent"}, "rounds, as reported", "3"},
		{thoughtTypes, attribute.STRINGSLICE, []string{"invoke_agent"}, "types of its thoughts", `["planning", "decision"]`},
		{stateKeys, attribute.STRINGSLICE, onState, "names in its reported state", `["query", "plan"]`},
		{stateBytes, attribute.INT64, onState, "its size as JSON", "120"},
	}},
	{"Runs", "The outermost `invoke_workflow` or `invoke_agent` is the run's span.", []row{
		{runStatus, attribute.STRING, onRuns, "always", "completed"},
		{runReason, attribute.STRING, onRuns, "if the run did not complete", "client_left"},
		{clockOffset, attribute.FLOAT64, onRuns, "seconds, smallest time of receipt minus reported time; of live streams", "0.02"},
		{runReportedDuration, attribute.FLOAT64, onRuns, "seconds, as reported", "8.5"},
		{runReportedToolCalls, attribute.INT64, onRuns, "tool calls, as reported", "2"},
		{planPending, attribute.INT64, onRuns, "items of its plan with this status", "1"},
		{planInProgress, attribute.INT64, onRuns, "items of its plan with this status", "2"},
		{planCompleted, attribute.INT64, onRuns, "items of its plan with this status", "3"},
		{planCanceled, attribute.INT64, onRuns, "items of its plan with this status", "0"},
	}},
	{"Model responses", "The run's span has the tokens of the whole run.", []row{
		{names.RequestModel, attribute.STRING, onChats, "the model asked", "gemini-2.5-flash"},
		{names.ResponseModel, attribute.STRING, onChats, "the model that answered", "gemini-2.5-flash"},
		{names.FinishReasons, attribute.STRINGSLICE, onChats, "why the model stopped, as a code; `error` if the response failed or was cut", `["STOP"]`},
		{names.InputTokens, attribute.INT64, onUsage, "input with cached tokens, output with reasoning", "100"},
		{names.OutputTokens, attribute.INT64, onUsage, "input with cached tokens, output with reasoning", "20"},
		{names.CacheReadTokens, attribute.INT64, onUsage, "not on a run's span by the newest conventions", "50"},
		{names.ReasoningTokens, attribute.INT64, onUsage, "reasoning alone", "5"},
		{names.OutputMessages, attribute.STRING, onChats, "content, the answer as JSON", `[{"role":"assistant","parts":[{"type":"text","content":"Hi."}],"finish_reason":"stop"}]`},
		{contentTruncated, attribute.BOOL, []string{"execute_tool", "chat", onRun}, "content was cut, or a run's question left out", "true"},
	}},
	{"Tool calls", "", []row{
		{names.ToolName, attribute.STRING, onTools, "the tool", "get_weather"},
		{names.ToolCallID, attribute.STRING, onTools, "the protocol's ID of the call", "call-1"},
		{names.ToolArguments, attribute.STRING, onTools, "content, as JSON", `{"city":"Paris"}`},
		{names.ToolResult, attribute.STRING, onTools, "content, as JSON", `{"temperature":18}`},
		{names.HandoffSource, attribute.STRING, onTools, "the agents that gave control away and got it", "coordinator"},
		{names.HandoffTarget, attribute.STRING, onTools, "the agents that gave control away and got it", "billing"},
		{toolIsAgent, attribute.BOOL, onTools, "the tool is in `agents_as_tools`", "true"},
		{toolProgress, attribute.FLOAT64, onTools, "last reported progress, in the tool's unit", "0.5"},
		{toolInferred, attribute.BOOL, onTools, "call and response were joined without IDs", "true"},
	}},
	{"Server spans", "Also `delegraph.source`, and [`error.type`](../design/signals.md#the-request), then with an error status unless the client left.", []row{
		{"http.request.method", attribute.STRING, onRequests, "always, by the HTTP conventions", "POST"},
		{"http.route", attribute.STRING, onRequests, "always, by the HTTP conventions", "/run_sse"},
		{"url.scheme", attribute.STRING, onRequests, "always, by the HTTP conventions", "http"},
		{"url.path", attribute.STRING, onRequests, "always, by the HTTP conventions", "/run_sse"},
		{"http.request.method_original", attribute.STRING, onRequests, "by the HTTP conventions", "RUN"},
		{"server.address", attribute.STRING, onRequests, "by the HTTP conventions", "agent.example"},
		{"server.port", attribute.INT64, onRequests, "by the HTTP conventions", "8000"},
		{"http.response.status_code", attribute.INT64, onRequests, "by the HTTP conventions", "200"},
	}},
	{"Events: confidences", "On the operation that states them. It has at most 128 events; `dropped_events_count` has the rest.", []row{
		{names.EvaluationName, attribute.STRING, onResults, "always", proofConfidence},
		{names.EvaluationScore, attribute.FLOAT64, onResults, "a number from 0 to 1", "0.92"},
		{names.EvaluationLabel, attribute.STRING, onResults, "words, range or score, as written", "high"},
		{confidenceLow, attribute.FLOAT64, onResults, "the ends of a range", "0.85"},
		{confidenceHigh, attribute.FLOAT64, onResults, "the ends of a range", "0.9"},
		{names.EvaluationExplanation, attribute.STRING, onResults, "always; where the answer states it", "structured, overall"},
	}},
	{"Events: citations", "On the operation that states them.", []row{
		{citationSource, attribute.STRING, onCitations, "always", "36 CFR 220.6"},
		{citationReference, attribute.STRING, onCitations, "as stated", "2022-09-15"},
		{citationURI, attribute.STRING, onCitations, "as stated", "https://www.ecfr.gov/"},
	}},
	{"Events: requests for input", "On the run's span.", []row{
		{inputKind, attribute.STRING, onInputs, "always", "confirmation"},
		{inputStatus, attribute.STRING, onInputs, "always; `open`, `answered` or `expired`", "answered"},
		{inputID, attribute.STRING, onInputs, "the protocol's ID of the request", "q-1"},
		{inputRouting, attribute.STRING, onInputs, "who is to answer", "user"},
		{inputPrompt, attribute.STRING, onInputs, "content, the question", "Which format do you prefer?"},
		{inputOptions, attribute.STRING, onInputs, "content, the answers to choose from, as JSON; never of a credential", `["PDF","HTML"]`},
		{inputSchema, attribute.STRING, onInputs, "content, JSON Schema of an answer; never of a credential", `{"type":"string"}`},
		{inputWait, attribute.FLOAT64, onInputs, "seconds until an answer on the stream", "3"},
	}},
	{"Links", "From an agent to the call that gave it control, and from a run to the one that it answers.", []row{
		{linkKind, attribute.STRING, onLinks, "always; `transfer` or `resumes`", "transfer"},
	}},
}

// everything returns runs whose spans have every attribute and event.
func everything() (runs []*tracker.Run) {
	r := delegation()
	r.Root.Failure, r.Operations[1].Failure, r.Operations[4].Failure = event.AgentError, event.ModelError, event.FailureTimeout
	r.Usage.CacheRead, r.Usage.Reasoning = counted(50), counted(5)
	r.Operations[1].Details = &tracker.Details{Content: &tracker.Content{Output: []tracker.MessagePart{{Kind: event.KindText}}, Truncated: true}}
	r.Operations[2].Details.Content = &tracker.Content{Arguments: []byte("{}"), Result: []byte("{}"), Truncated: true}
	r.Root.Details = &tracker.Details{Content: &tracker.Content{Truncated: true}}
	r.Inputs[0].Question = &tracker.Question{Prompt: "Which?", Options: []byte(`["a"]`), Schema: []byte(`{"type":"string"}`)}
	target := r.Operations[4].Details
	target.ReasoningSteps, target.Confidence, target.Citations = counted(1), r.Operations[2].Details.Confidence, r.Operations[2].Details.Citations
	loop := event.Loop{Iteration: counted(2), Messages: counted(12), Tools: counted(4)}
	target.Loop, target.ReportedIterations, target.Thoughts = loop, counted(3), []string{"planning"}
	r.Operations[1].Details.Loop, r.Operations[1].Details.RequestModel = loop, "m"
	r.Operations[2].Details.Progress = event.Progress{Value: 0.5, Known: true}
	target.DroppedStatements, r.Operations[2].Details.DroppedStatements = 7, 7
	workflow := *r
	workflow.Root = &tracker.Operation{
		ID: id(9), Kind: tracker.InvokeWorkflow, Name: "helpdesk", Failure: event.AgentError, Started: at(0), Ended: at(9), Timing: tracker.TimingObserved,
	}
	step := &tracker.Operation{
		ID: id(8), Parent: id(9), Kind: tracker.InvokeNode, Name: "tools", Failure: event.AgentError, Started: at(0), Ended: at(9), Timing: tracker.TimingObserved,
		Details: &tracker.Details{State: event.State{Keys: []string{"plan"}, Bytes: counted(1)}},
	}
	workflow.Operations = []*tracker.Operation{workflow.Root, step}
	return []*tracker.Run{r, &workflow, timeless()}
}

// timeless returns a run of a stream that states durations but no times.
func timeless() *tracker.Run {
	r := &tracker.Run{Trace: [16]byte{15: 0xDD}, Sampled: true}
	for i, kind := range onTook {
		r.Operations = append(r.Operations, &tracker.Operation{
			ID: id(byte(i + 1)), Kind: tracker.OperationKind(kind), Timing: tracker.TimingUnknown,
			Details: &tracker.Details{ReportedDuration: event.Duration{D: time.Second, Known: true}},
		})
	}
	r.Root = r.Operations[0]
	return r
}

// emitted returns the type and the places of each attribute that everything emits.
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
	// The attributes that only the run's span has, other than a workflow's name, must be absent below it.
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
