package source

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// observe begins the observation of an answer that is a stream.
func (p *Proxy) observe(resp *http.Response) error {
	p.counters.Up(p.settings.Name, true)
	if p.missed.Load() != nil && p.missed.Swap(nil) != nil {
		p.logger.Info("the agent is back", "name", p.settings.Name)
	}
	if err := p.restrict(resp); err != nil {
		return err
	}
	x, _ := resp.Request.Context().Value(exchangeKey{}).(*exchange)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return p.upgraded(resp, x)
	}
	if x != nil && x.body.over != nil {
		x.body.over() // where the transport did not read to the end of a body whose length it knows
	}
	if isBinary(resp.Header) && p.settings.Judge != nil {
		return ofType(binaryEvents)
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil
	}
	if !mayBeStream(resp.Header) {
		p.replaceCard(resp)
		return nil
	}
	if x != nil && x.span != nil {
		x.span.respond(resp.Header)
	}
	s, names := p.stream(x)
	encoding := contentEncoding(resp.Header)
	body := &observedBody{ReadCloser: resp.Body, proxy: p, gone: resp.Request.Context()}
	resp.Body = body
	if open := x == nil || x.open; p.settings.Judge != nil && !open {
		return p.judge(resp, body, s, names, x)
	}
	body.tap = newTap(p.settings.QueueLimit, p.settings.Memory, p.now, p.unobserved)
	if p.settings.Judge != nil {
		p.judgeOpen(resp, body, *s)
	}
	await := p.order.enter(body.tap.queue, s, x.began())
	p.working.Go(func() {
		defer p.order.leave(body.tap.queue)
		await()
		p.follow(s, body, x == nil || x.open, names, encoding)
	})
	return nil
}

// judge puts a judge into the path of an agent's stream, which then goes out in no encoding. What is decoded for the judge is
// observed.
func (p *Proxy) judge(resp *http.Response, body *observedBody, s *event.Stream, names []string, x *exchange) error {
	plain := decompress(body, contentEncoding(resp.Header))
	if u, cannot := plain.(unreadable); cannot {
		return inEncoding(string(u))
	}
	judged := *s // the observer's own stays behind
	r := newRelayed(body, p.settings.Judge(), p.settings.Panics)
	r.queue = newQueue[*event.Batch](p.settings.QueueLimit, p.settings.Memory, p.now, p.unobserved)
	r.upstream, r.memory = &counting{Reader: plain}, p.settings.Relays
	r.decoding = p.collector.Decode(&judged, collector.Input{Reader: r.upstream, Arrival: p.now, End: body.end, Comments: true, Suggested: p.settings.Dialect == ""}, names...)
	p.reframed(resp, r)
	await := p.order.enter(r.queue, s, x.began())
	p.working.Go(func() {
		defer p.order.leave(r.queue)
		await()
		p.deliver(s, r)
	})
	return nil
}

// judgeOpen puts a judge into the path of a stream that need not be an agent's, of whatever dialect; not where it comes in an encoding
// that it was not asked for, and no path says that it is one.
func (p *Proxy) judgeOpen(resp *http.Response, body *observedBody, s event.Stream) {
	plain := decompress(body, contentEncoding(resp.Header))
	if _, cannot := plain.(unreadable); cannot {
		return
	}
	r := newRelayed(body, p.settings.Judge(), p.settings.Panics)
	r.memory = p.settings.Relays
	r.open(plain, p.settings.FrameLimit, func(in io.Reader) *collector.Decoding {
		return p.collector.Decode(&s, collector.Input{Reader: in, Arrival: p.now, Sure: true, Comments: true})
	})
	p.reframed(resp, r)
}

func (p *Proxy) reframed(resp *http.Response, body io.ReadCloser) {
	resp.Body, resp.ContentLength = body, -1
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "ETag"} {
		resp.Header.Del(name)
	}
}

// stream describes the answer: on a run path it holds the run that the request asked for. The names are those of the dialects
// that it may be of.
func (p *Proxy) stream(x *exchange) (*event.Stream, []string) {
	s := &event.Stream{Source: p.settings.Name, Agent: p.settings.Agent, Nonce: rand.Text(), Live: true, Opened: p.now()}
	if x == nil {
		return s, []string{p.settings.Dialect}
	}
	if s.Opened = x.opened; !x.continues {
		s.Answer, s.Parent = true, x.parent // what goes on for hours is no part of one request's trace
	}
	var names []string
	for _, d := range x.dialects {
		names = append(names, d.Name())
	}
	identity, reason := p.identify(x)
	s.Identity = identity
	switch {
	case x.open && identity.Asks != "": // its body says whose answer it is, though its path does not
		x.open, names = false, []string{identity.Asks}
	case x.open:
		names = []string{p.settings.Dialect}
	}
	if !x.open && len(names) == 1 {
		s.Dialect = names[0]
	}
	if identity.Joins != "" {
		s.Answer, s.Parent = false, event.SpanContext{} // the run is another request's
	}
	if reason != "" && x.span != nil {
		p.counters.Unread(p.settings.Name, reason)
	}
	return s, names
}

