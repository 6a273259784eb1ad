package tracker

import "time"

// maxClockDoubt is the longest time between a request and the answer's first frame that can show whether the server's clock agrees
// with ours. Times that the server states may be wrong by as much.
const maxClockDoubt = time.Second

// noteClock compares the server's clock with ours: it must have been asked between our request and its answer. Its times are cut to
// milliseconds.
func (r *openRun) noteClock(asked time.Time) {
	sent, answered := r.Root.Started.At, r.now.At
	r.sharesClock = r.Live && r.isRequested && answered.Sub(sent) <= maxClockDoubt &&
		asked.Add(time.Millisecond).After(sent) && !asked.After(answered)
}

// startWhenAsked lets a response start when the server says that it has asked the model, unless that is before what must have caused
// the request, or after the response's first frame.
func (r *openRun) startWhenAsked(op *Operation, asked time.Time) {
	cause := op.Started.At
	if op.startUnknown {
		cause = r.Root.Started.At
	}
	if r.sharesClock && asked.After(cause) && !asked.After(r.now.At) {
		op.startAt(Timestamp{asked, op.Started.Frame})
		op.startUnknown, op.isAsked = false, true
	}
}
