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
	id, tool string
	state    callState
	step     *step  // whose model makes it, or nil if that is unknown
	approval string // ID of the request for a person's decision, or ""
	withheld bool   // one of its frames was withheld
}

type callState uint8

const (
	callStreaming callState = iota // the model is writing its arguments
	callRunning
	callAsking // waits for a person's decision
	callEnded
)

// calls holds the calls of an answer, in the order in which they started.
type calls []call

func (c calls) byID(id string) *call {
	if i := slices.IndexFunc(c, func(known call) bool { return known.id == id }); i >= 0 {
		return &c[i]
	}
	return nil
}

func (c calls) anyStreaming() bool {
	return slices.ContainsFunc(c, func(known call) bool { return known.state == callStreaming && !known.withheld })
}

func (c calls) anyWithheld() bool {
	return slices.ContainsFunc(c, func(known call) bool { return known.withheld })
}

// makeRoom reports whether there is room for another call. If there is none, it first forgets the oldest call that has
// ended and is not withheld.
func (c *calls) makeRoom() bool {
	if len(*c) < maxCalls {
		return true
	}
	i := slices.IndexFunc(*c, func(known call) bool { return known.state == callEnded && !known.withheld })
	if i < 0 {
		return false
	}
	*c = slices.Delete(*c, i, i+1)
	return true
}

// pending returns the calls that run at the end of the answer. The client has to execute them.
func (c calls) pending() (ids []string) {
	for _, known := range c {
		if known.state == callRunning && !known.withheld && len(ids) < maxPending {
			ids = append(ids, known.id)
		}
	}
	return ids
}

// advance sets the state of the call that a frame names, and returns its ID. leaves is false if the frame must be
// withheld: an earlier frame of the call was withheld, or there is no room for the call.
func (d *decoder) advance(v strictjson.Value, state callState) (id string, leaves bool) {
	id = d.name(v.Get("toolCallId"))
	known := d.calls.byID(id)
	if d.withheld {
		d.withhold(sharedCall(id))
	}
	switch {
	case known != nil && known.withheld:
		known.state = state
		return id, false
	case known != nil:
		known.state, known.withheld = state, d.withheld
	case !d.withheld && d.isWithheldElsewhere(sharedCall(id)), !d.calls.makeRoom():
		return id, false
	case state != callStreaming && d.missed.calls:
		d.withhold(sharedCall(id))
		return id, false
	default:
		d.calls = append(d.calls, call{id: id, tool: d.name(v.Get("toolName")), state: state, step: d.steps.current(), withheld: d.withheld})
	}
	return id, true
}

// continueCall returns the call of a frame, or nil if an earlier answer made the call. leaves says whether the
// frame may leave. If the filter withholds the frame, later frames of the call are withheld too.
func (d *decoder) continueCall(v strictjson.Value) (known *call, leaves bool) {
	id := d.name(v.Get("toolCallId"))
	known = d.calls.byID(id)
	missed := known == nil && d.mayBeWithheld(sharedCall(id))
	if d.withheld || missed {
		d.withhold(sharedCall(id))
	}
	if known != nil {
		leaves = !known.withheld
		known.withheld = known.withheld || d.withheld
		return known, leaves
	}
	hasRoom := d.calls.makeRoom()
	leaves = !missed && hasRoom && (id != "" || !d.calls.anyWithheld())
	if d.withheld && hasRoom {
		d.calls = append(d.calls, call{id: id, state: callEnded, withheld: true})
	}
	return nil, leaves
}

func (d *decoder) toolInputStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	if _, leaves := d.advance(v, callStreaming); !leaves {
		b.Type = typeOrphan
	}
}

func (d *decoder) toolInputDelta(v strictjson.Value, b *event.Batch) {
	known, leaves := d.continueCall(v)
	if d.continueResponse(known.madeIn(), b); !leaves {
		b.Type = typeOrphan
	}
}

// toolInput starts a call whose arguments are now complete.
func (d *decoder) toolInput(v strictjson.Value, b *event.Batch) {
	id, leaves := d.advance(v, callRunning)
	known := d.calls.byID(id)
	if !leaves {
		b.Type = typeOrphan
	}
	if known == nil {
		return
	}
	made := known.madeIn()
	if byProvider, _ := v.Get("providerExecuted").Bool(); byProvider {
		d.continueResponse(made, b) // the response goes on with the result
	} else {
		d.endResponse(made, b)
	}
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = id, d.name(v.Get("toolName"))
	e.SetPayload(v.Get("input"))
}

