package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// nestedRun returns the run that a frame starts and its parent, the run that started it. nested reports whether the parent
// is the current run or a part of it.
func (d *decoder) nestedRun(v strictjson.Value) (run, parent string, nested bool) {
	run, parent = d.memberOf(v, runIDs), d.memberOf(v, parentRunIDs)
	going := d.run != "" && !d.ended && run != d.run
	return run, parent, going && parent != "" && run != "" && (parent == d.run || d.agents.known(parent))
}

func (d *decoder) startNested(run, parent string, b *event.Batch) {
	begun := agent{name: subAgent, branch: run}
	if parent != d.run {
		begun.parent = parent
	}
	d.agents.add(run, begun)
	if len(d.nestedRuns) < maxOpen {
		d.nestedRuns = append(d.nestedRuns, run)
	}
	begun.apply(b)
	b.Add(event.KindAgentStarted)
}

// endNested ends a run within the current one, and reports whether the frame did so. The usage of
// the outer run does not include that of nested runs. The end may be late or repeated.
func (d *decoder) endNested(v strictjson.Value, b *event.Batch) bool {
	run := d.memberOf(v, runIDs)
	isOpen := slices.Contains(d.nestedRuns, run)
	if !isOpen && (d.ended || run == d.run || !d.agents.known(run)) {
		return false
	}
	d.closeNested(run)
	d.agents.byID(run).apply(b)
	d.reportUnended(b)
	d.addUsage(v.Get("usage"), b)
	outcomeOf(v).endAgent(b)
	return true
}

// closeNested closes a nested run, however often it started, and the runs that it started: later frames that name no run are not theirs.
func (d *decoder) closeNested(run string) {
	closed := map[string]bool{run: true}
	d.nestedRuns = slices.DeleteFunc(d.nestedRuns, func(one string) bool {
		closed[one] = closed[one] || closed[d.agents[one].parent]
		return closed[one]
	})
}

// outerRun is an open run, while a withheld one works that does not name it as its parent.
type outerRun struct {
	run, session, ownName string
	withheld              string // the id of the withheld run
	state                 runState
}

// endsRun goes back to the outer run with the frame that ends it, or after the frame that ends the withheld run. It returns a function
// to call after the frame. After the outer run, all is withheld until the next one.
func (d *decoder) endsRun(k *kind, v strictjson.Value, b *event.Batch) (after func()) {
	outer, run := d.outer, d.memberOf(v, runIDs)
	switch {
	case outer == nil || k.name != typeRunFinished && k.name != typeRunError:
	case run == outer.run:
		d.returnTo(outer)
		b.Run, b.Session = d.run, d.session
		return func() { d.runWithheld = true }
	case run == outer.withheld, run == "":
		return func() { d.returnTo(outer) }
	}
	return func() {}
}

func (d *decoder) returnTo(outer *outerRun) {
	d.withhold(key{entity: entitySubagent, id: outer.withheld}) // its end may come again
	d.run, d.session, d.ownName, d.runState = outer.run, outer.session, outer.ownName, outer.state
	d.outer, d.runWithheld, d.ended, d.failed = nil, false, false, false
}
