package openai

import "github.com/delegraph/delegraph/collector/event"

// numbers holds what is known of the items of a response that are identified by their numbers.
type numbers struct {
	withheld, seen []string
	natures        map[string]nature
}

// leaveNumbers returns what is known of the numbered items before another response uses the same numbers. If one of the items is
// withheld, a thought or no answer, it sets missed, because later pieces of that item may have no ID.
func (w *withheldSet) leaveNumbers() (left numbers) {
	left.natures = make(map[string]nature)
	for key := range w.withheld.All() {
		if isNumber(key) {
			left.withheld, w.missed = append(left.withheld, key), true
		}
	}
	for key := range w.seen.All() {
		if isNumber(key) {
			left.seen = append(left.seen, key)
		}
	}
	for key, is := range w.natures {
		if isNumber(key) {
			left.natures[key] = is
			w.missed = w.missed || is.foreign || is.kind == event.KindText // natures has no answers: the text is a thought, or the message is not an assistant's
		}
	}
	return left
}

// returnTo restores the numbered items of a response that goes on. If a frame is missing, the response may be another one. Then no item
// counts as seen.
func (w *withheldSet) returnTo(left numbers) {
	w.nextResponse()
	w.inResponse = w.withheld.Len() > 0
	for _, key := range left.withheld {
		w.withheld.Add(key)
	}
	for key, is := range left.natures {
		if len(w.natures) < maxNatures {
			w.natures[key] = is
		}
	}
	if w.missed {
		return
	}
	for _, key := range left.seen {
		w.seen.Add(key)
	}
}
