package strictjson

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// smallObject is the number of names up to which an object may have no table. Without a table, a new name
// whose bit is already in the bit set is compared by its hash with each name before it.
const smallObject = 16

// nameSet is the set of names of one open object. Names are compared by their keys: decoded and folded.
type nameSet struct {
	seen  uint64 // a bit for each name, by its cheap hash
	count uint32
	table uint32 // the offset of the object's table in Doc.table
	slots uint32 // the size of the table, a power of two; 0 if there is none
}

// name parses the member name at i and rejects it if the object already has it. It returns the offset
// after the name, or -1 after a failure.
func (d *Doc) name(i int, object uint32, names *nameSet) int {
	if at(d.data, i) != '"' {
		return d.fail(Syntax, i)
	}
	end, hash := scanName(d.data, i)
	info := uint32(String)
	if end < 0 {
		if end, info = d.scanString(i, true); end < 0 {
			return end
		}
		d.key = appendKey(d.key[:0], d.data[i+1:end-1])
		hash = cheapHash(d.key)
	}
	name := d.push(i, end, info)
	d.nodes[name].next = hash
	bit := uint64(1) << (hash % 64)
	if names.seen&bit != 0 || names.count >= smallObject {
		if reason := d.checkDuplicate(names, object, name); reason != "" {
			return d.fail(reason, i)
		}
	}
	names.seen |= bit
	names.count++
	return end
}

// lowerMask sets bit 5 of each byte of a word, which folds ASCII letters. The cheap hash takes eight
// bytes at a time with this mask. The mask also merges other bytes, but a collision only costs a
// table. The cheap hash needs no seed: an attacker who finds collisions gets a table too.
const lowerMask = 0x20 * eachByte

func mix(hash, word uint64) uint64 {
	hash = (hash ^ word) * 0x9e3779b97f4a7c15
	return hash ^ hash>>32
}

// scanName scans the name at i and computes the cheap hash of its key. It returns -1 if the name is not
// plain ASCII or too close to the end of the input to be read in words.
func scanName(data []byte, i int) (end int, hash uint32) {
	h := uint64(0)
	for i++; i+8 <= len(data); i += 8 {
		word := binary.LittleEndian.Uint64(data[i:])
		found := special(word)
		if found == 0 {
			h = mix(h, word|lowerMask)
			continue
		}
		size := bits.TrailingZeros64(found) / 8
		if data[i+size] != '"' {
			break
		}
		return i + size + 1, uint32(mix(h, (word|lowerMask)&(1<<(8*size)-1)))
	}
	return -1, 0
}

// cheapHash returns the hash of a key, equal to that of scanName.
func cheapHash(key []byte) uint32 {
	h := uint64(0)
	for ; len(key) >= 8; key = key[8:] {
		h = mix(h, binary.LittleEndian.Uint64(key)|lowerMask)
	}
	word := uint64(0)
	for i, c := range key {
		word |= uint64(c|0x20) << (8 * i)
	}
	return uint32(mix(h, word))
}

// checkDuplicate returns the reason to reject the newest name of the object, or "".
func (d *Doc) checkDuplicate(names *nameSet, object, name uint32) Reason {
	if names.slots == 0 {
		if names.count < smallObject && !d.sameHash(object, name) {
			return ""
		}
		for n := object + 1; n < name; n = d.nodes[n+1].next {
			d.nodes[n].next = d.strongHash(n)
		}
		names.seen = ^uint64(0) // check every further name here
		names.table = uint32(len(d.table))
		d.fillTable(names, object, name, 4*smallObject) // at most smallObject names come before
	} else if 2*names.count >= names.slots {
		d.fillTable(names, object, name, 2*names.slots)
	}
	d.nodes[name].next = d.strongHash(name)
	slot := d.findSlot(names, name)
	if other := *slot; other != 0 {
		if bytes.Equal(d.text(other), d.text(name)) {
			return DuplicateName
		}
		return FoldedName
	}
	*slot = name
	return ""
}

func (d *Doc) sameHash(object, name uint32) bool {
	for n := object + 1; n < name; n = d.nodes[n+1].next {
		if d.nodes[n].next == d.nodes[name].next {
			return true
		}
	}
	return false
}

