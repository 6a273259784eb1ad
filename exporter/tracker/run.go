package tracker

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Status says how a run stands or ended. Its values are those of the metric label `status`.
type Status string

// The closed set of statuses.
const (
	Running     Status = "running"
	Completed   Status = "completed"   // a final frame, and nothing pending
	Failed      Status = "failed"      // an error with no final frame after it
	Canceled    Status = "canceled"    // by the agent's word, or the client left
	Interrupted Status = "interrupted" // it waits for a human or for a credential
	Incomplete  Status = "incomplete"  // the stream ended, or we let go of it, with work pending
	TimedOut    Status = "timed_out"   // nothing came for the idle time
)

// Statuses lists every status that a run can end with.
func Statuses() []Status {
	return []Status{Completed, Failed, Canceled, Interrupted, Incomplete, TimedOut}
}

// StatusReason says why a run did not complete; "" where it did.
type StatusReason string

// The closed set of reasons.
const (
	NoReason      StatusReason = ""
	ErrorFrame    StatusReason = "error_frame"
	ErrorCode     StatusReason = "error_code"
	ClientLeft    StatusReason = "client_left"
	AgentCanceled StatusReason = "agent_canceled"
	AwaitingInput StatusReason = "awaiting_input"
	StreamEnded   StatusReason = "stream_ended"
	BrokenOff     StatusReason = "broken_off"
	Idle          StatusReason = "idle"
	Evicted       StatusReason = "evicted"
	Shutdown      StatusReason = "shutdown"
)

// OperationKind is the convention's gen_ai.operation.name of a timed thing.
type OperationKind string

// The operations that a stream shows.
const (
	InvokeWorkflow OperationKind = "invoke_workflow" // an application or a workflow, which is no agent
	InvokeAgent    OperationKind = "invoke_agent"
	InvokeNode     OperationKind = "invoke_node" // a workflow's step that is no agent; ADK has this name, the conventions have none
	Chat           OperationKind = "chat"
	ExecuteTool    OperationKind = "execute_tool"
)

// order is that in which a frame shows operations.
func (k OperationKind) order() int {
	switch k {
	case Chat:
		return 1
	case ExecuteTool:
		return 2
	}
	return 0
}

// Invokes reports whether an operation of this kind runs others: it ends by what it runs, not by a frame.
func (k OperationKind) Invokes() bool { return k != Chat && k != ExecuteTool }

// OperationStatus says how an operation ended.
type OperationStatus string

// The closed set of an operation's ends.
const (
	OK                   OperationStatus = "ok"
	Error                OperationStatus = "error"
	OperationInterrupted OperationStatus = "interrupted"
	Unfinished           OperationStatus = "unfinished"
)

// Timing says what an operation's times are worth. The zero value is that of one that has not ended.
type Timing uint8

// The three worths of a time.
const (
	Reported Timing = iota + 1 // both ends stand on the wire
	Observed                   // both ends are times of receipt
	Unknown
)

// String is the value of delegraph.timing.
func (t Timing) String() string { return [...]string{"", "reported", "observed", "unknown"}[t] }

// SpanID identifies an operation; it is also the id of its span.
type SpanID [8]byte

// Moment is a point on a run's clock: a time where one is known, and always the ordinal of the frame that showed it.
type Moment struct {
	At    time.Time // zero where unknown
	Frame int       // from 1; 0 is the request, before any frame
}

// Operation is a timed thing that happened within a run. A run keeps thousands of them, and most have no more than this.
type Operation struct {
	ID, Parent SpanID // Parent is zero for the run's own operation
	Kind       OperationKind
	Name       string // the agent, tool or model; "" where unknown
	Agent      string // who called it; of an invoke_agent its own name
	Branch     string
	CallID     string
	Status     OperationStatus
	Error      event.Failure
	Code       string // of the Error, as the stream gives it; "" where it gives none
	Started    Moment
	Ended      Moment
	Details    *Details  // nil where it has none
	Response   *Response // of a model; nil before it ends
	*course              // nil once the observers have seen its end
	Timing     Timing
	AgentTool  bool // a tool that the configuration names as an agent
	Inferred   bool // a tool's response is taken for its own by its name and order, since the wire joins the two by nothing

	open   bool
	over   bool   // by the protocol's word
	waits  bool   // for an answer from outside
	owes   bool   // had more to do when its run ended
	gone   bool   // it turned out not to have happened
	shown  uint32 // ordinal of the first frame that shows it, which orders the report
	repeat uint32 // how often its call id was used before
	owing  uint32 // branches in which it must be heard of again
	asks   uint32 // its requests for input that wait for an answer
	parent *Operation
}

