package main

import (
	"fmt"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// What Delegraph's own dashboard asks of. What the rules record is of no instance.
var (
	ofDelegraph = scope{ofNamespace, ofJob, ofInstance}
	ofEach      = scope{ofNamespace, ofJob, ofInstance, ofSource}
	ofRecords   = scope{ofNamespace, ofJob, ofSource}
)

var eventLag = histogram{"delegraph_source_event_lag_seconds"}

const (
	framesTotal      = "delegraph_frames_total"
	parseErrorsTotal = "delegraph_parse_errors_total"

	recordedFrames = "namespace_job_source:delegraph_frames:rate5m"
	recordedErrors = "namespace_job_source:delegraph_parse_errors:rate5m"
	recordedRatio  = "namespace_job_source:delegraph_parse_errors_per_frame:ratio_rate"

	// objective is the share of frames that may be unreadable: an error budget of one in a thousand.
	objective = 0.001
)

func itselfDashboard() grafana.Dashboard {
	return newDashboard("delegraph-itself", "Delegraph itself", "Whether Delegraph sees everything, and delivers what it sees: parse errors, sources, streams, spans, memory.",
		[]grafana.Variable{namespaceVariable, jobVariable, instanceVariable, sourceVariable},
		[]row{
			{"Health", health()},
			{"Parse errors", parsing()},
			{"Events", events()},
			{"Sources", sources()},
			{"The external stream", subscribers()},
			{"The store of the external stream, where that is NATS JetStream", store()},
			{"Spans", delivery()},
			{"Process", process()},
		})
}

func health() []panel {
	return []panel{
		stat("Running", "Instances of Delegraph that are scraped.", "short", now("count("+ofDelegraph.of("delegraph_build_info")+")", "")),
		stat("Versions", "Versions that are running.", "none", now("count by (version) ("+ofDelegraph.of("delegraph_build_info")+")", "{{version}}")).names(),
		stat("Sources up", "Share of the sources whose agent the last request reached.", "percentunit", now("avg("+ofEach.of("delegraph_source_up")+")", "")).rising(0.9, 1),
		stat("Parse errors", "Share of the frames of the period that could not be decoded. The objective is at most one in a thousand.", "percentunit",
			now(share(ofEach.increase("", parseErrorsTotal), ofEach.increase("", framesTotal)), "")).judged(objective, 14.4*objective),
		stat("Error budget left, 30 days", "Share left of the thirty days' budget of parse errors, one frame in a thousand; below 0 it is overspent. Needs the recording rules.", "percentunit",
			// Sums and not means: a source that is there since yesterday has a day's part in the thirty.
			now(fmt.Sprintf("1 - sum(sum_over_time(%s[30d])) / sum(sum_over_time(%s[30d])) / %g", ofRecords.of(recordedErrors), ofRecords.of(recordedFrames), objective), "")).rising(0, 0.25),
		stat("Configuration loaded", "Whether the last reload of the configuration succeeded on every instance.", "bool_yes_no",
			now("min("+ofDelegraph.of("delegraph_config_last_reload_successful")+")", "")).rising(1, 1),
	}
}

func parsing() []panel {
	var windows []grafana.Target
	for _, window := range []string{"5m", "1h", "6h", "3d"} {
		windows = append(windows, ask(fmt.Sprintf("max(%s) / %g", ofRecords.of(recordedRatio+window), objective), window))
	}
	burn := lines("Budget burn", "How many times faster than allowed the worst source spends its budget, over four windows. Pages at 14.4 (an hour) and 6 (six hours), a ticket at 1 (three days). Needs the recording rules.", "none", windows...)
	return []panel{
		lines("Frames that could not be decoded", "Share of frames, by source, against the objective of one in a thousand.", "percentunit",
			ask(share(ofEach.rate("source", parseErrorsTotal), ofEach.rate("source", framesTotal)), "{{source}}")).line(objective).sized(6, 8),
		stacked("Parse errors by reason", "Frames that could not be decoded, by why.", "short",
			ask(ofEach.each("reason", parseErrorsTotal), "{{reason}}")).sized(6, 8),
		stacked("Parse errors by dialect", "Frames that could not be decoded, by the protocol that they were read as; unknown where no protocol knows the stream.", "short",
			ask(ofEach.each("dialect", parseErrorsTotal), "{{dialect}}")).sized(6, 8),
		burn.sized(6, 8),
	}
}

func events() []panel {
	return []panel{
		lines("Frames a second", "Frames of agents' streams, those that could not be decoded included, by source.", "cps", ask(ofEach.rate("source", framesTotal), "{{source}}")).sized(6, 8),
		lines("Bytes a second", "Size of the frames on the wire, by source.", "Bps", ask(ofEach.rate("source", "delegraph_frame_bytes_total"), "{{source}}")).sized(6, 8),
		stacked("Events a second by dialect", "Facts decoded from frames, by the protocol that they were read as.", "cps", ask(ofEach.rate("dialect", "delegraph_events_total"), "{{dialect}}")).sized(6, 8),
		stacked("Events a second by kind", "Facts decoded from frames. A frame may state several.", "cps", ask(ofEach.rate("kind", "delegraph_events_total"), "{{kind}}")).sized(6, 8),
		lines("Internal frames a second", "Frames that their protocol calls internal, by source and name. They are counted, and never sent to readers.", "cps",
			ask(ofEach.rate("source, name", "delegraph_internal_events_total"), "{{source}} {{name}}")).sized(6, 8),
		stacked("Unknown kinds of events", "Frames of a kind that this version does not know, by its name. They are decoded no further, and leave by no way but a verbatim relay. The agent speaks a newer version of its protocol, or an extension of it.", "short",
			ask(ofEach.eachFromFirst("dialect, name", "delegraph_unknown_events_total"), "{{dialect}} {{name}}")).sized(6, 8),
		stacked("Late frames", "Frames that came after their run or agent had ended, and whose facts were dropped, by source. If there are many, runs.idle_timeout may be too short.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_late_frames_total"), "{{source}}")).sized(6, 8),
		stacked("Frames sent again", "Frames that a server sent again after an interruption, and that count once, by source.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_source_repeated_frames_total"), "{{source}}")).sized(6, 8),
		stacked("Tool calls that do not add up", "Runs of which their protocol says at the end that there were more tool calls, or fewer, than were seen, by source.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_run_tool_calls_mismatches_total"), "{{source}}")).sized(6, 8),
	}
}

