// Package event is the vocabulary of Delegraph: dialects decode frames into events, and exporters
// consume them.
package event

import (
	"slices"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// Kind says what fact an event states. Its names are the values of the metric label `kind`.
type Kind uint8

// The closed set of kinds, each with the fields of Event that it uses.
const (
	KindOther          Kind = iota // a fact that the dialect knows but no signal uses
	KindText                       // text of an answer
	KindThought                    // a model's reasoning, never an answer: ThoughtType, Verbosity
	KindModelStarted               // the first partial frame of a model's response
	KindModelEnded                 // a model's complete response: Model, FinishReason, Usage, Error, Code
	KindToolStarted                // a tool call: CallID, Name, LongRunning
	KindToolPaused                 // a tool call waits for a human: CallID
	KindToolEnded                  // the response to a tool call: CallID, Name, Error, Code, Payload
	KindTransfer                   // the batch's agent hands control to Name by the call CallID; ID is the frame's id
	KindInputRequested             // the run asks for input: CallID, Input, Question
	KindInputAnswered              // requested input has arrived: CallID
	KindArtifact                   // an artifact was written: Name, Artifact, Pieces
	KindState                      // shared state changed
	KindFinal                      // the dialect's own mark of a final response
	KindError                      // the run or the agent failed: Error, Code, Inline, Elsewhere, Beside; Name names an agent that does not exist, or is ""
	KindConfidence                 // Confidence, stated by Name
	KindCitation                   // Citation, stated by Name
	KindReasoning                  // the length of a reasoning chain: Steps, stated by Name
	KindToolProgress               // a tool call makes progress: CallID, Progress
	KindAgentStarted               // the batch's agent starts, in its branch
	KindAgentEnded                 // the batch's agent has ended: Error, Code, Duration, Iterations
	KindRunStarted                 // the protocol says that the run starts
	KindRunEnded                   // the protocol says that the run has ended: Error, Code, Duration, Iterations
	KindChildRun                   // the run with this ID is an agent of the batch's run: Name
	KindUsage                      // Usage of the last model response of the batch's agent: Model
	KindPlan                       // the steps that the run plans: Plan
	KindOutcome                    // details that follow the stated end of the batch's agent or run: Duration, Iterations
	KindIteration                  // the state of the agent's loop: Loop, Model, CallsModel; without these, its next round begins
	numKinds
)

var kindNames = [numKinds]string{
	"other", "text", "thought", "model_started", "model_ended", "tool_started", "tool_paused", "tool_ended",
	"transfer", "input_requested", "input_answered", "artifact", "state", "final", "error",
	"confidence", "citation", "reasoning", "tool_progress",
	"agent_started", "agent_ended", "run_started", "run_ended", "adopted", "usage", "plan", "outcome", "iteration",
}

// String returns the kind's name in metrics and documents.
func (k Kind) String() string { return kindNames[k] }

// ParseKind returns the kind with a name.
func ParseKind(name string) (k Kind, known bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// Kinds returns every kind.
func Kinds() []Kind {
	all := make([]Kind, numKinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Failure classifies what went wrong. It never holds text from the wire. Its values are those of
// `delegraph.failure`, and of `error.type` if the stream gives no code.
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

// InputKind says what kind of input a run waits for.
type InputKind string

// The closed set of input kinds.
const (
	InputConfirmation  InputKind = "confirmation"
	InputClarification InputKind = "clarification"
	InputSelection     InputKind = "selection"
	InputData          InputKind = "data"
	InputCredential    InputKind = "credential"
	InputTool          InputKind = "tool" // a long-running tool whose response comes from outside
)

// ArtifactKind says what kind of artifact was written.
type ArtifactKind string

// The closed set of artifact kinds.
const (
	ArtifactFile    ArtifactKind = "file"
	ArtifactData    ArtifactKind = "data"
	ArtifactDataset ArtifactKind = "dataset"
	ArtifactOther   ArtifactKind = "other"
)

// Count is a number that may be missing on the wire. An unknown count is not 0.
type Count struct {
	N     int64
	Known bool
}

// Add returns the sum of two counts. It is known if either count is.
func (c Count) Add(d Count) Count {
	return Count{N: c.N + d.N, Known: c.Known || d.Known}
}

// since returns by how much a count exceeds an earlier one. It is unknown if it does not, except for the first count of 0.
func (c Count) since(earlier Count) Count {
	if !c.Known || earlier.Known && c.N <= earlier.N {
		return Count{}
	}
	return Count{N: c.N - earlier.N, Known: true}
}

// Duration is a time span that may be missing on the wire. It is never derived from timestamps.
type Duration struct {
	D     time.Duration
	Known bool
}

// Usage counts the tokens of model responses as the GenAI conventions do: Output includes Reasoning,
// and Input includes CacheRead.
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

// Since returns by how much each count exceeds an earlier one.
func (u Usage) Since(earlier Usage) Usage {
	return Usage{
		Input:     u.Input.since(earlier.Input),
		Output:    u.Output.since(earlier.Output),
		CacheRead: u.CacheRead.since(earlier.CacheRead),
		Reasoning: u.Reasoning.since(earlier.Reasoning),
	}
}

// Artifact describes one write of an artifact: all of it, or a chunk.
type Artifact struct {
	Kind     ArtifactKind
	Bytes    Count // of this write
	Index    Count // of the chunk, from 0; unknown if the write is the whole artifact or chunks have no numbers
	Append   bool  // the write continues the one before
	Complete bool  // it is the last write
}

// Plan counts the planned steps of a run by their status.
type Plan struct{ Pending, InProgress, Completed, Canceled int }

// Loop is the state of an agent's loop of model and tool calls.
type Loop struct {
	Iteration Count // as the protocol numbers it
	Messages  Count // passed to the model
	Tools     Count // offered to the model
}

// Progress is the progress that a tool reports, as on the wire.
type Progress struct {
	Value float64
	Known bool
}

// Routing says whether the user or an agent should answer a request for input.
type Routing string

// The routings; "" if the wire does not say.
const (
	RoutedToUser  Routing = "user"
	RoutedToAgent Routing = "agent" // a calling agent may answer
)

// State describes shared state in a frame, without its values.
type State struct {
	Keys  []string // names of its top-level members, bounded by the decoder
	Bytes Count    // size as JSON
}

// Event is one normalized fact. Kind determines which fields are set. Texts and values belong to the
// event's batch.
type Event struct {
	Kind            Kind
	ID              string // of the frame (KindTransfer), the artifact, the thought or the child run
	Message         string // KindText, KindThought: equal for the pieces of one text and the whole that repeats them, else different; "" if unknown
	CallID          string // the same for a call and its response; "" if the wire has none
	Name            string // of a tool, a target agent or an artifact, the agent or tool that stated the fact, or the run's agent if no frame names it (KindRunStarted)
	Model           string // as the stream names it, or ""
	FinishReason    string // as on the wire, or ""
	Input           InputKind
	Error           Failure
	Code            string // of the Error, as checked by wire.Code; "" if the stream gives none
	Inline          bool   // KindError: the error code was in an ordinary frame, not in an error frame
	Elsewhere       bool   // KindError: what failed is no open response, or is not known to be one
	Beside          bool   // KindError: something failed, or may have, that runs beside the agents that have spoken
	Truncated       bool   // KindText: the text was too long to be kept, and its beginning is missing
	LongRunning     bool   // KindToolStarted: the response comes from outside the run
	ReusesID        bool   // KindToolStarted: another call of the run had the CallID
	Pending         bool   // KindToolEnded: the agent only acknowledges a long-running call; its response is still to come
	TurnMayEnd      bool   // KindToolStarted, KindToolEnded: the agent's turn may end here, as with a call that hands control over
	EndsAgent       bool   // KindToolEnded: the call is the invocation of the agent that it names, not a tool
	AgentNotFound   bool   // KindToolEnded: the agent that the call names does not exist
	Resumes         bool   // KindRunStarted: it resumes the session's last run that was left waiting
	UsageIncomplete bool   // KindModelEnded, KindUsage: a later frame may add to the response's Usage
	Uncertain       bool   // KindModelStarted: the last whole frame may not be the cause. KindModelEnded: the stream does not say when, or which of the agent's open responses has ended. KindToolEnded: the frame repeats a state, and an earlier one may have been missed
	StartUnknown    bool   // KindToolEnded: the stream does not say when the call began
	AwaitsOutcome   bool   // KindAgentEnded, KindRunEnded: later frames may add to the outcome
	Cuts            bool   // KindRunEnded: it cuts the open response, so the run is not complete
	CallsModel      bool   // KindIteration: a model is being called
	Duration        Duration
	ToolCalls       Count     // KindRunEnded: as counted by the protocol
	Iterations      Count     // KindAgentEnded, KindRunEnded, KindOutcome: rounds of the agent's loop, as counted by the protocol
	ExpiresIn       Duration  // KindInputRequested: how long the run waits for an answer
	Routing         Routing   // KindInputRequested
	Verbosity       Verbosity // KindThought: how detailed it is; ThoughtsNone if it does not say
	ThoughtType     string    // KindThought: as on the wire ("planning"), or ""
	Progress        Progress  // KindToolProgress
	Loop            Loop      // KindIteration
	Steps           int       // KindReasoning
	Omitted         int       // number of omitted pieces (KindArtifact), or of omitted statements (last KindConfidence or KindCitation of a text)
	Task            Task      // KindModelStarted, KindModelEnded: in which the model was asked
	Asked           time.Time // KindRunStarted: when the run was asked for. KindModelStarted, KindModelEnded: when the model was. By the server's clock; zero if the stream does not say
	Usage           Usage
	Plan            Plan
	Artifact        Artifact
	Confidence      Confidence
	Citation        Citation

	question *Question
	state    State
	text     []byte
	payload  strictjson.Value
	pieces   []Piece
	memory   *memory // the batch's; an event without a batch gets its own
}

// Text returns the text of a KindText or KindThought. The caller must not change it.
func (e *Event) Text() []byte { return e.text }

// SetText sets the text to a copy of text, in readable form.
func (e *Event) SetText(text []byte) { e.text = strictjson.MakeReadable(e.owner().copy(text)) }

// Payload returns the arguments of a KindToolStarted or the result of a KindToolEnded, if it exists.
func (e *Event) Payload() strictjson.Value { return e.payload }

// SetPayload sets the arguments or the result to v. It copies v if v is not part of the event's batch.
func (e *Event) SetPayload(v strictjson.Value) { e.payload = e.owner().value(v) }

// Pieces returns the pieces of a KindArtifact that the frame contains. The caller must not change
// them.
func (e *Event) Pieces() []Piece { return e.pieces }

// AddPiece adds a piece to a KindArtifact. It copies values that are not part of the event's batch.
// A piece beyond MaxPieces is only counted, in Omitted.
func (e *Event) AddPiece(p Piece) {
	if len(e.pieces) == MaxPieces {
		e.Omitted++
		return
	}
	p.Value, p.Schema = e.owner().value(p.Value), e.owner().value(p.Schema)
	e.pieces = append(e.pieces, p)
}

// State returns the state of a KindState. It stays valid after the batch is reset. The caller must
// not change it.
func (e *Event) State() State { return e.state }

// SetState sets the state to a copy of s.
func (e *Event) SetState(s State) {
	s.Keys = slices.Clone(s.Keys)
	e.state = s
}

// owner returns the memory that holds the event's values. It creates one for an event without a batch.
func (e *Event) owner() *memory {
	if e.memory == nil {
		e.memory = new(memory)
	}
	return e.memory
}

// size returns the approximate size of what the event refers to, in bytes, without the batch's memory.
func (e *Event) size() int {
	n := len(e.ID) + len(e.Message) + len(e.CallID) + len(e.Name) + len(e.Model) + len(e.FinishReason) + len(e.ThoughtType)
	n += len(e.Confidence.Scope) + len(e.Confidence.Label) + len(e.Confidence.Topic)
	n += len(e.Citation.Source) + len(e.Citation.Reference) + len(e.Citation.URI)
	if e.question != nil {
		n += int(unsafe.Sizeof(Question{})) + len(e.question.Prompt)
	}
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

// Reason says why a frame could not be decoded. Its values are those of the label `reason` of
// delegraph_parse_errors_total.
type Reason string

// The reasons in addition to those of strictjson.
const (
	ReasonTooLarge     Reason = "too_large"    // over the frame limit, and skipped to its blank line, or with more than MaxEvents events
	ReasonShape        Reason = "shape"        // strict JSON, but not what the dialect sends
	ReasonUnrecognized Reason = "unrecognised" // no dialect recognizes the frame
	ReasonForeign      Reason = "foreign"      // the stream's dialect differs from that of its source or path
	ReasonPanic        Reason = "panic"        // the decoder panicked
	ReasonTruncated    Reason = "truncated"    // the stream ended inside a frame
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonTooLarge, ReasonShape, ReasonUnrecognized, ReasonForeign, ReasonPanic, ReasonTruncated,
		Reason(strictjson.Syntax), Reason(strictjson.DuplicateName), Reason(strictjson.FoldedName),
		Reason(strictjson.InvalidUTF8), Reason(strictjson.TrailingData), Reason(strictjson.Depth),
	}
}
