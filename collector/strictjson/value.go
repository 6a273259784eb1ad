package strictjson

import (
	"bytes"
	"iter"
	"strconv"
)

// Kind is the type of a Value. The zero Kind is None.
type Kind uint8

const (
	// None is the kind of a Value that does not exist.
	None Kind = iota
	// Null is the literal null.
	Null
	// Bool is true or false.
	Bool
	// Number is a number of any size and precision.
	Number
	// String is a string, or a member's name.
	String
	// Array is a list of values.
	Array
	// Object is a list of named values.
	Object
)

// Value is a value in a Doc. It is valid until the Doc's next Parse or Reset. The zero Value does not
// exist. Every method may be called on every Value; for a value of the wrong kind, it returns a zero
// result.
type Value struct {
	doc   *Doc
	index uint32
}

func (v Value) node() *node { return &v.doc.nodes[v.index] }

// sent returns a string, or a member's name, as sent and without its quotes.
func (d *Doc) sent(index uint32) []byte {
	n := &d.nodes[index]
	return d.data[n.start+1 : n.end-1 : n.end-1]
}

// text returns the decoded text of a string or a member's name.
func (d *Doc) text(index uint32) []byte {
	sent := d.sent(index)
	if !d.nodes[index].escaped() {
		return sent
	}
	return appendDecoded(make([]byte, 0, len(sent)), sent, true)
}

// Exists reports whether the value exists. A null exists.
func (v Value) Exists() bool { return v.doc != nil }

// Kind returns the kind of the value, or None if it does not exist.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return None
	}
	return v.node().kind()
}

// Get returns the member with exactly this decoded name, or a Value that does not exist. It searches the
// members in order and does not allocate.
func (v Value) Get(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	nodes, data, end := v.doc.nodes, v.doc.data, v.node().next
	for i := v.index + 1; i < end; i = nodes[i+1].next {
		n := &nodes[i]
		if n.escaped() {
			if decodesTo(v.doc.sent(i), name) {
				return Value{v.doc, i + 1}
			}
		} else if int(n.end-n.start) == len(name)+2 && string(data[n.start+1:n.end-1]) == name {
			return Value{v.doc, i + 1}
		}
	}
	return Value{}
}

// First returns the first of the named members that exists and is not null, or a Value that does not
// exist. It does not allocate.
func (v Value) First(names ...string) Value {
	for _, name := range names {
		if member := v.Get(name); member.Kind() > Null {
			return member
		}
	}
	return Value{}
}

// Len returns the number of members or elements.
func (v Value) Len() int {
	if v.doc == nil {
		return 0
	}
	return v.node().length()
}

// Members yields the names (each a String) and values of an object, in order.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) {
		if v.Kind() != Object {
			return
		}
		nodes, end := v.doc.nodes, v.node().next
		for i := v.index + 1; i < end; i = nodes[i+1].next {
			if !yield(Value{v.doc, i}, Value{v.doc, i + 1}) {
				return
			}
		}
	}
}

// Elements yields the values of an array, in order.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		nodes, end := v.doc.nodes, v.node().next
		for i := v.index + 1; i < end; i = nodes[i].next {
			if !yield(Value{v.doc, i}) {
				return
			}
		}
	}
}

// Raw returns the value's bytes as sent, borrowed from the input.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.data[n.start:n.end:n.end]
}

// Text returns the decoded text of a string, or nil. It is borrowed from the input, or newly allocated
// if the string has an escape. It is valid UTF-8: a half of a surrogate pair is a character of its own
// (IsHalf), so that different strings have different texts.
func (v Value) Text() []byte {
	if v.Kind() != String {
		return nil
	}
	return v.doc.text(v.index)
}

// Escaped reports whether the value is a string with an escape, so that Text allocates.
func (v Value) Escaped() bool { return v.Kind() == String && v.node().escaped() }

// AppendText appends the decoded text of a string to dst, for display: a half of a surrogate pair becomes
// U+FFFD. It appends nothing for any other value.
func (v Value) AppendText(dst []byte) []byte {
	if v.Kind() != String {
		return dst
	}
	return appendDecoded(dst, v.doc.sent(v.index), false)
}

// String returns Text as a string.
func (v Value) String() string { return string(v.Text()) }

// Is reports whether the value is a string that decodes to s. It does not allocate.
func (v Value) Is(s string) bool {
	if v.Kind() != String {
		return false
	}
	sent := v.doc.sent(v.index)
	if v.node().escaped() {
		return decodesTo(sent, s)
	}
	return string(sent) == s
}

// Bool returns a boolean. ok is false if the value is not one.
func (v Value) Bool() (value, ok bool) {
	if v.Kind() != Bool {
		return false, false
	}
	return v.Raw()[0] == 't', true
}

// Float returns the float64 nearest to a number. ok is false if the value is not a number, or is too large.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// Int returns a number that is integral and fits an int64, in any notation (1e3, 1.0). ok is false for
// every other value.
func (v Value) Int() (i int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	digits, negative := bytes.CutPrefix(v.Raw(), []byte("-"))
	if len(digits) > 18 || bytes.ContainsAny(digits, ".eE") {
		return integral(digits, negative)
	}
	for _, c := range digits {
		i = 10*i + int64(c-'0')
	}
	if negative {
		i = -i
	}
	return i, true
}
