// Package filter decides what of a frame may leave, by the table of its dialect and the policy of its reader; in doubt, nothing.
package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Reason says why a frame stayed in; the values of the label `reason` of the frames withheld and dropped.
type Reason string

// The closed set of reasons.
const (
	Passed     Reason = ""
	Internal   Reason = "internal"   // the protocol calls it internal, or something in it does
	Unreadable Reason = "unreadable" // not strict JSON, over a limit, or not decoded
	Undecided  Reason = "undecided"  // no dialect was sure of it in time
	Unknown    Reason = "unknown"    // a type or a name that the table does not have
	Policy     Reason = "policy"     // the table keeps it from this reader
	Setting    Reason = "setting"    // the configuration keeps it in
	Empty      Reason = "empty"      // nothing of it was left
	Panic      Reason = "panic"      // a fault of ours
)

// Reasons lists them all.
func Reasons() []Reason {
	return []Reason{Internal, Unreadable, Undecided, Unknown, Policy, Setting, Empty, Panic}
}

// Settings narrow what a policy lets out; only StateKeys and Thoughts can widen it, by what they name.
type Settings struct {
	Policy    event.Policy
	In        []event.Kind // facts that may leave; nil: all
	Out       []event.Kind // facts that may not
	Authors   []string     // whose text may leave; nil: everybody's
	Thoughts  event.Verbosity
	Floor     float64  // a thought leaves only if it states a confidence of at least this; 0: any thought
	StateKeys []string // of session state, which may leave under the policy public
}

// Frame is what leaves of a batch. Data is borrowed from the batch or from the filter, until its next Apply.
type Frame struct {
	Name  string // the SSE event name, "" for none
	Data  []byte
	Kinds uint64 // a bit for each event.Kind that the frame shows
}

// Filter applies one policy. It is for one goroutine at a time.
type Filter struct {
	settings Settings
	hidden   [64]bool // by event.Kind
	encoder  encoder
}

// New makes a filter.
func New(s Settings) *Filter {
	f := &Filter{settings: s}
	for _, k := range event.Kinds() {
		f.hidden[k] = s.In != nil && !slices.Contains(s.In, k) || slices.Contains(s.Out, k)
	}
	f.encoder.filter = f
	return f
}

// Apply judges one frame: what leaves of it, or the reason why nothing does.
func (f *Filter) Apply(b *event.Batch) (frame Frame, why Reason) {
	defer func() {
		if recover() != nil {
			frame, why = Frame{}, Panic
		}
	}()
	if why := f.admit(b); why != Passed {
		return Frame{}, why
	}
	rules, known := b.Table.Types[b.Type]
	if !known {
		return Frame{}, Unknown
	}
	frame, why = f.leave(b, rules)
	if b.Table.Named {
		frame.Name = b.Type
	}
	return frame, why
}

// admit refuses what may leave under no policy.
func (f *Filter) admit(b *event.Batch) Reason {
	switch {
	case b.Internal || internal(b.Frame.Event):
		return Internal
	case b.Rejected == event.ReasonUnrecognised:
		return Undecided
	case b.Rejected != "" || b.JSON.Kind() != strictjson.Object:
		return Unreadable
	case b.Table == nil:
		return Undecided
	case !namedRight(b):
		return Unknown
	}
	return judge(b.Table, b.JSON)
}

// namedRight says whether the SSE event name is one that the protocol has for this frame.
func namedRight(b *event.Batch) bool {
	name := string(b.Frame.Event)
	if name == "" || b.Table.Named && name == b.Type {
		return true
	}
	return slices.Contains(b.Table.Events, name)
}

func (f *Filter) leave(b *event.Batch, rules event.Type) (Frame, Reason) {
	switch f.settings.Policy {
	case event.PolicyClient:
		if !rules.Client {
			return Frame{}, Policy
		}
		if !f.allows(b) {
			return Frame{}, Setting
		}
		return Frame{Data: b.Frame.Data, Kinds: kinds(b)}, Passed
	case event.PolicyPublic:
		if rules.Public == nil {
			return Frame{}, Policy
		}
		return f.encoder.encode(b, rules.Public)
	}
	return Frame{}, Policy
}

// allows says whether the settings let every fact of a frame out: a frame that leaves as it came leaves whole or not at all.
func (f *Filter) allows(b *event.Batch) bool {
	for i := range b.Events {
		switch e := &b.Events[i]; {
		case f.hidden[e.Kind]:
			return false
		case e.Kind == event.KindText && !f.author(b.Agent):
			return false
		case e.Kind == event.KindThought && !f.thought(b):
			return false
		}
	}
	return true
}

func (f *Filter) author(name string) bool {
	return f.settings.Authors == nil || slices.Contains(f.settings.Authors, name)
}

// thought says whether the thoughts of a frame may leave. Where a floor is set, none does that states no confidence.
func (f *Filter) thought(b *event.Batch) bool {
	if f.settings.Thoughts < event.ThoughtsDetailed {
		return false
	}
	stated := f.settings.Floor == 0
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind != event.KindConfidence || e.Confidence.Origin != event.OriginThought || !e.Confidence.Known {
			continue
		}
		if e.Confidence.Value < f.settings.Floor {
			return false
		}
		stated = true
	}
	return stated
}

// kinds marks the facts of a frame that leaves whole.
func kinds(b *event.Batch) uint64 {
	set := uint64(0)
	for i := range b.Events {
		set |= 1 << b.Events[i].Kind
	}
	if set == 0 {
		set = 1 << event.KindOther
	}
	return set
}
