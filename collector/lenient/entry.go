package lenient

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// entry says what the keys of an entry stand for (see event.Table.EntryKeys).
type entry struct {
	exists    bool // the object is an entry
	isType    bool // a discriminator, or a name of a type
	isFrame   bool // an envelope
	isDeep    bool // a deep member
	isEncoded bool // a member that may hold its JSON in a string
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
		e.isDeep = e.isDeep || MatchesAny(key, t.DeepMembers)
		e.isEncoded = e.isEncoded || MatchesAny(key, t.EncodedMembers)
	}
	return e
}

// contains reports whether the value of the entry contains something that calls itself internal.
func (e entry) contains(t *event.Table, value strictjson.Value, deep bool) bool {
	deep = deep || e.isDeep
	return e.isType && ContainsInternal(value) || (deep || e.isFrame) && namesInternal(t, value, deep, nil) || e.isEncoded && encodedInEntry(t, value, deep)
}

// encodedInEntry is anyTextNamesInternal for the value of an entry, which may be a list within an object.
func encodedInEntry(t *event.Table, value strictjson.Value, deep bool) bool {
	for _, inner := range value.Members() {
		if anyTextNamesInternal(t, inner, deep) {
			return true
		}
	}
	return anyTextNamesInternal(t, value, deep)
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
