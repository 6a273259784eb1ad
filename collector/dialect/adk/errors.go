package adk

import (
	"bytes"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// errorEvent is what is kept of an event with an error code, for isRepeatedBy.
type errorEvent struct {
	code    string
	message uint64 // hash of the message; 0 if there is none
	ofTool  bool   // a tool failed, even if it is not known which
}

var seed = maphash.MakeSeed()

func newErrorEvent(failure event.Failure, code string, message strictjson.Value) errorEvent {
	e := errorEvent{code: code, ofTool: failure == event.ToolError}
	if text := message.Text(); len(text) > 0 {
		e.message = maphash.Bytes(seed, text)
	}
	return e
}

// isRepeatedBy reports whether an error frame with a message repeats the event. ADK 2 reports most errors twice: as an
// event and then as an error frame.
func (e errorEvent) isRepeatedBy(message strictjson.Value) bool {
	return e.message != 0 && newErrorEvent(event.NoFailure, "", message).message == e.message
}

func addErrorCode(failure event.Failure, code string, b *event.Batch) *event.Event {
	if failure == event.NoFailure {
		return nil
	}
	e := b.Add(event.KindError)
	e.Error, e.Code, e.Inline = failure, code, failure != event.FailureCanceled // a canceled run did not fail
	return e
}

// rejectsTarget reports whether an error says that the target of the last transfer does not exist.
func (d *decoder) rejectsTarget(fr *frame) bool {
	return d.transferTarget != "" && !fr.hasUsage && !fr.finishReason.Exists() && fr.partList.Len() == 0 &&
		bytes.Contains(fr.errorMessage.Text(), []byte(d.transferTarget))
}

// addErrorFrame reports an error of the run. If calls have no response, the error is about one of them (see
// wire.FailedCall), unless it only repeats a tool's. If the message names the target of the last transfer, that agent does
// not exist.
func (d *decoder) addErrorFrame(message []byte, code string, repeatsTool bool, b *event.Batch) {
	switch {
	case repeatsTool:
	case len(d.pending) > 0:
		d.failCall(d.pending, message, code, b)
	case wire.APIErrorCode(message) != "" && !d.errorReported:
		e := b.Add(event.KindModelEnded)
		e.Error, e.Code = event.ModelError, code
	}
	e := b.Add(event.KindError)
	if e.Error, e.Code = event.AgentError, code; d.transferTarget != "" && bytes.Contains(message, []byte(d.transferTarget)) {
		e.Name = d.transferTarget
	}
}
