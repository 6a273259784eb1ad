package agui

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// turn is a response of a model, as far as the order of frames shows it: the calls that it makes follow one another and have the same
// message. Frameworks run these calls only after the response, so what they begin belongs to another turn.
type turn struct {
	number  int
	message string // the parent of its calls, or ""
	isOver  bool
}

// noteTurn ends the current turn if a frame shows that something else goes on: another message, a thought, a result, or an event
// of Agno.
func (d *decoder) noteTurn(k *kind, v strictjson.Value) {
	switch {
	case k.entity == entityMessage && d.name(v.Get("messageId")) != d.turn.message,
		k.entity == entityThought, k.entity == entityThinking, k.name == typeToolResult,
		k.name == typeRaw && v.Get("source").Is("agno"):
		d.turn.isOver = true
	}
}

// turnOf returns the number of the turn in which a call with a parent message starts.
func (d *decoder) turnOf(message string) int {
	if d.turn.isOver || message != d.turn.message {
		d.turn = turn{number: d.turn.number + 1, message: message}
	}
	return d.turn.number
}

// callerOf returns the agent that starts a call. If the frame names none, the run's own agent may wait for agents to which it has
// delegated: then one of these makes the call. If several may make it, the caller is not known.
func (d *decoder) callerOf(v strictjson.Value, turn int) agent {
	caller, isOwn := d.namedCaller(v)
	if !isOwn {
		return caller
	}
	named := d.name(v.Get("rawEvent").Get("metadata").Get("lc_agent_name"))
	waiting := d.waitingAgents()
	var working []agent
	hasUnnamed := false
	for i := range d.calls {
		open := &d.calls[i]
		if !open.isDelegation() || named != "" && open.delegate.name != named {
			continue
		}
		if open.turn == turn {
			return open.caller
		}
		switch {
		case isBroadcast(open.tool):
			hasUnnamed = true
			working = append(working, agent{parent: cmp.Or(open.caller.branch, open.caller.parent)})
		case !waiting[open.delegate]:
			working = append(working, open.delegate)
		}
		if open.workEnded {
			working = append(working, open.caller)
		}
	}
	switch {
	case len(working) == 0:
		return caller
	case len(working) == 1 && !hasUnnamed:
		return working[0]
	}
	return agent{parent: d.around(working), unknown: true}
}

// agentNamed returns the agent with the name of a message that says nothing else of its agent: an agent to which an open call delegates, or
// a subagent, else the run's own agent. If there are several with that name, the agent is not known.
func (d *decoder) agentNamed(name string) agent {
	var all []agent
	for i := range d.calls {
		open := &d.calls[i]
		if d.setDelegate(open); open.delegate.name == name && !open.announced {
			all = append(all, open.delegate)
		}
	}
	for _, one := range d.agents {
		if one.name == name {
			all = append(all, one)
		}
	}
	switch {
	case len(all) == 0 || name == d.ownName:
		return agent{name: name}
	case len(all) == 1:
		return all[0]
	}
	return agent{parent: d.around(all), unknown: true}
}

// namedCaller returns the agent that a frame, its step or its parent message names. isOwn says that it names no other than the run's own.
func (d *decoder) namedCaller(v strictjson.Value) (caller agent, isOwn bool) {
	caller = d.speaker(v)
	if speaker, known := d.messages.speakerOf(d.name(v.Get("parentMessageId"))); known && d.owner(v) == "" {
		caller = speaker
	}
	return caller, caller.name == d.ownName && (caller.branch == "" || caller.step != "") && d.owner(v) == ""
}

// isDelegation reports whether an agent works in a call and its frames do not say so.
func (c *call) isDelegation() bool {
	return c.owner == "" && !c.announced && (c.delegate.name != "" || isBroadcast(c.tool) || c.namesAgent() && len(c.args) > maxArgs)
}

// waitingAgents returns the agents that wait for an agent to which they have delegated.
func (d *decoder) waitingAgents() map[agent]bool {
	waiting := map[agent]bool{}
	for i := range d.calls {
		open := &d.calls[i]
		if d.setDelegate(open); (open.delegate.name != "" || isBroadcast(open.tool)) && open.caller.name != "" {
			waiting[open.caller] = true
		}
	}
	return waiting
}

// around returns the branch of the innermost agent for which all of the agents work, or "" for the run itself. Branches are IDs that
// agents choose, so agents may seem to work for each other in a circle: each branch is visited once, and only the run is above a circle.
func (d *decoder) around(agents []agent) string {
	parents := d.parentsOf(agents)
	var above []string         // the branches above the first agent, from the inside
	common := map[string]int{} // by branch: the index in above of the first branch that is above it too, or is it
	for up := agents[0].parent; up != ""; up = parents[up] {
		if _, isKnown := common[up]; isKnown {
			return ""
		}
		common[up] = len(above)
		above = append(above, up)
	}
	innermost := 0
	for _, one := range agents[1:] {
		var visited []string
		at := len(above)
		for up := cmp.Or(one.branch, one.parent); up != ""; up = parents[up] {
			if known, isKnown := common[up]; isKnown {
				at = known
				break
			}
			common[up] = len(above)
			visited = append(visited, up)
		}
		for _, branch := range visited {
			common[branch] = at
		}
		innermost = max(innermost, at)
	}
	if innermost == len(above) {
		return ""
	}
	return above[innermost]
}

// parentsOf returns the parents of agents and of all delegates, by their branches.
func (d *decoder) parentsOf(agents []agent) map[string]string {
	parents := map[string]string{}
	add := func(one agent) {
		if _, isKnown := parents[one.branch]; !isKnown && one.branch != "" {
			parents[one.branch] = one.parent
		}
	}
	for i := range d.calls {
		add(d.calls[i].delegate)
	}
	for _, one := range agents {
		add(one)
	}
	return parents
}

// isBroadcast reports whether the leader of one of Agno's teams makes several members work within the call of a function. The stream names
// none of them.
func isBroadcast(tool string) bool {
	return tool == "delegate_task_to_members" || tool == "execute_tasks_parallel"
}
