package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// hideAnswer records that the result of a call may have the answer of a withheld subagent. The call itself may have left, so its result
// leaves too, in the form of the policy public.
func (d *decoder) hideAnswer(call string) {
	if call != "" {
		d.withheld.answers.Add(call)
		d.withheld.add(key{entity: entityResult, id: call})
	}
}

// hideOpenAnswers is hideAnswer for all open calls: it is unknown which of them began a withheld subagent.
func (d *decoder) hideOpenAnswers() {
	for i := range d.calls {
		d.hideAnswer(d.calls[i].id)
	}
}

// hideAnswersTo calls hideAnswer for each open call of an owner, except calls that a known agent works in: one of them may have begun a
// withheld subagent that names no call. The owner is a subagent's ID, or "" for the run itself.
func (d *decoder) hideAnswersTo(owner string) {
	busy := d.agents.calls()
	for i := range d.calls {
		open := &d.calls[i]
		isOwn := open.owner == owner || owner == "" && slices.Contains(d.nestedRuns, open.owner)
		if isOwn && open.delegate.name == "" && !busy[open.id] {
			d.hideAnswer(open.id)
		}
	}
}

// calls returns the IDs of the calls within which subagents were announced.
func (a agents) calls() map[string]bool {
	ids := make(map[string]bool)
	for _, one := range a {
		ids[one.within] = true
	}
	return ids
}

// hideAnswerOf is hideAnswer for the call of a subagent that a later frame than its first withholds.
func (d *decoder) hideAnswerOf(subagent string) {
	if d.starts.seen.Contains(key{entity: entitySubagent, id: subagent}) && d.agents.known(subagent) {
		d.hideAnswer(d.agents[subagent].within)
	} else {
		d.hideOpenAnswers()
	}
}

// hideUnreadAnswer is hideAnswer for a withheld frame of a subagent that may have started in an unreadable frame.
func (d *decoder) hideUnreadAnswer(k *kind, v strictjson.Value) {
	id := d.name(v.Get("subagentRunId"))
	if starts := k.begins && k.entity == entitySubagent; d.unread.any && !starts && d.mayBeUnread(id, entitySubagent) && !d.isWithheldRun(id) {
		d.hideOpenAnswers()
	}
}

// hideUnknownAnswer is hideAnswer for a frame that may start a subagent but is of no known type.
func (d *decoder) hideUnknownAnswer(v strictjson.Value) {
	if !d.starts.seen.Contains(key{entity: entitySubagent, id: d.memberOf(v, subagentIDs)}) {
		d.hideAnswer(d.memberOf(v, parentCallIDs))
	}
}

var parentCallIDs = []string{"parentToolCallId", "parent_tool_call_id"}

// isShownCall reports whether an object of a state is a call that may leave although its result may not.
func (d *decoder) isShownCall(v strictjson.Value) bool {
	id := d.memberOf(v, ownIDs)
	return d.withheld.answers.Contains(id) && !d.withheld.keys.Contains(key{entity: entityCall, id: id}) && lenient.HasMember(v, argMembers)
}

// argMembers hold the arguments of a call.
var argMembers = []string{"function", "args", "input"}

// hasHiddenAnswer reports whether the result of a call has, or may have, the answer of a withheld subagent.
func (d *decoder) hasHiddenAnswer(result strictjson.Value) bool {
	id := d.name(result.Get("toolCallId"))
	return id != "" && d.withheld.answers.MayContain(id) || d.missedDelegation && d.calls.find(id, "") == nil
}
