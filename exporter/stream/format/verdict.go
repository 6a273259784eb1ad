package format

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// verdict notes what decides how a run stands at the end. Its rules are those of package tracker (V1 to V8 in docs/signals.md), as far as
// the frames of a reader show what they need.
type verdict struct {
	frame         int // ordinal of the frame at hand
	final, failed int // ordinals of the last final frame and of the last error, 0 without one
	failure       event.Failure
	failing       []string // branches in which a model failed and no final frame followed
	open          []string // calls and responses that have begun and not ended
	debts         []debt
	asked         []input
	paused        []string // calls that wait for a person
	pausedNow     []string // those that the frame at hand names
}

// debt is an agent that must be heard of again: a model that was given a result, or an agent that was handed control.
type debt struct {
	branch string
	from   string // the agent that handed control over, or "" for a result
}

const (
	maxAsked = 32  // questions of a run that are open, and calls that wait
	maxOpen  = 256 // of each of a run's open operations, debts and failures; those beyond are not missed at the end
)

// hear takes a frame: whoever speaks owes nothing in that branch, and has taken up the control that another agent handed over.
func (v *verdict) hear(b *event.Batch) {
	v.frame++
	v.pausedNow = v.pausedNow[:0]
	if b.Partial || b.Agent == "" && !has(b, event.KindModelEnded) && !has(b, event.KindText) {
		return
	}
	v.debts = slices.DeleteFunc(v.debts, func(d debt) bool { return d.branch == b.Branch || d.from != "" && d.from != b.Agent })
}

// take notes what a fact of the frame at hand says of how the run stands.
func (v *verdict) take(b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindFinal:
		v.answered(b)
	case event.KindError:
		v.fail(b, e)
	case event.KindModelStarted:
		v.begin("model " + b.Branch + " " + b.Agent)
	case event.KindModelEnded:
		v.end("model " + b.Branch + " " + b.Agent)
	case event.KindToolStarted:
		v.begin(callKey(e))
		if e.LongRunning {
			v.ask(input{ID: e.CallID, Kind: event.InputTool, by: b.Agent})
		}
	case event.KindToolEnded:
		v.toolEnded(b, e)
	case event.KindTransfer:
		v.owe(debt{b.Branch, b.Agent})
	case event.KindInputRequested:
		asked := inputOf(e).kept()
		asked.by = b.Agent
		v.ask(asked)
	case event.KindInputAnswered:
		v.answer(e.CallID)
	case event.KindToolPaused:
		v.pausedNow = append(v.pausedNow, e.CallID)
		if len(v.paused) < maxAsked && !slices.Contains(v.paused, e.CallID) {
			v.paused = append(v.paused, e.CallID)
		}
	case event.KindRunEnded:
		if e.Error == event.NoFailure {
			v.final = v.frame
		} else {
			v.failed, v.failure = v.frame, e.Error
		}
	}
}

// answered notes a final frame. It ends the calls that invoked its agent, makes up for errors in its branch and below, and does without
// what the agent has acknowledged itself.
func (v *verdict) answered(b *event.Batch) {
	v.final = v.frame
	for _, call := range callsOf(b.Branch) { // a call that is an agent's invocation may have no other answer
		v.end("call " + call)
	}
	v.failing = slices.DeleteFunc(v.failing, func(lane string) bool {
		return b.Branch == "" || lane == b.Branch || strings.HasPrefix(lane, b.Branch+".")
	})
	v.asked = slices.DeleteFunc(v.asked, func(in input) bool { return in.pending && in.by == b.Agent })
}

func (v *verdict) fail(b *event.Batch, e *event.Event) {
	v.failed, v.failure = v.frame, e.Error
	if v.failure == event.NoFailure {
		v.failure = event.OtherFailure
	}
	if e.FromCode && len(v.failing) < maxOpen && !slices.Contains(v.failing, b.Branch) {
		v.failing = append(v.failing, b.Branch)
	}
}

// toolEnded notes a result. What stands in the place of the result of a call that was paused is none.
func (v *verdict) toolEnded(b *event.Batch, e *event.Event) {
	switch {
	case slices.Contains(v.pausedNow, e.CallID):
	case e.Pending:
		for i := range v.asked {
			v.asked[i].pending = v.asked[i].pending || v.asked[i].ID == e.CallID
		}
	default:
		v.answer(e.CallID)
	}
	v.paused = slices.DeleteFunc(v.paused, func(id string) bool { return id == e.CallID })
	if e.CallID != "" { // who worked within the call owes nothing more
		v.debts = slices.DeleteFunc(v.debts, func(d debt) bool { return slices.Contains(callsOf(d.branch), e.CallID) })
	}
	if v.end(callKey(e)) && !e.Settled {
		v.owe(debt{branch: b.Branch})
	}
}

// callsOf returns the calls by which the agents of a branch were invoked.
func callsOf(branch string) (calls []string) {
	for segment := range strings.SplitSeq(branch, ".") {
		if _, call, named := strings.Cut(segment, "@"); named {
			calls = append(calls, call)
		}
	}
	return calls
}

func callKey(e *event.Event) string {
	if e.CallID != "" {
		return "call " + e.CallID
	}
	return "tool " + e.Name
}

func (v *verdict) begin(key string) {
	if len(v.open) < maxOpen {
		v.open = append(v.open, key)
	}
}

// end reports whether something of the key had begun.
func (v *verdict) end(key string) bool {
	i := slices.Index(v.open, key)
	if i >= 0 {
		v.open = slices.Delete(v.open, i, i+1)
	}
	return i >= 0
}

func (v *verdict) owe(owed debt) {
	v.debts = slices.DeleteFunc(v.debts, func(d debt) bool { return d.branch == owed.branch })
	if len(v.debts) < maxOpen {
		v.debts = append(v.debts, owed)
	}
}

func (v *verdict) ask(asked input) {
	if v.answer(asked.ID); len(v.asked) < maxAsked {
		v.asked = append(v.asked, asked)
	}
}

func (v *verdict) answer(id string) {
	if i := slices.IndexFunc(v.asked, func(in input) bool { return in.ID == id }); i >= 0 {
		v.asked = slices.Delete(v.asked, i, i+1)
	}
}

// ended returns how a run stands that is over: by the protocol's word where there is one, else since its stream is.
func (v *verdict) ended(word bool, end event.End) status {
	lost := v.failed > 0 && (v.final <= v.failed || len(v.failing) > 0)
	switch {
	case !word && end == event.EndClientLeft, lost && v.failure == event.FailureCanceled:
		return canceled
	case lost:
		return failed
	case len(v.asked) > 0:
		return interrupted
	case word:
		return completed
	case end != event.EndOfStream || v.final == 0 || len(v.open)+len(v.debts) > 0:
		return incomplete
	}
	return completed
}

// reason returns why a run failed.
func (v *verdict) reason() event.Failure {
	if v.failure == event.NoFailure {
		return event.OtherFailure
	}
	return v.failure
}

func has(b *event.Batch, kind event.Kind) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == kind })
}
