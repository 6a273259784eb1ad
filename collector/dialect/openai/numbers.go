package openai

import "github.com/delegraph/delegraph/collector/event"

// numbers are what is known of the numbered items of a response.
type numbers struct {
	withheld, seen []string
	natures        map[string]nature
}

// leaveNumbers returns what is known of the numbers, which another response uses next. Items that may go on may have no IDs.
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
			w.missed = w.missed || is.foreign || is.kind == event.KindText // a text that is no answer, or a thought
		}
	}
	return left
}

// returnTo makes the numbers those of a response that goes on. If a frame is missing, it may be another response.
func (w *withheldSet) returnTo(left numbers) {
	w.nextResponse()
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
