package conventions

import "go.opentelemetry.io/otel/attribute"

// Latest returns the names of the conventions' own repository, open-telemetry/semantic-conventions-genai, as they were in November 2026,
// without a release.
func Latest() Table {
	t := Released()
	t.Version = "1.42.0-dev"
	t.SchemaURL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
	t.RunCacheReadTokens = ""                                // #469: of responses only
	t.InferenceDuration = "gen_ai.client.inference.duration" // #521
	t.Tokens = tokensByKind()                                // #374
	return t
}

// tokensByKind has a counter of each kind of tokens, for what they cost, and histograms of responses. No protocol of today tells the
// modality, which the counters must have.
func tokensByKind() []Tokens {
	modality := attribute.String("gen_ai.token.modality", "unknown")
	const usage, operation = "gen_ai.client.inference.usage.", "gen_ai.client.inference.operation."
	return []Tokens{
		{Name: usage + "input_tokens", Help: "Input tokens used, those from a cache included.", Of: input, Total: true, Runs: true, Label: modality},
		{Name: usage + "output_tokens", Help: "Output tokens used, those of reasoning included.", Of: output, Total: true, Runs: true, Label: modality},
		{Name: usage + "cache_read.input_tokens", Help: "Input tokens that came from a provider's cache.", Of: cacheRead, Total: true, Runs: true, Label: modality},
		{Name: usage + "reasoning.output_tokens", Help: "Output tokens used for reasoning.", Of: reasoning, Total: true, Runs: true, Label: modality},
		{Name: operation + "input_tokens", Help: "Input tokens of a model response; without responses whose count is not in the stream.", Of: input},
		{Name: operation + "output_tokens", Help: "Output tokens of a model response; without responses whose count is not in the stream.", Of: output},
	}
}
