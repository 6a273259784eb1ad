// Package event is the vocabulary of Delegraph: what every dialect is decoded into and every exporter consumes.
package event

import (
	"slices"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// Kind says what fact an event states. Its names are values of the metric label `kind`.
type Kind uint8

// The closed set of kinds.
const (
	KindOther          Kind = iota // something the dialect knows and no signal needs
	KindText                       // text of an answer
	KindThought                    // a model's reasoning, never an answer: Thought, Verbosity
	KindModelStarted               // the first partial frame of a model's response
	KindModelEnded                 // a model's whole response: Model, FinishReason, Usage, Error, Code
	KindToolStarted                // a call of a tool: CallID, Name, LongRunning
	KindToolPaused                 // a call waits for a human: CallID
	KindToolEnded                  // the response to a call: CallID, Name, Error, Code, Payload
	KindTransfer                   // control goes from the batch's agent to Name by call CallID; ID is the frame's own id
	KindInputRequested             // the run asks for something: CallID, Input
	KindInputAnswered              // what was asked for has come: CallID
	KindArtifact                   // an artifact was written: Name, Artifact, Pieces
	KindState                      // shared state changed
	KindFinal                      // the dialect's own mark of a final response
	KindError                      // the run or the agent failed: Error, Code, FromCode; Name is that of an agent that there is not
	KindConfidence                 // Confidence, said by Name
	KindCitation                   // Citation, said by Name
	KindReasoning                  // the length of a reasoning chain: Steps, said by Name
	KindToolProgress               // a call goes on: CallID, Progress
	KindAgentStarted               // the batch's agent begins, in its branch
	KindAgentEnded                 // the batch's agent has ended: Error, Code, Took, Iterations
	KindRunStarted                 // the run begins by the protocol's word
	KindRunEnded                   // the run is over by the protocol's word: Error, Code, Took, Iterations
	KindAdopted                    // the run ID turns out to be an agent of the batch's run: Name
	KindUsage                      // Usage of the batch's agent's last response: Model
	KindPlan                       // what the run means to do: Plan
	KindOutcome                    // more about the end of the batch's agent or run, which has been stated: Took, Iterations
	KindIteration                  // where the loop of the batch's agent stands: Loop, Model, AsksModel
	kinds
)

var kindNames = [kinds]string{
	"other", "text", "thought", "model_started", "model_ended", "tool_started", "tool_paused", "tool_ended",
	"transfer", "input_requested", "input_answered", "artifact", "state", "final", "error",
	"confidence", "citation", "reasoning", "tool_progress",
	"agent_started", "agent_ended", "run_started", "run_ended", "adopted", "usage", "plan", "outcome", "iteration",
}

// String is the kind's name in metrics and documents.
func (k Kind) String() string { return kindNames[k] }

// Kinds lists every kind.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Failure classifies what went wrong; it never holds text from the wire. Its values are those of `delegraph.failure`, and of `error.type`
// where the stream gives no code.
type Failure string

// The closed set of failures.
const (
	NoFailure       Failure = ""
	ToolError       Failure = "tool_error"
	ModelError      Failure = "model_error"
	AgentError      Failure = "agent_error"
	FailureTimeout  Failure = "timeout"
	FailureCanceled Failure = "canceled"
	OtherFailure    Failure = "_other"
)

// InputKind says what a run waits for.
type InputKind string

// The closed set of inputs.
const (
	InputConfirmation  InputKind = "confirmation"
	InputClarification InputKind = "clarification"
	InputSelection     InputKind = "selection"
	InputData          InputKind = "data"
	InputCredential    InputKind = "credential"
	InputTool          InputKind = "tool" // a long-running tool whose answer comes from outside
)

// ArtifactKind says what sort of thing was written.
type ArtifactKind string

// The closed set of artifacts.
const (
	ArtifactFile    ArtifactKind = "file"
	ArtifactData    ArtifactKind = "data"
	ArtifactDataset ArtifactKind = "dataset"
	ArtifactOther   ArtifactKind = "other"
)

// Count is a number that the wire may leave out; an unknown count is never 0.
type Count struct {
	N     int64
	Known bool
}

// Add is the sum of two counts: known as soon as one of them is.
func (c Count) Add(d Count) Count {
	return Count{N: c.N + d.N, Known: c.Known || d.Known}
}

// Duration is a time span that the wire may leave out; it is never guessed from clocks.
type Duration struct {
	D     time.Duration
	Known bool
}

// Usage counts the tokens of model responses as the GenAI conventions do: Output includes Reasoning, Input includes CacheRead.
type Usage struct {
	Input, Output, CacheRead, Reasoning Count
}

// Add sums two usages field by field.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:     u.Input.Add(v.Input),
		Output:    u.Output.Add(v.Output),
		CacheRead: u.CacheRead.Add(v.CacheRead),
		Reasoning: u.Reasoning.Add(v.Reasoning),
	}
}

