package adk

import "github.com/delegraph/delegraph/collector/event"

// response is the state of a speaker's current or last model response.
type response struct {
	open        bool // partial frames arrived, but not the whole frame
	model       string
	lastUsage   event.Usage
	streamed    bool // partial frames preceded the last response
	mayContinue bool // the last response had no finish reason or was refused: a second frame of it may follow
	wasFinal    bool // the last response was a final answer

	suspended []response // responses that transferred control; an empty frame may end one when control returns
}

// lacksUsage reports whether whole frames of a streamed response arrived, but none with its usage or finish reason.
// A streaming Java server sends the thoughts and the text of a response like this, before the frame with the rest.
func (r *response) lacksUsage() bool {
	return !r.open && r.streamed && r.mayContinue && r.lastUsage == (event.Usage{})
}

// maxSuspended limits the remembered responses of a speaker that transferred control.
const maxSuspended = 64

// suspend remembers the last response, which transferred control. The speaker's next response may belong to
// another invocation. The remembered response may end after that.
func (r *response) suspend() {
	if len(r.suspended) < maxSuspended {
		r.suspended = append(r.suspended, response{lastUsage: r.lastUsage, streamed: r.streamed, mayContinue: r.mayContinue})
	}
}

// resume makes a suspended response the current one if an empty frame ends it. A streaming JavaScript server
// sends the empty frame after everything that the response caused, including other invocations of the
// agent.
func (r *response) resume(fr *frame) {
	if !fr.hasUsage || fr.partList.Len() > 0 || fr.repeats(r) || fr.continues(r) {
		return
	}
	for i := len(r.suspended) - 1; i >= 0; i-- {
		if earlier := r.suspended[i]; fr.repeats(&earlier) || fr.continues(&earlier) {
			earlier.model, earlier.suspended = r.model, r.suspended[:i]
			*r = earlier
			return
		}
	}
}

func placeKey(b *event.Batch) string {
	if b.Place == nil {
		return ""
	}
	return b.Place.Key
}

func (d *decoder) response(b *event.Batch) *response {
	key := placeKey(b)
	r := d.responses[key]
	if r == nil {
		r = &response{}
		if len(d.responses) < maxSpeakers {
			d.responses[key] = r
		}
	}
	return r
}

// speaker returns the response of an event's speaker, and sets followsSection.
func (d *decoder) speaker(fr *frame, b *event.Batch) *response {
	r := d.response(b)
	fr.followsSection = r == d.last && r.lacksUsage() && !fr.reportsFailure()
	d.last = r
	return r
}
