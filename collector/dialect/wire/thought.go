package wire

import (
	"maps"

	"github.com/delegraph/delegraph/collector/event"
)

// WithThoughts returns the given members for event.Words, and those that hold a model's thoughts in several protocols.
func WithThoughts(members map[string]event.Kind) map[string]event.Kind {
	all := map[string]event.Kind{}
	for _, name := range []string{"thought", "thoughts", "thinking", "reasoning", "reasoning_content", "reasoningContent"} {
		all[name] = event.KindThought
	}
	maps.Copy(all, members)
	return all
}
