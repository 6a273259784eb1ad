package spans

import (
	"time"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// outage is a time in which nobody takes the spans. It is over when all that had piled up is out: a backend that takes a batch and
// fails at the next is not back.
type outage struct {
	told    bool // there is one: an attempt has failed
	began   time.Time
	dropped uint64 // spans, before it
	waited  int    // spans that were queued when the backend took some again; 0 until then
	left    int    // of those
}

// episode is how long no span must have been rejected until a rejection is news again.
const episode = 10 * time.Minute

// settle notes that n of the queued spans are out. It returns whether the outage is over.
func (o *outage) settle(n, queued int) (over bool) {
	if !o.told {
		return false
	}
	if o.waited == 0 {
		o.waited, o.left = queued, queued
	}
	o.left -= n
	return o.left <= 0
}

// lost is how many spans were dropped so far.
func (p *Processor) lost() (n uint64) {
	for _, dropped := range p.dropped {
		n += dropped
	}
	return n
}

// fail notes an attempt after which the batch stays in the queue. The first of an outage is told; the next would say the same.
func (p *Processor) fail(v otlp.Verdict) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.cause = v.Cause
	news := v.Outcome != otlp.Obscure && !p.outage.told
	if v.Outcome != otlp.Obscure {
		p.outage.told, p.outage.waited = true, 0
	}
	p.mu.Unlock()
	if news {
		p.settings.Logger.Warn("the trace backend takes no spans; they wait until the queue is full", "endpoint", p.settings.Backend,
			"err", v.Cause, "queue", p.settings.Queue)
	}
}

// settle takes the oldest n spans, of which some may have been rejected, out of the queue.
func (p *Processor) settle(n int, v otlp.Verdict) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	over := p.outage.settle(n, len(p.queue))
	p.remove(n)
	p.cause = ""
	p.exported += uint64(n - v.Rejected)
	p.dropped[DroppedRejected] += uint64(v.Rejected)
	past, dropped := p.outage, p.lost()-p.outage.dropped
	if over {
		p.outage.told = false
	}
	p.mu.Unlock()
	if over {
		p.settings.Logger.Info("the trace backend is back", "endpoint", p.settings.Backend,
			"after", time.Since(past.began).Round(time.Millisecond), "waited", past.waited, "dropped", dropped)
	}
	p.tellRejected(v)
}

// tellRejected tells of the first rejection of an episode. There may be one for each batch: of a span that is too large, of a token
// that has expired.
func (p *Processor) tellRejected(v otlp.Verdict) {
	if v.Rejected == 0 {
		return
	}
	if p.rejected.IsZero() || time.Since(p.rejected) > episode {
		p.settings.Logger.Warn("the trace backend rejects spans; they are dropped and counted", "endpoint", p.settings.Backend,
			"err", v.Cause, "dropped", v.Rejected)
	}
	p.rejected = time.Now()
}
