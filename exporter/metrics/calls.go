package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// callCount is the number of model and tool calls that one agent, or a run, made itself.
type callCount struct{ inference, tools int }

func (n callCount) plus(m callCount) callCount {
	return callCount{n.inference + m.inference, n.tools + m.tools}
}

// calls counts the calls below each agent's operation until that operation ends. The tracker's
// limit on open operations bounds it.
type calls struct {
	mu   sync.Mutex
	runs map[*tracker.Run]runCalls // open runs, by pointer: the id of a run's root operation may change
}

// runCalls holds the calls of one run.
type runCalls struct {
	open map[tracker.SpanID]callCount // by the agent's operation
	all  callCount
}

// add counts a call for its parent operation.
func (c *calls) add(r *tracker.Run, op *tracker.Operation, n callCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, known := c.runs[r]
	if !known {
		run.open = map[tracker.SpanID]callCount{}
	}
	run.open[op.Parent] = run.open[op.Parent].plus(n)
	run.all = run.all.plus(n)
	c.runs[r] = run
}

// take removes and returns the count of an operation that has ended. The calls of a step also count
// for the operation that the step is part of.
func (c *calls) take(r *tracker.Run, op *tracker.Operation) callCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := c.runs[r]
	n := run.open[op.ID]
	delete(run.open, op.ID)
	if op.Kind == tracker.InvokeNode && n != (callCount{}) {
		above := run.open[op.Parent]
		run.open[op.Parent] = above.plus(n)
	}
	return n
}

// takeRun removes and returns the count of a run that has ended.
func (c *calls) takeRun(r *tracker.Run) callCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.runs[r].all
	delete(c.runs, r)
	return n
}

// countCalls records the number of calls of an agent invocation or a run. Some protocols show no
// model calls and some no tool calls, so nothing is recorded if no call was seen. If model calls
// were seen and tool calls were not, the number of tool calls is recorded as 0.
func countCalls(inference, tools *family[prometheus.Observer], source, agent string, n callCount) {
	if n.inference > 0 {
		inference.with(source, agent).Observe(float64(n.inference))
	}
	if n.inference > 0 || n.tools > 0 {
		tools.with(source, agent).Observe(float64(n.tools))
	}
}

// observeDelegation records how deep a run delegated.
func (m *Metrics) observeDelegation(r *tracker.Run, agent string) {
	if depth, known := r.DelegationDepth(); known {
		m.delegationDepth.with(r.Source, agent).Observe(float64(depth))
	}
}
