package looopy

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
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

// isInstruction reports whether the role of a frame or message, or one in its metadata, is that of an instruction.
func isInstruction(v strictjson.Value) bool {
	for name, value := range v.Members() {
		text := name.Text()
		switch {
		case !rolePrefilter.MayMatch(text):
		case lenient.MatchesAny(text, roleMembers) && wire.IsInstruction(value), lenient.MatchesAny(text, words.Containers) && isInstruction(value):
			return true
		}
	}
	for element := range v.Elements() {
		if isInstruction(element) {
			return true
		}
	}
	return false
}

var (
	roleMembers   = []string{words.RoleMember}
	rolePrefilter = lenient.NewPrefilter(&event.Table{Labels: roleMembers, Envelopes: words.Containers})
)
