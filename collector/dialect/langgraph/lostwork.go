package langgraph

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// lostPrefix is the prefix in working of the work that an unreadable frame may have begun, of a node or an agent in a graph. It ends with the
// step of that graph, because no readable frame names it.
const lostPrefix = "lost "

// beginModes are the modes whose frames show that a node or an agent works.
var beginModes = []string{modeTasks, modeDebug, modeCheckpoints, modeEvents, modeMessages, modeMessagesMetadata}

// beginLost begins the internal work that an unreadable frame may have begun. Only data could name the graph of an event.
func (d *decoder) beginLost(f dialect.Frame, mode string, graph []byte) {
	if !slices.Contains(beginModes, mode) || !f.MayContainObject() || !wire.MayHideInternal(f) {
		return
	}
	id := lostPrefix + string(graph)
	around := d.placesAround(graph)
	if mode == modeEvents || d.working[id].isAnywhere() {
		around = anywhere
	}
	delete(d.working, id) // that of an earlier step
	d.beginWork(id, work{around: around, node: wire.Hash(id), graph: string(graph), kind: workOfNode})
}

// trackLost ends what an unreadable frame may have begun in a graph, if a task shows that the graph's step is over: all tasks of a step begin
// before one of them returns, except those that a task calls and error handlers.
func (d *decoder) trackLost(graph []byte, task strictjson.Value) {
	id := lostPrefix + string(graph)
	w, is := d.working[id]
	switch {
	case !is:
	case hasReturned(task):
		w.hasReturned = true
		d.working[id] = w
	case w.hasReturned && beginsStep(task):
		d.endWork(id)
	}
}

// beginsStep reports whether a task begins that is one of the first of its step.
func beginsStep(task strictjson.Value) bool {
	isPushed := slices.ContainsFunc(elementsOf(task.Get("triggers")), func(t strictjson.Value) bool { return t.Is(pushTrigger) })
	name := task.Get("name").String()
	return task.Get("triggers").Exists() && !isPushed && name != defaultHandler && !strings.HasPrefix(name, handlerPrefix)
}

// trackLostSteps is trackLost for frames that state the number of the step.
func (d *decoder) trackLostSteps(graph []byte, mode string, v strictjson.Value) {
	switch mode {
	case modeDebug:
		d.trackLostStep(graph, v.Get("step"))
	case modeMessages:
		_, metadata := tuple(v)
		d.trackLostIn(metadata)
	case modeMessagesMetadata:
		for _, entry := range v.Members() {
			d.trackLostIn(entry.Get("metadata"))
		}
	case modeEvents:
		d.trackLostIn(v.Get("metadata"))
	}
}

func (d *decoder) trackLostIn(metadata strictjson.Value) {
	if place := d.placeIn(metadata); len(place) > 0 {
		graph, _ := graphOfTask(place, metadata.Get("langgraph_path"))
		d.trackLostStep(graph, metadata.Get("langgraph_step"))
	}
}

// trackLostStep ends what an unreadable frame may have begun in a graph with the second step that follows: the first may be its own.
func (d *decoder) trackLostStep(graph []byte, stated strictjson.Value) {
	id := lostPrefix + string(graph)
	w, is := d.working[id]
	switch number, _ := stated.Float(); {
	case !is || number <= w.step:
	case w.step > 0:
		d.endWork(id)
	default:
		w.step = number
		d.working[id] = w
	}
}
