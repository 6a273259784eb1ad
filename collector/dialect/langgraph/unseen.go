package langgraph

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mayReturnInternal reports whether a frame has the result of a task or a node in which internal work has not ended. An internal
// node may end with a command to the graph above. Then its own task shows no end, and the task around it returns what it wrote.
//
// Source: langgraph/types.py, Command.PARENT; langgraph/pregel/_retry.py.
func (d *decoder) mayReturnInternal(name []byte, mode string, v strictjson.Value) bool {
	if len(d.working) == 0 && len(d.steps) == 0 {
		return false
	}
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	switch mode {
	case modeDebug:
		return d.mayEndInternal(namespace, v.Get("payload"))
	case modeTasks:
		return d.mayEndInternal(namespace, v)
	case modeUpdates:
		ofTasks, stated := d.aroundWork(isOfTask), d.aroundWork(work.isStated)
		for node, update := range v.Members() {
			around, isKnown := ofTasks, d.wasShown
			if node.Is(toolNode) {
				around, isKnown = stated, d.isResultOfKnownCall // what a tool returns is its own
			}
			place := nodePlace(namespace, node.Text())
			if (around.mayBe(place) || d.steps.mayReturn(place) || d.mayRepeatOpenWork(namespace)) && !hasOnly(update, isKnown) {
				return true
			}
		}
	}
	return false
}

// mayEndInternal reports whether a frame has the result of a task around internal work.
func (d *decoder) mayEndInternal(graph []byte, task strictjson.Value) bool {
	return task.Get("result").Kind() > strictjson.Null && (d.mayBeAround(d.name(task.Get("id")), isOfTask) || d.mayRepeatOpenWork(graph))
}

func isOfTask(w work) bool { return w.kind <= workOfNode || w.mayReturnAbove() }

// mayReturnAbove reports whether the graph around the work may return what the work wrote, although no frame shows the work's end: a task,
// or a call in a graph that is itself in no tool.
func (w work) mayReturnAbove() bool {
	return w.isStated() || w.kind == workOfCall && withinTool([]byte(w.graph)) == (toolPlace{})
}

// hasOnly reports whether an update has messages, all of which are known. Then another task of the same node may have returned them.
func hasOnly(update strictjson.Value, isKnown func(strictjson.Value) bool) bool {
	messages := messagesIn(update, false, 0)
	return len(messages) > 0 && !slices.ContainsFunc(messages, func(m strictjson.Value) bool { return !isKnown(m) })
}

// wasShown reports whether a message was shown before, with the same content or in pieces.
func (d *decoder) wasShown(m strictjson.Value) bool {
	return d.shown.contains(m.Get("id")) && !d.shown.replaces(m)
}

// isResultOfKnownCall reports whether a message was shown before, or is the result of a call that was shown or withheld.
func (d *decoder) isResultOfKnownCall(m strictjson.Value) bool {
	return d.shown.repeats(m) || isToolResult(m) && d.shown.contains(m.Get("tool_call_id")) || d.isWithheldResult(m)
}

// isWithheldResult reports whether a message is the result of a withheld call, or may be one. What its tool wrote to the state is in the same
// update.
func (d *decoder) isWithheldResult(m strictjson.Value) bool {
	return isToolResult(m) && (mayName(&d.withheld, m.Get("tool_call_id")) || hasInternalName(m) || d.isOfUnseenCall(m) || d.isOfUnnamedCall(m))
}

