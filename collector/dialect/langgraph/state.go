package langgraph

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// interruptKey is the member of an update or a state that has interrupts.
const interruptKey = "__interrupt__"

// readValues reads a whole state. The first state of a graph contains messages of earlier runs or of the
// graph above. A single message is no first state: it is what a graph that is written as a function returns.
func (d *decoder) readValues(sc *scope, v strictjson.Value, b *event.Batch) {
	interrupts := v.Get(interruptKey)
	if interrupts.Exists() && v.Len() == 1 { // sent in place of an update
		d.readInterrupts(sc, nil, interrupts, b)
		return
	}
	first := !sc.hasValues && !isMessage(v)
	if sc.hasValues = true; sc.above == nil {
		d.node, d.hasSilent = d.takeTarget(), len(d.idle) > 0
		defer func() { d.node, d.hasSilent = "", false }()
	}
	if first && sc.above != nil {
		b.Task.ID = sc.branch // the graph begins
	}
	d.trackState(sc, first, interrupts.Exists())
	d.readState(sc, v, first, b)
	d.markRepeated(b)
	if !first && !interrupts.Exists() {
		d.endInvocations(sc, "", "")
	}
	if sc.above == nil && v.Kind() == strictjson.Object && !isMessage(v) {
		b.Add(event.KindState).SetState(wire.StateOf(v))
	}
	d.readInterrupts(sc, nil, interrupts, b)
}

// readState reads the messages and the plan of a state. The messages of a graph's first state are old, so they
// are only recorded.
func (d *decoder) readState(sc *scope, v strictjson.Value, first bool, b *event.Batch) {
	if first {
		d.remember(sc, returnedMessages(v), b)
		d.readResultsIn(sc, v.Get("messages"), b)
		return
	}
	d.active = d.name(v.Get(activeAgentKey))
	d.readMessages(sc, returnedMessages(v), b)
	d.active = ""
	d.readPlan(v.Get("todos"), b)
}

// metadataKey is the member of an update that says whether its nodes have run, or their results are from the cache.
//
// Source: langgraph/pregel/_io.py, map_output_updates.
const metadataKey = "__metadata__"

// readUpdates reads what nodes have added to the state.
func (d *decoder) readUpdates(sc *scope, v strictjson.Value, b *event.Batch) {
	d.isCached, _ = v.Get(metadataKey).Get("cached").Bool()
	defer func() { d.isCached, d.node = false, "" }()
	for name, update := range v.Members() {
		if name.Is(metadataKey) {
			continue
		}
		if name.Is(interruptKey) {
			d.readInterrupts(sc, nil, update, b)
			d.readBreakpoint(sc, update, b)
			continue
		}
		node := d.name(name)
		d.node = node
		if d.isCached && sc.above == nil {
			d.endCachedTask(node)
		}
		d.readUpdate(sc, node, update, b)
		d.endNode(sc, node, "", b)
	}
}

// readUpdate reads one or several updates of a node. A hook before an agent may repeat the messages of earlier runs. If a run
// resumes with the hook after a model, the hook returns a response of the interrupted run.
//
// Source: langchain/agents/factory.py (names of hooks), middleware/human_in_the_loop.py.
func (d *decoder) readUpdate(sc *scope, node string, update strictjson.Value, b *event.Batch) {
	first := strings.HasSuffix(node, ".before_agent")
	d.repeatsModel = strings.HasSuffix(node, ".after_model") && !sc.spoke
	d.readState(sc, update, first, b)
	for one := range update.Elements() {
		if !isMessage(one) {
			d.readState(sc, one, first, b)
		}
	}
	d.repeatsModel = false
}

// readPlan reads the plan of a deep agent, if it has changed.
//
// Source: langchain/agents/middleware/todo.py, Todo.
func (d *decoder) readPlan(todos strictjson.Value, b *event.Batch) {
	if todos.Kind() != strictjson.Array {
		return
	}
	var plan event.Plan
	for item := range todos.Elements() {
		switch item.Get("status").String() {
		case "pending":
			plan.Pending++
		case "in_progress":
			plan.InProgress++
		case "completed":
			plan.Completed++
		}
	}
	if plan != d.plan {
		d.plan = plan
		b.Add(event.KindPlan).Plan = plan
	}
}

// returnChannels are the members of a task's result with what a function has returned, or what a node has for a state that is
// a single value.
//
// Source: langgraph/_internal/_constants.py (RETURN), langgraph/constants.py (END), langgraph/graph/state.py (__root__).
var returnChannels = []string{"__return__", "__end__", "__root__"}

