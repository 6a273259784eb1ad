package openai

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheldSet records which output items of a response, or choices of a chat completion, were withheld.
// Whatever continues one of them is withheld too.
type withheldSet struct {
	withheld    wire.Set[string]  // once it is full, every later part is withheld
	whole       wire.Set[string]  // IDs of whole items that were withheld; once it is full, each item may be
	shared      wire.SharedSet    // keys of withheld items, also those that other streams withheld
	seen        wire.Set[string]  // items that began and were not withheld
	thoughts    wire.SharedSet    // IDs of items and parts that are thoughts, also on other streams
	natures     map[string]nature // of items, choices and parts other than answers; once it is full, any other text may be a thought
	unsure      wire.Set[string]  // IDs of items that were withheld because they may be of an internal agent; once it is full, each may be
	ended       wire.Set[string]  // the keys of withheld choices that have finished
	completions wire.Set[string]  // IDs of forgotten completions that may go on and were internal or no plain answers; once it is full, each may be
	missed      bool              // a frame may have begun anything: it was unreadable, or unknown and named a message

	// Whether a part of the current response was withheld, whether one that had no ID, and whether one that had no number.
	inResponse, withoutID, withoutNumber bool
}

// maxNatures limits the keys in natures: enough for 1,024 items with a number and two IDs.
const maxNatures = 3 * wire.MaxSet

// setScope sets the response to which IDs without a UUID belong.
func (w *withheldSet) setScope(response string) {
	w.shared.SetScopes(response)
	w.thoughts.SetScopes(response)
}

// nextResponse forgets numbers, because each response or completion uses them again. An ID names the same item on
// the whole stream.
func (w *withheldSet) nextResponse() {
	remove(&w.withheld, isNumber)
	remove(&w.seen, isNumber)
	w.forget(isNumber)
	w.inResponse, w.withoutID, w.withoutNumber = false, false, false
}

// missFrame records that a frame was unreadable. It may have begun another response, so it is unknown which items later
// numbers mean.
func (w *withheldSet) missFrame() {
	w.missed = true
	remove(&w.seen, isNumber)
}

// nextRun forgets numbers and the choices of completions, except those that continue.
func (w *withheldSet) nextRun(continues func(key string) bool) {
	w.nextResponse()
	ofRun := func(key string) bool { return strings.HasPrefix(key, choiceNumber) && !continues(key) }
	remove(&w.seen, ofRun)
	w.forget(ofRun)
}

// remove removes the matching keys.
func remove(keys *wire.Set[string], matches func(string) bool) {
	for key := range keys.All() {
		if matches(key) {
			keys.Remove(key)
		}
	}
}

// forget removes the natures of the matching keys.
func (w *withheldSet) forget(matches func(string) bool) {
	maps.DeleteFunc(w.natures, func(key string, _ nature) bool { return matches(key) })
}

// Parts of keys. Each response or completion uses the numbers of items and choices again.
const (
	itemNumber   = "#"
	choiceNumber = "choice "
	ofCompletion = " of " // between the number of a choice and the ID of its completion
	itemID       = "id "
	partNumber   = "/" // between the key of an item and the number of its part
)

// isNumber reports whether a key is a number that each response or completion uses again.
func isNumber(key string) bool {
	return strings.HasPrefix(key, itemNumber) || strings.HasPrefix(key, choiceNumber) && !strings.Contains(key, ofCompletion)
}

// isID reports whether a key is the ID of an item.
func isID(key string) bool { return strings.HasPrefix(key, itemID) }

// withhold records that an item or a choice is withheld. If no clear key names it, it may be any item or choice.
func (w *withheldSet) withhold(at place) {
	w.missed = w.missed || at.unclear || len(at.keys) == 0
	w.withholdKeys(at.keys)
}

func (w *withheldSet) withholdKeys(keys []string) {
	w.inResponse = true
	w.withoutID = w.withoutID || !slices.ContainsFunc(keys, isID)
	w.withoutNumber = w.withoutNumber || !slices.ContainsFunc(keys, isNumber)
	for _, key := range keys {
		w.seen.Remove(key)
		w.withheld.Add(key)
		if isID(key) || strings.HasPrefix(key, itemNumber) {
			w.shared.Add(key)
		}
	}
}

