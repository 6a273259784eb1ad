package adkstudio

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// maxAnswer limits the kept text of a run, in bytes. Longer text is not searched for confidence and
// sources.
const maxAnswer = 64 << 10

// answer is the text of a run. It finds the new text in a chunk. Some servers send each piece of a text and then the
// whole text. Others send the whole text so far in each chunk.
type answer struct {
	text        []byte
	nodeStart   int  // offset of the text since the last node started
	reported    int  // length of the text that was already reported as a whole
	equalChunks int  // number of equal chunks in a row that the text starts with; 0 after a frame other than chunk, debug and log
	overflowed  bool // the text exceeded maxAnswer, so chunks are no longer compared

	authors, nodeAuthors wire.Set[string] // of the whole text, and of the text since the last node started
}

// endRow records a frame that ends a row of equal chunks. After it, a chunk that equals the whole text is a repeat, not a piece.
func (a *answer) endRow() { a.equalChunks = 0 }

// isThirdInRow reports whether a chunk is the third of three equal chunks in a row that the text starts with.
// A server repeats a text at most once in a row, so three equal chunks are pieces.
func (a *answer) isThirdInRow(chunk []byte) bool {
	switch {
	case len(a.text) == 0:
		a.equalChunks = 1
	case a.equalChunks > 0 && bytes.Equal(chunk, a.text):
		a.equalChunks++
	default:
		a.equalChunks = 0
	}
	return a.equalChunks == 3
}

// startNode records that a node starts. At the end, some servers repeat the text of the last node. Others repeat the text
// of all nodes.
func (a *answer) startNode() { a.nodeStart, a.nodeAuthors = len(a.text), wire.Set[string]{} }

// addAuthor adds the author of the last chunk.
func (a *answer) addAuthor(name string) {
	a.authors.Add(name)
	a.nodeAuthors.Add(name)
}

// repeated returns the authors of the text that a chunk repeats, or may repeat.
func (a *answer) repeated(chunk []byte) (authors wire.Set[string]) {
	switch from := a.start(chunk); {
	case a.overflowed, from == 0:
		return a.authors
	case from < len(a.text):
		return a.nodeAuthors
	}
	return wire.Set[string]{}
}

// start returns where a chunk starts in the text.
func (a *answer) start(chunk []byte) int {
	switch {
	case repeats(chunk, a.text):
		return 0
	case repeats(chunk, a.text[a.nodeStart:]):
		return a.nodeStart
	}
	return len(a.text)
}

// add returns the new text in a chunk. If the chunk only repeats known text, whole is true and add returns
// the part that was not yet reported as a whole.
func (a *answer) add(chunk []byte) (added []byte, whole bool) {
	if a.overflowed || len(chunk) == 0 {
		return chunk, false
	}
	if a.isThirdInRow(chunk) { // the second chunk was new too
		again := bytes.Repeat(chunk, 2)
		a.text, a.equalChunks = append(a.text, again...), 0
		return again, false
	}
	from := a.start(chunk)
	added = chunk[len(a.text)-from:]
	switch {
	case len(added) == 0:
		added, a.reported = chunk[max(a.reported-from, 0):], len(a.text)
		return added, true
	case len(a.text)+len(added) > maxAnswer:
		*a = answer{overflowed: true, authors: a.authors}
	default:
		a.text = append(a.text, added...)
	}
	return added, false
}

// repeats reports whether a chunk starts with all of a text.
func repeats(chunk, text []byte) bool { return len(text) > 0 && bytes.HasPrefix(chunk, text) }

// unreported returns the text that was not yet reported as a whole.
func (a *answer) unreported() []byte {
	from := a.reported
	a.reported = len(a.text)
	return a.text[from:]
}

// unreportedOfNode returns the text since the last node started, or nil if earlier text is
// unreported too.
func (a *answer) unreportedOfNode() []byte {
	if a.reported < a.nodeStart {
		return nil
	}
	return a.unreported()
}
