package web

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// sheet is the page of a run.
type sheet struct {
	frame
	recent.Summary
	Took     string
	Reason   string
	Story    []phrase
	API      string // of the run, below Base
	OTLP     bool
	TraceURL string // "" for no link
	TraceID  string
	Internal int
	Chart    chart
	Graph    graph
	Of       *tracker.Run
	Links    []linked
}

// linked is another run that this one continues, and its page where it is kept.
type linked struct{ Kind, Run, Key string }

// maxFacts is how many facts of a kind the page lists; the API has them all.
const maxFacts = 200

func (s Settings) run(w http.ResponseWriter, r *http.Request) {
	run, summary, known := s.Runs.Run(r.PathValue("key"))
	if !known {
		s.write(w, http.StatusNotFound, missingPage, s.frame("No such run", "../", false))
		return
	}
	now := s.Now()
	view := sheet{
		frame: s.frame("Run of "+named(summary.Agent), "../", true), Summary: summary, Of: run,
		Took: took(summary.Started, summary.Ended, now, run.Status), Reason: why(summary), Graph: delegations(run),
		API: "api/v1/runs/" + url.PathEscape(summary.Key), OTLP: s.OTLP != nil,
		TraceID: hex.EncodeToString(run.Trace[:]), Internal: run.Internal,
		Chart: draw(run, now),
	}
	view.Story = story(summary, view.Graph)
	if s.TraceURL != "" && run.Sampled {
		view.TraceURL = strings.ReplaceAll(s.TraceURL, "{trace_id}", view.TraceID)
	}
	for _, l := range run.Links[:min(len(run.Links), maxFacts)] {
		to := linked{Kind: l.Kind, Run: l.Run}
		if _, of, kept := s.Runs.Run(hex.EncodeToString(l.Root[:])); kept {
			to.Key = of.Key
		}
		view.Links = append(view.Links, to)
	}
	s.write(w, http.StatusOK, runPage, view)
}

// phrase is a part of a sentence, and the names that it speaks of.
type phrase struct {
	Text  string
	Names []string
	More  int // names that are left out
}

// maxNamed is how many names a phrase has.
const maxNamed = 5

// story says in one sentence what happened.
func story(s recent.Summary, g graph) []phrase {
	var steps, agents, tools phrase
	var ran, delegated, called int
	for _, n := range g.Nodes[1:] {
		switch {
		case n.Kind != "tool" && n.Name == s.Agent: // the run's own, within the app that it is of
		case n.Kind != "tool" && !n.Delegated:
			ran += n.Calls
			steps.name(n.Name)
		case n.Kind == "agent":
			delegated += n.Calls
			agents.name(n.Name)
		default:
			called += n.Calls
			tools.name(n.Name)
		}
	}
	var parts []phrase
	if n := len(steps.Names) + steps.More; n > 0 {
		steps.Text = "ran " + counts(n, "step") + times(ran, n)
		parts = append(parts, steps)
	}
	if n := len(agents.Names) + agents.More; n > 0 {
		agents.Text = "delegated to " + counts(n, "agent") + times(delegated, n)
		parts = append(parts, agents)
	}
	if n := len(tools.Names) + tools.More; n > 0 {
		tools.Text = "called " + counts(n, "tool") + times(called, n)
		parts = append(parts, tools)
	}
	if s.Failed > 0 {
		parts = append(parts, phrase{Text: "had " + counts(s.Failed, "call") + " fail"})
	}
	if s.FailedAgents > 0 {
		parts = append(parts, phrase{Text: "had " + counts(s.FailedAgents, "agent") + " fail"})
	}
	if s.Waiting > 0 {
		parts = append(parts, phrase{Text: "waits for " + counts(s.Waiting, "answer")})
	}
	if len(parts) == 0 {
		parts = []phrase{{Text: "delegated nothing"}}
	}
	for i := range parts {
		switch {
		case i == 0:
			parts[i].Text = "It " + parts[i].Text
		case i == len(parts)-1:
			parts[i].Text = " and " + parts[i].Text
		default:
			parts[i].Text = ", " + parts[i].Text
		}
	}
	return parts
}

func (p *phrase) name(name string) {
	if len(p.Names) == maxNamed {
		p.More++
		return
	}
	p.Names = append(p.Names, name)
}

// times says how often so many were called, where that is more than once each.
func times(calls, of int) string {
	if calls == of {
		return ""
	}
	return " " + counts(calls, "time")
}

// The lists of a run, as many as the page shows.

// Confidence is what answers state.
func (s sheet) Confidence() []tracker.Statement { return first(s.Of.Confidence) }

// Citations are the sources that answers name.
func (s sheet) Citations() []tracker.Source { return first(s.Of.Citations) }

// Thoughts are its agents' thoughts by type.
func (s sheet) Thoughts() []tracker.Thought { return first(s.Of.Thoughts) }

// Inputs are what the run asked for.
func (s sheet) Inputs() []*tracker.Input { return first(s.Of.Inputs) }

// Artifacts are what it wrote.
func (s sheet) Artifacts() []tracker.Artifact { return first(s.Of.Artifacts) }

// Transfers are its hand-overs of control.
func (s sheet) Transfers() []tracker.Transfer { return first(s.Of.Transfers) }

// Origin says where a statement stood.
func (s sheet) Origin(of tracker.Statement) string { return origins[of.Origin] }

// Running says whether the run is on its way.
func (s sheet) Running() bool { return s.Status == tracker.Running }

func first[T any](items []T) []T { return items[:min(len(items), maxFacts)] }
