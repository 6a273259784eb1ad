package main

import (
	"fmt"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// The scopes of Delegraph's own dashboard. Recorded series have no instance.
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

	// objective is the share of frames that may be parse errors: an error budget of one in a thousand.
	objective = 0.001
)

func itselfDashboard() grafana.Dashboard {
	return newDashboard("delegraph-itself", "Delegraph itself", "Whether Delegraph observes and delivers everything: parse errors, sources, external stream, spans and memory.",
		[]grafana.Variable{namespaceVariable, jobVariable, instanceVariable, sourceVariable},
		[]row{
			{"Health", "No instance is scraped, or the rules are not loaded", health()},
			{"Parse errors", "No frames in this period", linkSources(parsing())},
			{"Events", "No such events in this period", linkSources(events())},
			{"Sources", "Nothing of this kind in this period", linkSources(sources())},
			{"External stream", "No external stream in this period", subscribers()},
			{"External stream store (NATS JetStream)", "No store is configured, or nothing of this kind happened in this period", store()},
			{"Spans", "No spans in this period", delivery()},
			{"Process", "Nothing of this kind in this period", process()},
		})
}

func health() []panel {
	return []panel{
		stat("Running", "Delegraph instances that are scraped.", "short", instantQuery("count("+ofDelegraph.of("delegraph_build_info")+")", "")),
		stat("Versions", "Running versions.", "none", instantQuery("count by (version) ("+ofDelegraph.of("delegraph_build_info")+")", "{{version}}")).names(),
		stat("Sources up", "Share of the sources whose last request reached the agent.", "percentunit", instantQuery("avg("+ofEach.of("delegraph_source_up")+")", "")).greenAbove(0.9, 1),
		stat("Parse errors", "Share of the period's frames that could not be decoded. The objective is at most one in a thousand.", "percentunit",
			instantQuery(share(ofEach.increase("", parseErrorsTotal), ofEach.increase("", framesTotal)), "")).redAbove(objective, 14.4*objective),
		stat("Error budget left, 30 days", "Share left of the 30-day budget for parse errors, which is one frame in a thousand. Below 0 the budget is overspent. Needs the recording rules.", "percentunit",
			// Sums instead of means, so that a source that is one day old has the weight of one day.
			instantQuery(fmt.Sprintf("1 - sum(sum_over_time(%s[30d])) / sum(sum_over_time(%s[30d])) / %g", ofRecords.of(recordedErrors), ofRecords.of(recordedFrames), objective), "")).greenAbove(0, 0.25),
		stat("Configuration loaded", "Whether the last reload of the configuration succeeded on every instance.", "bool_yes_no",
			instantQuery("min("+ofDelegraph.of("delegraph_config_last_reload_successful")+")", "")).greenAbove(1, 1),
	}
}

func parsing() []panel {
	var windows []grafana.Target
	for _, window := range []string{"5m", "1h", "6h", "3d"} {
		windows = append(windows, rangeQuery(fmt.Sprintf("max(%s) / %g", ofRecords.of(recordedRatio+window), objective), window))
	}
	burn := lines("Budget burn", "How many times faster than allowed the worst source spends its error budget, over four windows. Alerts page at 14.4 (1 hour) and 6 (6 hours) and open a ticket at 1 (3 days). Needs the recording rules.", "none", windows...)
	return []panel{
		lines("Parse error ratio", "Share of frames that could not be decoded, by source. The line is the objective of one in a thousand.", "percentunit",
			rangeQuery(share(ofEach.rate("source", parseErrorsTotal), ofEach.rate("source", framesTotal)), "{{source}}")).limitLine(objective).sized(6, 8),
		stacked("Parse errors by reason", "Frames that could not be decoded, by reason.", "short",
			rangeQuery(ofEach.each("reason", parseErrorsTotal), "{{reason}}")).sized(6, 8),
		stacked("Parse errors by dialect", "Frames that could not be decoded, by dialect. It is unknown if no dialect recognized the stream.", "short",
			rangeQuery(ofEach.each("dialect", parseErrorsTotal), "{{dialect}}")).sized(6, 8),
		burn.sized(6, 8),
	}
}

