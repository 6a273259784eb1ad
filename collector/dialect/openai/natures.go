package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mark records what a frame says about a message. Without a key, the frame may be about any message of the response.
func (d *decoder) mark(keys []string, m marks) {
	if len(keys) == 0 && answer.updated(m) != answer {
		keys = unnamed
	}
	for _, key := range keys {
		s := d.itemsOf(key)
		before, own := s.natures[key]
		if !own {
			before = answer
		}
		s.setNature(key, before.updated(m))
	}
}

// setNature records a nature. It may forget another item, which then counts as one that began before the stream.
func (s *itemSet) setNature(key string, is nature) {
	if is == answer {
		delete(s.natures, key)
		s.marked.Remove(key)
		return
	}
	if s.natures == nil {
		s.natures = make(map[string]nature)
	}
	s.natures[key] = is
	oldest, forgets := s.marked.Add(key)
	if !forgets {
		return
	}
	delete(s.natures, oldest)
	for i := range oldest { // it may be the key of a part, which begins with that of the item
		if strings.HasPrefix(oldest[i:], partNumber) {
			s.seen.Remove(oldest[:i])
		}
	}
	s.seen.Remove(oldest)
}

// natureOf returns what the marks said about a key, and whether there was a mark.
func (d *decoder) natureOf(key string) (nature, bool) {
	is, known := d.itemsOf(key).natures[key]
	return is, known
}

// markThought marks a part of an item as a thought. It is for items of which the stream did not show the start. It marks only the
// part, because Llama Stack sends thoughts and answers in one item.
func (d *decoder) markThought(at place) {
	for _, key := range at.partKeys() {
		if isID(key) {
			d.mark([]string{key}, marks{kind: event.KindThought})
		}
	}
}

// unnamed holds the key of messages that no ID or number names.
var unnamed = []string{""}

// markItem records what a frame says about an item. Unlike the role of a choice, the role of an item does not turn an earlier kind
// into KindText.
func (d *decoder) markItem(at place, m marks) {
	m.hasRole = false
	d.mark(at.keys, m)
}

// forgetNumber forgets what is known of an item's number if the item has only new IDs: another item had the number.
func (d *decoder) forgetNumber(at place) {
	if number := at.number(); number != "" && d.hasNewID(at) {
		d.response.items.withheld.Remove(number)
		for key := range d.response.items.natures {
			if key == number || strings.HasPrefix(key, number+partNumber) {
				d.response.items.setNature(key, answer)
			}
		}
	}
}

// hasNewID reports whether a place has IDs, and all of them are new.
func (d *decoder) hasNewID(at place) bool {
	return isID(at.name()) && !slices.ContainsFunc(at.keys, func(key string) bool { return isID(key) && d.knows(key) })
}

// forgetCalls forgets that calls had the IDs of a whole message: some servers give all completions, and so all messages and calls, one ID.
func (d *decoder) forgetCalls(at place) {
	for _, key := range at.keys {
		if d.items.natures[key] == (nature{kind: event.KindOther}) {
			d.items.setNature(key, answer)
		}
	}
}

// isNoMessage reports whether the item with a key is known to be a call or the like, which has no text.
func (d *decoder) isNoMessage(key string) bool {
	is, known := d.natureOf(key)
	return known && is.kind == event.KindOther && !is.foreign && !is.thinks
}

// knows reports whether an item with the key began, was marked or is withheld.
func (d *decoder) knows(key string) bool {
	_, known := d.natureOf(key)
	return known || d.itemsOf(key).seen.Contains(key) || d.itemsOf(key).withheld.Contains(key)
}

// hasNatures reports whether a message of the response may be no answer.
func (d *decoder) hasNatures() bool {
	return len(d.items.natures) > 0 || d.anyCurrent(func(r *response) bool { return len(r.items.natures) > 0 })
}

// textKind returns the kind of the text of an item or a part. It is KindText for an answer, KindThought for a thought, and another kind
// for any other text. Once natures were forgotten, text of an item without a visible beginning may be a thought, unless
// nothing names the item.
func (d *decoder) textKind(at place) event.Kind {
	kind := event.KindText
	if len(at.keys) > 0 && (d.items.marked.HasForgotten() || d.response.items.marked.HasForgotten()) && !d.saw(at) {
		kind = event.KindThought
	}
	if at.shared && d.knows(at.name()) {
		at.preferIDs()
	}
	for _, key := range slices.Concat(at.keys, at.partKeys()) {
		switch is, known := d.natureOf(key); {
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
func (d *decoder) itemTextKind(at place) event.Kind {
	kind := d.textKind(at)
	if kind == event.KindText && d.hasNatures() && !slices.ContainsFunc(at.keys, func(key string) bool { return isID(key) || d.knows(key) }) {
		return event.KindThought
	}
	return kind
}

// itemKind returns the kind of the text of a whole item. The item and earlier events determine it.
func (d *decoder) itemKind(item strictjson.Value, at place) event.Kind {
	kind := answer.updated(itemMarks(item)).textKind()
	parts := max(item.Get("content").Len(), 1)
	for i := range parts {
		at.part = partNumber + strconv.Itoa(i)
		if earlier := d.textKind(at); earlier != event.KindText && kind != event.KindThought {
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
