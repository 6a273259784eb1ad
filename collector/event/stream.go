package event

import "time"

// SpanContext names a span of somebody's trace (W3C Trace Context); the zero value names none.
type SpanContext struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
}

// Valid says whether a span is named.
func (c SpanContext) Valid() bool { return c.Trace != [16]byte{} && c.Span != [8]byte{} }

// MaxSession bounds a session's id, in bytes: a longer one is none. Who may read depends on it, and longer names are cut.
const MaxSession = 250

// Identity is what the request for a run says of it; streams seldom carry any of this.
type Identity struct {
	App, User, Session string
	Answers            []string // ids of the inputs that the request answers
	Joins              string   // the id of a run that the request does not ask for, but listens to
	Asks               string   // the dialect whose request it surely is, whatever its path, or ""
}

// Stream is one connection of a source. Its fields do not change after Open, except Dialect, which is set before the first batch.
type Stream struct {
	Source  string // the configured name, or a file's base name
	Dialect string // "" until it is known
	Nonce   string // tells streams apart whose run ids are not unique: fresh for a connection, a hash of the content for a file
	Live    bool   // frames have a time of receipt
	Answer  bool   // the stream answers one run request: it holds one run, and its end is the run's end
	Opened  time.Time
	Agent   string // the configured name of an agent that the stream does not name, or ""
	Identity
	Parent SpanContext // the span under which the run happens
}

// End says how a stream ended.
type End uint8

// The ways a stream ends.
const (
	EndOfStream   End = iota // the agent ended it
	EndClientLeft            // the reader went away before the agent was done
	EndShutdown              // we stop
	EndUnobserved            // we fell behind and let go of it: its later frames were not seen
	EndBroken                // the connection to the agent broke
)

// Sink receives what sources observe. Calls for one stream come one after the other, calls for several streams at once. A stream that
// joins a run, or answers one, is opened after everything that its source received before it, and before the close of a stream that ends
// later. A close keeps its place among what a stream that joins a run receives, and the close of such a stream among everything.
//
// A sink does not block on anything outside the process, and it keeps nothing of a batch.
type Sink interface {
	Open(*Stream)
	Consume(*Batch)
	Close(*Stream, End, time.Time) // the time is that of receipt, zero where the source has no clock
}
