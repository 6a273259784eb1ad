package langgraph

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// workLeft is what the stream shows of the work that a run's own graph still has to do. The server ends the stream of a run that
// waits for an answer like that of a complete run, and not all modes have the question.
type workLeft struct {
	hasNext bool   // the last checkpoint names the nodes that run next
	next    string // the name if it is only one, or ""

	tasks      map[string]struct{} // those that tasks show to have started and not to have returned, as in a namespace; at most maxScopes
	isStarting bool                // no task has returned since one of them has started
	steps      int                 // how often tasks have started after others have returned, in the current attempt
	input      uint64              // of the last of these tasks, see startTask
	isDoubtful bool                // some of these tasks may have results from the cache
	idle       map[string]struct{} // graphs within tasks that have sent only their first state, by namespace

	lastStep float64           // the graph's step in which nodes started last
	running  map[string]string // the run of LangChain of each node of that step that has not ended, by the node's namespace
}

// hasWorkLeft reports whether the stream shows that the run's own graph has work left. A task without a result is work left, with two
// exceptions: it is of the first step of a run, or of an attempt, that may continue an earlier one, or its result may be from the cache. In
// both cases, the task has no subgraph frames, and another task returns after it.
//
// Source: langgraph/pregel/_loop.py, tick and output_writes (cached).
func (d *decoder) hasWorkLeft() bool {
	if d.hasNodesLeft() || len(d.tasks) > 0 && (d.isStarting || !d.isDoubtful && (d.steps > 1 || !d.mayContinue && d.attempt <= 1)) {
		return true
	}
	for _, sc := range d.scopes {
		if _, isOpen := d.tasks[sc.node+":"+sc.task]; isOpen && sc.above != nil && sc.above.above == nil {
			return true
		}
	}
	for namespace := range d.idle {
		if !d.scopes[namespace].spoke {
			return true
		}
	}
	return false
}

// hasNodesLeft is hasWorkLeft for checkpoints and events.
func (w *workLeft) hasNodesLeft() bool { return w.hasNext || len(w.running) > 0 }

// startTask records a task of the graph. The tasks of a step start before any of them returns. They get the same input, unless a node has
// sent it to them. So after tasks with results from the cache, which do not return, the next step starts with another input.
//
// Source: langgraph/pregel/_algo.py, prepare_next_tasks.
func (w *workLeft) startTask(task string, v strictjson.Value) {
	input := wire.ExactHash(v.Get("input"))
	if isPushed(v) {
		input = 0
	}
	if !w.isStarting {
		w.tasks, w.isStarting, w.isDoubtful = make(map[string]struct{}), true, false
		w.steps++
	} else {
		w.isDoubtful = w.isDoubtful || input != w.input
	}
	if w.input = input; len(w.tasks) < maxScopes {
		w.tasks[task] = struct{}{}
	}
}

func (w *workLeft) endTask(task string) {
	_, isKnown := w.tasks[task]
	delete(w.tasks, task)
	w.isStarting = w.isStarting && !isKnown && len(w.tasks) < maxScopes
}

// endCachedTask records that a task of a node has its result from the cache.
func (w *workLeft) endCachedTask(node string) {
	for task := range w.tasks {
		if name, _, _ := strings.Cut(task, ":"); name == node {
			delete(w.tasks, task)
			return
		}
	}
}

// endTasks records that no task of the graph is left.
func (w *workLeft) endTasks() { w.tasks, w.isStarting, w.idle = nil, false, nil }

// trackState updates the open work with a state. The first state of a graph within a task shows that the graph has begun. A later state of
// the run's own graph shows the end of a step. A state with a question may come before the end of a step.
func (w *workLeft) trackState(sc *scope, first, hasQuestion bool) {
	switch {
	case sc.above == nil && !first && !hasQuestion:
		w.endTasks()
	case sc.above != nil && sc.above.above == nil && first:
		if w.idle == nil {
			w.idle = make(map[string]struct{})
		}
		w.idle[sc.namespace] = struct{}{}
	}
}

// noteNext records the nodes that run after a checkpoint, and returns the only one that has run before it, or "".
func (w *workLeft) noteNext(nodes []strictjson.Value) (ran string) {
	ran, w.next, w.hasNext = w.next, "", len(nodes) > 0
	if len(nodes) == 1 {
		w.next = dialect.Name(nodes[0].String())
	}
	return ran
}

// errorHandler is the part of a path that says that a node handles the error of another.
//
// Source: langgraph/pregel/_algo.py, prepare_node_error_handler_task.
const errorHandler = "node_error_handler"

// trackNode records the start or the end of a node of the run's own graph. A node that fails, or hands control to another one,
// has no end. Others of its step have ended too when the next step begins.
func (d *decoder) trackNode(kind string, v, metadata strictjson.Value, b *event.Batch) {
	run, namespace := v.Get("run_id"), d.name(metadata.Get("langgraph_checkpoint_ns"))
	switch isNode := v.Get("parent_ids").Len() == 1; {
	case commandsParent(v.Get("data")):
		if outer, _ := splitLast(metadata.Get("langgraph_checkpoint_ns").Text()); len(outer) > 0 {
			delete(d.running, string(outer))
		}
	case !isNode || namespace == "":
	case kind == "on_chain_start":
		step, _ := metadata.Get("langgraph_step").Float()
		handlesError := slices.ContainsFunc(elementsOf(metadata.Get("langgraph_path")), func(part strictjson.Value) bool { return part.Is(errorHandler) })
		if step != d.lastStep || handlesError || d.running == nil || len(d.running) >= maxScopes {
			d.lastStep, d.running = step, make(map[string]string)
		}
		d.running[namespace] = d.name(run)
	case kind == "on_chain_end" && run.Is(d.running[namespace]):
		delete(d.running, namespace)
		own, task, _ := strings.Cut(namespace, ":")
		d.endStep(d.scopeOf(nil), own, task, b)
	}
}

// endGraph reports the end of the run's own graph if a response was cut off. A node has caught the exception of the model, and the
// run is complete without that response.
func (d *decoder) endGraph(kind string, v strictjson.Value, b *event.Batch) {
	isOwn := v.Get("parent_ids").Kind() == strictjson.Array && v.Get("parent_ids").Len() == 0
	if kind == "on_chain_end" && isOwn && len(d.open) > 0 && d.running != nil && !d.hasNodesLeft() && d.scopeOf(nil).speaker().claim(b) {
		b.Add(event.KindFinal)
	}
}

// commandsParent reports whether the data of an event has a command to the graph above. Such a command ends the node around it.
//
// Source: langgraph/types.py, Command.PARENT.
func commandsParent(data strictjson.Value) bool {
	for _, output := range []strictjson.Value{data.Get("chunk"), data.Get("output")} {
		if slices.ContainsFunc(append(elementsOf(output), output), func(one strictjson.Value) bool { return one.Get("graph").Is("__parent__") }) {
			return true
		}
	}
	return false
}

// isInterrupt reports whether the error of an event is not a failure: the run waits for an answer.
func isInterrupt(failed strictjson.Value) bool {
	return failed.Get("error").Is("GraphInterrupt") || strings.HasPrefix(failed.String(), "GraphInterrupt(")
}
