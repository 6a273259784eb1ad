package web

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// runView is the page of a run.
type runView struct {
	frame
	recent.Summary
	Took     string
	Reason   string
	Story    []storyPart
	API      string // path of the run in the API, relative to Base
	OTLP     bool
	TraceURL string // "" for no link
	TraceID  string
	Internal int
	Chart    chart
	Graph    graph
	Failures []failure
	Unnamed  int // failures that are not in Failures
	Of       *tracker.Run
	Links    []linkedRun
}

// linkedRun is another run that this one continues. Key is empty if that run is no longer stored.
type linkedRun struct{ Kind, Run, Key string }

// maxFacts bounds each list of the page; the API has all entries.
const maxFacts = 200

func (s Settings) run(w http.ResponseWriter, r *http.Request) {
	selected, from, err := parseSelection(r.URL)
	if err != nil {
		writeText(w, http.StatusBadRequest, err.Error())
		return
	}
	run, summary, known := s.Runs.Run(r.PathValue("key"))
	if !known {
		s.write(w, http.StatusNotFound, missingPage, s.frame("No such run", "../", false))
		return
	}
	now := s.Now()
	view := runView{
		frame: s.frame("Run of "+agentName(summary.Agent), "../", true), Summary: summary, Of: run,
		Took: durationText(summary.Started, summary.Ended, now, run.Status), Reason: reasonText(summary), Graph: newGraph(run),
		API: "api/v1/runs/" + url.PathEscape(summary.Key), OTLP: s.OTLP != nil,
		TraceID: hex.EncodeToString(run.Trace[:]), Internal: run.Internal,
		Chart: newChart(run, now, selected, from),
	}
	view.Failures, view.Unnamed = failures(run)
	view.Story = story(summary, view.Graph)
	if s.TraceURL != "" && run.Sampled {
		view.TraceURL = strings.ReplaceAll(s.TraceURL, "{trace_id}", view.TraceID)
	}
	for _, r := range view.Chart.Rows {
		if r.Details != nil {
			r.Details.TraceURL = view.TraceURL
		}
	}
	links := run.Links[:min(len(run.Links), maxFacts)]
	roots := make([]tracker.SpanID, 0, len(links))
	for _, l := range links {
		roots = append(roots, l.Root)
	}
	keys := s.Runs.Keys(roots)
	for _, l := range links {
		view.Links = append(view.Links, linkedRun{l.Kind, l.Run, keys[l.Root]})
	}
	s.write(w, http.StatusOK, runPage, view)
}

// parseSelection parses the query of a run's page: op is the id of the selected operation, and from the
// number of the first operation to show.
func parseSelection(u *url.URL) (selected tracker.SpanID, from int, err error) {
	values, err := parameters(u, "op", "from")
	if err != nil {
		return selected, 0, err
	}
	if text := values.Get("op"); text != "" {
		if n, err := hex.Decode(selected[:], []byte(text[:min(len(text), 2*len(selected))])); err != nil || 2*n != len(text) || n != len(selected) {
			return selected, 0, fmt.Errorf("op=%.40q is not the id of an operation; use 16 hexadecimal digits", text)
		}
	}
	if text := values.Get("from"); text != "" {
		if from, err = strconv.Atoi(text); err != nil || from < 0 {
			return selected, 0, fmt.Errorf("from=%.40q is not the number of an operation; use 0 or more", text)
		}
	}
	return selected, from, nil
}

// current returns the query for the operations that are shown.
func (c chart) current() string { return fmt.Sprintf("?from=%d", c.From) }

// Earlier returns the query for the operations before those that are shown.
func (c chart) Earlier() string { return fmt.Sprintf("?from=%d", c.From-maxRows) }

// Later returns the query for the operations after those that are shown.
func (c chart) Later() string { return fmt.Sprintf("?from=%d", c.From+maxRows) }

// storyPart is a part of the summary sentence with the names that it mentions.
type storyPart struct {
	Text  string
	Names []string
	More  int // number of names left out
}

// maxNamed bounds the names in a part.
const maxNamed = 5

// story returns one sentence about what happened.
func story(s recent.Summary, g graph) []storyPart {
	var steps, agents, tools storyPart
	var ran, delegated, called int
	for _, n := range g.Nodes[1:] {
		switch {
		case n.Kind != "tool" && n.Name == s.Agent: // the root agent, below the app's workflow
		case n.Kind != "tool" && !n.Delegated:
			ran += n.Calls
			steps.addName(n.Name)
		case n.Kind == "agent":
			delegated += n.Calls
			agents.addName(n.Name)
		default:
			called += n.Calls
			tools.addName(n.Name)
		}
	}
	var parts []storyPart
	if n := len(steps.Names) + steps.More; n > 0 {
		steps.Text = "ran " + counts(n, "step") + timesText(ran, n)
		parts = append(parts, steps)
	}
	if n := len(agents.Names) + agents.More; n > 0 {
		agents.Text = "delegated to " + counts(n, "agent") + timesText(delegated, n)
		parts = append(parts, agents)
	}
	if n := len(tools.Names) + tools.More; n > 0 {
		tools.Text = "called " + counts(n, "tool") + timesText(called, n)
		parts = append(parts, tools)
	}
	if g.More > 0 {
		parts = append(parts, storyPart{Text: "made " + counts(g.More, "further call")})
	}
	if s.Failed > 0 {
		parts = append(parts, storyPart{Text: "had " + counts(s.Failed, "call") + " fail"})
	}
	if s.FailedAgents > 0 {
		parts = append(parts, storyPart{Text: "had " + counts(s.FailedAgents, "agent") + " fail"})
	}
	if s.Waiting > 0 {
		parts = append(parts, storyPart{Text: "waits for " + counts(s.Waiting, "answer")})
	}
	if len(parts) == 0 {
		parts = []storyPart{{Text: "delegated nothing"}}
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

func (p *storyPart) addName(name string) {
	if len(p.Names) == maxNamed {
		p.More++
		return
	}
	p.Names = append(p.Names, name)
}

// timesText returns how often something was called, or "" if once each.
func timesText(calls, of int) string {
	if calls == of {
		return ""
	}
	return " " + counts(calls, "time")
}

// The lists of a run, bounded for the page.

// Confidence returns the stated confidence values.
func (s runView) Confidence() []tracker.Confidence { return first(s.Of.Confidence) }

// Citations returns the cited sources.
func (s runView) Citations() []tracker.Citation { return first(s.Of.Citations) }

// Thoughts returns the agents' thoughts by type.
func (s runView) Thoughts() []tracker.ThoughtCount { return first(s.Of.Thoughts) }

// Inputs returns the run's requests for input.
func (s runView) Inputs() []*tracker.InputRequest { return first(s.Of.Inputs) }

// Artifacts returns the artifacts that the run wrote.
func (s runView) Artifacts() []tracker.Artifact { return first(s.Of.Artifacts) }

// Transfers returns the transfers of control.
func (s runView) Transfers() []tracker.Transfer { return first(s.Of.Transfers) }

// Origin returns where a confidence value was found.
func (s runView) Origin(of tracker.Confidence) string { return originTexts[of.Origin] }

// Running reports whether the run is still open.
func (s runView) Running() bool { return s.Status == tracker.Running }

func first[T any](items []T) []T { return items[:min(len(items), maxFacts)] }
