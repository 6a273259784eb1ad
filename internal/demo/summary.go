package demo

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
	"github.com/delegraph/delegraph/internal/terminal"
)

// summary prints a line for each run that ends, and counts them. It is a tracker.Observer.
type summary struct {
	out io.Writer

	mu         sync.Mutex
	runs       int
	statuses   map[tracker.Status]int
	codes      map[string]struct{} // of failed runs, at most maxCodes
	unreadable int
	internal   int
	another    chan struct{} // closed when the next run ends
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, statuses: map[tracker.Status]int{}, codes: map[string]struct{}{}, another: make(chan struct{})}
}

// maxAgents is the number of agents that a line names.
const maxAgents = 6

// maxCodes is the number of error codes that the summary names.
const maxCodes = 5

const summaryLine = "%-18s %-11s %-12s %8s  %s\n"

// begin prints the header.
func (l *summary) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "\n"+summaryLine, "source", "dialect", "status", "time", "agents")
}

// RunStarted does nothing.
func (l *summary) RunStarted(*tracker.Run) {}

// OperationEnded does nothing.
func (l *summary) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (l *summary) RunEnded(run *tracker.Run) {
	took := "-"
	if from, to := run.Root.Started.At, run.Root.Ended.At; !from.IsZero() && !to.IsZero() {
		took = waterfall.FormatDuration(to.Sub(from))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	about := agentsIn(run)
	if code := terminal.Printable(run.Root.ErrorType()); run.Status == tracker.Failed && code != "" {
		about += " · " + code
		if len(l.codes) < maxCodes {
			l.codes[code] = struct{}{}
		}
	}
	fmt.Fprintf(l.out, summaryLine, run.Source, run.Dialect, run.Status, took, about)
	l.runs++
	l.statuses[run.Status]++
	l.unreadable += run.ParseErrors
	l.internal += run.Internal
	close(l.another)
	l.another = make(chan struct{})
}

// agentsIn returns the agents of a run, including tools that are agents, each with its number of invocations.
func agentsIn(run *tracker.Run) string {
	var names []string
	times := map[string]int{}
	for _, op := range run.Operations {
		if op.Name == "" || op.Kind != tracker.InvokeAgent && !op.AgentTool {
			continue
		}
		name := terminal.Printable(op.Name)
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	more := ""
	if len(names) > maxAgents {
		more = fmt.Sprintf(" and %d more", len(names)-maxAgents)
		names = names[:maxAgents]
	}
	for i, name := range names {
		if times[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, times[name])
		}
	}
	return strings.Join(names, ", ") + more
}

// await waits until a number of runs have ended or the context is done.
func (l *summary) await(ctx context.Context, runs int) {
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

// sum prints how the runs ended, why some failed, and what was delivered and lost.
func (l *summary) sum(delivered string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := []string{terminal.Count(l.runs, "run")}
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		part := fmt.Sprintf("%d %s", l.statuses[status], status)
		if status == tracker.Failed && len(l.codes) > 0 {
			part += " (" + strings.Join(slices.Sorted(maps.Keys(l.codes)), ", ") + ")"
		}
		line = append(line, part)
	}
	if l.unreadable > 0 {
		line = append(line, terminal.Count(l.unreadable, "frame")+" unreadable")
	}
	if l.internal > 0 {
		line = append(line, terminal.Count(l.internal, "frame")+" internal")
	}
	fmt.Fprintf(l.out, "\n%s\nstopped: %s; the addresses above no longer answer\n", strings.Join(line, " · "), delivered)
}