func sources() []panel {
	return []panel{
		steps("Source up", "Whether the last request reached the agent: 1, or 0.", "none", ask("min by (source) ("+ofEach.of("delegraph_source_up")+")", "{{source}}")).sized(6, 8),
		stacked("Requests that failed", "Requests that did not reach the agent, or whose answer broke off, by source.", "short",
			ask(ofEach.each("source", "delegraph_source_upstream_errors_total"), "{{source}}")).sized(6, 8),
		lines("Lag", "Time of receipt less the time that the agent reports for the event: delay, and the difference of two clocks.", "s",
			ask(ofEach.quantile(0.95, "source", eventLag, interval), "{{source}} p95"),
			ask(ofEach.quantile(0.5, "source", eventLag, interval), "{{source}} p50")).sized(6, 8),
		lines("Agents' clocks", "Time of receipt less time reported at its least: how far each agent's clock is behind ours. Below 0 it is ahead.", "s",
			ask("avg by (source) ("+ofEach.of("delegraph_source_clock_offset_seconds")+")", "{{source}}")).fromAnywhere().sized(6, 8),
		stacked("Reconnects", "Attempts of tails to get their streams back, by source.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_source_reconnects_total"), "{{source}}")).sized(6, 8),
		stacked("Frames missed", "Frames that a tail did not get while it was not connected, by the numbers in their ids, by source. Streams whose ids number no frames show none.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_source_missed_frames_total"), "{{source}}")).sized(6, 8),
		lines("Since the last event", "Time since the last frame that could be decoded was received, by source.", "s",
			ask("time() - max by (source) ("+ofEach.of("delegraph_source_last_event_timestamp_seconds")+")", "{{source}}")).sized(6, 8),
		lines("Not observed", "Bytes that went to the client and were not observed, because observation had fallen behind.", "Bps",
			ask(ofEach.rate("source", "delegraph_source_unobserved_bytes_total"), "{{source}}")).sized(6, 8),
		stacked("Frames withheld from agents' clients", "Frames that a filtered relay kept in, by why. Where an agent has internal events, internal is what the filter is for.", "short",
			ask(ofEach.eachFromFirst("reason", "delegraph_relay_frames_withheld_total"), "{{reason}}")).sized(6, 8),
		stacked("Frames relayed without their id", "Frames whose id was not fit to be sent back, so that a client cannot resume there, by source.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_relay_ids_withheld_total"), "{{source}}")).sized(6, 8),
		stacked("Requests not understood", "Run requests that could not be read for session, user and app, by why. Their runs are seen, without these names.", "short",
			ask(ofEach.eachFromFirst("reason", "delegraph_source_unread_requests_total"), "{{reason}}")).sized(6, 8),
		stacked("Agent cards passed unchanged", "Agent cards that lead clients around the proxy, or may do so, by why. Give the agent its public URL.", "short",
			ask(ofEach.eachFromFirst("reason", "delegraph_source_cards_unchanged_total"), "{{reason}}")).sized(6, 8),
		stacked("Sessions no longer listened to", "Streams of sessions that a tail closed to make room for another session's, by source.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_source_sessions_evicted_total"), "{{source}}")).sized(6, 8),
		stacked("Unrecognized streams", "Event streams of no known protocol on paths that need not be an agent's, by source. They are passed on and are no parse errors.", "short",
			ask(ofEach.eachFromFirst("source", "delegraph_unrecognized_streams_total"), "{{source}}")).sized(6, 8),
		lines("Open runs", "Runs that have begun and not ended, by source.", "short", ask(ofEach.latest("source", "delegraph_runs_open"), "{{source}}")).sized(6, 8),
		stacked("Runs and operations let go of", "Runs, operations and facts ended for idleness (expired), or let go of because a limit was reached (evicted).", "short",
			ask(ofDelegraph.eachFromFirst("", "delegraph_operations_expired_total"), "expired"),
			ask(ofDelegraph.eachFromFirst("", "delegraph_operations_evicted_total"), "evicted")).coloured("evicted", "red").sized(6, 8),
	}
}

