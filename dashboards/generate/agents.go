package main

import (
	"fmt"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// The scopes of the agents' dashboard.
var (
	ofAgents     = scope{ofNamespace, ofJob, ofSource, ofAgent}
	ofSources    = scope{ofNamespace, ofJob, ofSource}
	ofOperations = scope{ofNamespace, ofJob, ofSource, `gen_ai_agent_name=~"$agent"`}
	ofTransfers  = scope{ofNamespace, ofJob, ofSource, `from_agent=~"$agent"`} // to any agent
)

var (
	runDuration       = histogram{"delegraph_run_duration_seconds"}
	firstText         = histogram{"delegraph_run_time_to_first_text_seconds"}
	agentDuration     = histogram{"gen_ai_invoke_agent_duration_seconds"}
	runModelCalls     = histogram{"delegraph_run_model_calls"}
	runToolCalls      = histogram{"delegraph_run_tool_calls"}
	delegationDepth   = histogram{"delegraph_run_delegation_depth"}
	inferenceCalls    = histogram{"gen_ai_invoke_agent_inference_calls"}
	invocationTools   = histogram{"gen_ai_invoke_agent_tool_calls"}
	toolDuration      = histogram{"gen_ai_execute_tool_duration_seconds"}
	inferenceDuration = histogram{"gen_ai_client_operation_duration_seconds", "gen_ai_client_inference_duration_seconds"}
	firstChunk        = histogram{"gen_ai_client_operation_time_to_first_chunk_seconds"}
	confidence        = histogram{"delegraph_confidence_ratio"}
	inputWait         = histogram{"delegraph_input_wait_seconds"}
)

const (
	runsEnded    = "delegraph_runs_ended_total"
	toolCalls    = "delegraph_tool_calls_total"
	toolFailures = "delegraph_tool_call_failures_total"

	hasFailed = `status=~"failed|timed_out"`
	isError   = `error_type!~"|canceled"` // a run that the client canceled is not an error
)

func agentsDashboard() grafana.Dashboard {
	return newDashboard("delegraph-agents", "Agents", "What AI agents do, as seen in their event streams: runs, agents, tools, models, delegation, confidence and human input.",
		[]grafana.Variable{namespaceVariable, jobVariable, sourceVariable, agentVariable},
		[]row{
			{"Overview", "No runs in this period", overview()},
			{"Runs", "No runs ended in this period", runs()},
			{"Agent invocations", "No agent invocation of known duration ended in this period", agents()},
			{"Tools", "No tool calls in this period", tools()},
			{"Delegation", "No delegation in this period", delegation()},
			{"Models", "The stream states no model responses in this period", models()},
			{"Errors by code", "No errors in this period", failures()},
			{"Confidence and citations", "No answer states this in this period", proof()},
			{"Human input", "No requests for input in this period", humanInput()},
			{"Plans and artifacts", "The stream states no plans or artifacts in this period", plansAndArtifacts()},
		})
}

func overview() []panel {
	ended := ofAgents.increaseFromFirst("", runsEnded)
	return []panel{
		stat("Runs ended", "Runs that ended in the selected period, with any status.", "short", instantQuery(ended, "")).whole().linked(),
		stat("Failed or timed out", "Share of the runs that ended in the period and failed or timed out.", "percentunit",
			instantQuery(share(ofAgents.increaseFromFirst("", runsEnded, hasFailed), ended), "")).redAbove(0.05, 0.1).linked("failed"),
		stat("Open now", "Runs in progress.", "short", instantQuery(ofSources.latest("", "delegraph_runs_open"), "")).linked("running"),
		stat("Run, p95", "95% of the runs took at most this long.", "s", instantQuery(ofAgents.quantile(0.95, "", runDuration, period), "")).linked(),
		stat("First text, p95", "95% of the runs sent their first text within this time after the request.", "s",
			instantQuery(ofAgents.quantile(0.95, "", firstText, period), "")).redAbove(10, 20).linked(),
		stat("Tool calls failed", "Share of the tool calls in the period whose response was an error.", "percentunit",
			instantQuery(share(ofAgents.increaseFromFirst("", toolFailures), ofAgents.increaseFromFirst("", toolCalls)), "")).redAbove(0.1, 0.25).linked(),
	}
}

func runs() []panel {
	ended := ofAgents.rate("agent", runsEnded)
	return []panel{
		lines("Runs per minute", "Runs ended, by root agent.", "cpm", rangeQuery(perMinute(ended), "{{agent}}")).linked(),
		stacked("How runs end", "Runs ended, by status. An interrupted run waits for human input. An incomplete run ended with work pending.", "short",
			rangeQuery(ofAgents.eachFromFirst("status", runsEnded), "{{status}}")).
			colored("completed", "green", "failed", "red", "timed_out", "dark-red", "interrupted", "blue", "incomplete", "orange", "canceled", "purple").linked(),
		lines("Runs failed or timed out", "Share of the runs ended, by agent.", "percentunit",
			rangeQuery(share(ofAgents.rate("agent", runsEnded, hasFailed), ended), "{{agent}}")).linked("failed"),
		lines("Duration of runs", "Time from forwarding the request to the end of its stream. Each dot is one run and links to its trace.", "s",
			withExemplars(rangeQuery(ofAgents.quantile(0.95, "agent", runDuration, interval), "{{agent}} p95")),
			rangeQuery(ofAgents.quantile(0.5, "agent", runDuration, interval), "{{agent}} p50")).sized(12, 9).linked(),
		lines("Time to first text", "Time from forwarding the request to the first text of the answer.", "s",
			rangeQuery(ofAgents.quantile(0.95, "agent", firstText, interval), "{{agent}} p95"),
			rangeQuery(ofAgents.quantile(0.5, "agent", firstText, interval), "{{agent}} p50")).sized(12, 9).linked(),
		lines("Calls per run", "Mean number of tool calls and model calls in one run, by all of its agents together. Runs in which none is seen are left out.", "short",
			rangeQuery(ofAgents.mean("agent", runToolCalls), "{{agent}} tools"),
			rangeQuery(ofAgents.mean("agent", runModelCalls), "{{agent}} models")).sized(12, 8).linked(),
		lines("Depth of delegation", "Number of agents above the deepest one of a run: 0 if no agent delegates, 1 if an agent calls another or transfers control to it.", "short",
			rangeQuery(ofAgents.quantile(0.95, "agent", delegationDepth, interval), "{{agent}} p95"),
			rangeQuery(ofAgents.mean("agent", delegationDepth), "{{agent}} mean")).sized(12, 8).linked(),
	}
}

func agents() []panel {
	const by, legend = "gen_ai_agent_name", "{{gen_ai_agent_name}}"
	ended := ofOperations.count(by, agentDuration, interval)
	return []panel{
		lines("Invocations per minute", "Ended invocations of each agent, by users or by other agents. Invocations of unknown duration are left out.", "cpm", rangeQuery(perMinute(ended), legend)),
		lines("Invocations failed", "Share of each agent's invocations that ended in an error.", "percentunit",
			rangeQuery(share(ofOperations.count(by, agentDuration, interval, isError), ended), legend)),
		lines("Duration of invocations, p95", "How long agents had control. Each dot is one invocation and links to its trace.", "s",
			withExemplars(rangeQuery(ofOperations.quantile(0.95, by, agentDuration, interval), legend))),
		lines("Model calls per invocation", "Mean number of model calls in one invocation of an agent. If only this rises, the agent is probably looping.", "short",
			rangeQuery(ofOperations.mean(by, inferenceCalls), legend)).sized(12, 8),
		lines("Tool calls per invocation", "Mean number of tool calls in one invocation of an agent, including transfers.", "short",
			rangeQuery(ofOperations.mean(by, invocationTools), legend)).sized(12, 8),
	}
}

func tools() []panel {
	calls := ofAgents.rate("tool", toolCalls)
	all := ofAgents.increaseFromFirst("agent, tool", toolCalls)
	slow := ofOperations.quantile(0.95, "gen_ai_agent_name, gen_ai_tool_name", toolDuration, period)
	return []panel{
		lines("Tool calls per minute", "Tool calls ended, including failed ones, by tool.", "cpm", rangeQuery(perMinute(calls), "{{tool}}")),
		lines("Tool calls failed", "Share of each tool's calls whose response was an error.", "percentunit",
			rangeQuery(share(ofAgents.rate("tool", toolFailures), calls), "{{tool}}")),
		lines("Duration of tool calls, p95", "Time from a call to its response, by tool. Each dot is one call and links to its trace.", "s",
			withExemplars(rangeQuery(ofOperations.quantile(0.95, "gen_ai_tool_name", toolDuration, interval), "{{gen_ai_tool_name}}"))),
		table("Tools by agent", "Each agent's tools in the period: number of calls, share of failed calls, and duration. The tools that fail most often come first.", "Failed",
			[]column{{"agent", "Agent", ""}, {"tool", "Tool", ""}, {"A", "Calls", "short"}, {"B", "Failed", "percentunit"}, {"C", "Duration, p95", "s"}},
			tableQuery("round("+all+")"),
			tableQuery(share(ofAgents.increaseFromFirst("agent, tool", toolFailures), all)),
			tableQuery("max by (agent, tool) ("+copyLabel(copyLabel("("+slow+")", "gen_ai_agent_name", "agent"), "gen_ai_tool_name", "tool")+")")).sized(24, 9),
	}
}

func delegation() []panel {
	called := ofAgents.increaseFromFirst("agent, tool", toolCalls, `tool!="transfer_to_agent"`)
	handedOver := ofTransfers.increaseFromFirst("from_agent, to_agent", "delegraph_transfers_total")
	edges := edge(called, "agent", "tool") + " or " + edge(handedOver, "from_agent", "to_agent")
	return []panel{
		// topk, because the names of more would lie over each other.
		graph("Who delegates to whom", "Transfers between agents, and tool calls, in the period. Some tools are agents. The numbers are counts. Only the fifty most frequent pairs are shown.",
			tableQuery("topk(50, round(sum by (id, source, target) ("+edges+")) > 0)")).sized(24, 18),
		// topk, because there may be a thousand pairs.
		lines("Transfers per minute", "Transfers of control from one agent to another. Only the twenty most frequent pairs are shown at each point.", "cpm",
			rangeQuery("topk(20, "+perMinute(ofTransfers.rate("from_agent, to_agent", "delegraph_transfers_total"))+")", "{{from_agent}} → {{to_agent}}")).sized(12, 8),
		stacked("Transfer loops", "Transfers of control back to an agent that had already transferred it in the same chain. Many of them mean that agents pass a task around.", "short",
			rangeQuery(ofTransfers.eachFromFirst("from_agent, to_agent", "delegraph_transfer_loops_total"), "{{from_agent}} → {{to_agent}}")).sized(12, 8),
	}
}

func models() []panel {
	const by, legend = "gen_ai_response_model", "{{gen_ai_response_model}}"
	ended := ofSources.count(by, inferenceDuration, interval)
	return []panel{
		stacked("Tokens per minute", "Tokens of model responses by type, or of whole runs if the protocol reports usage only per run. Output includes reasoning tokens, and input includes cached tokens.", "cpm",
			rangeQuery(perMinute(ofSources.tokens("gen_ai_token_type")), "{{gen_ai_token_type}}")),
		lines("Tokens per minute, by model", "Input and output tokens, by the model that the stream names.", "cpm",
			rangeQuery(perMinute(ofSources.tokens(by)), legend)),
		lines("Duration of responses, p95", "Time from the earliest possible request to the complete response. Each dot is one response and links to its trace.", "s",
			withExemplars(rangeQuery(ofSources.quantile(0.95, by, inferenceDuration, interval), legend))),
		lines("Time to first chunk, p95", "Time from the earliest possible request to the first chunk, for streamed responses.", "s",
			rangeQuery(ofSources.quantile(0.95, by, firstChunk, interval), legend)),
		lines("Time per output token", "Duration of responses divided by their output tokens, by model. It includes the time to the first chunk. Responses of unknown duration make it too low.", "s",
			rangeQuery(ofSources.total(by, inferenceDuration, interval)+" / ("+ofSources.outputTokens(by)+" > 0)", legend)),
		lines("Responses failed", "Share of each model's responses that were errors, such as an exhausted quota.", "percentunit",
			rangeQuery(share(ofSources.count(by, inferenceDuration, interval, isError), ended), legend)),
	}
}

func failures() []panel {
	const by, legend = "error_type", "{{error_type}}"
	return []panel{
		stacked("Errors of agents", "Agent invocations that ended in an error, including whole runs, by the code in the stream: one that a model or tool reported, or the class of an exception.", "short",
			rangeQuery(ofOperations.countFromFirst(by, agentDuration, isError), legend)),
		stacked("Errors of tools", "Tool calls whose response was an error, by the code in the stream.", "short",
			rangeQuery(ofOperations.countFromFirst(by, toolDuration, isError), legend)),
		stacked("Errors of models", "Model responses that were errors, by the code in the stream, such as RESOURCE_EXHAUSTED or SAFETY.", "short",
			rangeQuery(ofSources.countFromFirst(by, inferenceDuration, isError), legend)),
	}
}

func proof() []panel {
	stated := []string{`origin!="thought"`}
	return []panel{
		heatmap("Confidence", "Confidence stated in answers, from 0 to 1. Darker means more answers. Thoughts are left out.", "percentunit",
			rangeQuery(ofAgents.buckets(confidence, stated...), "{{le}}")).sized(12, 9),
		lines("Mean confidence", "Mean of the confidence stated in answers, by the agent or tool that states it.", "percentunit",
			rangeQuery(ofAgents.mean("agent", confidence, stated...), "{{agent}}")).sized(12, 9),
		lines("Answers without confidence per minute", "Final texts that state no confidence, by agent.", "cpm",
			rangeQuery(perMinute(ofAgents.rate("agent", "delegraph_answers_without_confidence_total")), "{{agent}}")).sized(12, 8),
		stacked("Unreadable confidence", "Values marked as a confidence that could not be read, by reason.", "short",
			rangeQuery(ofSources.eachFromFirst("reason", "delegraph_proof_unreadable_total"), "{{reason}}")).sized(12, 8),
		lines("Citations per minute", "Citations in answers, by the agent or tool that cites.", "cpm",
			rangeQuery(perMinute(ofAgents.rate("agent", "delegraph_citations_total")), "{{agent}}")).sized(12, 8),
	}
}

func humanInput() []panel {
	return []panel{
		stacked("Requests for input", "Requests for external input, by kind: a confirmation, a choice, data, a credential, or the result of a long-running tool.", "short",
			rangeQuery(ofSources.eachFromFirst("kind", "delegraph_input_requests_total"), "{{kind}}")),
		lines("Wait for input", "Time from a request for input to its answer on the same stream. Requests answered by a later run are left out.", "s",
			rangeQuery(ofSources.quantile(0.95, "kind", inputWait, interval), "{{kind}} p95"),
			rangeQuery(ofSources.quantile(0.5, "kind", inputWait, interval), "{{kind}} p50")),
		stacked("Requests expired", "Requests for input that were not answered before their run timed out.", "short",
			rangeQuery(ofSources.eachFromFirst("kind", "delegraph_input_expired_total"), "{{kind}}")),
	}
}

func plansAndArtifacts() []panel {
	return []panel{
		stacked("Plan items at end of run", "Items of the runs' plans, by their status when the run ended.", "short",
			rangeQuery(ofSources.eachFromFirst("status", "delegraph_plan_items_total"), "{{status}}")).
			colored("completed", "green", "in_progress", "orange", "pending", "blue", "canceled", "purple").sized(6, 8),
		stacked("Artifacts written", "Artifacts written by runs, by kind.", "short",
			rangeQuery(ofSources.eachFromFirst("kind", "delegraph_artifacts_total"), "{{kind}}")).sized(6, 8),
		lines("Artifact bytes per second", "Size of the artifacts written by runs, by kind. Artifacts of unknown size are left out.", "Bps",
			rangeQuery(ofSources.rate("kind", "delegraph_artifact_bytes_total"), "{{kind}}")).sized(6, 8),
		stacked("Missing and repeated chunks", "Gaps in the chunk numbers of artifacts, and chunks received more than once.", "short",
			rangeQuery(ofSources.eachFromFirst("", "delegraph_artifact_chunks_missing_total"), "missing"),
			rangeQuery(ofSources.eachFromFirst("", "delegraph_artifact_chunks_repeated_total"), "repeated")).colored("missing", "red").sized(6, 8),
	}
}

// edge turns each series into an edge of the graph, between the values of two of its labels.
func edge(expr, from, to string) string {
	return fmt.Sprintf(`label_join(%s, "id", " → ", %q, %q)`, copyLabel(copyLabel(expr, from, "source"), to, "target"), from, to)
}

// copyLabel copies a label's value to another label.
func copyLabel(expr, label, name string) string {
	return fmt.Sprintf(`label_replace(%s, %q, "$1", %q, "(.*)")`, expr, name, label)
}
