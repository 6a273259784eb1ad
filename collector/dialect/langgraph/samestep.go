package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// stepless are the modes that do not show when a node of a graph begins.
var stepless = []string{modeMetadata, modeUpdates, modeMessages, modeMessagesPartial, modeMessagesComplete, modeMessagesMetadata, modeCustom, modeFeedback, modeStateUpdate, modeCheckpoint}

// noteMode records whether the modes of a graph's frames show steps and tasks.
func (sc *scope) noteMode(mode string) {
	if !slices.Contains(stepless, mode) {
		sc.showsSteps, sc.showsTasks = true, sc.showsTasks || mode != modeValues
	}
}

// noteSteps records whether a frame may begin a step of the run's own graph, or shows work.
func (d *decoder) noteSteps(mode string, sc *scope, v strictjson.Value, b *event.Batch) {
	mayBegin := d.mayBeginStep(mode, sc, v)
	if b.SameStep = b.Branch == "" && !mayBegin; mayBegin {
		d.shownSteps++
	}
	d.hasWork = d.hasWork || !b.Partial && mode != modeMetadata
}

// mayBeginStep reports whether a frame shows, or may show, that the run's own graph begins a step. All nodes of a step begin together, when
// all nodes of the step before have ended. What a node sends or returns does not show when the others began. A step that writes nothing has no
// state in the mode values. Only its updates show then that it has ended.
//
// Source: langgraph/pregel/_loop.py, PregelLoop.tick and after_tick; langgraph/pregel/_io.py, map_output_values.
func (d *decoder) mayBeginStep(mode string, sc *scope, v strictjson.Value) bool {
	switch {
	case sc.above != nil:
		return false
	case !sc.showsSteps:
		return true
	}
	if sc.calls { // a function may begin something when one that it has called has returned
		return true
	}
	switch mode {
	case modeMetadata, modeValues, modeCheckpoints:
		return true
	case modeUpdates:
		return !sc.showsTasks && writesNothing(v)
	case modeDebug:
		return !v.Get("type").Is("task_result")
	case modeTasks:
		return !hasReturned(v)
	case modeEvents:
		return v.Get("event").Is("on_chain_start") && v.Get("parent_ids").Len() <= 1
	}
	return false
}

// writesNothing reports whether the nodes of an update have returned nothing.
func writesNothing(updates strictjson.Value) bool {
	for _, update := range updates.Members() {
		if update.Kind() > strictjson.Null && (update.Kind() != strictjson.Object || update.Len() > 0) {
			return false
		}
	}
	return true
}
