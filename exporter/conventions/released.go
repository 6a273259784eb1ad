package conventions

import "go.opentelemetry.io/otel/attribute"

// Released returns the names of semantic conventions 1.41, the last release that contains the GenAI
// names and the one that backends read today. Names that it lacks are taken from Latest.
func Released() Table {
	const usage = "gen_ai.client.token.usage"
	const usageHelp = "Tokens of a model response, or those of a run that no response states."
	const tokenType = attribute.Key("gen_ai.token.type")
	return Table{
		Version:         "1.41.0",
		SchemaURL:       "https://opentelemetry.io/schemas/1.41.0",
		EvaluationEvent: "gen_ai.evaluation.result",
		Attributes: Attributes{
			OperationName:  "gen_ai.operation.name",
			ErrorType:      "error.type",
			ConversationID: "gen_ai.conversation.id",
			SessionID:      "session.id",
			AgentName:      "gen_ai.agent.name",
			WorkflowName:   "gen_ai.workflow.name",
			// Not in any version: proposed in open-telemetry/semantic-conventions-genai#98, and under other names in #447.
			HandoffSource:         "gen_ai.agent.handoff.source.name",
			HandoffTarget:         "gen_ai.agent.handoff.target.name",
			ToolName:              "gen_ai.tool.name",
			ToolCallID:            "gen_ai.tool.call.id",
			ToolArguments:         "gen_ai.tool.call.arguments",
			ToolResult:            "gen_ai.tool.call.result",
			RequestModel:          "gen_ai.request.model",
			ResponseModel:         "gen_ai.response.model",
			FinishReasons:         "gen_ai.response.finish_reasons",
			OutputMessages:        "gen_ai.output.messages",
			InputTokens:           "gen_ai.usage.input_tokens",
			OutputTokens:          "gen_ai.usage.output_tokens",
			CacheReadTokens:       "gen_ai.usage.cache_read.input_tokens",
			RunCacheReadTokens:    "gen_ai.usage.cache_read.input_tokens",
			ReasoningTokens:       "gen_ai.usage.reasoning.output_tokens",
			EvaluationName:        "gen_ai.evaluation.name",
			EvaluationScore:       "gen_ai.evaluation.score.value",
			EvaluationLabel:       "gen_ai.evaluation.score.label",
			EvaluationExplanation: "gen_ai.evaluation.explanation",
		},
		Metrics: Metrics{
			AgentDuration:     "gen_ai.invoke_agent.duration",
			WorkflowDuration:  "gen_ai.invoke_workflow.duration",
			ToolDuration:      "gen_ai.execute_tool.duration",
			InferenceDuration: "gen_ai.client.operation.duration",
			FirstChunk:        "gen_ai.client.operation.time_to_first_chunk",
			InferenceCalls:    "gen_ai.invoke_agent.inference_calls",
			ToolCalls:         "gen_ai.invoke_agent.tool_calls",
			Tokens: []TokenMetric{
				{Name: usage, Help: usageHelp, Count: input, IncludesRuns: true, Label: tokenType.String("input")},
				{Name: usage, Help: usageHelp, Count: output, IncludesRuns: true, Label: tokenType.String("output")},
			},
		},
	}
}