func subscribers() []panel {
	return []panel{
		lines("Subscribers", "Subscribers that are connected, by instance.", "short", ask(ofDelegraph.latest("instance", "delegraph_stream_subscribers"), "{{instance}}")).sized(6, 8),
		lines("Frames sent a second", "Frames sent, one for each subscriber that got it, by instance.", "cps", ask(ofDelegraph.rate("instance", "delegraph_stream_frames_sent_total"), "{{instance}}")).sized(6, 8),
		stacked("Frames that did not leave", "Frames that the filter or a limit kept in, by why. Policy and internal are as they should be.", "short",
			ask(ofDelegraph.eachFromFirst("reason", "delegraph_stream_frames_dropped_total"), "{{reason}}")).sized(6, 8),
		stacked("Connections ended", "Subscribers whose connection ended, by why. Those that fell off or timed out were cut off for reading too slowly.", "short",
			ask(ofDelegraph.each("reason", "delegraph_stream_disconnects_total"), "{{reason}}")).
			coloured("fell_off", "red", "write_timeout", "dark-red").sized(6, 8),
		stacked("Resumes and gaps", "Subscribers that came back with an id: continued without a gap, or what the gap was.", "short",
			ask(ofDelegraph.eachFromFirst("outcome", "delegraph_stream_resumes_total"), "{{outcome}}")).coloured("continued", "green").sized(8, 8),
		stacked("Requests refused", "Requests that were given no stream, by why.", "short",
			ask(ofDelegraph.eachFromFirst("reason", "delegraph_stream_refusals_total"), "{{reason}}")).sized(8, 8),
		stacked("Tokens and tickets", "Readings of the tokens file that failed, after which the tokens stayed as they were, and tickets that made room for later ones before they were used.", "short",
			ask(ofDelegraph.each("", "delegraph_stream_tokens_file_failures_total"), "tokens file"),
			ask(ofDelegraph.each("", "delegraph_stream_tickets_evicted_total"), "tickets")).coloured("tokens file", "red").sized(8, 8),
		lines("Kept for those who come back", "Size of the replay buffer, by instance.", "bytes", ask(ofDelegraph.latest("instance", "delegraph_stream_replay_bytes"), "{{instance}}")).sized(12, 8),
		lines("Frames kept", "Frames in the replay buffer, by instance.", "short", ask(ofDelegraph.latest("instance", "delegraph_stream_replay_frames"), "{{instance}}")).sized(12, 8),
	}
}

