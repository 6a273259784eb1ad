package metrics

import (
	"fmt"
	"runtime"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// start is when the runs of the tests begin; at is a moment of them, seconds later.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(second int) tracker.Moment {
	return tracker.Moment{At: start.Add(time.Duration(second) * time.Second), Frame: second}
}

// run is one of the source s, which the agent a began and which took eight seconds.
func run() *tracker.Run {
	return &tracker.Run{
		Source: "s", Dialect: "adk", Live: true, Status: tracker.Failed,
		Root: &tracker.Operation{Kind: tracker.InvokeAgent, Name: "a", Agent: "a", Error: event.AgentError, Started: at(0), Ended: at(8), Timing: tracker.Observed},
	}
}

// ends tells of the ends of operations, without that of their run.
func ends(m *Metrics, operations ...*tracker.Operation) {
	for _, op := range operations {
		m.OperationEnded(run(), op)
	}
}

// runEnds tells of the end of a run with these facts.
func runEnds(m *Metrics, facts func(*tracker.Run)) {
	r := run()
	facts(r)
	m.RunStarted(r)
	m.RunEnded(r)
}

// batch is a frame of the source s, 100 bytes long.
func batch(events ...event.Kind) *event.Batch {
	b := &event.Batch{Stream: &event.Stream{Source: "s", Dialect: "adk"}, Frame: sse.Frame{Size: 100}}
	for _, kind := range events {
		b.Add(kind)
	}
	return b
}

var known = event.Count{N: 100, Known: true}

func tool(name string, failure event.Failure) *tracker.Operation {
	op := &tracker.Operation{Kind: tracker.ExecuteTool, Name: name, Agent: "a", Error: failure, Started: at(1), Ended: at(3), Timing: tracker.Observed}
	if failure != "" {
		op.Status = tracker.Error
	}
	return op
}

func chat(model string, failure event.Failure) *tracker.Operation {
	return &tracker.Operation{
		Kind: tracker.Chat, Name: model, Agent: "a", Error: failure, Started: at(1), Ended: at(2), Timing: tracker.Observed,
		Response: &tracker.Response{Usage: event.Usage{Input: known, Output: event.Count{N: 7, Known: true}, Reasoning: known, CacheRead: known}, FirstChunk: at(1)},
	}
}

// coded gives an operation's failure a code.
func coded(code string, op *tracker.Operation) *tracker.Operation {
	op.Code = code
	return op
}

