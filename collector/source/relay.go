package source

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// Judge decides what of one stream's frames its client gets, and writes it. It is called in the path of the stream.
type Judge interface {
	// Append appends what leaves of a frame, framed, or nothing.
	Append(dst []byte, b *event.Batch) []byte
}

// errTooLong is a block of an open stream that is too long to be kept until it has been judged: it passes.
var errTooLong = errors.New("block over the limit")

// relayed is an agent's stream as its client gets it: what the judge lets out of each frame. A stream on a path that is no
// agent's is open: until a dialect is sure of it, it passes as it came, a whole block at a time.
type relayed struct {
	source   io.Closer
	decoding *collector.Decoding
	judge    Judge
	panics   *recovery.Recorder
	queue    *queue[*event.Batch] // of what the client has; nil where a copy is observed
	passing  *passing             // nil where the stream is not open, or is no longer
	start    func(body io.Reader)
	block    blockEnd // of a block that passes unjudged
	long     bool     // such a block is on its way
	withheld bool     // it calls itself internal
	out      []byte
	sent     int // bytes of out
	upstream *counting
	observed int64           // bytes of upstream that the queue knows of
	memory   *budget.Account // which holds what a large frame needs on its way
	held     int             // of it
	retry    time.Duration
	how      event.End // set before the queue is closed
	err      error
}

func newRelayed(source io.Closer, j Judge, panics *recovery.Recorder) *relayed {
	return &relayed{source: source, judge: j, panics: panics}
}

// open reads a stream that need not be an agent's from body, which is in no encoding.
func (r *relayed) open(body io.Reader, limit int, decode func(io.Reader) *collector.Decoding) {
	r.start = func(body io.Reader) {
		r.passing = &passing{source: body, limit: limit}
		r.decoding = decode(r.passing)
	}
	r.start(body)
}

