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
	ofHandOvers  = scope{ofNamespace, ofJob, ofSource, `from_agent=~"$agent"`} // to any agent
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

	wentWrong = `status=~"failed|timed_out"`
	inError   = `error_type!~"|canceled"` // a run that its client left is no error
)

func agentsDashboard() grafana.Dashboard {
	return newDashboard("delegraph-agents", "Agents", "What AI agents do, as their event streams tell it: runs, agents, tools, models, delegation, confidence and waits.",
		[]grafana.Variable{namespaceVariable, jobVariable, sourceVariable, agentVariable},
		[]row{
			{"At a glance", glance()},
			{"Runs", runs()},
			{"Agents, within runs too", agents()},
			{"Tools", tools()},
			{"Delegation", delegation()},
			{"Models", models()},
			{"Why things fail", failures()},
			{"Confidence and sources", proof()},
			{"Waiting for people", waits()},
			{"What runs plan and write", products()},
		})
}

func glance() []panel {
	ended := ofAgents.increase("", runsEnded)
	return []panel{
		stat("Runs ended", "Runs that ended in the period, however they did.", "short", now(ended, "")).whole(),
		stat("Failed or timed out", "Share of the runs ended in the period that failed or timed out.", "percentunit",
			now(share(ofAgents.increase("", runsEnded, wentWrong), ended), "")).judged(0.05, 0.1),
		stat("Open now", "Runs that have begun and not ended.", "short", now(ofSources.latest("", "delegraph_runs_open"), "")),
		stat("Run, p95", "Nineteen in twenty runs took at most so long.", "s", now(ofAgents.quantile(0.95, "", runDuration, period), "")),
		stat("First text, p95", "Nineteen in twenty runs showed the first text of an answer within so long of the request.", "s",
			now(ofAgents.quantile(0.95, "", firstText, period), "")).judged(10, 20),
		stat("Tool calls failed", "Share of the tool calls ended in the period whose response was an error.", "percentunit",
			now(share(ofAgents.increase("", toolFailures), ofAgents.increase("", toolCalls)), "")).judged(0.1, 0.25),
	}
}

func runs() []panel {
	ended := ofAgents.rate("agent", runsEnded)
	return []panel{
		lines("Runs a minute", "Runs ended, by the agent that each is named after.", "cpm", ask(perMinute(ended), "{{agent}}")),
		stacked("How runs end", "Runs ended, by status. Interrupted runs wait for a person; incomplete ones ended with something open.", "short",
			ask(ofAgents.eachFromFirst("status", runsEnded), "{{status}}")).
			coloured("completed", "green", "failed", "red", "timed_out", "dark-red", "interrupted", "blue", "incomplete", "orange", "canceled", "purple"),
		lines("Runs failed or timed out", "Share of the runs ended, by agent.", "percentunit",
			ask(share(ofAgents.rate("agent", runsEnded, wentWrong), ended), "{{agent}}")),
		lines("Duration of runs", "From the forwarding of a run's request to the end of its stream. A dot is one run, and leads to its trace.", "s",
			dotted(ask(ofAgents.quantile(0.95, "agent", runDuration, interval), "{{agent}} p95")),
			ask(ofAgents.quantile(0.5, "agent", runDuration, interval), "{{agent}} p50")).sized(12, 9),
		lines("Time to first text", "From the forwarding of a run's request to the first text of an answer: how long somebody looks at nothing.", "s",
			ask(ofAgents.quantile(0.95, "agent", firstText, interval), "{{agent}} p95"),
			ask(ofAgents.quantile(0.5, "agent", firstText, interval), "{{agent}} p50")).sized(12, 9),
		lines("Calls of a run", "Mean number of calls of tools and of models in one run, by all of its agents together, where they are seen.", "short",
			ask(ofAgents.mean("agent", runToolCalls), "{{agent}} tools"),
			ask(ofAgents.mean("agent", runModelCalls), "{{agent}} models")).sized(12, 8),
		lines("Depth of delegation", "Agents above the deepest one of a run: 0 where no agent delegates, 1 where one calls another or hands control over.", "short",
			ask(ofAgents.quantile(0.95, "agent", delegationDepth, interval), "{{agent}} p95"),
			ask(ofAgents.mean("agent", delegationDepth), "{{agent}} mean")).sized(12, 8),
	}
}

