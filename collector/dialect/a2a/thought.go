package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// hasVisibleMark reports whether the filter keeps a mark of a part.
func hasVisibleMark(v strictjson.Value) bool {
	for _, object := range []strictjson.Value{v, v.Get("metadata")} {
		for _, name := range wire.ThoughtMarkers {
			if wire.MayBeTrue(object.Get(name)) {
				return true
			}
		}
	}
	return false
}

// addThought reports that a frame contains a thought, for example in a history or in a message that is not an agent's.
// It does nothing if an event of the frame already reports a thought.
func addThought(frame strictjson.Value, b *event.Batch) {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindThought {
			return
		}
	}
	if mark, is := wire.FindThoughtMark(frame); is {
		b.AddText(event.KindThought, mark) // the name of the mark: only the text of an agent's new thought is reported
	}
}

// readRelayed finds the thoughts and the errors of remote agents whose answers ADK agents pass on.
func (d *decoder) readRelayed(u update, b *event.Batch) {
	isTask := u.shape == shapeTask
	d.relayed, d.remote = wire.RelayedThoughts{MayHaveOtherTexts: isTask}, wire.RemoteAnswer{}
	read := func(v strictjson.Value) {
		d.relayed.AddMetadata(b, v)
		if isTask {
			d.remote.AddErrors(b, v)
		} else {
			d.remote.AddMetadata(b, v)
		}
	}
	status := u.body.Get("status")
	for _, v := range []strictjson.Value{u.body, status, status.Get("message"), u.body.Get("artifact")} {
		read(v)
	}
	for _, list := range []strictjson.Value{u.body.Get("artifacts"), u.body.Get("history")} {
		for v := range list.Elements() {
			read(v)
		}
	}
	b.HasThoughts = b.HasThoughts || d.relayed.Any()
}

// withFrame adds to parts what the current frame says about them: the mark of its envelope, the thoughts of remote agents,
// and the kinds that findTextKinds found.
func (d *decoder) withFrame(p parts) parts {
	p.thought, p.kinds, p.relayed = p.thought || d.thoughtBeside, d.textKinds, &d.relayed
	return p
}

// markArtifact marks the parts of an artifact as thoughts if the artifact is a thought:
//   - One mark in any piece is enough, on the artifact or on an object around it.
//   - In the first piece and in a snapshot, a mark on the last part is enough too, because the next piece continues that part.
//   - If marksParts is true, each part has its own mark, which says nothing about the next piece.
//   - The artifact is remembered until it begins again, even if its task is forgotten or starts again.
func (d *decoder) markArtifact(key itemKey, as extent, marksParts bool, p parts) parts {
	p = d.withFrame(p)
	begins := as == extentWhole
	if begins {
		d.thoughts.Remove(key)
	}
	p.thought = p.thought || d.thoughts.Contains(key) || !begins && d.thoughts.IsFull() ||
		as == extentPiece && !marksParts && d.thoughtEnds.MayContain(key)
	d.thoughtEnds.Remove(key)
	if as == extentSnapshot && p.endsInThought() {
		d.thoughtEnds.Add(key)
	}
	if p.thought || begins && !marksParts && p.endsInThought() {
		d.thoughts.Add(key)
	}
	return p
}

// markMessage marks the parts of a message as thoughts if this frame or an earlier one says so. It remembers the
// message, because the mark may be on the update around it, and a history repeats only the message.
func (d *decoder) markMessage(message strictjson.Value, p parts) parts {
	p = d.withFrame(p)
	key := d.messageKey(message)
	if p.thought = p.thought || d.thoughts.MayContain(key); p.thought && key.id != "" {
		d.thoughts.Add(key)
	}
	return p
}

// messageKey returns the key of a message.
func (d *decoder) messageKey(message strictjson.Value) itemKey {
	return itemKey{kind: itemMessage, id: d.idOf(message, messageIDs)}
}

// endsInThought reports whether the last of the parts is a thought. An empty text ends nothing.
func (p parts) endsInThought() (is bool) {
	for one := range p.all() {
		if one.kind != partText || len(one.text.Text()) > 0 {
			is = one.isThought
		}
	}
	return is
}