// Artifact is one write of an artifact: the whole of it, or a chunk.
type Artifact struct {
	Kind     ArtifactKind
	Bytes    Count // of this write
	Index    Count // of the chunk, from 0; unknown where the write is the whole artifact, or chunks are not numbered
	Append   bool  // the write goes on where the last one ended
	Complete bool  // nothing more of it follows
}

// Plan counts what a run means to do by how far it is.
type Plan struct{ Pending, InProgress, Completed, Canceled int }

// Loop is where the loop of an agent stands, which asks a model and calls tools in turns.
type Loop struct {
	Iteration Count // as the protocol numbers it
	Messages  Count // that the model is given
	Tools     Count // that the model is offered
}

// Progress is how far a tool says that it is, as on the wire.
type Progress struct {
	Value float64
	Known bool
}

// Routing says who is to answer a request for input.
type Routing string

// The routings; "" where the wire does not say.
const (
	RoutedToUser  Routing = "user"
	RoutedToAgent Routing = "agent" // an agent further up may answer
)

// State is what a frame shows of shared state, without a value of it.
type State struct {
	Keys  []string // names of its top-level members, bounded by the decoder
	Bytes Count    // of it as JSON
}

// Event is one normalised fact. Which fields are set depends on Kind. Texts and values belong to its batch.
type Event struct {
	Kind          Kind
	ID            string // the frame's own id, where a fact is named by it (KindTransfer), an artifact's, a thought's, an adopted run's
	CallID        string // joins a call and its response; "" where the wire has none
	Name          string // tool, target agent, artifact, or who said it
	Model         string // as the stream names it, or ""
	FinishReason  string // as on the wire, or ""
	Input         InputKind
	Error         Failure
	Code          string // of the Error, as the stream gives it and wire.Code checks it; "" where it gives none
	FromCode      bool   // KindError: an error code inside an ordinary frame, not an error frame
	LongRunning   bool   // KindToolStarted: the answer comes from outside the run
	Pending       bool   // KindToolEnded: the agent only acknowledges a long-running call, whose answer is still to come from outside
	Settled       bool   // KindToolEnded: the agent's turn may end here, no model response is owed
	Resumes       bool   // KindRunStarted: it goes on with the last run of its session that was left waiting
	Unmetered     bool   // KindModelEnded, KindUsage: a frame with more of the response's Usage may follow
	AwaitsOutcome bool   // KindAgentEnded, KindRunEnded: frames that add to the outcome may follow
	AsksModel     bool   // KindIteration: a model is asked now
	Took          Duration
	ToolCalls     Count     // KindRunEnded: how many there were, as the protocol counts them
	Iterations    Count     // KindAgentEnded, KindRunEnded, KindOutcome: rounds of the agent's loop, as the protocol counts them
	Expires       Duration  // KindInputRequested: how long an answer is waited for
	Routing       Routing   // KindInputRequested
	Verbosity     Verbosity // KindThought: how detailed it is; ThoughtsNone where it does not say
	Thought       string    // KindThought: its type as on the wire ("planning"), or ""
	Progress      Progress  // KindToolProgress
	Loop          Loop      // KindIteration
	Steps         int
	More          int // KindConfidence, KindCitation: statements of the same text beyond the limit; at the last of them. KindArtifact: pieces
	Usage         Usage
	Plan          Plan
	Artifact      Artifact
	Confidence    Confidence
	Citation      Citation

	state   State
	text    []byte
	payload strictjson.Value
	pieces  []Piece
	memory  *memory // the batch's; an event without a batch gets its own
}

