package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// made counts the calls that an agent made by itself.
type made struct{ inference, tools int }

func (n made) plus(m made) made { return made{n.inference + m.inference, n.tools + m.tools} }

// calls counts by the agent's operation, until that ends. There are no more than the tracker holds operations open.
type calls struct {
	mu   sync.Mutex
	runs map[*tracker.Run]runCalls // of those that are open; the id of a run's own operation may change
}

// runCalls are the calls of one run.
type runCalls struct {
	open map[tracker.SpanID]made // by the agent's operation
	all  made
}

// add counts a call for the operation above it.
func (c *calls) add(r *tracker.Run, op *tracker.Operation, n made) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, known := c.runs[r]
	if !known {
		run.open = map[tracker.SpanID]made{}
	}
	run.open[op.Parent] = run.open[op.Parent].plus(n)
	run.all = run.all.plus(n)
	c.runs[r] = run
}

// take returns what an operation that has ended counted.
func (c *calls) take(r *tracker.Run, op *tracker.Operation) made {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := c.runs[r]
	n := run.open[op.ID]
	delete(run.open, op.ID)
	return n
}

// takeRun returns what a run that has ended counted.
func (c *calls) takeRun(r *tracker.Run) made {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.runs[r].all
	delete(c.runs, r)
	return n
}

// countCalls measures how many calls an invocation of an agent, or a run, made. Some protocols show no model calls and some no tools, so
// nothing is measured where nothing was seen; but where model calls are seen, and no tool calls, none were made.
func countCalls(inference, tools *family[prometheus.Observer], source, agent string, n made) {
	if n.inference > 0 {
		inference.with(source, agent).Observe(float64(n.inference))
	}
	if n.inference > 0 || n.tools > 0 {
		tools.with(source, agent).Observe(float64(n.tools))
	}
}

// observeDelegation measures how deep a run delegated.
func (m *Metrics) observeDelegation(r *tracker.Run, agent string) {
	if depth, known := r.Depth(); known {
		m.delegationDepth.with(r.Source, agent).Observe(float64(depth))
	}
}
