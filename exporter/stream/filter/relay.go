package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// Counters are told what a relay kept in.
type Counters interface {
	Withheld(source string, why Reason)
	IDWithheld(source string)
}

// Relay writes what leaves of one agent's stream to the agent's own client, under the agent's own ids, since its clients resume
// there.
type Relay struct {
	filter   *Filter
	counters Counters
	named    bool // the client has an id in force
}

// NewRelay makes the relay of one stream.
func NewRelay(s Settings, counters Counters) *Relay {
	return &Relay{filter: New(s), counters: counters}
}

// Append appends what leaves of a frame, framed anew. A frame that is too large for the protocol's own client is replaced, and so is an
// error that cannot be read or that holds something internal, so that the client learns of it.
func (r *Relay) Append(dst []byte, b *event.Batch) []byte {
	frame, why := r.filter.Apply(b)
	if why != Passed {
		r.counters.Withheld(b.Stream.Source, why)
		instead := r.instead(b, why)
		if instead == "" {
			return dst
		}
		frame = Frame{Data: []byte(instead)}
		if b.Table.Named {
			frame.Name = b.Table.FailureType
		}
	}
	if slices.Contains(b.Table.Kept, string(b.Frame.Event)) {
		frame.Name = string(b.Frame.Event)
	}
	out := sse.Frame{ID: b.Frame.ID, Event: []byte(frame.Name), Data: frame.Data}
	if len(out.ID) > 0 && !plain(string(out.ID)) {
		r.counters.IDWithheld(b.Stream.Source)
		out.ID = nil
	}
	if r.named && len(out.ID) == 0 {
		dst = append(dst, "id\n\n"...) // the id before is no longer in force
	}
	r.named = len(out.ID) > 0
	dst, _ = sse.AppendFrame(dst, out) // the id is plain, the name one of the table's: there is no error to come
	return dst
}

// instead returns what takes the place of a frame that stays in, "" for nothing.
func (r *Relay) instead(b *event.Batch, why Reason) string {
	switch {
	case b.Rejected == event.ReasonTooLarge && b.Table != nil && r.filter.settings.Policy == event.PolicyClient:
		return b.Table.Oversize
	case why == Unreadable && failed(b), why == Internal && b.Refusal && b.Table != nil:
		return b.Table.Failure
	}
	return ""
}

// failed says whether a frame that cannot be read tells of a failure.
func failed(b *event.Batch) bool {
	if b.JSON.Exists() || b.Table == nil || b.Table.Failure == "" {
		return false
	}
	for i := range b.Events {
		if b.Events[i].Kind == event.KindError {
			return true
		}
	}
	return false
}

// plain says whether an id can be sent back by any client: 1 to 128 of [A-Za-z0-9._:-].
func plain(id string) bool {
	for _, c := range []byte(id) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > ':') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return len(id) > 0 && len(id) <= 128
}
