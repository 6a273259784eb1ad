package web

import (
	"cmp"
	"encoding/hex"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// details are what the page shows of the selected operation.
type details struct {
	Facts      []fact
	Confidence []tracker.Confidence
	Citations  []tracker.Citation
	TraceURL   string // "" for no link
}

// fact is one line of details. Only known facts are shown.
type fact struct {
	Term, Text string
	Code       bool   // an id
	Rule       string // rule of docs/design/signals.md that the fact follows, or ""
}

// rulesURL is the document that explains the rules.
const rulesURL = "https://github.com/delegraph/delegraph/blob/main/docs/design/signals.md#times"

// RulesURL returns the address of the document that explains the rules.
func (details) RulesURL() string { return rulesURL }

// newDetails returns the details of an operation of a run.
func newDetails(op *tracker.Operation, run *tracker.Run) *details {
	of, response := op.Details.OrZero(), op.Response.OrZero()
	d := &details{Confidence: first(of.Confidence), Citations: toCitations(op.Agent, of.Citations)}
	d.add("Kind", kindName(op))
	d.add("Status", statusText(op, run))
	d.add("error.type", op.ErrorType())
	if op.Failure != "" && op.ErrorCode != "" {
		d.add("Failure", string(op.Failure))
	}
	if op.Agent != op.Name {
		d.add("Agent", op.Agent)
	}
	if op.Kind == tracker.Chat {
		d.add("Model", op.Name)
	}
	d.add("Requested model", of.RequestModel)
	d.add("Finish reason", response.FinishReason)
	d.count("Input tokens", response.Usage.Input)
	d.count("Output tokens", response.Usage.Output)
	d.count("Cached input tokens", response.Usage.CacheRead)
	d.count("Reasoning tokens", response.Usage.Reasoning)
	if took, known := op.FirstChunk(); known {
		d.add("First chunk after", waterfall.FormatDuration(took))
	}
	d.times(op, run)
	d.count("Reasoning steps", of.ReasoningSteps)
	d.count("Iteration", of.Loop.Iteration)
	d.count("Iterations", of.ReportedIterations)
	d.count("Messages to the model", of.Loop.Messages)
	d.count("Tools offered", of.Loop.Tools)
	d.add("State keys", strings.Join(first(of.State.Keys), ", "))
	d.add("Thoughts", strings.Join(first(of.Thoughts), ", "))
	d.add("Transfer", transferText(of))
	d.add("Branch", op.Branch)
	d.id("Call id", op.CallID)
	d.id("Span id", hex.EncodeToString(op.ID[:]))
	if op.Parent != (tracker.SpanID{}) {
		d.id("Parent span id", hex.EncodeToString(op.Parent[:]))
	}
	if op.ResponseInferred {
		d.add("Result", "matched to the call by name and order, because the stream has no ids")
	}
	return d
}

func (d *details) add(term, text string) {
	if text = visible(text); text != "" {
		d.Facts = append(d.Facts, fact{Term: term, Text: text})
	}
}

func (d *details) id(term, id string) {
	if id = visible(id); id != "" {
		d.Facts = append(d.Facts, fact{Term: term, Text: id, Code: true})
	}
}

func (d *details) count(term string, c event.Count) {
	if c.Known {
		d.add(term, grouped(c.N))
	}
}

// times adds the operation's times and where they come from.
func (d *details) times(op *tracker.Operation, run *tracker.Run) {
	if at := op.Started.At; !at.IsZero() {
		d.add("Started", formatMillis(at))
	}
	if at := op.Ended.At; !at.IsZero() {
		d.add("Ended", formatMillis(at))
	}
	took, by := op.Duration()
	if by != tracker.TimingUnknown {
		d.add("Took", waterfall.FormatDuration(took))
	}
	text, rule := timingText(op, by, run)
	d.Facts = append(d.Facts, fact{Term: "Times", Text: text, Rule: rule})
}

// timingText returns where an operation's times come from, and the rule for that. by is the timing of its
// duration.
func timingText(op *tracker.Operation, by tracker.Timing, run *tracker.Run) (text, rule string) {
	switch {
	case op.Timing == 0 || op.Ended == (tracker.Timestamp{}) && run.Status == tracker.Running:
		return "not over yet", ""
	case op.Timing == tracker.TimingObserved:
		return "observed: when Delegraph received the frames", "T1"
	case op.Timing == tracker.TimingReported && run.Root.Timing == tracker.TimingReported:
		return "reported: as the stream states them", "T2"
	case op.Timing == tracker.TimingReported:
		return "reported: the protocol states the duration", "T9"
	case by == tracker.TimingReported:
		return "unknown; the protocol states only the duration", "T9"
	}
	return "unknown: the stream does not show when it started or ended", "T3"
}

// kindName returns the kind of an operation in words.
func kindName(op *tracker.Operation) string {
	if op.AgentTool {
		return "agent as a tool"
	}
	if op.Kind == tracker.Chat {
		return "model call"
	}
	return kinds[op.Kind]
}

func statusText(op *tracker.Operation, run *tracker.Run) string {
	if op.Ended == (tracker.Timestamp{}) && run.Status == tracker.Running {
		return "running"
	}
	return string(cmp.Or(op.Status, tracker.OperationUnfinished))
}

func transferText(of tracker.Details) string {
	if of.HandoffTarget == "" {
		return ""
	}
	return "from " + textOrDash(of.HandoffSource) + " to " + textOrDash(of.HandoffTarget)
}

func toCitations(agent string, cited []event.Citation) []tracker.Citation {
	var out []tracker.Citation
	for _, c := range first(cited) {
		out = append(out, tracker.Citation{Agent: agent, Citation: c})
	}
	return out
}

// failure is a failed operation as the page lists it.
type failure struct {
	Href             string
	Class            string // of its mark
	Kind, Name, Type string
	Agent            string // "" if it is the operation itself
}

// maxFailures bounds the failures that the page names.
const maxFailures = 5

// failures returns the first operations of a run that failed, other than the root operation.
func failures(run *tracker.Run) (named []failure, more int) {
	for _, op := range run.Operations {
		if op.Status != tracker.OperationError || op == run.Root {
			continue
		}
		if len(named) == maxFailures {
			more++
			continue
		}
		f := failure{Href: selection(op.ID), Class: kinds[op.Kind], Kind: kindName(op), Name: visible(op.Name), Type: oneLine(op.ErrorType())}
		if op.AgentTool {
			f.Class = "agent"
		}
		if op.Agent != op.Name {
			f.Agent = op.Agent
		}
		named = append(named, f)
	}
	return named, more
}

// selection returns the query that selects an operation.
func selection(id tracker.SpanID) string { return "?op=" + hex.EncodeToString(id[:]) }
