package source

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// Filter decides what the client gets of the frames of one stream. It runs in the path of the stream and
// must be fast.
type Filter interface {
	// Append appends the part of a frame that may pass, as an SSE frame. It appends nothing if the frame is
	// withheld.
	Append(dst []byte, b *event.Batch) []byte
	// AppendID appends a block without data that sets the client's last event ID, or nothing if the ID may not pass.
	AppendID(dst, id []byte) []byte
}

// filteredBody is a stream as the client gets it: the parts of its frames that the filter lets pass. An
// unconfirmed stream passes verbatim, block by block, until a dialect recognizes it.
type filteredBody struct {
	source        io.Closer
	decoding      *collector.StreamDecoder
	filter        Filter
	panics        *recovery.Recorder
	queue         *queue[*event.Batch] // batches for the observer; nil if a copy of the bytes is observed
	block         *blockBuffer         // nil if the stream is an agent's, or has been recognized
	start         func(body io.Reader) // starts to decode the rest of an unconfirmed stream, which body reads
	longEnd       blockEnd             // finds the end of a block that is too long to be filtered
	inLongBlock   bool                 // such a block is being relayed or dropped
	dropLongBlock bool                 // the current block is dropped: its beginning was withheld
	out           []byte
	sent          int // bytes of out that Read has returned
	lastRead      int // bytes that the last Read has returned
	steps         int // calls of step
	upstream      *upstreamReader
	observedBytes int64 // bytes of upstream that were put into the queue or counted as lost
	memory        *frameShare
	retry         time.Duration // the last reconnection time that was sent to the client
	hasRetry      bool          // one was sent
	unended       bool          // the last frame lacks its blank line, so no block may follow
	quietSince    time.Time     // arrival of the first withheld frame or block without data since the last output; zero if there was none
	endReason     event.End     // set before the queue is closed
	err           error
}

func newFilteredBody(source io.Closer, f Filter, panics *recovery.Recorder) *filteredBody {
	return &filteredBody{source: source, filter: f, panics: panics}
}

// startUnconfirmed starts to decode an unconfirmed stream from a body without content encoding. After a block that is too
// long, the rest of the stream gets a new decoder, so it keeps decode.
func (r *filteredBody) startUnconfirmed(body io.Reader, limit int, decode func(io.Reader) *collector.StreamDecoder) {
	r.start = func(body io.Reader) {
		r.inLongBlock, r.dropLongBlock = false, false
		r.block = &blockBuffer{source: body, limit: limit}
		r.decoding = decode(r.block)
	}
	r.start(body)
}

// upstreamReader counts the bytes that are read, and records when the last ones arrived.
type upstreamReader struct {
	io.Reader
	now  func() time.Time
	read int64
	at   time.Time
}

func (u *upstreamReader) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.read += int64(n)
	u.at = u.now()
	return n, err
}

func (u *upstreamReader) arrival() time.Time { return u.at }

// Read returns the next bytes for the client. It waits for the agent if there are none.
func (r *filteredBody) Read(p []byte) (int, error) {
	r.memory.enter(working, r.lastRead)
	for r.sent == len(r.out) {
		if r.queue != nil {
			r.queue.wake() // the client has received everything so far
		}
		if r.err != nil {
			return 0, r.err
		}
		r.out, r.sent = r.out[:0], 0
		if cap(r.out) > maxRelayBuffer {
			r.out = nil
			r.updateMemory()
		}
		if r.inLongBlock {
			r.relayLongBlock()
		} else {
			r.step()
		}
		// Return all complete frames together: the reverse proxy writes and flushes after each Read.
		for !r.inLongBlock && r.err == nil && r.block == nil && len(r.out) > 0 && len(r.out) < len(p) && r.decoding.Ready() {
			r.step()
		}
	}
	r.quietSince = time.Time{}
	r.updateMemory()
	r.memory.enter(writingClient, 0)
	r.lastRead = copy(p, r.out[r.sent:])
	r.sent += r.lastRead
	return r.lastRead, nil
}

// Close closes the agent's answer. Frames that were read but not filtered yet are still observed.
func (r *filteredBody) Close() error {
	err := r.source.Close()
	defer r.memory.hold(0)
	if r.queue == nil || r.err != nil {
		return err
	}
	defer r.decoding.EndTurn() // also after a panic
	defer r.panics.Recover(recovery.Relay, r.stopOnPanic)
	r.decoding.StopReading()
	for r.err == nil {
		switch _, err := r.decoding.Next(); {
		case err == nil:
			r.observe()
			r.decoding.ReleaseLarge()
		case !errors.Is(err, sse.ErrComment) && !errors.Is(err, sse.ErrNoData):
			r.stop(err)
		}
	}
	return err
}

