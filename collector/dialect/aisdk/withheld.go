package aisdk

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheld says what was withheld of an answer, so that what continues it is withheld too.
type withheld struct {
	items       wire.Set[item]
	missedStart bool // a chunk that cannot be read, or an internal one of an unknown type, may have begun any item

	inMessage, inStep bool // an internal message or step goes on; no chunk in it has its ID

	isMarked  bool // the current chunk is withheld for what it says
	continues bool // the current chunk is withheld because it continues something withheld
}

// hides reports whether the current chunk is withheld.
func (w *withheld) hides() bool { return w.isMarked || w.continues }

// item identifies a text, a thought, a call, a question, or a part that the application defines and may replace.
type item struct{ kind, id string }

// idMembers hold the IDs of items.
var idMembers = []string{"id", "toolCallId", "approvalId"}

// itemsOf returns the items that a chunk is about.
func (d *decoder) itemsOf(k *kind, v strictjson.Value) (items []item) {
	if k.name == typeData {
		if id := d.key(v.Get("id")); id != "" { // a part without an ID never replaces another one
			items = append(items, item{d.names.Truncate(typeOf(v), dialect.MaxName), id})
		}
		return items
	}
	group, _, _ := strings.Cut(k.name, "-") // a thought may have the ID of a text
	for _, member := range k.required {
		if slices.Contains(idMembers, member) {
			items = append(items, item{group + " " + member, d.key(v.Get(member))})
		}
	}
	return items
}

// isUnclear reports whether an ID may be equal to others for a lenient reader, which takes ["a"] for "a".
func (i item) isUnclear() bool { return i.id == "" || i.id[0] == '[' || i.id[0] == '{' }

// check sets whether the current chunk is withheld.
func (d *decoder) check(k *kind, v strictjson.Value, isMarked bool) {
	d.isMarked, d.continues = isMarked, false
	switch k.name {
	case typeStart:
		d.inMessage = d.inMessage || isMarked
	case typeStartStep:
		d.inStep = d.inStep || isMarked
	}
	isWithin := d.inMessage || d.inStep
	if !isWithin && !d.missedStart && d.withheld.items.Len() == 0 || k.name == typeError || k.name == typeAbort {
		return
	}
	begun, isPiece := d.beginningOf(k.name, v)
	switch {
	case !isPiece:
		d.continues = isWithin
	case !begun:
		d.continues = isWithin || d.missedStart || d.withheld.items.IsFull()
	}
	for _, one := range d.itemsOf(k, v) {
		if k.name == typeTextStart || k.name == typeReasoningStart { // texts of different steps may have the same ID
			d.withheld.items.Remove(one)
		}
		d.continues = d.continues || d.withheld.items.Contains(one) || isPiece && one.isUnclear() && d.withheld.items.Len() > 0
	}
}

// beginningOf reports whether a chunk is a piece of an item, and whether the beginning of the item left.
func (d *decoder) beginningOf(kind string, v strictjson.Value) (left, isPiece bool) {
	switch kind {
	case typeTextDelta, typeTextEnd, typeReasoningDelta, typeReasoningEnd:
		key := d.partKey(v)
		return d.parts[key] != nil || d.forgottenParts.Contains(key), true
	case typeApprovalResponse:
		known := d.calls.byApproval(d.key(v.Get("approvalId")))
		return known != nil && !known.hidden, true
	case typeToolInputDelta, typeToolOutput, typeToolOutputError, typeToolOutputDenied, typeApprovalRequest:
		known := d.calls.byKey(d.key(v.Get("toolCallId")))
		return known != nil && !known.hidden, true
	}
	return false, false
}

// record remembers the items of the current chunk if it is withheld, and the end of an internal message or step.
func (d *decoder) record(k *kind, v strictjson.Value, b *event.Batch) {
	if b.Internal = b.Internal || d.continues; d.isMarked || b.Internal {
		for _, one := range d.itemsOf(k, v) {
			d.withheld.items.Add(one)
			d.missedStart = d.missedStart || one.isUnclear()
		}
	}
	switch k.name {
	case typeFinish:
		d.inMessage = d.inMessage && d.isMerged()
	case typeFinishStep:
		d.inStep = d.inStep && len(d.steps) > 0
	}
}
