package format

import (
	"encoding/json"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// normalized writes one frame for each fact. A member that is not there is not known; none is ever null.
type normalized struct {
	settings *Settings
	out      *output
	quiet    bool
}

// fact is one of our events as docs/reference/events.md has it.
type fact struct {
	Kind    string `json:"kind"`
	Frame   string `json:"frame"`
	Index   int    `json:"index"`
	Source  string `json:"source"`
	Dialect string `json:"dialect"`
	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Step    string `json:"step,omitempty"`
	Branch  string `json:"branch,omitempty"`
	Within  string `json:"within,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Time    string `json:"time,omitempty"`
	*content
}

// content is what a fact says; which members there are depends on its kind.
type content struct {
	Text    *string `json:"text,omitempty"`
	Partial *bool   `json:"partial,omitempty"`
	Thought string  `json:"thought_type,omitempty"`

	Tool        string          `json:"tool,omitempty"`
	Call        string          `json:"call,omitempty"`
	LongRunning *bool           `json:"long_running,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"`
	Failure     event.Failure   `json:"failure,omitempty"`
	Seconds     *float64        `json:"seconds,omitempty"`
	Progress    *float64        `json:"progress,omitempty"`

	By        string `json:"by,omitempty"`
	To        string `json:"to,omitempty"`
	Event     string `json:"event,omitempty"`
	Adopted   string `json:"adopted,omitempty"`
	ToolCalls *int64 `json:"tool_calls,omitempty"`

	Iterations *int64 `json:"iterations,omitempty"`

	Input   *input      `json:"input,omitempty"`
	Written *written    `json:"artifact,omitempty"`
	Model   string      `json:"model,omitempty"`
	Finish  string      `json:"finish_reason,omitempty"`
	Usage   *usage      `json:"usage,omitempty"`
	State   *state      `json:"state,omitempty"`
	Plan    *plan       `json:"plan,omitempty"`
	Sure    *confidence `json:"confidence,omitempty"`
	Cited   *citation   `json:"citation,omitempty"`
	Steps   *int        `json:"steps,omitempty"`
	End     string      `json:"end,omitempty"`
}

func (n *normalized) silent(quiet bool)    { n.quiet = quiet }
func (n *normalized) gap(*replay.Gap) bool { return true }

func (n *normalized) frame(f replay.Frame, b *event.Batch) {
	if n.quiet {
		return
	}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind == event.KindOther || e.Kind == event.KindIteration || n.settings.Kinds != 0 && n.settings.Kinds&replay.KindsOf(e.Kind) == 0 {
			continue
		}
		said := n.begin(f, e.Kind.String(), b)
		said.Agent, said.Step, said.Branch, said.Within, said.Parent = b.Agent, b.Step, b.Branch, b.Within, b.Parent
		if !b.Time.IsZero() {
			said.Time = b.Time.UTC().Format(time.RFC3339Nano)
		}
		said.content = contentOf(e, b.Partial)
		n.out.add(said)
	}
}

// kindOver is of the one thing that a reader is told and no frame says.
const kindOver = "stream_ended"

var ends = map[event.End]string{
	event.EndOfStream: "closed", event.EndBroken: "broken_off", event.EndClientLeft: "client_left", event.EndShutdown: "stopped", event.EndUnobserved: "unobserved",
}

func (n *normalized) over(f replay.Frame, last *event.Batch) {
	if n.quiet || n.settings.Kinds != 0 {
		return
	}
	said := n.begin(f, kindOver, last)
	said.content = &content{End: ends[f.End]}
	n.out.add(said)
}

func (n *normalized) begin(f replay.Frame, kind string, b *event.Batch) fact {
	session := b.Session
	if session == "" {
		session = n.settings.Session
	}
	return fact{
		Kind: kind, Frame: n.out.place(), Index: len(n.out.ends), Source: f.Source, Dialect: f.Stream.Dialect,
		Session: session, Run: b.Run,
	}
}

// contentOf is what a fact says.
func contentOf(e *event.Event, partial bool) *content {
	c := &content{Failure: e.Error, Seconds: seconds(e.Took)}
	switch e.Kind {
	case event.KindText, event.KindThought:
		text := string(e.Text())
		c.Text, c.Partial, c.Thought = &text, &partial, e.Thought
	case event.KindModelStarted, event.KindModelEnded, event.KindUsage:
		c.Model, c.Finish, c.Usage = e.Model, e.FinishReason, usageOf(e.Usage)
	case event.KindToolStarted:
		c.Tool, c.Call, c.LongRunning, c.Arguments = e.Name, e.CallID, &e.LongRunning, raw(e.Payload())
	case event.KindToolEnded:
		c.Tool, c.Call, c.Result = e.Name, e.CallID, raw(e.Payload())
	case event.KindToolPaused:
		c.Call = e.CallID
	case event.KindToolProgress:
		if c.Call = e.CallID; e.Progress.Known {
			c.Progress = &e.Progress.Value
		}
	case event.KindTransfer:
		c.To, c.Call, c.Event = e.Name, e.CallID, e.ID
	case event.KindInputRequested:
		asked := inputOf(e)
		c.Input = &asked
	case event.KindInputAnswered:
		c.Input = &input{ID: e.CallID}
	case event.KindArtifact:
		c.Written = writtenOf(e, e.Pieces())
	case event.KindAdopted:
		c.Adopted = e.ID
	case event.KindRunEnded, event.KindAgentEnded, event.KindOutcome:
		c.ToolCalls, c.Iterations = count(e.ToolCalls), count(e.Iterations)
	default:
		c.judge(e)
	}
	return c
}

// judge adds what a fact says of an answer, of state or of a plan.
func (c *content) judge(e *event.Event) {
	switch e.Kind {
	case event.KindState:
		c.State = &state{Keys: e.State().Keys, Bytes: count(e.State().Bytes)}
	case event.KindPlan:
		c.Plan = &plan{e.Plan.Pending, e.Plan.InProgress, e.Plan.Completed, e.Plan.Canceled}
	case event.KindConfidence:
		c.By = e.Name
		c.Sure = &confidence{Scope: e.Confidence.Scope, Label: e.Confidence.Label, Topic: e.Confidence.Topic, Overall: e.Confidence.Overall, Origin: e.Confidence.Origin}
		if e.Confidence.Known {
			c.Sure.Value = &e.Confidence.Value
		}
		if e.Confidence.Low.Known {
			c.Sure.Low = &e.Confidence.Low.Value
		}
		if e.Confidence.High.Known {
			c.Sure.High = &e.Confidence.High.Value
		}
	case event.KindCitation:
		c.By = e.Name
		c.Cited = &citation{e.Citation.Source, e.Citation.Reference, e.Citation.URI, e.Citation.Origin}
	case event.KindReasoning:
		c.By = e.Name
		c.Steps = &e.Steps
	}
}

// raw is the wire's JSON, which has passed strict reading.
func raw(v strictjson.Value) json.RawMessage {
	if !v.Exists() {
		return nil
	}
	return json.RawMessage(v.Raw())
}