func events() []panel {
	return []panel{
		lines("Frames per second", "Frames received from agents, including those that could not be decoded, by source.", "cps", rangeQuery(ofEach.rate("source", framesTotal), "{{source}}")).sized(6, 8),
		lines("Bytes per second", "Size of the frames on the wire, by source.", "Bps", rangeQuery(ofEach.rate("source", "delegraph_frame_bytes_total"), "{{source}}")).sized(6, 8),
		stacked("Events per second, by dialect", "Events decoded from frames, by dialect.", "cps", rangeQuery(ofEach.rate("dialect", "delegraph_events_total"), "{{dialect}}")).sized(6, 8),
		stacked("Events per second, by kind", "Events decoded from frames, by kind. A frame may contain several.", "cps", rangeQuery(ofEach.rate("kind", "delegraph_events_total"), "{{kind}}")).sized(6, 8),
		lines("Internal frames per second", "Frames that their protocol marks as internal, by source and name. They are counted and never sent to subscribers.", "cps",
			rangeQuery(ofEach.rate("source, name", "delegraph_internal_events_total"), "{{source}} {{name}}")).sized(6, 8),
		stacked("Unknown event kinds", "Frames of a kind unknown to this version, by name. They are not decoded further, and only a verbatim relay passes them on. The agent uses a newer version of its protocol, or an extension.", "short",
			rangeQuery(ofEach.eachFromFirst("dialect, name", "delegraph_unknown_events_total"), "{{dialect}} {{name}}")).sized(6, 8),
		stacked("Late frames", "Frames that arrived after their run or agent had ended, by source. Their events were dropped. If there are many, runs.idle_timeout may be too short.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_late_frames_total"), "{{source}}")).sized(6, 8),
		stacked("Repeated frames", "Frames that a server sent again after an interruption, by source. All other metrics count them once.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_source_repeated_frames_total"), "{{source}}")).sized(6, 8),
		stacked("Tool call count mismatches", "Runs whose protocol reported a different number of tool calls than were seen, by source.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_run_tool_calls_mismatches_total"), "{{source}}")).sized(6, 8),
	}
}

func sources() []panel {
	return []panel{
		steps("Source up", "Whether the last request reached the agent: 1 if it did, 0 if not.", "none", rangeQuery("min by (source) ("+ofEach.of("delegraph_source_up")+")", "{{source}}")).sized(6, 8),
		stacked("Failed requests", "Requests that did not reach the agent, or whose response broke off, by source.", "short",
			rangeQuery(ofEach.each("source", "delegraph_source_upstream_errors_total"), "{{source}}")).sized(6, 8),
		lines("Lag", "Time from an event's own timestamp to its receipt: the delay plus the difference between the clocks.", "s",
			rangeQuery(ofEach.quantile(0.95, "source", eventLag, interval), "{{source}} p95"),
			rangeQuery(ofEach.quantile(0.5, "source", eventLag, interval), "{{source}} p50")).sized(6, 8),
		lines("Clock offset", "Smallest difference between time of receipt and reported time: how far each agent's clock is behind. It is negative if the clock is ahead.", "s",
			rangeQuery("avg by (source) ("+ofEach.of("delegraph_source_clock_offset_seconds")+")", "{{source}}")).withoutMin().sized(6, 8),
		stacked("Reconnects", "Reconnection attempts by tails, by source.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_source_reconnects_total"), "{{source}}")).sized(6, 8),
		stacked("Missed frames", "Frames that a tail missed while disconnected, by source. Known only for streams whose IDs number every frame.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_source_missed_frames_total"), "{{source}}")).sized(6, 8),
		lines("Time since last event", "Time since the last decodable frame was received, by source.", "s",
			rangeQuery("time() - max by (source) ("+ofEach.of("delegraph_source_last_event_timestamp_seconds")+")", "{{source}}")).sized(6, 8),
		lines("Unobserved bytes per second", "Bytes relayed to the client without being observed, by source.", "Bps",
			rangeQuery(ofEach.rate("source", "delegraph_source_unobserved_bytes_total"), "{{source}}")).sized(6, 8),
		stacked("Frames withheld by relays", "Frames that a filtered relay withheld from the agent's client, by reason. The reason internal is expected if an agent sends internal events.", "short",
			rangeQuery(ofEach.eachFromFirst("reason", "delegraph_relay_frames_withheld_total"), "{{reason}}")).sized(6, 8),
		stacked("Event IDs removed", "Relayed frames whose event ID was removed because it contained disallowed characters, by source. A client cannot resume from them.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_relay_ids_withheld_total"), "{{source}}")).sized(6, 8),
		stacked("Unread requests", "Run requests whose session, user and app could not be read, by reason. Their runs are observed without these names.", "short",
			rangeQuery(ofEach.eachFromFirst("reason", "delegraph_source_unread_requests_total"), "{{reason}}")).sized(6, 8),
		stacked("Agent cards unchanged", "Agent cards relayed unchanged although they may lead clients around the proxy, by reason. Configure the agent with its public URL.", "short",
			rangeQuery(ofEach.eachFromFirst("reason", "delegraph_source_cards_unchanged_total"), "{{reason}}")).sized(6, 8),
		stacked("Sessions evicted", "Session streams that a tail closed to make room for another session, by source.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_source_sessions_evicted_total"), "{{source}}")).sized(6, 8),
		stacked("Unrecognized streams", "Streams that no dialect recognized, on paths that are not agent paths, by source. They are relayed unchanged and do not count as parse errors.", "short",
			rangeQuery(ofEach.eachFromFirst("source", "delegraph_unrecognized_streams_total"), "{{source}}")).sized(6, 8),
		lines("Open runs", "Runs in progress, by source.", "short", rangeQuery(ofEach.latest("source", "delegraph_runs_open"), "{{source}}")).sized(6, 8),
		stacked("Runs and operations dropped", "Runs and operations ended after the idle timeout (expired), and runs, operations and facts dropped because of a limit (evicted).", "short",
			rangeQuery(ofDelegraph.eachFromFirst("", "delegraph_operations_expired_total"), "expired"),
			rangeQuery(ofDelegraph.eachFromFirst("", "delegraph_operations_evicted_total"), "evicted")).colored("evicted", "red").sized(6, 8),
	}
}

