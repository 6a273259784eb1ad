package langgraph

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
)

// speaker is the position of a speaker in the run.
type speaker event.Speaker

// speaker returns the speaker for a graph. A graph that is not known to be an agent is a step of the
// agent around it.
func (sc *scope) speaker() speaker {
	s := speaker{Agent: sc.name(), Branch: sc.branch, EnclosingCall: sc.call, MayBeRoot: sc.mayBeRoot, IsParallel: sc.isParallel}
	if sc.above == nil {
		s.MayBeRoot = sc.isAssumed // another author that follows without a transfer is not its subagent
		if s.Agent != sc.fallback {
			s.Renames = sc.fallback
		}
		return s
	}
	s.ParentBranch, s.Around, s.Follows, s.MayBeBeside = sc.above.branch, sc.above.placeAround(), sc.follows, sc.isBeside
	s.InUnknownCall = sc.node == toolNode && sc.call == ""
	s.OrderUnknown = sc.isFurther || s.EnclosingCall == "" && !(sc.above.above == nil && sc.above.showsSteps)
	if s.Agent == "" {
		s.Step = sc.node
		for up := sc.above; up != nil && s.Agent == ""; up = up.above {
			s.Agent = up.name()
		}
	}
	return s
}

// name returns the name of the graph's agent, or "".
func (sc *scope) name() string { return cmp.Or(sc.agent, sc.fallback) }

// noteSpeech records that a model has spoken in a graph and so in the subgraphs around it.
func (sc *scope) noteSpeech() {
	sc.spoke, sc.asked = true, false
	for up := sc.above; up != nil && up.above != nil; up = up.above {
		up.spoke = true
	}
}

// placeAround returns the place of a subgraph as the graphs within it report it, because they often speak first. It is nil
// for the run's own graph. It changes only when the stream names an agent.
func (sc *scope) placeAround() *event.Around {
	if sc.above == nil {
		return nil
	}
	s := sc.speaker()
	now := event.Around{Agent: s.Agent, Step: s.Step, Branch: s.Branch, EnclosingCall: s.EnclosingCall, Follows: s.Follows, MayBeBeside: s.MayBeBeside, OrderUnknown: s.OrderUnknown, Above: s.Around}
	if sc.around == nil || *sc.around != now {
		sc.around = &now
	}
	return sc.around
}

func (s speaker) apply(b *event.Batch) { b.SetSpeaker(event.Speaker(s)) }

// speakerOf returns the speaker of a batch.
func speakerOf(b *event.Batch) speaker { return speaker(b.Speaker()) }

// claim makes s the speaker of the batch. It returns false if the batch has another speaker.
func (s speaker) claim(b *event.Batch) bool {
	if hasSpeaker(b) && s != speakerOf(b) {
		return false
	}
	s.apply(b)
	return true
}

// speak is claim for one of several facts of a frame: if the batch has another speaker, it begins a turn. It returns false if the
// frame has too many turns.
func (s speaker) speak(b *event.Batch) bool {
	return s.claim(b) || b.BeginTurn(event.Speaker(s))
}

// hasSpeaker reports whether the batch, or its last turn, has a fact that belongs to a speaker.
func hasSpeaker(b *event.Batch) bool {
	for _, e := range b.InTurn() {
		switch e.Kind {
		case event.KindRunStarted, event.KindFinal, event.KindState, event.KindPlan:
		default:
			return true
		}
	}
	return false
}
