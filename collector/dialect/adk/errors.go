package adk

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// errorEvent is what is kept of an event with an error code, for refine.
type errorEvent struct {
	code    string
	message uint64 // hash of the message; 0 if there is none
}

var seed = maphash.MakeSeed()

func newErrorEvent(code string, message strictjson.Value) errorEvent {
	e := errorEvent{code: code}
	if text := message.Text(); len(text) > 0 {
		e.message = maphash.Bytes(seed, text)
	}
	return e
}

// refine returns the most specific code of an error frame, given the code in the frame. ADK 2 reports
// most errors twice: as an event and then as an error frame. Both have the same message, but the code in the frame is
// only the class of the exception.
func (e errorEvent) refine(code string, message strictjson.Value) string {
	if frame := newErrorEvent(code, message); frame.message != e.message || e.message == 0 {
		return code
	}
	return wire.MostSpecific(e.code, code)
}
