package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// overwriteKey is the type of an Overwrite. Either overwriteKey or overwriteValue is also the member with its content.
//
// Source: langgraph/types.py, Overwrite; langgraph/channels/binop.py.
const (
	overwriteKey   = "__overwrite__"
	overwriteValue = "value"
)

// writesKey is the member with all that a task has written to a channel, if it has written to it several times.
//
// Source: langgraph/pregel/debug.py, map_task_result_writes.
const writesKey = "$writes"

// writesOf returns what a task has written to a channel.
func writesOf(channel strictjson.Value) []strictjson.Value {
	if all := channel.Get(writesKey); all.Kind() == strictjson.Array {
		return elementsOf(all)
	}
	return []strictjson.Value{channel}
}

// messagesOf returns the messages that a node writes: a list, a single one, or an Overwrite.
func messagesOf(written strictjson.Value) (messages []strictjson.Value) {
	for _, one := range writesOf(written) {
		if all := overwriteContent(one); all.Exists() {
			one = all
		}
		if one.Kind() == strictjson.Object {
			messages = append(messages, one)
		} else {
			messages = slices.AppendSeq(messages, one.Elements())
		}
	}
	return messages
}

// returnedMessages returns the messages of a state, or of what a node returns: itself, those in a list, or the member "messages".
//
// Source: langgraph/pregel/_messages.py, _find_and_emit_messages.
func returnedMessages(v strictjson.Value) (messages []strictjson.Value) {
	for _, one := range writesOf(v) {
		switch {
		case isMessage(one):
			messages = append(messages, one)
		case one.Kind() == strictjson.Array:
			messages = append(messages, slices.DeleteFunc(elementsOf(one), func(m strictjson.Value) bool { return !isMessage(m) })...)
		default:
			messages = append(messages, messagesOf(one.Get("messages"))...)
		}
	}
	return messages
}

// messagesIn returns the messages in a value.
func messagesIn(v strictjson.Value, depth int) (all []strictjson.Value) {
	switch {
	case depth > maxScan:
		return nil
	case v.Get("content").Exists() && v.First("id", "type", "role").Exists():
		return []strictjson.Value{v}
	}
	for name, member := range v.Members() {
		if slices.ContainsFunc(savedMembers, name.Is) && member.Get("content").Exists() {
			all = append(all, member)
		} else {
			all = append(all, messagesIn(member, depth+1)...)
		}
	}
	for element := range v.Elements() {
		all = append(all, messagesIn(element, depth+1)...)
	}
	return all
}

func elementsOf(v strictjson.Value) []strictjson.Value { return slices.Collect(v.Elements()) }

// overwriteContent returns the content of an Overwrite. The result does not exist if v is not an Overwrite.
func overwriteContent(v strictjson.Value) strictjson.Value {
	if v.Get("content").Exists() {
		return strictjson.Value{}
	}
	return v.First(overwriteValue, overwriteKey)
}

// readMessages reads the messages of a state or of a node's update, which may include messages of earlier runs.
func (d *decoder) readMessages(sc *scope, messages []strictjson.Value, b *event.Batch) {
	old := d.countOld(messages)
	d.remember(sc, messages[:old], b)
	for i, m := range messages {
		if d.isCached && !isAnswer(m) {
			d.remember(sc, []strictjson.Value{m}, b)
			continue
		}
		if d.isLast = i == len(messages)-1; i >= old || d.isOfRun(sc, m) {
			d.readMessage(sc, m, strictjson.Value{}, b)
		}
	}
}

// isAnswer reports whether a message has a text for the user: it is a model's and calls no tool.
func isAnswer(m strictjson.Value) bool {
	return m.Get("type").Is("ai") && m.Get("tool_calls").Len() == 0
}

// countOld returns how many messages at the start of a list are from before the run. The last of them is the last user message
// that was in an input. If no such message was, but the list has several, the last one is the run's input.
func (d *decoder) countOld(messages []strictjson.Value) (old int) {
	users, last := 0, 0
	for i, m := range messages {
		if !isOfUser(m) {
			continue
		}
		if users, last = users+1, i+1; d.seen.contains(seenInput, d.name(m.Get("id"))) {
			old = last
		}
	}
	if old == 0 && users > 1 {
		return last
	}
	return old
}

// isOfRun reports whether a message is a response or a result for which the run waits.
func (d *decoder) isOfRun(sc *scope, m strictjson.Value) bool {
	c := d.calls.in(sc, d.name(m.Get("tool_call_id")))
	return c != nil && !c.earlier || d.open[d.name(m.Get("id"))] != nil
}

// remember records messages from before the run or one of its tasks. It opens their calls without a result, because the run
// may execute them.
func (d *decoder) remember(sc *scope, messages []strictjson.Value, b *event.Batch) {
	for _, m := range messages {
		if d.isOfRun(sc, m) {
			continue
		}
		id := d.name(m.Get("id"))
		d.repeats(id, m, b)
		if d.seen.add(seenMessage, id); isOfUser(m) {
			d.seen.add(seenInput, id)
		}
		if result := d.name(m.Get("tool_call_id")); result != "" {
			d.seen.add(seenResult, result)
			d.calls.end(d.calls.in(sc, result))
		}
		for c := range m.Get("tool_calls").Elements() {
			d.rememberCall(sc, m, c)
		}
	}
}

func (d *decoder) rememberCall(sc *scope, m, c strictjson.Value) {
	id := d.name(c.Get("id"))
	if d.calls.in(sc, id) != nil || d.seen.mustSkip(seenResult, id) || len(d.calls) >= maxOpenCalls {
		return
	}
	d.calls = append(d.calls, &call{id: id, tool: d.name(c.Get("name")), scope: sc, by: sc.speakerNamed(d.name(m.Get("name"))), earlier: true})
}
