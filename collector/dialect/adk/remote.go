package adk

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
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

// remoteAnswer is what an event says about the answer of a remote agent that it passes on.
type remoteAnswer struct {
	failure  event.Failure
	code     strictjson.Value
	thoughts map[string]bool // texts of messages and artifacts that are thoughts as a whole; the event's parts lack the mark
}

// readRemote reads an A2A task, message or update.
func readRemote(v strictjson.Value) (r remoteAnswer) {
	if !v.Exists() {
		return r
	}
	status := v.Get("status")
	r.failure = remoteFailures[string(status.Get("state").Text())]
	r.code = firstOf(status.Get("message").Get("metadata").Get("adk_error_code"), v.Get("metadata").Get("adk_error_code"))
	r.addThoughts(v)
	r.addThoughts(status.Get("message"))
	r.addThoughts(v.Get("artifact"), v)
	for artifact := range v.Get("artifacts").Elements() {
		r.addThoughts(artifact)
	}
	return r
}

// addThoughts adds the texts of a message or an artifact if it, or an object around it, is marked as a thought.
func (r *remoteAnswer) addThoughts(v strictjson.Value, around ...strictjson.Value) {
	marked := isRemoteThought(v)
	for _, outer := range around {
		marked = marked || isRemoteThought(outer)
	}
	if !marked {
		return
	}
	if r.thoughts == nil {
		r.thoughts = make(map[string]bool)
	}
	var all []byte
	for part := range v.Get("parts").Elements() {
		if text := part.Get("text"); len(text.Text()) > 0 {
			all = append(all, text.Text()...)
			r.thoughts[text.String()] = true
		}
	}
	r.thoughts[string(all)] = len(all) > 0 // some agents join the pieces
}

func isRemoteThought(v strictjson.Value) bool {
	for _, object := range []strictjson.Value{v, v.Get("metadata")} {
		for name, value := range object.Members() {
			if lenient.IsThoughtFlag(name, value) {
				return true
			}
		}
	}
	return false
}

// applyRemote withholds the parts that a remote agent calls a thought, and all parts if it failed.
func (f *frame) applyRemote(b *event.Batch) {
	failed := f.remote.failure != event.NoFailure
	if !failed && len(f.remote.thoughts) == 0 {
		return
	}
	f.otherRole = f.otherRole || failed
	i := 0
	for element := range f.partList.Elements() {
		switch p := &f.parts[i]; {
		case failed:
			b.SetTextKind(element, event.KindError)
		case f.remote.thoughts[p.text.String()]:
			p.kind, b.HasThoughts = partThought, true
			b.SetTextKind(element, event.KindThought)
		}
		i++
	}
}
