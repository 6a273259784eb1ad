package deepagents

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The protocol's words for the two sorts of agents.
const (
	mainAgent = "main"
	subAgent  = "subagent"
)

// agent is one that works in a run. The run's own has no id here: it is the only one of its name.
type agent struct {
	name   string
	id     string
	within string // the call that spawned it
}

// maxOpen bounds the sub-agents, and the calls, that are open at once. Beyond it a frame is judged by itself.
const maxOpen = 256

// agents are the sub-agents that were heard of, in that order.
type agents []agent

// of is the agent of a frame; the zero agent where the frame names none.
func (a *agents) of(v strictjson.Value) agent {
	kind, id, call := v.Get("agent_type"), dialect.Name(v.Get("agent_id").String()), dialect.Name(v.Get("parent_call_id").String())
	switch {
	case kind.Is(mainAgent):
		return agent{name: mainAgent}
	case id != "":
		if i := slices.IndexFunc(*a, func(known agent) bool { return known.id == id }); i >= 0 {
			(*a)[i].within = cmp.Or((*a)[i].within, call)
			return (*a)[i]
		}
		if call == "" && !kind.Is(subAgent) && !strings.HasPrefix(id, subAgent) {
			return agent{name: mainAgent}
		}
	case call != "":
		for _, known := range slices.Backward(*a) {
			if known.within == call {
				return known
			}
		}
		id = call
	case kind.Is(subAgent):
		id = subAgent
	default:
		return agent{}
	}
	heard := agent{nameOf(id, call), id, call}
	if len(*a) < maxOpen {
		*a = append(*a, heard)
	}
	return heard
}

// end forgets an agent.
func (a *agents) end(gone agent) {
	*a = slices.DeleteFunc(*a, func(known agent) bool { return known == gone })
}

// nameOf reads the name out of an id such as "subagent_advanced_tender_analyst_xyz12345": each instance has another ending.
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

// put says whose frame it is.
func (a agent) put(b *event.Batch) { b.Agent, b.Branch, b.Within = a.name, a.id, a.within }

// call is one of a tool that has not ended.
type call struct {
	id, tool string
	by       agent
}

// calls are those that are open, in the order in which they began.
type calls []call

func (c *calls) begin(begun call) {
	if len(*c) < maxOpen && begun.id != "" {
		*c = append(*c, begun)
	}
}

// end removes a call, and returns it as it was known.
func (c *calls) end(id string) call {
	i := slices.IndexFunc(*c, func(open call) bool { return open.id == id })
	if i < 0 {
		return call{}
	}
	ended := (*c)[i]
	*c = slices.Delete(*c, i, i+1)
	return ended
}

// last is the latest open call of a tool.
func (c calls) last(tool string) call {
	for _, open := range slices.Backward(c) {
		if open.tool == tool {
			return open
		}
	}
	return call{}
}
