package a2a

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// readMessage reads a message. If the stream is about no task, the message is the whole answer. If it names a task, more of the task
// may follow, although the protocol does not allow that. In a stream about a task, a message that names no task ends the task, because the
// protocol allows a stream either one message or updates of one task. A message that names a task does not end it.
func (d *decoder) readMessage(v strictjson.Value, b *event.Batch) {
	parts := d.markMessage(v, partsOf(v))
	b.HasThoughts = b.HasThoughts || parts.thought
	switch b.Type = typeOf(typeMessage, parts); {
	case isAmbiguous(v):
		b.Type = typeWorking
	case fromUser(v) && !parts.thought && hasPart(parts, partResponse):
		b.Type = typeResults
	case fromUser(v):
		b.Type = typeForeign
	}
	namesTask := len(v.Get("taskId").Text()) > 0
	t, known := d.taskOf(v)
	switch {
	case known:
	case namesTask && !fromUser(v):
		t, known = d.openTask(v.Get("taskId"), v.Get("contextId")), d.joined || d.last != nil && !d.last.ended
	default:
		t = newTask(d.name(v.First("taskId", "messageId")), d.name(v.Get("contextId")), "")
	}
	d.setRun(t, b)
	switch {
	case t.ended || fromUser(v):
		return
	case known && namesTask:
		d.readPiece(t, v, parts, b)
		return
	case !known:
		b.Add(event.KindRunStarted)
	}
	d.setSpeaker(t, readADKMetadata(v.Get("metadata")), b)
	addTexts(parts, b)
	t.finish(event.NoFailure, "", b)
	if namesTask {
		t.ended, b.Events[len(b.Events)-1].AwaitsOutcome = false, true
		message := t.openArtifact(d.name(v.Get("messageId")))
		message.appendText(parts)
		t.addAnswer(message) // the end of the task may repeat it
	}
}

// readPiece reads a message of a task that is being worked on. Agno streams its answers like this:
// each message has more of the text under the same id, and the end of the task repeats the whole
// text.
func (d *decoder) readPiece(t *task, v strictjson.Value, parts parts, b *event.Batch) {
	d.setSpeaker(t, readADKMetadata(v.Get("metadata")), b)
	if d.joined { // an earlier piece may have said that the message is a thought
		b.Type, b.HasThoughts, b.MissedStart = typeAside, true, true
	}
	message := t.openArtifact(d.name(v.Get("messageId")))
	message.appendText(parts)
	message.incomplete = true
	b.Partial = addTexts(parts, b)
	message.nameTexts(b)
}

// taskOf returns the task that a message belongs to: the one that it names, else the only task of
// its context that is being worked on.
func (d *decoder) taskOf(v strictjson.Value) (*task, bool) {
	if id := v.Get("taskId"); len(id.Text()) > 0 {
		return d.tasks.Peek(d.name(id))
	}
	var found *task
	session := d.name(v.Get("contextId"))
	for _, t := range d.tasks.Values() {
		if t.ended || !t.seen || len(t.awaited) > 0 || session != "" && t.session != "" && session != t.session {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = t
	}
	return found, found != nil
}