// ErrorType returns the value of error.type: the code that the stream gives the operation's failure, else our class of it, "" if it did not
// fail.
func (op *Operation) ErrorType() string { return cmp.Or(op.Code, string(op.Error)) }

// Duration returns how long the operation took and what says so: its own two times or, where one of these is not known, the protocol,
// which is Reported. Where neither does, or the operation goes on, it is Unknown.
func (op *Operation) Duration() (time.Duration, Timing) {
	switch took := op.Details.OrNone().Took; {
	case op.Timing == Observed, op.Timing == Reported:
		return op.Ended.At.Sub(op.Started.At), op.Timing
	case op.Timing == Unknown && took.Known:
		return took.D, Reported
	}
	return 0, Unknown
}

// FirstChunk returns how long the first chunk of a model's response took, where the response came in chunks and its beginning is known.
func (op *Operation) FirstChunk() (took time.Duration, known bool) {
	first := op.Response.OrNone().FirstChunk.At
	if first.IsZero() || op.Timing != Observed && op.Timing != Reported {
		return 0, false
	}
	return max(first.Sub(op.Started.At), 0), true
}

// Details are what few operations have.
type Details struct {
	Took          event.Duration // as the protocol says, of an operation whose own times are not known
	From, To      time.Time      // where one of unknown times is put: around what is part of it, else where what it is part of begins
	HandoffSource string         // a transfer's two ends
	HandoffTarget string
	Links         []SpanID // of the transfers that led here
	Confidence    []Statement
	Citations     []event.Citation
	ReasoningStep event.Count
	Dropped       int            // statements beyond the limit of one operation
	State         event.State    // of an agent: the last that it showed
	Loop          event.Loop     // of an agent: the last that the stream says; of a model's response: of its request
	RequestModel  string         // of a model's response
	Iterations    event.Count    // of an agent: rounds of its loop, by the protocol's word at its end
	Thoughts      []string       // of an agent: the types of its thoughts
	Progress      event.Progress // of a tool call: the last that it reported
	Content       *Content       // nil where none is kept; gone once the observers have seen it
}

// OrNone is for reading them, wherever they are.
func (d *Details) OrNone() Details {
	if d == nil {
		return Details{}
	}
	return *d
}

// details is for writing them.
func (op *Operation) details() *Details {
	if op.Details == nil {
		op.Details = &Details{}
	}
	return op.Details
}

// Response is what a model said of its response. It is never changed, only replaced: copies of a run share it.
type Response struct {
	FinishReason string
	Usage        event.Usage
	FirstChunk   Moment // zero where the response came whole
}

// OrNone is for reading it, whatever the operation.
func (r *Response) OrNone() Response {
	if r == nil {
		return Response{}
	}
	return *r
}

// Statement is a confidence and who gave it.
type Statement struct {
	Agent string
	event.Confidence
	Restated bool // a final text repeats what a specialist had already given
}

// Source is a citation and who gave it.
type Source struct {
	Agent string
	event.Citation
}

// Reasoning is the length of a reasoning chain and whose it is.
type Reasoning struct {
	Agent string
	Steps int
}

// Thought is how many thoughts of a type an agent had. Thoughts without a type are not counted: they may be pieces of one.
type Thought struct {
	Agent, Type string
	Count       int

	last string // id of the last one, of which more pieces may come
}