// readTask reads the start or the end of a node's task.
//
// Source: langgraph/pregel/debug.py, TaskPayload and TaskResultPayload.
func (d *decoder) readTask(sc *scope, v strictjson.Value, b *event.Batch) {
	id, node := d.name(v.Get("id")), d.name(v.Get("name"))
	if id != "" {
		b.Task.ID = node + ":" + id
	}
	if sc.calls = sc.calls || isCalled(v); !hasReturned(v) {
		if sc.above == nil && !isCalled(v) {
			d.workLeft.startTask(node+":"+id, v)
		}
		d.startTask(sc, id, v, b)
		return
	}
	d.node = node + ":" + id
	defer func() { d.node = "" }()
	result := v.Get("result")
	d.readUpdate(sc, node, result, b)
	for _, channel := range returnChannels {
		d.readUpdate(sc, node, result.Get(channel), b)
	}
	executed := d.calls.in(sc, d.taskCall[id])
	waits := v.Get("interrupts").Len() > 0 // it runs again with the answer, so its agent has not ended
	d.readInterrupts(sc, executed, v.Get("interrupts"), b)
	if exception := v.Get("error"); exception.Kind() > strictjson.Null && !isInterrupt(exception) {
		code := exceptionCode(exception)
		d.noteOrigin(joinNamespace(sc, d.node), executed != nil, exception)
		d.failCall(executed, event.ToolError, code, b)
		if sc.fail(code, b); executed == nil {
			d.failIn(sc, node, id, code, b)
		}
	}
	delete(d.taskCall, id)
	delete(d.resumedCalls, id)
	if sc.above == nil {
		d.endTask(d.node)
	}
	if !waits {
		d.endNode(sc, node, id, b)
	}
}

// hasReturned reports whether a frame shows the end of a task, and not its start. LangGraph.js also sends an empty list of questions with the
// start.
//
// Source: langgraph/src/pregel/debug.ts, mapDebugTasks.
func hasReturned(task strictjson.Value) bool {
	return !task.Get("triggers").Exists() && (task.Get("interrupts").Exists() || task.Get("result").Exists())
}

// startTask records the call that a task executes, if it is certain, and the messages of the task's input. A tool that hands control over may
// send its result only to the agent that begins.
func (d *decoder) startTask(sc *scope, id string, v strictjson.Value, b *event.Batch) {
	d.nameByTask(sc, v)
	d.startResumed(sc, b)
	if executed := executedBy(v); executed.Exists() && id != "" && len(d.taskCall) < maxOpenCalls {
		if d.taskCall == nil {
			d.taskCall = make(map[string]string)
		}
		d.taskCall[id] = d.name(executed.Get("id"))
		d.noteResumed(sc, id, executed)
	}
	d.remember(sc, returnedMessages(v.Get("input")), b)
	d.readResultsIn(sc, v.Get("input"), b)
	d.markRepeated(b)
	sc.startAgain(b)
	d.beginAgentNode(sc, d.name(v.Get("name")), b)
}

// readCheckpoint reads a saved state.
func (d *decoder) readCheckpoint(sc *scope, v strictjson.Value, b *event.Batch) {
	id := d.checkpointID(v)
	first, isLoaded := !sc.hasCheckpoint, sc.isLoaded(id) // the questions and results of the run that this one resumes
	if first {
		sc.loaded = id
	}
	if sc.hasCheckpoint = true; sc.above == nil {
		d.endTasks()
		defer func() { d.node = "" }()
		if ran := d.noteNext(elementsOf(v.Get("next"))); b.Type == modeCheckpoints { // in debug, tasks say so, too
			d.node = d.taskOf(ran)
		}
	}
	d.readState(sc, v.Get("values"), first, b)
	d.markRepeated(b)
	if !first && !hasQuestions(v) {
		d.endInvocations(sc, "", "")
	}
	for task := range v.Get("tasks").Elements() {
		if isLoaded {
			d.remember(sc, returnedMessages(task.Get("result")), b)
			continue
		}
		d.readInterrupts(sc, d.calls.in(sc, d.taskCall[d.name(task.Get("id"))]), task.Get("interrupts"), b)
	}
}

func (d *decoder) checkpointID(state strictjson.Value) string {
	return d.name(state.Get("config").Get("configurable").Get("checkpoint_id"))
}

// isLoaded reports whether a checkpoint is the first one of a graph, which may be that of the run that this one resumes.
func (sc *scope) isLoaded(checkpoint string) bool {
	return sc == nil || !sc.hasCheckpoint || checkpoint != "" && checkpoint == sc.loaded
}

// readDebug reads a task or a checkpoint in an envelope.
func (d *decoder) readDebug(sc *scope, v strictjson.Value, b *event.Batch) {
	b.Time = dialect.TextTime(v.Get("timestamp"))
	switch payload := v.Get("payload"); v.Get("type").String() {
	case "task", "task_result":
		d.readTask(sc, payload, b)
	case "checkpoint":
		d.readCheckpoint(sc, payload, b)
	}
}

