package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// pair is one operation as both sides saw it.
type pair struct {
	kind      operationKind
	ours, own lapse
}

// lapse is when something went on.
type lapse struct {
	name         string
	began, ended time.Time
}

func lapseOf(s *tracepb.Span) lapse {
	return lapse{s.Name, time.Unix(0, int64(s.StartTimeUnixNano)), time.Unix(0, int64(s.EndTimeUnixNano))}
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

// pairs finds the operations that both sides have: tools by the call's id, model calls by their order where both have as many,
// agents by name.
func (l language) pairs(r *doubleRun) (all []pair) {
	for _, o := range r.ours {
		for _, a := range r.own {
			id, isRun := said(o, "gen_ai.tool.call.id"), said(o, "delegraph.run.status") != ""
			kind := operationKind("")
			switch {
			case isRun && l.isRun(a):
				kind = wholeRun
			case id != "" && id == said(a, "gen_ai.tool.call.id"):
				kind = oneTool
				if said(o, "gen_ai.agent.handoff.target.name") != "" {
					kind = handOver
				}
			case !isRun && strings.HasPrefix(o.Name, "invoke_agent ") && o.Name == a.Name:
				kind = targetAgent
			default:
				continue
			}
			all = append(all, pair{kind, lapseOf(o), lapseOf(a)})
		}
	}
	ours, own := r.ours.modelCalls(), r.own.modelCalls()
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

func (tr spanTree) modelCalls() (calls []lapse) {
	for _, s := range tr {
		operation, _, _ := strings.Cut(s.Name, " ")
		if operation == "chat" || operation == "generate_content" || operation == "call_llm" {
			calls = append(calls, lapseOf(s))
		}
	}
	slices.SortFunc(calls, func(a, b lapse) int { return a.began.Compare(b.began) })
	return calls
}

// checkTimes asserts what holds however slow the machine is, since both sides have one clock: that we see a request before the
// agent does, and a frame after what it tells of.
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
			after(t, "the agent's run begins", p.own.began.Add(l.early), "ours", p.ours.began)
			after(t, "our run ends", p.ours.ended, "the agent's own", p.own.ended)
		case firstModelCall:
			after(t, "the agent first asks its model", p.own.began.Add(l.early), "it does by our account", p.ours.began)
			l.checkAnswer(t, p.ours.name+" ends", p.ours.ended, p.own)
		case laterModelCall:
			l.checkAnswer(t, p.ours.name+" ends", p.ours.ended, p.own)
			for _, tool := range tools {
				if !tool.own.ended.After(p.own.began) {
					after(t, p.ours.name+" begins", p.ours.began, "the agent's "+tool.own.name+" had ended", tool.own.ended)
				}
			}
		case oneTool, handOver:
			after(t, p.ours.name+" ends", p.ours.ended, "the agent's own", p.own.ended)
			calls := slices.DeleteFunc(r.own.modelCalls(), func(call lapse) bool { return call.began.After(p.own.began) })
			l.checkAnswer(t, p.ours.name+" begins", p.ours.began, calls[len(calls)-1])
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

// checkAnswer asserts that what we saw with a model's answer lies after the model was asked, and after its answer where the
// agent says when that was.
func (l language) checkAnswer(t *testing.T, what string, when time.Time, own lapse) {
	t.Helper()
	after(t, what, when, "the agent asked its model", own.began)
	if l.answered {
		after(t, what, when, "the agent's model had answered", own.ended)
	}
}

func after(t *testing.T, what string, late time.Time, whom string, early time.Time) {
	t.Helper()
	if late.Before(early) {
		t.Errorf("%s at %s, before %s, at %s", what, late.Format(clockLayout), whom, early.Format(clockLayout))
	}
}

// deviations are the pairs of each kind.
type deviations map[operationKind][]pair

func (d deviations) add(pairs ...pair) {
	for _, p := range pairs {
		d[p.kind] = append(d[p.kind], p)
	}
}

// String is a table of medians in milliseconds, with the least and the greatest in brackets.
func (d deviations) String() string {
	b := &strings.Builder{}
	b.WriteString("| operation | of how many | the agent's lasts | ours begins later by | ends later by | lasts longer by |\n|-|-|-|-|-|-|\n")
	for _, kind := range []operationKind{wholeRun, firstModelCall, laterModelCall, oneTool, firstOfTwo, lastOfTwo, handOver, targetAgent} {
		pairs := d[kind]
		if len(pairs) == 0 {
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s |\n", kind, len(pairs),
			spread(pairs, func(p pair) time.Duration { return p.own.ended.Sub(p.own.began) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.began.Sub(p.own.began) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.ended.Sub(p.own.ended) }),
			spread(pairs, func(p pair) time.Duration { return p.ours.ended.Sub(p.ours.began) - p.own.ended.Sub(p.own.began) }))
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
