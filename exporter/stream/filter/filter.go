// Package filter decides what of a frame may leave, by the table of its dialect and the policy of its reader; in doubt, nothing.
package filter

import (
	"slices"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/recovery"
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

// Settings narrow what a policy lets out; only StateKeys, Thoughts and the name "user" among Authors can widen it, by what they
// name. A fact that may not leave keeps a whole frame in under the policy client. Under public it keeps in the value that states
// it; a fact that no value states, such as KindFinal, is nothing that could stay in.
type Settings struct {
	Policy    event.Policy
	In        []event.Kind // facts that may leave; nil: all
	Out       []event.Kind // facts that may not
	Authors   []string     // agents whose text and thoughts may leave, and "user"; nil: all agents, and under the policy client the user
	Thoughts  event.Verbosity
	Floor     float64  // a thought leaves only if it states a confidence of at least this; 0: any thought
	StateKeys []string // of session state, which may leave under the policy public

	Panics *recovery.Recorder // nil recovers panics without a record
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
	hidden   uint64 // a bit for each event.Kind that the settings keep in
	encoder  encoder

	table  *event.Table // of the last frame
	glance generous.Glance
}

// New makes a filter.
func New(s Settings) *Filter {
	f := &Filter{settings: s}
	for _, k := range event.Kinds() {
		if s.In != nil && !slices.Contains(s.In, k) || slices.Contains(s.Out, k) {
			f.hidden |= bit(k)
		}
	}
	f.encoder.stateKeys = s.StateKeys
	return f
}

// Apply judges one frame: what leaves of it, or the reason why nothing does.
func (f *Filter) Apply(b *event.Batch) (frame Frame, why Reason) {
	defer f.settings.Panics.Recover(recovery.Filter, func() { frame, why = Frame{}, Panic })
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
	case b.Internal || generous.Internal(b.Frame.Event):
		return Internal
	case b.Rejected == event.ReasonUnrecognised || b.Rejected == event.ReasonForeign:
		return Undecided
	case b.Rejected != "" || b.JSON.Kind() != strictjson.Object && !isText(b):
		return Unreadable
	case b.Table == nil:
		return Undecided
	case !namedRight(b):
		return Unknown
	case isText(b):
		return Passed // what text says is text, whatever it looks like
	}
	return f.judge(b.Table, b.JSON)
}

// isText says whether a frame's data is text, of a type that has text.
func isText(b *event.Batch) bool {
	return b.Table != nil && b.Table.Types[b.Type].Text && utf8.Valid(b.Frame.Data)
}

// namedRight says whether the SSE event name is one that the protocol has for this frame.
func namedRight(b *event.Batch) bool {
	name := string(b.Frame.Event)
	if name == "" || b.Table.Unnamed || b.Table.Named && name == b.Type {
		return true
	}
	return slices.Contains(b.Table.Events, name)
}

func (f *Filter) leave(b *event.Batch, rules event.Type) (Frame, Reason) {
	switch {
	case rules.Text != isText(b):
		return Frame{}, Unreadable
	case rules.Text:
		return f.leaveText(b, rules)
	}
	switch f.settings.Policy {
	case event.PolicyClient:
		return f.leaveClient(b, rules)
	case event.PolicyPublic:
		if rules.Public == nil {
			return Frame{}, Policy
		}
		f.encoder.hidden = f.withheld(b)
		if f.repeats(b, rules) {
			f.encoder.hidden |= bit(event.KindText) | bit(event.KindThought)
		}
		return f.encoder.encode(b, rules.Public)
	}
	return Frame{}, Policy
}

