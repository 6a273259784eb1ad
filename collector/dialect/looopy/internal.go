package looopy

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// addIteration reports the counters of a task's loop in an internal event. Texts in such an event
// are left out.
func (d *decoder) addIteration(fr frame, b *event.Batch) {
	e := b.Add(event.KindIteration)
	counts := fr.data
	switch internalName(fr.kind) {
	case "llm-call":
		e.CallsModel, e.Model = true, d.member(fr, "model")
	case "thought-process":
		counts = fr.data.Get("state")
	case "checkpoint":
	default:
		e.Kind = event.KindOther
		return
	}
	e.Loop = event.Loop{
		Iteration: dialect.Count(fr.data.Get("iteration")),
		Messages:  dialect.Count(counts.Get("messageCount")),
		Tools:     dialect.Count(counts.Get("toolCount")),
	}
	if e.Loop == (event.Loop{}) && !e.CallsModel {
		e.Kind = event.KindOther
	}
}

// internalName returns the name of an internal kind without its prefix.
func internalName(kind string) string {
	kind = strings.ToLower(strings.TrimSpace(kind))
	return strings.TrimPrefix(kind, internalPrefix+":")
}
