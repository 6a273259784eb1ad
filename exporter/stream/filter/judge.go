package filter

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// judge looks for anything that calls the frame, or a frame within it, internal or by a name that the table does not have.
func judge(t *event.Table, frame strictjson.Value) Reason {
	for name, value := range frame.Members() {
		text := name.Text()
		if among(text, t.Discriminators) {
			if holdsInternal(value) {
				return Internal
			}
			if _, known := t.Types[value.String()]; !known || value.Kind() != strictjson.String {
				return Unknown
			}
		}
		if (t.Deep || among(text, t.Envelopes)) && namesInternal(t, value) {
			return Internal
		}
	}
	return Passed
}

// namesInternal says whether a discriminator in an envelope, or in an envelope in it, names something internal.
func namesInternal(t *event.Table, v strictjson.Value) bool {
	for name, value := range v.Members() {
		text := name.Text()
		if among(text, t.Discriminators) && holdsInternal(value) {
			return true
		}
		// Once a member, however many reasons there are to look into it: twice would be 2^depth times.
		if (t.Deep || among(text, t.Envelopes)) && namesInternal(t, value) {
			return true
		}
	}
	for element := range v.Elements() {
		if namesInternal(t, element) {
			return true
		}
	}
	return false
}

// holdsInternal says whether any string in a discriminator's value is internal: it should be one string and nothing else.
func holdsInternal(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if internal(name.Text()) || holdsInternal(value) {
			return true
		}
	}
	for element := range v.Elements() {
		if holdsInternal(element) {
			return true
		}
	}
	return internal(v.Text())
}

// among says whether a name is one of those given as the most generous of readers would take it.
func among(name []byte, names []string) bool {
	plain := true
	for _, c := range name {
		plain = plain && c > ' ' && c < 0x7f
	}
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

// internal says whether a name begins with "internal", whatever comes after it, as the most generous of readers would take it:
// in any case, in compatibility forms, with blanks or invisible characters in it.
func internal(name []byte) bool {
	return len(name) >= len("internal") && strings.HasPrefix(strings.ToLower(string(canonical(name))), "internal")
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
