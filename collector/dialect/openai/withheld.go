package openai

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// itemSet holds what is known of items. Its keys are their IDs on the whole stream, or their numbers in a response.
type itemSet struct {
	withheld   wire.Set[string]
	seen       wire.Recent[string] // items that began and were not withheld
	unreadable int                 // decoder.unreadable when the last item began
	natures    map[string]nature   // of items and parts other than answers
	marked     wire.Recent[string] // the keys in natures
}

// itemsOf returns the set that has the item with a key.
func (d *decoder) itemsOf(key string) *itemSet {
	if isID(key) {
		return &d.items
	}
	return &d.response.items
}

// withhold records that the item at a place is withheld. Later events that name it are withheld too.
func (d *decoder) withhold(at place) {
	if len(at.keys) > 0 && !isID(at.name()) && !d.isOfCall(at) {
		d.withholdNameless(at.reasons)
	}
	for _, key := range at.keys {
		s := d.itemsOf(key)
		s.seen.Remove(key)
		s.withheld.Add(key)
	}
}

// isOfCall reports whether the number of a place is surely that of a call or the like, which no message or reasoning of the SDK repeats.
func (d *decoder) isOfCall(at place) bool {
	isCertain := !at.shared && !d.response.implied && d.response.items.unreadable == d.unreadable
	return isCertain && d.isNoMessage(at.number())
}

// withholdPart is withhold for the item that an event is part of. Later events that name no item may be of this one. If the stream shows only
// parts, items of other responses may have the number, unless the event begins the item.
func (d *decoder) withholdPart(at place, begins bool) {
	d.response.withholds = true
	if at.shared || d.response.implied && !begins {
		at.preferIDs()
	}
	d.withhold(at)
}

// addSeen records that an item began and is not withheld.
func (d *decoder) addSeen(at place) {
	for _, key := range at.keys {
		s := d.itemsOf(key)
		if !isID(key) && s.unreadable != d.unreadable {
			s.seen, s.unreadable = wire.Recent[string]{}, d.unreadable
		}
		s.seen.Add(key)
	}
}

// saw reports whether the item at a place, or its call, began and was not withheld. It trusts an ID more than a number, which another item may
// have had. After an unreadable frame, which may have begun another response, it is unknown which items earlier numbers mean.
func (d *decoder) saw(at place) bool {
	if isID(at.name()) {
		return slices.ContainsFunc(at.keys, d.items.seen.Contains)
	}
	s := &d.response.items
	return s.seen.Contains(at.number()) && s.unreadable == d.unreadable
}

// mayHaveBegun is saw for each of the keys, because some servers give an item another ID after its first event. It also returns true once
// an item was forgotten.
func (d *decoder) mayHaveBegun(at place) bool {
	return slices.ContainsFunc(at.keys, func(key string) bool { return d.itemsOf(key).seen.MayContain(key) })
}

// isWithheld reports whether an item, or the approval request that it answers, is withheld. Once more items are withheld than can be
// recorded, it is if its beginning or the request did not leave.
func (d *decoder) isWithheld(at place) bool {
	isLost := !d.saw(at) || at.asked != "" && !d.items.seen.Contains(at.asked)
	isKeyWithheld := func(key string) bool {
		return isID(key) && d.isIDWithheld(key, at.source) || isNumber(key) && d.isNumberWithheld(key)
	}
	return at.asked != "" && d.isIDWithheld(at.asked, ofResponse) || slices.ContainsFunc(at.keys, isKeyWithheld) || d.items.withheld.IsFull() && isLost
}

// isPartWithheld is isWithheld for the item that an event is part of. An event that names no item may be part of any item of the response.
func (d *decoder) isPartWithheld(at place) bool {
	isUnclear := len(at.keys) == 0 || at.unclear || at.shared && !isID(at.name())
	return d.isWithheld(at) || d.anyCurrent(func(r *response) bool { return r.internal || r.withholds && isUnclear })
}

func (d *decoder) isNumberWithheld(key string) bool {
	return d.anyCurrent(func(r *response) bool { return r.items.withheld.MayContain(key) })
}

// anyCurrent reports whether the current response matches, or one of those for which it stands.
func (d *decoder) anyCurrent(matches func(*response) bool) bool {
	return matches(&d.response) || d.response.shared && d.anyOpen(matches)
}

// isLost reports whether the beginning of an item may have been in an unreadable frame.
func (d *decoder) isLost(at place) bool { return d.unreadable > 0 && !d.saw(at) }

