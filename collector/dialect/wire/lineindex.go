package wire

// startLen is the length of the start by which a lineIndex finds a line, and of the shortest line that counts within a word or a sentence.
const startLen = minWithheldLine

// lineIndex is a set of lines that finds them in a text in one pass, however many there are. The zero value is empty.
type lineIndex struct {
	lines   map[string]struct{}
	lengths map[[startLen]byte][]int // of the lines that begin so
}

func (x *lineIndex) len() int { return len(x.lines) }

func (x *lineIndex) contains(line string) bool {
	_, contains := x.lines[line]
	return contains
}

// add adds a line that is not in the set.
func (x *lineIndex) add(line string) {
	if x.lines == nil {
		x.lines, x.lengths = make(map[string]struct{}), make(map[[startLen]byte][]int)
	}
	x.lines[line] = struct{}{}
	if len(line) < startLen {
		return
	}
	start := [startLen]byte([]byte(line[:startLen]))
	for _, length := range x.lengths[start] {
		if length == len(line) {
			return
		}
	}
	x.lengths[start] = append(x.lengths[start], len(line))
}

// isIn reports whether words, as appendStrings returns them, have one of the lines. If it is short, it must be at the end of a string. With
// areWhole, it must not begin or end within a word; the last word of a cut line may go on.
func (x *lineIndex) isIn(words []byte, areWhole bool) bool {
	for i := range words {
		isStart := i > 0 && words[i-1] == ' '
		if isStart {
			for end := i + 1; end < len(words) && end < i+startLen; end++ {
				if words[end] == '\n' && x.contains(string(words[i:end])) {
					return true
				}
			}
		}
		if i+startLen > len(words) || areWhole && !isStart {
			continue
		}
		for _, length := range x.lengths[[startLen]byte(words[i:])] {
			end := i + length
			if end > len(words) {
				continue
			}
			if _, is := x.lines[string(words[i:end])]; is && (!areWhole || length >= maxWithheldLine || end < len(words) && (words[end] == ' ' || words[end] == '\n')) {
				return true
			}
		}
	}
	return false
}