func agents() []panel {
	const by, legend = "gen_ai_agent_name", "{{gen_ai_agent_name}}"
	ended := ofOperations.count(by, agentDuration, interval)
	return []panel{
		lines("Invocations a minute", "Invocations of each agent ended, by users or by other agents, where their times are known.", "cpm", ask(perMinute(ended), legend)),
		lines("Invocations failed", "Share of each agent's invocations that ended in an error.", "percentunit",
			ask(share(ofOperations.count(by, agentDuration, interval, inError), ended), legend)),
		lines("Duration of invocations, p95", "How long agents had control. A dot is one invocation, and leads to its trace.", "s",
			dotted(ask(ofOperations.quantile(0.95, by, agentDuration, interval), legend))),
		lines("Model calls of an invocation", "Mean number of model calls that an agent makes in one invocation, where they are seen. One that rises by itself is an agent that goes in circles.", "short",
			ask(ofOperations.mean(by, inferenceCalls), legend)).sized(12, 8),
		lines("Tool calls of an invocation", "Mean number of tool calls that an agent makes in one invocation, hand-overs included, where they are seen.", "short",
			ask(ofOperations.mean(by, invocationTools), legend)).sized(12, 8),
	}
}

func tools() []panel {
	calls := ofAgents.rate("tool", toolCalls)
	all := ofAgents.all("agent, tool", toolCalls)
	slow := ofOperations.quantile(0.95, "gen_ai_agent_name, gen_ai_tool_name", toolDuration, period)
	return []panel{
		lines("Tool calls a minute", "Calls ended, failed ones included, by tool.", "cpm", ask(perMinute(calls), "{{tool}}")),
		lines("Tool calls failed", "Share of each tool's calls whose response was an error.", "percentunit",
			ask(share(ofAgents.rate("tool", toolFailures), calls), "{{tool}}")),
		lines("Duration of tool calls, p95", "From a call to its response, by tool. A dot is one call, and leads to its trace.", "s",
			dotted(ask(ofOperations.quantile(0.95, "gen_ai_tool_name", toolDuration, interval), "{{gen_ai_tool_name}}"))),
		table("Tools of the period", "Every agent's tools: calls, how many of them failed, and how long they took.",
			[]column{{"agent", "Agent", ""}, {"tool", "Tool", ""}, {"A", "Calls", "short"}, {"B", "Failed", "percentunit"}, {"C", "Duration, p95", "s"}},
			records("round("+all+")"),
			records(share(ofAgents.all("agent, tool", toolFailures), all)),
			records("max by (agent, tool) ("+renamed(renamed("("+slow+")", "gen_ai_agent_name", "agent"), "gen_ai_tool_name", "tool")+")")).sized(24, 9),
	}
}

func delegation() []panel {
	called := ofAgents.all("agent, tool", toolCalls, `tool!="transfer_to_agent"`)
	handedOver := ofHandOvers.all("from_agent, to_agent", "delegraph_transfers_total")
	edges := edge(called, "agent", "tool") + " or " + edge(handedOver, "from_agent", "to_agent")
	return []panel{
		graph("Who delegates to whom", "Hand-overs between agents and calls of tools, some of which are agents, in the period. The numbers are how many.",
			records("round(sum by (id, source, target) ("+edges+")) > 0")).sized(16, 12),
		// There may be a thousand pairs.
		lines("Hand-overs a minute", "Hand-overs of control from one agent to another, the twenty most frequent at each moment.", "cpm",
			ask("topk(20, "+perMinute(ofHandOvers.rate("from_agent, to_agent", "delegraph_transfers_total"))+")", "{{from_agent}} → {{to_agent}}")).sized(8, 12),
		stacked("Hand-overs in circles", "Hand-overs of control to an agent that had handed it over before on the way. Many of them are agents that pass a task around.", "short",
			ask(ofHandOvers.eachFromFirst("from_agent, to_agent", "delegraph_transfer_loops_total"), "{{from_agent}} → {{to_agent}}")).sized(24, 8),
	}
}

func models() []panel {
	const by, legend = "gen_ai_response_model", "{{gen_ai_response_model}}"
	ended := ofSources.count(by, inferenceDuration, interval)
	return []panel{
		stacked("Tokens a minute", "Tokens by type, of model responses, or of whole runs where the protocol ties them to no response. Output has the tokens of thoughts in it, input those from a cache.", "cpm",
			ask(perMinute(ofSources.used("gen_ai_token_type")), "{{gen_ai_token_type}}")).sized(4, 8),
		lines("Tokens a minute, by model", "Tokens, input and output, by the model that the stream names.", "cpm",
			ask(perMinute(ofSources.used(by)), legend)).sized(5, 8),
		lines("Duration of responses, p95", "From when a model could be asked to its whole response. A dot is one response, and leads to its trace.", "s",
			dotted(ask(ofSources.quantile(0.95, by, inferenceDuration, interval), legend))).sized(5, 8),
		lines("First chunk of responses, p95", "From when a model could be asked to the first chunk of its response, of those that are streamed.", "s",
			ask(ofSources.quantile(0.95, by, firstChunk, interval), legend)).sized(5, 8),
		lines("Responses failed", "Share of each model's responses that were errors, such as a quota that is used up.", "percentunit",
			ask(share(ofSources.count(by, inferenceDuration, interval, inError), ended), legend)).sized(5, 8),
	}
}

