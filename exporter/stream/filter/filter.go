// Package filter decides what part of a frame may be sent to a reader, by the table of the frame's
// dialect and the reader's policy. In doubt, nothing is sent.
//
// The policy client removes internal parts from a frame and sends the rest as it is. The policy public
// writes a new frame of the values that a rule of the table (event.Rule) allows.
//
// The settings may exclude facts by their kind (event.Kind). A frame states the facts that its
// decoder reports. A client that reads less strictly may find more facts in it, such as thoughts.
// Package lenient finds what such a client finds, and the settings apply to these facts too.
package filter

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Reason says why a frame was withheld. Its values are the values of the label `reason` in the
// metrics of withheld and dropped frames.
type Reason string

// The possible reasons.
const (
	Passed           Reason = ""
	ReasonInternal   Reason = "internal"   // the protocol marks the frame or something in it as internal
	ReasonUnreadable Reason = "unreadable" // not strict JSON, over a limit, or not decoded
	ReasonUndecided  Reason = "undecided"  // no dialect recognized the stream in time
	ReasonUnknown    Reason = "unknown"    // the table does not list the frame's type or a name in it
	ReasonPolicy     Reason = "policy"     // the table does not allow the type under this policy
	ReasonSetting    Reason = "setting"    // the configuration excludes the frame
	ReasonEmpty      Reason = "empty"      // nothing in the frame may pass
	ReasonPanic      Reason = "panic"      // the filter panicked
)

// Reasons lists every reason for withholding a frame.
func Reasons() []Reason {
	return []Reason{ReasonInternal, ReasonUnreadable, ReasonUndecided, ReasonUnknown, ReasonPolicy, ReasonSetting, ReasonEmpty, ReasonPanic}
}

// Settings narrow what a policy allows by default. Only StateKeys, Thoughts and the name "user" in
// Authors can widen it. Under client, a frame with an excluded kind is withheld. Under public, only
// the value that states it is. If no value states it, as with KindFinal, the frame leaves with its other
// facts, or is withheld if it has none.
type Settings struct {
	Policy        event.Policy
	Include       []event.Kind    // event kinds that may pass; nil: all
	Exclude       []event.Kind    // event kinds that may not pass
	Authors       []string        // agents whose text and thoughts may pass, and "user"; nil: all agents, and under the policy client also the user
	Thoughts      event.Verbosity // the most detailed thoughts that may pass; zero: none
	MinConfidence float64         // a thought passes only if it states at least this confidence; 0: any thought passes
	StateKeys     []string        // session state keys that may pass under the policy public

	Panics *recovery.Recorder // nil recovers panics without a record
}

// Frame is the part of a batch that may pass. Data belongs to the batch or the filter, and is valid
// until the next Apply.
type Frame struct {
	Name  string // the SSE event name; "" for none
	Data  []byte
	Kinds uint64 // one bit per event.Kind that the frame shows
}

// Filter applies one policy. It must not be used concurrently.
type Filter struct {
	settings     Settings
	alwaysHidden uint64 // one bit per event.Kind that the settings exclude
	encoder      encoder

	table     *event.Table // of the last frame
	prefilter *lenient.Prefilter
}

// New returns a Filter.
func New(s Settings) *Filter {
	f := &Filter{settings: s}
	for _, k := range event.Kinds() {
		if s.Include != nil && !slices.Contains(s.Include, k) || slices.Contains(s.Exclude, k) {
			f.alwaysHidden |= kindBit(k)
		}
	}
	f.encoder.stateKeys = s.StateKeys
	return f
}

// Apply returns the part of a frame that may pass, or the reason why it is withheld.
func (f *Filter) Apply(b *event.Batch) (frame Frame, why Reason) {
	defer f.settings.Panics.Recover(recovery.Filter, func() { frame, why = Frame{}, ReasonPanic })
	if why := f.checkAdmission(b); why != Passed {
		return Frame{}, why
	}
	rules, known := b.Table.Types[b.Type]
	if !known {
		return Frame{}, ReasonUnknown
	}
	frame, why = f.applyPolicy(b, rules)
	switch {
	case b.Table.TypeIsEventName:
		frame.Name = b.Type
	case b.Table.Namespaces:
		frame.Name = string(b.Frame.Event)
	}
	return frame, why
}

