package a2a

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// waitingCalls returns the calls that have no response yet. If by is not nil, it returns only those of one agent. It leaves out calls
// whose response comes from outside the run.
func (t *task) waitingCalls(by *speaker) (waiting []*call) {
	for _, same := range t.calls {
		for _, c := range same {
			if (by == nil || c.by == *by) && !c.answered && !c.acknowledged && !c.longRunning && !wire.IsInputRequest(c.tool) {
				waiting = append(waiting, c)
			}
		}
	}
	return waiting
}

// failure returns the failure that an event states, and its code. An event with an error has at most a code and a text.
//
//   - If pieces of a response arrived, or the event has usage, the model failed.
//   - If calls of the event's agent have no response, a tool failed, because the model is asked only after the response. failure then
//     reports the end of the call, if it is known which one failed.
//   - If ADK itself stopped the run or raised the error, neither a tool nor a model failed.
//   - If the code or the text is that of a model's API, or the agent has just got a tool's response, the model failed.
//   - Otherwise, a callback, a step of a workflow or a model may have failed, so it is a failure of the agent.
func (t *task) failure(r *response, m adkMetadata, parts parts, b *event.Batch) (event.Failure, string) {
	if !wire.IsFailureCode(m.code) {
		return event.NoFailure, ""
	}
	code, message, waiting := wire.Code(m.code), []byte(parts.joinedText()), t.waitingCalls(&speaker{b.Agent, b.Branch})
	switch own := wire.OwnFailure(m.code); {
	case own == event.FailureCanceled:
		return own, code
	case r.streaming, m.usage.Len() > 0:
		return event.ModelError, code
	case len(waiting) > 0 && !hasPart(parts, partResponse):
		if failCall(waiting, false, message, code, b) {
			r.failure = event.ToolError
		}
		return event.ToolError, code
	case own != event.NoFailure:
		return own, code
	case r.asksModel, wire.IsModelError(m.code, message):
		return event.ModelError, code
	}
	return event.AgentError, code
}

// failure returns the failure of an event, which may be that of a remote agent whose answer the event passes on.
func (d *decoder) failure(t *task, r *response, m adkMetadata, parts parts, b *event.Batch) (event.Failure, string) {
	if d.remote.Failure != event.NoFailure {
		return d.remote.Failure, wire.MostSpecific(wire.Code(m.code), wire.Code(d.remote.Code))
	}
	return t.failure(r, m, parts, b)
}

// repeatsRemoteError reports whether an event has nothing but a remote agent's error, and no failure. It comes before the failure, or the
// server repeats the error as the task's answer.
func (d *decoder) repeatsRemoteError(parts parts) bool {
	return d.hasRemoteError && d.remote.Failure == event.NoFailure && all(partOther, parts)
}

// addRemoteError remembers the texts of a remote agent's error, each and all as one. Servers repeat them as the task's answer, without a sign
// of the error.
func (d *decoder) addRemoteError(parts strictjson.Value) {
	var all maphash.Hash
	all.SetSeed(seed)
	for part := range parts.Elements() {
		text := part.Get("text").Text()
		d.remoteErrors.Add(wordsHash(text))
		hashText(&all, text)
	}
	d.remoteErrors.Add(all.Sum64())
}

// isRemoteError reports whether a text is that of a remote agent's error.
func (d *decoder) isRemoteError(text []byte) bool {
	return d.remoteErrors.Len() > 0 && len(bytes.TrimSpace(text)) > 0 && d.remoteErrors.Contains(wordsHash(text))
}

// isOfWorkflow reports whether an event is an error of a workflow or of one of its steps. The author of such an event is the
// workflow. Three signs show it: the error code is the class of an exception, only other agents have spoken before, and no call or
// transfer names the author.
//
// Source: google/adk/workflow/_node_runner.py of google-adk 2.13, _enrich_event.
func (d *decoder) isOfWorkflow(t *task, m adkMetadata) bool {
	if !wire.IsFailureCode(m.code) || !wire.IsClass(m.code.Text()) || len(t.speakers) == 0 {
		return false
	}
	author := d.name(m.author)
	for by := range t.speakers {
		if by.agent == author {
			return false
		}
	}
	for _, same := range t.calls {
		for _, c := range same {
			if c.target == author || c.tool == author {
				return false
			}
		}
	}
	return true
}

// failCall reports that a tool failed, because an error came instead of its response. It returns false if any of several calls may have
// failed. isBeside says that the error may be about another agent's work.
func failCall(calls []*call, isBeside bool, message []byte, code string, b *event.Batch) bool {
	i := wire.FailedCall(len(calls), isBeside, func(i int) string { return calls[i].tool }, message)
	if i < 0 {
		return false
	}
	calls[i].answered = true
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID, e.Error, e.Code = calls[i].tool, calls[i].id, event.ToolError, code
	return true
}

// repeatsError reports whether the last status repeats an error that was reported, even if agents have spoken since. Python's server
// sends the error's message again or, with the extension, the metadata of its event. With the extension, the earlier update has no
// text. If its failure was not clear without the text, the last status is read anew.
func (d *decoder) repeatsError(t *task, m adkMetadata) bool {
	message, of := d.name(m.errorMessage.Get("messageId")), d.name(m.event)
	return message != "" && message == t.errorMessage || of != "" && of == t.errorEvent && t.lastError == event.ModelError
}

// reportLastFailure reports the failed model response or call that ended the task, unless an earlier update reported it. Some servers
// report the exception of a tool only in the text of the status (google-adk 1.38, @google/adk 2.0).
func (d *decoder) reportLastFailure(t *task, m adkMetadata, parts parts, b *event.Batch) {
	b.OrderUnknown = len(t.speakers) > 0 && t.speakers[speaker{b.Agent, b.Branch}] == nil // @google/adk reports the error of any agent last
	r, usage := t.response(b), wire.GeminiUsage(m.usage)
	if d.repeatsError(t, m) || r.failure != event.NoFailure && (r.usage == usage || usage == (event.Usage{})) {
		return
	}
	switch failure, code := t.failure(r, m, parts, b); {
	case failure == event.ModelError:
		e := b.Add(event.KindModelEnded)
		e.Usage, e.Error, e.Code = usage, failure, code
	case failure == event.NoFailure && !t.failed:
		waiting := t.waitingCalls(nil)
		isBeside := slices.ContainsFunc(waiting, func(c *call) bool { return wire.MayBeParallel(c.by.branch) })
		failCall(waiting, isBeside, []byte(parts.joinedText()), parts.code(), b)
	}
}