func failures() []panel {
	const by, legend = "error_type", "{{error_type}}"
	return []panel{
		stacked("Errors of agents", "Invocations that ended in an error, of runs too, by the code that the stream gives it: what a model or a tool reported, or the class of an exception.", "short",
			ask(ofOperations.counted(by, agentDuration, inError), legend)),
		stacked("Errors of tools", "Tool calls whose response was an error, by the code that the stream gives it.", "short",
			ask(ofOperations.counted(by, toolDuration, inError), legend)),
		stacked("Errors of models", "Model responses that were errors, by the code that the stream gives it, such as RESOURCE_EXHAUSTED or SAFETY.", "short",
			ask(ofSources.counted(by, inferenceDuration, inError), legend)),
	}
}

func proof() []panel {
	stated := []string{`origin!="thought"`}
	return []panel{
		warm("Confidence", "Confidence that answers state, from 0 to 1; the darker, the more answers. Thoughts are left out.", "percentunit",
			ask(ofAgents.buckets(confidence, stated...), "{{le}}")).sized(12, 9),
		lines("Mean confidence", "Mean of the confidence that answers state, by the agent or tool that states it.", "percentunit",
			ask(ofAgents.mean("agent", confidence, stated...), "{{agent}}")).sized(12, 9),
		lines("Answers without confidence a minute", "Final texts that state no confidence, by agent.", "cpm",
			ask(perMinute(ofAgents.rate("agent", "delegraph_answers_without_confidence_total")), "{{agent}}")).sized(12, 8),
		stacked("Confidence not read", "Values that are marked as a confidence and could not be read as one, by reason.", "short",
			ask(ofSources.eachFromFirst("reason", "delegraph_proof_unreadable_total"), "{{reason}}")).sized(12, 8),
		lines("Sources named a minute", "Citations in answers, by the agent or tool that names them.", "cpm",
			ask(perMinute(ofAgents.rate("agent", "delegraph_citations_total")), "{{agent}}")).sized(12, 8),
	}
}

func waits() []panel {
	return []panel{
		stacked("Requests for input", "What runs asked for from outside: a confirmation, a choice, data, a credential, the answer of a long-running tool.", "short",
			ask(ofSources.eachFromFirst("kind", "delegraph_input_requests_total"), "{{kind}}")),
		lines("Wait for input", "From a request for input to its answer on the same stream. Answers that came with a later run are not in it.", "s",
			ask(ofSources.quantile(0.95, "kind", inputWait, interval), "{{kind}} p95"),
			ask(ofSources.quantile(0.5, "kind", inputWait, interval), "{{kind}} p50")),
		stacked("Requests never answered", "Requests for input that nobody answered before their run timed out.", "short",
			ask(ofSources.eachFromFirst("kind", "delegraph_input_expired_total"), "{{kind}}")),
	}
}

func products() []panel {
	return []panel{
		stacked("Plans when runs end", "Items of the plans that runs stated, by how far they were when their run ended.", "short",
			ask(ofSources.eachFromFirst("status", "delegraph_plan_items_total"), "{{status}}")).
			coloured("completed", "green", "in_progress", "orange", "pending", "blue", "canceled", "purple").sized(6, 8),
		stacked("Artifacts written", "Artifacts that runs wrote, by kind.", "short",
			ask(ofSources.eachFromFirst("kind", "delegraph_artifacts_total"), "{{kind}}")).sized(6, 8),
		lines("Size of artifacts", "Bytes a second of the artifacts that runs wrote, by kind, where the stream tells their size.", "Bps",
			ask(ofSources.rate("kind", "delegraph_artifact_bytes_total"), "{{kind}}")).sized(6, 8),
		stacked("Chunks missing or repeated", "Chunks of artifacts that did not come, by their numbers, and that came again.", "short",
			ask(ofSources.eachFromFirst("", "delegraph_artifact_chunks_missing_total"), "missing"),
			ask(ofSources.eachFromFirst("", "delegraph_artifact_chunks_repeated_total"), "repeated")).coloured("missing", "red").sized(6, 8),
	}
}

// edge makes a line of the graph of each series: from one of its labels to another.
func edge(expr, from, to string) string {
	return fmt.Sprintf(`label_join(%s, "id", " → ", %q, %q)`, renamed(renamed(expr, from, "source"), to, "target"), from, to)
}

// renamed has a label's value under another name too.
func renamed(expr, label, name string) string {
	return fmt.Sprintf(`label_replace(%s, %q, "$1", %q, "(.*)")`, expr, name, label)
}