// checkAdmission returns the reason why a frame may not pass under any policy, or Passed.
func (f *Filter) checkAdmission(b *event.Batch) Reason {
	switch {
	case b.Internal || lenient.IsInternal(b.Frame.Event):
		return ReasonInternal
	case b.Rejected == event.ReasonUnrecognized || b.Rejected == event.ReasonForeign:
		return ReasonUndecided
	case b.Rejected != "" || b.JSON.Kind() != strictjson.Object && !isTextFrame(b) && !isAnyJSONFrame(b):
		return ReasonUnreadable
	case b.Table == nil:
		return ReasonUndecided
	case !hasValidName(b):
		return ReasonUnknown
	case isTextFrame(b):
		return Passed // text is never parsed, even if it looks like JSON
	}
	return f.checkNames(b)
}

// checkNames returns ReasonInternal if the frame, or a frame within it, is marked as internal. It
// returns ReasonUnknown if one of them has a name that the table does not list, else Passed.
func (f *Filter) checkNames(b *event.Batch) Reason {
	if f.table != b.Table {
		f.table, f.prefilter = b.Table, lenient.NewPrefilter(b.Table)
	}
	switch lenient.CheckNames(b, f.prefilter) {
	case event.NamesInternal:
		return ReasonInternal
	case event.NamesUnknown:
		return ReasonUnknown
	}
	return Passed
}

// isTextFrame reports whether the frame's data is text and its type allows that.
func isTextFrame(b *event.Batch) bool {
	return b.Table != nil && b.Table.Types[b.Type].Text && utf8.Valid(b.Frame.Data)
}

// isAnyJSONFrame reports whether the frame's data is JSON and its type allows any value.
func isAnyJSONFrame(b *event.Batch) bool {
	return b.Table != nil && b.Table.Types[b.Type].AnyJSON && b.JSON.Exists()
}

// hasValidName reports whether the protocol allows the SSE event name for this frame.
func hasValidName(b *event.Batch) bool {
	name := string(b.Frame.Event)
	switch {
	case name == "" || b.Table.IgnoreEventName:
		return true
	case b.Table.TypeIsEventName:
		return name == b.Type
	case !b.Table.Namespaces:
		return b.Table.AllowsEvent(b.Frame.Event)
	}
	head, path, _ := strings.Cut(name, "|")
	for segment := range strings.SplitSeq(path, "|") {
		if !utf8.ValidString(segment) || !hasForm(event.FormName, []byte(segment)) {
			return false
		}
	}
	return hasForm(event.FormName, []byte(head)) && b.Table.AllowsEvent([]byte(head))
}

func (f *Filter) applyPolicy(b *event.Batch, rules event.Type) (Frame, Reason) {
	switch {
	case rules.Text != isTextFrame(b):
		return Frame{}, ReasonUnreadable
	case rules.Text:
		return f.applyText(b, rules)
	}
	switch f.settings.Policy {
	case event.PolicyClient:
		return f.applyClient(b, rules)
	case event.PolicyPublic:
		if rules.Public == nil {
			return Frame{}, ReasonPolicy
		}
		f.encoder.hiddenKinds = f.hiddenKinds(b)
		if f.excludesAuthorOf(b, b.JSON) { // the state may contain the author's words
			f.encoder.hiddenKinds |= kindBit(event.KindState)
		}
		if f.hasExcludedWords(b, rules) {
			f.encoder.hiddenKinds |= kindBit(event.KindText) | kindBit(event.KindThought)
		}
		return f.encoder.encode(b, rules.Public)
	}
	return Frame{}, ReasonPolicy
}

// Excludes reports whether the settings exclude all facts of a frame.
func (f *Filter) Excludes(frame Frame) bool { return frame.Kinds&^f.alwaysHidden == 0 }

// excludesAnything reports whether the settings exclude a fact of any kind under the policy client.
func (f *Filter) excludesAnything() bool {
	s := &f.settings
	return f.alwaysHidden != 0 || s.Authors != nil || s.Thoughts != event.ThoughtsDetailed || s.MinConfidence != 0
}

// hiddenKinds returns the kinds that may not pass in this frame: those that the settings exclude,
// and text and thoughts if their author or confidence does not allow them.
func (f *Filter) hiddenKinds(b *event.Batch) uint64 {
	hidden := f.alwaysHidden
	if !f.mayShowText(b) {
		hidden |= kindBit(event.KindText)
	}
	if !f.mayShowThoughts(b) {
		hidden |= kindBit(event.KindThought)
	}
	if f.excludesAnyAuthor(b.InputAuthors) {
		hidden |= kindBit(event.KindInputRequested)
	}
	return hidden
}