// withholdUnseen withholds the messages of a state that an internal node must have written. They are new since a checkpoint that
// named the node, or their content has changed. In events and tasks, the input of a node has the state. A message that no earlier event
// or task has shown was pushed, or written by a node that shows no end.
//
// Source: langgraph/graph/message.py, push_message.
func (d *decoder) withholdUnseen(name []byte, mode string, v strictjson.Value) {
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	next := nextPrefix + string(namespace)
	_, mayBeNew := d.working[next]
	mayBeNew = mayBeNew || d.mayBeAround(next, work.isStated)
	isShown := d.shown.repeats
	isInput := mode == modeEvents || taskIn(mode, v).Get("triggers").Exists()
	d.withholdUnknown(namespace, mode, v)
	switch {
	case isInput && mode == modeEvents && !v.Get("event").Is("on_chain_start"):
		return
	case mode == modeEvents:
		v, mayBeNew = v.Get("data").Get("input"), d.hasWorked
	case isInput:
		task := taskIn(mode, v)
		v, mayBeNew, isShown = task.Get("input"), d.mayBeginWithInternal(namespace, task), d.wasShown
	case mode == modeValues && d.shown.knowsHistory():
		mayBeNew = mayBeNew || d.mayBeAround(next, work.mayReturnAbove)
		if !mayBeNew && d.hasSpokenIn(namespace) {
			mayBeNew, isShown = true, d.wasShown
		}
	case mode == modeValues:
	case isCheckpoint(mode, v):
		v = cmp.Or(v.Get("payload"), v).Get("values")
	default:
		return
	}
	if !isInput && !mayBeNew && d.inputs[d.inputsKey(namespace)].isAfterInternal() {
		mayBeNew, isShown = true, d.wasShown
	}
	if !mayBeNew && (isInput || mode == modeDebug || !d.hasSpoken) {
		return
	}
	for _, m := range messagesIn(v, false, 0) {
		isUnseen := mayBeNew && !d.wasRead(m) && !isShown(m)
		switch hasID := len(m.Get("id").Text()) > 0; {
		case !isUnseen && (isInput || !d.shown.replaces(m)):
		case !hasID && mode == modeEvents: // the input of a graph, not a state
		case !hasID:
			d.withholdContent(m)
		default:
			d.withholdMessage(m, true)
		}
	}
}

// withholdUnknown withholds what work at an unknown place may have written to the state of the run's own graph: after the user's last message,
// those that no model wrote and this stream has not shown. They may also be of other nodes, so other streams show them.
func (d *decoder) withholdUnknown(graph []byte, mode string, v strictjson.Value) {
	if mode == modeCheckpoints {
		v = v.Get("values")
	}
	if isState := mode == modeValues || mode == modeCheckpoints; !isState || !d.mayRepeatOpenWork(graph) {
		return
	}
	messages := messagesIn(v, false, 0)
	for i := len(messages) - 1; i >= 0 && !isOfUser(messages[i]); i-- {
		switch m := messages[i]; {
		case isFromModel(m), d.wasShown(m), isToolResult(m) && d.isShownCall(m.Get("tool_call_id")):
		case len(m.Get("id").Text()) == 0:
			add(&d.unnamed, contentKey(m), false)
		default:
			d.withholdMessage(m, false)
		}
	}
}

// hasSpokenIn reports whether an internal node that a frame has named works in a graph or within it. A new message in the next state is one
// that such a node wrote without a model, unless a frame has shown it. In other modes than values, the nodes beside it have frames of their own.
func (s *internalState) hasSpokenIn(graph []byte) bool {
	for _, w := range s.working {
		if w.isNamed && isWithinGraph(w.graph, string(graph)) {
			return true
		}
	}
	return false
}

// noteRead records the messages of a frame that has a state or the input of a node, whether it leaves or not.
func (d *decoder) noteRead(mode string, v strictjson.Value) {
	if mode != modeCheckpoints && !slices.Contains(inputModes, mode) {
		return
	}
	for _, m := range messagesIn(v, false, 0) {
		if len(d.read) < maxSeen {
			if d.read == nil {
				d.read = make(map[uint64]struct{})
			}
			d.read[messageKey(m.Get("id"), m)] = struct{}{}
		}
	}
}

// wasRead reports whether earlier checkpoints, events or tasks had a message, or one with the same content and no ID.
func (d *decoder) wasRead(m strictjson.Value) bool {
	_, is := d.read[messageKey(m.Get("id"), m)]
	_, isUnnamed := d.read[messageKey(strictjson.Value{}, m)]
	return is || isUnnamed
}

func messageKey(id, message strictjson.Value) uint64 {
	content := message.Get("content")
	switch message.Kind() {
	case strictjson.String:
		content = message
	case strictjson.Array:
		_, content = tuple(message)
	}
	return maphash.Bytes(seed, id.Text()) ^ 3*wire.ExactHash(content)
}
