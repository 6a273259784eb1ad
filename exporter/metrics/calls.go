package metrics

import (
	"sync"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// made counts the calls that an agent made by itself.
type made struct{ inference, tools int }

// calls counts by the agent's operation, until that ends. There are no more than the tracker holds operations open.
type calls struct {
	mu   sync.Mutex
	runs map[tracker.SpanID]map[tracker.SpanID]made // by the run's own operation and the agent's
}

// add counts a call for the operation above it.
func (c *calls) add(r *tracker.Run, op *tracker.Operation, n made) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := c.runs[r.Root.ID]
	if run == nil {
		run = map[tracker.SpanID]made{}
		c.runs[r.Root.ID] = run
	}
	sum := run[op.Parent]
	run[op.Parent] = made{sum.inference + n.inference, sum.tools + n.tools}
}

// take returns what an operation that has ended counted.
func (c *calls) take(r *tracker.Run, op *tracker.Operation) made {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := c.runs[r.Root.ID]
	n := run[op.ID]
	delete(run, op.ID)
	return n
}

// forget drops the counts of a run that has ended.
func (c *calls) forget(r *tracker.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, r.Root.ID)
}

// observeCalls measures how many calls an agent made in one invocation. Some protocols show no model calls and some no tools, so
// nothing is measured where nothing was seen; but an agent whose model calls are seen, and no tool calls, made none.
func (m *Metrics) observeCalls(r *tracker.Run, op *tracker.Operation, n made) {
	if n.inference > 0 {
		m.inferenceCalls.with(r.Source, op.Name).Observe(float64(n.inference))
	}
	if n.inference > 0 || n.tools > 0 {
		m.invocationToolCalls.with(r.Source, op.Name).Observe(float64(n.tools))
	}
}
