package dialecttest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Limits of what a dialect returns. Much of it becomes span attributes and label values.
const (
	maxString  = 256 // bytes of a name or an id
	maxCode    = 64  // bytes of an error code
	maxQuote   = 512 // bytes of a string in a confidence or a citation
	maxAnswers = 128 // inputs that one request answers
	maxKeys    = 64  // state keys in one frame
)

var (
	failures  = []event.Failure{event.NoFailure, event.ToolError, event.ModelError, event.AgentError, event.FailureTimeout, event.FailureCanceled, event.OtherFailure}
	inputs    = []event.InputKind{event.InputConfirmation, event.InputClarification, event.InputSelection, event.InputData, event.InputCredential, event.InputTool}
	routings  = []event.Routing{"", event.RoutedToUser, event.RoutedToAgent}
	artifacts = []event.ArtifactKind{event.ArtifactFile, event.ArtifactData, event.ArtifactDataset, event.ArtifactOther}
)

// codeForm matches an error code, which becomes a label unchanged.
var codeForm = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]{0,63}|[a-z]+(-[a-z]+)+|[1-5][0-9]{2}|-32[0-9]{3})$`)

// Verify returns an error if a batch has a value outside its closed set, a string that is too long, or a
// field that does not belong to its kind of fact.
func Verify(b *event.Batch) error { return verify(b, appendTexts(b, nil)) }

func verify(b *event.Batch, texts []boundedText) error {
	for _, t := range texts {
		switch {
		case len(t.value) > t.limit:
			return fmt.Errorf("%s has %d bytes, %d are allowed: %.40q…", t.name, len(t.value), t.limit, t.value)
		case !utf8.ValidString(t.value):
			return fmt.Errorf("%s is not UTF-8: %.40q", t.name, t.value)
		}
	}
	switch {
	case b.Agent == "user":
		return errors.New("the user is taken for an agent")
	case b.Time.Location() != time.UTC:
		return fmt.Errorf("time %v is not in UTC", b.Time)
	case b.Rejected != "" && !slices.Contains(event.Reasons(), b.Rejected):
		return fmt.Errorf("rejected for %q, which is not an event.Reason", b.Rejected)
	}
	for i := range b.Events {
		e := &b.Events[i]
		if b.Rejected != "" && e.Kind != event.KindError && e.Error == event.NoFailure {
			return fmt.Errorf("rejected for %s, but it states %v", b.Rejected, e.Kind)
		}
		if fault := fieldError(e); fault != "" {
			return fmt.Errorf("fact %d, %v: %s", i+1, e.Kind, fault)
		}
	}
	return nil
}

// fieldError describes what is wrong with a fact, or returns "".
func fieldError(e *event.Event) string {
	kind := func(kinds ...event.Kind) bool { return slices.Contains(kinds, e.Kind) }
	switch {
	case int(e.Kind) >= len(event.Kinds()):
		return "not an event.Kind"
	case kind(event.KindText, event.KindThought) != (len(e.Text()) > 0):
		return fmt.Sprintf("has %d bytes of text", len(e.Text()))
	case !utf8.Valid(e.Text()):
		return "its text is not UTF-8"
	case !slices.Contains(failures, e.Error):
		return fmt.Sprintf("error %q is not an event.Failure", e.Error)
	case e.Error == event.NoFailure && kind(event.KindError):
		return "an error without a class"
	case e.Error != event.NoFailure && !kind(event.KindError, event.KindModelEnded, event.KindToolEnded, event.KindAgentEnded, event.KindRunEnded):
		return "a kind that cannot fail"
	case e.Code != "" && e.Error == event.NoFailure:
		return fmt.Sprintf("code %q without an error", e.Code)
	case e.Code != "" && !codeForm.MatchString(e.Code):
		return fmt.Sprintf("code %q is malformed", e.Code)
	case kind(event.KindInputRequested) != slices.Contains(inputs, e.Input):
		return fmt.Sprintf("input %q", e.Input)
	case kind(event.KindArtifact) != slices.Contains(artifacts, e.Artifact.Kind):
		return fmt.Sprintf("artifact %q", e.Artifact.Kind)
	case hasForeignField(e):
		return "a field of another kind of fact"
	case len(e.Question().Prompt) > event.MaxPrompt:
		return fmt.Sprintf("a prompt of %d bytes", len(e.Question().Prompt))
	case e.Input == event.InputCredential && (e.Question().Options.Exists() || e.Question().Schema.Exists()):
		return "a request for a credential with more than a prompt"
	case !slices.Contains(routings, e.Routing):
		return fmt.Sprintf("routing %q", e.Routing)
	case len(e.State().Keys) > maxKeys:
		return fmt.Sprintf("%d keys of state, %d are allowed", len(e.State().Keys), maxKeys)
	case e.Duration.D < 0 || e.ExpiresIn.D < 0 || !e.Duration.Known && e.Duration.D != 0 || !e.ExpiresIn.Known && e.ExpiresIn.D != 0:
		return fmt.Sprintf("took %+v, expires %+v", e.Duration, e.ExpiresIn)
	case e.Name == "" && kind(event.KindTransfer):
		return "no target"
	case e.ID == "" && kind(event.KindChildRun):
		return "no run id"
	case e.Usage != (event.Usage{}) && !kind(event.KindModelEnded, event.KindUsage, event.KindRunEnded):
		return "tokens outside the end of a response"
	case !e.Progress.Known && e.Progress.Value != 0 || math.IsNaN(e.Progress.Value) || math.IsInf(e.Progress.Value, 0):
		return fmt.Sprintf("progress %+v", e.Progress)
	case e.Steps < 0:
		return "a negative number of steps"
	}
	for _, p := range e.Pieces() {
		if fault := pieceError(e, p); fault != "" {
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

// hasForeignField reports whether a fact has a field that belongs to other kinds of facts.
func hasForeignField(e *event.Event) bool {
	kind := func(kinds ...event.Kind) bool { return slices.Contains(kinds, e.Kind) }
	asks := e.Routing != "" || e.ExpiresIn.Known || e.Question() != event.Question{}
	return (e.Inline || e.Elsewhere || e.Beside) && !kind(event.KindError) ||
		e.LongRunning && !kind(event.KindToolStarted) ||
		e.TurnMayEnd && !kind(event.KindToolStarted, event.KindToolEnded) ||
		e.EndsAgent && !kind(event.KindToolEnded) ||
		e.UsageIncomplete && !kind(event.KindModelEnded, event.KindUsage) ||
		e.Uncertain && !kind(event.KindModelStarted, event.KindModelEnded, event.KindToolEnded) ||
		e.StartUnknown && !kind(event.KindToolEnded) ||
		!e.Asked.IsZero() && !kind(event.KindRunStarted, event.KindModelStarted, event.KindModelEnded) ||
		e.Resumes && !kind(event.KindRunStarted) ||
		asks && !kind(event.KindInputRequested) ||
		e.Plan != event.Plan{} && !kind(event.KindPlan) ||
		e.Message != "" && !kind(event.KindText, event.KindThought) ||
		(e.Verbosity != event.ThoughtsNone || e.ThoughtType != "") && !kind(event.KindThought) ||
		e.AwaitsOutcome && !kind(event.KindAgentEnded, event.KindRunEnded) ||
		e.Cuts && !kind(event.KindRunEnded) ||
		e.Progress.Known && !kind(event.KindToolProgress) ||
		e.Iterations.Known && !kind(event.KindAgentEnded, event.KindRunEnded, event.KindOutcome) ||
		(e.CallsModel || e.Loop != event.Loop{}) && !kind(event.KindIteration) ||
		e.ToolCalls.Known && !kind(event.KindRunEnded) ||
		e.Duration.Known && !kind(event.KindToolEnded, event.KindAgentEnded, event.KindRunEnded, event.KindOutcome) ||
		(len(e.State().Keys) > 0 || e.State().Bytes.Known) && !kind(event.KindState)
}

// pieceError describes what is wrong with a piece of an artifact, or returns "".
func pieceError(e *event.Event, p event.Piece) string {
	shape := p.Value.Kind()
	right := map[event.PieceKind]bool{
		event.PieceText: shape == strictjson.String, event.PieceBytes: shape == strictjson.String,
		event.PieceFragment: shape == strictjson.String, event.PieceURI: shape == strictjson.String,
		event.PieceData: shape > strictjson.Null, event.PieceRows: shape == strictjson.Array, event.PiecePatch: shape == strictjson.Array,
	}
	switch {
	case e.Kind != event.KindArtifact:
		return "pieces outside an artifact"
	case e.Omitted > 0 && len(e.Pieces()) < event.MaxPieces:
		return fmt.Sprintf("%d pieces and %d more", len(e.Pieces()), e.Omitted)
	case !right[p.Kind]:
		return fmt.Sprintf("a piece %q of %v", p.Kind, shape)
	case p.Schema.Exists() && p.Kind != event.PieceRows:
		return "a schema without rows"
	}
	return ""
}

// boundedText is a string in a batch and its maximum length.
type boundedText struct {
	name, value string
	limit       int
}

// appendTexts appends the non-empty strings of a batch.
func appendTexts(b *event.Batch, all []boundedText) []boundedText {
	add := func(name, value string, limit int) {
		if value != "" {
			all = append(all, boundedText{name, value, limit})
		}
	}
	add("run", b.Run, maxString)
	add("agent", b.Agent, maxString)
	add("branch", b.Branch, maxString)
	add("type", b.Type, maxString)
	add("session", b.Session, maxString)
	add("tool call", b.EnclosingCall, maxString)
	add("parent", b.ParentBranch, maxString)
	add("response", b.Response, maxString)
	for up := b.Around; up != nil; up = up.Above {
		add("around", up.Branch, maxString)
		add("around", cmp.Or(up.Step, up.Agent), maxString)
	}
	for i := range b.Events {
		e := &b.Events[i]
		add("id", e.ID, maxString)
		add("message", e.Message, maxString)
		add("call", e.CallID, maxString)
		add("name", e.Name, maxString)
		add("model", e.Model, maxString)
		add("finish reason", e.FinishReason, maxString)
		add("code", e.Code, maxCode)
		add("thought", e.ThoughtType, maxString)
		for _, key := range e.State().Keys {
			add("key", key, maxString)
		}
		for _, p := range e.Pieces() {
			add("file", p.Name, maxString)
			add("media type", p.Media, maxString)
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
