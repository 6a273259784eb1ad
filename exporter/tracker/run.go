package tracker

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Status is the state of a run, or how it ended. The values are those of the metric label `status`.
type Status string

// The statuses of a run.
const (
	Running     Status = "running"
	Completed   Status = "completed"   // a stated end, or a final frame with nothing pending
	Failed      Status = "failed"      // an error that no later final frame canceled
	Canceled    Status = "canceled"    // the agent reported it, or the client left
	Interrupted Status = "interrupted" // waiting for a human or a credential
	Incomplete  Status = "incomplete"  // the stream broke, it ended without a final frame or with work pending, or the tracker dropped the run
	TimedOut    Status = "timed_out"   // no frame for the idle timeout
)

// Statuses returns every status that a run can end with.
func Statuses() []Status {
	return []Status{Completed, Failed, Canceled, Interrupted, Incomplete, TimedOut}
}

// StatusReason says why a run did not complete. It is empty for a completed run.
type StatusReason string

// The reasons why a run did not complete.
const (
	NoReason            StatusReason = ""
	ReasonErrorFrame    StatusReason = "error_frame"
	ReasonErrorCode     StatusReason = "error_code"
	ReasonClientLeft    StatusReason = "client_left"
	ReasonAgentCanceled StatusReason = "agent_canceled"
	ReasonAwaitingInput StatusReason = "awaiting_input"
	ReasonStreamEnded   StatusReason = "stream_ended"
	ReasonBrokenOff     StatusReason = "broken_off"
	ReasonIdle          StatusReason = "idle"
	ReasonEvicted       StatusReason = "evicted"
	ReasonShutdown      StatusReason = "shutdown"
)

// OperationKind is the kind of an operation, as in the attribute gen_ai.operation.name.
type OperationKind string

// The kinds of operations.
const (
	InvokeWorkflow OperationKind = "invoke_workflow" // an application or a workflow, not an agent
	InvokeAgent    OperationKind = "invoke_agent"
	InvokeNode     OperationKind = "invoke_node" // a workflow step that is not an agent; the name comes from ADK, because the OpenTelemetry conventions have none
	Chat           OperationKind = "chat"
	ExecuteTool    OperationKind = "execute_tool"
)

// rank returns the position of a kind in the report, among operations that first appear in the same frame, see reportOrder.
// Operations of the same rank are numbered together, see setOrdinal.
func (k OperationKind) rank() int {
	switch k {
	case Chat:
		return 1
	case ExecuteTool:
		return 2
	}
	return 0
}

// Invokes reports whether operations of this kind run others. Such an operation ends with the last of its own
// frames and of the operations that it runs. A call or a response ends with one frame.
func (k OperationKind) Invokes() bool { return k != Chat && k != ExecuteTool }

// OperationStatus is how an operation ended.
type OperationStatus string

// The statuses of an ended operation.
const (
	OperationOK          OperationStatus = "ok"
	OperationError       OperationStatus = "error"
	OperationInterrupted OperationStatus = "interrupted"
	OperationUnfinished  OperationStatus = "unfinished"
)

// Timing says where an operation's times come from. The zero value means that the operation has not
// ended.
type Timing uint8

// The sources of an operation's times.
const (
	TimingReported Timing = iota + 1 // both times are in the stream
	TimingObserved                   // both times are times of receipt
	TimingUnknown                    // at least one time is unknown
)

// String returns the value of the attribute delegraph.timing.
func (t Timing) String() string { return [...]string{"", "reported", "observed", "unknown"}[t] }

// SpanID identifies an operation. It is also the id of its span.
type SpanID [8]byte

// Timestamp is a point on a run's clock: the frame that showed it, and the time if that is known.
type Timestamp struct {
	At    time.Time // zero if unknown
	Frame int       // from 1; 0 is the request, before any frame
}