var seed = maphash.MakeSeed()

// strongHash returns a seeded hash of the name's key, which it leaves in Doc.key.
func (d *Doc) strongHash(name uint32) uint32 {
	d.key = d.appendKey(d.key[:0], name)
	return uint32(maphash.Bytes(seed, d.key))
}

// fillTable rebuilds the table of the innermost open object from its names before end. It is the last
// table in Doc.table: the tables of nested objects have been removed.
func (d *Doc) fillTable(names *nameSet, object, end, slots uint32) {
	names.slots = slots
	d.table = slices.Grow(d.table[:names.table], int(slots))[:names.table+slots]
	table := d.table[names.table:]
	clear(table)
	for n := object + 1; n < end; n = d.nodes[n+1].next {
		slot := d.nodes[n].next & (slots - 1)
		for table[slot] != 0 {
			slot = (slot + 1) & (slots - 1)
		}
		table[slot] = n
	}
}

// findSlot returns the slot of the name with the same key, or the empty slot for it. The name's key must
// be in Doc.key.
func (d *Doc) findSlot(names *nameSet, name uint32) *uint32 {
	table := d.table[names.table:]
	hash, size := d.nodes[name].next, len(d.key)
	for slot := hash; ; slot++ {
		slot &= names.slots - 1
		other := table[slot]
		if other == 0 {
			return &table[slot]
		}
		if d.nodes[other].next == hash {
			d.key = d.appendKey(d.key[:size], other)
			if bytes.Equal(d.key[:size], d.key[size:]) {
				return &table[slot]
			}
		}
	}
}

// isFree reports whether a name is one of Doc.free.
func (d *Doc) isFree(name uint32) bool {
	sent := d.sent(name)
	return slices.ContainsFunc(d.free, func(free string) bool { return string(sent) == free })
}

// appendKey appends the key of a name: the decoded name, and folded unless it is in the value of a free member.
func (d *Doc) appendKey(dst []byte, name uint32) []byte {
	switch {
	case !d.inFree:
		return appendKey(dst, d.sent(name))
	case d.nodes[name].escaped():
		return appendDecoded(dst, d.sent(name), true)
	}
	return append(dst, d.sent(name)...)
}

// appendKey appends the folded key of a name, which is given as sent and without its quotes. Two names have the
// same key if and only if strings.EqualFold reports that the decoded names are equal. A key is never
// longer than the name.
func appendKey(dst, sent []byte) []byte {
	dst = slices.Grow(dst, len(sent))
	folds := folds()
	for i := 0; i < len(sent); {
		c := sent[i]
		r, size := rune(c), 1
		switch {
		case c-'A' <= 'Z'-'A':
			r += 'a' - 'A'
		case c == '\\':
			r, size = unescape(sent[i:])
			r = folds.fold(r)
		case c >= utf8.RuneSelf:
			r, size = utf8.DecodeRune(sent[i:])
			r = folds.fold(r)
		}
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}

// foldTable maps all runes that are equal under simple case folding to the same rune, in pages of 256.
// It exists because unicode.SimpleFold is much slower and the sender determines how often it is
// needed.
type foldTable []*[256]rune

func (t foldTable) fold(r rune) rune {
	if page := int(r >> 8); page < len(t) && t[page] != nil {
		return t[page][r&0xff]
	}
	return r
}

var folds = sync.OnceValue(func() foldTable {
	var t foldTable
	for _, cased := range unicode.CaseRanges {
		for r := rune(cased.Lo); r <= rune(cased.Hi); r++ {
			t.page(r)[r&0xff] = minFold(r)
		}
	}
	return t
})

func (t *foldTable) page(r rune) *[256]rune {
	page := int(r >> 8)
	if page >= len(*t) {
		*t = append(*t, make(foldTable, page+1-len(*t))...)
	}
	if (*t)[page] == nil {
		(*t)[page] = new([256]rune)
		for i := range (*t)[page] {
			(*t)[page][i] = r&^0xff + rune(i)
		}
	}
	return (*t)[page]
}

// minFold returns the smallest rune that is equal to r under simple case folding. For an ASCII letter it
// returns the small letter, as appendKey does. It cannot use unicode.ToLower, which turns U+0130 into an i.
func minFold(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
