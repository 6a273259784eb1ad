// Package strictjson parses one JSON value strictly: it rejects input that two parsers could understand
// differently.
//
// Parse rejects everything that RFC 8259 forbids, and also:
//   - duplicate member names in one object, including names that are equal only under Unicode simple
//     case folding ("KIND" and "kind"), except in the values of members that the caller lists
//   - invalid UTF-8, and names with the escape of a half of a surrogate pair
//   - a byte order mark
//   - nesting beyond a limit
//   - anything except whitespace around the value
//
// The filter of the external stream relies on this: a value that passes has one meaning. Numbers may
// have any size and precision, as in the grammar. A reader that needs an exact number uses Value.Int.
//
// A string may have halves of surrogate pairs: JavaScript writes them if a program cuts a text within a
// character.
//
// # Cost
//
// One pass fills an index of 16 bytes for each value and each member name. The index takes at most 8
// bytes for each byte of input (`[0,0,…]`). A large object also has a hash table while it is open. An
// object is large if it has more than sixteen members, or names whose cheap hashes collide. The table
// takes at most 16 bytes for each name, or 256 bytes if that is more. Index and tables together take at
// most 8 bytes for each byte of input, plus 256 bytes for each level of nesting. While a table grows, it
// briefly takes up to twice as much. An index of more than 128 KiB grows only once. A Doc keeps at most
// 288 KiB between calls of Parse.
//
// Time is linear in the size of any input: the hash of the tables has a new seed in each process.
package strictjson

import (
	"slices"
	"strconv"
)

// Reason says which rule an input violates. The set is closed, so a Reason can be a label value.
type Reason string

const (
	// Syntax means input that is not in the grammar of RFC 8259, empty, incomplete, or over 512 MiB.
	Syntax Reason = "syntax"
	// DuplicateName means that two decoded names of one object are equal.
	DuplicateName Reason = "duplicate_name"
	// FoldedName means that two names of one object differ only by case (strings.EqualFold).
	FoldedName Reason = "folded_name"
	// InvalidUTF8 means invalid UTF-8, or a name with a half of a surrogate pair.
	InvalidUTF8 Reason = "invalid_utf8"
	// TrailingData means that something other than whitespace follows the value.
	TrailingData Reason = "trailing_data"
	// Depth means that arrays and objects are nested deeper than allowed.
	Depth Reason = "depth"
)

// Error says why and where an input was rejected. If there are several errors, it is the first one in
// the input. It never contains any of the input.
type Error struct {
	Reason Reason
	// Offset is a byte offset into the input. It is the position of one of these:
	//   - the first byte that is not allowed
	//   - the end of the input, if the input is incomplete
	//   - the backslash of an escape
	//   - the opening quote of a duplicate name
	//   - the bracket that exceeds the depth
	Offset int
}

func (e *Error) Error() string {
	return "strictjson: " + string(e.Reason) + " at byte " + strconv.Itoa(e.Offset)
}

const (
	// maxSize bounds the input so that offsets fit 32 bits and lengths 28.
	maxSize = 512 << 20
	// maxRecursion bounds the depth that a caller may ask for, to protect the stack.
	maxRecursion = 10_000

	// Capacities that a Doc keeps between calls of Parse.
	keptNodes = 8 << 10  // 128 KiB
	keptSlots = 32 << 10 // 128 KiB
	keptKey   = 32 << 10 // 32 KiB
)

// Doc is a parsed input: the input itself, borrowed, and an index of its values. The zero value is
// ready to use, and each Parse reuses the memory of the one before. Any number of goroutines may read
// a Doc while none parses.
type Doc struct {
	data  []byte
	nodes []node
	table []uint32 // name tables of the open objects, innermost last
	key   []byte   // scratch: the keys of names
	err   Error

	free   []string // see Parse
	inFree bool     // the current value is in the value of one of free
}

// Everywhere stands for the whole input in the arguments of Parse.
const Everywhere = ""

// Parse parses data, one JSON value nested at most maxDepth levels deep: a scalar has depth 0 and `[]`
// has depth 1. The highest possible maxDepth is 10,000. Parse borrows data until the next Parse or
// Reset: it must not change until then. Values of an earlier Parse become invalid. The error is an
// *Error and leaves the Doc empty.
//
// free lists members such as the schema of a tool's parameters: users choose the names in their values. In these values,
// names may differ only by case. A member is in free if its name, as sent, is exactly one of free, or if free has Everywhere.
func (d *Doc) Parse(data []byte, maxDepth int, free ...string) error {
	d.Reset()
	d.free, d.inFree = free, slices.Contains(free, Everywhere)
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

// Root returns the parsed value. It does not exist before the first Parse and after a failed one.
func (d *Doc) Root() Value {
	if len(d.nodes) == 0 {
		return Value{}
	}
	return Value{doc: d}
}

// Contains reports whether v is a value of d.
func (d *Doc) Contains(v Value) bool { return v.doc == d }

// MemorySize returns the capacity of the index in bytes.
func (d *Doc) MemorySize() int { return NodeSize*cap(d.nodes) + 4*cap(d.table) + cap(d.key) }

// Reset releases the input, and the memory that only a large input needed.
func (d *Doc) Reset() {
	d.data = nil
	d.nodes = truncate(d.nodes, keptNodes)
	d.table = truncate(d.table, keptSlots)
	d.key = truncate(d.key, keptKey)
}

// truncate returns s without its elements, or nil if its capacity is over limit.
func truncate[E any](s []E, limit int) []E {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}