// identify reads a run request; a dialect that panics finds nothing in it.
func (p *Proxy) identify(x *exchange) (identity event.Identity, reason string) {
	defer p.settings.Panics.Recover(recovery.Request, func() { reason = UnreadPanic })
	return x.body.identify(x.dialects, x.length, p.settings.JSONDepth)
}

// name tells of the session that a request names.
func (p *Proxy) name(x *exchange) {
	if identity, _ := p.identify(x); identity.Session != "" {
		p.settings.Named(identity.Session)
	}
}

// deliver observes what is decoded for the judge. After a panic the stream itself goes on.
func (p *Proxy) deliver(s *event.Stream, r *relayed) {
	defer p.settings.Panics.Recover(recovery.Observation, func() { r.queue.abandon(UnobservedPanic, r.queue.taken.bytes) })
	p.collector.Deliver(s, func() *event.Batch { b, _ := r.queue.take(); return b }, r.end)
}

// follow reads the copy of a stream to its end. An open one need not be an agent's.
func (p *Proxy) follow(s *event.Stream, body *observedBody, open bool, names []string, encoding string) {
	tap := body.tap
	plain := &toTheEnd{decoded: decompress(tap, encoding), source: tap}
	var consumed int64
	in := collector.Input{Reader: plain, Arrival: tap.arrival, End: body.end, Consumed: &consumed, Sure: open, Suggested: p.settings.Dialect == ""}
	half := func() int { // bytes of a frame that was not consumed
		if encoding != "" {
			return 0 // nobody knows where it began
		}
		return tap.given - int(consumed)
	}
	defer p.settings.Panics.Recover(recovery.Observation, func() { tap.abandon(UnobservedPanic, half()+len(tap.reading.bytes)) })
	err := p.collector.Observe(s, in, names...)
	if _, loses := tap.end(); loses != "" {
		p.unobserved(loses, half())
	} else if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		p.unobserved(UnobservedEncoding, tap.given-plain.read) // the client has the bytes, we cannot read them
	}
}

func (p *Proxy) unobserved(reason string, bytes int) {
	if bytes > 0 {
		p.counters.Unobserved(p.settings.Name, reason, bytes)
	}
}

// observedBody is the agent's answer on its way to the client, or to the judge.
type observedBody struct {
	io.ReadCloser
	proxy *Proxy
	tap   *tap            // has a copy; nil where what the judge reads is observed
	gone  context.Context // done when the client has left

	mu     sync.Mutex
	ended  bool
	ending event.End
}

// Read is called when the client has what came before: only then is that observed.
func (b *observedBody) Read(p []byte) (int, error) {
	if b.tap != nil {
		b.tap.wake()
	}
	n, err := b.ReadCloser.Read(p)
	if b.tap != nil {
		b.tap.copy(p[:n])
	}
	if err != nil {
		brokeOff := !errors.Is(err, io.EOF)
		clientLeft := brokeOff && b.gone.Err() != nil
		if brokeOff && !clientLeft {
			b.proxy.counters.BrokeOff(b.proxy.settings.Name)
		}
		b.finish(clientLeft, brokeOff)
	}
	return n, err
}

// Close is the proxy's: before the end of the stream it means that the client no longer reads.
func (b *observedBody) Close() error {
	b.finish(true, false)
	return b.ReadCloser.Close()
}

// finish closes the tap; the first to say how the stream ended is right.
func (b *observedBody) finish(clientLeft, broke bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.ended = true
	switch {
	case clientLeft && b.proxy.stopped.Err() != nil:
		b.ending = event.EndShutdown
	case clientLeft:
		b.ending = event.EndClientLeft
	case broke:
		b.ending = event.EndBroken
	}
	if b.tap != nil {
		b.tap.close(0)
	}
}

func (b *observedBody) end() event.End {
	if b.tap != nil {
		if _, loses := b.tap.end(); loses != "" {
			return event.EndUnobserved
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ending
}