// Text returns the text of a KindText or KindThought. Callers must not change it.
func (e *Event) Text() []byte { return e.text }

// SetText sets the text to a copy of text.
func (e *Event) SetText(text []byte) { e.text = e.owner().copy(text) }

// Payload returns the arguments of a KindToolStarted or the result of a KindToolEnded, which may not exist.
func (e *Event) Payload() strictjson.Value { return e.payload }

// SetPayload sets the arguments or the result to v, or to a copy if v is not part of the event's batch.
func (e *Event) SetPayload(v strictjson.Value) { e.payload = e.owner().value(v) }

// Pieces returns what a KindArtifact writes, as far as the frame contains it. Callers must not change it.
func (e *Event) Pieces() []Piece { return e.pieces }

// AddPiece adds a piece to a KindArtifact. Values that are not part of the event's batch are copied. A piece beyond MaxPieces is only
// counted, in More.
func (e *Event) AddPiece(p Piece) {
	if len(e.pieces) == MaxPieces {
		e.More++
		return
	}
	p.Value, p.Schema = e.owner().value(p.Value), e.owner().value(p.Schema)
	e.pieces = append(e.pieces, p)
}

// State returns what a KindState shows. It stays valid after the batch is reset. Callers must not change it.
func (e *Event) State() State { return e.state }

// SetState sets what is shown of shared state to a copy of s.
func (e *Event) SetState(s State) {
	s.Keys = slices.Clone(s.Keys)
	e.state = s
}

func (e *Event) owner() *memory {
	if e.memory == nil {
		e.memory = new(memory)
	}
	return e.memory
}

// cost returns the approximate size of what the event refers to, in bytes, without the memory of its batch.
func (e *Event) cost() int {
	n := len(e.ID) + len(e.CallID) + len(e.Name) + len(e.Model) + len(e.FinishReason) + len(e.Thought)
	n += len(e.Confidence.Scope) + len(e.Confidence.Label) + len(e.Confidence.Topic)
	n += len(e.Citation.Source) + len(e.Citation.Reference) + len(e.Citation.URI)
	n += cap(e.state.Keys) * int(unsafe.Sizeof(""))
	for _, key := range e.state.Keys {
		n += len(key)
	}
	n += cap(e.pieces) * int(unsafe.Sizeof(Piece{}))
	for i := range e.pieces {
		n += len(e.pieces[i].Name) + len(e.pieces[i].Media)
	}
	return n
}

// Reason says why a frame could not be decoded; the values of the label `reason` of delegraph_parse_errors_total.
type Reason string

// The reasons besides those of strictjson, which are used as they are.
const (
	ReasonTooLarge     Reason = "too_large"    // over the frame limit, skipped to its blank line
	ReasonShape        Reason = "shape"        // strict JSON, but not what the dialect sends, or more than MaxEvents of it
	ReasonUnrecognised Reason = "unrecognised" // no dialect knows the frame
	ReasonForeign      Reason = "foreign"      // of a stream of another dialect than its source or path says
	ReasonPanic        Reason = "panic"        // a decoder failed in a way that it must not
	ReasonTruncated    Reason = "truncated"    // the stream ended inside a frame
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonTooLarge, ReasonShape, ReasonUnrecognised, ReasonForeign, ReasonPanic, ReasonTruncated,
		Reason(strictjson.Syntax), Reason(strictjson.DuplicateName), Reason(strictjson.FoldedName),
		Reason(strictjson.InvalidUTF8), Reason(strictjson.TrailingData), Reason(strictjson.Depth),
	}
}