// leaveText lets text out as it came, or what is to stand in its place.
func (f *Filter) leaveText(b *event.Batch, rules event.Type) (Frame, Reason) {
	data, facts := b.Frame.Data, stated(b)
	if rules.Public != nil {
		facts |= bit(rules.Public.Fact)
	}
	switch f.settings.Policy {
	case event.PolicyClient:
		if !rules.Client {
			return Frame{}, Policy
		}
	case event.PolicyPublic:
		if rules.Public == nil {
			return Frame{}, Policy
		}
		switch {
		case rules.Public.Instead != "":
			data = []byte(rules.Public.Instead)
		case !isOf(rules.Public.Form, data) && !slices.Contains(rules.Public.Values, string(data)):
			return Frame{}, Empty
		}
	default:
		return Frame{}, Policy
	}
	if f.withheld(b)&facts != 0 {
		return Frame{}, Setting
	}
	if len(data) > 0 && f.repeats(b, rules) {
		if f.settings.Policy == event.PolicyClient {
			return Frame{}, Setting
		}
		data = nil // the frame may end a run, so it leaves without its text
	}
	return Frame{Data: data, Kinds: kinds(b)}, Passed
}

// withheld are the facts that may not leave in this frame: those that the settings keep in, and text and thoughts where these
// may not.
func (f *Filter) withheld(b *event.Batch) uint64 {
	hidden := f.hidden
	if !f.text(b) {
		hidden |= bit(event.KindText)
	}
	if !f.thought(b) {
		hidden |= bit(event.KindThought)
	}
	return hidden
}

// shown are the facts that a frame shows: those that its decoder states, and those that the table finds in it, as a reader might
// who is more generous than the decoder.
func (f *Filter) shown(b *event.Batch, rules event.Type) uint64 {
	shown := stated(b)
	if rules.Public != nil {
		shown |= f.encoder.find(b, rules.Public)
	}
	return orOther(shown)
}

// user is the name of the human among the authors of Settings.
const user = "user"

// text says whether the text of a frame may leave. A decoder states text only where it belongs to an answer: what else there is
// may be the user's own words, and those of nobody else where no agent is named.
func (f *Filter) text(b *event.Batch) bool {
	answer, client := stated(b)&bit(event.KindText) != 0, f.settings.Policy == event.PolicyClient
	if f.settings.Authors == nil {
		return answer || client
	}
	if b.Agent == "" && !answer {
		return slices.Contains(f.settings.Authors, user)
	}
	return slices.Contains(f.settings.Authors, b.Agent) && (answer || client)
}

// thought says whether the thoughts of a frame may leave. Where a floor is set, none does that states no confidence.
func (f *Filter) thought(b *event.Batch) bool {
	authors := f.settings.Authors
	return (authors == nil || slices.Contains(authors, b.Agent)) && f.sure(b)
}

// sure reports whether the thoughts of a frame are brief and certain enough to leave, whoever has them.
func (f *Filter) sure(b *event.Batch) bool {
	if f.settings.Thoughts < detail(b) {
		return false
	}
	sure := f.settings.Floor == 0
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind != event.KindConfidence || e.Confidence.Origin != event.OriginThought || !e.Confidence.Known {
			continue
		}
		if e.Confidence.Value < f.settings.Floor {
			return false
		}
		sure = true
	}
	return sure
}

// detail is how detailed the thoughts of a frame are: the most, where one does not say.
func detail(b *event.Batch) event.Verbosity {
	most := event.ThoughtsNone
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == event.KindThought {
			if e.Verbosity == event.ThoughtsNone {
				return event.ThoughtsDetailed
			}
			most = max(most, e.Verbosity)
		}
	}
	if most == event.ThoughtsNone {
		return event.ThoughtsDetailed // a thought that only a more generous reader finds
	}
	return most
}

func bit(k event.Kind) uint64 { return 1 << k }

// stated are the facts that a frame's decoder states.
func stated(b *event.Batch) (facts uint64) {
	for i := range b.Events {
		facts |= bit(b.Events[i].Kind)
	}
	return facts
}

// kinds are the facts of a frame that leaves whole.
func kinds(b *event.Batch) uint64 { return orOther(stated(b)) }

// orOther is for frames without a fact.
func orOther(facts uint64) uint64 {
	if facts == 0 {
		return bit(event.KindOther)
	}
	return facts
}
