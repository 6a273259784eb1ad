package aisdk

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	maxCalls   = 1024 // remembered calls of an answer; a new call replaces one that has ended
	maxPending = 16   // reported calls that an answer leaves to its client
)

// call is a tool call of the answer.
type call struct {
	key      string // see decoder.key
	id, tool string
	state    callState
	step     *step  // whose model makes it, or nil if that is unknown
	approval string // key of the request for a person's decision, or ""
	hidden   bool   // its start was withheld, or a frame of it when the set of withheld items was full
	reusesID bool   // an earlier call of the answer had the ID
	paused   bool   // the end of an answer has left it to the client
}

type callState uint8

const (
	callStreaming callState = iota // the model is writing its arguments
	callRunning
	callAsking  // waits for a person's decision
	callRefused // a person refused it; its result follows
	callEnded
)

// calls holds the calls of an answer, in the order in which they started.
type calls []call

func (c calls) byKey(key string) *call {
	if i := slices.IndexFunc(c, func(known call) bool { return known.key == key }); i >= 0 {
		return &c[i]
	}
	return nil
}

func (c calls) byApproval(key string) *call {
	if i := slices.IndexFunc(c, func(known call) bool { return key != "" && known.approval == key }); i >= 0 {
		return &c[i]
	}
	return nil
}

// anyStreaming reports whether the model still writes a call that may be of a step, which may be nil.
func (c calls) anyStreaming(of *step) bool {
	return slices.ContainsFunc(c, func(known call) bool { return known.state == callStreaming && known.step.mayBe(of) })
}

// discard ends the calls of a step, without a result.
func (c calls) discard(of *step) {
	for i := range c {
		if c[i].step == of {
			c[i].state = callEnded
		}
	}
}

// oldestEnded returns the index of the oldest call that has ended, or -1.
func (c calls) oldestEnded() int {
	return slices.IndexFunc(c, func(known call) bool { return known.state == callEnded })
}

// haveRoom reports whether another call can be remembered.
func (c calls) haveRoom() bool { return len(c) < maxCalls || c.oldestEnded() >= 0 }

// addCall adds a call and returns it. If there is no room, it first forgets the oldest ended call. If no call has ended, it returns nil.
func (d *decoder) addCall(added call) *call {
	if !d.calls.haveRoom() {
		return nil
	}
	if len(d.calls) >= maxCalls {
		i := d.calls.oldestEnded()
		d.calls = slices.Delete(d.calls, i, i+1)
	}
	d.calls = append(d.calls, added)
	return &d.calls[len(d.calls)-1]
}

// pause returns the calls that run at the end of the answer, each only once. The client has to execute them.
func (c calls) pause() (ids []string) {
	for i := range c {
		if known := &c[i]; known.state == callRunning && len(ids) < maxPending && !known.paused {
			known.paused = true
			ids = append(ids, known.id)
		}
	}
	return ids
}

// advance sets the state of the call that a frame starts or completes, and returns the call, or nil if there is no room for it.
func (d *decoder) advance(v strictjson.Value, state callState) *call {
	key := d.key(v.Get("toolCallId"))
	known := d.calls.byKey(key)
	started := call{key: key, id: d.name(v.Get("toolCallId")), tool: d.name(v.Get("toolName")), state: state, step: d.steps.current(), hidden: d.hides()}
	switch {
	case known == nil:
		return d.addCall(started)
	case known.state == callEnded, state == callStreaming && known.state != callStreaming: // some models give each of their calls the same IDs
		started.reusesID = true
		*known = started
	default:
		known.state, known.hidden = state, known.hidden || started.hidden
	}
	return known
}

// callOf returns the call of a frame, or nil if an earlier answer made the call.
func (d *decoder) callOf(v strictjson.Value) *call { return d.calls.byKey(d.key(v.Get("toolCallId"))) }

func (d *decoder) toolInputStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	d.advance(v, callStreaming)
}

func (d *decoder) toolInputDelta(v strictjson.Value, b *event.Batch) {
	d.continueResponse(d.callOf(v).madeIn(), b)
}

// toolInput starts a call whose arguments are now complete.
func (d *decoder) toolInput(v strictjson.Value, b *event.Batch) {
	known := d.advance(v, callRunning)
	if known == nil {
		return
	}
	if byProvider, _ := v.Get("providerExecuted").Bool(); byProvider {
		d.continueResponse(known.step, b) // the response goes on with the result
	} else {
		d.endResponse(known.step, b)
	}
	known.addStart(v, b)
}

