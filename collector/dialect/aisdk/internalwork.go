package aisdk

import (
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// internalWork says whether the current message and the current step are internal: whether their starts have a mark. The start of the
// message may have been on another stream.
type internalWork struct{ message, step bool }

// begin reads the start of a message or a step. Without a mark, it ends the internal one before it. In merged
// streams that one may go on, but no chunk names its message.
func (w *internalWork) begin(kind string, isFiltered bool) {
	switch kind {
	case typeStart:
		*w = internalWork{message: isFiltered}
	case typeStartStep:
		w.step = isFiltered
	}
}

// end reads the end of a message or a step. A finish without a mark ends no internal message: in merged
// streams, it may be another one's. A finish-step without a mark ends an internal step only if no step is left open.
func (w *internalWork) end(kind string, isFiltered, stepsOpen bool) {
	switch kind {
	case typeFinish:
		w.message = w.message && !isFiltered
	case typeFinishStep:
		w.step = w.step && stepsOpen && !isFiltered
	}
}

func (w *internalWork) isOpen() bool { return w.message || w.step }

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
	d.work.begin(k.name, isFiltered)
	isInternal := d.work.isOpen() && !d.continuesShown(k.name, v)
	if k.name == typeError || k.name == typeAbort {
		isInternal, b.PublicForm = false, d.work.isOpen()
	}
	d.withheld = isFiltered || isInternal
	k.decode(d, v, b)
	b.Internal = b.Internal || isInternal
	d.work.end(k.name, isFiltered, len(d.steps) > 0)
}
