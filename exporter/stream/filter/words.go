package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// repeats reports whether a frame shows words that the settings exclude, in the places that its table lists. The rules of the policy public
// find facts themselves, so there only an excluded speaker who is named beside the words counts.
func (f *Filter) repeats(b *event.Batch, rules event.Type) bool {
	switch s := &f.settings; {
	case rules.Words == nil:
		return false
	case rules.Text: // the frame does not name the agent
		return f.hidden&bit(event.KindText) != 0 || s.Authors != nil
	case s.Authors != nil:
	case s.Policy != event.PolicyClient, f.hidden == 0 && s.Thoughts == event.ThoughtsDetailed && s.Floor == 0:
		return false
	}
	w := words{filter: f, batch: b, in: rules.Words}
	return w.excluded(b.JSON, speaker{user: rules.Words.User, text: event.KindText})
}

// words looks for excluded words in a frame.
type words struct {
	filter *Filter
	batch  *event.Batch
	in     *event.Words
}

// speaker is what the objects around some words say about their author.
type speaker struct {
	named, foreign bool // by names, of which one may not speak
	user           bool
	text           event.Kind // what text is
}

// excluded reports whether v shows something that the settings exclude.
func (w *words) excluded(v strictjson.Value, by speaker) bool {
	outer := by.text
	if by = w.speaker(v, by); by.text == event.KindThought && outer != by.text && w.excludes(by.text, by) {
		return true // a thought without words still shows that there was one
	}
	for name, value := range v.Members() {
		text := name.Text()
		if fact, shows := w.fact(text, by); shows && !blank(value) {
			if w.excludes(fact, by) {
				return true
			}
			continue
		}
		past := w.filter.settings.Policy == event.PolicyClient && generous.Among(text, w.in.Past)
		if (past || generous.Among(text, w.in.Within)) && w.excluded(value, by) {
			return true
		}
	}
	for element := range v.Elements() {
		if w.excluded(element, by) {
			return true
		}
	}
	return false
}

// fact returns what a member shows.
func (w *words) fact(member []byte, by speaker) (fact event.Kind, shows bool) {
	for name, fact := range w.in.Members {
		if generous.Among(member, []string{name}) {
			if fact == event.KindText {
				fact = by.text
			}
			return fact, true
		}
	}
	return event.KindOther, false
}

// speaker adds what an object, or its metadata, says of the speaker.
func (w *words) speaker(v strictjson.Value, by speaker) speaker {
	thought := false
	for name, value := range v.Members() {
		text := name.Text()
		switch {
		case generous.Among(text, w.in.Authors):
			if !blank(value) {
				by.named = true
				by.foreign = by.foreign || value.Kind() != strictjson.String || !slices.Contains(w.filter.settings.Authors, value.String())
			}
		case w.in.Role != "" && generous.Among(text, []string{w.in.Role}):
			by.user = generous.Among(value.Text(), w.in.Users)
			for role, fact := range w.in.Roles {
				if generous.Among(value.Text(), []string{role}) {
					by.text = fact
				}
			}
		case generous.Among(text, w.in.Metadata):
			by = w.speaker(value, by)
		}
		thought = thought || signs(name, value, w.in.Thought)
	}
	if thought {
		by.text = event.KindThought
	}
	return by
}

// excludes reports whether the settings exclude a fact by a speaker.
func (w *words) excludes(fact event.Kind, by speaker) bool {
	s := &w.filter.settings
	said := fact == event.KindText || fact == event.KindThought
	if s.Policy != event.PolicyClient {
		return said && s.Authors != nil && by.foreign
	}
	switch {
	case fact == event.KindOther:
		return false
	case w.filter.hidden&bit(fact) != 0 || fact == event.KindThought && !w.filter.sure(w.batch):
		return true
	}
	return said && s.Authors != nil && !w.maySpeak(by)
}

func (w *words) maySpeak(by speaker) bool {
	authors := w.filter.settings.Authors
	switch {
	case by.foreign:
		return false
	case by.user:
		return slices.Contains(authors, user)
	}
	return by.named || slices.Contains(authors, w.batch.Agent)
}
