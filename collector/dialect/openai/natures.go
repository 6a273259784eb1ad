package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mark records what a frame says about a message. Without a key, the frame may be about any message.
func (w *withheldSet) mark(keys []string, m marks) {
	if len(keys) == 0 && answer.updated(m) != answer {
		keys = unnamed
	}
	for _, key := range keys {
		before, known := w.natureOf(key)
		is := before.updated(m)
		switch _, own := w.natures[key]; {
		case is == answer:
			delete(w.natures, key)
		case own || len(w.natures) < maxNatures:
			if w.natures == nil {
				w.natures = make(map[string]nature)
			}
			w.natures[key] = is
		}
		switch {
		case !isID(key):
		case is.textKind() == event.KindThought:
			w.thoughts.Add(key)
		case known:
			w.thoughts.Remove(key)
		}
	}
}

// natureOf returns what the marks of this stream said about a key, and whether there was a mark. Without a mark, what was a thought on
// another stream of the agent is a thought here too, because a client may continue a response on another stream.
func (w *withheldSet) natureOf(key string) (nature, bool) {
	is, known := w.natures[key]
	switch {
	case known:
		return is, true
	case isID(key) && w.thoughts.IsShared(key):
		return nature{kind: event.KindText, thinks: true}, true
	}
	return answer, false
}

// markThought marks a part of an item as a thought. It is for items of which the stream did not show the start. It marks only the
// part, because Llama Stack sends thoughts and answers in one item.
func (w *withheldSet) markThought(at place) {
	for _, key := range at.partKeys() {
		if isID(key) {
			w.mark([]string{key}, marks{kind: event.KindThought})
		}
	}
}

// unnamed holds the key of messages that no ID or number names.
var unnamed = []string{""}

// markItem records what a frame says about an item. Unlike the role of a choice, the role of an item does not turn an earlier kind
// into KindText.
func (w *withheldSet) markItem(at place, m marks) {
	m.hasRole = false
	w.mark(at.keys, m)
}

// isMarked reports whether a choice of a completion has a nature.
func (w *withheldSet) isMarked(completion string) bool {
	for key := range w.natures {
		if strings.HasSuffix(key, ofCompletion+completion) {
			return true
		}
	}
	return false
}

// forgetCalls forgets that calls had the IDs of a whole message: some servers give all completions, and so all messages and calls, one ID.
func (w *withheldSet) forgetCalls(at place) {
	for _, key := range at.keys {
		if w.natures[key] == (nature{kind: event.KindOther}) {
			delete(w.natures, key)
		}
	}
}

// isNoMessage reports whether the item with a key is known to be a call or the like, which has no text.
func (w *withheldSet) isNoMessage(key string) bool {
	is, _ := w.natureOf(key)
	return is.kind == event.KindOther && !is.foreign && !is.thinks
}

// knows reports whether an item with the key began, or was marked.
func (w *withheldSet) knows(key string) bool {
	_, known := w.natureOf(key)
	return known || w.seen.Contains(key)
}

// textKind returns the kind of the text of an item, a choice or a part. It is KindText for an answer, KindThought for a thought, and
// another kind for any other text.
func (w *withheldSet) textKind(at place) event.Kind {
	if len(w.natures) == 0 && w.thoughts.IsEmpty() {
		return event.KindText
	}
	kind := event.KindText
	if len(w.natures) >= maxNatures {
		kind = event.KindThought
	}
	if at.shared && w.knows(at.name()) {
		at.preferIDs()
	}
	for _, key := range slices.Concat(at.keys, at.partKeys()) {
		switch is, known := w.natureOf(key); {
		case known && is.textKind() == event.KindThought:
			return event.KindThought
		case known:
			kind = is.textKind()
		}
	}
	return kind
}

// itemTextKind is textKind for a piece of an item. A piece without an ID and without a known number may belong to any item, so it
// counts as a thought unless all items are answers.
func (w *withheldSet) itemTextKind(at place) event.Kind {
	kind := w.textKind(at)
	if kind == event.KindText && len(w.natures) > 0 && !slices.ContainsFunc(at.keys, func(key string) bool { return isID(key) || w.knows(key) }) {
		return event.KindThought
	}
	return kind
}

// itemKind returns the kind of the text of a whole item. The item and earlier events determine it.
func (w *withheldSet) itemKind(item strictjson.Value, at place) event.Kind {
	kind := answer.updated(itemMarks(item)).textKind()
	parts := max(item.Get("content").Len(), 1)
	for i := range parts {
		at.part = partNumber + strconv.Itoa(i)
		if earlier := w.textKind(at); earlier != event.KindText && kind != event.KindThought {
			kind = earlier
		}
	}
	return kind
}

// itemMarks returns what an item says about its text.
func itemMarks(item strictjson.Value) marks {
	m := marksOf(item)
	m.thinks = m.thinks || marksOf(item.Get("content")).thinks || lenient.ContainsThoughtMarker(item)
	switch kind := item.Get("type"); {
	case kind.Is("reasoning"):
		m.kind = event.KindThought
	case !kind.Is("message"), len(item.Get("role").Text()) == 0: // all servers name the role of a message
		m.kind = event.KindOther
	}
	m.foreign = m.kind != event.KindText && item.Get("type").Is("message")
	return m
}
