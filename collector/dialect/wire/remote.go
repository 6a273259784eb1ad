package wire

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// remoteFailures maps the states of a failed A2A task to failures. The calling agent passes on the text of such a
// status as if it were an answer.
//
// Source: google/adk/a2a/converters/to_adk_event.py of google-adk 2.13, convert_a2a_task_to_event.
var remoteFailures = map[string]event.Failure{
	"failed": event.AgentError, "TASK_STATE_FAILED": event.AgentError,
	"rejected": event.AgentError, "TASK_STATE_REJECTED": event.AgentError,
	"canceled": event.AgentError, "TASK_STATE_CANCELED": event.AgentError, "TASK_STATE_CANCELLED": event.AgentError,
}

// remoteWaits are the states of a task that waits for input or a credential.
var remoteWaits = []string{"input-required", "TASK_STATE_INPUT_REQUIRED", "auth-required", "TASK_STATE_AUTH_REQUIRED"}

// RemoteAnswer is what an ADK event says about the answer of a remote agent that it passes on.
type RemoteAnswer struct {
	Failure event.Failure    // the task of the remote agent failed
	Code    strictjson.Value // the error code of the remote agent's own event
	Waits   bool             // the task waits for input or a credential
	Actions strictjson.Value // of the remote agent's own event, if that agent is an ADK agent
	IsError bool             // the texts of the event are those of an error

	Errors    []strictjson.Value // the parts of errors, also of those that the remote agent passes on
	IsSummary bool               // the event passes on a summary (see wire.IsSummary)
}

// AddCustom reads the answers in the custom metadata of an ADK event.
func (r *RemoteAnswer) AddCustom(b *event.Batch, custom strictjson.Value) {
	for name, value := range CustomMembers(b, custom) {
		if name.Is(A2AResponse) {
			r.addAnswer(b, b.Embedded(value))
		}
	}
}

// HasError reports whether the answer, or one that the remote agent passes on, is an error.
func (r *RemoteAnswer) HasError() bool { return len(r.Errors) > 0 }

// AddMetadata reads the answers in the metadata of an A2A object that an ADK agent sent.
func (r *RemoteAnswer) AddMetadata(b *event.Batch, v strictjson.Value) {
	for m := range WithMetadata(v) {
		if m.InMetadata && lenient.MatchesAny(m.Name.Text(), ADKCustom) {
			r.AddCustom(b, m.Value)
		}
	}
}

// AddErrors reads only the texts of errors in the answers in the metadata of an A2A object. The metadata of a task is that of all its
// updates, so an answer there may be older than the task's texts.
func (r *RemoteAnswer) AddErrors(b *event.Batch, v strictjson.Value) {
	var inner RemoteAnswer
	inner.AddMetadata(b, v)
	r.Errors = append(r.Errors, inner.Errors...)
}

// addAnswer reads a task, a message or an update. Java's agents send the event of their A2A client, which has the answer in a member.
//
// Source: a2a/src/main/java/com/google/adk/a2a/agent/RemoteA2AAgent.java of adk-java.
func (r *RemoteAnswer) addAnswer(b *event.Batch, answer strictjson.Value) {
	for _, v := range []strictjson.Value{answer, answer.Get("task"), answer.Get("updateEvent"), answer.Get("statusUpdate")} {
		status := v.Get("status")
		state, message := status.Get("state"), status.Get("message")
		r.IsSummary = r.IsSummary || IsSummary(v)
		failure := remoteFailures[string(state.Text())]
		if failure != event.NoFailure {
			r.Failure = failure
		}
		r.Waits = r.Waits || slices.ContainsFunc(remoteWaits, state.Is)
		ofMessage, ofUpdate := message.Get("metadata"), v.Get("metadata")
		r.Code = firstExisting(r.Code, ofMessage.First(adkErrors...), ofUpdate.First(adkErrors...))
		r.Actions = firstExisting(r.Actions, ofMessage.First(adkActions...), ofUpdate.First(adkActions...))
		if failure != event.NoFailure || IsFailureCode(ErrorMessage(message).Get("metadata").First(adkErrors...)) {
			r.IsError = true
			r.Errors = append(r.Errors, message.First("parts", "content"))
		}
		for _, around := range []strictjson.Value{v, status, message, v.Get("artifact")} {
			r.AddErrors(b, around) // the remote agent may pass on an answer too
		}
	}
}

// ErrorMessage returns the message of a status if it has the error of an ADK event, and not its content. Of an event with an error
// and content, Python's server makes two updates with the same metadata. Only the message with the error states the code itself.
//
// Source: google/adk/a2a/converters/event_converter.py of google-adk 2.13.
func ErrorMessage(message strictjson.Value) strictjson.Value {
	if own := message.Get("metadata"); own.First(adkErrors...).Exists() && !own.First(ADKAuthors...).Exists() {
		return message
	}
	return strictjson.Value{}
}

func firstExisting(values ...strictjson.Value) strictjson.Value {
	for _, v := range values {
		if v.Exists() {
			return v
		}
	}
	return strictjson.Value{}
}

// IsSummary reports whether an A2A update of an artifact has the summary that ADK makes of a session's older events, to shorten what it sends
// to a model. No agent says it. An agent's event has an invocation.
//
// Source: dist/esm/context/summarizers/llm_summarizer.js of @google/adk 2.0.
func IsSummary(update strictjson.Value) bool {
	metadata := update.Get("metadata")
	return update.Get("artifact").Exists() && metadata.First(ADKAuthors...).Is("system") && metadata.First(adkInvocations...).Is("")
}
