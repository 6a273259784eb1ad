package proof

import (
	"encoding/binary"
	"math"
	"strings"
)

// keyword is a word to search for: every statement of a confidence or a source contains a keyword. The
// search reads a text in pairs of bytes, from even offsets only. Three bytes in a row are two pairs, and one of
// these begins at an even offset. So the search needs only three bytes of each keyword: those in brackets in
// tables/words.txt, which are rare in prose.
type keyword struct {
	word   string
	window int  // where the three bytes begin
	isStem bool // states a confidence, not a source
	inWord bool // also found within a word
}

// keywords are in lower case. Words that begin with a Latin letter are found at the start of a word.
var keywords = func() (all []keyword) {
	for _, list := range []string{"stems", "source words"} {
		for _, marked := range words(list) {
			before, rest, _ := strings.Cut(marked, "[")
			all = append(all, keyword{word: before + strings.Replace(rest, "]", "", 1), window: len(before), isStem: list == "stems"})
		}
	}
	member := keyword{word: "onfid", window: 1, inWord: true} // "overallConfidence" in JSON
	footnote := keyword{word: "[^", inWord: true}
	return append(all, member, footnote)
}()

// candidate is a keyword that contains a pair. Comparing up to four bytes rules out most other words.
type candidate struct {
	*keyword
	at   int    // offset of the pair in the keyword
	four uint32 // the bytes from the pair on, in lower case
	mask uint32 // which of the four bytes belong to the keyword
}

// candidateAt returns a keyword as the candidate for the pair at this offset in it.
func candidateAt(k *keyword, at int) candidate {
	c := candidate{keyword: k, at: at, four: lowerWordAt(k.word, at)}
	for i := range min(4, len(k.word)-at) {
		c.mask |= 0xFF << (8 * i)
	}
	c.four &= c.mask
	return c
}

// lowerWordAt returns the four bytes at an offset with letters in lower case. Different punctuation
// may give the same bytes.
func lowerWordAt[T string | []byte](text T, at int) (four uint32) {
	const lowerCase = 0x20202020
	if at+4 <= len(text) {
		return (uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16 | uint32(text[at+3])<<24) | lowerCase
	}
	for i := at; i < len(text); i++ {
		four |= uint32(text[i]) << (8 * (i - at))
	}
	return four | lowerCase
}

// pairs maps two bytes to the index in pairCandidates of the keywords that contain them, or 0. One byte per
// pair keeps the table in the processor's cache.
var (
	pairs          [1 << 16]uint8
	pairCandidates = make([][]candidate, 1)
)

func init() {
	anyByte := make([]byte, 256)
	for b := range anyByte {
		anyByte[b] = byte(b)
	}
	for i := range keywords {
		k := &keywords[i]
		if len(k.word) == 2 { // too short for a window: its second byte pairs with any other
			addPairs(candidateAt(k, 0), k.word[0], k.word[1])
			addPairs(candidateAt(k, 1), k.word[1], anyByte...)
			continue
		}
		for at := k.window; at < k.window+2; at++ {
			addPairs(candidateAt(k, at), k.word[at], k.word[at+1])
		}
	}
}

// addPairs adds a candidate for the pairs of a first byte and each of the second bytes, in upper and lower
// case. The arguments are in lower case. Pairs that had no candidate share a list.
func addPairs(c candidate, first byte, seconds ...byte) {
	var added uint8
	for _, second := range seconds {
		if n := pairs[pairOf(first, second)]; n != 0 {
			pairCandidates[n] = append(pairCandidates[n], c)
			continue
		}
		if added == 0 {
			if len(pairCandidates) > math.MaxUint8 {
				panic("too many keywords for the index of a pair")
			}
			added = uint8(len(pairCandidates))
			pairCandidates = append(pairCandidates, []candidate{c})
		}
		for _, a := range [...]byte{first, upperByte(first)} {
			for _, b := range [...]byte{second, upperByte(second)} {
				pairs[pairOf(a, b)] = added
			}
		}
	}
}

func pairOf(first, second byte) uint16 { return uint16(first) | uint16(second)<<8 }

// mentions reports whether a text has a keyword. Nearly all texts have none.
func mentions(text []byte) bool { return findKeyword(text, 0) < len(text) }

// findKeyword returns where the first keyword from an offset on begins, or len(text).
func findKeyword(text []byte, from int) int {
	i := from
	for ; i+8 <= len(text); i += 8 {
		eight := binary.LittleEndian.Uint64(text[i:])
		if pairs[uint16(eight)]|pairs[uint16(eight>>16)]|pairs[uint16(eight>>32)]|pairs[eight>>48] == 0 {
			continue
		}
		if start, k := nextKeyword(text, i, i+8); k != nil {
			return start
		}
	}
	start, _ := nextKeyword(text, i, len(text))
	return start
}

// nextKeyword returns the first keyword that has a pair between two offsets, and where it begins, or
// len(text) and nil.
func nextKeyword[T string | []byte](text T, from, to int) (start int, k *keyword) {
	for i := from; i < to; i += 2 {
		next := byte(' ')
		if i+1 < len(text) {
			next = text[i+1]
		}
		n := pairs[pairOf(text[i], next)]
		if n == 0 {
			continue
		}
		four := lowerWordAt(text, i)
		for j := range pairCandidates[n] {
			c := &pairCandidates[n][j]
			if four&c.mask != c.four {
				continue
			}
			if start := i - c.at; start >= 0 && hasWordAt(text[start:], c.word) && (c.inWord || beginsWord(text, start)) {
				return start, c.keyword
			}
		}
	}
	return len(text), nil
}

// beginsWord reports whether a word of Latin letters can begin at an offset: also after an underscore,
// and after "\n" in JSON.
func beginsWord[T string | []byte](text T, at int) bool {
	if at == 0 || !inWord(text[at]) || !inWord(text[at-1]) || text[at-1] == '_' {
		return true
	}
	return text[at-1] == 'n' && at > 1 && text[at-2] == '\\'
}

// hasWordAt reports whether text begins with a word, given in lower case, in any case.
func hasWordAt[T string | []byte](text T, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if c := text[i]; c != word[i] && lowerByte(c) != word[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c + 'A' - 'a'
	}
	return c
}

// inWord reports whether a byte belongs to a word: an underscore does, as in "min_confidence".
func inWord(c byte) bool {
	return 'a' <= lowerByte(c) && lowerByte(c) <= 'z' || '0' <= c && c <= '9' || c == '_'
}
