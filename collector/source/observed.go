package source

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// prepareAnswer prepares an answer for the client: it restricts, filters or rewrites it if necessary, and starts to
// observe it if it is a stream. It is the ModifyResponse of the reverse proxy: an error withholds the answer.
func (p *Proxy) prepareAnswer(resp *http.Response) error {
	p.counters.SetSourceUp(p.settings.Name, true)
	if p.lastFailure.Load() != nil && p.lastFailure.Swap(nil) != nil {
		p.logger.Info("the agent is back", "name", p.settings.Name)
	}
	if err := restrict(resp); err != nil {
		return err
	}
	x := forwardedOf(resp.Request.Context()).exchange
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return p.prepareUpgrade(resp, x)
	}
	if x != nil && x.body.onComplete != nil {
		x.body.onComplete() // the transport does not read up to io.EOF if it knows the length of a body
	}
	if isBinaryEvents(resp.Header) && p.settings.NewFilter != nil {
		return mediaTypeError(binaryEvents)
	}
	if !mayBeStream(resp.Header) {
		p.replaceCard(resp)
		return nil
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil
	}
	if x != nil && x.span != nil {
		x.span.setTraceresponse(resp.Header)
	}
	s, names := p.describeStream(x)
	encoding := contentEncoding(resp.Header)
	if p.settings.NewFilter != nil && !isSupported(encoding) {
		return encodingError(encoding)
	}
	body := &observedBody{ReadCloser: resp.Body, proxy: p, lingerCtx: resp.Request.Context()}
	resp.Body = body
	if p.settings.NewFilter != nil && !x.isUnconfirmed() {
		p.filterStream(resp, body, s, names, x)
	} else {
		p.copyStream(resp, body, s, names, encoding, x)
	}
	return nil
}

// copyStream puts a tap into the path of a stream, and starts to observe the copy. It is called for all streams of
// a proxy without a filter, and for the unconfirmed streams of a proxy with one. The latter also get a filter,
// which withholds only internal blocks until a dialect recognizes the stream.
func (p *Proxy) copyStream(resp *http.Response, body *observedBody, s *event.Stream, names []string, encoding string, x *exchange) {
	body.tap = newTap(p.settings.QueueLimit, p.settings.ObserveBudget, p.now, p.countUnobserved)
	body.tap.slot.all = p.settings.ObserverSlots
	if p.settings.NewFilter != nil {
		p.filterUnconfirmed(resp, body, *s)
	}
	p.startObserver(body.tap.queue, s, x, func() { p.observeCopy(s, body, x.isUnconfirmed(), names, encoding) })
}

// startObserver calls observe in a goroutine, once the order lets the stream be opened.
func (p *Proxy) startObserver(q orderedQueue, s *event.Stream, x *exchange, observe func()) {
	await, releaseSpan := p.order.add(q, s, x.observeAnswer()), p.keepSpan(x)
	p.active.Go(func() {
		defer releaseSpan()
		defer p.order.remove(q)
		await()
		observe()
	})
}

// filterStream puts a filter into the path of an agent's stream and removes its content encoding. The
// batches that are decoded for the filter are also observed.
func (p *Proxy) filterStream(resp *http.Response, body *observedBody, s *event.Stream, names []string, x *exchange) {
	filtered := *s // the observer has its own state
	r, plain := p.insertFilter(resp, body)
	r.queue = newQueue[*event.Batch](p.settings.QueueLimit, p.settings.ObserveBudget, p.now, p.countUnobserved)
	r.queue.slot.all = p.settings.ObserverSlots
	r.upstream = &upstreamReader{Reader: plain, now: p.now}
	r.decoding = p.collector.Decode(&filtered, collector.Input{
		Reader: r.upstream, ReceivedAt: r.upstream.arrival, End: body.end, ReportComments: true, DialectFromPath: p.settings.Dialect == "",
		BeforeGrow: r.beforeGrow,
	}, names...)
	p.startObserver(r.queue, s, x, func() { p.deliver(s, r) })
}

