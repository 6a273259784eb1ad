package a2a

import (
	"bytes"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Lengths, in bytes without blanks, from which text that a thought has too is no coincidence.
const (
	minRepeat  = 32  // of a piece, or at the beginning of a text
	longRepeat = 128 // anywhere in a text
)

// maxThoughts bounds the memory for the texts of a stream's thoughts, in bytes.
const maxThoughts = 256 << 10

// thoughtTexts remembers the texts that were marked as thoughts, by message or artifact. These may also contain
// an answer, so another text under the same id is none.
type thoughtTexts struct {
	texts *simplelru.LRU[contentKey, *thoughtText] // nil if there was no thought
	size  int
	lost  wire.Set[contentKey] // messages and artifacts with thoughts whose texts did not fit
}

// add remembers marked texts, as lenient.Text returns them.
func (t *thoughtTexts) add(c content, texts [][]byte) {
	if len(texts) == 0 || t.lost.MayContain(c.id) {
		return
	}
	if t.texts == nil {
		t.texts, _ = simplelru.NewLRU(wire.MaxSet, t.forget) // the only error is a size below one
	}
	one, known := t.texts.Get(c.id)
	if !known {
		one = &thoughtText{blocks: make(map[block]int)}
		t.texts.Add(c.id, one)
	}
	if len(texts) > maxThoughts/spanSize {
		t.texts.Remove(c.id)
		return
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

// unmarkedText is the text of a part that is not marked as a thought, as lenient.Text returns it.
type unmarkedText struct {
	part     strictjson.Value
	text     []byte
	isRepeat bool // it is, or may be, that of an earlier thought
}

// judge finds the repeats among the texts of a message or an artifact.
func (t *thoughtTexts) judge(c content, texts []unmarkedText) {
	if t.lost.MayContain(c.id) {
		for i := range texts {
			texts[i].isRepeat = true
		}
	} else if one, known := t.texts.Peek(c.id); known {
		one.judge(texts, c.extent == extentPiece)
	}
}

// knows reports whether a message or an artifact has, or may have, thoughts.
func (t *thoughtTexts) knows(id contentKey) bool {
	return t.texts != nil && (t.texts.Contains(id) || t.lost.MayContain(id))
}

// thoughtText holds the thoughts of a message or an artifact.
type thoughtText struct {
	text    []byte        // the marked texts as lenient.Text returns them, one after the other
	spans   []span        // the places of whole texts in text
	blocks  map[block]int // the first place of each block of text
	last    span          // the last text
	inPiece bool          // it grows with the next piece
	said    []byte        // the end of the unmarked text, up to longRepeat bytes
	cut     bool          // said is not all of it
}

// span is a range of a text.
type span struct{ start, end int }

const spanSize = 16

// block is one of the pieces of equal length of a thought, by which a common text is found.
type block [minRepeat / 2]byte

// size returns the approximate size in memory, in bytes, without the index.
func (t *thoughtText) size() int { return len(t.text) + spanSize*len(t.spans) }

// add remembers the marked texts of a frame.
func (t *thoughtText) add(texts [][]byte, as extent) {
	t.said, t.cut = nil, false
	all := bytes.Join(texts, nil)
	if as == extentPiece {
		if !t.inPiece {
			t.last = span{len(t.text), len(t.text)}
			t.spans = append(t.spans, t.last)
		}
		t.append(all)
		t.last.end, t.inPiece = len(t.text), true
		t.spans[len(t.spans)-1] = t.last
		return
	}
	t.last, t.inPiece = t.place(all, as), false
	t.addSpan(t.last)
	place := span{end: t.last.start}
	for _, one := range texts {
		place = span{place.end, place.end + len(one)}
		t.addSpan(place)
	}
}

// place returns the place of a text, which it appends unless it is known. In an update, a short text may be a word
// of a longer one, so its place among the others counts.
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

func (t *thoughtText) addSpan(s span) {
	if !slices.Contains(t.spans, s) {
		t.spans = append(t.spans, s)
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

// judge finds the texts of a frame that repeat the thought. They may continue the unmarked text of earlier frames,
// even if they are no pieces: some servers send a message again for each piece.
func (t *thoughtText) judge(texts []unmarkedText, arePieces bool) {
	t.inPiece = false
	place, begin := span{end: len(t.said)}, 0
	if !arePieces {
		begin = place.end
	}
	for _, one := range texts {
		t.said = append(t.said, one.text...)
	}
	common := t.commonRuns(begin)
	for i := range texts {
		one := &texts[i]
		place = span{place.end, place.end + len(one.text)}
		one.isRepeat = t.hasText(one.text, arePieces) || len(one.text) > 0 && place.overlap(common) >= min(minRepeat, len(one.text))
	}
	if rest := len(t.said) - longRepeat; rest > 0 {
		t.said, t.cut = slices.Clone(t.said[rest:]), true
	}
}

// hasText reports whether the thought has a text that is no coincidence.
func (t *thoughtText) hasText(text []byte, isPiece bool) bool {
	if isPiece || len(text) >= minRepeat {
		return len(text) >= minRepeat && bytes.Contains(t.text, text)
	}
	return slices.ContainsFunc(t.spans, func(s span) bool {
		end := s.start + len(text)
		return bytes.HasPrefix(t.text[s.start:], text) && slices.ContainsFunc(t.spans, func(s span) bool { return s.end == end })
	})
}

// commonRuns returns the parts of the unmarked text that the thought has too and that are no coincidence. begin is
// where the text of the current frame begins, or 0 if it continues that of earlier frames.
func (t *thoughtText) commonRuns(begin int) (runs []span) {
	for i := 0; i+len(block{}) <= len(t.said); i++ {
		at, known := t.blocks[block(t.said[i:])]
		if !known {
			continue
		}
		run, offset := span{i, i + len(block{})}, at-i // from a place in said to that in text
		for run.start > max(0, -offset, i-longRepeat) && t.said[run.start-1] == t.text[run.start-1+offset] {
			run.start--
		}
		for run.end < len(t.said) && run.end+offset < len(t.text) && t.said[run.end] == t.text[run.end+offset] {
			run.end++
		}
		if t.isRepeat(run, offset, begin) {
			runs = append(runs, run)
		}
		i = run.end - len(block{}) // the next run may begin before this one ends
	}
	return runs
}

// isRepeat reports whether a run of the unmarked text that the thought has too, at an offset, is no coincidence: it is
// long, at the beginning of a text, half of it, or contains a whole text of the thought.
func (t *thoughtText) isRepeat(run span, offset, begin int) bool {
	length, isAll := run.end-run.start, begin > 0 || !t.cut
	switch {
	case length < minRepeat:
		return false
	case length >= longRepeat, isAll && (run.start <= begin || 2*length >= len(t.said)-begin):
		return true
	}
	return slices.ContainsFunc(t.spans, func(s span) bool {
		return s.start >= run.start+offset && s.end <= run.end+offset && s.end-s.start >= minRepeat
	})
}

// overlap returns how many bytes of s are in the runs.
func (s span) overlap(runs []span) (n int) {
	for _, run := range runs {
		n += max(0, min(s.end, run.end)-max(s.start, run.start))
	}
	return n
}
