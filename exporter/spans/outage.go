package spans

import (
	"time"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// outage is a period in which the backend accepts no spans. It is over when all spans that were queued at
// the first success have been delivered: a backend that accepts one batch and fails at the next has not
// recovered.
type outage struct {
	active  bool // an attempt has failed: the outage has begun and was logged
	began   time.Time
	dropped uint64 // spans dropped before it
	waited  int    // spans queued when the backend accepted some again; 0 until then
	left    int    // how many of these are still queued
}

// episode is the time without a rejection after which the next rejection is logged again.
const episode = 10 * time.Minute

// settle records that n queued spans have left the queue. It reports whether the outage is over.
func (o *outage) settle(n, queued int) (over bool) {
	if !o.active {
		return false
	}
	if o.waited == 0 {
		o.waited, o.left = queued, queued
	}
	o.left -= n
	return o.left <= 0
}

// lost returns the number of spans dropped so far.
func (p *Processor) lost() (n uint64) {
	for _, dropped := range p.dropped {
		n += dropped
	}
	return n
}

// fail records a failed attempt, after which the batch stays queued. Only the first failure of an
// outage is logged.
func (p *Processor) fail(v otlp.Result) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.cause = v.Cause
	isFirst := v.Outcome != otlp.Unclassified && !p.outage.active
	if v.Outcome != otlp.Unclassified {
		p.outage.active, p.outage.waited = true, 0
	}
	p.mu.Unlock()
	if isFirst {
		p.settings.Logger.Warn("the trace backend accepts no spans; they wait until the queue is full", "endpoint", p.settings.Backend,
			"err", v.Cause, "queue", p.settings.QueueSize)
	}
}

// settle removes the oldest n spans, some of which may have been rejected, from the queue.
func (p *Processor) settle(n int, v otlp.Result) {
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
		p.outage.active = false
	}
	p.mu.Unlock()
	if over {
		p.settings.Logger.Info("the trace backend is back", "endpoint", p.settings.Backend,
			"after", time.Since(past.began).Round(time.Millisecond), "waited", past.waited, "dropped", dropped)
	}
	p.logRejected(v)
}

// logRejected logs a rejection unless there was another one within episode. Otherwise every batch might be
// logged, for example after a token has expired.
func (p *Processor) logRejected(v otlp.Result) {
	if v.Rejected == 0 {
		return
	}
	if p.rejected.IsZero() || time.Since(p.rejected) > episode {
		p.settings.Logger.Warn("the trace backend rejects spans; they are dropped and counted", "endpoint", p.settings.Backend,
			"err", v.Cause, "dropped", v.Rejected)
	}
	p.rejected = time.Now()
}