// Transfer is one hand-over of control.
type Transfer struct {
	From, To string
	Event    string // the id of the frame that says so
	Loop     bool   // the target had handed control over before, on the way to the one that hands it over now
}

// InputStatus says how a request for input stands.
type InputStatus string

// The closed set of an input's ends.
const (
	InputOpen     InputStatus = "open"
	InputAnswered InputStatus = "answered"
	InputExpired  InputStatus = "expired"
)

// Input is something that a run asked for.
type Input struct {
	ID        string
	Kind      event.InputKind
	Status    InputStatus
	Routing   event.Routing
	Requested Moment
	Answered  Moment
	Question  *Question // nil where none is kept; gone once the observers have seen the end of the run's own operation
	expires   event.Duration
	owner     *Operation
	pending   bool // the agent has only acknowledged it,
	passed    bool // and has given its final answer without it
}

// isLate says whether nobody answered for as long as an answer was waited for.
func (i Input) isLate(now time.Time) bool {
	return i.expires.Known && !i.Requested.At.IsZero() && now.Sub(i.Requested.At) >= i.expires.D
}

// Wait is how long the answer took; unknown while it is open or where a time is.
func (i Input) Wait() (time.Duration, bool) {
	if i.Requested.At.IsZero() || i.Answered.At.IsZero() || i.Answered.At.Before(i.Requested.At) {
		return 0, false
	}
	return i.Answered.At.Sub(i.Requested.At), true
}

// Artifact is something that a run wrote. Its Bytes are those of all its chunks.
type Artifact struct {
	ID   string // "" where each write stands for itself
	Name string
	event.Artifact
	Gaps       int // chunks that did not come, by their numbers
	Duplicates int // chunks that came again

	next int64 // number of the next chunk
}

// Metered is token usage of a run that the protocol ties to no response.
type Metered struct {
	Model string
	event.Usage
}

// Link names another run that this one continues, and the span of its own operation.
type Link struct {
	Kind, Run string
	Trace     [16]byte
	Root      SpanID
	Sampled   bool
}

// Run is one invocation of an agent. Observers see it under the tracker's lock and do not keep it.
type Run struct {
	ID      string // on the wire, or ""
	Source  string
	Dialect string
	Session string
	App     string
	Agent   string // the first author that is not the user, or ""
	Trace   [16]byte
	Parent  event.SpanContext
	Sampled bool
	Live    bool

	Status    Status
	Reason    StatusReason
	Root      *Operation
	FirstText Moment

	Operations []*Operation // all that ended, up to the limit, and those still open
	Transfers  []Transfer
	Confidence []Statement
	Citations  []Source
	Reasoning  []Reasoning
	Thoughts   []Thought
	Inputs     []*Input
	Artifacts  []Artifact
	Links      []Link
	Usage      event.Usage
	Metered    []Metered
	Plan       event.Plan
	Took       event.Duration // by the protocol's word at its end
	ToolCalls  event.Count    // by the protocol's word at its end
	Unrated    map[string]int // final texts without a confidence, by agent

	// Offset is the least time of receipt less time reported of a frame: what the agent's clock and ours differ by, and the
	// shortest delay. It is known of live runs whose frames carry times.
	Offset      time.Duration
	OffsetKnown bool

	Events      int // frames decoded without error
	Internal    int
	ParseErrors int
}

// Place is where an operation stands among its run's times: between its own where both are known, else beside what is known: where
// it was put, at the end of it that is known, or where its run begins. Where there is nothing of all that, known is false, and
// only the ordinals of its frames say where it stands.
func (r *Run) Place(op *Operation) (from, to time.Time, known bool) {
	from, to = op.Started.At, op.Ended.At
	put := op.Details.OrNone()
	switch {
	case !from.IsZero() && !to.IsZero():
	case !put.From.IsZero():
		from, to = put.From, put.To
	case !to.IsZero():
		from = to
	case !from.IsZero():
		to = from
	default:
		from, to = r.Root.Started.At, r.Root.Started.At
	}
	if to.Before(from) {
		from = to
	}
	return from, to, !from.IsZero()
}
