package proof

import (
	"github.com/delegraph/delegraph/collector/event"
)

// Annotate adds to a batch what its answers say of their own worth: the responses of tools and the whole texts of agents.
// Thoughts are no answers, and a delta can cut a statement in two.
func Annotate(b *event.Batch, lim Limits) {
	for i := range len(b.Events) {
		switch e := b.Events[i]; {
		case e.Kind == event.KindToolEnded:
			found, structured := Structured(e.Payload(), lim)
			if result := resultOf(e.Payload()); !structured && mentions(result.Raw()) {
				found = Text(result.Text(), lim)
			}
			found.addTo(b, e.Name, e.CallID)
		case e.Kind == event.KindText && !b.Partial:
			found := Text(e.Text(), lim)
			found.addTo(b, b.Agent, "")
		}
	}
}

func (f *Findings) addTo(b *event.Batch, who, call string) {
	for _, c := range f.Confidences {
		e := b.Add(event.KindConfidence)
		e.Name, e.CallID, e.Confidence = who, call, c
	}
	for _, c := range f.Citations {
		e := b.Add(event.KindCitation)
		e.Name, e.CallID, e.Citation = who, call, c
	}
	if len(f.Confidences)+len(f.Citations) > 0 {
		b.Events[len(b.Events)-1].More = f.Dropped
	}
	if f.HasSteps {
		e := b.Add(event.KindReasoning)
		e.Name, e.CallID, e.Steps = who, call, f.Steps
	}
}
