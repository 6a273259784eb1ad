package tracker

import "github.com/delegraph/delegraph/collector/event"

// answer is what may be a run's final text, where its protocol marks none: the last whole one after which nothing was begun.
type answer struct {
	agent        string
	known, rated bool
	marked       bool // the protocol has marked a text as final, so that nobody asks who spoke last
}

// rate counts the texts that the protocol marks as final and that state no confidence.
func (r *openRun) rate(b *event.Batch) {
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
	switch a := &r.answer; {
	case text && final && b.Agent != "":
		if a.marked = true; !rated {
			r.countUnrated(b.Agent)
		}
	case begins:
		a.known = false
	case text:
		a.agent, a.known, a.rated = b.Agent, true, rated
	}
}

// rateLast does the same for the last text of a run that is completed by the protocol's word, where none was marked.
func (r *openRun) rateLast() {
	if a := r.answer; r.Status == Completed && r.over && a.known && !a.rated && !a.marked {
		r.countUnrated(a.agent)
	}
}

func (r *openRun) countUnrated(agent string) {
	if r.Unrated[agent] > 0 {
		r.Unrated[agent]++
		return
	}
	r.keepFact(len(r.Unrated), event.KindFinal.String(), func() { put(&r.Unrated, agent, 1) })
}
