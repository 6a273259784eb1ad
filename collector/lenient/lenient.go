// Package lenient finds out whether a frame calls itself internal. It compares names as the most
// lenient reader might: it ignores case, compatibility forms, blanks and invisible characters. A
// mistake then withholds a frame instead of leaking it. Every check for internal names uses it.
package lenient

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// CheckNames returns what the names in the frame of b allow. The first call stores the result in b, so that the
// decoder and the filters of all policies withhold the same frames. p must be the Prefilter of b.Table.
func CheckNames(b *event.Batch, p *Prefilter) event.NameCheck {
	if b.Names == event.NamesUnchecked {
		rules := b.Table.Types[b.Type]
		b.Names = checkNames(b.Table, p, b.JSON, &rules)
	}
	return b.Names
}

// checkNames returns NamesInternal if the frame or a frame within it calls itself internal, and NamesUnknown if
// a discriminator has a value that is not in the table's types. p must be the table's Prefilter. rules are those of the frame's type.
func checkNames(t *event.Table, p *Prefilter, frame strictjson.Value, rules *event.Type) event.NameCheck {
	for name, value := range frame.Members() {
		text := name.Text()
		if !rules.Deep && !p.MayMatch(text) {
			continue
		}
		if MatchesAny(text, t.Discriminators) {
			if containsInternalDeep(value) {
				return event.NamesInternal
			}
			if value.Kind() != strictjson.String || !isKnownType(t, value.Text()) {
				return event.NamesUnknown
			}
		}
		if (MatchesAny(text, t.Labels) || MatchesAny(text, rules.Labels)) && containsInternalDeep(value) || hasInternalName(t, text, value) {
			return event.NamesInternal
		}
		if MatchesAny(text, rules.OpaqueMembers) {
			continue
		}
		within := scopeOf(t, text, outerScope(t), false)
		if rules.Deep && !MatchesAny(text, t.InternalMembers) {
			within = everyString
		}
		if (within != envelopes || MatchesAny(text, t.Envelopes)) && namesInternal(t, value, within, ownEnvelopes(t, text)) || encodesInternal(t, text, value, within) {
			return event.NamesInternal
		}
	}
	return event.NamesListed
}

// isKnownType reports whether the table has a type, or the beginning of one that an application chooses.
func isKnownType(t *event.Table, name []byte) bool {
	_, known := t.Types[string(name)]
	return known || slices.ContainsFunc(t.TypePrefixes, func(prefix string) bool { return bytes.HasPrefix(name, []byte(prefix)) })
}

// isInternalType reports whether a type is internal, or the rest of it after one of the table's prefixes.
func isInternalType(t *event.Table, v strictjson.Value) bool {
	return ContainsInternal(v) || slices.ContainsFunc(t.TypePrefixes, func(prefix string) bool { return HasPrefix(v.Text(), prefix+"internal") })
}

// HasInternalDiscriminator reports whether a discriminator of an envelope, or of an envelope within
// it, is internal.
func HasInternalDiscriminator(t *event.Table, v strictjson.Value) bool {
	return namesInternal(t, v, outerScope(t), nil)
}

// scope says where a value is searched for discriminators.
type scope uint8

const (
	envelopes   scope = iota // in the members that the table lists
	everyMember              // in every member, except for the table's OpaqueMembers
	everyString              // also in each string that is JSON
)

// outerScope returns the scope of a frame.
func outerScope(t *event.Table) scope {
	if t.DeepEnvelopes {
		return everyMember
	}
	return envelopes
}

// scopeOf returns the scope of a member in an object that is searched in the scope around. isOwn says that it is one of OwnEnvelopes.
func scopeOf(t *event.Table, name []byte, around scope, isOwn bool) scope {
	switch {
	case MatchesAny(name, t.DeepStrings):
		return everyString
	case around != envelopes && (isOwn || !MatchesAny(name, t.OpaqueMembers)):
		return around
	case MatchesAny(name, t.DeepMembers):
		return everyMember
	}
	return envelopes
}

// ownEnvelopes returns the members that are envelopes in the envelope with this name, in addition to those of the table.
func ownEnvelopes(t *event.Table, name []byte) (own []string) {
	for in, members := range t.OwnEnvelopes {
		if MatchesAny(name, []string{in}) {
			own = append(own, members...)
		}
	}
	return own
}

