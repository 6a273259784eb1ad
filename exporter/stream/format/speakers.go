package format

import (
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// speakers holds the agents and steps of a run that have spoken, and the targets of transfers.
type speakers struct {
	known   map[speakerKey]speaker // at most maxOpen
	steps   map[string]struct{}    // branches with a step; at most maxOpen
	targets map[string]struct{}    // names; at most maxOpen
}

type speakerKey struct{ agent, branch string }

type speaker struct {
	frame int    // number of its first frame
	above string // what runs it, as far as its place shows; "" if it has no place
}

// observe records the speaker of a frame.
func (s *speakers) observe(b *event.Batch, frame int) {
	key := speakerKey{b.Agent, b.Branch}
	if _, isKnown := s.known[key]; isKnown || b.IsWritten || b.Agent == "" && b.Step == "" || len(s.known) >= maxOpen {
		return
	}
	if s.known == nil {
		s.known = make(map[speakerKey]speaker)
	}
	s.known[key] = speaker{frame, above(b.Place)}
	if b.Step != "" {
		addName(&s.steps, b.Branch)
	}
}

// above returns a key of the nodes around a speaker.
func above(p *event.Place) string {
	if p == nil || len(p.Nodes) == 0 {
		return ""
	}
	key := new(strings.Builder)
	for _, n := range p.Nodes[:len(p.Nodes)-1] {
		key.WriteString(n.Name + "@" + n.Run + "/")
	}
	return key.String() + "."
}

func (s *speakers) addTarget(name string) { addName(&s.targets, name) }

func addName(to *map[string]struct{}, name string) {
	if *to == nil {
		*to = make(map[string]struct{})
	}
	if len(*to) < maxOpen {
		(*to)[name] = struct{}{}
	}
}

// isWrittenByRun reports whether code of the run itself has written a frame's text, in the name of no known agent.
func (s *speakers) isWrittenByRun(b *event.Batch) bool {
	_, isAgent := s.known[speakerKey{b.Agent, b.Branch}]
	_, isRoot := s.known[speakerKey{b.Agent, ""}]
	_, isTarget := s.targets[b.Agent]
	_, isOfStep := s.steps[b.Branch]
	return b.IsWritten && !isAgent && !isRoot && !isTarget && !isOfStep && len(s.known) < maxOpen
}

// isReplaced reports whether the agent of a final frame began after the last frame of an open operation, beside the agent of that operation, and has
// answered instead of it.
func (s *speakers) isReplaced(op operation, b *event.Batch) bool {
	by, before := s.known[speakerKey{b.Agent, b.Branch}], s.known[speakerKey{op.agent, op.branch}]
	_, isTarget := s.targets[b.Agent]
	return op.branch == b.Branch && op.agent != b.Agent && by.frame > op.frame && by.above != "" && by.above == before.above && !isTarget
}
