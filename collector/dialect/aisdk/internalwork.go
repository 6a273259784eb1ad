package aisdk

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// internalWork holds the internal message and step that are open. Their starts have a mark. The start of the message may have been on
// another stream.
type internalWork struct{ message, step openWork }

// openWork is an internal message or step. In merged streams others begin beside it, and no chunk names its message, so what begins is
// internal until as many have ended.
type openWork struct {
	internal bool
	unended  int // of those that may be it
}

// begin reads the start of a message or a step. Without a mark, it ends the internal one before it if that may have ended. beside counts
// the others that have begun and go on.
func (w *openWork) begin(isFiltered bool, beside int) {
	switch {
	case w.internal && w.unended > 0:
		w.unended++
	case isFiltered:
		*w = openWork{true, 1 + beside}
	default:
		*w = openWork{}
	}
}

// end reads the end of a message or a step. Without a mark, it may be that of another one, and goesOn says whether the internal one counts
// as open.
func (w *openWork) end(isFiltered, goesOn bool) {
	w.unended = max(0, w.unended-1)
	if w.internal = w.internal && goesOn && !isFiltered; !w.internal {
		w.unended = 0
	}
}

// beginWork reads the start of a message or a step. An application may send the start of the message around all others, which has no steps
// and need not have an end.
func (d *decoder) beginWork(kind string, isFiltered bool) {
	w := &d.work
	switch kind {
	case typeStart:
		beside := d.openMessages
		if len(d.steps) == 0 {
			beside = 0
		}
		if w.message.begin(isFiltered, beside); !w.isOpen() || w.step.unended == 0 {
			w.step = openWork{}
		}
	case typeStartStep:
		w.step.begin(isFiltered, len(d.steps.responding()))
	}
}

// endWork reads the end of a message or a step. A finish without a mark ends no internal message, and a finish-step without a mark ends an
// internal step only if no step is left open.
func (d *decoder) endWork(kind string, isFiltered bool) {
	switch kind {
	case typeFinish:
		d.work.message.end(isFiltered, true)
	case typeFinishStep:
		d.work.step.end(isFiltered, len(d.steps) > 0)
	}
}

// missWork records that an unreadable frame may have begun an internal message or step.
func (d *decoder) missWork(f dialect.Frame) {
	if !wire.MayHideInternal(f) {
		return
	}
	for _, kind := range []string{typeStartStep, typeStart} {
		if slices.ContainsFunc(spellings(kind), func(word string) bool { return mayContain(f.Data, word) }) {
			d.beginWork(kind, true)
		}
	}
}

func (w *internalWork) isOpen() bool { return w.message.internal || w.step.internal }

// continuesShown reports whether a chunk continues a part or a call that began before the internal work. The ID of a call alone does not
// show that, because some models use the same IDs in each response.
func (d *decoder) continuesShown(kind string, v strictjson.Value) bool {
	switch kind {
	case typeTextDelta, typeTextEnd, typeReasoningDelta, typeReasoningEnd:
		open := d.parts[d.partKey(v)]
		return open != nil && !open.withheld
	case typeApprovalResponse:
		known := d.calls.byApproval(d.key(v.Get("approvalId")))
		return known != nil && !known.withheld
	}
	known := d.calls.byKey(d.key(v.Get("toolCallId")))
	switch {
	case known == nil || known.withheld || !strings.HasPrefix(kind, "tool-") || kind == typeToolInputStart:
		return false
	case kind == typeToolInputDelta:
		return known.state == callStreaming
	case kind == typeToolInput || kind == typeToolInputError:
		return known.state == callStreaming && known.tool == d.name(v.Get("toolName"))
	case known.state == callEnded:
		return known.repeatsError && kind == typeToolOutputError
	}
	return true
}

// beginsInternal reports whether the start of a message is internal: it calls itself so, or that of the message on another stream did.
// Merged streams have the ID of the message in all their starts, so only the first one counts.
func (d *decoder) beginsInternal(v strictjson.Value, isFiltered bool) bool {
	switch message := d.sharedMessage(d.key(v.Get("messageId"))); {
	case d.started || message.id == "":
		return isFiltered
	case isFiltered:
		d.withhold(message)
		return true
	default:
		return d.isWithheldElsewhere(message)
	}
}

// decodeKind decodes a chunk of a known type. What belongs to internal work is withheld, except for errors, which end the answer.
func (d *decoder) decodeKind(k *kind, v strictjson.Value, isFiltered bool, b *event.Batch) {
	if k.name == typeStart {
		isFiltered = d.beginsInternal(v, isFiltered)
	}
	d.beginWork(k.name, isFiltered)
	isInternal := d.work.isOpen() && !d.continuesShown(k.name, v)
	if k.name == typeError || k.name == typeAbort {
		isInternal, b.PublicForm = false, d.work.isOpen()
	}
	d.withheld = isFiltered || isInternal
	k.decode(d, v, b)
	b.Internal = b.Internal || isInternal
	d.endWork(k.name, isFiltered)
}
