package langgraph

import (
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// graphInputs is what the tasks of a graph have shown of its state. A node whose result is from a cache begins, but does not return. What it has
// written, what an internal node has pushed, and what it has sent to others, is first in the input of the next nodes.
//
// Source: langgraph/pregel/_loop.py, output_writes; langgraph/graph/message.py, push_message.
type graphInputs struct {
	hasState  bool            // a task's input had messages
	hasWorked bool            // an internal task has begun since
	open      map[uint64]bool // whether tasks that have begun, and not returned, are internal, by the hash of the ID; at most maxAround and otherTasks
	step      inputStep
}

// otherTasks is the key of all internal tasks that are too many.
const otherTasks = 0

// isAfterInternal reports whether a state may have messages that no frame has shown before and that internal work wrote. A run that resumes does
// not repeat the results of the tasks beside the one that asked.
func (g graphInputs) isAfterInternal() bool {
	hasOther := false
	for _, isInternal := range g.open {
		if isInternal {
			return g.hasWorked
		}
		hasOther = true
	}
	return g.hasWorked && !hasOther
}

// inputStep is the last step of a graph of which a task has begun.
type inputStep struct {
	isOver          bool // a task of it has ended
	hasInternal     bool // a task of it is internal
	isAfterInternal bool // the same of the step before
}

// otherGraphs is the key of all graphs that are too many.
const otherGraphs = "|"

func (s *internalState) inputsKey(graph []byte) string {
	if _, known := s.inputs[string(graph)]; !known && len(s.inputs) >= maxScopes || len(graph) > maxNamespace {
		return otherGraphs
	}
	return string(graph)
}

// trackInput records the beginning or the end of a task of a graph. All tasks of a step begin before one of them ends. A task that another
// one has called is of its caller's step.
func (d *decoder) trackInput(graph []byte, task strictjson.Value, isInternal bool) {
	if len(task.Get("id").Text()) == 0 || isCalled(task) {
		return
	}
	key, id := d.inputsKey(graph), d.name(task.Get("id"))
	g := d.inputs[key]
	if hasReturned(task) {
		g.step.isOver = true
		g.step.hasInternal = g.step.hasInternal || d.mayBeAround(id, isOfTask) // its command may send data to others
		delete(g.open, wire.Hash(id))
		own := strings.TrimPrefix(string(graph)+"|"+string(task.Get("name").Text())+":"+id, "|")
		maps.DeleteFunc(d.inputs, func(inner string, _ graphInputs) bool { return isWithinGraph(inner, own) })
	} else {
		g.begin(id, task, isInternal)
	}
	if d.inputs == nil {
		d.inputs = make(map[string]graphInputs)
	}
	d.inputs[key] = g
}

func (g *graphInputs) begin(id string, task strictjson.Value, isInternal bool) {
	if g.step.isOver {
		g.step = inputStep{isAfterInternal: g.step.hasInternal}
	}
	g.step.hasInternal = g.step.hasInternal || isInternal
	g.hasState = g.hasState || len(messagesIn(task.Get("input"), false, 0)) > 0
	g.hasWorked = g.hasWorked || isInternal && g.hasState
	if g.open == nil {
		g.open = make(map[uint64]bool)
	}
	switch {
	case len(g.open) < maxAround:
		g.open[wire.Hash(id)] = isInternal
	case isInternal:
		g.open[otherTasks] = true
	}
}

// mayBeginWithInternal is isAfterInternal for the input of a task. What was sent to it is from the step before.
func (s *internalState) mayBeginWithInternal(graph []byte, task strictjson.Value) bool {
	g := s.inputs[s.inputsKey(graph)]
	switch isSent := slices.ContainsFunc(elementsOf(task.Get("triggers")), func(t strictjson.Value) bool { return t.Is(pushTrigger) }); {
	case isCalled(task):
		return false
	case isSent && g.step.isOver:
		return g.step.hasInternal
	case isSent:
		return g.step.isAfterInternal
	}
	return g.isAfterInternal()
}