// counting counts the bytes that are read.
type counting struct {
	io.Reader
	read int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

// Read gives the next bytes for the client, waiting for the agent where there are none.
func (r *relayed) Read(p []byte) (int, error) {
	for r.sent == len(r.out) {
		if r.queue != nil {
			r.queue.wake() // the client has what came before, or nothing of it is for the client
		}
		if r.err != nil {
			return 0, r.err
		}
		r.out, r.sent = r.out[:0], 0
		if cap(r.out) > maxRelayBuffer {
			r.out = nil
		}
		if r.long {
			r.skip()
		} else {
			r.step()
		}
		// What is at hand goes out together: the reader of this writes and flushes after each Read.
		for !r.long && r.err == nil && r.passing == nil && len(r.out) > 0 && len(r.out) < len(p) && r.decoding.Ready() {
			r.step()
		}
	}
	r.hold()
	n := copy(p, r.out[r.sent:])
	r.sent += n
	return n, nil
}

// hold has the budget know of large frames: they are never refused, but telemetry is, and replay shrinks, to make room.
func (r *relayed) hold() {
	held := cap(r.out) + r.decoding.Held()
	if r.passing != nil {
		held += cap(r.passing.kept)
	}
	if held < maxRelayBuffer {
		held = 0
	}
	if held != r.held {
		r.memory.Hold(held - r.held)
		r.held = held
	}
}

// maxRelayBuffer is the size up to which the buffer of one frame is kept for the next.
const maxRelayBuffer = 64 << 10

// Close closes the agent's answer. What was read of it and did not come to be judged is observed all the same.
func (r *relayed) Close() error {
	err := r.source.Close()
	r.memory.Release(r.held)
	r.held = 0
	if r.queue == nil || r.err != nil {
		return err
	}
	defer r.panics.Recover(recovery.Relay, r.stopOnPanic)
	r.decoding.Cut()
	for r.err == nil {
		switch _, err := r.decoding.Next(); {
		case err == nil:
			r.observe()
		case !errors.Is(err, sse.ErrComment):
			r.stop(err)
		}
	}
	return err
}

// observe leaves the frame at hand to the observer.
func (r *relayed) observe() {
	at := r.decoding.Offset()
	if passed := int(at - r.observed); !r.queue.skip(passed) { // else the batch is reused for the next frame
		b := r.decoding.Detach()
		r.queue.put(b, b.Cost(), passed)
	}
	r.observed = at
}

// stop ends the stream, for the client and for the observer.
func (r *relayed) stop(err error) {
	r.err = err
	if r.queue == nil {
		return
	}
	if r.how = r.decoding.End(); r.how == event.EndOfStream && !errors.Is(err, io.EOF) {
		r.how = event.EndBroken
	}
	r.queue.close(int(r.upstream.read - r.observed))
}

// end says how an observed stream ended, and when. It is asked when the queue has no more.
func (r *relayed) end() (event.End, time.Time) {
	at, loses := r.queue.end()
	if loses != "" {
		return event.EndUnobserved, at
	}
	return r.how, at
}

// stopOnPanic ends the stream after a panic; else the observer would wait for more for ever.
func (r *relayed) stopOnPanic() {
	if r.queue != nil && r.err == nil {
		r.queue.unseen(UnobservedPanic, int(r.upstream.read-r.observed))
		r.observed = r.upstream.read
	}
	r.stop(errPanic)
}

// errPanic is an end of a stream by a fault of ours, which has been recorded.
var errPanic = errors.New("the stream could not be filtered")

// step takes one frame, comment or end from the agent.
func (r *relayed) step() {
	defer r.panics.Recover(recovery.Relay, r.stopOnPanic)
	b, err := r.decoding.Next()
	switch {
	case errors.Is(err, sse.ErrComment) && r.passing != nil:
		r.pass()
	case errors.Is(err, sse.ErrComment):
		r.out = sse.AppendComment(r.out, "") // the agent keeps the connection open, and so do we
	case err != nil:
		r.finish(err)
	case r.passing != nil && b.Table == nil:
		block := r.passing.upTo(r.decoding.Offset())
		tooLarge := b.Rejected == event.ReasonTooLarge && beginsInternal(block)
		if r.passing.withholds = tooLarge; !tooLarge && !callsItselfInternal(b) && !r.decoding.Withholds() {
			r.out = append(r.out, block...)
		}
	default:
		r.relay(b)
	}
}

// anyTable has the names by which protocols tell their frames apart, and those of the frames within them.
var anyTable = event.Table{Discriminators: []string{"kind", "type"}, Envelopes: []string{"event", "result", "rawEvent", "data"}}

// callsItselfInternal reports whether a frame of a stream that is no dialect's so far, or never will be, says that it is internal. Data
// that is an object only to lenient readers is searched for the word.
func callsItselfInternal(b *event.Batch) bool {
	if generous.Internal(b.Frame.Event) || generous.NamesInternal(&anyTable, b.JSON) {
		return true
	}
	return !b.JSON.Exists() && mayNameInternal(b.Frame.Data)
}

// mayNameInternal reports whether data that begins as an object, but cannot be read, has a string that begins with the word.
func mayNameInternal(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && bytes.Contains(bytes.ToLower(data), []byte(`"internal`))
}

// beginsInternal reports whether a block whose end is missing, or too far away, says that it is internal.
func beginsInternal(block []byte) bool {
	for line := range bytes.FieldsFuncSeq(block, func(c rune) bool { return c == '\n' || c == '\r' }) {
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch string(field) {
		case "event":
			if generous.Internal(bytes.TrimSpace(value)) {
				return true
			}
		case "data":
			if mayNameInternal(value) {
				return true
			}
		}
	}
	return false
}

func (r *relayed) pass() { r.out = append(r.out, r.passing.upTo(r.decoding.Offset())...) }

func (r *relayed) relay(b *event.Batch) {
	if r.passing != nil {
		r.passing.done, r.passing.kept = true, nil
		r.passing = nil // it is an agent's, for good
	}
	if retry, asked := r.decoding.Retry(); asked && retry != r.retry {
		r.retry = retry
		r.out = sse.AppendRetry(r.out, retry)
	}
	r.out = r.judge.Append(r.out, b)
	if r.queue != nil {
		r.observe()
	}
}

// finish ends the stream as the agent's ended. What an open stream still has passes, unless it calls itself internal; half a frame of
// an agent's does not.
func (r *relayed) finish(err error) {
	var kept []byte
	internal := false
	if r.passing != nil {
		kept = r.passing.kept
		rest := r.passing.rest()
		if internal = r.passing.withholds || beginsInternal(rest); !internal {
			r.out = append(r.out, rest...)
		}
	}
	if !errors.Is(err, errTooLong) {
		r.stop(err)
		return
	}
	r.long, r.withheld, r.block = true, internal, blockEnd{afterCR: true}
	r.block.find(kept)
}

// skip lets a block that is too long pass, unless it calls itself internal, and judges what comes after it.
func (r *relayed) skip() {
	chunk := make([]byte, 4<<10)
	n, err := r.passing.source.Read(chunk)
	end := r.block.find(chunk[:n])
	part := chunk[:n]
	if end >= 0 {
		part = chunk[:end]
	}
	if !r.withheld {
		r.out = append(r.out, part...)
	}
	if end >= 0 {
		r.long = false
		rest := io.MultiReader(bytes.NewReader(chunk[end:n]), r.passing.source)
		if err != nil {
			rest = io.MultiReader(bytes.NewReader(chunk[end:n]), failing{err})
		}
		r.start(rest)
		return
	}
	r.err = err
}

// failing is a reader that has come to its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// blockEnd looks for the blank line that ends a block.
type blockEnd struct {
	inLine  bool // the line at hand is not empty
	afterCR bool // an LF belongs to the line end before it
}

// find returns the offset after the blank line, or -1 where it is not in p.
func (b *blockEnd) find(p []byte) int {
	for i, c := range p {
		lf := c == '\n' && b.afterCR
		b.afterCR = c == '\r'
		switch {
		case lf:
		case c != '\n' && c != '\r':
			b.inLine = true
		case !b.inLine:
			return i + 1
		default:
			b.inLine = false
		}
	}
	return -1
}

// passing keeps the bytes of an open stream until the block that they are of has been judged.
type passing struct {
	source io.Reader
	limit  int
	kept   []byte
	passed int64 // bytes before those kept
	done   bool  // nothing is kept any more

	withholds bool // the bytes up to the end of the block stay behind: its beginning did
}

// Read keeps what it reads, a block at most.
func (p *passing) Read(buf []byte) (int, error) {
	if !p.done && len(p.kept) > p.limit {
		return 0, errTooLong
	}
	n, err := p.source.Read(buf)
	if !p.done {
		p.kept = append(p.kept, buf[:n]...)
	}
	return n, err
}

// upTo gives up the bytes before an offset of the stream. They are valid until the next read.
func (p *passing) upTo(offset int64) []byte {
	n := offset - p.passed
	passed := p.kept[:n]
	p.kept, p.passed = p.kept[n:], offset
	if !p.withholds {
		return passed
	}
	end := (&blockEnd{inLine: true}).find(passed)
	if p.withholds = end < 0; p.withholds {
		return nil
	}
	return passed[end:]
}

// rest gives up all bytes.
func (p *passing) rest() []byte { return p.upTo(p.passed + int64(len(p.kept))) }

// mayBeStream says whether some reader takes an answer for a stream of events: there are those that look for the name anywhere
// in the header, so what stands around it is no way out.
func mayBeStream(h http.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h.Values("Content-Type"), ",")), "event-stream")
}

// binaryEvents is a protocol's media type for events that are no SSE.
const binaryEvents = "application/vnd.ag-ui.event+proto"

// isBinary says whether an answer is a stream of events that nobody here can read.
func isBinary(h http.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h.Values("Content-Type"), ",")), binaryEvents)
}