// namesInternal implements HasInternalDiscriminator in a scope. own lists members that are envelopes in v, in
// addition to those of the table.
func namesInternal(t *event.Table, v strictjson.Value, around scope, own []string) bool {
	if around == everyString && v.Kind() == strictjson.String {
		return stringNamesInternal(t, v.Text(), everyString)
	}
	key := entryOf(t, v)
	for name, value := range v.Members() {
		text := name.Text()
		if key.exists && IsEntryValue(text) {
			if key.contains(t, value, around) {
				return true
			}
			continue
		}
		if MatchesAny(text, t.Discriminators) && isInternalType(t, value) || hasInternalName(t, text, value) {
			return true
		}
		// Search each member only once, even if it is an envelope for two reasons: the effort would be
		// 2^depth.
		isOwn := MatchesAny(text, own)
		within := scopeOf(t, text, around, isOwn)
		if (within != envelopes || isOwn || MatchesAny(text, t.Envelopes)) && namesInternal(t, value, within, ownEnvelopes(t, text)) || encodesInternal(t, text, value, within) {
			return true
		}
	}
	for element := range v.Elements() {
		if namesInternal(t, element, around, own) {
			return true
		}
	}
	return false
}

// hasInternalName reports whether a member is one of NameMembers and has an internal name.
func hasInternalName(t *event.Table, name []byte, value strictjson.Value) bool {
	return MatchesAny(name, t.NameMembers) && ContainsInternal(value)
}

// Prefilter is a cheap first test for MatchesAny. It holds a set of names, such as the discriminators, labels and
// envelopes of a table. If MayMatch returns false, a name matches none of them. Its bits depend on a name's length,
// first letter and last letter. Names that share a bit only cost a full comparison.
type Prefilter [4]uint64

// NewPrefilter returns the Prefilter of a table, for the members of a frame.
func NewPrefilter(t *event.Table) *Prefilter {
	if t.DeepEnvelopes { // any member may be an envelope
		return &Prefilter{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	}
	p := new(Prefilter)
	for _, names := range [][]string{t.Discriminators, t.Labels, t.NameMembers, t.Envelopes, t.DeepMembers, t.DeepStrings, t.EncodedMembers, t.EncodedTexts} {
		p.Add(names)
	}
	for _, rules := range t.Types {
		p.Add(rules.Labels)
	}
	return p
}

// Add adds names. None may be empty.
func (p *Prefilter) Add(names []string) {
	for _, n := range names {
		word, bit := prefilterBit([]byte(n))
		p[word] |= bit
	}
}

// MayMatch reports whether a name must be compared in full.
func (p *Prefilter) MayMatch(name []byte) bool {
	if len(name) == 0 {
		return true
	}
	word, bit := prefilterBit(name)
	return p[word]&bit != 0 || !isPlain(name)
}

// prefilterBit returns the word of a name's bit, and the bit. It ignores case.
func prefilterBit(name []byte) (word int, bit uint64) {
	const spread = 7
	first, last := int(name[0]|0x20), int(name[len(name)-1]|0x20)
	return last % len(Prefilter{}), 1 << ((first*spread + len(name)) % 64)
}

// ContainsInternal reports whether v is an internal string, or a list with one. A discriminator should be a single string, but a
// lenient reader might accept more. An object there is data that an application calls so, or the schema of a property, which has a "type".
func ContainsInternal(v strictjson.Value) bool {
	for element := range v.Elements() {
		if ContainsInternal(element) {
			return true
		}
	}
	return IsInternal(v.Text())
}

// containsInternalDeep reports whether v contains an internal string at any depth. No protocol has an object where a frame has its own type.
func containsInternalDeep(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if IsInternal(name.Text()) || containsInternalDeep(value) {
			return true
		}
	}
	for element := range v.Elements() {
		if containsInternalDeep(element) {
			return true
		}
	}
	return IsInternal(v.Text())
}

// HasMember reports whether an object has a member with one of the names.
func HasMember(v strictjson.Value, names []string) bool {
	if len(names) == 0 {
		return false
	}
	for name := range v.Members() {
		if MatchesAny(name.Text(), names) {
			return true
		}
	}
	return false
}

// HasOtherValue reports whether an object has a member with one of the names whose value is neither
// null nor one of values. Values are compared exactly: another spelling is another value.
func HasOtherValue(v strictjson.Value, names, values []string) bool {
	for name, value := range v.Members() {
		if value.Kind() > strictjson.Null && MatchesAny(name.Text(), names) && !slices.ContainsFunc(values, value.Is) {
			return true
		}
	}
	return false
}

