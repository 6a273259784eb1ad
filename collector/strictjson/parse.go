package strictjson

// A node is one value or member name of the index. The nodes stand in the order
// of the input: a container is followed by what it holds, a name by its value.
type node struct {
	start, end uint32 // of the bytes as sent, with quotes and brackets
	next       uint32 // the node after this value and all it holds; of a name, its hash
	info       uint32 // kind, escapedBit, and from lengthShift on a container's length
}

const (
	kindMask    = 7
	escapedBit  = 8
	lengthShift = 4
)

func (n *node) kind() Kind    { return Kind(n.info & kindMask) }
func (n *node) escaped() bool { return n.info&escapedBit != 0 }
func (n *node) length() int   { return int(n.info >> lengthShift) }

// value reads the value that begins at i, with room for that many nested
// containers, and returns the offset after it, or -1 after fail.
func (d *Doc) value(i, room int) int {
	switch at(d.data, i) {
	case '"':
		end, info := d.scanString(i)
		if end >= 0 {
			d.push(i, end, info)
		}
		return end
	case '{':
		return d.object(i, room)
	case '[':
		return d.array(i, room)
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

func (d *Doc) object(start, room int) int {
	if room <= 0 {
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
		end := d.name(i, object, &names)
		if end < 0 {
			return end
		}
		i = skipSpace(data, end)
		if at(data, i) != ':' {
			return d.fail(Syntax, i)
		}
		if i = d.value(skipSpace(data, i+1), room-1); i < 0 {
			return i
		}
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

func (d *Doc) array(start, room int) int {
	if room <= 0 {
		return d.fail(Depth, start)
	}
	data := d.data
	array := d.push(start, start, uint32(Array))
	i := skipSpace(data, start+1)
	if at(data, i) == ']' {
		return d.close(array, i+1, 0)
	}
	for length := uint32(1); ; length++ {
		if i = d.value(i, room-1); i < 0 {
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

// grow doubles the index, but not beyond what the input from start on can fill:
// a node takes two bytes at least. (Brackets that are never closed take one;
// they are refused in the end, and grow comes again for them.)
func (d *Doc) grow(start int) {
	most := len(d.nodes) + (len(d.data)-start)/2 + 1
	nodes := make([]node, len(d.nodes), min(max(64, 2*cap(d.nodes)), most))
	copy(nodes, d.nodes)
	d.nodes = nodes
}

func (d *Doc) fail(reason Reason, offset int) int {
	d.err = Error{reason, offset}
	return -1
}

// at returns the byte at i, and NUL, which no rule of the grammar accepts,
// where the input has ended.
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
