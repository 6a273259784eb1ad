package adkstudio

import "bytes"

// maxAnswer bounds the text of a run that is kept, in bytes; no more of an answer is ever searched for what it says of itself.
const maxAnswer = 64 << 10

// answer is what a run has said. Of the servers, some send each piece of a text and at its end the whole, some the whole with
// each piece; what is already known of a chunk is no news.
type answer struct {
	said  []byte
	since int  // where what was said since the last node began
	told  int  // how far it was stated whole
	over  bool // more was said than is kept: each chunk stands for itself
}

// began notes that a node begins. Some servers repeat at the end what the last of them has said, some what all have.
func (a *answer) began() { a.since = len(a.said) }

// take returns what is new in a chunk; where the chunk only repeats what was said, what of it was not stated whole before.
func (a *answer) take(chunk []byte) (news []byte, whole bool) {
	if a.over || len(chunk) == 0 {
		return chunk, false
	}
	from := len(a.said) // where the chunk belongs
	switch {
	case repeats(chunk, a.said):
		from = 0
	case repeats(chunk, a.said[a.since:]):
		from = a.since
	}
	news = chunk[len(a.said)-from:]
	switch {
	case len(news) == 0:
		news, a.told = chunk[max(a.told-from, 0):], len(a.said)
		return news, true
	case len(a.said)+len(news) > maxAnswer:
		*a = answer{over: true}
	default:
		a.said = append(a.said, news...)
	}
	return news, false
}

// repeats says whether a chunk begins with all of a text.
func repeats(chunk, text []byte) bool { return len(text) > 0 && bytes.HasPrefix(chunk, text) }

// tell is all that was said and not stated whole before.
func (a *answer) tell() []byte {
	from := a.told
	a.told = len(a.said)
	return a.said[from:]
}

// tellNode is what was said since the last node began; nothing where text of others is not told either.
func (a *answer) tellNode() []byte {
	if a.told < a.since {
		return nil
	}
	return a.tell()
}
