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

// mayBe reports whether two identify the same agent. Not every frame names the call that started its agent.
func (a agent) mayBe(other agent) bool {
	return a.id == other.id && (a.id != "" || a.name == other.name) &&
		(a.startedBy == other.startedBy || a.startedBy == "" || other.startedBy == "")
}

// maxOpen limits the open subagents, and the open calls. If there are more, the oldest one is forgotten.
const maxOpen = 256

// subagent is a known subagent.
type subagent struct {
	agent
	shown bool // its start left or, without a start, another frame of it
}

// agents holds the known subagents, in the order in which they appeared.
type agents []*subagent

// agentOf returns the agent of a frame of a type, or the zero agent if the frame names none.
func (a agents) agentOf(v strictjson.Value, frameType string) agent {
	kind, id, call := v.Get("agent_type"), dialect.Name(v.Get("agent_id").String()), dialect.Name(v.Get("parent_call_id").String())
	switch {
	case kind.Is(mainAgent):
		return agent{name: mainAgent}
	case id != "":
		if known := a.find(id, call); known.id != "" {
			return known
		}
		isOfSubagent := kind.Is(subAgent) || frameType == typeSubagentStart || frameType == typeSubagentEnd
		if call == "" && !isOfSubagent && !strings.HasPrefix(id, subAgent) {
			return agent{name: mainAgent}
		}
	case call != "":
		for _, known := range slices.Backward(a) {
			if known.startedBy == call {
				return known.agent
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

// find returns the subagent with an id that a call started, or the zero agent. If the frame names no call and several subagents
// have the id, the result has no call.
func (a agents) find(id, call string) (found agent) {
	for _, known := range a {
		switch {
		case known.id != id:
		case known.startedBy == call:
			return known.agent
		case known.startedBy != "" && call != "": // another one
		case found.id != "":
			found.startedBy = ""
		default:
			found = known.agent
			found.startedBy = cmp.Or(known.startedBy, call)
		}
	}
	return found
}

// note records a subagent that works, and returns its record. For any other agent, and if several subagents may be this one, it
// returns a record that is not kept.
func (a *agents) note(working agent) *subagent {
	if working.id == "" {
		return new(subagent)
	}
	for _, known := range *a {
		switch {
		case known.agent == working:
			return known
		case known.id != working.id:
		case working.startedBy == "":
			return new(subagent)
		case known.startedBy == "":
			known.startedBy = working.startedBy
			return known
		}
	}
	if len(*a) >= maxOpen {
		*a = slices.Delete(*a, 0, 1)
	}
	begun := &subagent{agent: working}
	*a = append(*a, begun)
	return begun
}

// end forgets a subagent.
func (a *agents) end(ended *subagent) {
	*a = slices.DeleteFunc(*a, func(known *subagent) bool { return known == ended })
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
	shown    bool // its start left
}

// calls holds the open calls, in the order in which they started.
type calls []*call

// begin records a call, unless it has no id. The id of an earlier call may be used again.
func (c *calls) begin(started *call) {
	if started.id == "" {
		return
	}
	c.end(started.id)
	if len(*c) >= maxOpen {
		*c = slices.Delete(*c, 0, 1)
	}
	*c = append(*c, started)
}

// find returns an open call, or the zero call if the id is unknown.
func (c calls) find(id string) call {
	for _, open := range c {
		if open.id == id {
			return *open
		}
	}
	return call{}
}

// end forgets a call.
func (c *calls) end(id string) {
	*c = slices.DeleteFunc(*c, func(open *call) bool { return open.id == id })
}

// last returns the latest open call of a tool, or the zero call.
func (c calls) last(tool string) call {
	for _, open := range slices.Backward(c) {
		if open.tool == tool {
			return *open
		}
	}
	return call{}
}