// observe passes the current frame to the observer.
func (r *filteredBody) observe() {
	at := r.decoding.Offset()
	if passed := int(at - r.observedBytes); !r.queue.discard(passed) { // if it is lost, the decoder can reuse the batch
		b := r.decoding.Detach()
		r.queue.put(b, b.MemorySize(), passed)
	}
	r.observedBytes = at
}

// stop ends the stream, for the client and for the observer.
func (r *filteredBody) stop(err error) {
	r.err = err
	if r.queue == nil {
		return
	}
	if r.endReason = r.decoding.End(); r.endReason == event.EndOfStream && !errors.Is(err, io.EOF) {
		r.endReason = event.EndBroken
	}
	r.queue.close(int(r.upstream.read - r.observedBytes))
}

// end returns how an observed stream ended, and when. It is called once the queue is empty.
func (r *filteredBody) end() (event.End, time.Time) {
	at, lossReason := r.queue.ending()
	if lossReason != "" {
		return event.EndUnobserved, at
	}
	return r.endReason, at
}

// stopOnPanic ends the stream after a panic; otherwise the observer would wait forever.
func (r *filteredBody) stopOnPanic() {
	if r.queue != nil && r.err == nil {
		r.queue.countLost(UnobservedPanic, int(r.upstream.read-r.observedBytes))
		r.observedBytes = r.upstream.read
	}
	r.stop(errPanic)
}

// errPanic ends a stream after a panic, which has been recorded.
var errPanic = errors.New("the stream could not be filtered")

// framesPerTurn is how many frames a stream filters before it yields to other streams. The scheduler would
// let a stream that always has frames continue for 10 ms. A frame of another stream would wait that long
// for each busy stream.
const framesPerTurn = 16

// step reads one frame, comment or block without data, or the end of the stream, from the agent.
func (r *filteredBody) step() {
	if r.steps++; r.steps%framesPerTurn == 0 {
		runtime.Gosched()
	}
	decoding := r.decoding
	defer decoding.EndTurn() // also after a panic
	defer r.panics.Recover(recovery.Relay, r.stopOnPanic)
	b, err := decoding.Next()
	isBetweenFrames := errors.Is(err, sse.ErrComment) || errors.Is(err, sse.ErrNoData)
	switch {
	case isBetweenFrames && r.block != nil:
		r.out = append(r.out, r.block.take(decoding.Offset())...)
	case errors.Is(err, sse.ErrComment) && bytes.HasSuffix(r.out, emptyComment): // merge comments that arrive together
	case errors.Is(err, sse.ErrComment):
		r.out = append(r.out, emptyComment...)
	case isBetweenFrames:
		r.keepAlive(decoding.ReceivedAt())
	case err != nil:
		r.finish(err)
	case r.block != nil && b.Table == nil:
		r.relayUnconfirmed(b)
	default:
		received := b.Received
		r.relay(b)
		r.keepAlive(received)
	}
	decoding.ReleaseLarge()
}

// relayUnconfirmed appends the block of a frame that no dialect recognizes, unless clients must not get it. Of a block over the
// limit, only the beginning may have been read.
func (r *filteredBody) relayUnconfirmed(b *event.Batch) {
	isLong := b.Rejected == event.ReasonTooLarge
	block := r.block.take(r.decoding.Offset())
	withheld := isLong && mustWithholdCut(block, r.decoding) || !isLong && (declaresInternal(b) || r.decoding.MustWithhold())
	if r.dropLongBlock = withheld && !r.block.taken.isEnd; !withheld {
		r.out = append(r.out, block...)
	}
}

// emptyComment replaces a comment of the agent, whose text does not pass.
var emptyComment = sse.AppendComment(nil, "")

// relay appends the part of a frame that may pass, and passes the frame to the observer.
func (r *filteredBody) relay(b *event.Batch) {
	if r.block != nil {
		r.block.passThrough, r.block.bytes = true, nil
		r.block = nil // a dialect has recognized the stream
	}
	r.relayRetry()
	r.unended = b.Frame.Unended
	if size := len(b.Frame.Data); size >= event.LargeFrame {
		r.out = slices.Grow(r.out, size+size/16) // at once: to grow in steps leaves garbage
	}
	r.out = r.filter.Append(r.out, b)
	if r.queue != nil {
		r.observe()
	}
}

