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

// withheldSet remembers which output items of a response, or choices of a chat completion, were
// withheld, so that nothing that continues one leaves.
type withheldSet struct {
	withheld wire.Set[string]      // once it is full, every later part is withheld
	seen     map[string]event.Kind // items that began and were not withheld, with the kind of their text
	missed   bool                  // a frame was unreadable or unknown that may have begun anything
}

// nextResponse forgets numbers, which another response or completion uses again. IDs name the same item on the
// whole stream.
func (w *withheldSet) nextResponse() {
	for key := range w.withheld.All() {
		if isNumber(key) {
			w.withheld.Remove(key)
		}
	}
	maps.DeleteFunc(w.seen, func(key string, _ event.Kind) bool { return isNumber(key) })
}

// missFrame notes a frame that was unreadable. It may have begun anything, also another response, so numbers
// no longer say which item they mean.
func (w *withheldSet) missFrame() {
	w.missed = true
	maps.DeleteFunc(w.seen, func(key string, _ event.Kind) bool { return isNumber(key) })
}

// nextRun forgets numbers and the completions of the run.
func (w *withheldSet) nextRun() {
	w.nextResponse()
	maps.DeleteFunc(w.seen, func(key string, _ event.Kind) bool { return strings.HasPrefix(key, choiceNumber) })
}

// Beginnings of keys: of numbers, which each response or completion uses again, and of IDs.
const (
	itemNumber   = "#"
	choiceNumber = "choice "
	ofCompletion = " of " // between the number of a choice and the ID of its completion
	itemID       = "id "
	partNumber   = "/" // between the key of an item and the number of its part
)

// isNumber reports whether a key is a number, and does not say of which completion.
func isNumber(key string) bool {
	return strings.HasPrefix(key, itemNumber) || strings.HasPrefix(key, choiceNumber) && !strings.Contains(key, ofCompletion)
}

func (w *withheldSet) withhold(at place) {
	w.missed = w.missed || at.unclear || len(at.keys) == 0
	for _, key := range at.keys {
		delete(w.seen, key)
		w.withheld.Add(key)
	}
}

// withholdUnseen withholds what an event of an unknown type may begin.
func (w *withheldSet) withholdUnseen(at place) {
	if w.missed = true; w.isOrphan(at) {
		w.withhold(at)
	}
}

func (w *withheldSet) add(at place, text event.Kind) {
	if w.seen == nil {
		w.seen = make(map[string]event.Kind)
	}
	for _, key := range at.keys {
		if len(w.seen) < wire.MaxSet {
			w.seen[key] = text
		}
	}
}

// isWithheld reports whether one of the keys is withheld, or may be.
func (w *withheldSet) isWithheld(at place) bool {
	return w.withheld.IsFull() || at.unclear && w.withheld.Len() > 0 || slices.ContainsFunc(at.keys, w.withheld.Contains)
}

// isOrphan reports whether something may have begun in a frame that was withheld or unreadable.
func (w *withheldSet) isOrphan(at place) bool {
	return (w.missed || w.withheld.Len() > 0) && !w.saw(at)
}

// saw reports whether the item at a place began and was not withheld. Another item may have had its number.
func (w *withheldSet) saw(at place) bool {
	_, seen := w.seen[at.name()]
	return seen
}

// textKind returns the kind of the text of an item or a part: KindText for an answer, and KindOther
// for text that is neither an answer nor a thought.
func (w *withheldSet) textKind(at place) event.Kind {
	for _, key := range append(at.keys, at.partKeys()...) {
		if kind, seen := w.seen[key]; seen && kind != event.KindText {
			return kind
		}
	}
	return event.KindText
}

// isAnswer reports whether an item is an answer, and no event has called it or a part of it anything else.
func (w *withheldSet) isAnswer(item strictjson.Value, at place) bool {
	if textKindOf(item) != event.KindText {
		return false
	}
	parts := max(item.Get("content").Len(), 1)
	for i := range parts {
		if at.part = partNumber + strconv.Itoa(i); w.textKind(at) != event.KindText {
			return false
		}
	}
	return true
}