// toolInputError reports a call that was refused, because the tool does not exist or the arguments do not
// fit. The SDK repeats the error as the call's result; pydantic-ai does not.
func (d *decoder) toolInputError(v strictjson.Value, b *event.Batch) {
	known := d.advance(v, callEnded)
	if known == nil {
		return
	}
	d.endResponse(known.step, b)
	known.addStart(v, b)
	d.addToolError(known, v, b)
}

func (c *call) addStart(v strictjson.Value, b *event.Batch) {
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name, e.ReusesID = c.id, c.tool, c.reusesID
	e.SetPayload(v.Get("input"))
}

// approvalRequest reports that a call waits for a person. Since 7.0 the server may decide by itself.
func (d *decoder) approvalRequest(v strictjson.Value, b *event.Batch) {
	known := d.callOf(v)
	if known != nil {
		known.approval = d.key(v.Get("approvalId"))
	}
	if automatic, _ := v.Get("isAutomatic").Bool(); automatic || known.hasEnded() {
		return
	}
	if known != nil {
		known.state = callAsking
	}
	b.Add(event.KindToolPaused).CallID = d.name(v.Get("toolCallId"))
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = d.name(v.Get("approvalId")), event.InputConfirmation
}

// approvalResponse reports the answer to a request of this answer.
func (d *decoder) approvalResponse(v strictjson.Value, b *event.Batch) {
	known := d.calls.byApproval(d.key(v.Get("approvalId")))
	if known == nil {
		return
	}
	if known.state == callAsking {
		b.Add(event.KindInputAnswered).CallID = d.name(v.Get("approvalId"))
	}
	switch approved, isKnown := v.Get("approved").Bool(); {
	case known.state == callEnded:
	case isKnown && !approved:
		known.state = callRefused
	default:
		known.state = callRunning
	}
}

// toolOutput ends a call. A preliminary result is only progress, such as the message of another agent that
// works in the call.
func (d *decoder) toolOutput(v strictjson.Value, b *event.Batch) {
	known := d.callOf(v)
	d.toolReturned(known, b)
	if preliminary, _ := v.Get("preliminary").Bool(); preliminary {
		b.Add(event.KindToolProgress).CallID = d.name(v.Get("toolCallId"))
	} else if known.markEnded() {
		d.addResult(known, v, b).SetPayload(v.Get("output"))
	}
}

func (d *decoder) toolOutputError(v strictjson.Value, b *event.Batch) {
	known := d.callOf(v)
	if d.toolReturned(known, b); known.markEnded() {
		d.addToolError(known, v, b)
	}
}

// toolOutputDenied ends a call that a person did not allow. It reports nothing for a call of an earlier
// answer, which did not run in this one.
func (d *decoder) toolOutputDenied(v strictjson.Value, b *event.Batch) {
	known := d.callOf(v)
	if d.toolReturned(known, b); known != nil && known.markEnded() {
		d.addResult(known, v, b).Error = event.ToolError
	}
}

// madeIn returns the step whose model made a call, or nil if that is unknown. A nil call is of an earlier answer.
func (c *call) madeIn() *step {
	if c == nil {
		return nil
	}
	return c.step
}

// hasLeft reports whether the start of a call is known and left.
func (c *call) hasLeft() bool { return c != nil && !c.hidden }

// hasEnded reports whether a call has a result, or was refused at once.
func (c *call) hasEnded() bool { return c != nil && c.state == callEnded }

// markEnded ends a call and reports whether it was open. A nil call is of an earlier answer and counts as open.
func (c *call) markEnded() bool {
	if c == nil {
		return true
	}
	wasOpen := c.state != callEnded
	c.state = callEnded
	return wasOpen
}

func (d *decoder) addToolError(known *call, v strictjson.Value, b *event.Batch) {
	e := d.addResult(known, v, b)
	e.Error, e.Code = event.ToolError, wire.TextCode(v.Get("errorText").Text())
}

// addResult reports the end of a call. A result does not name the tool. The application decides
// whether the model is asked again.
func (d *decoder) addResult(known *call, v strictjson.Value, b *event.Batch) *event.Event {
	e := b.Add(event.KindToolEnded)
	e.CallID, e.TurnMayEnd = d.name(v.Get("toolCallId")), true
	if known != nil {
		e.Name = known.tool
	}
	return e
}
