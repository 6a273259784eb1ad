package recent

import (
	"iter"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Failure is a failed operation.
type Failure struct {
	Callee
	Type string // its error.type, or ""
}

// failureOf describes a failed operation.
func failureOf(op *tracker.Operation) Failure {
	if op.Kind == tracker.Chat && op.Name == "" {
		return Failure{Callee{tracker.InvokeAgent, op.Agent}, op.ErrorType()} // the agent that called an unknown model
	}
	return Failure{calleeOf(op), op.ErrorType()}
}

// firstFailure finds the failed operation of a run that failed first.
type firstFailure struct {
	op      *tracker.Operation                // nil if none failed so far
	parents map[tracker.SpanID]tracker.SpanID // of the run's operations; nil until needed
}

// note notes a failed operation of a run with the given operations. Operations must be noted in the order of their starts.
func (f *firstFailure) note(op *tracker.Operation, operations iter.Seq[*tracker.Operation]) {
	if f.op == nil || f.failsBefore(op, operations) {
		f.op = op
	}
}

// failsBefore reports whether a failed operation failed before the first one so far. If one frame ended both, a call or a response
// counts as earlier than an agent. If both or neither are agents, the one below the other counts as earlier, because its failure
// caused the other. Otherwise the one that started first does.
func (f *firstFailure) failsBefore(later *tracker.Operation, operations iter.Seq[*tracker.Operation]) bool {
	switch invokes := later.Kind.Invokes(); {
	case later.Ended.Frame != f.op.Ended.Frame:
		return later.Ended.Frame < f.op.Ended.Frame
	case invokes != f.op.Kind.Invokes():
		return !invokes
	}
	if f.parents == nil {
		f.parents = map[tracker.SpanID]tracker.SpanID{}
		for op := range operations {
			f.parents[op.ID] = op.Parent
		}
	}
	return f.isWithin(later.Parent)
}

// isWithin reports whether an operation is the first failed one so far, or below it.
func (f *firstFailure) isWithin(id tracker.SpanID) bool {
	for range len(f.parents) { // in case two operations have the same ID
		if id == (tracker.SpanID{}) {
			return false
		}
		if id == f.op.ID {
			return true
		}
		id = f.parents[id]
	}
	return false
}
