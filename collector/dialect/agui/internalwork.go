package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isInternalWork reports whether a frame begins something in the work of an agent or a step that is internal. The frame itself need not
// say so.
func (d *decoder) isInternalWork(k *kind, this key, v strictjson.Value) bool {
	owner := d.owner(v)
	switch k.entity {
	case entitySubagent, entityStep:
	case entityMessage, entityCall, entityPhase, entityThought, entityThinking:
		agent := v.Get("rawEvent").Get("metadata").Get("lc_agent_name") // of LangChain
		if lenient.IsInternal(agent.Text()) && !d.isKnown(this) {
			return true
		}
	default:
		return false
	}
	switch {
	case !k.begins && (!k.chunk || this.id == "" || d.isKnown(this)):
		return false
	case k.entity == entitySubagent:
		owner = d.name(v.Get("parentSubagentRunId"))
	case k.entity == entityStep: // other steps may run beside an internal one
		return d.isInternalStep(v)
	}
	return d.worksInternally(owner)
}

// isInternalStep reports whether a step starts that stands for an internal agent. A step with an internal name of its own is withheld
// anyway, because the table's Labels have the name.
func (d *decoder) isInternalStep(start strictjson.Value) bool {
	agent, is := agentStep(d.name(start.Get("stepName")), attribution(start))
	return is && lenient.IsInternal([]byte(agent))
}

// worksInternally reports whether a step of an owner is open that is internal, or an internal agent has taken over. The name in the
// configuration is not the stream's.
func (d *decoder) worksInternally(owner string) bool {
	isOpen := slices.ContainsFunc(d.steps.open, func(open step) bool { return open.owner == owner && open.isInternal })
	return isOpen || d.steps.missedInternal || owner == "" && (d.ownName != d.configured && lenient.IsInternal([]byte(d.ownName)) || d.mayHaveTransferred())
}

// mayHaveTransferred reports whether an unreadable frame may have been the result of a transfer to an internal agent. Until the result,
// the agent that transfers speaks.
//
// Source: _postprocess_handle_function_calls_async in flows/llm_flows/base_llm_flow.py of google-adk, which runs the other agent after it sent the response.
func (d *decoder) mayHaveTransferred() bool {
	return slices.ContainsFunc(d.calls, func(open call) bool {
		return open.mayBeOver && open.tool == wire.TransferTool && lenient.IsInternal([]byte(open.target()))
	})
}

// hideInternalDelegate hides the answer of the agent that a call names, if it is internal.
func (d *decoder) hideInternalDelegate(c *call) {
	if delegates[c.tool].argument != "" && lenient.IsInternal([]byte(c.target())) {
		d.hideAnswer(c.id)
	}
}

// hideListedDelegates is hideInternalDelegate for the calls in a message of a list.
func (d *decoder) hideListedDelegates(message strictjson.Value) {
	for name, calls := range message.Members() {
		if !lenient.MatchesAny(name.Text(), callLists) {
			continue
		}
		for one := range calls.Elements() {
			id, _ := d.callID(one)
			function := one.Get("function")
			args := function.Get("arguments").Text()
			d.hideInternalDelegate(&call{id: id, tool: d.name(function.Get("name")), args: args[:min(len(args), maxArgs+1)]})
		}
	}
}
