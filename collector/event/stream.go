package event

import (
	"sync/atomic"
	"time"
)

// SpanContext identifies a span (W3C Trace Context). The zero value identifies none.
type SpanContext struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
}

// IsValid reports whether c identifies a span.
func (c SpanContext) IsValid() bool { return c.Trace != [16]byte{} && c.Span != [8]byte{} }

// MaxSession is the maximum length of a session id, in bytes. A longer one is ignored instead of cut,
// because access to a session depends on its exact id.
const MaxSession = 250

// Identity holds what a run request says about its run. Streams rarely contain this information.
type Identity struct {
	App, User, Session string
	Answers            []string // ids of the inputs that the request answers
	AnsweredRun        string   // the id of the run whose inputs the request answers, or "" if the request does not name it
	JoinedRun          string   // the id of an existing run that the request subscribes to, or ""
	ReplayedRun        string   // equal to JoinedRun if the stream may begin with frames from before it was opened, and the run never begins again
	NewRun             bool     // the request starts a run, so the stream brings all of it
	InBackground       bool     // the run continues when its stream breaks off, and another request can bring the rest
	JoinedSession      string   // the session whose runs the stream brings one after the other, or ""
	Replays            bool     // the stream repeats all earlier runs of JoinedSession, perhaps in fewer frames, and begins none
	RequestDialect     string   // the dialect, if the request's content identifies it regardless of the path; or ""
}

// Stream is one connection of a source. Its fields do not change after Open, except Dialect, which is
// set before the first batch.
type Stream struct {
	Source          string // the configured name, or a file's base name
	Dialect         string // "" until it is known
	Nonce           string // distinguishes streams with the same run ids: random for a connection, a content hash for a file
	Live            bool   // frames have a time of receipt
	SingleRun       bool   // the stream answers one run request: it contains one run, and both end together
	OpenedAt        time.Time
	WholeCalls      bool   // a tool call is reported when its arguments are known, not when it is announced
	ConfiguredAgent string // the configured name of an agent that the stream does not name, or ""
	Identity
	States     *States                    // of the source; nil if its streams share nothing
	ParentSpan SpanContext                // the parent of the run's spans
	RunFailed  func(errorType string)     // if not nil, called when the run has failed or timed out, possibly from another goroutine; it must not block
	Departed   *atomic.Pointer[Departure] // holds a Departure while a run of the stream waits for a client; nil if no Deduplicator opened the stream
}

// Departure is the end of a run's last stream. The stream on which the run began holds it while the run waits for a client to come
// back.
type Departure struct {
	Run string // its ID: the stream may carry other runs
	End End
	At  time.Time
}

// End says why a stream ended.
type End uint8

// The reasons for the end of a stream.
const (
	EndOfStream   End = iota // the agent ended it
	EndClientLeft            // the client disconnected before the agent was done
	EndShutdown              // Delegraph is stopping
	EndUnobserved            // Delegraph fell behind and dropped the later frames
	EndBroken                // the connection to the agent broke
	EndUnfinished            // the agent ended it with work left (Batch.WorkLeft); only for readers
)

// Sink receives the batches of streams. Calls for one stream are sequential. Calls for different streams
// may be concurrent, except that these calls keep the order in which the source received the data:
//   - Open of a stream that joins or answers a run, relative to all earlier calls and to the Close of
//     streams that end later
//   - Close of any stream, relative to Consume for streams that join a run
//   - Close of a stream that joins a run, relative to all other calls
//
// A Sink must not wait for anything outside the process or keep a reference to a batch.
type Sink interface {
	Open(*Stream)
	Consume(*Batch)
	Close(*Stream, End, time.Time) // the time of receipt, or zero if the source has no clock
}
