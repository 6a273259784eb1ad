package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// ledger prints a line for each run that ends, and counts them. It is a tracker.Observer.
type ledger struct {
	out io.Writer

	mu         sync.Mutex
	runs       int
	statuses   map[tracker.Status]int
	unreadable int
	internal   int
	another    chan struct{} // closed when the next run ends
}

func newLedger(out io.Writer) *ledger {
	return &ledger{out: out, statuses: map[tracker.Status]int{}, another: make(chan struct{})}
}

// mostAgents bounds those that a line names.
const mostAgents = 6

const ledgerLine = "%-18s %-11s %-12s %8s  %s\n"

// begin prints what stands in the columns.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "\n"+ledgerLine, "source", "dialect", "status", "time", "agents")
}

// RunStarted has nothing to print: the page shows the runs that are open.
func (l *ledger) RunStarted(*tracker.Run) {}

// OperationEnded has nothing to print.
func (l *ledger) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (l *ledger) RunEnded(run *tracker.Run) {
	took := "-"
	if from, to := run.Root.Started.At, run.Root.Ended.At; !from.IsZero() && !to.IsZero() {
		took = waterfall.Span(to.Sub(from))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, ledgerLine, run.Source, run.Dialect, run.Status, took, agentsIn(run))
	l.runs++
	l.statuses[run.Status]++
	l.unreadable += run.ParseErrors
	l.internal += run.Internal
	close(l.another)
	l.another = make(chan struct{})
}

// agentsIn are the agents that took part, tools that are agents among them, with how often they did.
func agentsIn(run *tracker.Run) string {
	var names []string
	times := map[string]int{}
	for _, op := range run.Operations {
		if op.Name == "" || op.Kind != tracker.InvokeAgent && !op.AgentTool {
			continue
		}
		name := printable(op.Name)
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	more := ""
	if len(names) > mostAgents {
		more = fmt.Sprintf(" and %d more", len(names)-mostAgents)
		names = names[:mostAgents]
	}
	for i, name := range names {
		if times[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, times[name])
		}
	}
	return strings.Join(names, ", ") + more
}

// await returns when so many runs have ended, or the context.
func (l *ledger) await(ctx context.Context, runs int) {
	for {
		l.mu.Lock()
		ended, another := l.runs, l.another
		l.mu.Unlock()
		if ended >= runs {
			return
		}
		select {
		case <-another:
		case <-ctx.Done():
			return
		}
	}
}

// sum prints what became of all runs.
func (l *ledger) sum() {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := []string{counts(l.runs, "run")}
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		line = append(line, fmt.Sprintf("%d %s", l.statuses[status], status))
	}
	if l.unreadable > 0 {
		line = append(line, counts(l.unreadable, "frame")+" unreadable")
	}
	if l.internal > 0 {
		line = append(line, counts(l.internal, "frame")+" internal")
	}
	fmt.Fprintf(l.out, "\n%s\n", strings.Join(line, " · "))
}
