// Package generous takes the names on the wire as the most generous of their readers might, so that what keeps something inside
// errs on that side; everyone who asks whether a frame calls itself internal asks here.
package generous

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Judge reports why a frame stays in, if it does: it, or a frame within it, calls itself internal, or it has a name that the table does not
// have. The filter and the decoders ask here, so that both hold back the same frames. The glance is the table's.
func Judge(t *event.Table, g Glance, frame strictjson.Value) (internal, unknown bool) {
	for name, value := range frame.Members() {
		text := name.Text()
		if !g.Catches(text) {
			continue
		}
		if Among(text, t.Discriminators) {
			if HoldsInternal(value) {
				return true, false
			}
			if _, known := t.Types[string(value.Text())]; !known || value.Kind() != strictjson.String {
				return false, true
			}
		}
		if Among(text, t.Labels) && HoldsInternal(value) {
			return true, false
		}
		deep := t.Deep || Among(text, t.DeepIn)
		if (deep || Among(text, t.Envelopes)) && namesInternal(t, value, deep) {
			return true, false
		}
	}
	return false, false
}

// NamesInternal says whether a discriminator in an envelope, or in an envelope in it, names something internal.
func NamesInternal(t *event.Table, v strictjson.Value) bool { return namesInternal(t, v, t.Deep) }

func namesInternal(t *event.Table, v strictjson.Value, deep bool) bool {
	for name, value := range v.Members() {
		text := name.Text()
		if Among(text, t.Discriminators) && HoldsInternal(value) {
			return true
		}
		// Once a member, however many reasons there are to look into it: twice would be 2^depth times.
		if (deep || Among(text, t.Envelopes)) && namesInternal(t, value, deep) {
			return true
		}
	}
	for element := range v.Elements() {
		if namesInternal(t, element, deep) {
			return true
		}
	}
	return false
}

// Glance tells at a glance of most names that they are neither a discriminator nor an envelope of a table, however generously they are
// taken: it has a bit for each first letter and length.
type Glance uint64

// NewGlance is for the members of a frame of the table.
func NewGlance(t *event.Table) (g Glance) {
	if t.Deep {
		return ^g // what stands in any member counts
	}
	for _, names := range [][]string{t.Discriminators, t.Labels, t.Envelopes, t.DeepIn} {
		for _, n := range names {
			g |= glance(n[0], len(n))
		}
	}
	return g
}

// Catches says whether a name has to be looked at.
func (g Glance) Catches(name []byte) bool {
	return len(name) == 0 || !isPlain(name) || g&glance(name[0], len(name)) != 0
}

// glance takes capitals for small letters. Which bits meet is of no account: names that share one are looked at.
func glance(first byte, length int) Glance {
	const spread = 7
	return 1 << ((int(first|0x20)*spread + length) % 64)
}

// HoldsInternal says whether any string in a discriminator's value is internal: it should be one string and nothing else.
func HoldsInternal(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if Internal(name.Text()) || HoldsInternal(value) {
			return true
		}
	}
	for element := range v.Elements() {
		if HoldsInternal(element) {
			return true
		}
	}
	return Internal(v.Text())
}

// HasMember reports whether an object has a member of one of the names.
func HasMember(v strictjson.Value, names []string) bool {
	if len(names) == 0 {
		return false
	}
	for name := range v.Members() {
		if Among(name.Text(), names) {
			return true
		}
	}
	return false
}

// HasOther reports whether an object has a member of one of the names with another value than one of those given, or null. Values are
// compared as they are: one that is spelled otherwise is another.
func HasOther(v strictjson.Value, names, values []string) bool {
	for name, value := range v.Members() {
		if value.Kind() > strictjson.Null && Among(name.Text(), names) && !slices.ContainsFunc(values, value.Is) {
			return true
		}
	}
	return false
}

// Among says whether a name is one of those given as the most generous of readers would take it.
func Among(name []byte, names []string) bool {
	plain := isPlain(name)
	if !plain {
		name = canonical(name)
	}
	for _, n := range names {
		if plain && len(n) != len(name) {
			continue
		}
		if bytes.EqualFold(name, []byte(n)) {
			return true
		}
	}
	return false
}

// isPlain says whether a name has none but visible characters of ASCII: then only capitals can make another of it.
func isPlain(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// Internal says whether a name begins with "internal", whatever comes after it.
func Internal(name []byte) bool { return Begins(name, "internal") }

// Begins says whether a name begins with a word in lower case, as the most generous of readers would take it: in any case, in
// compatibility forms, with blanks or invisible characters in it.
func Begins(name []byte, word string) bool {
	return len(name) >= len(word) && strings.HasPrefix(strings.ToLower(string(canonical(name))), word)
}

// canonical decomposes compatibility forms and removes blanks, controls, format characters and marks.
func canonical(name []byte) []byte {
	return bytes.Map(func(r rune) rune {
		const blankBraille = '\u2800'
		switch {
		case r == 'ı':
			// No JSON decoder that ignores case takes it for an i, but the upper case of both is I: to JavaScript's toUpperCase
			// and Java's equalsIgnoreCase they are the same. It is the only letter that needs this beyond folding.
			return 'i'
		case r == blankBraille || unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, norm.NFKD.Bytes(name))
}