// filterUnconfirmed puts a filter into the path of an unconfirmed stream and removes its content encoding.
func (p *Proxy) filterUnconfirmed(resp *http.Response, body *observedBody, s event.Stream) {
	s.States = &p.filterStates // the observer's decoder uses the other ones
	r, plain := p.insertFilter(resp, body)
	r.startUnconfirmed(plain, p.settings.FrameLimit, func(in io.Reader) *collector.StreamDecoder {
		return p.collector.Decode(&s, collector.Input{Reader: in, ReceivedAt: p.now, BeforeGrow: r.beforeGrow, RequireSure: true, ReportComments: true})
	})
}

// insertFilter replaces the body of an answer with a filter. It also returns a reader of the original body without
// its content encoding, from which the caller makes the filter's decoder.
func (p *Proxy) insertFilter(resp *http.Response, body *observedBody) (r *filteredBody, plain io.Reader) {
	plain = decompress(body, contentEncoding(resp.Header))
	r = newFilteredBody(body, p.settings.NewFilter(), p.settings.Panics)
	r.memory = p.frameShare(resp.Request.Context())
	body.memory = r.memory
	replaceBody(resp, r)
	return r, plain
}

// replaceBody replaces the body of an answer and removes the headers that described the original one.
func replaceBody(resp *http.Response, body io.ReadCloser) {
	resp.Body, resp.ContentLength = body, -1
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "ETag"} {
		resp.Header.Del(name)
	}
}

// describeStream returns the stream that an answer carries, with the identity that the request gives,
// and the names of the dialects that it may have.
func (p *Proxy) describeStream(x *exchange) (*event.Stream, []string) {
	s := &event.Stream{Source: p.settings.Name, ConfiguredAgent: p.settings.Agent, Nonce: rand.Text(), Live: true, OpenedAt: p.now(), States: &p.states}
	if x == nil {
		return s, []string{p.settings.Dialect}
	}
	if s.OpenedAt = x.opened; !x.continues { // a stream that continues for hours is not part of one request's trace
		s.SingleRun, s.ParentSpan = true, x.parent
		if x.span != nil {
			s.RunFailed = x.span.setRunFailure
		}
	}
	var names []string
	for _, d := range x.dialects {
		names = append(names, d.Name())
	}
	identity, reason := p.identify(x)
	if p.settings.OnSession == nil { // otherwise the request is read again when it is complete
		x.body.discard()
	}
	s.Identity = identity
	switch {
	case (x.shared || x.unconfirmed || len(names) > 1) && identity.RequestDialect != "": // the request body names the dialect, the path does not
		x.unconfirmed, names = false, []string{identity.RequestDialect}
	case x.unconfirmed, x.shared && len(names) > 1: // the configured dialect, or else any
		names = []string{p.settings.Dialect}
	}
	if !x.unconfirmed && len(names) == 1 {
		s.Dialect = names[0]
	}
	if identity.JoinedRun+identity.JoinedSession != "" {
		s.SingleRun, s.ParentSpan, s.RunFailed = false, event.SpanContext{}, nil // the runs belong to other requests
	}
	if reason != "" && x.span != nil {
		p.counters.CountUnreadRequest(p.settings.Name, reason)
	}
	return s, names
}

// identify returns the identity that a run request gives. It is empty if a dialect panics.
func (p *Proxy) identify(x *exchange) (identity event.Identity, reason string) {
	defer p.settings.Panics.Recover(recovery.Request, func() { reason = UnreadPanic })
	return x.body.identify(x.dialects, x.length, p.settings.JSONDepth)
}

// earlySession returns the session that a run request names before its body has arrived, or "".
func (x *exchange) earlySession() (session string) {
	var unrecorded *recovery.Recorder // identify records the panic
	defer unrecorded.Recover(recovery.Request, func() { session = "" })
	if x.unconfirmed {
		return ""
	}
	request := x.body.describe(&strictjson.Doc{})
	for _, d := range x.dialects {
		if session = d.Identify(request).Session; session != "" {
			break
		}
	}
	return strings.Clone(session)
}

// reportSession calls OnSession with the session that a request names.
func (p *Proxy) reportSession(x *exchange) {
	defer x.body.discard()
	if identity, _ := p.identify(x); identity.Session != "" {
		p.settings.OnSession(identity.Session)
	}
}

