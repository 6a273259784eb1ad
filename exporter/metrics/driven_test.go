package metrics

import (
	"fmt"
	"runtime"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// driven has, for each metric, a function that uses it and the resulting series.
var driven = map[string]struct {
	drive func(*Metrics)
	want  []string
}{
	"gen_ai_invoke_agent_duration_seconds": {
		func(m *Metrics) {
			ends(m, run().Root, coded("ValueError", run().Root), &tracker.Operation{Kind: tracker.InvokeAgent, Name: "b", Agent: "b", Started: at(1), Ended: at(2), Timing: tracker.TimingReported})
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
			streamed.Started.At = streamed.Started.At.Add(-time.Second) // two seconds before the end; the first chunk comes one second before the end
			undated := chat("m", "")
			undated.Timing = tracker.TimingUnknown
			whole := chat("m", "")
			whole.Response.FirstChunk = tracker.Timestamp{}
			ends(m, streamed, undated, whole)
		},
		[]string{`gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 1 of 1`},
	},
	"gen_ai_client_token_usage": {
		func(m *Metrics) {
			ends(m, chat("m", ""), chat("m", ""), &tracker.Operation{Kind: tracker.Chat, Name: "m"})
			runEnds(m, func(r *tracker.Run) {
				r.UnattributedUsage = []tracker.UnattributedUsage{{Model: "m", Usage: event.Usage{Input: known}}}
			})
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
			runEnds(m, func(r *tracker.Run) { r.FirstText = at(3); r.Live = false })                  // from a file, whose start is not the time of the request
			runEnds(m, func(r *tracker.Run) { r.FirstText = at(3); r.Root.Started.At = time.Time{} }) // no start
		},
		[]string{`agent="a",source="s" 1 of 3`},
	},
	"delegraph_run_model_calls": {invocations, []string{`agent="a",source="s" 1 of 4`}},
	"delegraph_run_tool_calls":  {invocations, []string{`agent="a",source="s" 1 of 3`}},
	"delegraph_run_delegation_depth": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Operations = []*tracker.Operation{r.Root} })
			runEnds(m, func(*tracker.Run) {}) // without an agent
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
			unfinished.Status = tracker.OperationUnfinished
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
				r.Confidence = []tracker.Confidence{
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
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.UnratedAnswers = map[string]int{"a": 2, "b": 1} })
		}, []string{`agent="a",source="s" 2`, `agent="b",source="s" 1`},
	},
	"delegraph_citations_total": {
		func(m *Metrics) {
			runEnds(m, func(r *tracker.Run) { r.Citations = []tracker.Citation{{Agent: "a"}, {Agent: "b"}, {Agent: "a"}} })
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
					r.ReportedToolCalls = stated
					m.OperationEnded(r, tool("t", event.NoFailure))
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
		lags,
		[]string{`source="s" 3 of 4`},
	},
	"delegraph_source_clock_offset_seconds": {
		clockOffsets,
		[]string{`source="s" -2`},
	},
	"delegraph_source_reconnects_total": {
		func(m *Metrics) { m.CountReconnect("s"); m.CountReconnect("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_repeated_frames_total": {
		func(m *Metrics) { m.CountRepeatedFrame("s") }, []string{`source="s" 1`},
	},
	"delegraph_source_missed_frames_total": {
		func(m *Metrics) { m.CountMissedFrames("s", 3); m.CountMissedFrames("s", 2) }, []string{`source="s" 5`},
	},
	"delegraph_source_last_event_timestamp_seconds": {
		lastEvents,
		[]string{`source="again" 1.772366404e+09`, `source="s" 1.772366402e+09`},
	},
	"delegraph_source_sessions_evicted_total": {
		func(m *Metrics) { m.CountEvictedSession("s") }, []string{`source="s" 1`},
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
			m.SetSourceUp("s", false)
			m.SetSourceUp("s", true)
			m.CountBrokenAnswer("s")
			m.SetSourceUp("gone", true)
			m.SetSourceUp("gone", false)
			m.SetSourceUp("removed", false)
			m.RemoveSource("removed")
			m.RemoveSource("never there")
		}, []string{`source="gone" 0`, `source="s" 1`},
	},
	"delegraph_unrecognized_streams_total": {
		func(m *Metrics) { m.CountUnrecognizedStream("s"); m.CountUnrecognizedStream("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_upstream_errors_total": {
		func(m *Metrics) { m.SetSourceUp("s", false); m.SetSourceUp("s", true); m.CountBrokenAnswer("s") }, []string{`source="s" 2`},
	},
	"delegraph_source_unobserved_bytes_total": {
		func(m *Metrics) {
			m.CountUnobserved("s", "panic", 7)
			m.CountUnobserved("s", "panic", 3)
			m.CountUnobserved("s", "queue_full", 1)
		},
		[]string{`reason="panic",source="s" 10`, `reason="queue_full",source="s" 1`},
	},
	"delegraph_source_cards_unchanged_total": {
		func(m *Metrics) {
			m.CountUnchangedCard("s", "signed")
			m.CountUnchangedCard("s", "too_large")
			m.CountUnchangedCard("s", "signed")
		},
		[]string{`reason="signed",source="s" 2`, `reason="too_large",source="s" 1`},
	},
	"delegraph_source_unread_requests_total": {
		func(m *Metrics) {
			m.CountUnreadRequest("s", "too_large")
			m.CountUnreadRequest("s", "too_large")
			m.CountUnreadRequest("s", "malformed")
		},
		[]string{`reason="malformed",source="s" 1`, `reason="too_large",source="s" 2`},
	},
	"delegraph_panics_total": {
		func(m *Metrics) { m.CountPanic(recovery.Decoder) }, []string{
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
			m.CountWithheld("s", filter.ReasonInternal)
			m.CountWithheld("s", filter.ReasonInternal)
			m.CountWithheld("s", filter.ReasonUnreadable)
		},
		[]string{`reason="` + string(filter.ReasonInternal) + `",source="s" 2`, `reason="` + string(filter.ReasonUnreadable) + `",source="s" 1`},
	},
	"delegraph_relay_ids_withheld_total": {
		func(m *Metrics) { m.CountRemovedID("s") }, []string{`source="s" 1`},
	},
	"delegraph_unknown_events_total": {
		func(m *Metrics) {
			for _, name := range []string{"task-paused", "task-paused", "_other", ""} {
				b := batch(event.KindOther)
				b.UnknownKind = name
				m.Consume(b)
			}
		},
		[]string{`dialect="adk",name="_other",source="s" 1`, `dialect="adk",name="task-paused",source="s" 2`},
	},
	"delegraph_late_frames_total": {
		func(m *Metrics) { m.CountLateFrame("s"); m.CountLateFrame("s") }, []string{`source="s" 2`},
	},
	"delegraph_operations_expired_total": {
		func(m *Metrics) { m.CountExpired(tracker.LostRun); m.CountExpired(string(tracker.Chat)) }, []string{`kind="chat" 1`, `kind="run" 1`},
	},
	"delegraph_operations_evicted_total": {
		func(m *Metrics) { m.CountEvicted(tracker.LostRun); m.CountEvicted(tracker.LostRun) }, []string{`kind="run" 2`},
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
		func(m *Metrics) { m.SetReload(true, start); m.SetReload(false, start.Add(time.Hour)) }, []string{" 0"},
	},
	"delegraph_config_last_reload_success_timestamp_seconds": {
		func(m *Metrics) {
			m.SetReload(true, start.Add(500*time.Millisecond))
			m.SetReload(false, start.Add(time.Hour))
		}, []string{" 1.7723664005e+09"},
	},
	"delegraph_build_info": {
		func(*Metrics) {}, []string{`goversion="` + runtime.Version() + `",revision="abc",version="1.2.3" 1`},
	},
}
