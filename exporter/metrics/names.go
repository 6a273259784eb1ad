package metrics

// Every metric of our own: its name, what it means with what is not in it, and its labels. These names are an API. The metrics that
// the GenAI conventions name are in genAI.
var (
	runsStarted     = metric{"delegraph_runs_started_total", "Runs begun.", []string{"source"}}
	runsOpen        = metric{"delegraph_runs_open", "Runs that have begun and not ended.", []string{"source"}}
	runsEnded       = metric{"delegraph_runs_ended_total", "Runs ended, by how. Every status begins at 0 with the agent's first run.", []string{"source", "agent", "status"}}
	runDuration     = metric{"delegraph_run_duration_seconds", "Duration of runs, equal to that of the run's own span; without those whose times are unknown, unless the stream says how long they took.", []string{"source", "agent", "status"}}
	timeToFirstText = metric{"delegraph_run_time_to_first_text_seconds", "Time from the beginning of a run, which for a proxy is the forwarding of its request, to its first text; without runs that are read from files, and those without a text.", []string{"source", "agent"}}

	runModelCalls   = metric{"delegraph_run_model_calls", "Model calls of one run, by whichever of its agents, failed ones included; without runs in which no model call is seen.", []string{"source", "agent"}}
	runToolCalls    = metric{"delegraph_run_tool_calls", "Tool calls of one run, by whichever of its agents, failed ones and hand-overs included; without runs in which neither a tool call nor a model call is seen.", []string{"source", "agent"}}
	delegationDepth = metric{"delegraph_run_delegation_depth", "Invocations of agents above the deepest one of a run, in the tree of its spans; 0 where no agent delegates.", []string{"source", "agent"}}

	toolCalls        = metric{"delegraph_tool_calls_total", "Tool calls ended, failed ones included.", []string{"source", "agent", "tool"}}
	toolCallFailures = metric{"delegraph_tool_call_failures_total", "Tool calls whose response was an error; without interrupted and unfinished ones. Begins at 0 with the tool's first call.", []string{"source", "agent", "tool"}}
	toolCallsDiffer  = metric{"delegraph_run_tool_calls_mismatches_total", "Runs of which their protocol says at the end that there were more tool calls, or fewer, than were seen.", []string{"source"}}
	transfers        = metric{"delegraph_transfers_total", "Hand-overs of control from one agent to another; without agents that are used as tools.", []string{"source", "from_agent", "to_agent"}}
	transferLoops    = metric{"delegraph_transfer_loops_total", "Hand-overs of control to an agent that had handed it over before on the way to the one that hands it over now.", []string{"source", "from_agent", "to_agent"}}

	confidence    = metric{"delegraph_confidence_ratio", "Confidence stated in answers, 0 to 1; without what a final text only restates.", []string{"source", "agent", "origin"}}
	unratedAnswer = metric{"delegraph_answers_without_confidence_total", "Final texts that state no confidence.", []string{"source", "agent"}}
	citations     = metric{"delegraph_citations_total", "Sources named in answers.", []string{"source", "agent"}}
	unreadable    = metric{"delegraph_proof_unreadable_total", "Members of proof layers that could not be read, by why.", []string{"source", "reason"}}

	inputRequests = metric{"delegraph_input_requests_total", "Requests of runs for something from outside.", []string{"source", "kind"}}
	inputWait     = metric{"delegraph_input_wait_seconds", "Time from a request for input to its answer on the same stream; without those answered by another run.", []string{"source", "kind"}}
	inputExpired  = metric{"delegraph_input_expired_total", "Requests for input that nobody answered before their run timed out.", []string{"source", "kind"}}
	artifacts     = metric{"delegraph_artifacts_total", "Artifacts that runs wrote, each once however many chunks it has.", []string{"source", "kind"}}
	artifactGaps  = metric{"delegraph_artifact_chunks_missing_total", "Places in artifacts where chunks did not come, by their numbers.", []string{"source", "kind"}}
	artifactAgain = metric{"delegraph_artifact_chunks_repeated_total", "Chunks of artifacts that came again.", []string{"source", "kind"}}
	planItems     = metric{"delegraph_plan_items_total", "Items of the plans that runs stated, by how far they were when their run ended.", []string{"source", "status"}}
	artifactBytes = metric{"delegraph_artifact_bytes_total", "Size of the artifacts that runs wrote; without those whose size the stream does not tell, and without repeated chunks.", []string{"source", "kind"}}

	frames         = metric{"delegraph_frames_total", "Frames of agents' streams, those that could not be decoded included; without what the end of a stream cut off.", []string{"source"}}
	frameBytes     = metric{"delegraph_frame_bytes_total", "Size of these frames on the wire.", []string{"source"}}
	events         = metric{"delegraph_events_total", "Facts decoded from frames, by kind.", []string{"source", "dialect", "kind"}}
	internalEvents = metric{"delegraph_internal_events_total", "Frames that their protocol calls internal, by what it calls them and by the first fact that they state.", []string{"source", "name", "kind"}}
	unknownEvents  = metric{"delegraph_unknown_events_total", "Frames of a kind, or with a part of a kind, that their dialect does not know, by its name. A name that is no identifier is _other, as are those beyond metrics.max_label_values. The log has each name once.", []string{"source", "dialect", "name"}}
	parseErrors    = metric{"delegraph_parse_errors_total", "Frames that could not be decoded, at most once each.", []string{"source", "dialect", "reason"}}
	lateFrames     = metric{"delegraph_late_frames_total", "Frames whose facts were dropped because their run had ended, or because they would have begun something in a run or an agent that had ended, or made a failure of it.", []string{"source"}}
	eventLag       = metric{"delegraph_source_event_lag_seconds", "Time of receipt less the time that the agent reports for the event; 0 where its clock is ahead. Without frames that report no time.", []string{"source"}}

	clockOffset = metric{"delegraph_source_clock_offset_seconds", "Least time of receipt less time reported of the frames of the run that ended last: how far the agent's clock is behind ours, and the shortest delay.", []string{"source"}}

	lastEvent = metric{"delegraph_source_last_event_timestamp_seconds", "When the last frame that could be decoded was received; time() minus this is its age.", []string{"source"}}

	sourceUp        = metric{"delegraph_source_up", "Whether the last request, or a tail's last attempt, reached the agent; nothing before the first.", []string{"source"}}
	reconnects      = metric{"delegraph_source_reconnects_total", "Attempts of a tail to get its stream back.", []string{"source"}}
	repeatedFrames  = metric{"delegraph_source_repeated_frames_total", "Frames that a server sent again after an interruption, and that count once.", []string{"source"}}
	missedFrames    = metric{"delegraph_source_missed_frames_total", "Frames that a tail did not get while it was not connected, by the numbers in their ids; only of streams whose ids number each frame that they send.", []string{"source"}}
	sessionsEvicted = metric{"delegraph_source_sessions_evicted_total", "Streams of sessions that a tail closed to make room for another session's.", []string{"source"}}
	unrecognized    = metric{"delegraph_unrecognized_streams_total", "Streams on paths that are no agent's, which no dialect recognized. They pass as they came.", []string{"source"}}
	upstreamErrors  = metric{"delegraph_source_upstream_errors_total", "Requests, and attempts of tails, that did not reach the agent, or whose answer broke off.", []string{"source"}}
	unobservedBytes = metric{"delegraph_source_unobserved_bytes_total", "Bytes that went to the client and were not observed, by reason.", []string{"source", "reason"}}
	unreadRequests  = metric{"delegraph_source_unread_requests_total", "Run requests that could not be read for session, user and app, by why.", []string{"source", "reason"}}
	cardsUnchanged  = metric{"delegraph_source_cards_unchanged_total", "Agent cards that passed unchanged, although they lead clients around the proxy or may do so, by why.", []string{"source", "reason"}}
	panics          = metric{"delegraph_panics_total", "Panics of Delegraph's own code that were recovered, by the part that panicked.", []string{"component"}}

	relayWithheld    = metric{"delegraph_relay_frames_withheld_total", "Frames that a filtered relay kept from the agent's client, by why.", []string{"source", "reason"}}
	relayIDsWithheld = metric{"delegraph_relay_ids_withheld_total", "Frames relayed without their id, which was not fit to be sent back.", []string{"source"}}

	operationsExpired = metric{"delegraph_operations_expired_total", "Runs and operations ended for idleness.", []string{"kind"}}
	operationsEvicted = metric{"delegraph_operations_evicted_total", "Runs, operations and facts let go of because a limit was reached.", []string{"kind"}}

	spansExported = metric{"delegraph_spans_exported_total", "Spans that the trace backend took; without those of runs that are not sampled.", nil}
	spansQueued   = metric{"delegraph_spans_queued", "Spans that wait for the trace backend.", nil}
	spansDropped  = metric{"delegraph_spans_dropped_total", "Spans that did not reach the trace backend, by why.", []string{"reason"}}

	streamSubscribers    = metric{"delegraph_stream_subscribers", "Subscribers of the external stream that are connected.", nil}
	streamReplayFrames   = metric{"delegraph_stream_replay_frames", "Frames kept for subscribers that come back.", nil}
	streamReplayBytes    = metric{"delegraph_stream_replay_bytes", "Size of the frames kept for subscribers that come back.", nil}
	streamSent           = metric{"delegraph_stream_frames_sent_total", "Frames sent, one for each subscriber that got it.", nil}
	streamDropped        = metric{"delegraph_stream_frames_dropped_total", "Frames that did not leave on the external stream, by why.", []string{"reason"}}
	streamDisconnects    = metric{"delegraph_stream_disconnects_total", "Subscribers whose connection ended, by why.", []string{"reason"}}
	streamResumes        = metric{"delegraph_stream_resumes_total", "Subscribers that came back with an id, by what became of it.", []string{"outcome"}}
	streamRefusals       = metric{"delegraph_stream_refusals_total", "Requests that were given no stream, by why and by the form of the answer.", []string{"reason", "answer"}}
	streamTokensFailures = metric{"delegraph_stream_tokens_file_failures_total", "Readings of the tokens file that failed, after which the tokens stayed as they were.", nil}
	streamTicketsEvicted = metric{"delegraph_stream_tickets_evicted_total", "Tickets that made room for later ones before they were used.", nil}

	storePublished = metric{"delegraph_stream_store_published_total", "Frames that this process published to the store of the external stream.", nil}
	storeRepeated  = metric{"delegraph_stream_store_repeated_total", "Frames that another process, or an earlier attempt, had published to the store before.", nil}
	storeDropped   = metric{"delegraph_stream_store_dropped_total", "Frames that were not published to the store, by why. Readers are told of the gap.", []string{"reason"}}
	storeRetries   = metric{"delegraph_stream_store_publish_retries_total", "Attempts to publish to the store that failed, or may have, and were made again.", nil}
	storeQueued    = metric{"delegraph_stream_store_queue_bytes", "Size of the frames that wait to be published to the store.", nil}
	storeConnected = metric{"delegraph_stream_store_connected", "Whether the servers of the store are reached now.", nil}
	storeFeeds     = metric{"delegraph_stream_feeds", "Feeds that bring the stream out of the store, one for each session that has readers and one for all of them.", nil}
	storeFeedTries = metric{"delegraph_stream_feed_retries_total", "Attempts to bring a feed out of the store that failed while the servers were reached, and were made again.", nil}
	storeFeedGaps  = metric{"delegraph_stream_feed_gaps_total", "Gaps in what feeds brought, by why.", []string{"reason"}}

	labelOverflow = metric{"delegraph_label_overflow_total", "Label values replaced by _other because there were too many, or because they were too long or no text; one for each sample and label.", []string{"label"}}

	memoryBudget     = metric{"delegraph_memory_budget_bytes", "Bytes that all queues and buffers may take together.", nil}
	memoryUsed       = metric{"delegraph_memory_used_bytes", "Bytes that queues and buffers have taken of the budget.", []string{"buffer"}}
	memoryShed       = metric{"delegraph_memory_shed_total", "Times that the budget refused memory to a queue or had a buffer drop something.", []string{"buffer"}}
	logDropped       = metric{"delegraph_log_lines_dropped_total", "Log lines that were not written: nobody reads what is written, or there is no room for it.", nil}
	reloadSuccessful = metric{"delegraph_config_last_reload_successful", "Whether the configuration was taken over when it was last loaded.", nil}
	reloadTime       = metric{"delegraph_config_last_reload_success_timestamp_seconds", "When the configuration was last taken over.", nil}
	buildInfo        = metric{"delegraph_build_info", "A constant 1, labelled with what this program is.", []string{"version", "revision", "goversion"}}
)

// other is the value of a label whose own value is not let in.
const other = "_other"

// Buckets of the GenAI conventions.
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

func doubling(first float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = first
		first *= 2
	}
	return out
}
