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
	withheld bool   // one of its frames was withheld or may have been
	reusesID bool   // an earlier call of the answer had the ID
	paused   bool   // the end of an answer has left it to the client

	repeatsError bool // its arguments were refused, and the error may follow as its result
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

func (d *decoder) anyCallWithheld() bool {
	return d.forgotCalls || slices.ContainsFunc(d.calls, func(known call) bool { return known.withheld })
}

// addCall adds a call and returns it. If there is no room, it first forgets the oldest ended call. It forgets a withheld call only if no
// other has ended. If no call has ended, it returns nil, and all later frames of the new call are withheld.
func (d *decoder) addCall(added call) *call {
	if len(d.calls) >= maxCalls {
		i := slices.IndexFunc(d.calls, func(known call) bool { return known.state == callEnded && !known.withheld })
		if i < 0 {
			i = slices.IndexFunc(d.calls, func(known call) bool { return known.state == callEnded })
			d.forgotCalls = true
		}
		if i < 0 {
			d.knownIDs.AddOwn(sharedCall(added.key).String())
			return nil
		}
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

// advance sets the state of the call that a frame starts or completes, and returns the call, or nil if there is no room for it. isAllowed is
// false if the frame must be withheld because of an earlier frame or the limit. It says nothing about marks in the frame itself, which the filter checks.
func (d *decoder) advance(v strictjson.Value, state callState) (known *call, isAllowed bool) {
	key := d.key(v.Get("toolCallId"))
	known = d.calls.byKey(key)
	isAllowed = known != nil && !known.withheld || known == nil && (d.withheld || !d.mayRepeatWithheld(key, state))
	started := call{key: key, id: d.name(v.Get("toolCallId")), tool: d.name(v.Get("toolName")), state: state, step: d.steps.current(), withheld: d.withheld || !isAllowed}
	if started.withheld {
		d.withhold(sharedCall(key))
	}
	switch {
	case known == nil:
		known = d.addCall(started)
		return known, isAllowed && known != nil
	case known.state == callEnded, state == callStreaming && known.state != callStreaming: // some models give each of their calls the same IDs
		started.reusesID = true
		*known = started
	default:
		known.state, known.withheld = state, started.withheld
	}
	return known, isAllowed
}

// mayRepeatWithheld reports whether a call that begins may have begun in a withheld frame.
func (d *decoder) mayRepeatWithheld(key string, state callState) bool {
	s := sharedCall(key)
	return d.isWithheldElsewhere(s) || d.forgotCalls && d.knownIDs.Contains(s.String()) || state != callStreaming && d.missed.calls
}

// continueCall returns the call of a frame, or nil if an earlier answer made the call. isAllowed is
// false if the frame must be withheld because of an earlier frame. If the filter withholds the frame itself, later frames of the call are withheld too.
func (d *decoder) continueCall(v strictjson.Value) (known *call, isAllowed bool) {
	key := d.key(v.Get("toolCallId"))
	known = d.calls.byKey(key)
	missed := known == nil && d.mayBeWithheld(sharedCall(key))
	if d.withheld || missed {
		d.withhold(sharedCall(key))
	}
	if known != nil {
		isAllowed = !known.withheld
		known.withheld = known.withheld || d.withheld
		return known, isAllowed
	}
	if d.withheld {
		d.addCall(call{key: key, state: callEnded, withheld: true})
	}
	return nil, !missed && (key != "" || !d.anyCallWithheld())
}

func (d *decoder) toolInputStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	if _, isAllowed := d.advance(v, callStreaming); !isAllowed {
		b.Type = typeWithheldPiece
	}
}

func (d *decoder) toolInputDelta(v strictjson.Value, b *event.Batch) {
	known, isAllowed := d.continueCall(v)
	if d.continueResponse(known.madeIn(), b); !isAllowed {
		b.Type = typeWithheldPiece
	}
}

// toolInput starts a call whose arguments are now complete.
func (d *decoder) toolInput(v strictjson.Value, b *event.Batch) {
	known, isAllowed := d.advance(v, callRunning)
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
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
	known, isAllowed := d.advance(v, callEnded)
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
	if known == nil {
		return
	}
	d.endResponse(known.step, b)
	known.addStart(v, b)
	d.addToolError(known, v, b)
	known.repeatsError = true
}

func (c *call) addStart(v strictjson.Value, b *event.Batch) {
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name, e.ReusesID = c.id, c.tool, c.reusesID
	e.SetPayload(v.Get("input"))
}

// approvalRequest reports that a call waits for a person. Since 7.0 the server may decide by itself.
func (d *decoder) approvalRequest(v strictjson.Value, b *event.Batch) {
	known, isAllowed := d.continueCall(v)
	approval := d.key(v.Get("approvalId"))
	isAllowed = isAllowed && !d.isWithheldElsewhere(sharedApproval(approval))
	if d.withheld || !isAllowed {
		d.withhold(sharedApproval(approval))
	}
	if known != nil {
		known.approval, known.withheld = approval, known.withheld || !isAllowed
	}
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
	automatic, _ := v.Get("isAutomatic").Bool()
	if automatic || !isAllowed && known == nil || known != nil && known.state == callEnded {
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
	approval := d.key(v.Get("approvalId"))
	known := d.calls.byApproval(approval)
	if known == nil {
		if d.mayBeWithheld(sharedApproval(approval)) || d.anyCallWithheld() {
			b.Type = typeWithheldPiece
		}
		d.missedStart = d.missedStart || d.withheld // the call whose result follows is unknown
		return
	}
	if known.withheld {
		b.Type = typeWithheldPiece
	}
	if known.withheld = known.withheld || d.withheld; d.withheld {
		d.withhold(sharedCall(known.key))
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
	known, isAllowed := d.continueCall(v)
	d.toolReturned(known, b)
	preliminary, _ := v.Get("preliminary").Bool()
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
	switch {
	case !isAllowed && known == nil:
	case preliminary:
		b.Add(event.KindToolProgress).CallID = d.name(v.Get("toolCallId"))
	case known.markEnded():
		d.addResult(known, v, b).SetPayload(v.Get("output"))
	}
}

func (d *decoder) toolOutputError(v strictjson.Value, b *event.Batch) {
	known, isAllowed := d.continueCall(v)
	d.toolReturned(known, b)
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
	if (isAllowed || known != nil) && known.markEnded() {
		d.addToolError(known, v, b)
	}
	if known != nil {
		known.repeatsError = false
	}
}

// toolOutputDenied ends a call that a person did not allow. It reports nothing for a call of an earlier
// answer, which did not run in this one.
func (d *decoder) toolOutputDenied(v strictjson.Value, b *event.Batch) {
	known, isAllowed := d.continueCall(v)
	d.toolReturned(known, b)
	if !isAllowed {
		b.Type = typeWithheldPiece
	}
	if known != nil && known.markEnded() {
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
