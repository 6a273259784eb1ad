package filter

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// Counters counts the frames and ids that a relay withholds.
type Counters interface {
	CountWithheld(source string, why Reason)
	CountRemovedID(source string)
}

// Relay writes the filtered frames of one agent stream to the agent's own client. It keeps the
// agent's ids, because the clients resume with them.
type Relay struct {
	filter    *Filter
	counters  Counters
	lastHadID bool // the last frame sent had an id
}

// NewRelay returns a Relay for one stream.
func NewRelay(s Settings, counters Counters) *Relay {
	return &Relay{filter: New(s), counters: counters}
}

// Append appends the filtered frame of a batch as a new SSE frame. Some withheld frames are replaced, so that the client learns of them:
// failures, and under the policy client a frame over a size limit.
func (r *Relay) Append(dst []byte, b *event.Batch) []byte {
	frame, why := r.filter.Apply(b)
	if why != Passed {
		r.counters.CountWithheld(b.Stream.Source, why)
		if frame = r.replacement(b, why); len(frame.Data) == 0 {
			return dst
		}
	}
	if why == Passed && (b.Table.TypeIsEventName || r.keepsEvent(b)) || slices.Contains(b.Table.KeptEvents, string(b.Frame.Event)) {
		frame.Name = string(b.Frame.Event)
	}
	out := sse.Frame{ID: b.Frame.ID, Event: []byte(frame.Name), Data: frame.Data, Unended: b.Frame.Unended}
	if len(out.ID) > 0 && !isPlainID(string(out.ID)) {
		r.counters.CountRemovedID(b.Stream.Source)
		out.ID = nil
	}
	if r.lastHadID && len(out.ID) == 0 {
		dst = append(dst, "id\n\n"...) // clears the client's last event id
	}
	r.lastHadID = len(out.ID) > 0
	dst, _ = sse.AppendFrame(dst, out) // no error: the id is plain, and the name is valid by hasValidName or from the table
	return dst
}

// keepsEvent reports whether a frame that passes keeps its SSE event name, whatever it is. A name with NUL cannot be sent.
func (r *Relay) keepsEvent(b *event.Batch) bool {
	return b.Table.KeepEvents && r.filter.settings.Policy == event.PolicyClient && bytes.IndexByte(b.Frame.Event, 0) < 0
}

// AppendID appends a block without data that sets the client's last event ID. An ID that is empty, or that some clients cannot send
// back, clears it.
func (r *Relay) AppendID(dst, id []byte) []byte {
	switch {
	case isPlainID(string(id)):
		r.lastHadID = true
		dst = append(append(dst, "id: "...), id...)
		return append(dst, "\n\n"...)
	case r.lastHadID:
		r.lastHadID = false
		dst = append(dst, "id\n\n"...)
	}
	return dst
}

// replacement returns the frame that replaces a withheld one. It has no data if there is none.
func (r *Relay) replacement(b *event.Batch, why Reason) Frame {
	isOversize := b.Rejected == event.ReasonTooLarge && b.Table != nil && r.filter.settings.Policy == event.PolicyClient
	if isOversize && why != ReasonInternal && (!b.JSON.Exists() || r.filter.checkNames(b) != ReasonInternal) {
		return errorFrame(b.Table, b.Table.OversizeData)
	}
	return FailureFrame(b, why)
}

// FailureFrame returns the frame that replaces a withheld failure, so that readers do not take the run for a completed one. why is the
// reason that Apply returned. Only a frame that was withheld as unreadable, internal or unknown is replaced. If b is no such failure,
// the result has no data.
func FailureFrame(b *event.Batch, why Reason) Frame {
	isUnreadable := why == ReasonUnreadable && !b.JSON.Exists() && statedKinds(b)&kindBit(event.KindError) != 0
	if b.Table == nil || !isUnreadable && (why != ReasonInternal && why != ReasonUnknown || !b.StreamError && !failsRun(b)) {
		return Frame{}
	}
	return errorFrame(b.Table, b.Table.FailureData)
}

// failsRun reports whether a frame is an error or ends a run in a failure. An error code in an ordinary frame does not count, because
// the run may recover. A canceled run has not failed.
func failsRun(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool {
		return (e.Kind == event.KindError && !e.Inline || e.Kind == event.KindRunEnded && e.Error != event.NoFailure) && e.Error != event.FailureCanceled
	})
}

// errorFrame returns an error frame with data from the table.
func errorFrame(t *event.Table, data string) Frame {
	frame := Frame{Data: []byte(data), Kinds: kindBit(event.KindError)}
	if t.TypeIsEventName || t.Namespaces {
		frame.Name = t.FailureType
	}
	return frame
}

// isPlainID reports whether any client can send the id back: 1 to 128 of [A-Za-z0-9._:-].
func isPlainID(id string) bool {
	for _, c := range []byte(id) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > ':') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return len(id) > 0 && len(id) <= 128
}
