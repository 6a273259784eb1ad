package adk

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// remoteFailures maps the states of a task in which a remote agent did not answer. An agent that asks one over A2A
// passes on the words of such a status as its answer.
//
// Source: google/adk/a2a/converters/to_adk_event.py of google-adk 2.13, convert_a2a_task_to_event.
var remoteFailures = map[string]event.Failure{
	"failed": event.AgentError, "TASK_STATE_FAILED": event.AgentError,
	"rejected": event.AgentError, "TASK_STATE_REJECTED": event.AgentError,
	"canceled": event.AgentError, "TASK_STATE_CANCELED": event.AgentError, "TASK_STATE_CANCELLED": event.AgentError,
}

// remoteWaits are the states of a task that waits for input or a credential.
var remoteWaits = []string{"input-required", "TASK_STATE_INPUT_REQUIRED", "auth-required", "TASK_STATE_AUTH_REQUIRED"}

// remoteAnswer is what an event says about the answer of a remote agent that it passes on.
type remoteAnswer struct {
	exists   bool // the event has a member that begins with remotePrefix
	failure  event.Failure
	waits    bool // the task waits for input or a credential
	code     strictjson.Value
	actions  actions // of the remote agent's own event, if that agent is an ADK agent
	thoughts wire.RelayedThoughts
}

// remotePrefix begins the members of the custom metadata in which an agent stores what it exchanged with a remote agent.
const remotePrefix = "a2a:"

// readRemote reads the A2A task, message or update in an event's custom metadata. The user has no remote agent.
func readRemote(b *event.Batch, custom strictjson.Value, isUser bool) (r remoteAnswer) {
	for name, value := range wire.CustomMembers(b, custom) {
		r.exists = r.exists || bytes.HasPrefix(name.Text(), []byte(remotePrefix))
		if name.Is(wire.A2AResponse) && !isUser {
			r.readStatus(b.Embedded(value))
		}
	}
	if !isUser {
		r.thoughts.AddCustom(b, b.JSON, custom)
	}
	return r
}

// readStatus reads the status in an answer. Java's agents send the event of their A2A client, which has the answer in a member.
//
// Source: a2a/src/main/java/com/google/adk/a2a/agent/RemoteA2AAgent.java of adk-java.
func (r *remoteAnswer) readStatus(answer strictjson.Value) {
	var requested strictjson.Value
	for _, v := range []strictjson.Value{answer, answer.Get("task"), answer.Get("updateEvent")} {
		status := v.Get("status")
		state := status.Get("state")
		if failure := remoteFailures[string(state.Text())]; failure != event.NoFailure {
			r.failure = failure
		}
		r.waits = r.waits || slices.ContainsFunc(remoteWaits, state.Is)
		ofMessage, ofUpdate := status.Get("message").Get("metadata"), v.Get("metadata")
		r.code = firstOf(r.code, firstOf(ofMessage.First(wire.ADKErrors...), ofUpdate.First(wire.ADKErrors...)))
		requested = firstOf(requested, firstOf(ofMessage.First(wire.ADKActions...), ofUpdate.First(wire.ADKActions...)))
	}
	r.actions = readActions(requested)
}

// applyRemote withholds the parts that are a remote agent's thoughts, and all parts if it failed. The filter removes the
// agent's mark of a thought, so the thought would leave as an answer.
func (f *frame) applyRemote(b *event.Batch) {
	failed := f.remote.failure != event.NoFailure
	f.otherRole = f.otherRole || failed
	b.HasThoughts = b.HasThoughts || f.remote.thoughts.Any()
	i := 0
	for element := range f.partList.Elements() {
		p := &f.parts[i]
		i++
		if p.kind != partText && p.kind != partThought {
			continue
		}
		switch {
		case failed:
			b.SetTextKind(element, event.KindError)
		case p.isForeignThought, p.kind == partText && f.remote.thoughts.Contain(p.text):
			p.kind, b.HasThoughts = partThought, true
			b.SetTextKind(element, event.KindThought)
		}
	}
}

// repeatsRemoteCall reports whether an event has a call of a remote agent again. The answer of a task that waits has the calls
// for which it waits, and those made with them, whatever their responses.
//
// Source: google/adk/a2a/converters/event_converter.py and agent/_remote_a2a_agent.py of google-adk 2.13.
func (d *decoder) repeatsRemoteCall(id string, fr *frame, b *event.Batch) bool {
	if id == "" || !fr.isRelayed() {
		return false
	}
	call := remoteCall{placeKey(b), id}
	repeats := fr.remote.waits && d.remoteCalls.Contains(call)
	d.remoteCalls.Add(call)
	return repeats
}

// remoteCall is a call in an answer of a remote agent.
type remoteCall struct{ place, id string }
