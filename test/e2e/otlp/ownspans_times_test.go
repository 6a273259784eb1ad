package otlp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// pair is one operation as both sides saw it.
type pair struct {
	kind      operationKind
	ours, own harness.Interval
}

type operationKind string

const (
	wholeRun       operationKind = "run"
	firstModelCall operationKind = "model call, the run's first"
	laterModelCall operationKind = "model call, later"
	oneTool        operationKind = "tool"
	firstOfTwo     operationKind = "tool, the first of two to end"
	lastOfTwo      operationKind = "tool, the last of two to end"
	handOver       operationKind = "transfer"
	targetAgent    operationKind = "agent after a transfer"
)

// pairs matches the operations of both sides: tools by call id, model calls by order if both have as many, agents by name.
func (l language) pairs(r *doubleRun) (all []pair) {
	for _, o := range r.ours {
		for _, a := range r.own {
			id, isRun := harness.Attribute(o, "gen_ai.tool.call.id"), harness.Attribute(o, "delegraph.run.status") != ""
			var kind operationKind
			switch {
			case isRun && l.isRun(a):
				kind = wholeRun
			case id != "" && id == harness.Attribute(a, "gen_ai.tool.call.id"):
				kind = oneTool
				if harness.Attribute(o, "gen_ai.agent.handoff.target.name") != "" {
					kind = handOver
				}
			case !isRun && strings.HasPrefix(o.Name, "invoke_agent ") && o.Name == a.Name:
				kind = targetAgent
			default:
				continue
			}
			all = append(all, pair{kind, harness.IntervalOf(o), harness.IntervalOf(a)})
		}
	}
	ours, own := r.ours.ModelCalls(), r.own.ModelCalls()
	for i := range ours {
		kind := laterModelCall
		if i == 0 {
			kind = firstModelCall
		}
		if len(ours) == len(own) {
			all = append(all, pair{kind, ours[i], own[i]})
		}
	}
	return all
}

// checkTimes checks what holds on the slowest machine, because both sides share a clock: we see a request before the agent does,
// and a frame after what it reports.
func (l language) checkTimes(t *testing.T, r *doubleRun) {
	t.Helper()
	pairs := l.pairs(r)
	var tools []pair
	for _, p := range pairs {
		if p.kind == oneTool || p.kind == handOver {
			tools = append(tools, p)
		}
	}
	for _, p := range pairs {
		switch p.kind {
		case wholeRun:
			after(t, "the agent's run begins", p.own.Began.Add(l.early), "ours", p.ours.Began)
			after(t, "our run ends", p.ours.Ended, "the agent's own", p.own.Ended)
		case firstModelCall:
			after(t, "the agent first asks its model", p.own.Began.Add(l.early), "it does by our account", p.ours.Began)
			l.checkAnswer(t, p.ours.Name+" ends", p.ours.Ended, p.own)
		case laterModelCall:
			l.checkAnswer(t, p.ours.Name+" ends", p.ours.Ended, p.own)
			for _, tool := range tools {
				if !tool.own.Ended.After(p.own.Began) {
					after(t, p.ours.Name+" begins", p.ours.Began, "the agent's "+tool.own.Name+" had ended", tool.own.Ended)
				}
			}
		case oneTool, handOver:
			after(t, p.ours.Name+" ends", p.ours.Ended, "the agent's own", p.own.Ended)
			calls := slices.DeleteFunc(r.own.ModelCalls(), func(call harness.Interval) bool { return call.Began.After(p.own.Began) })
			l.checkAnswer(t, p.ours.Name+" begins", p.ours.Began, calls[len(calls)-1])
		}
	}
	returned := 0
	for _, op := range r.report.Operations {
		if op.Kind == tracker.ExecuteTool && op.Status == "ok" {
			returned++
		}
	}
	if len(tools) < returned || len(tools)+1 > len(pairs) {
		t.Errorf("of %d tools that returned %d are known to the agent, of %d operations in all", returned, len(tools), len(pairs))
	}
}

// checkAnswer checks that what we saw of a model's answer is later than the request to the model, and later than the answer if
// the agent reports its time.
func (l language) checkAnswer(t *testing.T, what string, when time.Time, own harness.Interval) {
	t.Helper()
	after(t, what, when, "the agent asked its model", own.Began)
	if l.answered {
		after(t, what, when, "the agent's model had answered", own.Ended)
	}
}

func after(t *testing.T, what string, late time.Time, whom string, early time.Time) {
	t.Helper()
	if late.Before(early) {
		t.Errorf("%s at %s, before %s, at %s", what, late.Format(harness.ClockLayout), whom, early.Format(harness.ClockLayout))
	}
}

// deviations holds the pairs of each kind.
type deviations map[operationKind][]pair

func (d deviations) add(pairs ...pair) {
	for _, p := range pairs {
		d[p.kind] = append(d[p.kind], p)
	}
}

// String returns a table of medians in milliseconds, with the minimum and maximum in brackets.
func (d deviations) String() string {
	b := &strings.Builder{}
	b.WriteString("| operation | of how many | the agent's lasts | ours begins later by | ends later by | lasts longer by |\n|-|-|-|-|-|-|\n")
	for _, kind := range []operationKind{wholeRun, firstModelCall, laterModelCall, oneTool, firstOfTwo, lastOfTwo, handOver, targetAgent} {
		pairs := d[kind]
		if len(pairs) == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s |\n", kind, len(pairs),
			spread(pairs, func(p pair) time.Duration { return p.own.Ended.Sub(p.own.Began) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.Began.Sub(p.own.Began) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.Ended.Sub(p.own.Ended) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.Ended.Sub(p.ours.Began) - p.own.Ended.Sub(p.own.Began) }))
	}
	return b.String()
}

func spread(pairs []pair, measure func(pair) time.Duration) string {
	var all []float64
	for _, p := range pairs {
		all = append(all, measure(p).Seconds()*1000)
	}
	slices.Sort(all)
	return fmt.Sprintf("%.1f (%.1f to %.1f)", all[len(all)/2], all[0], all[len(all)-1])
}