// isUnknown reports whether an item with an ID is neither known to have left nor to be withheld, although another one is withheld.
func (w *withheldSet) isUnknown(at place) bool {
	return w.withheld.Len() > 0 && len(at.keys) > 0 && !w.saw(at) && !w.isDoubted(at)
}

// endChoice records that a withheld choice has finished.
func (w *withheldSet) endChoice(at place) {
	for _, key := range at.keys {
		w.ended.Add(key)
	}
}

// followEnded records that another completion begins a choice. If the one before has finished, only that one stays withheld, by its ID.
func (w *withheldSet) followEnded(at place) {
	for _, key := range at.keys {
		if w.ended.Contains(key) {
			w.ended.Remove(key)
			w.withheld.Remove(key)
		}
	}
}

// withholdUnseen withholds the item that an event of an unknown type may begin.
func (w *withheldSet) withholdUnseen(at place) {
	w.missed = true
	if w.isOrphan(at) {
		w.withhold(at)
	}
}

// messageMembers contain or name a choice or an item.
var messageMembers = []string{"choices", "item", "itemId", "item_id", "output_index", "raw_item", "rawItem", "providerData"}

var messageNames = func() (p lenient.Prefilter) {
	p.Add(messageMembers)
	return p
}()

// namesMessage reports whether a frame contains or names a choice or an item at any depth. A frame of an application that does not
// cannot begin one.
func namesMessage(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if text := name.Text(); messageNames.MayMatch(text) && lenient.MatchesAny(text, messageMembers) || namesMessage(value) {
			return true
		}
	}
	for element := range v.Elements() {
		if namesMessage(element) {
			return true
		}
	}
	return false
}

// begin records that an item or a choice began and is not withheld.
func (w *withheldSet) begin(at place) {
	for _, key := range at.keys {
		w.seen.Add(key)
	}
}

// beginItem forgets the marks of an item's number if the item has only new IDs: another item had the number.
func (w *withheldSet) beginItem(at place) {
	if number := at.number(); number != "" && w.hasNewID(at) {
		w.forget(func(key string) bool { return key == number || strings.HasPrefix(key, number+partNumber) })
	}
}

// hasNewID reports whether a place has IDs, and all of them are new.
func (w *withheldSet) hasNewID(at place) bool {
	return slices.ContainsFunc(at.keys, isID) && !slices.ContainsFunc(at.keys, func(key string) bool { return isID(key) && w.knows(key) })
}

// isWithheld reports whether a place, or the approval request that it answers, is withheld, or may be.
func (w *withheldSet) isWithheld(at place) bool {
	return w.withheld.IsFull() || at.unclear && w.withheld.Len() > 0 || at.asked != "" && w.isWithheldKey(at.asked) || slices.ContainsFunc(at.keys, w.isWithheldKey)
}

func (w *withheldSet) isWithheldKey(key string) bool {
	return w.withheld.Contains(key) || w.whole.MayContain(key) || w.shared.IsShared(key)
}

// hasNumber reports whether an item of the last response is withheld.
func (w *withheldSet) hasNumber() bool {
	for key := range w.withheld.All() {
		if strings.HasPrefix(key, itemNumber) {
			return true
		}
	}
	return false
}

// isOrphan reports whether the item at a place may have begun in a frame that was withheld or unreadable. If the stream does not show
// where items begin, an item is told apart from those that were withheld in its response by its ID if they all had IDs, or by its number
// if they all had numbers.
func (w *withheldSet) isOrphan(at place) bool {
	switch {
	case w.saw(at):
		return false
	case w.missed || !at.implied:
		return w.missed || w.inResponse
	case len(at.keys) == 0:
		return w.withheld.Len() > 0
	}
	return w.withoutID && !slices.ContainsFunc(at.keys, isNumber) || w.withoutNumber && !slices.ContainsFunc(at.keys, isID)
}

// saw reports whether the item at a place began and was not withheld. It trusts an ID more than a number, which another
// item may have had.
func (w *withheldSet) saw(at place) bool { return w.seen.Contains(at.name()) }