// Operation is a timed part of a run. Facts that few operations have are in Details, because a run
// keeps thousands of operations.
type Operation struct {
	ID, Parent       SpanID // Parent is zero for the root operation
	Kind             OperationKind
	Name             string // of the agent, tool or model; "" if unknown
	Agent            string // the agent that made the call; for an invoke_agent operation its own name
	Branch           string
	CallID           string
	Status           OperationStatus
	Failure          event.Failure
	ErrorCode        string // code of the failure as in the stream, or ""
	Started          Timestamp
	Ended            Timestamp
	Details          *Details  // nil if there are none
	Response         *Response // of a model; nil before the response ends
	*openState                 // nil once the observers have seen the operation end
	Timing           Timing
	AgentTool        bool // the configuration names the tool as an agent
	ResponseInferred bool // the response was matched to the call by name and order, because the stream has no ids

	open          bool
	endStated     bool   // the protocol stated its end
	awaitsAnswer  bool   // it waits for an answer from outside the run
	hasUnfinished bool   // an operation below it ended unfinished
	senderUnknown bool   // see event.Batch.AgentUnknown
	dropped       bool   // it turned out not to have happened; compact removes it from the run
	firstFrame    uint32 // the first frame that shows it, which orders the report
	earlierUses   uint32 // how often its name or call id was used before, or an upper bound
	repliesDue    uint32 // branches in which it is expected to speak again
	openInputs    uint32 // its unanswered requests for input
	parent        *Operation
}

// ErrorType returns the value of error.type: the failure's code from the stream, else its class, or
// "" if the operation did not fail.
func (op *Operation) ErrorType() string { return cmp.Or(op.ErrorCode, string(op.Failure)) }

// Duration returns how long the operation took, and where this value comes from. It is Details.ReportedDuration
// (TimingReported) if that is set, else the time from the operation's start to its end. Duration returns TimingUnknown
// if neither is known or the operation is still open.
func (op *Operation) Duration() (time.Duration, Timing) {
	switch took := op.Details.OrZero().ReportedDuration; {
	case took.Known:
		return took.D, TimingReported
	case op.Timing == TimingObserved, op.Timing == TimingReported:
		return op.Ended.At.Sub(op.Started.At), op.Timing
	}
	return 0, TimingUnknown
}

// FirstChunk returns the time to the first chunk of a model's response. It is known if the response
// was streamed and its start is known.
func (op *Operation) FirstChunk() (took time.Duration, known bool) {
	first := op.Response.OrZero().FirstChunk.At
	if first.IsZero() || first.Before(op.Started.At) || op.Timing != TimingObserved && op.Timing != TimingReported {
		return 0, false
	}
	return first.Sub(op.Started.At), true
}

// Details holds facts that few operations have.
type Details struct {
	ReportedDuration             event.Duration // as reported by the protocol. Set only if Timing is unknown, or if the operation would begin before the run.
	EstimatedStart, EstimatedEnd time.Time      // of an operation of unknown times: around its children, else at the start of an ancestor
	HandoffSource                string         // source and target of a transfer
	HandoffTarget                string
	Links                        []SpanID // the calls that transferred control to this agent
	Confidence                   []Confidence
	Citations                    []event.Citation
	ReasoningSteps               event.Count
	DroppedStatements            int            // confidences, citations and reasoning chains beyond the limit
	State                        event.State    // an agent's last reported state
	Loop                         event.Loop     // an agent's last reported loop state, or that of a model's request
	RequestModel                 string         // model that was requested
	ReportedIterations           event.Count    // rounds of an agent's loop, as reported at its end
	Thoughts                     []string       // types of an agent's thoughts
	Progress                     event.Progress // a tool call's last reported progress
	Content                      *Content       // nil if none is kept; cleared once the observers have seen it
}

// OrZero returns the details, or the zero value for nil.
func (d *Details) OrZero() Details {
	if d == nil {
		return Details{}
	}
	return *d
}

// details returns the details for writing.
func (op *Operation) details() *Details {
	if op.Details == nil {
		op.Details = &Details{}
	}
	return op.Details
}

// Response is what a model reported about its response. It is replaced, never changed: copies of a
// run share it.
type Response struct {
	FinishReason string
	Usage        event.Usage
	FirstChunk   Timestamp // zero if the response was not streamed
}

// OrZero returns the response, or the zero value for nil.
func (r *Response) OrZero() Response {
	if r == nil {
		return Response{}
	}
	return *r
}

// Confidence is a stated confidence and the agent that stated it.
type Confidence struct {
	Agent string
	event.Confidence
	Restated bool // it repeats a value that another agent had stated: in the text of an answer, or as the result of the call around that agent
}

// Citation is a cited source and the agent that cited it.
type Citation struct {
	Agent string
	event.Citation
}

// Reasoning is the length of a reasoning chain and the agent that reported it.
type Reasoning struct {
	Agent string
	Steps int
}

