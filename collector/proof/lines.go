package proof

import (
	"bytes"
	"unicode/utf8"
)

// tail returns at most the last limit bytes of a text, from a complete line on: a part of a line may
// say the opposite of the whole line.
func tail(text []byte, limit int) (end []byte, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	if limit <= 0 {
		return nil, true
	}
	// Start at the byte before, so that a line that begins exactly at the limit is complete.
	_, end = cutLine(text[len(text)-limit-1:])
	return end, true
}

// cutLine splits a text after its first line, with any kind of line end.
func cutLine(text []byte) (line, rest []byte) {
	for i, c := range text {
		if c > '\r' && c != 0xE2 {
			continue
		}
		switch c {
		case '\n', '\v', '\f':
			return text[:i], text[i+1:]
		case '\r':
			return text[:i], bytes.TrimPrefix(text[i+1:], []byte("\n"))
		case 0xE2: // begins U+2028 and U+2029
			if r, size := utf8.DecodeRune(text[i:]); r == '\u2028' || r == '\u2029' {
				return text[:i], text[i+size:]
			}
		}
	}
	return text, nil
}

// cutLF splits a text in which all lines end in LF.
func cutLF(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return line, rest
}

// breaksElsewhere reports whether lines may end in something other than LF.
func breaksElsewhere(text []byte) bool {
	return bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, '\v') >= 0 || bytes.IndexByte(text, '\f') >= 0 || bytes.IndexByte(text, 0xE2) >= 0
}

// fence tracks the fenced code blocks (CommonMark 4.5) in the lines of a text.
type fence struct {
	mark  byte // of the open block
	size  int  // 0 outside code
	json  bool // the info string of the open block is "json" or empty
	prose bool // within ```markdown, which models put around a whole answer
}

// isCode reports whether a line is code or a fence.
func (f *fence) isCode(line []byte) bool {
	mark, size, info := fenceOf(line)
	switch {
	case f.size > 0:
		if mark == f.mark && size >= f.size && len(info) == 0 {
			f.size = 0
		}
	case size == 0:
		return false
	case f.prose && len(info) == 0:
		f.prose = false
	case bytes.EqualFold(info, []byte("markdown")) || bytes.EqualFold(info, []byte("md")):
		f.prose = true
	default:
		f.mark, f.size = mark, size
		f.json = len(info) == 0 || bytes.EqualFold(info, []byte("json"))
	}
	return true
}

// fenceOf returns the parts of a fence, with size 0 for any other line. It ignores indentation, because a
// fence in a list may be deeply indented.
func fenceOf(line []byte) (mark byte, size int, info []byte) {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t' || line[0] == '>') {
		line = line[1:]
	}
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return 0, 0, nil
	}
	info = bytes.TrimLeft(line, string(line[:1]))
	size = len(line) - len(info)
	if size < 3 || line[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return 0, 0, nil
	}
	return line[0], size, bytes.TrimSpace(info)
}

// openAtStart guesses whether a text without its beginning starts within code. It returns the open block, or
// no block. The first fence of the text decides. It closes a block if it has no info string and cannot open one:
// the block that it would open contains an opening fence, or has no closing one.
func openAtStart(text []byte) fence {
	var f, first fence
	for len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		mark, size, info := fenceOf(line)
		switch {
		case first.size == 0 && size > 0:
			if len(info) > 0 {
				return fence{}
			}
			first = fence{mark: mark, size: size}
		case f.size > 0 && len(info) > 0:
			return first
		}
		f.isCode(line)
	}
	if f.size > 0 {
		return first
	}
	return fence{}
}

// headsTable reports whether a line is the header of a table.
func headsTable(line, rest []byte) bool { return isRow(line) && isDelimiter(rest) }

// isDelimiter reports whether a text begins with the line below the header of a table.
func isDelimiter(text []byte) bool {
	line, _ := cutLine(text)
	return bytes.Contains(line[:min(len(line), shapeWindow)], []byte("--")) && len(bytes.Trim(line, "|-: \t")) == 0
}

func isRow(line []byte) bool {
	line = bytes.TrimLeft(line, " \t>")
	return len(line) > 0 && line[0] == '|'
}
