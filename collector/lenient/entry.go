package lenient

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// entry says what the keys of an entry stand for (see event.Table.EntryKeys).
type entry struct {
	exists    bool  // the object is an entry
	isType    bool  // a discriminator, or a name of a type
	isFrame   bool  // an envelope
	within    scope // of a deep member
	isEncoded bool  // a member that may hold its JSON in a string
}

// entryOf returns what the keys of v stand for. Lenient readers may disagree on which of several members is the key.
func entryOf(t *event.Table, v strictjson.Value) (e entry) {
	if len(t.EntryKeys) == 0 {
		return e
	}
	for name, value := range v.Members() {
		if value.Kind() != strictjson.String || !MatchesAny(name.Text(), t.EntryKeys) {
			continue
		}
		key := value.Text()
		e.exists = true
		e.isType = e.isType || MatchesAny(key, t.Discriminators) || MatchesAny(key, t.NameMembers)
		e.isFrame = e.isFrame || MatchesAny(key, t.Envelopes)
		e.within = max(e.within, scopeOf(t, key, envelopes, false))
		e.isEncoded = e.isEncoded || MatchesAny(key, t.EncodedMembers)
	}
	return e
}

// contains reports whether the value of the entry contains something that calls itself internal.
func (e entry) contains(t *event.Table, value strictjson.Value, around scope) bool {
	around = max(around, e.within)
	return e.isType && isInternalInEntry(value) || (around != envelopes || e.isFrame) && namesInternal(t, value, around, nil) || e.isEncoded && encodedInEntry(t, value, around)
}

// isInternalInEntry is ContainsInternal for the value of an entry, which may be a list within an object.
func isInternalInEntry(value strictjson.Value) bool {
	for _, inner := range value.Members() {
		if ContainsInternal(inner) {
			return true
		}
	}
	return ContainsInternal(value)
}

// encodedInEntry is anyTextNamesInternal for the value of an entry, which may be a list within an object.
func encodedInEntry(t *event.Table, value strictjson.Value, around scope) bool {
	for _, inner := range value.Members() {
		if anyTextNamesInternal(t, inner, around) {
			return true
		}
	}
	return anyTextNamesInternal(t, value, around)
}

// EntryKey returns the first key of v. It does not exist if v is no entry.
func EntryKey(t *event.Table, v strictjson.Value) (key strictjson.Value) {
	for name, value := range v.Members() {
		if len(t.EntryKeys) > 0 && value.Kind() == strictjson.String && MatchesAny(name.Text(), t.EntryKeys) {
			return value
		}
	}
	return strictjson.Value{}
}

// IsEntryValue reports whether a member of an entry holds its value. The member's name says of which type the value is.
func IsEntryValue(name []byte) bool { return HasSuffix(name, "value") }