// ThoughtCount is the number of an agent's thoughts of one type. Thoughts without a type are not
// counted, because they may be pieces of one thought.
type ThoughtCount struct {
	Agent, Type string
	Count       int

	last string // id of the last thought, which may come in several pieces
}

// Transfer is one transfer of control.
type Transfer struct {
	From, To string
	EventID  string // of the frame that states the transfer
	Loop     bool   // the target had transferred control earlier in this chain
}

// InputStatus is the state of a request for input.
type InputStatus string

// The states of a request for input.
const (
	InputOpen     InputStatus = "open"
	InputAnswered InputStatus = "answered"
	InputExpired  InputStatus = "expired"
)

// InputRequest is a run's request for external input.
type InputRequest struct {
	ID           string
	Kind         event.InputKind
	Status       InputStatus
	Routing      event.Routing
	Requested    Timestamp
	Answered     Timestamp
	Operation    SpanID    // the operation that waits; set before RunEnded and by RunView.Copy
	Question     *Question // nil if none is kept; cleared once the observers have seen the root operation end
	expires      event.Duration
	owner        *Operation
	acknowledged bool // the agent acknowledged its own long-running call
	abandoned    bool // the agent then gave its final answer without the result
}

// isExpired reports whether the time to answer the request is over.
func (i InputRequest) isExpired(now time.Time) bool {
	return i.expires.Known && !i.Requested.At.IsZero() && now.Sub(i.Requested.At) >= i.expires.D
}

// Wait returns the time from the request to its answer. It is unknown while the request is open, or
// if one of the times is.
func (i InputRequest) Wait() (time.Duration, bool) {
	if i.Requested.At.IsZero() || i.Answered.At.IsZero() || i.Answered.At.Before(i.Requested.At) {
		return 0, false
	}
	return i.Answered.At.Sub(i.Requested.At), true
}

// Artifact is something that a run wrote. Bytes is the size of all its chunks.
type Artifact struct {
	ID   string // "" if every write is an artifact of its own
	Name string
	event.Artifact
	Gaps       int // gaps in the chunk numbers
	Duplicates int // chunks received again

	next    int64        // number of the next chunk
	skipped []chunkRange // the gaps, up to a limit
}

// UnattributedUsage is token usage that the protocol reports for the run rather than for a
// response.
type UnattributedUsage struct {
	Model string
	event.Usage
}

// Link identifies another run that this one continues, and that run's root span.
type Link struct {
	Kind, Run string
	Trace     [16]byte
	Root      SpanID
	Sampled   bool
}

// Run is one invocation of an agent. Observers get it with the tracker's lock held and must not
// keep it.
type Run struct {
	ID      string // from the stream, or ""
	Source  string
	Dialect string
	Session string
	App     string
	Agent   string // the root agent, or ""; it may be decided late
	Trace   [16]byte
	Parent  event.SpanContext
	Sampled bool
	Live    bool

	Status    Status
	Reason    StatusReason
	Root      *Operation
	FirstText Timestamp

	Operations        []*Operation // open ones, and ended ones up to the limit
	Transfers         []Transfer
	Confidence        []Confidence
	Citations         []Citation
	Reasoning         []Reasoning
	Thoughts          []ThoughtCount
	Inputs            []*InputRequest
	Artifacts         []Artifact
	Links             []Link
	Usage             event.Usage
	UnattributedUsage []UnattributedUsage
	Plan              event.Plan
	ReportedDuration  event.Duration // as the protocol states it at the end
	ReportedToolCalls event.Count    // as the protocol states it at the end
	UnratedAnswers    map[string]int // final texts without a confidence, by agent

	// ClockOffset is the smallest difference between a frame's time of receipt and its reported
	// time: the difference of the two clocks plus the shortest delay. It is known for live runs
	// whose frames have times.
	ClockOffset      time.Duration
	ClockOffsetKnown bool

	Events      int // frames decoded without error
	Internal    int // frames marked as internal
	ParseErrors int
}

// Interval returns the times that spans and pages show for an operation. If its start or end is unknown, it
// returns the estimated times. Without an estimate, it returns the one known time as both, or the start of the
// run. If all of these are unknown, known is false.
func (r *Run) Interval(op *Operation) (from, to time.Time, known bool) {
	from, to = op.Started.At, op.Ended.At
	details := op.Details.OrZero()
	switch {
	case !from.IsZero() && !to.IsZero():
	case !details.EstimatedStart.IsZero():
		from, to = details.EstimatedStart, details.EstimatedEnd
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
