package a2a

import (
	"bytes"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The shortest texts, in bytes without blanks, that count as repeats if they are also in a thought. A shorter one may be there by
// coincidence.
const (
	minRepeat  = 32  // of a piece, or at the beginning of a text
	longRepeat = 128 // anywhere in a text
)

// maxThoughts bounds the memory for the texts of a stream's thoughts and their index, in bytes.
const maxThoughts = 512 << 10

// thoughtTexts remembers the texts that were marked as thoughts, by message or artifact. A message or an artifact may
// also contain an answer, so another text with the same id is not a thought.
type thoughtTexts struct {
	texts *simplelru.LRU[contentKey, *thoughtText] // nil if there was no thought
	size  int
	lost  wire.Set[contentKey] // messages and artifacts with thoughts whose texts did not fit
}

// add remembers marked texts, as lenient.PieceText returns them.
func (t *thoughtTexts) add(c content, texts [][]byte) {
	if len(texts) == 0 || t.lost.MayContain(c.id) {
		return
	}
	if t.texts == nil {
		t.texts, _ = simplelru.NewLRU(wire.MaxSet, t.forget) // the only error is a size below one
	}
	one, known := t.texts.Get(c.id)
	if !known {
		one = &thoughtText{whole: make(map[int]int), short: make(map[string]struct{}), blocks: make(map[block]int)}
		t.texts.Add(c.id, one)
	}
	before := one.size()
	one.add(texts, c.extent)
	for t.size += one.size() - before; t.size > maxThoughts; {
		t.texts.RemoveOldest()
	}
}

func (t *thoughtTexts) forget(id contentKey, text *thoughtText) {
	t.size -= text.size()
	t.lost.Add(id)
}

// unmarkedText is the text of a part that is not marked as a thought, as lenient.PieceText returns it.
type unmarkedText struct {
	part     strictjson.Value
	text     []byte
	isRepeat bool // it repeats an earlier thought, or may repeat one
}

// findRepeats finds the texts of a message or an artifact that repeat its thoughts.
func (t *thoughtTexts) findRepeats(c content, texts []unmarkedText) {
	if t.lost.MayContain(c.id) {
		for i := range texts {
			texts[i].isRepeat = true
		}
	} else if one, known := t.texts.Peek(c.id); known {
		before := one.size()
		one.findRepeats(texts, c.extent == extentPiece)
		t.size += one.size() - before
	}
}

// knows reports whether a message or an artifact has, or may have, thoughts.
func (t *thoughtTexts) knows(id contentKey) bool {
	return t.texts != nil && (t.texts.Contains(id) || t.lost.MayContain(id))
}

// thoughtText holds the thoughts of a message or an artifact.
type thoughtText struct {
	text      []byte              // the marked texts as lenient.PieceText returns them, one after the other
	whole     map[int]int         // maps the start of each text of minRepeat bytes or more to its end; of several texts, to the first end
	short     map[string]struct{} // the shorter texts
	blocks    map[block]int       // the first place of each block of text
	last      span                // the last text
	inPiece   bool                // the last text arrives in pieces and grows with the next one
	unmarked  []byte              // the end of the unmarked text, up to longRepeat bytes
	truncated bool                // unmarked lacks the beginning
}

// span is a range of a text.
type span struct{ start, end int }

// entrySize is the approximate size of an entry of whole, short or blocks in memory, in bytes.
const entrySize = 40

// block is a piece of a thought. A thought is divided into blocks of equal length. Text that is also in the thought is
// found by its blocks.
type block [minRepeat / 2]byte

// size returns the approximate size in memory, in bytes.
func (t *thoughtText) size() int {
	return len(t.text) + entrySize*(len(t.whole)+len(t.short)+len(t.blocks))
}

// add remembers the marked texts of a frame.
func (t *thoughtText) add(texts [][]byte, as extent) {
	t.unmarked, t.truncated = nil, false
	all := bytes.Join(texts, nil)
	if as == extentPiece {
		if !t.inPiece {
			t.last, t.inPiece = span{start: len(t.text)}, true
		}
		t.append(all)
		t.last.end = len(t.text)
		return
	}
	t.endPieces()
	t.last = t.place(all, as)
	t.addWhole(t.last)
	end := t.last.start
	for _, one := range texts {
		t.addWhole(span{end, end + len(one)})
		end += len(one)
	}
}

// endPieces makes one whole text of the pieces so far.
func (t *thoughtText) endPieces() {
	if t.inPiece {
		t.inPiece = false
		t.addWhole(t.last)
	}
}

// place returns the place of a text. It appends the text unless it is known. Except in a snapshot, it also appends a known text if that is
// short: the place found may be within a longer word.
func (t *thoughtText) place(text []byte, as extent) span {
	if as == extentSnapshot || len(text) >= minRepeat {
		if at := bytes.Index(t.text, text); at >= 0 {
			return span{at, at + len(text)}
		}
	}
	start := len(t.text)
	if t.last.end == start && bytes.HasPrefix(text, t.text[t.last.start:]) {
		start = t.last.start // the text grows
	}
	t.append(text[len(t.text)-start:])
	return span{start, len(t.text)}
}

// addWhole remembers the place of a whole text.
func (t *thoughtText) addWhole(s span) {
	if s.end-s.start < minRepeat {
		t.short[string(t.text[s.start:s.end])] = struct{}{}
		return
	}
	if end, known := t.whole[s.start]; !known || s.end < end {
		t.whole[s.start] = s.end
	}
}

func (t *thoughtText) append(text []byte) {
	next := len(t.text) / len(block{}) * len(block{})
	t.text = append(t.text, text...)
	for ; next+len(block{}) <= len(t.text); next += len(block{}) {
		if _, known := t.blocks[block(t.text[next:])]; !known {
			t.blocks[block(t.text[next:])] = next
		}
	}
}

// findRepeats finds the texts of a frame that repeat the thought. They may continue the unmarked text of earlier frames
// even if they are not pieces, because some servers send the message again with each piece.
func (t *thoughtText) findRepeats(texts []unmarkedText, arePieces bool) {
	t.endPieces()
	end, begin := len(t.unmarked), 0
	if !arePieces {
		begin = end
	}
	for _, one := range texts {
		t.unmarked = append(t.unmarked, one.text...)
	}
	shared := t.sharedRuns(begin)
	for i := range texts {
		one := &texts[i]
		place := span{end, end + len(one.text)}
		_, isShort := t.short[string(one.text)]
		end = place.end
		for len(shared) > 0 && shared[0].end <= place.start {
			shared = shared[1:] // runs are in order, and so are texts
		}
		one.isRepeat = isShort && !arePieces || len(one.text) > 0 && place.isRepeated(shared)
	}
	if rest := len(t.unmarked) - longRepeat; rest > 0 {
		t.unmarked, t.truncated = slices.Clone(t.unmarked[rest:]), true
	}
}

// sharedRun is a range of the unmarked text, of minRepeat bytes or more, that is also in the thought.
type sharedRun struct {
	span
	isRepeat bool // it is no coincidence, so it counts even if it covers only a part of a text
}

// sharedRuns returns the ranges of the unmarked text that are also in the thought, in order. begin is where the text of
// the current frame begins, or 0 if it continues that of earlier frames.
func (t *thoughtText) sharedRuns(begin int) (runs []sharedRun) {
	for i := 0; i+len(block{}) <= len(t.unmarked); i++ {
		at, known := t.blocks[block(t.unmarked[i:])]
		if !known {
			continue
		}
		run, offset := span{i, i + len(block{})}, at-i // offset leads from a place in unmarked to that in text
		for run.start > max(0, -offset, i-longRepeat) && t.unmarked[run.start-1] == t.text[run.start-1+offset] {
			run.start--
		}
		for run.end < len(t.unmarked) && run.end+offset < len(t.text) && t.unmarked[run.end] == t.text[run.end+offset] {
			run.end++
		}
		if run.end-run.start >= minRepeat {
			runs = append(runs, sharedRun{run, t.isRepeat(run, offset, begin)})
		}
		i = run.end - len(block{}) // the next run may begin before this one ends
	}
	return runs
}

// isRepeat reports whether a shared run is no coincidence: it is long, begins the unmarked text, is half of that text,
// or contains a whole text of the thought. offset leads from a place in the unmarked text to that in the thought.
func (t *thoughtText) isRepeat(run span, offset, begin int) bool {
	length, isAll := run.end-run.start, begin > 0 || !t.truncated
	if length >= longRepeat || isAll && (run.start <= begin || 2*length >= len(t.unmarked)-begin) {
		return true
	}
	for start := run.start + offset; start+minRepeat <= run.end+offset; start++ {
		if end, known := t.whole[start]; known && end <= run.end+offset {
			return true
		}
	}
	return false
}

// isRepeated reports whether the text at s is a repeat: one shared run covers all of it, or enough of it is in shared runs
// that are no coincidence. runs are the shared runs from s on.
func (s span) isRepeated(runs []sharedRun) bool {
	repeated := 0
	for _, run := range runs {
		if run.start >= s.end+longRepeat { // a later run may begin up to longRepeat bytes before this one
			break
		}
		if run.start <= s.start && run.end >= s.end && s.end-s.start >= minRepeat {
			return true
		}
		if run.isRepeat {
			repeated += max(0, min(s.end, run.end)-max(s.start, run.start))
		}
	}
	return repeated >= min(minRepeat, s.end-s.start)
}
