package adk

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// remoteAnswer is what an event says about the answer of a remote agent that it passes on.
type remoteAnswer struct {
	wire.RemoteAnswer
	exists   bool    // the event has a member that begins with remotePrefix
	actions  actions // of the remote agent's own event, if that agent is an ADK agent
	thoughts wire.RelayedThoughts
}

// remotePrefix begins the members of the custom metadata in which an agent stores what it exchanged with a remote agent.
const remotePrefix = "a2a:"

// readRemote reads the A2A task, message or update in an event's custom metadata. The user has no remote agent.
func readRemote(b *event.Batch, custom strictjson.Value, isUser bool) (r remoteAnswer) {
	for name := range wire.CustomMembers(b, custom) {
		r.exists = r.exists || bytes.HasPrefix(name.Text(), []byte(remotePrefix))
	}
	if !isUser {
		r.AddCustom(b, custom)
		r.actions = readActions(r.Actions)
		r.thoughts.AddCustom(b, b.JSON, custom)
	}
	return r
}

// isNewTask reports whether an event is about another task of a remote agent than the last event from its place. It remembers the task.
func (d *decoder) isNewTask(fr *frame, b *event.Batch) bool {
	if !fr.remote.exists {
		return false
	}
	id := d.name(wire.CustomMember(b, fr.customMetadata, remotePrefix+"task_id"))
	if id == "" {
		return false
	}
	place := placeKey(b)
	last, known := d.remoteTasks[place]
	if known || len(d.remoteTasks) < maxSpeakers {
		d.remoteTasks[place] = id
	}
	return known && last != id
}

// applyRemote withholds the parts that are a remote agent's thoughts, and those that are its error. The filter removes the
// agent's mark of a thought, so the thought would leave as an answer.
func (f *frame) applyRemote(b *event.Batch) {
	f.otherRole = f.otherRole || f.remote.Failure != event.NoFailure
	b.HasThoughts = b.HasThoughts || f.remote.thoughts.Any()
	i := 0
	for element := range f.partList.Elements() {
		p := &f.parts[i]
		i++
		if p.kind != partText && p.kind != partThought {
			continue
		}
		switch {
		case f.remote.HasError():
			p.kind = partOther
			b.SetTextKind(element, event.KindError)
		case p.isForeignThought, p.kind == partText && f.remote.thoughts.Contain(p.text):
			p.kind, b.HasThoughts = partThought, true
			b.SetTextKind(element, event.KindThought)
		}
	}
}

// repeatsRemoteCall reports whether an event repeats a call of a remote agent. The answer of a waiting task lists the calls it
// waits for, and all calls that were made together with them, even those that have a response.
//
// Source: google/adk/a2a/converters/event_converter.py and agent/_remote_a2a_agent.py of google-adk 2.13.
func (d *decoder) repeatsRemoteCall(id string, fr *frame, b *event.Batch) bool {
	if id == "" || !fr.isRelayed() {
		return false
	}
	call := remoteCall{placeKey(b), id}
	repeats := fr.remote.Waits && d.remoteCalls.Contains(call)
	d.remoteCalls.Add(call)
	return repeats
}

// remoteCall is a call in an answer of a remote agent.
type remoteCall struct{ place, id string }

// isSummary reports whether an event is a summary of the session (see wire.IsSummary). JavaScript's servers send it, also as the event of a
// remote agent.
//
// Source: dist/esm/agents/processors/context_compactor_request_processor.js of @google/adk 2.0.
func (f *frame) isSummary() bool { return wire.MayBeTrue(f.compacted) || f.remote.IsSummary }
