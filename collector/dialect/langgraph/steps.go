package langgraph

import (
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// steps holds the tasks of nodes whose end no frame has shown yet, by nodePlace. An update does not name its task, so a node's work has
// ended only when as many updates of the node came as tasks were seen.
type steps map[string]*step

type step struct {
	tasks  []string // at most maxAround
	ended  int
	graph  string
	isSent bool    // its tasks were sent data. Their number is unknown, so only the graph's next step or state shows the end
	number float64 // the graph's step, if isSent

	isAlone   bool // a task was not sent data, so there are no others
	mayReturn bool // the updates so far may be of other tasks of the node, so a task with internal work may still return
}

// maxSteps limits a steps. The work of further nodes, and of those with long names, ends with the next state of their graph.
const maxSteps = 256

// note records a task of a graph.
func (s *steps) note(graph, segment []byte) {
	node, task := splitSegment(segment)
	place := nodePlace(graph, node)
	known := (*s)[place]
	if known == nil {
		if len(*s) >= maxSteps || len(place) > maxNamespace {
			return
		}
		if *s == nil {
			*s = make(steps)
		}
		known = &step{graph: string(graph)}
		(*s)[place] = known
	}
	if !slices.Contains(known.tasks, task) && len(known.tasks) < maxAround {
		known.tasks = append(known.tasks, task)
	}
}

// notePath records whether a task of a node was sent data.
func (s steps) notePath(graph, segment []byte, path strictjson.Value, number float64) {
	node, _ := splitSegment(segment)
	known := s[nodePlace(graph, node)]
	switch {
	case known == nil || path.Len() == 0:
	case isSent(path):
		known.isSent, known.number = true, number
	default:
		known.isAlone = true
	}
}

// mayReturn reports whether a node may still return what internal work wrote.
func (s steps) mayReturn(place string) bool {
	known := s[place]
	return known != nil && known.mayReturn
}

// isSent reports whether the path of a task says that it was sent data. Several tasks of a node may have been. A task that another one has
// called has a path that ends with true.
//
// Source: langgraph/pregel/_algo.py, prepare_push_task_send and prepare_push_task_functional.
func isSent(path strictjson.Value) bool {
	parts := elementsOf(path)
	if len(parts) == 0 || !parts[0].Is(pushTrigger) {
		return false
	}
	isCall, _ := parts[len(parts)-1].Bool()
	return !isCall
}

// countUpdate records the update of a node, and ends the node's work if all tasks that were seen have ended. A namespace does not say whether
// there are others. hasOthers says that there may be.
func (d *decoder) countUpdate(place string, isTools, hasOthers bool) {
	known := d.steps[place]
	if known == nil || known.isSent {
		return
	}
	if known.ended++; known.ended < len(known.tasks) || len(known.tasks) == maxAround || hasOthers {
		return
	}
	ended := d.endWorkOfNode(place)
	known.mayReturn = !known.isAlone && !isTools && (ended || known.mayReturn)
	if !known.mayReturn {
		delete(d.steps, place)
	}
}

// endShown ends the work whose end an update or a state shows. A state with a question may come before the end.
func (d *decoder) endShown(namespace []byte, mode string, v strictjson.Value) {
	switch {
	case mode == modeUpdates:
		for node, update := range v.Members() {
			isTools := node.Is(toolNode)
			d.countUpdate(nodePlace(namespace, node.Text()), isTools, isTools && d.awaitsResult(namespace, update))
		}
	case mode == modeValues && !v.Get(interruptKey).Exists(), mode == modeCheckpoints && !hasQuestions(v):
		maps.DeleteFunc(d.working, func(id string, w work) bool {
			return !w.isStated() && id != graphPrefix && isWithinGraph(w.graph, string(namespace)) && (w.kind < workOfCall || w.graph != string(namespace))
		})
		maps.DeleteFunc(d.steps, func(place string, _ *step) bool {
			return len(namespace) == 0 || strings.HasPrefix(place, nodePlace(namespace, nil))
		})
	}
}

// awaitsResult reports whether a graph has an open call whose result is not in an update. Each call may be a task of its own.
func (d *decoder) awaitsResult(graph []byte, update strictjson.Value) bool {
	results := messagesIn(update, false, 0)
	return slices.ContainsFunc(d.calls, func(c *call) bool {
		isAnswered := slices.ContainsFunc(results, func(m strictjson.Value) bool { return d.name(m.Get("tool_call_id")) == c.id })
		return c.scope.namespace == string(graph) && !isAnswered
	})
}

// endWorkOfNode ends the work of a node, and reports whether there was work within it.
func (d *decoder) endWorkOfNode(place string) (hasEnded bool) {
	hash := wire.Hash(place)
	maps.DeleteFunc(d.working, func(_ string, w work) bool {
		isWithin := slices.Contains(w.around, hash)
		hasEnded = hasEnded || isWithin && isOfTask(w)
		return !w.isStated() && (w.node == hash || isWithin)
	})
	return hasEnded
}

// endStepsBefore ends the work of the tasks that a graph ran before a step: of those with data that was sent to them, and of internal nodes.
func (d *decoder) endStepsBefore(graph []byte, number float64) {
	for place, known := range d.steps {
		if known.isSent && known.number < number && known.graph == string(graph) {
			delete(d.steps, place)
			d.endWorkOfNode(place)
		}
	}
	var ended []uint64
	for _, w := range d.working {
		if w.step > 0 && w.step < number && w.graph == string(graph) {
			ended = append(ended, w.node)
		}
	}
	if len(ended) > 0 {
		d.end(func(_ string, w work) bool {
			return !w.isStated() && slices.ContainsFunc(ended, func(node uint64) bool { return w.node == node || slices.Contains(w.around, node) })
		})
	}
}

// noteStep records the step of the graph in which an internal node works.
func (d *decoder) noteStep(task string, graph []byte, number float64) {
	if w, is := d.working[task]; is && w.kind == workOfNode && w.graph == string(graph) {
		w.step = number
		d.working[task] = w
	}
}

// hasQuestions reports whether a saved state has a task with a question.
func hasQuestions(checkpoint strictjson.Value) bool {
	return slices.ContainsFunc(elementsOf(checkpoint.Get("tasks")), func(task strictjson.Value) bool { return task.Get("interrupts").Len() > 0 })
}

// isWithinGraph reports whether a graph is another one, or works within a task of it.
func isWithinGraph(graph, of string) bool {
	inner, isInner := strings.CutPrefix(graph, of+"|")
	next, _, _ := strings.Cut(inner, "|")
	return of == "" || graph == of || isInner && !isCounter([]byte(next))
}
