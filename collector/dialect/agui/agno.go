package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// memberRun is the run of an internal agent or team of Agno. What it says, calls and thinks names no agent: only the RAW events
// around it do.
//
// Source: agno/os/interfaces/agui/handlers.py and agno/run/agent.py of agno 3.1.
type memberRun struct {
	id, parent string
}

// runEnds and turnStarts are the events of Agno after which a run says no more, and with which a run goes on after the runs of its
// members. Those of a team begin with Team.
var (
	runEnds    = []string{"RunContentCompleted", "RunCompleted", "RunPaused", "RunCancelled", "RunError"}
	turnStarts = []string{"ModelRequestStarted"}
)

// isOfAgno reports whether a frame has an event of Agno.
func isOfAgno(k *kind, v strictjson.Value) bool {
	return k.name == typeRaw && v.Get("source").Is("agno")
}

// noteMember reads which internal member of Agno's teams works, or has ended.
func (d *decoder) noteMember(event strictjson.Value) {
	name := strings.TrimPrefix(event.Get("event").String(), "Team")
	run, isEnd := d.name(event.Get("run_id")), slices.Contains(runEnds, name)
	if isEnd || slices.Contains(turnStarts, name) {
		d.memberRuns = slices.DeleteFunc(d.memberRuns, func(open memberRun) bool {
			return isEnd && open.id == run || open.parent == run
		})
	}
	if isEnd || !isInternalMember(event) || slices.ContainsFunc(d.memberRuns, func(open memberRun) bool { return open.id == run }) {
		return
	}
	d.hideMemberAnswer(event)
	if len(d.memberRuns) >= maxOpen {
		d.missedDelegation = true
		return
	}
	d.memberRuns = append(d.memberRuns, memberRun{run, d.name(event.Get("parent_run_id"))})
}

// memberNames name an agent or a team in an event of Agno.
var memberNames = [...]string{"agent_id", "agent_name", "team_id", "team_name"}

// isInternalMember reports whether an event of Agno names an internal agent or team.
func isInternalMember(event strictjson.Value) bool {
	return slices.ContainsFunc(memberNames[:], func(member string) bool { return lenient.IsInternal(event.Get(member).Text()) })
}

// hideMemberAnswer is hideAnswer for the calls that may have started an internal member: those that name it, else all that delegate.
func (d *decoder) hideMemberAnswer(event strictjson.Value) {
	isNamed := false
	for i := range d.calls {
		open := &d.calls[i]
		if open.target != "" && slices.ContainsFunc(memberNames[:], func(member string) bool { return d.name(event.Get(member)) == open.target }) {
			isNamed = true
			d.hideAnswer(open.id)
		}
	}
	for i := range d.calls {
		if open := &d.calls[i]; isBroadcast(open.tool) || !isNamed && delegates[open.tool].argument != "" {
			d.hideAnswer(open.id)
		}
	}
}