// MatchesAny reports whether a lenient reader might take name for one of names.
func MatchesAny(name []byte, names []string) bool {
	if len(names) == 0 {
		return false
	}
	plain := isPlain(name)
	if !plain {
		longest := 0
		for _, n := range names {
			longest = max(longest, len(n))
		}
		name = canonicalStart(name, longest)
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

// eachByte repeats a byte in a word: 0x21*eachByte has 0x21 in each byte.
const eachByte = 0x0101010101010101

// isPlain reports whether a name consists of visible ASCII characters, so that it can match other names
// only by case.
func isPlain(name []byte) bool {
	for ; len(name) >= 8; name = name[8:] {
		word := binary.LittleEndian.Uint64(name)
		// A subtraction or addition reaches the high bit of a byte that is not plain. It may carry into
		// higher bytes only if there is such a byte.
		if ((word-0x21*eachByte)|word|(word+eachByte))&(0x80*eachByte) != 0 {
			return false
		}
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// IsInternal reports whether a name begins with "internal".
func IsInternal(name []byte) bool { return HasPrefix(name, "internal") }

// WithoutMark returns a name without the "internal" at its beginning and what separates it from the rest, such as "text-delta" for
// "internal:text-delta". It returns other names as they are.
func WithoutMark(name []byte) []byte {
	const mark = "internal"
	if !IsInternal(name) {
		return name
	}
	if !isPlain(name[:len(mark)]) {
		name = Text(name)
	}
	return bytes.TrimLeft(name[len(mark):], " .:-_/")
}

// IsPrintedObject reports whether a text is an object as a program prints it, such as Agent(name=a), Agent[name=a] (a record of Java),
// Optional[a], {'a': 'b'}, [a] or <Agent at 0x7f>. It is no name.
func IsPrintedObject(text []byte) bool {
	before, rest, found := bytes.Cut(text, []byte("="))
	switch {
	case bytes.ContainsAny(text, `{}<"`), bytes.HasPrefix(text, []byte("[")) && bytes.HasSuffix(text, []byte("]")), bytes.HasPrefix(text, []byte("Optional[")):
		return true
	case !found || len(rest) == 0:
		return false
	}
	return isOpen(before, '(', ')') || isOpen(before, '[', ']') || bytes.ContainsAny(rest[:1], "'[(") || IsPrintedObject(rest)
}

// isOpen reports whether the last of the brackets in a text opens.
func isOpen(text []byte, opening, closing byte) bool {
	return bytes.LastIndexByte(text, opening) > bytes.LastIndexByte(text, closing)
}

// HasPrefix reports whether a lenient reader might read a name as beginning with word, which must be in
// lower case.
func HasPrefix(name []byte, word string) bool {
	switch {
	case len(name) < len(word), isPlain(name[:1]) && name[0]|0x20 != word[0]: // 0x20 makes a letter lower case
		return false
	case isPlain(name[:len(word)]):
		return bytes.EqualFold(name[:len(word)], []byte(word))
	}
	return strings.HasPrefix(strings.ToLower(string(canonical(name))), word)
}

// HasSuffix reports whether a lenient reader might read a name as ending with one of words, which must be in lower
// case.
func HasSuffix(name []byte, words ...string) bool {
	if len(name) == 0 {
		return false
	}
	if !isPlain(name) {
		name = Text(name)
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return len(name) >= len(word) && bytes.EqualFold(name[len(name)-len(word):], []byte(word))
	})
}

// Text returns a text as lenient readers compare it: in compatibility forms and lower case, without blanks and
// invisible characters.
func Text(text []byte) []byte { return bytes.ToLower(canonical(text)) }

// canonical decomposes compatibility forms and removes blanks, control characters, format characters,
// marks, and halves of characters.
func canonical(name []byte) []byte { return bytes.Map(visible, norm.NFKD.Bytes(name)) }

// canonicalStart returns the canonical form of a name, or a beginning of it of more than limit bytes. So a long hostile name costs little.
func canonicalStart(name []byte, limit int) (start []byte) {
	var segments norm.Iter
	for segments.Init(norm.NFKD, name); !segments.Done() && len(start) <= limit; {
		start = append(start, bytes.Map(visible, segments.Next())...)
	}
	return start
}

// visible returns a character of a decomposed text as it counts, or -1 if it does not count.
func visible(r rune) rune {
	const blankBraille, nullNotehead = '\u2800', '\U0001d159' // blank, but no property says so
	switch {
	case r < utf8.RuneSelf: // most text is ASCII, and the tables of Unicode are slow
		if r <= ' ' || r == 0x7f {
			return -1
		}
	case r == 'ı':
		// JSON decoders that ignore case do not take it for an i, but both have the upper case I, so
		// JavaScript's toUpperCase and Java's equalsIgnoreCase do. No other letter needs this in
		// addition to case folding.
		return 'i'
	case r == utf8.RuneError || strictjson.IsHalf(r): // a lenient reader may drop them
		return -1
	case r == blankBraille || r == nullNotehead || unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me,
		unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}
