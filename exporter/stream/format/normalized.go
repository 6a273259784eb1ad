package format

import (
	"cmp"
	"encoding/json"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// normalized writes one frame per event. Unknown members are absent, never null.
type normalized struct {
	settings  *Settings
	out       *output
	rereading bool // frames only update the state, see writer

	// heldEnds holds, for each stream that answers a run request, the last RunEnded event. It is held back because the run may
	// continue after it; see endsRun. The event is written when it is removed: when the run has ended, or when there are too many.
	heldEnds *simplelru.LRU[*replay.Stream, normalizedEvent]
}

func newNormalized(s *Settings, out *output) *normalized {
	n := &normalized{settings: s, out: out}
	n.heldEnds, _ = simplelru.NewLRU(maxStreams, n.writeEnd) // the only error is a size below one
	return n
}

// normalizedEvent is one frame of the format, as documented in docs/reference/events.md.
type normalizedEvent struct {
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

// content holds what an event says. Which members are set depends on its kind.
type content struct {
	Text      *string `json:"text,omitempty"`
	Partial   *bool   `json:"partial,omitempty"`
	Truncated bool    `json:"truncated,omitempty"`
	Thought   string  `json:"thought_type,omitempty"`

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

	Input      *input      `json:"input,omitempty"`
	Artifact   *artifact   `json:"artifact,omitempty"`
	Model      string      `json:"model,omitempty"`
	Finish     string      `json:"finish_reason,omitempty"`
	Usage      *usage      `json:"usage,omitempty"`
	State      *state      `json:"state,omitempty"`
	Plan       *plan       `json:"plan,omitempty"`
	Confidence *confidence `json:"confidence,omitempty"`
	Citation   *citation   `json:"citation,omitempty"`
	Steps      *int        `json:"steps,omitempty"`
	End        string      `json:"end,omitempty"`
}

func (n *normalized) setRereading(on bool)     { n.rereading = on }
func (n *normalized) noteGap(*replay.Gap) bool { return true }

func (n *normalized) frame(f replay.Frame, b *event.Batch) {
	stated, open := n.heldEnds.Get(f.Stream)
	if open && stated.Run != b.Run && (b.Has(event.KindRunStarted) || b.Has(event.KindRunEnded)) {
		n.heldEnds.Remove(f.Stream)
	}
	paused := pausedBy(b)
	for i := range b.Events {
		e := &b.Events[i]
		if n.rereading && e.Kind != event.KindRunEnded {
			continue
		}
		if isBookkeeping(e) || paused.isPlaceholder(e) || b.Repeats && e.IsText() || n.settings.Kinds != 0 && n.settings.Kinds&replay.KindsOf(e.Kind) == 0 {
			continue
		}
		result := n.begin(f, e.Kind.String(), b)
		result.Agent, result.Step, result.Branch, result.Within, result.Parent = b.Agent, b.Step, b.Branch, b.EnclosingCall, b.ParentBranch
		result.Time = timestamp(b)
		result.content = newContent(e, b.Partial)
		switch {
		case e.Kind == event.KindRunEnded && !endsRun(f, e):
			n.heldEnds.Add(f.Stream, result)
		case !n.rereading:
			n.out.add(result)
		}
	}
}

// isBookkeeping reports whether an event says nothing to a reader, such as usage that only says that more of a response follows.
func isBookkeeping(e *event.Event) bool {
	return e.Kind == event.KindOther || e.Kind == event.KindIteration || e.Kind == event.KindUsage && e.Usage == (event.Usage{})
}

// writeEnd writes an end that is removed from n.heldEnds, because its run has ended or there are too many.
func (n *normalized) writeEnd(_ *replay.Stream, end normalizedEvent) {
	if !n.rereading {
		end.Frame, end.Index = n.out.frameID(), len(n.out.frameEnds)
		n.out.add(end)
	}
}

// kindStreamEnded is the kind of the end of a stream, the only event that is not decoded from a frame.
const kindStreamEnded = "stream_ended"

var endNames = map[event.End]string{
	event.EndOfStream: "closed", event.EndBroken: "broken_off", event.EndClientLeft: "client_left", event.EndShutdown: "stopped", event.EndUnobserved: "unobserved",
	event.EndUnfinished: "unfinished",
}

func (n *normalized) streamEnded(f replay.Frame, last *event.Batch) {
	n.heldEnds.Remove(f.Stream)
	if n.settings.Kinds != 0 {
		return
	}
	result := n.begin(f, kindStreamEnded, last)
	result.content = &content{End: endNames[f.End]}
	n.out.add(result)
}

// begin returns an event with the members that every event has.
func (n *normalized) begin(f replay.Frame, kind string, b *event.Batch) normalizedEvent {
	return normalizedEvent{
		Kind: kind, Frame: n.out.frameID(), Index: len(n.out.frameEnds), Source: f.Source, Dialect: f.Stream.Dialect,
		Session: cmp.Or(b.Session, n.settings.Session), Run: b.Run,
	}
}

func newContent(e *event.Event, partial bool) *content {
	c := &content{Failure: e.Error, Seconds: seconds(e.Duration)}
	switch e.Kind {
	case event.KindText, event.KindThought:
		text := string(e.Text())
		c.Text, c.Partial, c.Truncated, c.Thought = &text, &partial, e.Truncated, e.ThoughtType
	case event.KindModelStarted, event.KindModelEnded, event.KindUsage:
		c.Model, c.Finish, c.Usage = e.Model, e.FinishReason, newUsage(e.Usage)
	case event.KindToolStarted:
		c.Tool, c.Call, c.LongRunning, c.Arguments = e.Name, e.CallID, &e.LongRunning, payload(e)
	case event.KindToolEnded:
		c.Tool, c.Call, c.Result = e.Name, e.CallID, payload(e)
	case event.KindToolPaused:
		c.Call = e.CallID
	case event.KindToolProgress:
		c.Call, c.Progress = e.CallID, optional(e.Progress.Value, e.Progress.Known)
	case event.KindTransfer:
		c.To, c.Call, c.Event = e.Name, e.CallID, e.ID
	case event.KindInputRequested:
		asked := newInput(e)
		c.Input = &asked
	case event.KindInputAnswered:
		c.Input = &input{ID: e.CallID}
	case event.KindArtifact:
		c.Artifact = newArtifact(e, e.Pieces())
	case event.KindChildRun:
		c.Adopted = e.ID
	case event.KindRunEnded, event.KindAgentEnded, event.KindOutcome:
		c.ToolCalls, c.Iterations = count(e.ToolCalls), count(e.Iterations)
	default:
		c.addResult(e)
	}
	return c
}

// addResult adds what an event says about shared state, a plan or an answer.
func (c *content) addResult(e *event.Event) {
	switch e.Kind {
	case event.KindState:
		c.State = &state{e.State().Keys}
	case event.KindPlan:
		c.Plan = (*plan)(&e.Plan)
	case event.KindConfidence:
		c.By, c.Confidence = e.Name, newConfidence(&e.Confidence)
	case event.KindCitation:
		c.By, c.Citation = e.Name, (*citation)(&e.Citation)
	case event.KindReasoning:
		c.By, c.Steps = e.Name, &e.Steps
	}
}

// payload returns the arguments or the result of a call. An empty one counts as unknown, because the filter may have put it in
// place of a value that may not leave.
func payload(e *event.Event) json.RawMessage {
	if v := e.Payload(); v.Len() > 0 || len(v.Text()) > 0 || v.Kind() == strictjson.Number || v.Kind() == strictjson.Bool {
		return raw(v)
	}
	return nil
}

// raw returns JSON from the wire, which has passed strict parsing.
func raw(v strictjson.Value) json.RawMessage {
	if !v.Exists() {
		return nil
	}
	return json.RawMessage(v.Raw())
}
