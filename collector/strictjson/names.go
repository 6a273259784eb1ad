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

// smallObject is the number of names up to which an object may do without a
// table: where its bit set has a name's bit, the hash is compared with those before.
const smallObject = 16

// nameSet knows the names of one open object. Names are compared by their keys:
// decoded and folded.
type nameSet struct {
	seen  uint64 // a bit for each name, by its cheap hash
	count uint32
	table uint32 // where the object's table begins in Doc.table
	slots uint32 // the size of the table, a power of two; 0 while there is none
}

// name reads the member name at i and refuses it if the object has it already.
// It returns the offset after it, or -1 after fail.
func (d *Doc) name(i int, object uint32, names *nameSet) int {
	if at(d.data, i) != '"' {
		return d.fail(Syntax, i)
	}
	end, hash := scanName(d.data, i)
	info := uint32(String)
	if end < 0 {
		if end, info = d.scanString(i); end < 0 {
			return end
		}
		d.key = appendKey(d.key[:0], d.data[i+1:end-1])
		hash = cheapHash(d.key)
	}
	name := d.push(i, end, info)
	d.nodes[name].next = hash
	bit := uint64(1) << (hash % 64)
	if names.seen&bit != 0 || names.count >= smallObject {
		if reason := d.admit(names, object, name); reason != "" {
			return d.fail(reason, i)
		}
	}
	names.seen |= bit
	names.count++
	return end
}

// The cheap hash takes eight bytes at a time, each with bit 5 set: that folds
// ASCII letters, and what else it throws together only costs a table. It is not
// seeded: whoever finds collisions gets a table too.
const lower = 0x20 * eachByte

func mix(hash, word uint64) uint64 {
	hash = (hash ^ word) * 0x9e3779b97f4a7c15
	return hash ^ hash>>32
}

// scanName reads the name at i if it is plain ASCII and not right at the end of
// the input, and hashes its key on the way; otherwise it returns -1.
func scanName(data []byte, i int) (end int, hash uint32) {
	h := uint64(0)
	for i++; i+8 <= len(data); i += 8 {
		word := binary.LittleEndian.Uint64(data[i:])
		found := special(word)
		if found == 0 {
			h = mix(h, word|lower)
			continue
		}
		size := bits.TrailingZeros64(found) / 8
		if data[i+size] != '"' {
			break
		}
		return i + size + 1, uint32(mix(h, (word|lower)&(1<<(8*size)-1)))
	}
	return -1, 0
}

// cheapHash is the hash of scanName, from a key.
func cheapHash(key []byte) uint32 {
	h := uint64(0)
	for ; len(key) >= 8; key = key[8:] {
		h = mix(h, binary.LittleEndian.Uint64(key)|lower)
	}
	word := uint64(0)
	for i, c := range key {
		word |= uint64(c|0x20) << (8 * i)
	}
	return uint32(mix(h, word))
}

// admit returns why the newest name of the object must be refused, or "".
func (d *Doc) admit(names *nameSet, object, name uint32) Reason {
	if names.slots == 0 {
		if names.count < smallObject && !d.sameHash(object, name) {
			return ""
		}
		for n := object + 1; n < name; n = d.nodes[n+1].next {
			d.nodes[n].next = d.strongHash(n)
		}
		names.seen = ^uint64(0) // from now on every name comes here
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

// strongHash is a hash that no sender can foresee, of the key that it leaves in
// Doc.key.
func (d *Doc) strongHash(name uint32) uint32 {
	d.key = appendKey(d.key[:0], d.sent(name))
	return uint32(maphash.Bytes(seed, d.key))
}

// fillTable makes the table of the innermost open object anew, from its names
// before end. No other table is behind it: those of the objects it holds are gone.
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

// findSlot returns the slot of the name with the same key, or the empty one
// where the name belongs. The name's key is in Doc.key.
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
			d.key = appendKey(d.key[:size], d.sent(other))
			if bytes.Equal(d.key[:size], d.key[size:]) {
				return &table[slot]
			}
		}
	}
}

// appendKey appends the key of a name, given as sent without its quotes: two
// names have the same key if and only if strings.EqualFold holds them for equal
// once decoded. A key is never longer than the name.
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

// A foldTable gives one and the same rune for all that are equal under simple
// case folding, in pages of 256. A table, since unicode.SimpleFold takes many
// times as long and a sender chooses how often it is needed.
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
			t.page(r)[r&0xff] = leastFold(r)
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

// leastFold is the least rune of those equal to r, but small among ASCII letters,
// as appendKey has it. (Not by unicode.ToLower: that makes an i of U+0130.)
func leastFold(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
