package format

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// statusTracker derives the final status of a run. It applies the rules of package tracker (V1 to
// V8 in docs/design/signals.md), as far as the frames that the reader gets allow.
type statusTracker struct {
	frame          int // number of the current frame
	finalFrame     int // number of the last final frame; 0: none
	failedFrame    int // number of the last frame with an error; 0: none
	endFrame       int // number of the last frame that states the end of the run; 0: none
	failure        event.Failure
	failedBranches []string // branches with a model failure and no final frame after it
	open           []operation
	expectations   []expectation
	inputs         []input
	paused         []string // calls that wait for a person
	pausedNow      []string // calls that the current frame pauses
	speakers
}

// operation is a call or a model's response that has started and not ended.
type operation struct {
	key, agent, branch   string
	frame                int  // number of the frame that started it; of a response, that of its last piece
	isResponse, endsTurn bool // endsTurn: the agent's turn may end with the call
}

// expectation is an agent that must still speak: a model that received a result, or an agent that
// received control.
type expectation struct {
	branch     string
	isTransfer bool
	from       string // the agent that transferred control; "" if it has no name or isTransfer is false
}

const (
	maxInputs = 32  // open questions of a run
	maxOpen   = 256 // open operations, paused calls, expectations and failed branches of a run, each; further ones are not recorded
)

// observeFrame starts a frame. An agent that speaks meets the expectations of its branch. It also meets each expectation
// after a transfer, unless it is the agent that transferred control.
func (t *statusTracker) observeFrame(b *event.Batch) {
	t.frame++
	t.pausedNow = t.pausedNow[:0]
	t.speakers.observe(b, t.frame)
	if b.Partial {
		t.observePiece(b)
	}
	if b.Partial || b.Agent == "" && !b.Has(event.KindModelEnded) && !b.Has(event.KindText) {
		return
	}
	t.expectations = slices.DeleteFunc(t.expectations, func(x expectation) bool { return x.branch == b.Branch || x.isTransfer && x.from != b.Agent })
}

// observe records what an event of the current frame says about the status.
func (t *statusTracker) observe(b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindFinal:
		t.observeFinal(b)
	case event.KindError:
		t.observeError(b, e)
	case event.KindModelStarted:
		if t.endFrame > 0 { // the run continues, so the paused calls were answered
			t.paused = nil
		}
		t.startOperation(operation{modelKey(b), b.Agent, b.Branch, t.frame, true, false})
	case event.KindModelEnded:
		t.endOperation(modelKey(b))
	case event.KindAgentEnded:
		t.open = slices.DeleteFunc(t.open, func(op operation) bool { return op.isResponse && op.branch == b.Branch && op.agent == b.Agent })
	case event.KindToolStarted:
		t.startOperation(operation{callKey(e), b.Agent, b.Branch, t.frame, false, e.TurnMayEnd})
		if e.LongRunning {
			t.addInput(input{ID: e.CallID, Kind: event.InputTool, agent: b.Agent})
		}
	case event.KindToolEnded:
		t.observeResult(b, e)
	case event.KindTransfer:
		t.addTarget(e.Name)
		t.expect(expectation{branch: b.Branch, isTransfer: true, from: b.Agent})
	case event.KindInputRequested:
		asked := newInput(e).bounded()
		asked.agent = b.Agent
		t.addInput(asked)
	case event.KindInputAnswered:
		t.removeInput(e.CallID)
	case event.KindToolPaused:
		t.pausedNow = append(t.pausedNow, e.CallID)
		if len(t.paused) < maxOpen && !slices.Contains(t.paused, e.CallID) {
			t.paused = append(t.paused, e.CallID)
		}
	case event.KindRunEnded:
		t.endFrame = t.frame
		if e.Error == event.NoFailure {
			t.finalFrame = t.frame
		} else {
			t.failedFrame, t.failure = t.frame, e.Error
		}
	}
}

// observePiece records that a response goes on.
func (t *statusTracker) observePiece(b *event.Batch) {
	if i := slices.IndexFunc(t.open, func(op operation) bool { return op.isResponse && op.key == modelKey(b) }); i >= 0 {
		t.open[i].frame = t.frame
	}
}

func modelKey(b *event.Batch) string { return "model " + b.Branch + " " + b.Agent }

