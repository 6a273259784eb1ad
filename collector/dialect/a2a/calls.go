package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Members of the metadata of a part that has a call or a response.
var (
	adkTypes         = wire.ADKNames("type")
	longRunningMarks = wire.ADKNames("is_long_running")
)

// adkErrorMessages are the members of metadata with the text of an event's error. JavaScript's servers write them.
var adkErrorMessages = wire.ADKNames("error_message")

// callData returns the data of a call or a response: what is nested, if the data around it names no tool. The policy public finds it
// by the same rule.
func callData(data strictjson.Value) strictjson.Value {
	if inner := data.Get("data"); inner.Exists() && len(data.Get("name").Text()) == 0 {
		return inner
	}
	return data
}

// addCalls adds the calls in the parts of an object, such as a message. isInside says that the object, or one around it, is marked
// internal. A withheld snapshot withholds later frames only of the calls that are in a marked object.
func (r *contentReader) addCalls(list, object strictjson.Value, isInside bool) {
	isMarked := r.isSnapshot && r.findMarks && (isInside || lenient.HasInternalDiscriminator(&table, object))
	for v := range list.Elements() {
		meta := v.Get("metadata")
		data := readData(v, v.Get("data"), meta)
		call, as, isCode := data.data, wire.CallRepeated, false
		switch kind := meta.First(wire.ADKTypes...); {
		case kind.Is("function_call"):
			as = wire.CallRoleOf(call)
		case kind.Is("executable_code"):
			as, isCode = wire.CodeBegins, true
		case kind.Is("code_execution_result"):
			as, isCode = wire.CodeEnds, true
		case !kind.Is("function_response"):
			continue
		}
		r.addPayload(call)
		if r.findCopies {
			r.addCopied(call, as)
		}
		if isCode && !r.isSnapshot {
			r.calls = wire.AppendCode(r.calls, as, call.Get("id"), r.place)
			continue
		}
		isDeferred := as == wire.CallBegins && object == r.asks
		if r.isSnapshot {
			if as = wire.CallMentioned; isMarked {
				as = wire.CallRepeated
			}
		}
		if isCode {
			r.calls = append(r.calls, wire.NamedCall{ID: dialect.Name(call.Get("id").String()), Tool: wire.CodeTool, As: as})
			continue
		}
		n := len(r.calls)
		r.calls = wire.AppendCall(r.calls, as, call.Get("id"), call.Get("name"), call.Get("args"))
		if isDeferred && len(r.calls) == n+1 { // a request for a confirmation goes with the call that it names
			r.calls[n].As = wire.CallDeferred
		}
		r.calls[n].Place, r.calls[n].Continues = r.place, data.streamed || r.isPartial
		r.calls[n].Answers = as == wire.CallRepeated && r.calls[n].ID != "" && !wire.IsPending(call.Get("response"))
	}
}

// askingMessage returns the message of a status or snapshot whose calls are of other events: the last status of servers that leave
// long-running calls out of their events.
//
// Source: google/adk/a2a/executor/a2a_agent_executor_impl.py of google-adk 2.13.
func (u update) askingMessage(m adkMetadata) strictjson.Value {
	status := u.body.Get("status")
	if m.isEvent || !states[status.Get("state").String()].isWaiting() {
		return strictjson.Value{}
	}
	return status.Get("message")
}

// mayLackCalls reports whether a server may have left calls out of the event in an update. It leaves the rest in an artifact, or in a
// status without parts.
func (u update) mayLackCalls(m adkMetadata) bool {
	return m.isEvent && !m.partial && !m.hasAllCalls && (u.shape == shapeArtifact || u.shape == shapeStatus && u.body.Get("status").Get("message").First(partMembers...).Len() == 0)
}

// checkpoints are the members of an event's actions that say that the event is a checkpoint of a resumable run. It has no content.
//
// Source: google/adk/agents/base_agent.py of google-adk 2.13, _create_agent_state_event.
var checkpoints = []string{"agentState", "agent_state", "endOfAgent", "end_of_agent"}

// mayBeQuestion reports whether a server may have left a question out of the event in an update, because nothing else is in it.
func (u update) mayBeQuestion(m adkMetadata, b *event.Batch) bool {
	return u.shape == shapeStatus && u.mayLackCalls(m) && !b.Embedded(m.actions).First(checkpoints...).Exists()
}

// addADK adds the calls that the metadata of an ADK agent's event names.
func (r *contentReader) addADK(m adkMetadata, b *event.Batch) {
	if m.actions.Exists() && !r.isSnapshot {
		r.calls = wire.AppendActions(r.calls, b.Embedded(m.actions))
	}
	r.calls = wire.AppendWithin(r.calls, m.branch.String())
}

// adkMetadata returns what an ADK agent states about the event in an update.
func (u update) adkMetadata() adkMetadata {
	return readADKMetadata(u.body.Get("metadata"), u.body.Get("status").Get("message").Get("metadata"), u.body.Get("artifact").Get("metadata"))
}

// repeatsCalls reports whether an artifact has a whole event again, perhaps without its thoughts, as JavaScript's servers send it. They do not
// send its ID, so its calls show it: no other event has a call with the same UUID.
//
// Source: dist/esm/context/trajectory_thought_pruning_compactor.js of @google/adk 2.0.
func (d *decoder) repeatsCalls(t *task, m adkMetadata, artifact strictjson.Value) bool {
	calls, repeated := 0, 0
	for p := range partsOfArtifact(artifact, false).all() {
		if id := dialect.Name(p.data.Get("id").String()); p.kind == partCall && !p.streamed {
			if calls++; wire.IsUnique(id) && len(t.calls[id]) > 0 {
				repeated++
			}
		}
	}
	return m.hasAllCalls && !m.partial && calls > 0 && repeated == calls
}

// addPauses reports the calls that wait for a confirmation or a credential. It runs before the
// responses are read: the response of such a call contains an error text that is not an error.
func (t *task) addPauses(m adkMetadata, b *event.Batch) {
	for _, asked := range wire.RequestsIn(m.actions) {
		for name := range asked.Members() {
			id := dialect.Name(name.String())
			b.Add(event.KindToolPaused).CallID = id
			t.pauses.Take(id)
			if c := t.callOf(id, b.Branch, ""); c != nil {
				c.paused = true
			}
		}
	}
}
