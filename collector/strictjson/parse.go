package strictjson

// node is one value or member name of the index. Nodes are in the order of the input: a container is
// followed by its content, a name by its value.
type node struct {
	start, end uint32 // offsets of the bytes as sent, with quotes and brackets
	next       uint32 // the node after this value and its content; the hash of a name
	info       uint32 // kind, escapedBit, and a container's length from lengthShift on
}

// NodeSize is the memory in bytes that the index takes for each value and each member name.
const NodeSize = 16

const (
	kindMask    = 7
	escapedBit  = 8
	lengthShift = 4
)

func (n *node) kind() Kind    { return Kind(n.info & kindMask) }
func (n *node) escaped() bool { return n.info&escapedBit != 0 }
func (n *node) length() int   { return int(n.info >> lengthShift) }

// value parses the value at i, with at most depth levels of nesting, and returns the offset after it, or
// -1 after a failure.
func (d *Doc) value(i, depth int) int {
	switch at(d.data, i) {
	case '"':
		end, info := d.scanString(i, false)
		if end >= 0 {
			d.push(i, end, info)
		}
		return end
	case '{':
		return d.object(i, depth)
	case '[':
		return d.array(i, depth)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return d.number(i)
	case 't':
		return d.literal(i, "true", Bool)
	case 'f':
		return d.literal(i, "false", Bool)
	case 'n':
		return d.literal(i, "null", Null)
	}
	return d.fail(Syntax, i)
}

func (d *Doc) object(start, depth int) int {
	if depth <= 0 {
		return d.fail(Depth, start)
	}
	data := d.data
	object := d.push(start, start, uint32(Object))
	var names nameSet
	i := skipSpace(data, start+1)
	if at(data, i) == '}' {
		return d.close(object, i+1, 0)
	}
	for {
		name := uint32(len(d.nodes))
		end := d.name(i, object, &names)
		if end < 0 {
			return end
		}
		i = skipSpace(data, end)
		if at(data, i) != ':' {
			return d.fail(Syntax, i)
		}
		around := d.inFree
		d.inFree = around || d.free != nil && d.isFree(name)
		if i = d.value(skipSpace(data, i+1), depth-1); i < 0 {
			return i
		}
		d.inFree = around
		i = skipSpace(data, i)
		switch at(data, i) {
		case ',':
			i = skipSpace(data, i+1)
		case '}':
			if names.slots > 0 {
				d.table = d.table[:names.table]
			}
			return d.close(object, i+1, names.count)
		default:
			return d.fail(Syntax, i)
		}
	}
}

func (d *Doc) array(start, depth int) int {
	if depth <= 0 {
		return d.fail(Depth, start)
	}
	data := d.data
	array := d.push(start, start, uint32(Array))
	i := skipSpace(data, start+1)
	if at(data, i) == ']' {
		return d.close(array, i+1, 0)
	}
	for length := uint32(1); ; length++ {
		if i = d.value(i, depth-1); i < 0 {
			return i
		}
		i = skipSpace(data, i)
		switch at(data, i) {
		case ',':
			i = skipSpace(data, i+1)
		case ']':
			return d.close(array, i+1, length)
		default:
			return d.fail(Syntax, i)
		}
	}
}

func (d *Doc) close(container uint32, end int, length uint32) int {
	n := &d.nodes[container]
	n.end = uint32(end)
	n.next = uint32(len(d.nodes))
	n.info |= length << lengthShift
	return end
}

func (d *Doc) number(start int) int {
	data := d.data
	i := start
	if data[i] == '-' {
		i++
	}
	if at(data, i) == '0' {
		i++
	} else if i = skipDigits(data, i); i < 0 {
		return d.fail(Syntax, ^i)
	}
	if at(data, i) == '.' {
		if i = skipDigits(data, i+1); i < 0 {
			return d.fail(Syntax, ^i)
		}
	}
	if c := at(data, i); c|0x20 == 'e' {
		i++
		if c := at(data, i); c == '+' || c == '-' {
			i++
		}
		if i = skipDigits(data, i); i < 0 {
			return d.fail(Syntax, ^i)
		}
	}
	d.push(start, i, uint32(Number))
	return i
}

// skipDigits returns the offset after the digits at i, or ^i if there is none.
func skipDigits(data []byte, i int) int {
	first := i
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	if i == first {
		return ^i
	}
	return i
}

func (d *Doc) literal(start int, word string, kind Kind) int {
	for i := range len(word) {
		if at(d.data, start+i) != word[i] {
			return d.fail(Syntax, start+i)
		}
	}
	end := start + len(word)
	d.push(start, end, uint32(kind))
	return end
}

func (d *Doc) push(start, end int, info uint32) uint32 {
	index := len(d.nodes)
	if index == cap(d.nodes) {
		d.grow(start)
	}
	d.nodes = d.nodes[:index+1]
	d.nodes[index] = node{uint32(start), uint32(end), uint32(index + 1), info}
	return uint32(index)
}

// grow doubles a small index, but not beyond what the input from start on can fill: a node takes at least
// two bytes. Only brackets that are never closed take one byte; they are rejected in the end, and grow
// is called again for them. A large index grows once, so that no copies of it are in memory at the same
// time.
func (d *Doc) grow(start int) {
	n := min(max(64, 2*cap(d.nodes)), len(d.nodes)+(len(d.data)-start)/2+1)
	if n > keptNodes {
		n = len(d.nodes) + countNodes(d.data[start:])
	}
	nodes := make([]node, len(d.nodes), n)
	copy(nodes, d.nodes)
	d.nodes = nodes
}

// countNodes returns the number of nodes in data, which begins with a value or a name. If data is not
// valid JSON, it counts at least the nodes before the error.
func countNodes(data []byte) (n int) {
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c <= ' ' || c == ',' || c == ':' || c == ']' || c == '}':
			continue
		case c == '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case c != '[' && c != '{':
			for i+1 < len(data) && data[i+1] > ',' && data[i+1] != ']' && data[i+1] != '}' {
				i++
			}
		}
		n++
	}
	return max(n, 1)
}

func (d *Doc) fail(reason Reason, offset int) int {
	d.err = Error{reason, offset}
	return -1
}

// at returns the byte at i, or NUL after the end of the input. No rule of the grammar accepts NUL.
func at(data []byte, i int) byte {
	if uint(i) < uint(len(data)) {
		return data[i]
	}
	return 0
}

func skipSpace(data []byte, i int) int {
	const spaces uint64 = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'
	for uint(i) < uint(len(data)) && data[i] <= ' ' && spaces>>data[i]&1 != 0 {
		i++
	}
	return i
}