// check marks a part of an item internal if the item is withheld, or if its start was not seen.
func (w *withheldSet) check(k kind, f dialect.Frame, v strictjson.Value, b *event.Batch) {
	at := placeOf(v)
	switch {
	case b.Internal || isFiltered(f) || w.isWithheld(at) || isInstruction(v.Get("part").Get("role")):
		b.Internal = true
		w.withhold(at)
	case k.begins:
		w.add(at, textKindOf(v.Get("item")))
	case w.isOrphan(at):
		b.Type = typeOrphan
	}
}

// place says which item or choice something belongs to. The number of an item and its ID are both keys,
// because a reader may use either.
type place struct {
	keys    []string
	part    string // the number of the part of an item, or ""
	unclear bool   // a number is not an integer, so readers may understand it differently
}

// name returns the key that names one thing: an ID if there is one, else a number.
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

// of returns the place of a choice in a completion.
func (at *place) of(completion string) (within place) {
	for _, key := range at.keys {
		if completion != "" {
			key += ofCompletion + completion
		}
		within.keys = append(within.keys, key)
	}
	return within
}

// placeOf returns the place of the item that an event is part of.
func placeOf(v strictjson.Value) (at place) {
	if index := v.Get("output_index"); index.Kind() > strictjson.Null {
		at.addNumber(itemNumber, index)
	}
	at.addID(v.Get("item_id"))
	at.addItem(v.Get("item"))
	if part := v.Get("content_index"); part.Exists() {
		at.part = partNumber + dialect.Name(string(part.Raw()))
		if n, whole := part.Int(); whole {
			at.part = partNumber + strconv.FormatInt(n, 10)
		}
	}
	return at
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
	at.addID(item.First("call_id", "callId"))
}

func (at *place) addID(id strictjson.Value) {
	if s := id.String(); s != "" && s != fakeID {
		at.keys = append(at.keys, itemID+dialect.Name(s))
	}
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

// partKeys returns the keys of a part of an item.
func (at *place) partKeys() (keys []string) {
	if at.part == "" {
		return nil
	}
	for _, key := range at.keys {
		keys = append(keys, key+at.part)
	}
	return keys
}

// textKindOf returns the kind of the text of an item.
func textKindOf(item strictjson.Value) event.Kind {
	switch kind := item.Get("type"); {
	case kind.Is("reasoning") || lenient.ContainsThoughtMarker(item):
		return event.KindThought
	case kind.Is("message") && isAssistant(item.Get("role")):
		return event.KindText
	}
	return event.KindOther
}

var prefilter = lenient.NewPrefilter(&table)

// isFiltered reports whether the filter withholds a frame because of the frame's own content. It
// calls the same function as the filter, so that both agree.
func isFiltered(f dialect.Frame) bool {
	internal, unknown := lenient.Check(&table, prefilter, f.JSON)
	return internal || unknown || lenient.IsInternal(f.Event) || len(f.Event) > 0 && !slices.Contains(table.Events, string(f.Event))
}

// instructionRoles are the roles of messages that instruct a model.
var instructionRoles = []string{"system", "developer"}

// isInstruction reports whether a role is that of an instruction, or unreadable.
func isInstruction(role strictjson.Value) bool {
	return role.Kind() > strictjson.Null && role.Kind() != strictjson.String || lenient.MatchesAny(role.Text(), instructionRoles) || lenient.IsInternal(role.Text())
}

// isHiddenItem reports whether an item is an instruction or cannot be read.
func isHiddenItem(item strictjson.Value) bool {
	role := item.Get("role")
	return item.Kind() > strictjson.Null && item.Kind() != strictjson.Object || isInstruction(role) || role.Kind() == strictjson.Null && item.Get("type").Is("message")
}

// isAssistant reports whether a role is the assistant's, or absent.
func isAssistant(role strictjson.Value) bool {
	return role.Kind() <= strictjson.Null || role.Is("assistant") || role.Is("")
}