// mayHaveBegun is saw for each of the keys, because some servers give an item another ID after its first event. It also returns true once
// seen is full.
func (w *withheldSet) mayHaveBegun(at place) bool {
	return slices.ContainsFunc(at.keys, w.seen.MayContain)
}

// check marks a part of an item internal if the item is withheld. If the item's start was not seen, the part is an orphan.
func (w *withheldSet) check(k kind, f dialect.Frame, at place, unsure bool, b *event.Batch) {
	switch {
	case b.Internal || wire.IsFiltered(b, prefilter):
		b.Internal = true
		if at.onlyID {
			at.preferIDs()
		}
		w.withhold(at)
	case w.isWithheld(at):
		b.Internal = true
		if at.shared { // the number may be that of an item of another response
			at.preferIDs()
		}
		w.withhold(at)
	case unsure || w.isDoubted(at):
		b.Internal = true
		w.doubt(at)
	case k.begins:
		w.begin(at)
	case w.isOrphan(at):
		b.Type = typeOrphan
	}
}

// place identifies an item or a choice. The number of an item and its IDs are all keys, because a reader may
// use any of them.
type place struct {
	keys    []string
	asked   string // key of the approval request that the item answers, or ""
	part    string // partNumber and the number of the part of an item, or "" for none
	unclear bool   // a number is not an integer, so readers may understand it differently
	shared  bool   // items of other responses may have its number
	onlyID  bool   // the next part may be of another agent or response and have the same number, so only the ID is withheld, if there is one
	implied bool   // it is in a response whose own start is not in the stream, see response
}

// name returns the most specific key: an ID if there is one, else a number.
func (at *place) name() string {
	for _, key := range at.keys {
		if !isNumber(key) {
			return key
		}
	}
	if len(at.keys) == 0 {
		return ""
	}
	return at.keys[0]
}

// preferIDs removes the number from a place that has an ID.
func (at *place) preferIDs() {
	if isID(at.name()) {
		at.keys = slices.DeleteFunc(slices.Clone(at.keys), isNumber)
	}
}

// number returns the key of the item's number, or "".
func (at *place) number() string {
	for _, key := range at.keys {
		if isNumber(key) {
			return key
		}
	}
	return ""
}

// within returns the place of a choice in a completion.
func (at *place) within(completion string) (inside place) {
	for _, key := range at.keys {
		if completion != "" {
			key += ofCompletion + completion
		}
		inside.keys = append(inside.keys, key)
	}
	return inside
}

// read sets the place to that of the item that an event is part of.
func (at *place) read(v strictjson.Value) {
	*at = place{keys: at.keys[:0]}
	if index := v.Get("output_index"); index.Kind() > strictjson.Null {
		at.addNumber(itemNumber, index)
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

// choicePlace returns the place of a choice. A choice without a number is the first: some servers
// number only several.
func choicePlace(choice strictjson.Value) (at place) {
	if index := choice.Get("index"); index.Kind() > strictjson.Null {
		at.addNumber(choiceNumber, index)
	} else {
		at.keys = []string{choiceNumber + "0"}
	}
	return at
}

// addItem adds the IDs of an item. The result of a call names the call by call_id.
func (at *place) addItem(item strictjson.Value) {
	at.addID(item.Get("id"))
	at.addID(callID(item))
	at.asked = idKey(approvalOf(item))
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
func (at *place) addNumber(prefix string, v strictjson.Value) {
	text := v.Raw()
	if v.Kind() == strictjson.String {
		text = v.Text()
	}
	n, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if at.unclear = err != nil || n != math.Trunc(n); at.unclear {
		return
	}
	at.keys = append(at.keys, prefix+strconv.FormatFloat(n+0, 'f', 0, 64)) // n+0: -0 is 0
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

// isInternalItem reports whether an item is an instruction or cannot be read.
func isInternalItem(item strictjson.Value) bool {
	return !isReadable(item) || marksOf(item).instructs || namesInternalAgent(item) || item.Get("role").Kind() == strictjson.Null && item.Get("type").Is("message")
}