// place identifies an item. The number of an item and its IDs are all keys, because a reader may use any of them.
type place struct {
	keys    []string
	asked   string // key of the approval request that the item answers, or ""
	part    string // partNumber and the number of the part of an item, or "" for none
	unclear bool   // a number is not an integer, or too large, so readers may understand it differently
	shared  bool   // items of other responses may have its number
	reasons bool   // the item is a model's reasoning
	source  source
}

// Parts of keys. Each response uses the numbers of items again.
const (
	itemNumber = "#"
	itemID     = "id "
	responseID = "response "
	chatID     = "completion "
	partNumber = "/" // between the key of an item and the number of its part
)

// isID reports whether a key is an ID. The others are numbers.
func isID(key string) bool { return len(key) >= len(itemID) && key[:len(itemID)] == itemID }

func isNumber(key string) bool { return !isID(key) }

// name returns the most specific key: an ID if there is one, else a number.
func (at *place) name() string {
	if i := slices.IndexFunc(at.keys, isID); i >= 0 {
		return at.keys[i]
	}
	return at.number()
}

// number returns the key of the item's number, or "".
func (at *place) number() string {
	if i := slices.IndexFunc(at.keys, isNumber); i >= 0 {
		return at.keys[i]
	}
	return ""
}

// preferIDs removes the number from a place that has an ID.
func (at *place) preferIDs() {
	if isID(at.name()) {
		at.keys = slices.DeleteFunc(slices.Clone(at.keys), isNumber)
	}
}

// read sets the place to that of the item that an event is part of.
func (at *place) read(v strictjson.Value) {
	*at = place{keys: at.keys[:0]}
	if index := v.Get("output_index"); index.Kind() > strictjson.Null {
		at.addNumber(index)
	}
	at.addID(v.Get("item_id"))
	at.addItem(v.Get("item"))
	at.part = partNumber + "0"
	if part := v.Get("content_index"); part.Kind() > strictjson.Null {
		at.part = partNumber + dialect.Name(string(part.Raw()))
		if n, whole := part.Int(); whole {
			at.part = partNumber + strconv.FormatInt(n, 10)
		}
	}
}

// addItem adds the IDs of an item. The result of a call names the call by call_id.
func (at *place) addItem(item strictjson.Value) {
	at.addID(item.Get("id"))
	at.addID(callID(item))
	at.asked = idKey(approvalOf(item))
	at.reasons = at.reasons || item.Get("type").Is("reasoning")
}

func (at *place) addID(id strictjson.Value) {
	if key := idKey(id); key != "" {
		at.keys = append(at.keys, key)
	}
}

// idKey returns the key of an item's ID, or "" for none.
func idKey(id strictjson.Value) string {
	if s := id.String(); s != "" && !isFake(s) {
		return itemID + dialect.Name(s)
	}
	return ""
}

// addNumber adds a number as a key. All spellings of a number give the same key.
func (at *place) addNumber(v strictjson.Value) {
	text := v.Raw()
	if v.Kind() == strictjson.String {
		text = v.Text()
	}
	const most = 1 << 53 // of the integers that each reader understands
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if at.unclear = err != nil || n != math.Trunc(n) || math.Abs(n) > most; at.unclear {
		return
	}
	at.keys = append(at.keys, itemNumber+strconv.FormatFloat(n+0, 'f', 0, 64)) // n+0: -0 is 0
}

// partKeys returns the keys of the part, or none if the place has no part.
func (at *place) partKeys() (keys []string) {
	if at.part == "" {
		return nil
	}
	for _, key := range at.keys {
		keys = append(keys, key+at.part)
	}
	return keys
}

var prefilter = lenient.NewPrefilter(&table)

// anyMark finds marks in what is withheld anyway.
var anyMark = event.Table{Discriminators: table.Discriminators, NameMembers: table.Labels, DeepEnvelopes: true, OpaqueMembers: table.OpaqueMembers, OwnEnvelopes: table.OwnEnvelopes}

// mayContainEvent reports whether a lenient reader may find an event of the protocol, or an internal one, in data that is not an event.
func mayContainEvent(v strictjson.Value) bool {
	for element := range v.Elements() {
		if mayContainEvent(element) {
			return true
		}
	}
	switch v.Kind() {
	case strictjson.String:
		return dialect.Frame{Frame: sse.Frame{Data: v.Text()}}.MayContainObject()
	case strictjson.Object:
		return lenient.HasInternalDiscriminator(&anyMark, v) || Dialect{}.Detect(dialect.Frame{JSON: v}) != dialect.No
	}
	return false
}

// isHiddenItem reports whether an item is an instruction or cannot be read.
func isHiddenItem(item strictjson.Value) bool {
	return !isReadable(item) || marksOf(item).instructs || item.Get("role").Kind() == strictjson.Null && item.Get("type").Is("message")
}