// readEvent reads an event of LangChain's astream_events. Events of chains repeat others, together with all their input, but
// only they have the results of calls that no tool executed, and the answers that no model wrote.
//
// Source: langchain_core/tracers/event_stream.py.
func (d *decoder) readEvent(sc *scope, v strictjson.Value, b *event.Batch) {
	metadata, data := v.Get("metadata"), v.Get("data")
	kind := v.Get("event").String()
	if strings.HasPrefix(kind, "on_chain_") { // a graph's event has the graph's agent, but the namespace of the graph above
		at := d.graphOf(metadata, sc)
		if own := d.scopes[string(d.placeIn(metadata))]; own != nil { // the event is of a graph within a task
			at = own
		}
		name := v.Get("name")
		isNode := name.Is(metadata.Get("langgraph_node").String())
		if isNode && kind == "on_chain_start" {
			d.readNodeStart(d.name(name), b)
			_, task := splitLast(metadata.Get("langgraph_checkpoint_ns").Text())
			b.Task.ID = dialect.Name(string(task))
			d.beginNamed(sc, v, b)
		}
		d.readChainResults(at, data, b)
		if isNode && kind == "on_chain_end" {
			d.readReturned(sc, v, b)
			d.endNodeCalls(dialect.Name(string(d.placeIn(metadata))), b)
		}
		d.trackNode(kind, v, metadata, b)
		d.endGraph(kind, v, b)
		return
	}
	d.trackNode(kind, v, metadata, b)
	at := d.scopeAt(metadata, sc)
	d.modelRun = d.name(v.Get("run_id"))
	defer func() { d.modelRun = "" }()
	switch kind {
	case "on_chat_model_start":
		d.noteAsked(d.modelRun, b)
		if at.above != nil && (at.spoke || at.agent != "") && at.speaker().claim(b) {
			at.asked, b.Partial, d.last = true, true, at
			b.Add(event.KindIteration).CallsModel = true
		}
	case "on_chat_model_stream":
		d.readMessage(at, data.Get("chunk"), metadata, b)
	case "on_chat_model_end":
		d.readMessage(at, data.Get("output"), metadata, b)
	case "on_tool_end":
		d.readMessages(at, messagesOf(data.Get("output")), b)
		d.readState(at, data.Get("output").Get("update"), false, b) // of a Command
		d.readResultsIn(at, data.Get("output").Get("goto"), b)
		if commandsParent(data) {
			d.endWithoutResult(at, d.name(v.Get("name")), b)
		}
	case "on_tool_error":
		d.readToolError(at, v, b)
	}
}

// readChainResults reads the results of open calls in what a node returns. LangChain's agents answer some calls themselves: of an
// unknown tool, above a limit, and those with the structured output.
func (d *decoder) readChainResults(sc *scope, data strictjson.Value, b *event.Batch) {
	d.readResultsIn(sc, data.Get("chunk"), b)
	d.readResultsIn(sc, data.Get("output"), b)
}

// readReturned reads what the code of a node wrote, in what the node returns: answers, and a hook's results of calls in a response of its
// input, such as one that a reviewer rejected. A node may also return messages of its input.
//
// Source: langchain/agents/middleware/human_in_the_loop.py, which returns the response again, with the rejected calls.
func (d *decoder) readReturned(sc *scope, v strictjson.Value, b *event.Batch) {
	data, metadata := v.Get("data"), v.Get("metadata")
	var returned []strictjson.Value
	for _, one := range append(elementsOf(data.Get("output")), data.Get("output")) {
		returned = append(append(returned, returnedMessages(one)...), returnedMessages(one.Get("update"))...)
	}
	for _, m := range returned {
		d.nameByResponse(d.graphOf(metadata, sc), v.Get("name").String(), m)
	}
	isHook := isAgentNode(v.Get("name").String())
	isWritten := func(m strictjson.Value) bool {
		return isAnswer(m) && !isFromModel(m) || isHook && m.Get("type").Is("tool")
	}
	if !slices.ContainsFunc(returned, isWritten) || !data.Get("input").Exists() {
		return
	}
	old, called := make(map[string]bool), make(map[string]bool)
	for _, m := range messagesIn(data.Get("input"), 0) {
		old[m.Get("id").String()] = true
	}
	for _, m := range returned {
		if old[m.Get("id").String()] {
			addCalls(called, m)
		}
	}
	for _, m := range returned {
		switch isResult := m.Get("type").Is("tool"); {
		case !isWritten(m) || old[m.Get("id").String()]:
		case !isResult:
			d.readWhole(d.graphOf(metadata, sc), m, metadata, b)
		case called[m.Get("tool_call_id").String()]:
			d.readResult(d.scopeAt(metadata, sc), m, b)
		}
	}
}

// addCalls adds the IDs of the calls in a message.
func addCalls(ids map[string]bool, message strictjson.Value) {
	for c := range message.Get("tool_calls").Elements() {
		ids[c.Get("id").String()] = true
	}
}

// readResultsIn reads the results of open calls anywhere in a value that a graph got or returned.
func (d *decoder) readResultsIn(sc *scope, v strictjson.Value, b *event.Batch) {
	if len(d.calls) == 0 {
		return
	}
	for _, m := range messagesIn(v, 0) {
		if c := d.calls.in(sc, d.name(m.Get("tool_call_id"))); c != nil && m.Get("type").Is("tool") {
			d.readResult(c.scope, m, b)
		}
	}
}

// markRepeated marks the results in a state, if the stream joined a run or a thread: frames with these results may have come before.
func (d *decoder) markRepeated(b *event.Batch) {
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == event.KindToolEnded {
			e.Uncertain = d.joins
		}
	}
}