func store() []panel {
	return []panel{
		lines("Frames published a second", "Frames published to the store, by instance, and those that another had published before.", "cps",
			ask(ofDelegraph.rate("instance", "delegraph_stream_store_published_total"), "{{instance}}"),
			ask(ofDelegraph.rate("", "delegraph_stream_store_repeated_total"), "had been published")).sized(8, 8),
		lines("Frames that wait to be published", "Size of the queue, by instance. One that grows is a store that is away or too slow.", "bytes",
			ask(ofDelegraph.latest("instance", "delegraph_stream_store_queue_bytes"), "{{instance}}")).sized(8, 8),
		stacked("Frames not published", "Frames dropped on their way to the store, by why, and attempts that were made again. Readers are told of what was dropped.", "short",
			ask(ofDelegraph.each("reason", "delegraph_stream_store_dropped_total"), "{{reason}}"),
			ask(ofDelegraph.each("", "delegraph_stream_store_publish_retries_total"), "tried again")).sized(8, 8),
		lines("Store reached", "Whether the servers of the store are reached, by instance.", "short",
			ask(ofDelegraph.latest("instance", "delegraph_stream_store_connected"), "{{instance}}")).sized(8, 8),
		lines("Feeds", "Sessions that are brought out of the store for their readers, by instance.", "short",
			ask(ofDelegraph.latest("instance", "delegraph_stream_feeds"), "{{instance}}")).sized(8, 8),
		stacked("Gaps in feeds", "Gaps that readers were told of: let go of by the store (evicted), or dropped before it (lost); and attempts to bring a feed that failed.", "short",
			ask(ofDelegraph.each("reason", "delegraph_stream_feed_gaps_total"), "{{reason}}"),
			ask(ofDelegraph.each("", "delegraph_stream_feed_retries_total"), "tried again")).coloured("lost", "red").sized(8, 8),
	}
}

func delivery() []panel {
	return []panel{
		lines("Spans exported a second", "Spans that the trace backend took, by instance.", "cps", ask(ofDelegraph.rate("instance", "delegraph_spans_exported_total"), "{{instance}}")),
		lines("Spans queued", "Spans that wait for the trace backend, by instance. A queue that grows is a backend that is away or too slow.", "short",
			ask(ofDelegraph.latest("instance", "delegraph_spans_queued"), "{{instance}}")),
		stacked("Spans dropped", "Spans that did not reach the trace backend, by why.", "short",
			ask(ofDelegraph.each("reason", "delegraph_spans_dropped_total"), "{{reason}}")),
	}
}

func process() []panel {
	return []panel{
		lines("Memory", "Resident memory, by instance.", "bytes", ask(ofDelegraph.latest("instance", "process_resident_memory_bytes"), "{{instance}}")).sized(8, 8),
		lines("Queues and buffers", "Bytes that queues and buffers hold, by buffer, and the budget that they share.", "bytes",
			ask(ofDelegraph.latest("buffer", "delegraph_memory_used_bytes"), "{{buffer}}"),
			ask(ofDelegraph.latest("", "delegraph_memory_budget_bytes"), "budget")).sized(8, 8),
		stacked("Shed for lack of memory", "Times that the memory budget refused a queue or made a buffer drop something, by buffer.", "short",
			ask(ofDelegraph.eachFromFirst("buffer", "delegraph_memory_shed_total"), "{{buffer}}")).sized(8, 8),
		lines("Heap", "Memory of live and not yet collected objects, by instance.", "bytes", ask(ofDelegraph.latest("instance", "go_memstats_heap_alloc_bytes"), "{{instance}}")).sized(8, 8),
		lines("CPU", "Share of one processor, by instance.", "percentunit", ask(ofDelegraph.rate("instance", "process_cpu_seconds_total"), "{{instance}}")).sized(8, 8),
		lines("Faults of its own", "Panics of Delegraph's own code that were recovered, by the part that panicked.", "short",
			ask(ofDelegraph.each("component", "delegraph_panics_total"), "{{component}}")).sized(8, 8),
		stacked("Label values replaced", "Values replaced by _other because there were too many, by label.", "short",
			ask(ofDelegraph.each("label", "delegraph_label_overflow_total"), "{{label}}")).sized(8, 8),
		stacked("Log lines dropped", "Log lines that were not written, because nobody reads what is written or there is no room for it, by instance.", "short",
			ask(ofDelegraph.each("instance", "delegraph_log_lines_dropped_total"), "{{instance}}")).sized(8, 8),
	}
}
