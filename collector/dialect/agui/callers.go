package agui

import (
	"cmp"
	"slices"

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
	var working []agent
	for i := range d.calls {
		open := &d.calls[i]
		if !d.isDelegation(open) || named != "" && open.delegate.name != named {
			continue
		}
		if open.turn == turn {
			return open.caller
		}
		if !d.hasDelegated(open.delegate) {
			working = append(working, open.delegate)
		}
		if open.workEnded {
			working = append(working, open.caller)
		}
	}
	switch len(working) {
	case 0:
		return caller
	case 1:
		return working[0]
	}
	return agent{parent: d.around(working), unknown: true}
}

// namedCaller returns the agent that a frame, its step or its parent message names. isOwn says that it names no other than the run's own.
func (d *decoder) namedCaller(v strictjson.Value) (caller agent, isOwn bool) {
	caller = d.speaker(v)
	if speaker, known := d.messages.speakerOf(d.name(v.Get("parentMessageId"))); known && d.owner(v) == "" {
		caller = speaker
	}
	return caller, caller.name == d.ownName && (caller.branch == "" || caller.step != "") && d.owner(v) == ""
}

// mayBeDelegated reports whether a frame that names no agent is, or may be, of an internal agent to which an open call delegates. Other
// calls of the response that delegates, and its message, are not.
func (d *decoder) mayBeDelegated(v strictjson.Value) bool {
	for _, name := range [...]strictjson.Value{v.Get("name"), v.Get("rawEvent").Get("metadata").Get("lc_agent_name")} {
		if len(name.Text()) > 0 && !name.Is(user) {
			return false
		}
	}
	if _, isOwn := d.namedCaller(v); !isOwn {
		return false
	}
	message := cmp.Or(d.name(v.Get("parentMessageId")), d.name(v.Get("messageId")))
	isSame := message != "" && message == d.turn.message && !d.turn.isOver
	return slices.ContainsFunc(d.calls, func(open call) bool {
		return open.delegatesInternally() && !open.announced && !open.isListed && !(isSame && open.turn == d.turn.number)
	})
}

// isDelegation reports whether an agent works in a call and its frames do not say so.
func (d *decoder) isDelegation(open *call) bool {
	d.setDelegate(open)
	return open.owner == "" && !open.announced && (open.delegate.name != "" || open.namesAgent() && len(open.args) > maxArgs)
}

// hasDelegated reports whether an agent waits for an agent to which it has delegated.
func (d *decoder) hasDelegated(by agent) bool {
	return by.name != "" && slices.ContainsFunc(d.calls, func(open call) bool { return open.caller == by && open.delegate.name != "" })
}

// around returns the branch of the innermost agent for which all of the agents work, or "" for the run itself.
func (d *decoder) around(agents []agent) string {
	for up := agents[0].parent; up != ""; up = d.parentOf(up) {
		if !slices.ContainsFunc(agents, func(one agent) bool { return !d.worksFor(one, up) }) {
			return up
		}
	}
	return ""
}

// worksFor reports whether an agent is the agent of a branch or works for it.
func (d *decoder) worksFor(one agent, branch string) bool {
	for up := one.branch; up != ""; up = d.parentOf(up) {
		if up == branch {
			return true
		}
	}
	return one.parent == branch
}

// parentOf returns the branch of the agent that a delegate works for, or "" for the run itself.
func (d *decoder) parentOf(branch string) string {
	for i := range d.calls {
		if d.calls[i].delegate.branch == branch {
			return d.calls[i].delegate.parent
		}
	}
	return ""
}
