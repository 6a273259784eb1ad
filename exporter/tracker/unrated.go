package tracker

import "github.com/delegraph/delegraph/collector/event"

// An unrated answer is a final text that states no confidence.

// lastText is the last whole text after which no call, agent or request for input began. If the protocol
// marks no text as final, it is the run's final text.
type lastText struct {
	agent        string
	isSet, rated bool
	finalSeen    bool // the protocol marked a text as final
}

// countUnrated counts a frame's text if the protocol marks it as final and it states no confidence. It also
// updates lastText.
func (r *openRun) countUnrated(b *event.Batch) {
	text, rated, final, begins := false, false, false, false
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case event.KindText:
			text = !b.Partial
		case event.KindConfidence:
			rated = rated || e.Confidence.Origin != event.OriginThought
		case event.KindFinal:
			final = true
		case event.KindToolStarted, event.KindInputRequested, event.KindAgentStarted:
			begins = true
		}
	}
	switch a := &r.lastText; {
	case text && final && b.Agent != "":
		if a.finalSeen = true; !rated {
			r.addUnrated(b.Agent, 1)
		}
	case begins:
		a.isSet = false
	case text:
		a.agent, a.isSet, a.rated = b.Agent, true, rated
	}
}

// countUnratedLast counts the last text of a completed run whose end was stated, if the text states no confidence
// and the protocol marked no text as final.
func (r *openRun) countUnratedLast() {
	if a := r.lastText; r.Status == Completed && r.endStated && a.isSet && !a.rated && !a.finalSeen {
		r.addUnrated(a.agent, 1)
	}
}

// addUnrated counts n unrated answers of an agent.
func (r *openRun) addUnrated(agent string, n int) {
	if r.UnratedAnswers[agent] > 0 || r.hasRoomForFact(len(r.UnratedAnswers), event.KindFinal.String()) {
		put(&r.UnratedAnswers, agent, r.UnratedAnswers[agent]+n)
	}
}
