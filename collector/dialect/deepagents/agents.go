package deepagents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of agents.
const (
	mainAgent = "main"
	subAgent  = "subagent"
)

// agent identifies an agent of a run. The main agent has no id, and no other agent has its name.
type agent struct {
	name      string
	id        string
	startedBy string // id of the call that started it
}

// maxOpen limits the open subagents, and the open calls. Frames of further ones are decoded without that
// context.
const maxOpen = 256

// agents holds the known subagents, in the order in which they appeared.
type agents []agent

// agentOf returns the agent of a frame, or the zero agent if the frame names none.
func (a agents) agentOf(v strictjson.Value) agent {
	kind, id, call := v.Get("agent_type"), dialect.Name(v.Get("agent_id").String()), dialect.Name(v.Get("parent_call_id").String())
	switch {
	case kind.Is(mainAgent):
		return agent{name: mainAgent}
	case id != "":
		if i := a.index(id); i >= 0 {
			known := a[i]
			known.startedBy = cmp.Or(known.startedBy, call)
			return known
		}
		if call == "" && !kind.Is(subAgent) && !strings.HasPrefix(id, subAgent) {
			return agent{name: mainAgent}
		}
	case call != "":
		for _, known := range slices.Backward(a) {
			if known.startedBy == call {
				return known
			}
		}
		id = call
	case kind.Is(subAgent):
		id = subAgent
	default:
		return agent{}
	}
	return agent{nameOf(id, call), id, call}
}

func (a agents) index(id string) int {
	return slices.IndexFunc(a, func(known agent) bool { return known.id == id })
}

// note records a subagent that works.
func (a *agents) note(working agent) {
	switch i := a.index(working.id); {
	case working.id == "":
	case i >= 0:
		(*a)[i] = working
	case len(*a) < maxOpen:
		*a = append(*a, working)
	}
}

// end forgets an agent.
func (a *agents) end(ended agent) {
	*a = slices.DeleteFunc(*a, func(known agent) bool { return known == ended })
}

// nameOf returns the name in an id such as "subagent_advanced_tender_analyst_xyz12345". Each instance of
// an agent has its own suffix.
func nameOf(id, call string) string {
	name, named := strings.CutPrefix(id, subAgent+"_")
	if i := strings.LastIndexByte(name, '_'); strings.ContainsAny(name[i+1:], "0123456789") {
		name = name[:max(i, 0)]
	}
	if !named && id == call || name == "" || name == mainAgent || name == "user" {
		return subAgent
	}
	return name
}

// apply makes the agent the speaker of the batch.
func (a agent) apply(b *event.Batch) { b.Agent, b.Branch, b.EnclosingCall = a.name, a.id, a.startedBy }

// call is an open tool call.
type call struct {
	id, tool string
	caller   agent
}

// calls holds the open calls, in the order in which they started.
type calls []call

func (c *calls) begin(started call) {
	if len(*c) < maxOpen && started.id != "" {
		*c = append(*c, started)
	}
}

// end removes and returns a call. It returns the zero call if the id is unknown.
func (c *calls) end(id string) call {
	i := slices.IndexFunc(*c, func(open call) bool { return open.id == id })
	if i < 0 {
		return call{}
	}
	ended := (*c)[i]
	*c = slices.Delete(*c, i, i+1)
	return ended
}

// last returns the latest open call of a tool, or the zero call.
func (c calls) last(tool string) call {
	for _, open := range slices.Backward(c) {
		if open.tool == tool {
			return open
		}
	}
	return call{}
}
