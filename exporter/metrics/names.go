package metrics

// Delegraph's own metrics: name, HELP text and labels. The names are an API. The metrics that the
// GenAI conventions define are in genAI.
var (
	runsStarted     = metric{"delegraph_runs_started_total", "Runs started.", []string{"source"}}
	runsOpen        = metric{"delegraph_runs_open", "Runs in progress.", []string{"source"}}
	runsEnded       = metric{"delegraph_runs_ended_total", "Runs ended, by final status.", []string{"source", "agent", "status"}}
	runDuration     = metric{"delegraph_run_duration_seconds", "Duration of runs.", []string{"source", "agent", "status"}}
	timeToFirstText = metric{"delegraph_run_time_to_first_text_seconds", "Time from the start of a live run to its first text.", []string{"source", "agent"}}

	runModelCalls   = metric{"delegraph_run_model_calls", "Model calls per run, including failed ones. Runs without a model call are not counted.", []string{"source", "agent"}}
	runToolCalls    = metric{"delegraph_run_tool_calls", "Tool calls per run, including failed ones and transfers. Runs with neither a tool call nor a model call are not counted.", []string{"source", "agent"}}
	delegationDepth = metric{"delegraph_run_delegation_depth", "Depth of delegation per run: how many agent invocations are above its deepest agent invocation.", []string{"source", "agent"}}

	toolCalls        = metric{"delegraph_tool_calls_total", "Tool calls ended, including failed ones.", []string{"source", "agent", "tool"}}
	toolCallFailures = metric{"delegraph_tool_call_failures_total", "Tool calls whose response was an error.", []string{"source", "agent", "tool"}}
	toolCallsDiffer  = metric{"delegraph_run_tool_calls_mismatches_total", "Runs that reported another number of tool calls than Delegraph has seen.", []string{"source"}}
	transfers        = metric{"delegraph_transfers_total", "Transfers of control between agents, not counting calls of agents as tools.", []string{"source", "from_agent", "to_agent"}}
	transferLoops    = metric{"delegraph_transfer_loops_total", "Transfers to an agent that already had control in the same chain of transfers.", []string{"source", "from_agent", "to_agent"}}

	confidence    = metric{"delegraph_confidence_ratio", "Confidence stated in answers, each value once.", []string{"source", "agent", "origin"}}
	unratedAnswer = metric{"delegraph_answers_without_confidence_total", "Final texts that state no confidence.", []string{"source", "agent"}}
	citations     = metric{"delegraph_citations_total", "Citations in answers.", []string{"source", "agent"}}
	unreadable    = metric{"delegraph_proof_unreadable_total", "Confidence, source and citation fields that could not be read.", []string{"source", "reason"}}

	inputRequests  = metric{"delegraph_input_requests_total", "Requests for external input.", []string{"source", "kind"}}
	inputWait      = metric{"delegraph_input_wait_seconds", "Time from a request for input to its answer on the stream.", []string{"source", "kind"}}
	inputExpired   = metric{"delegraph_input_expired_total", "Requests for input that were not answered in time.", []string{"source", "kind"}}
	artifacts      = metric{"delegraph_artifacts_total", "Artifacts written, each counted once.", []string{"source", "kind"}}
	artifactGaps   = metric{"delegraph_artifact_chunks_missing_total", "Gaps in the chunk numbers of artifacts.", []string{"source", "kind"}}
	chunksRepeated = metric{"delegraph_artifact_chunks_repeated_total", "Artifact chunks received more than once.", []string{"source", "kind"}}
	planItems      = metric{"delegraph_plan_items_total", "Items of stated plans, by status when the run ended.", []string{"source", "status"}}
	artifactBytes  = metric{"delegraph_artifact_bytes_total", "Size of written artifacts, without repeated chunks.", []string{"source", "kind"}}

	frames         = metric{"delegraph_frames_total", "Complete frames received, including undecodable ones.", []string{"source"}}
	frameBytes     = metric{"delegraph_frame_bytes_total", "Size on the wire of complete frames received.", []string{"source"}}
	events         = metric{"delegraph_events_total", "Events decoded from frames.", []string{"source", "dialect", "kind"}}
	internalEvents = metric{"delegraph_internal_events_total", "Frames that their protocol marks as internal, by name and kind of the first event.", []string{"source", "name", "kind"}}
	unknownEvents  = metric{"delegraph_unknown_events_total", "Frames of an unknown kind, or with a part of an unknown kind.", []string{"source", "dialect", "name"}}
	parseErrors    = metric{"delegraph_parse_errors_total", "Frames that could not be decoded.", []string{"source", "dialect", "reason"}}
	lateFrames     = metric{"delegraph_late_frames_total", "Frames dropped in whole or in part, because their run or agent had ended.", []string{"source"}}
	eventLag       = metric{"delegraph_source_event_lag_seconds", "Time from an event's own timestamp to its receipt; 0 if the agent's clock is ahead.", []string{"source"}}

	clockOffset = metric{"delegraph_source_clock_offset_seconds", "Shortest time from a frame's own timestamp to its receipt, in the run that ended last; negative if the agent's clock is ahead.", []string{"source"}}

	lastEvent = metric{"delegraph_source_last_event_timestamp_seconds", "Unix time of receipt of the last decodable frame.", []string{"source"}}

	sourceUp        = metric{"delegraph_source_up", "Whether the last request or tail connection reached the agent.", []string{"source"}}
	reconnects      = metric{"delegraph_source_reconnects_total", "Reconnection attempts by a tail.", []string{"source"}}
	repeatedFrames  = metric{"delegraph_source_repeated_frames_total", "Frames sent again after an interruption; other metrics count them once.", []string{"source"}}
	missedFrames    = metric{"delegraph_source_missed_frames_total", "Frames missed by a tail while disconnected, if the stream numbers every frame.", []string{"source"}}
	sessionsEvicted = metric{"delegraph_source_sessions_evicted_total", "Session streams that a tail closed for another.", []string{"source"}}
	unrecognized    = metric{"delegraph_unrecognized_streams_total", "Streams outside agent paths that no dialect recognized, relayed unchanged.", []string{"source"}}
	upstreamErrors  = metric{"delegraph_source_upstream_errors_total", "Requests and tail connections that did not reach the agent or broke off.", []string{"source"}}
	unobservedBytes = metric{"delegraph_source_unobserved_bytes_total", "Bytes relayed without being observed.", []string{"source", "reason"}}
	unreadRequests  = metric{"delegraph_source_unread_requests_total", "Run requests whose session, user and app could not be read.", []string{"source", "reason"}}
	cardsUnchanged  = metric{"delegraph_source_cards_unchanged_total", "Agent cards relayed unchanged although they may lead clients around the proxy.", []string{"source", "reason"}}
	panics          = metric{"delegraph_panics_total", "Recovered panics in Delegraph.", []string{"component"}}

	relayWithheld    = metric{"delegraph_relay_frames_withheld_total", "Frames withheld from the agent's client.", []string{"source", "reason"}}
	relayIDsWithheld = metric{"delegraph_relay_ids_withheld_total", "Relayed frames whose event ID was removed for disallowed characters.", []string{"source"}}

	operationsExpired = metric{"delegraph_operations_expired_total", "Runs and operations ended by the idle timeout.", []string{"kind"}}
	operationsEvicted = metric{"delegraph_operations_evicted_total", "Runs, operations and facts dropped at a limit.", []string{"kind"}}

	spansExported = metric{"delegraph_spans_exported_total", "Spans accepted by the trace backend.", nil}
	spansQueued   = metric{"delegraph_spans_queued", "Spans waiting for export.", nil}
	spansDropped  = metric{"delegraph_spans_dropped_total", "Spans that did not reach the trace backend.", []string{"reason"}}

	streamSubscribers    = metric{"delegraph_stream_subscribers", "Connected subscribers of the external stream.", nil}
	streamReplayFrames   = metric{"delegraph_stream_replay_frames", "Frames in the replay buffer.", nil}
	streamReplayBytes    = metric{"delegraph_stream_replay_bytes", "Size of the frames in the replay buffer.", nil}
	streamSent           = metric{"delegraph_stream_frames_sent_total", "Frames sent, counted for each subscriber.", nil}
	streamDropped        = metric{"delegraph_stream_frames_dropped_total", "Frames not published on the external stream.", []string{"reason"}}
	streamDisconnects    = metric{"delegraph_stream_disconnects_total", "Subscriber connections ended.", []string{"reason"}}
	streamResumes        = metric{"delegraph_stream_resumes_total", "Subscribers that reconnected with an event ID.", []string{"outcome"}}
	streamRefusals       = metric{"delegraph_stream_refusals_total", "Refused requests for the external stream.", []string{"reason", "answer"}}
	streamTokensFailures = metric{"delegraph_stream_tokens_file_failures_total", "Failed reads of the tokens file; the previous tokens stay in force.", nil}
	streamTicketsEvicted = metric{"delegraph_stream_tickets_evicted_total", "Unused tickets evicted for newer ones.", nil}

	storePublished   = metric{"delegraph_stream_store_published_total", "Frames published to the store by this process.", nil}
	storeRepeated    = metric{"delegraph_stream_store_repeated_total", "Frames that the store already had.", nil}
	storeDropped     = metric{"delegraph_stream_store_dropped_total", "Frames not published to the store; readers get a gap.", []string{"reason"}}
	storeRetries     = metric{"delegraph_stream_store_publish_retries_total", "Retries of publishing after an attempt that may have failed.", nil}
	storeQueued      = metric{"delegraph_stream_store_queue_bytes", "Size of the frames waiting for the store.", nil}
	storeCapacity    = metric{"delegraph_stream_store_queue_capacity_bytes", "Maximum size of the frames waiting for the store; 0 for a process that does not publish.", nil}
	storeConnected   = metric{"delegraph_stream_store_connected", "1 if all shards of the store are connected, else 0.", nil}
	storeFeeds       = metric{"delegraph_stream_feeds", "Feeds read from the store: one for each session that has readers, and one for the readers of all sessions.", nil}
	storeFeedRetries = metric{"delegraph_stream_feed_retries_total", "Retries of reading a feed while connected.", nil}
	storeFeedGaps    = metric{"delegraph_stream_feed_gaps_total", "Gaps in feeds.", []string{"reason"}}

	labelOverflow = metric{"delegraph_label_overflow_total", "Label values replaced by _other, counted per sample and label.", []string{"label"}}

	memoryBudget     = metric{"delegraph_memory_budget_bytes", "Memory budget shared by all queues, buffers and open runs.", nil}
	memoryUsed       = metric{"delegraph_memory_used_bytes", "Memory charged to the budget.", []string{"buffer"}}
	memoryShed       = metric{"delegraph_memory_shed_total", "Times that the budget refused memory, dropped data, or disconnected a relayed stream.", []string{"buffer"}}
	logDropped       = metric{"delegraph_log_lines_dropped_total", "Log lines dropped because the queue was full or the output failed.", nil}
	reloadSuccessful = metric{"delegraph_config_last_reload_successful", "Whether the configuration was last loaded successfully.", nil}
	reloadTime       = metric{"delegraph_config_last_reload_success_timestamp_seconds", "Unix time of the last successful load of the configuration.", nil}
	buildInfo        = metric{"delegraph_build_info", "A constant 1, labeled with the version.", []string{"version", "revision", "goversion"}}
)

// other replaces label values that are not admitted.
const other = "_other"

// Histogram buckets. Those of agents, workflows, calls and tokens come from the GenAI conventions.
var (
	agentBuckets    = doubling(0.1, 13)  // 0.1 … 409.6 s
	callBuckets     = doubling(0.01, 14) // 0.01 … 81.92 s
	countBuckets    = doubling(1, 8)     // 1 … 128
	runCountBuckets = []float64{0, 1, 3, 10, 30, 100}
	depthBuckets    = []float64{0, 1, 2, 3, 5, 8}
	workflowBuckets = []float64{1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}
	tokenBuckets    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	ratioBuckets    = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1}
	waitBuckets     = doubling(1, 16) // 1 s … 9 h
	lagBuckets      = doubling(0.001, 16)
)

// doubling returns n bucket bounds, each twice the one before.
func doubling(first float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = first
		first *= 2
	}
	return out
}