// toolInputError reports a call that was refused, because the tool does not exist or the arguments do not
// fit. The SDK repeats the error as the call's result; pydantic-ai does not.
func (d *decoder) toolInputError(v strictjson.Value, b *event.Batch) {
	id, leaves := d.advance(v, callEnded)
	known := d.calls.byID(id)
	if !leaves {
		b.Type = typeOrphan
	}
	if known == nil {
		return
	}
	d.endResponse(known.madeIn(), b)
	started := b.Add(event.KindToolStarted)
	started.CallID, started.Name = id, d.name(v.Get("toolName"))
	started.SetPayload(v.Get("input"))
	d.addToolError(id, v, b)
}

// approvalRequest reports that a call waits for a person. Since 7.0 the server may decide by itself.
func (d *decoder) approvalRequest(v strictjson.Value, b *event.Batch) {
	known, leaves := d.continueCall(v)
	approval := d.name(v.Get("approvalId"))
	leaves = leaves && !d.isWithheldElsewhere(sharedApproval(approval))
	if d.withheld || !leaves {
		d.withhold(sharedApproval(approval))
	}
	if !leaves {
		b.Type = typeOrphan
		return
	}
	if known != nil {
		known.approval = approval
	}
	if automatic, _ := v.Get("isAutomatic").Bool(); automatic {
		return
	}
	if known != nil {
		known.state = callAsking
	}
	b.Add(event.KindToolPaused).CallID = d.name(v.Get("toolCallId"))
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = approval, event.InputConfirmation
}

// approvalResponse reports the answer to a request of this answer.
func (d *decoder) approvalResponse(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("approvalId"))
	missed := d.mayBeWithheld(sharedApproval(id)) || d.calls.anyWithheld()
	switch i := slices.IndexFunc(d.calls, func(known call) bool { return id != "" && known.approval == id }); {
	case i < 0 && missed, i >= 0 && d.calls[i].withheld:
		b.Type = typeOrphan
	case i >= 0:
		if d.calls[i].state == callAsking {
			b.Add(event.KindInputAnswered).CallID = id
		}
		d.calls[i].state, d.calls[i].withheld = callRunning, d.withheld
	}
}

// toolOutput ends a call. A preliminary result is only progress, such as the message of another agent that
// works in the call.
func (d *decoder) toolOutput(v strictjson.Value, b *event.Batch) {
	known, leaves := d.continueCall(v)
	d.toolReturned(known.madeIn(), b)
	id := d.name(v.Get("toolCallId"))
	preliminary, _ := v.Get("preliminary").Bool()
	if !leaves {
		b.Type = typeOrphan
	}
	switch {
	case !leaves && known == nil:
	case preliminary:
		b.Add(event.KindToolProgress).CallID = id
	case known.end():
		d.addResult(id, b).SetPayload(v.Get("output"))
	}
}

func (d *decoder) toolOutputError(v strictjson.Value, b *event.Batch) {
	known, leaves := d.continueCall(v)
	d.toolReturned(known.madeIn(), b)
	if !leaves {
		b.Type = typeOrphan
	}
	if (leaves || known != nil) && known.end() {
		d.addToolError(d.name(v.Get("toolCallId")), v, b)
	}
}

// toolOutputDenied ends a call that a person did not allow. It reports nothing for a call of an earlier
// answer, which did not run in this one.
func (d *decoder) toolOutputDenied(v strictjson.Value, b *event.Batch) {
	known, leaves := d.continueCall(v)
	d.toolReturned(known.madeIn(), b)
	if !leaves {
		b.Type = typeOrphan
	}
	if known != nil && known.end() {
		d.addResult(known.id, b).Error = event.ToolError
	}
}

// madeIn returns the step whose model made a call, or nil if that is unknown. A nil call is of an earlier answer.
func (c *call) madeIn() *step {
	if c == nil {
		return nil
	}
	return c.step
}

// end ends a call and reports whether it was open. A nil call is of an earlier answer and counts as open.
func (c *call) end() bool {
	if c == nil {
		return true
	}
	wasOpen := c.state != callEnded
	c.state = callEnded
	return wasOpen
}

func (d *decoder) addToolError(id string, v strictjson.Value, b *event.Batch) {
	e := d.addResult(id, b)
	e.Error, e.Code = event.ToolError, wire.TextCode(v.Get("errorText").Text())
}

// addResult reports the end of a call. A result does not name the tool. The application decides
// whether the model is asked again.
func (d *decoder) addResult(id string, b *event.Batch) *event.Event {
	e := b.Add(event.KindToolEnded)
	e.CallID, e.TurnMayEnd = id, true
	if known := d.calls.byID(id); known != nil {
		e.Name = known.tool
	}
	return e
}
