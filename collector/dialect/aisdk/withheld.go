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
	shown       wire.Set[item] // items without pieces that have left
	missedStart bool           // a chunk that cannot be read, or an internal one of an unknown type, may have begun any item

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
	isFull := d.items.IsFull()
	anyWithheld := isFull || d.items.Len() > 0
	if !isWithin && !d.missedStart && !anyWithheld || k.name == typeError || k.name == typeAbort {
		return
	}
	left, isPiece := d.beginningOf(k, v)
	if !left || !isPiece {
		d.continues = isWithin || !left && (isFull || isPiece && d.missedStart)
	}
	for _, one := range d.itemsOf(k, v) {
		if k.name == typeTextStart || k.name == typeReasoningStart { // texts of different steps may have the same ID
			d.items.Remove(one)
		}
		d.continues = d.continues || d.items.Contains(one) || isPiece && one.isUnclear() && anyWithheld
	}
}

// beginningOf reports whether a chunk is a piece of an item, and whether the beginning of the item left. If the chunk begins or replaces
// an item, it reports whether no chunk of it was withheld, as far as that is known without the set of withheld items.
func (d *decoder) beginningOf(k *kind, v strictjson.Value) (left, isPiece bool) {
	switch k.name {
	case typeTextDelta, typeTextEnd, typeReasoningDelta, typeReasoningEnd:
		key := d.partKey(v)
		open := d.parts[key]
		return open != nil && !open.cut || d.forgottenParts.Contains(key), true
	case typeApprovalResponse:
		return d.calls.byApproval(d.key(v.Get("approvalId"))).hasLeft(), true
	case typeToolInputDelta, typeToolOutput, typeToolOutputError, typeToolOutputDenied, typeApprovalRequest:
		return d.callOf(v).hasLeft(), true
	case typeToolInputStart, typeToolInput, typeToolInputError:
		known := d.callOf(v)
		return known.hasLeft() || known == nil && d.calls.haveRoom(), false
	case typeData, typeSteering:
		return !slices.ContainsFunc(d.itemsOf(k, v), func(one item) bool { return !d.shown.Contains(one) }), false
	}
	return true, false
}

// record remembers the items of the current chunk, and the end of an internal message or step.
func (d *decoder) record(k *kind, v strictjson.Value, b *event.Batch) {
	b.Internal = b.Internal || d.continues
	switch {
	case d.isMarked || b.Internal:
		for _, one := range d.itemsOf(k, v) {
			d.withhold(one)
		}
	case k.name == typeData, k.name == typeSteering:
		for _, one := range d.itemsOf(k, v) {
			d.shown.Add(one)
		}
	}
	switch k.name {
	case typeFinish:
		d.inMessage = d.inMessage && d.isMerged()
	case typeFinishStep:
		d.inStep = d.inStep && len(d.steps) > 0
	}
}

// withhold remembers an item of which a chunk is withheld. If the set is full, the beginning of the item no longer counts.
func (d *decoder) withhold(one item) {
	d.items.Add(one)
	d.missedStart = d.missedStart || one.isUnclear()
	if d.shown.Remove(one); !d.items.IsFull() {
		return
	}
	var known *call
	switch one.kind {
	case "text id", "reasoning id":
		key := partKey{one.kind == "reasoning id", one.id}
		if d.forgottenParts.Remove(key); d.parts[key] != nil {
			d.parts[key].cut = true
		}
	case "tool toolCallId":
		known = d.calls.byKey(one.id)
	case "tool approvalId":
		known = d.calls.byApproval(one.id)
	}
	if known != nil {
		known.hidden = true
	}
}
