package wire

import "github.com/delegraph/delegraph/collector/event"

// WithTotal returns the usage with the output that the total implies. A missing output is the total minus the input. If
// the total is input + output + reasoning, as with xAI, the output does not include the reasoning, and WithTotal adds it.
//
// Source: https://docs.x.ai/docs/key-information/consumption-and-rate-limits.
func WithTotal(usage event.Usage, total event.Count) event.Usage {
	switch in, out, reasoning := usage.Input, usage.Output, usage.Reasoning; {
	case !in.Known || !total.Known:
	case !out.Known && total.N >= in.N:
		usage.Output = event.Count{N: total.N - in.N, Known: true}
	case out.Known && total.N == in.N+out.N+reasoning.N:
		usage.Output = out.Add(reasoning)
	}
	return usage
}
