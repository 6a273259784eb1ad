package dialecttest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The bounds of what leaves a dialect, since it ends in span attributes and label values.
const (
	MaxString  = 256 // bytes of a name or an id
	MaxAnswers = 128 // inputs that a request answers
	MaxKeys    = 64  // names of state that a frame shows
)

// maxCode bounds an error code.
const maxCode = 64

// maxQuote bounds the strings of a statement about an answer.
const maxQuote = 512

var (
	failures  = []event.Failure{event.NoFailure, event.ToolError, event.ModelError, event.AgentError, event.FailureTimeout, event.FailureCanceled, event.OtherFailure}
	inputs    = []event.InputKind{event.InputConfirmation, event.InputClarification, event.InputSelection, event.InputData, event.InputCredential, event.InputTool}
	routings  = []event.Routing{"", event.RoutedToUser, event.RoutedToAgent}
	artifacts = []event.ArtifactKind{event.ArtifactFile, event.ArtifactData, event.ArtifactDataset, event.ArtifactOther}
)

// code is the form of an error code, which becomes a label as it is.
var code = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]{0,63}|[a-z]+(-[a-z]+)+|[1-5][0-9]{2}|-32[0-9]{3})$`)

// Verify says what is wrong with a decoded batch by itself: a value outside its closed set, a string without a bound, a field
// that does not belong to its fact.
func Verify(b *event.Batch) error { return verify(b, texts(b, nil)) }

func verify(b *event.Batch, texts []text) error {
	for _, t := range texts {
		switch {
		case len(t.value) > t.most:
			return fmt.Errorf("%s has %d bytes, %d are allowed: %.40q…", t.name, len(t.value), t.most, t.value)
		case !utf8.ValidString(t.value):
			return fmt.Errorf("%s is not UTF-8: %.40q", t.name, t.value)
		}
	}
	switch {
	case b.Agent == "user":
		return fmt.Errorf("the user is taken for an agent")
	case b.Time.Location() != time.UTC:
		return fmt.Errorf("time %v is not in UTC", b.Time)
	case b.Rejected != "" && !slices.Contains(event.Reasons(), b.Rejected):
		return fmt.Errorf("rejected for %q, which is no reason of ours", b.Rejected)
	}
	for i := range b.Events {
		e := &b.Events[i]
		if b.Rejected != "" && e.Kind != event.KindError && e.Error == event.NoFailure {
			return fmt.Errorf("rejected as %s, yet it states %v", b.Rejected, e.Kind)
		}
		if fault := misplaced(e); fault != "" {
			return fmt.Errorf("fact %d, %v: %s", i+1, e.Kind, fault)
		}
	}
	return nil
}

func misplaced(e *event.Event) string {
	kind := func(kinds ...event.Kind) bool { return slices.Contains(kinds, e.Kind) }
	switch {
	case int(e.Kind) >= len(event.Kinds()):
		return "no kind of ours"
	case kind(event.KindText, event.KindThought) != (len(e.Text()) > 0):
		return fmt.Sprintf("has %d bytes of text", len(e.Text()))
	case !utf8.Valid(e.Text()):
		return "its text is not UTF-8"
	case !slices.Contains(failures, e.Error):
		return fmt.Sprintf("error %q is no failure of ours", e.Error)
	case e.Error == event.NoFailure && kind(event.KindError):
		return "an error without a class"
	case e.Error != event.NoFailure && !kind(event.KindError, event.KindModelEnded, event.KindToolEnded, event.KindAgentEnded, event.KindRunEnded):
		return "nothing that can fail"
	case e.Code != "" && e.Error == event.NoFailure:
		return fmt.Sprintf("code %q of no error", e.Code)
	case e.Code != "" && !code.MatchString(e.Code):
		return fmt.Sprintf("code %q has not the form of one", e.Code)
	case kind(event.KindInputRequested) != slices.Contains(inputs, e.Input):
		return fmt.Sprintf("input %q", e.Input)
	case kind(event.KindArtifact) != slices.Contains(artifacts, e.Artifact.Kind):
		return fmt.Sprintf("artifact %q", e.Artifact.Kind)
	case e.FromCode && !kind(event.KindError), e.LongRunning && !kind(event.KindToolStarted), e.Settled && !kind(event.KindToolEnded),
		e.Unmetered && !kind(event.KindModelEnded, event.KindUsage), e.Resumes && !kind(event.KindRunStarted), e.Routing != "" && !kind(event.KindInputRequested),
		e.Expires.Known && !kind(event.KindInputRequested), e.Plan != (event.Plan{}) && !kind(event.KindPlan),
		(e.Verbosity != event.ThoughtsNone || e.Thought != "") && !kind(event.KindThought),
		e.AwaitsOutcome && !kind(event.KindAgentEnded, event.KindRunEnded), e.Progress.Known && !kind(event.KindToolProgress),
		e.Iterations.Known && !kind(event.KindAgentEnded, event.KindRunEnded, event.KindOutcome),
		(e.AsksModel || e.Loop != event.Loop{}) && !kind(event.KindIteration),
		e.ToolCalls.Known && !kind(event.KindRunEnded),
		e.Took.Known && !kind(event.KindToolEnded, event.KindAgentEnded, event.KindRunEnded, event.KindOutcome),
		(len(e.State().Keys) > 0 || e.State().Bytes.Known) && !kind(event.KindState):
		return "a mark of another kind of fact"
	case !slices.Contains(routings, e.Routing):
		return fmt.Sprintf("routing %q", e.Routing)
	case len(e.State().Keys) > MaxKeys:
		return fmt.Sprintf("%d keys of state, %d are allowed", len(e.State().Keys), MaxKeys)
	case e.Took.D < 0 || e.Expires.D < 0 || !e.Took.Known && e.Took.D != 0 || !e.Expires.Known && e.Expires.D != 0:
		return fmt.Sprintf("took %+v, expires %+v", e.Took, e.Expires)
	case e.Name == "" && kind(event.KindTransfer):
		return "to nobody"
	case e.ID == "" && kind(event.KindAdopted):
		return "of nothing"
	case e.Usage != (event.Usage{}) && !kind(event.KindModelEnded, event.KindUsage, event.KindRunEnded):
		return "tokens, which count where a response ends"
	case !e.Progress.Known && e.Progress.Value != 0 || math.IsNaN(e.Progress.Value) || math.IsInf(e.Progress.Value, 0):
		return fmt.Sprintf("progress %+v", e.Progress)
	case e.Steps < 0:
		return "a negative number of steps"
	}
	for _, p := range e.Pieces() {
		if fault := misshapen(e, p); fault != "" {
			return fault
		}
	}
	for _, c := range []event.Count{e.Usage.Input, e.Usage.Output, e.Usage.CacheRead, e.Usage.Reasoning, e.Artifact.Bytes, e.Artifact.Index, e.State().Bytes, e.Iterations, e.Loop.Iteration, e.Loop.Messages, e.Loop.Tools} {
		if c.N < 0 || !c.Known && c.N != 0 {
			return fmt.Sprintf("count %+v", c)
		}
	}
	return ""
}

// misshapen says what is wrong with a piece of an artifact.
func misshapen(e *event.Event, p event.Piece) string {
	shape := p.Value.Kind()
	right := map[event.PieceKind]bool{
		event.PieceText: shape == strictjson.String, event.PieceBytes: shape == strictjson.String,
		event.PieceFragment: shape == strictjson.String, event.PieceURI: shape == strictjson.String,
		event.PieceData: shape > strictjson.Null, event.PieceRows: shape == strictjson.Array, event.PiecePatch: shape == strictjson.Array,
	}
	switch {
	case e.Kind != event.KindArtifact:
		return "pieces of an artifact"
	case e.More > 0 && len(e.Pieces()) < event.MaxPieces:
		return fmt.Sprintf("%d pieces and %d more", len(e.Pieces()), e.More)
	case !right[p.Kind]:
		return fmt.Sprintf("a piece %q of %v", p.Kind, shape)
	case p.Schema.Exists() && p.Kind != event.PieceRows:
		return "a schema of no rows"
	}
	return ""
}

// text is a string that a batch holds.
type text struct {
	name, value string
	most        int
}

// texts appends the strings of a batch that are not empty.
func texts(b *event.Batch, all []text) []text {
	add := func(name, value string, most int) {
		if value != "" {
			all = append(all, text{name, value, most})
		}
	}
	add("run", b.Run, MaxString)
	add("agent", b.Agent, MaxString)
	add("branch", b.Branch, MaxString)
	add("type", b.Type, MaxString)
	add("session", b.Session, MaxString)
	add("tool call", b.Within, MaxString)
	add("parent", b.Parent, MaxString)
	for i := range b.Events {
		e := &b.Events[i]
		add("id", e.ID, MaxString)
		add("call", e.CallID, MaxString)
		add("name", e.Name, MaxString)
		add("model", e.Model, MaxString)
		add("finish reason", e.FinishReason, MaxString)
		add("code", e.Code, maxCode)
		add("thought", e.Thought, MaxString)
		for _, key := range e.State().Keys {
			add("key", key, MaxString)
		}
		for _, p := range e.Pieces() {
			add("file", p.Name, MaxString)
			add("media type", p.Media, MaxString)
		}
		add("scope", e.Confidence.Scope, maxQuote)
		add("label", e.Confidence.Label, maxQuote)
		add("topic", e.Confidence.Topic, maxQuote)
		add("source", e.Citation.Source, maxQuote)
		add("reference", e.Citation.Reference, maxQuote)
		add("URI", e.Citation.URI, maxQuote)
	}
	return all
}