// driven has every metric: what drives it, and what it says then.
var driven = map[string]struct {
	drive func(*Metrics)
	want  []string
}{
	"gen_ai_invoke_agent_duration_seconds": {
		func(m *Metrics) {
			ends(m, run().Root, coded("ValueError", run().Root), &tracker.Operation{Kind: tracker.InvokeAgent, Name: "b", Agent: "b", Started: at(1), Ended: at(2), Timing: tracker.Reported})
		},
		[]string{`error_type="",gen_ai_agent_name="b",source="s" 1 of 1`, `error_type="ValueError",gen_ai_agent_name="a",source="s" 1 of 8`, `error_type="agent_error",gen_ai_agent_name="a",source="s" 1 of 8`},
	},
	"gen_ai_invoke_workflow_duration_seconds": {
		func(m *Metrics) {
			workflow := run().Root
			workflow.Kind, workflow.Name, workflow.Agent = tracker.InvokeWorkflow, "w", ""
			ends(m, workflow)
		},
		[]string{`error_type="agent_error",gen_ai_workflow_name="w",source="s" 1 of 8`},
	},
	"gen_ai_invoke_agent_inference_calls": {invocations, []string{`gen_ai_agent_name="a",source="s" 1 of 3`, `gen_ai_agent_name="b",source="s" 1 of 1`}},
	"gen_ai_invoke_agent_tool_calls": {
		invocations, []string{`gen_ai_agent_name="a",source="s" 1 of 2`, `gen_ai_agent_name="b",source="s" 1 of 0`, `gen_ai_agent_name="c",source="s" 1 of 1`},
	},
	"gen_ai_execute_tool_duration_seconds": {
		func(m *Metrics) {
			ends(m, tool("t", ""), tool("t", ""), tool("t", event.ToolError), coded("NOT_FOUND", tool("t", event.ToolError)))
		},
		[]string{
			`error_type="",gen_ai_agent_name="a",gen_ai_tool_name="t",source="s" 2 of 4`,
			`error_type="NOT_FOUND",gen_ai_agent_name="a",gen_ai_tool_name="t",source="s" 1 of 2`,
			`error_type="tool_error",gen_ai_agent_name="a",gen_ai_tool_name="t",source="s" 1 of 2`,
		},
	},
	"gen_ai_client_operation_duration_seconds": {
		func(m *Metrics) {
			ends(m, chat("m", ""), chat("", event.ModelError), coded("RESOURCE_EXHAUSTED", chat("m", event.ModelError)))
		},
		[]string{
			`error_type="",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
			`error_type="RESOURCE_EXHAUSTED",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`,
			`error_type="model_error",gen_ai_operation_name="chat",gen_ai_response_model="",source="s" 1 of 1`,
		},
	},
	"gen_ai_client_operation_time_to_first_chunk_seconds": {
		func(m *Metrics) {
			streamed := chat("m", "")
			streamed.Started.At = streamed.Started.At.Add(-time.Second) // two seconds before its end, the first chunk one
			undated := chat("m", "")
			undated.Timing = tracker.Unknown
			whole := chat("m", "")
			whole.Response.FirstChunk = tracker.Moment{}
			ends(m, streamed, undated, whole)
		},
		[]string{`gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`},
	},
	"gen_ai_client_token_usage": {
		func(m *Metrics) {
			ends(m, chat("m", ""), chat("m", ""), &tracker.Operation{Kind: tracker.Chat, Name: "m"})
			runEnds(m, func(r *tracker.Run) { r.Metered = []tracker.Metered{{Model: "m", Usage: event.Usage{Input: known}}} })
		},
		[]string{
			`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_type="input",source="s" 2 of 200`,
			`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_type="output",source="s" 2 of 14`,
			`gen_ai_operation_name="invoke_agent",gen_ai_response_model="m",gen_ai_token_type="input",source="s" 1 of 100`,
		},
	},
	"delegraph_runs_started_total": {
		func(m *Metrics) { m.RunStarted(run()); m.RunStarted(run()) }, []string{`source="s" 2`},
	},
	"delegraph_runs_open": {
		func(m *Metrics) { m.RunStarted(run()); m.RunStarted(run()); m.RunEnded(run()) }, []string{`source="s" 1`},
	},
	"delegraph_runs_ended_total": {
		func(m *Metrics) {
			for _, status := range tracker.Statuses() {
				runEnds(m, func(r *tracker.Run) { r.Status = status })
			}
		},
		[]string{
			`agent="a",source="s",status="canceled" 1`, `agent="a",source="s",status="completed" 1`, `agent="a",source="s",status="failed" 1`,
			`agent="a",source="s",status="incomplete" 1`, `agent="a",source="s",status="interrupted" 1`, `agent="a",source="s",status="timed_out" 1`,
		},
	},
	"delegraph_run_duration_seconds": {
		func(m *Metrics) { m.RunEnded(run()) }, []string{`agent="a",source="s",status="failed" 1 of 8`},
	},
	"delegraph_run_time_to_first_text_seconds": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.FirstText = at(3) })
			runEnds(m, func(*tracker.Run) {})                                                         // no text
			runEnds(m, func(r *tracker.Run) { r.FirstText = at(3); r.Live = false })                  // of a file, whose start is not the request
			runEnds(m, func(r *tracker.Run) { r.FirstText = at(3); r.Root.Started.At = time.Time{} }) // no start
		},
		[]string{`agent="a",source="s" 1 of 3`},
	},
	"delegraph_run_model_calls": {invocations, []string{`agent="a",source="s" 1 of 4`}},
	"delegraph_run_tool_calls":  {invocations, []string{`agent="a",source="s" 1 of 3`}},
	"delegraph_run_delegation_depth": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Operations = []*tracker.Operation{r.Root} })
			runEnds(m, func(*tracker.Run) {}) // that shows no agent
		},
		[]string{`agent="a",source="s" 1 of 0`},
	},
	"delegraph_tool_calls_total": {
		func(m *Metrics) { ends(m, tool("t", ""), tool("t", event.ToolError), chat("m", ""), run().Root) }, []string{`agent="a",source="s",tool="t" 2`},
	},
	"delegraph_tool_call_failures_total": {
		func(m *Metrics) {
			interrupted := tool("t", "")
			interrupted.Status = tracker.OperationInterrupted
			unfinished := tool("t", event.FailureTimeout)
			unfinished.Status = tracker.Unfinished
			ends(m, tool("t", ""), tool("t", event.ToolError), interrupted, unfinished)
		},
		[]string{`agent="a",source="s",tool="t" 1`},
	},
	"delegraph_transfers_total": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) {
				r.Transfers = []tracker.Transfer{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "a", To: "b"}}
			})
		},
		[]string{`from_agent="a",source="s",to_agent="b" 2`, `from_agent="b",source="s",to_agent="a" 1`},
	},
	"delegraph_transfer_loops_total": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) {
				r.Transfers = []tracker.Transfer{{From: "a", To: "b"}, {From: "b", To: "a", Loop: true}, {From: "b", To: "a", Loop: true}}
			})
		},
		[]string{`from_agent="b",source="s",to_agent="a" 2`},
	},
	"delegraph_confidence_ratio": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) {
				r.Confidence = []tracker.Statement{
					{Agent: "t", Confidence: event.Confidence{Value: 0.5, Known: true, Origin: event.OriginStructured}},
					{Agent: "a", Confidence: event.Confidence{Value: 0.25, Known: true, Origin: event.OriginText}},
					{Agent: "a", Confidence: event.Confidence{Value: 0.75, Known: true, Origin: event.OriginThought}},
					{Agent: "a", Confidence: event.Confidence{Value: 0.5, Known: true, Origin: event.OriginText}, Restated: true},
					{Agent: "a", Confidence: event.Confidence{Label: "high", Origin: event.OriginText}},
				}
			})
		},
		[]string{`agent="a",origin="text",source="s" 1 of 0.25`, `agent="a",origin="thought",source="s" 1 of 0.75`, `agent="t",origin="structured",source="s" 1 of 0.5`},
	},
	"delegraph_answers_without_confidence_total": {
		func(m *Metrics) { runEnds(m, func(r *tracker.Run) { r.Unrated = map[string]int{"a": 2, "b": 1} }) }, []string{`agent="a",source="s" 2`, `agent="b",source="s" 1`},
	},
	"delegraph_citations_total": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Citations = []tracker.Source{{Agent: "a"}, {Agent: "b"}, {Agent: "a"}} })
		},
		[]string{`agent="a",source="s" 2`, `agent="b",source="s" 1`},
	},
	"delegraph_proof_unreadable_total": {
		func(m *Metrics) {
			m.Consume(&event.Batch{
				Stream:     &event.Stream{Source: "s"},
				Unreadable: []event.Unreadable{event.UnreadableScale, event.UnreadableType, event.UnreadableScale, event.UnreadableWords},
			})
		},
		[]string{`reason="scale",source="s" 2`, `reason="type",source="s" 1`, `reason="words",source="s" 1`},
	},
	"delegraph_run_tool_calls_mismatches_total": {
		func(m *Metrics) {
			for _, stated := range []event.Count{{}, {N: 1, Known: true}, {N: 2, Known: true}, {N: 0, Known: true}} {
				runEnds(m, func(r *tracker.Run) {
					r.Operations, r.ToolCalls = []*tracker.Operation{r.Root, tool("t", event.NoFailure)}, stated
				})
			}
		},
		[]string{`source="s" 2`},
	},
	"delegraph_input_requests_total": {
		func(m *Metrics) { runEnds(m, addInputs) }, []string{`kind="confirmation",source="s" 2`, `kind="tool",source="s" 1`},
	},
	"delegraph_input_wait_seconds": {
		func(m *Metrics) { runEnds(m, addInputs) }, []string{`kind="confirmation",source="s" 1 of 5`},
	},
	"delegraph_input_expired_total": {
		func(m *Metrics) { runEnds(m, addInputs) }, []string{`kind="tool",source="s" 1`},
	},
	"delegraph_artifacts_total": {
		func(m *Metrics) { runEnds(m, addArtifacts) }, []string{`kind="data",source="s" 1`, `kind="file",source="s" 2`},
	},
	"delegraph_artifact_bytes_total": {
		func(m *Metrics) { runEnds(m, addArtifacts) }, []string{`kind="file",source="s" 200`},
	},
	"delegraph_frames_total":      {frameOfEachSort, []string{`source="s" 3`}},
	"delegraph_frame_bytes_total": {frameOfEachSort, []string{`source="s" 300`}},
	"delegraph_events_total": {
		func(m *Metrics) {
			m.Consume(batch(event.KindText, event.KindText, event.KindFinal))
			m.Consume(&event.Batch{Stream: &event.Stream{Source: "s"}, Events: []event.Event{{Kind: event.KindError}}})
		},
		[]string{
			`dialect="adk",kind="final",source="s" 1`, `dialect="adk",kind="text",source="s" 2`, `dialect="unknown",kind="error",source="s" 1`,
		},
	},
	"delegraph_internal_events_total": {
		func(m *Metrics) {
			state, empty := batch(event.KindState, event.KindText), batch()
			state.Internal, empty.Internal = true, true
			state.Type = "internal:checkpoint"
			for _, b := range []*event.Batch{state, state, empty, batch(event.KindState)} {
				m.Consume(b)
			}
		},
		[]string{`kind="other",name="",source="s" 1`, `kind="state",name="internal:checkpoint",source="s" 2`},
	},
	"delegraph_parse_errors_total": {
		frameOfEachSort,
		[]string{
			`dialect="adk",reason="shape",source="s" 1`, `dialect="adk",reason="truncated",source="s" 1`, `dialect="unknown",reason="unrecognised",source="s" 1`,
		},
	},
	"delegraph_source_event_lag_seconds": {
		func(m *Metrics) {
			for _, second := range []int{0, 2, 5} { // five seconds ago, two seconds from now, and not at all
				b := batch()
				b.Time, b.Received = at(second).At, at(3).At
				m.Consume(b)
			}
			m.Consume(batch())
			unknown := batch()
			unknown.Received = at(3).At
			m.Consume(unknown)
			file := batch()
			file.Time = at(3).At
			m.Consume(file)
		},
		[]string{`source="s" 3 of 4`},
	},
	"delegraph_source_clock_offset_seconds": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Offset, r.OffsetKnown = time.Second, true })
			runEnds(m, func(r *tracker.Run) { r.Offset, r.OffsetKnown = -2*time.Second, true })
			runEnds(m, func(*tracker.Run) {})
		},
		[]string{`source="s" -2`},
	},
	"delegraph_source_reconnects_total": {
		func(m *Metrics) { m.Reconnected("s"); m.Reconnected("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_repeated_frames_total": {
		func(m *Metrics) { m.Repeated("s") }, []string{`source="s" 1`},
	},
	"delegraph_source_missed_frames_total": {
		func(m *Metrics) { m.Missed("s", 3); m.Missed("s", 2) }, []string{`source="s" 5`},
	},
	"delegraph_source_last_event_timestamp_seconds": {
		func(m *Metrics) {
			received := func(source string, second int, reason event.Reason) {
				b := batch()
				b.Stream.Source, b.Received, b.Rejected = source, at(second).At, reason
				m.Consume(b)
			}
			received("s", 1, "")
			received("s", 2, "")
			received("s", 3, event.ReasonShape)
			m.Consume(batch()) // of a file
			received("removed", 1, "")
			received("again", 1, "")
			m.Gone("removed")
			m.Gone("again")
			received("again", 4, "")
		},
		[]string{`source="again" 1.772366404e+09`, `source="s" 1.772366402e+09`},
	},
	"delegraph_source_sessions_evicted_total": {
		func(m *Metrics) { m.SessionEvicted("s") }, []string{`source="s" 1`},
	},
	"delegraph_artifact_chunks_missing_total": {
		func(m *Metrics) { runEnds(m, addChunks) }, []string{`kind="dataset",source="s" 2`},
	},
	"delegraph_artifact_chunks_repeated_total": {
		func(m *Metrics) { runEnds(m, addChunks) }, []string{`kind="dataset",source="s" 3`},
	},
	"delegraph_plan_items_total": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Plan = event.Plan{Pending: 1, InProgress: 2, Completed: 3} })
			runEnds(m, func(r *tracker.Run) { r.Plan = event.Plan{Canceled: 4, Completed: 3} })
		},
		[]string{`source="s",status="canceled" 4`, `source="s",status="completed" 6`, `source="s",status="in_progress" 2`, `source="s",status="pending" 1`},
	},
	"delegraph_source_up": {
		func(m *Metrics) {
			m.Up("s", false)
			m.Up("s", true)
			m.BrokeOff("s")
			m.Up("gone", true)
			m.Up("gone", false)
			m.Up("removed", false)
			m.Gone("removed")
			m.Gone("never there")
		}, []string{`source="gone" 0`, `source="s" 1`},
	},
	"delegraph_unrecognized_streams_total": {
		func(m *Metrics) { m.Unrecognized("s"); m.Unrecognized("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_upstream_errors_total": {
		func(m *Metrics) { m.Up("s", false); m.Up("s", true); m.BrokeOff("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_unobserved_bytes_total": {
		func(m *Metrics) {
			m.Unobserved("s", "panic", 7)
			m.Unobserved("s", "panic", 3)
			m.Unobserved("s", "queue_full", 1)
		},
		[]string{`reason="panic",source="s" 10`, `reason="queue_full",source="s" 1`},
	},
	"delegraph_source_cards_unchanged_total": {
		func(m *Metrics) {
			m.CardPassed("s", "signed")
			m.CardPassed("s", "too_large")
			m.CardPassed("s", "signed")
		},
		[]string{`reason="signed",source="s" 2`, `reason="too_large",source="s" 1`},
	},
	"delegraph_source_unread_requests_total": {
		func(m *Metrics) { m.Unread("s", "too_large"); m.Unread("s", "too_large"); m.Unread("s", "malformed") },
		[]string{`reason="malformed",source="s" 1`, `reason="too_large",source="s" 2`},
	},
	"delegraph_panics_total": {
		func(m *Metrics) { m.Panicked(recovery.Decoder) }, []string{
			`component="admin" 0`,
			`component="decoder" 1`,
			`component="detector" 0`,
			`component="filter" 0`,
			`component="metrics" 0`,
			`component="observation" 0`,
			`component="proxy" 0`,
			`component="relay" 0`,
			`component="request" 0`,
			`component="spans" 0`,
			`component="stream" 0`,
			`component="tail" 0`,
			`component="tracker" 0`,
		},
	},
	"delegraph_relay_frames_withheld_total": {
		func(m *Metrics) {
			m.Withheld("s", filter.Internal)
			m.Withheld("s", filter.Internal)
			m.Withheld("s", filter.Unreadable)
		},
		[]string{`reason="` + string(filter.Internal) + `",source="s" 2`, `reason="` + string(filter.Unreadable) + `",source="s" 1`},
	},
	"delegraph_relay_ids_withheld_total": {
		func(m *Metrics) { m.IDWithheld("s") }, []string{`source="s" 1`},
	},
	"delegraph_unknown_events_total": {
		func(m *Metrics) {
			for _, name := range []string{"task-paused", "task-paused", "_other", ""} {
				b := batch(event.KindOther)
				b.Unknown = name
				m.Consume(b)
			}
		},
		[]string{`dialect="adk",name="_other",source="s" 1`, `dialect="adk",name="task-paused",source="s" 2`},
	},
	"delegraph_late_frames_total": {
		func(m *Metrics) { m.Late("s"); m.Late("s") }, []string{`source="s" 2`},
	},
	"delegraph_operations_expired_total": {
		func(m *Metrics) { m.Expired(tracker.LostRun); m.Expired(string(tracker.Chat)) }, []string{`kind="chat" 1`, `kind="run" 1`},
	},
	"delegraph_operations_evicted_total": {
		func(m *Metrics) { m.Evicted(tracker.LostRun); m.Evicted(tracker.LostRun) }, []string{`kind="run" 2`},
	},
	"delegraph_spans_exported_total": {observeSpans, []string{" 5"}},
	"delegraph_spans_queued":         {observeSpans, []string{" 3"}},
	"delegraph_spans_dropped_total":  {observeSpans, []string{`reason="queue_full" 2`, `reason="shutdown" 0`}},
	"delegraph_label_overflow_total": {
		func(m *Metrics) {
			for i := range 12 {
				ends(m, tool(fmt.Sprint(i), ""))
			}
		},
		[]string{`label="agent" 0`, `label="error" 0`, `label="event" 0`, `label="model" 0`, `label="tool" 4`, `label="workflow" 0`}, // of two metrics, two each
	},
	"delegraph_log_lines_dropped_total": {
		func(m *Metrics) { m.ObserveLog(func() uint64 { return 3 }) }, []string{" 3"},
	},
	"delegraph_memory_budget_bytes": {observeMemory, []string{" 1000"}},
	"delegraph_memory_used_bytes":   {observeMemory, []string{`buffer="content" 0`, `buffer="replay" 7`}},
	"delegraph_memory_shed_total":   {observeMemory, []string{`buffer="content" 1`, `buffer="replay" 0`}},
	"delegraph_config_last_reload_successful": {
		func(m *Metrics) { m.Reloaded(true, start); m.Reloaded(false, start.Add(time.Hour)) }, []string{" 0"},
	},
	"delegraph_config_last_reload_success_timestamp_seconds": {
		func(m *Metrics) {
			m.Reloaded(true, start.Add(500*time.Millisecond))
			m.Reloaded(false, start.Add(time.Hour))
		}, []string{" 1.7723664005e+09"},
	},
	"delegraph_build_info": {
		func(*Metrics) {}, []string{`goversion="` + runtime.Version() + `",revision="abc",version="1.2.3" 1`},
	},
}

// addInputs has one that was answered after five seconds, one answered before, as far as one knows, and one that expired.
func addInputs(r *tracker.Run) {
	r.Inputs = []*tracker.Input{
		{Kind: event.InputConfirmation, Status: tracker.InputAnswered, Requested: at(1), Answered: at(6)},
		{Kind: event.InputConfirmation, Status: tracker.InputAnswered, Answered: at(6)},
		{Kind: event.InputTool, Status: tracker.InputExpired, Requested: at(1)},
	}
}

func addChunks(r *tracker.Run) {
	r.Artifacts = []tracker.Artifact{{ID: "a", Artifact: event.Artifact{Kind: event.ArtifactDataset}, Gaps: 2, Duplicates: 3}, {ID: "b", Artifact: event.Artifact{Kind: event.ArtifactData}}}
}

func addArtifacts(r *tracker.Run) {
	r.Artifacts = []tracker.Artifact{
		{Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Artifact: event.Artifact{Kind: event.ArtifactData}},
	}
}

// frameOfEachSort are one that was decoded, one that was not, one that nobody knows, and the end of the stream inside one, which
// is no frame.
func frameOfEachSort(m *Metrics) {
	shape, unknown, truncated := batch(), batch(), batch()
	shape.Rejected, unknown.Rejected, truncated.Rejected = event.ReasonShape, event.ReasonUnrecognised, event.ReasonTruncated
	unknown.Stream = &event.Stream{Source: "s"}
	for _, b := range []*event.Batch{batch(), shape, unknown, truncated} {
		m.Consume(b)
	}
}

func observeMemory(m *Metrics) {
	b := budget.New(1000)
	b.Account("replay", 1, 1).Hold(7)
	b.Account("content", 0.5, 1).Reserve(501)
	m.ObserveMemory(b)
}

func observeSpans(m *Metrics) {
	m.ObserveSpans(func() (uint64, int, map[string]uint64) { return 5, 3, map[string]uint64{"queue_full": 2} }, []string{"queue_full", "shutdown"})
}