// shownKinds returns the kinds that a frame shows: those that the decoder found, and those that a lenient reader might
// find by the rules of the frame's type.
func (f *Filter) shownKinds(b *event.Batch, rules event.Type) uint64 {
	shown := statedKinds(b)
	if b.HasThoughts || lenient.ContainsThoughtMarker(b.JSON) {
		shown |= kindBit(event.KindThought)
	}
	if rules.Public != nil {
		shown |= f.encoder.findKinds(b, rules.Public)
	}
	for _, k := range rules.Shows {
		shown |= kindBit(k)
	}
	return orOtherKind(shown)
}

// userAuthor is the name of the user in Settings.Authors.
const userAuthor = "user"

// mayShowText reports whether the frame's text may pass. It is an answer if the decoder reports it
// or its type has Answer set. Other text is repeated or the user's: it counts as the user's if the
// frame names no agent.
func (f *Filter) mayShowText(b *event.Batch) bool {
	authors, client := f.settings.Authors, f.settings.Policy == event.PolicyClient
	isAnswer := statedKinds(b)&kindBit(event.KindText) != 0 || b.Table.Types[b.Type].Answer
	switch {
	case authors == nil:
		return isAnswer || client
	case f.excludesAuthorOf(b, b.JSON):
		return false
	case b.Agent == "" && !isAnswer:
		return slices.Contains(authors, userAuthor)
	}
	return slices.Contains(authors, b.Agent) && (isAnswer || client)
}

// mayShowThoughts reports whether the frame's thoughts may pass.
func (f *Filter) mayShowThoughts(b *event.Batch) bool {
	authors := f.settings.Authors
	return (authors == nil || slices.Contains(authors, b.Agent) && !f.excludesAuthorOf(b, b.JSON)) && f.thoughtsAllowed(b)
}

// excludesAuthorOf reports whether the settings exclude an author of an object (Batch.Authors).
func (f *Filter) excludesAuthorOf(b *event.Batch, object strictjson.Value) bool {
	return f.excludesAnyAuthor(b.Authors[object])
}

// excludesAnyAuthor reports whether the settings exclude one of the authors in names.
func (f *Filter) excludesAnyAuthor(names []string) bool {
	authors := f.settings.Authors
	return authors != nil && slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(authors, name) })
}

// thoughtsAllowed reports whether the verbosity and confidence of the frame's thoughts allow them
// to pass, regardless of their author. If a minimum is set, thoughts without a confidence do not
// pass.
func (f *Filter) thoughtsAllowed(b *event.Batch) bool {
	if f.settings.Thoughts < thoughtVerbosity(b) {
		return false
	}
	confident := f.settings.MinConfidence == 0
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind != event.KindConfidence || e.Confidence.Origin != event.OriginThought || !e.Confidence.Known {
			continue
		}
		if e.Confidence.Value < f.settings.MinConfidence {
			return false
		}
		confident = true
	}
	return confident
}

// thoughtVerbosity returns the verbosity of the frame's most detailed thought. A thought without a
// verbosity counts as detailed.
func thoughtVerbosity(b *event.Batch) event.Verbosity {
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
		return event.ThoughtsDetailed // a thought that only a lenient reader would find
	}
	return most
}

func kindBit(k event.Kind) uint64 { return 1 << k }

// statedKinds returns the event kinds that the frame's decoder found.
func statedKinds(b *event.Batch) (kinds uint64) {
	for i := range b.Events {
		kinds |= kindBit(b.Events[i].Kind)
	}
	return kinds
}

// unrepeatedKinds returns the kinds of the facts that a frame states. Text and thoughts that it only repeats do not count.
func unrepeatedKinds(b *event.Batch) uint64 {
	if b.Repeats {
		return statedKinds(b) &^ (kindBit(event.KindText) | kindBit(event.KindThought))
	}
	return statedKinds(b)
}

// wholeFrameKinds returns the kinds of a frame that passes whole.
func wholeFrameKinds(b *event.Batch) uint64 { return orOtherKind(unrepeatedKinds(b)) }

// orOtherKind returns kinds, or the bit of KindOther if kinds is empty.
func orOtherKind(kinds uint64) uint64 {
	if kinds == 0 {
		return kindBit(event.KindOther)
	}
	return kinds
}
