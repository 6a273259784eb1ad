package filter

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

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

// among says whether a name is one of the discriminators as the most generous of readers would take it.
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

// internal says whether a name is "internal", alone or before anything that is no letter or digit, as the most generous of
// readers would take it: in any case, in compatibility forms, with blanks or invisible characters in it.
func internal(name []byte) bool {
	if len(name) < len("internal") {
		return false
	}
	rest, found := strings.CutPrefix(strings.ToLower(string(canonical(name))), "internal")
	if !found {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next)
}

// canonical decomposes compatibility forms and removes blanks, controls, format characters and marks.
func canonical(name []byte) []byte {
	return bytes.Map(func(r rune) rune {
		const blankBraille = '\u2800'
		if r == blankBraille || unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, norm.NFKD.Bytes(name))
}
