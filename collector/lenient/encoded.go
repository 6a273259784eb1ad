package lenient

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// MaxEncodedDepth bounds the nesting of JSON within a string.
const MaxEncodedDepth = 128

// encodesInternal reports whether a member is one of EncodedMembers or EncodedTexts, and its string is JSON that calls itself internal.
func encodesInternal(t *event.Table, name []byte, value strictjson.Value, around scope) bool {
	return MatchesAny(name, t.EncodedMembers) && anyTextNamesInternal(t, value, around) ||
		MatchesAny(name, t.EncodedTexts) && anyStringNamesInternal(t, value, around)
}

// anyTextNamesInternal is textNamesInternal for a string, or for the strings in a list.
func anyTextNamesInternal(t *event.Table, v strictjson.Value, around scope) bool {
	for element := range v.Elements() {
		if anyTextNamesInternal(t, element, around) {
			return true
		}
	}
	return v.Kind() == strictjson.String && textNamesInternal(t, v.Text(), around)
}

// textNamesInternal is namesInternal for JSON in a string, which may hold a string again. Each level of strings is
// shorter than the one around it.
func textNamesInternal(t *event.Table, text []byte, around scope) bool {
	var doc strictjson.Doc
	if doc.Parse(text, MaxEncodedDepth, strictjson.Everywhere) != nil {
		return mayNameInternal(text)
	}
	if root := doc.Root(); root.Kind() != strictjson.String {
		return namesInternal(t, root, around, nil)
	}
	return textNamesInternal(t, doc.Root().Text(), around)
}

// mayNameInternal reports whether a text that is not strict JSON may call itself internal. Other readers accept more, such as NaN, and an
// escaped letter could belong to the word.
func mayNameInternal(text []byte) bool {
	return bytes.Contains(Text(text), []byte("internal")) || bytes.IndexByte(text, '\\') >= 0
}

// anyStringNamesInternal is stringNamesInternal for a string, or for the strings in a list.
func anyStringNamesInternal(t *event.Table, v strictjson.Value, around scope) bool {
	for element := range v.Elements() {
		if anyStringNamesInternal(t, element, around) {
			return true
		}
	}
	return v.Kind() == strictjson.String && stringNamesInternal(t, v.Text(), around)
}

// trimInvisible returns a text without what other readers of JSON may skip at its ends, such as a byte order mark.
func trimInvisible(text []byte) []byte {
	return bytes.TrimFunc(text, func(r rune) bool { return visible(r) < 0 })
}

// stringNamesInternal is textNamesInternal for a string that need not be JSON. Only an object that is not strict JSON may name itself
// internal: an answer may begin with a quotation mark or a bracket, and say "internal". An object with a member has a colon, but "{\" may
// begin a formula.
func stringNamesInternal(t *event.Table, text []byte, around scope) bool {
	text = trimInvisible(text)
	start := bytes.TrimLeft(text, "[ \t\r\n")
	if len(start) == 0 || start[0] != '{' && start[0] != '"' {
		return false
	}
	var doc strictjson.Doc
	if doc.Parse(text, MaxEncodedDepth, strictjson.Everywhere) != nil {
		return start[0] == '{' && mayNameInternal(text) && bytes.IndexByte(text, ':') >= 0
	}
	root := doc.Root()
	return namesInternal(t, root, around, nil) || around != everyString && anyStringNamesInternal(t, root, around)
}

// HasEncodedInternal reports whether a string in v, at any depth outside of the table's OpaqueMembers, is JSON that calls itself internal. A
// string that only begins as JSON counts if it may contain the word, because other readers accept more.
func HasEncodedInternal(t *event.Table, v strictjson.Value) bool {
	for name, member := range v.Members() {
		if !MatchesAny(name.Text(), t.OpaqueMembers) && HasEncodedInternal(t, member) {
			return true
		}
	}
	for element := range v.Elements() {
		if HasEncodedInternal(t, element) {
			return true
		}
	}
	text := trimInvisible(v.Text())
	if v.Kind() != strictjson.String || len(text) == 0 || bytes.IndexByte([]byte(`{["`), text[0]) < 0 {
		return false
	}
	var doc strictjson.Doc
	if doc.Parse(text, MaxEncodedDepth, strictjson.Everywhere) != nil {
		return mayNameInternal(text)
	}
	return namesInternal(t, doc.Root(), everyMember, nil) || HasEncodedInternal(t, doc.Root())
}
