package looopy

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// message reads a message of the model's history.
func (d *decoder) message(_ *task, _ frame, b *event.Batch) { b.Add(event.KindOther) }

// thoughtStream reports a thought and its confidence. A thought that was found in a model's text is
// a sign of a response; others come from the loop.
func (d *decoder) thoughtStream(t *task, fr frame, b *event.Batch) {
	if source := fr.metadata.Get("source"); source.Is("content") || source.Is("content-delta") {
		t.openResponse(b)
	}
	if e := b.AddText(event.KindThought, fr.data.Get("content")); e != nil {
		e.ID = d.member(fr, "thoughtId")
		e.Verbosity, e.ThoughtType = verbosity(fr.data.Get("verbosity")), d.member(fr, "thoughtType")
	}
	if value, ok := fr.metadata.Get("confidence").Float(); ok && value >= 0 && value <= 1 {
		e := b.Add(event.KindConfidence)
		e.Name, e.Confidence = t.agent, event.Confidence{Value: value, Known: true, Origin: event.OriginThought}
	}
}

// verbosity returns how detailed a thought is, or ThoughtsNone if it does not say.
func verbosity(v strictjson.Value) event.Verbosity {
	switch {
	case v.Is("brief"):
		return event.ThoughtsBrief
	case v.Is("normal"):
		return event.ThoughtsNormal
	case v.Is("detailed"):
		return event.ThoughtsDetailed
	}
	return event.ThoughtsNone
}