func subscribers() []panel {
	return []panel{
		lines("Subscribers", "Connected subscribers of the external stream, by instance.", "short", rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_subscribers"), "{{instance}}")).sized(6, 8),
		lines("Frames sent per second", "Frames sent to subscribers, by instance. A frame counts once for each subscriber.", "cps", rangeQuery(ofDelegraph.rate("instance", "delegraph_stream_frames_sent_total"), "{{instance}}")).sized(6, 8),
		stacked("Frames not sent to subscribers", "Frames that the filter withheld or a limit dropped, by reason. The reasons policy and internal are expected.", "short",
			rangeQuery(ofDelegraph.eachFromFirst("reason", "delegraph_stream_frames_dropped_total"), "{{reason}}")).sized(6, 8),
		stacked("Connections ended", "Subscriber connections that ended, by reason. The reasons fell_off and write_timeout mean that the subscriber read too slowly.", "short",
			rangeQuery(ofDelegraph.each("reason", "delegraph_stream_disconnects_total"), "{{reason}}")).
			colored("fell_off", "red", "write_timeout", "dark-red").sized(6, 8),
		stacked("Resumes and gaps", "Subscribers that reconnected with an event ID: continued without a gap, or the reason for the gap.", "short",
			rangeQuery(ofDelegraph.eachFromFirst("outcome", "delegraph_stream_resumes_total"), "{{outcome}}")).colored("continued", "green").sized(8, 8),
		stacked("Refused requests", "Requests that were refused a stream, by reason.", "short",
			rangeQuery(ofDelegraph.each("reason", "delegraph_stream_refusals_total"), "{{reason}}")).sized(8, 8),
		stacked("Tokens and tickets", "Failed reads of the tokens file, after which the previous tokens stay in force, and unused tickets evicted to make room for newer ones.", "short",
			rangeQuery(ofDelegraph.each("", "delegraph_stream_tokens_file_failures_total"), "tokens file"),
			rangeQuery(ofDelegraph.each("", "delegraph_stream_tickets_evicted_total"), "tickets")).colored("tokens file", "red").sized(8, 8),
		lines("Replay buffer size", "Size of the frames in the replay buffer, by instance.", "bytes", rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_replay_bytes"), "{{instance}}")).sized(12, 8),
		lines("Replay buffer frames", "Number of frames in the replay buffer, by instance.", "short", rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_replay_frames"), "{{instance}}")).sized(12, 8),
	}
}

func store() []panel {
	return []panel{
		lines("Frames published per second", "Frames published to the store, by instance, and frames that were already in the store.", "cps",
			rangeQuery(ofDelegraph.rate("instance", "delegraph_stream_store_published_total"), "{{instance}}"),
			rangeQuery(ofDelegraph.rate("", "delegraph_stream_store_repeated_total"), "already stored")).sized(8, 8),
		lines("Publish queue", "Size of the frames waiting to be published, by instance. If it grows, the store is unavailable or too slow.", "bytes",
			rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_store_queue_bytes"), "{{instance}}"),
			rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_store_queue_capacity_bytes"), "capacity of {{instance}}")).sized(8, 8),
		stacked("Frames not published", "Frames dropped instead of published, by reason, and retries of publishing. Readers are told about the gap.", "short",
			rangeQuery(ofDelegraph.each("reason", "delegraph_stream_store_dropped_total"), "{{reason}}"),
			rangeQuery(ofDelegraph.each("", "delegraph_stream_store_publish_retries_total"), "retries")).sized(8, 8),
		lines("Store connected", "Whether the store's servers are connected, by instance.", "short",
			rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_store_connected"), "{{instance}}")).sized(8, 8),
		lines("Feeds", "Feeds that read the stream from the store for subscribers, by instance.", "short",
			rangeQuery(ofDelegraph.latest("instance", "delegraph_stream_feeds"), "{{instance}}")).sized(8, 8),
		stacked("Gaps in feeds", "Gaps in feeds, by reason: frames evicted by the store, or lost before they reached it. Also retries of reading a feed.", "short",
			rangeQuery(ofDelegraph.each("reason", "delegraph_stream_feed_gaps_total"), "{{reason}}"),
			rangeQuery(ofDelegraph.each("", "delegraph_stream_feed_retries_total"), "retries")).colored("lost", "red").sized(8, 8),
	}
}

func delivery() []panel {
	return []panel{
		lines("Spans exported per second", "Spans accepted by the trace backend, by instance.", "cps", rangeQuery(ofDelegraph.rate("instance", "delegraph_spans_exported_total"), "{{instance}}")),
		lines("Spans queued", "Spans waiting to be exported, by instance. If the queue grows, the backend is unavailable or too slow.", "short",
			rangeQuery(ofDelegraph.latest("instance", "delegraph_spans_queued"), "{{instance}}")),
		stacked("Spans dropped", "Spans that did not reach the trace backend, by reason.", "short",
			rangeQuery(ofDelegraph.each("reason", "delegraph_spans_dropped_total"), "{{reason}}")),
	}
}

func process() []panel {
	return []panel{
		lines("Memory", "Resident memory of the process, by instance.", "bytes", rangeQuery(ofDelegraph.latest("instance", "process_resident_memory_bytes"), "{{instance}}")).sized(8, 8),
		lines("Queues and buffers", "Memory used by each queue or buffer, and the budget that they share.", "bytes",
			rangeQuery(ofDelegraph.latest("buffer", "delegraph_memory_used_bytes"), "{{buffer}}"),
			rangeQuery(ofDelegraph.latest("", "delegraph_memory_budget_bytes"), "budget")).sized(8, 8),
		stacked("Memory shed", "Times that the memory budget refused memory to a queue, made a buffer drop data, or disconnected a relayed stream (relays), by buffer.", "short",
			rangeQuery(ofDelegraph.eachFromFirst("buffer", "delegraph_memory_shed_total"), "{{buffer}}")).sized(8, 8),
		lines("Heap", "Memory of heap objects, including those not yet collected, by instance.", "bytes", rangeQuery(ofDelegraph.latest("instance", "go_memstats_heap_alloc_bytes"), "{{instance}}")).sized(8, 8),
		lines("CPU", "CPU usage as a share of one core, by instance.", "percentunit", rangeQuery(ofDelegraph.rate("instance", "process_cpu_seconds_total"), "{{instance}}")).sized(8, 8),
		lines("Recovered panics", "Recovered panics in Delegraph, by component.", "short",
			rangeQuery(ofDelegraph.each("component", "delegraph_panics_total"), "{{component}}")).sized(8, 8),
		stacked("Label values replaced", "Label values replaced by _other, mostly because there were too many, by label.", "short",
			rangeQuery(ofDelegraph.each("label", "delegraph_label_overflow_total"), "{{label}}")).sized(8, 8),
		stacked("Log lines dropped", "Log lines dropped because the log queue was full or the output could not be written, by instance.", "short",
			rangeQuery(ofDelegraph.each("instance", "delegraph_log_lines_dropped_total"), "{{instance}}")).sized(8, 8),
	}
}
