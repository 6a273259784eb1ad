package event

import "iter"

// Speaker is the position of a speaker in the run. Its fields are those of Batch.
type Speaker struct {
	Agent, Renames, Step, Branch, EnclosingCall, ParentBranch, Follows, Response string

	Around                                             *Around
	InUnknownCall, MayBeRoot, IsParallel, OrderUnknown bool
	IsWritten, MayBeBeside                             bool
}

// turn is a run of events in a batch with the same speaker. It lasts until the next turn.
type turn struct {
	from int
	Speaker
}

// maxTurns limits the turns of a frame, because each takes much more memory than the bytes that state it.
const maxTurns = 64

// Speaker returns the speaker of the batch.
func (b *Batch) Speaker() Speaker {
	return Speaker{b.Agent, b.Renames, b.Step, b.Branch, b.EnclosingCall, b.ParentBranch, b.Follows, b.Response, b.Around, b.InUnknownCall, b.MayBeRoot, b.IsParallel, b.OrderUnknown, b.IsWritten, b.MayBeBeside}
}

// SetSpeaker sets the speaker of the batch or, after BeginTurn, of the turn.
func (b *Batch) SetSpeaker(s Speaker) {
	if n := len(b.turns); n > 0 {
		b.turns[n-1].Speaker = s
	}
	b.setSpeaker(s)
}

func (b *Batch) setSpeaker(s Speaker) {
	b.Agent, b.Renames, b.Step, b.Branch, b.EnclosingCall, b.ParentBranch, b.Response = s.Agent, s.Renames, s.Step, s.Branch, s.EnclosingCall, s.ParentBranch, s.Response
	b.Follows, b.IsWritten, b.MayBeBeside = s.Follows, s.IsWritten, s.MayBeBeside
	b.Around, b.InUnknownCall, b.MayBeRoot, b.IsParallel, b.OrderUnknown = s.Around, s.InUnknownCall, s.MayBeRoot, s.IsParallel, s.OrderUnknown
}

// BeginTurn makes s the speaker of the events that follow. It reports false if the frame has too many turns. After the last
// event, the caller must call EndTurns.
func (b *Batch) BeginTurn(s Speaker) bool {
	if len(b.turns) >= maxTurns {
		return false
	}
	if len(b.turns) == 0 {
		b.turns = append(b.turns, turn{0, b.Speaker()})
	}
	b.turns = append(b.turns, turn{from: len(b.Events)})
	b.SetSpeaker(s)
	return true
}

// EndTurns makes the speaker of the first turn that of the batch.
func (b *Batch) EndTurns() {
	if len(b.turns) > 0 {
		b.setSpeaker(b.turns[0].Speaker)
	}
}

// InTurn returns the events of the last turn.
func (b *Batch) InTurn() []Event {
	if n := len(b.turns); n > 0 {
		return b.Events[b.turns[n-1].from:]
	}
	return b.Events
}

// SpeakerAt returns the speaker of an event.
func (b *Batch) SpeakerAt(i int) Speaker {
	for n := len(b.turns) - 1; n >= 0; n-- {
		if b.turns[n].from <= i {
			return b.turns[n].Speaker
		}
	}
	return b.Speaker()
}

// Turns returns the batch or, if its frame has several speakers, a copy for each turn, with only the events of the turn. The
// frame does not say whether the speakers followed one another.
func (b *Batch) Turns() iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		if len(b.turns) == 0 {
			yield(b)
			return
		}
		for i, at := range b.turns {
			one, to := *b, len(b.Events)
			if one.turns = nil; i+1 < len(b.turns) {
				to = b.turns[i+1].from
				one.SameStep = true
			}
			one.setSpeaker(at.Speaker)
			one.OrderUnknown = at.OrderUnknown || i > 0
			if one.Events = b.Events[at.from:to:to]; !yield(&one) {
				return
			}
		}
	}
}
