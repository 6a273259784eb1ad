// Package strictjson reads one JSON value so that every reader of the same
// bytes must agree with it: what two parsers could understand differently is
// refused.
//
// Refused are, besides what RFC 8259 does not allow: member names that stand
// twice in one object, as sent or under Unicode simple case folding ("KIND"
// beside "kind"), invalid UTF-8, lone surrogate escapes, a byte order mark,
// nesting beyond a limit and anything but whitespace around the value. The
// filter of the external stream stands on this: a value that passes has one
// meaning. Only numbers may be of any size and precision, as the grammar has it;
// a reader that needs one exactly asks Value.Int.
//
// # Cost
//
// One pass fills an index of 16 bytes for each value and each member name, so
// at most 8 bytes for each byte of input (`[0,0,…]`). An object of more than
// sixteen members, or with names whose cheap hashes meet, has a table of at most
// 16 bytes a name, or 256 bytes, while it is open; with it too, 8 bytes for each
// byte of input are enough but for the 256 bytes of each level of nesting. While
// one of them grows it takes for a moment up to twice that. A Doc keeps at most
// 288 KiB of all this from one Parse to the next.
//
// Time is linear in the input whatever it holds: the hash of the tables is
// seeded anew in each process.
package strictjson

import "strconv"

// Reason says which rule refused an input: a closed set, fit for a label.
type Reason string

const (
	// Syntax: not the grammar of RFC 8259, empty, cut short, or more than 512 MiB.
	Syntax Reason = "syntax"
	// DuplicateName: a name stands twice in one object, compared decoded.
	DuplicateName Reason = "duplicate_name"
	// FoldedName: two names of one object differ only by case (strings.EqualFold).
	FoldedName Reason = "folded_name"
	// InvalidUTF8: bytes that are not UTF-8, or a surrogate escape without its other half.
	InvalidUTF8 Reason = "invalid_utf8"
	// TrailingData: something other than whitespace follows the value.
	TrailingData Reason = "trailing_data"
	// Depth: arrays and objects are nested deeper than allowed.
	Depth Reason = "depth"
)

// Error says why and at which byte an input was refused; of several reasons it
// is the one that stands first in the input. It never holds any of the input.
type Error struct {
	Reason Reason
	// Offset counts bytes from 0: the first byte that cannot stand there (the
	// length of the input where it ends too soon), the backslash of an escape,
	// the opening quote of a second name, the bracket that is one too deep.
	Offset int
}

func (e *Error) Error() string {
	return "strictjson: " + string(e.Reason) + " at byte " + strconv.Itoa(e.Offset)
}

const (
	// maxSize bounds the input so that offsets fit 32 bits and lengths 28.
	maxSize = 512 << 20
	// maxRecursion caps what a caller may ask for as depth, for the stack's sake.
	maxRecursion = 10_000

	keptNodes = 8 << 10  // 128 KiB
	keptSlots = 32 << 10 // 128 KiB
	keptKey   = 32 << 10 // 32 KiB
)

// Doc is one parsed input: the input, borrowed, and an index of its values.
// The zero value is ready and each Parse reuses what the one before left. Any
// number of goroutines may read a Doc while none parses.
type Doc struct {
	data  []byte
	nodes []node
	table []uint32 // name tables of the open objects, innermost last
	key   []byte   // scratch: folded names
	err   Error
}

// Parse reads data, one JSON value nested at most maxDepth deep (a scalar is 0
// deep, `[]` 1; more than 10,000 counts as 10,000), and borrows it until the
// next Parse or Reset: until then nobody may change it. Values of an earlier
// Parse must no longer be used. The error is an *Error and leaves the Doc empty.
func (d *Doc) Parse(data []byte, maxDepth int) error {
	d.Reset()
	if len(data) > maxSize {
		return &Error{Syntax, maxSize}
	}
	d.data = data
	end := d.value(skipSpace(data, 0), min(maxDepth, maxRecursion))
	if end >= 0 {
		end = skipSpace(data, end)
		if end == len(data) {
			return nil
		}
		d.fail(TrailingData, end)
	}
	err := d.err
	d.Reset()
	return &err
}

// Root is the value that was parsed; it does not exist before the first Parse
// and after one that failed.
func (d *Doc) Root() Value {
	if len(d.nodes) == 0 {
		return Value{}
	}
	return Value{doc: d}
}

// Holds reports whether v is a place in d.
func (d *Doc) Holds(v Value) bool { return v.doc == d }

// Cost is how many bytes of memory the index holds, used or not.
func (d *Doc) Cost() int { return 16*cap(d.nodes) + 4*cap(d.table) + cap(d.key) }

// Reset lets go of the input, and of memory that only a huge input needed.
func (d *Doc) Reset() {
	d.data = nil
	d.nodes = kept(d.nodes, keptNodes)
	d.table = kept(d.table, keptSlots)
	d.key = kept(d.key, keptKey)
}

func kept[E any](s []E, most int) []E {
	if cap(s) > most {
		return nil
	}
	return s[:0]
}