// deliver observes the batches that were decoded for the filter. After a panic the relayed stream
// continues.
func (p *Proxy) deliver(s *event.Stream, r *filteredBody) {
	defer p.settings.Panics.Recover(recovery.Observation, func() { r.queue.abandon(UnobservedPanic, r.queue.current.bytes) })
	p.collector.Deliver(s, func() *event.Batch { b, _ := r.queue.next(); return b }, r.end)
}

// observeCopy observes the copy of a stream to its end. The dialect of an unconfirmed stream must be certain.
func (p *Proxy) observeCopy(s *event.Stream, body *observedBody, unconfirmed bool, names []string, encoding string) {
	tap := body.tap
	plain := &drainingReader{decoded: decompress(tap, encoding), tap: tap, maxFrame: p.settings.FrameLimit}
	defer plain.release()
	in := collector.Input{Reader: plain, ReceivedAt: tap.arrival, End: body.end, ConsumedBytes: &plain.consumed, RequireSure: unconfirmed, DialectFromPath: p.settings.Dialect == ""}
	partial := func() int { // bytes that were read and belong to no observed frame
		if encoding != "" {
			return 0 // the position in the encoded stream is unknown
		}
		return tap.delivered - int(plain.consumed)
	}
	defer p.settings.Panics.Recover(recovery.Observation, func() { tap.abandon(UnobservedPanic, partial()+len(tap.unread.bytes)) })
	err := p.collector.Observe(s, in, names...)
	if _, reason := tap.ending(); reason != "" {
		p.countUnobserved(reason, partial())
	} else if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		p.countUnobserved(UnobservedEncoding, tap.delivered-plain.bytesBeforeError)
	}
}

// countUnobserved counts bytes, if there are any.
func (p *Proxy) countUnobserved(reason string, bytes int) {
	if bytes > 0 {
		p.counters.CountUnobserved(p.settings.Name, reason, bytes)
	}
}

// observedBody is the agent's answer on its way to the client or to the filter.
type observedBody struct {
	io.ReadCloser
	proxy     *Proxy
	tap       *tap            // gets a copy; nil if the filter's batches are observed
	memory    *frameShare     // nil if the stream is not filtered
	lingerCtx context.Context // done when the client has left and the time linger is over

	mu         sync.Mutex
	isFinished bool
	endReason  event.End
}

// Read reads from the agent. It first wakes the observer, because the client has received all earlier bytes.
func (b *observedBody) Read(p []byte) (int, error) {
	if b.tap != nil {
		b.tap.wake()
	}
	b.memory.enter(readingAgent, 0)
	n, err := b.ReadCloser.Read(p)
	b.memory.enter(working, n)
	if b.tap != nil {
		b.tap.write(p[:n])
	}
	if err != nil {
		brokeOff := !errors.Is(err, io.EOF)
		clientLeft := brokeOff && b.lingerCtx.Err() != nil
		if brokeOff && !clientLeft {
			b.proxy.counters.CountBrokenAnswer(b.proxy.settings.Name)
		}
		b.finish(clientLeft, brokeOff)
	}
	return n, err
}

// Close closes the answer. If the reverse proxy calls it before the end of the stream, the client has left.
func (b *observedBody) Close() error {
	b.finish(true, false)
	return b.ReadCloser.Close()
}

// finish closes the tap and records how the stream ended. Only the first call counts.
func (b *observedBody) finish(clientLeft, broke bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isFinished {
		return
	}
	b.isFinished = true
	switch {
	case clientLeft && b.proxy.stopped.Err() != nil:
		b.endReason = event.EndShutdown
	case clientLeft:
		b.endReason = event.EndClientLeft
	case broke:
		b.endReason = event.EndBroken
	}
	if b.tap != nil {
		b.tap.close(0)
	}
}

// end returns how an observed stream ended.
func (b *observedBody) end() event.End {
	if b.tap != nil {
		if _, reason := b.tap.ending(); reason != "" {
			return event.EndUnobserved
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.endReason
}
