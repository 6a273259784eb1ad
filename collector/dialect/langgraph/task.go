package langgraph

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// taskTimes is what shows when the nodes of a run begin, and when they ask models.
type taskTimes struct {
	asked      map[string]struct{} // runs of models that have no response yet, of at most maxOpen
	modelRun   string              // the model's run whose event is being read, or ""
	shownSteps int                 // how many steps of the run's own graph its frames have shown
	hasWork    bool                // a whole frame of a graph was read
}

// noteAsked records that an event shows when a model is asked.
func (d *decoder) noteAsked(run string, b *event.Batch) {
	if d.asked == nil || len(d.asked) >= maxOpen {
		d.asked = make(map[string]struct{})
	}
	if run != "" {
		d.asked[run] = struct{}{}
		b.Task.ID = run
	}
}

// askedRun returns the model's run of a message whose beginning an event has shown, or "".
func (d *decoder) askedRun(message string) string {
	_, run, _ := strings.Cut(message, "run-")
	for _, known := range []string{d.modelRun, strings.TrimPrefix(run, "-")} {
		if _, is := d.asked[known]; is {
			return known
		}
	}
	return ""
}

// askedAt returns when LangChain asked the model for a message, if the message's ID is that of the model's run, else the zero time.
func askedAt(message string) time.Time {
	_, run, isRun := strings.Cut(message, "run-")
	if run = strings.TrimPrefix(run, "-"); !isRun || !isRunID(message) || len(run) < 36 {
		return time.Time{}
	}
	return timeOf(run[:36])
}

// timeOf returns the time in a UUID of version 7, or the zero time. LangGraph gives such IDs to runs, and LangChain to those of models.
//
// Source: RFC 9562, section 5.7; langgraph_api/models/run.py; langchain_core/callbacks/manager.py and callbacks/manager.ts.
func timeOf(id string) time.Time {
	if !isUUID(id) || id[14] != '7' {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// taskOfResponse returns the task in which a model was asked for a message. The node or the task is the one that the frame states, or "".
// LangChain's agents run one model at a time, so a frame that states only their node is enough.
func (d *decoder) taskOfResponse(id string, at announcement, node string, b *event.Batch) event.Task {
	sc := at.scope
	if run := d.askedRun(id); run != "" {
		return event.Task{ID: run}
	}
	if at.task == "" && strings.Contains(node, ":") {
		at.task = node
	}
	switch {
	case sc.isBeside && !sc.spoke: // it may have asked before others returned
		return event.Task{ID: at.task, Unknown: true}
	case sc.calls && !at.isCalled: // the functions that it has called may still run, or it may have waited for them
		return event.Task{Unknown: d.hasWork}
	case at.isCalled && !sc.showsTasks: // the caller may have called several at once
		return event.Task{ID: at.task, Unknown: d.hasWork}
	case at.task != "":
		return event.Task{ID: at.task, Step: sc.stepName(at)}
	case isAgentNode(node), b.Type != modeUpdates && (b.Type != modeValues || sc.above != nil || sc.isAssumed):
		return event.Task{}
	case sc.above == nil && sc.showsSteps:
		return event.Task{Step: strconv.Itoa(d.shownSteps)}
	}
	return event.Task{Unknown: d.hasWork}
}

// stepName returns the name of the step of a task of a graph, or "".
func (sc *scope) stepName(at announcement) string {
	if at.step == "" || at.isCalled {
		return ""
	}
	return sc.branch + " " + at.step
}

// noteTaskStep records the step that the metadata of a whole message states.
func (d *decoder) noteTaskStep(sc *scope, metadata strictjson.Value, b *event.Batch) {
	if !b.Partial && b.Branch == sc.branch && !callerOf(metadata.Get("langgraph_path")).Exists() {
		b.Task.Step = sc.stepName(announcement{step: dialect.Name(string(metadata.Get("langgraph_step").Raw()))})
	}
}

// stateModes are the modes with frames that show what the nodes of a graph return.
var stateModes = []string{modeUpdates, modeValues, modeCheckpoints}

// noteWork states the task of an agent if its graph sends a frame without facts, such as the update of a hook. What the agent asks a model
// later, it asks after that frame. The first such frame of an agent does not show when the agent began.
func (sc *scope) noteWork(mode string, b *event.Batch) {
	if sc.above != nil && (sc.spoke || sc.began) && slices.Contains(stateModes, mode) && b.Task.ID == "" && !hasSpeaker(b) {
		b.Task.ID = sc.branch
	}
}

// taskIn returns the task that a frame begins or ends, or nothing.
func taskIn(mode string, v strictjson.Value) (task strictjson.Value) {
	switch mode {
	case modeTasks:
		return v
	case modeDebug:
		return v.Get("payload")
	}
	return task
}

// isCalled reports whether another task of the graph called a task. Its input is the arguments: a list and an object.
//
// Source: langgraph/pregel/_algo.py, prepare_push_task_functional.
func isCalled(task strictjson.Value) bool {
	args, named := tuple(task.Get("input"))
	return args.Kind() == strictjson.Array && named.Kind() == strictjson.Object && isPushed(task)
}

// isPushed reports whether another task has started a task, with an input of its own.
func isPushed(task strictjson.Value) bool {
	return slices.ContainsFunc(elementsOf(task.Get("triggers")), func(t strictjson.Value) bool { return t.Is("__pregel_push") })
}

// executedBy returns the call that a task executes, or nothing if there is none, or several are possible. The task's input is a call (alone, in an
// envelope or in a list) or a state with the calls in its last message. A state is certain only in the node that executes tools, because other
// nodes get states too.
//
// Source: langgraph/prebuilt/tool_node.py, ToolNode._parse_input; langchain/dist/agents/nodes/ToolNode.js (lg_tool_call).
func executedBy(task strictjson.Value) (c strictjson.Value) {
	input := task.Get("input")
	if c := input.First("tool_call", "lg_tool_call"); c.Exists() {
		return c
	}
	var calls []strictjson.Value
	for _, one := range append(elementsOf(input), input) {
		if one.Get("args").Exists() && one.Get("id").Exists() {
			calls = append(calls, one)
		}
	}
	if len(calls) == 0 && task.Get("name").Is(toolNode) {
		var last strictjson.Value
		for message := range cmp.Or(input.Get("messages"), input).Elements() {
			last = message
		}
		calls = elementsOf(last.Get("tool_calls"))
	}
	if len(calls) == 1 {
		c = calls[0]
	}
	return c
}