// observeFinal records a final frame. The frame ends the calls that invoked its agent and the calls with which an agent's turn may
// end. It also ends open responses of its agent and of agents below it, which were cut off, and what an agent has left open that this one
// replaces. It clears errors in its branch and below, and drops questions that only the agent itself has acknowledged.
func (t *statusTracker) observeFinal(b *event.Batch) {
	t.finalFrame = t.frame
	branch, isOfRun := b.Branch, t.isWrittenByRun(b)
	if isOfRun {
		branch = ""
	}
	t.open = slices.DeleteFunc(t.open, func(op operation) bool {
		isCutOff := op.isResponse && isWithin(op.branch, branch) && (op.branch != branch || op.agent == b.Agent || isOfRun)
		return isCutOff || op.endsTurn && op.frame < t.frame || !op.endsTurn && t.isReplaced(op, b)
	})
	for _, call := range callsOf(b.Branch) { // a call that invokes an agent may have no other response
		t.endOperation("call " + call)
	}
	t.failedBranches = slices.DeleteFunc(t.failedBranches, func(failed string) bool {
		return isWithin(failed, branch)
	})
	t.inputs = slices.DeleteFunc(t.inputs, func(in input) bool { return in.acknowledged && in.agent == b.Agent })
}

// isWithin reports whether a branch is another one or below it.
func isWithin(branch, other string) bool {
	return other == "" || branch == other || strings.HasPrefix(branch, other+".")
}

func (t *statusTracker) observeError(b *event.Batch, e *event.Event) {
	t.failedFrame, t.failure = t.frame, e.Error
	if e.Inline && len(t.failedBranches) < maxOpen && !slices.Contains(t.failedBranches, b.Branch) {
		t.failedBranches = append(t.failedBranches, b.Branch)
	}
}

// observeResult records the result of a call. The placeholder result of a paused call and a result that only acknowledges the call
// end the operation, but answer no question.
func (t *statusTracker) observeResult(b *event.Batch, e *event.Event) {
	switch {
	case slices.Contains(t.pausedNow, e.CallID):
	case e.Pending:
		for i := range t.inputs {
			t.inputs[i].acknowledged = t.inputs[i].acknowledged || t.inputs[i].ID == e.CallID
		}
	default:
		t.removeInput(e.CallID)
	}
	t.paused = slices.DeleteFunc(t.paused, func(id string) bool { return id == e.CallID })
	if e.CallID != "" { // agents that worked within the call have nothing left to say
		t.expectations = slices.DeleteFunc(t.expectations, func(x expectation) bool { return slices.Contains(callsOf(x.branch), e.CallID) })
	}
	if t.endOperation(callKey(e)) && !e.TurnMayEnd {
		t.expect(expectation{branch: b.Branch})
	}
}

// callsOf returns the calls that invoked the agents of a branch. In a branch of the ADK, the segment of such an agent is agent@call.
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

func (t *statusTracker) startOperation(op operation) {
	if len(t.open) < maxOpen {
		t.open = append(t.open, op)
	}
}

// endOperation ends an operation and reports whether it had started.
func (t *statusTracker) endOperation(key string) bool {
	i := slices.IndexFunc(t.open, func(op operation) bool { return op.key == key })
	if i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	}
	return i >= 0
}

func (t *statusTracker) expect(added expectation) {
	t.expectations = slices.DeleteFunc(t.expectations, func(x expectation) bool { return x.branch == added.branch })
	if len(t.expectations) < maxOpen {
		t.expectations = append(t.expectations, added)
	}
}

func (t *statusTracker) addInput(asked input) {
	if t.removeInput(asked.ID); len(t.inputs) < maxInputs {
		t.inputs = append(t.inputs, asked)
	}
}

func (t *statusTracker) removeInput(id string) {
	if i := slices.IndexFunc(t.inputs, func(in input) bool { return in.ID == id }); i >= 0 {
		t.inputs = slices.Delete(t.inputs, i, i+1)
	}
}

// finalStatus returns the status of a run at the end of its stream; end says how the stream ended. If the protocol has stated the end
// of the run, a stream that breaks off or has work left counts as complete. So does a stream whose client left right after the
// frame that stated the end. After any later frame, a client that leaves cancels the run.
func (t *statusTracker) finalStatus(end event.End) status {
	if end == event.EndClientLeft && t.endFrame > 0 && t.endFrame == t.frame || (end == event.EndBroken || end == event.EndUnfinished) && t.endFrame > 0 {
		end = event.EndOfStream
	}
	hasFailed := t.failedFrame > 0 && (t.finalFrame <= t.failedFrame || len(t.failedBranches) > 0)
	switch {
	case end == event.EndClientLeft, hasFailed && t.failure == event.FailureCanceled:
		return canceled
	case hasFailed:
		return failed
	case len(t.inputs) > 0:
		return interrupted
	case end != event.EndOfStream, t.finalFrame == 0, t.endFrame == 0 && len(t.open)+len(t.expectations) > 0:
		return incomplete
	}
	return completed
}

// failureClass returns the class of the failure of a failed run.
func (t *statusTracker) failureClass() event.Failure {
	if t.failure == event.FailureTimeout {
		return t.failure
	}
	return event.AgentError
}
