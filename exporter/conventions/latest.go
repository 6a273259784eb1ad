package conventions

import "go.opentelemetry.io/otel/attribute"

// Latest returns the unreleased names of open-telemetry/semantic-conventions-genai as of November
// 2026.
func Latest() Table {
	t := Released()
	t.Version = "1.42.0-dev"
	t.SchemaURL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
	t.RunCacheReadTokens = ""                                // #469: for responses only
	t.InferenceDuration = "gen_ai.client.inference.duration" // #521
	t.Tokens = tokensByKind()                                // #374
	return t
}

// tokensByKind returns a counter for each kind of token, for cost, and histograms of the tokens of
// each response. The counters require a modality, which no current protocol states.
func tokensByKind() []TokenMetric {
	modality := attribute.String("gen_ai.token.modality", "unknown")
	const usage, operation = "gen_ai.client.inference.usage.", "gen_ai.client.inference.operation."
	return []TokenMetric{
		{Name: usage + "input_tokens", Help: "Input tokens used, including cached tokens.", Count: input, IsCounter: true, IncludesRuns: true, Label: modality},
		{Name: usage + "output_tokens", Help: "Output tokens used, including reasoning tokens.", Count: output, IsCounter: true, IncludesRuns: true, Label: modality},
		{Name: usage + "cache_read.input_tokens", Help: "Input tokens served from a provider's cache.", Count: cacheRead, IsCounter: true, IncludesRuns: true, Label: modality},
		{Name: usage + "reasoning.output_tokens", Help: "Output tokens used for reasoning.", Count: reasoning, IsCounter: true, IncludesRuns: true, Label: modality},
		{Name: operation + "input_tokens", Help: "Input tokens of a model response.", Count: input},
		{Name: operation + "output_tokens", Help: "Output tokens of a model response.", Count: output},
	}
}