// maxQuiet is how long a client may get nothing while the agent sends frames. Idle timeouts of proxies and balancers are longer.
const maxQuiet = 10 * time.Second

// keepAlive appends an empty comment after a withheld frame or a block without data if the client has got nothing for maxQuiet. Otherwise an idle timeout
// between the two could end the stream although the agent is not idle, for example while its model reasons.
func (r *filteredBody) keepAlive(received time.Time) {
	switch {
	case len(r.out) > 0, r.unended:
	case r.quietSince.IsZero():
		r.quietSince = received
	case received.Sub(r.quietSince) >= maxQuiet:
		r.relayLastFields()
		r.out = append(r.out, emptyComment...)
	}
}

// relayRetry appends the reconnection time that the agent asked for, if it is a new one.
func (r *filteredBody) relayRetry() {
	if retry, asked := r.decoding.Retry(); asked && (retry != r.retry || !r.hasRetry) {
		r.retry, r.hasRetry = retry, true
		r.out = sse.AppendRetry(r.out, retry)
	}
}

// relayLastFields appends the reconnection time and the ID that blocks without data have set after the last frame.
func (r *filteredBody) relayLastFields() {
	if r.unended {
		return
	}
	r.relayRetry()
	if id, alone := r.decoding.IDAlone(); alone {
		r.out = r.filter.AppendID(r.out, id)
	}
}

// finish ends the stream in the same way as the agent's stream ended. The incomplete block of an unconfirmed
// stream passes, unless mustWithholdCut forbids it. An incomplete frame of an agent's stream does not
// pass. After errBlockTooLong the stream continues.
func (r *filteredBody) finish(err error) {
	isTooLong := errors.Is(err, errBlockTooLong)
	if r.block != nil {
		r.out = append(r.out, r.block.takeWhole()...) // the blank line after a comment
		rest := r.block.takeAll()
		r.longEnd = r.block.taken
		r.longEnd.inComment = isCutComment(rest)
		if r.dropLongBlock = r.dropLongBlock || mustWithholdCut(rest, r.decoding); !r.dropLongBlock {
			r.out = append(r.out, rest...)
		}
	} else {
		r.relayLastFields()
	}
	if isTooLong {
		r.inLongBlock = true
	} else {
		r.stop(err)
	}
}

// relayLongBlock relays the next part of a block that is too long, or drops it if the beginning of the block was withheld.
// Decoding starts again with the next block.
func (r *filteredBody) relayLongBlock() {
	chunk := make([]byte, 4<<10)
	n, err := r.block.source.Read(chunk)
	end := r.longEnd.find(chunk[:n])
	isWhole := end >= 0
	if !isWhole {
		end, r.err = n, err
	}
	if !r.dropLongBlock {
		r.out = append(r.out, chunk[:end]...)
	}
	if isWhole {
		r.start(io.MultiReader(bytes.NewReader(chunk[end:n]), remainder(r.block.source, err)))
	}
}

// updateMemory records the memory that the stream holds. Less than maxRelayBuffer counts as none.
func (r *filteredBody) updateMemory() {
	held := cap(r.out) + r.decoding.MemorySize()
	if r.block != nil {
		held += cap(r.block.bytes)
	}
	if held < maxRelayBuffer {
		held = 0
	}
	r.memory.hold(held)
}

// beforeGrow waits until the stream may hold a larger buffer. An unconfirmed stream has two: the decoder's
// and the blockBuffer.
func (r *filteredBody) beforeGrow(size int) {
	if r.block != nil {
		size *= 2
	}
	r.memory.await(size) // what else is held is less than maxRelayBuffer
}

// maxRelayBuffer is the size in bytes up to which the buffer of one frame is reused for the next.
const maxRelayBuffer = 32 << 10

// mayBeStream reports whether some client may take an answer for an event stream. Some clients look for
// the name anywhere in the header, so this does too: an unusual header must not bypass the filter.
func mayBeStream(h http.Header) bool { return headerContains(h, "Content-Type", "event-stream") }

// headerContains reports whether the values of a header contain a text in lower case, ignoring their case.
func headerContains(h http.Header, name, text string) bool {
	return strings.Contains(strings.ToLower(strings.Join(h.Values(name), ",")), text)
}

// binaryEvents is the media type of AG-UI's binary transport, which is not SSE.
const binaryEvents = "application/vnd.ag-ui.event+proto"

// isBinaryEvents reports whether an answer is a stream in AG-UI's binary transport, which cannot be read.
func isBinaryEvents(h http.Header) bool { return headerContains(h, "Content-Type", binaryEvents) }
