package spans

import (
	"time"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// outage is a period in which the backend accepts no spans. It ends when all spans that were queued at the
// first success have left the queue. One success is not enough: a backend that accepts one batch and fails at
// the next has not recovered. A batch that is rejected as a whole is no success.
type outage struct {
	active  bool // an attempt has failed, and this was logged
	began   time.Time
	dropped uint64 // spans dropped before the outage began
	backlog int    // spans queued at the first success since the outage began; 0 before that success
	left    int    // spans of the backlog that are still queued
}

// quietPeriod is the time without a rejection after which the next one is logged.
const quietPeriod = 10 * time.Minute

// settle records that n queued spans have left the queue, of which the backend accepted some. It reports whether the outage
// is over.
func (o *outage) settle(n, accepted, queued int) (over bool) {
	if !o.active || o.backlog == 0 && accepted == 0 {
		return false
	}
	if o.backlog == 0 {
		o.backlog, o.left = queued, queued
	}
	o.left -= n
	return o.left <= 0
}

// droppedTotal returns the number of spans dropped so far. The caller holds the lock.
func (p *Processor) droppedTotal() (n uint64) {
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
		p.outage.active, p.outage.backlog = true, 0
	}
	p.mu.Unlock()
	if isFirst {
		p.settings.Logger.Warn("the trace backend accepts no spans; they are queued, and new spans are dropped when the queue is full", "endpoint", p.settings.Backend,
			"err", v.Cause, "queue", p.settings.QueueSize)
	}
}

// settle removes the oldest n spans from the queue, after they were accepted or rejected.
func (p *Processor) settle(n int, v otlp.Result) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	over := p.outage.settle(n, n-v.Rejected, len(p.queue))
	p.remove(n)
	p.cause = ""
	p.exported += uint64(n - v.Rejected)
	p.dropped[DroppedRejected] += uint64(v.Rejected)
	past, dropped := p.outage, p.droppedTotal()-p.outage.dropped
	if over {
		p.outage.active = false
	}
	p.mu.Unlock()
	if over {
		p.settings.Logger.Info("the trace backend is back", "endpoint", p.settings.Backend,
			"after", time.Since(past.began).Round(time.Millisecond), "waited", past.backlog, "dropped", dropped)
	}
	p.logRejected(v)
}

// logRejected logs a rejection unless another one was less than quietPeriod ago. A backend rejects every batch after
// a token has expired, for example.
func (p *Processor) logRejected(v otlp.Result) {
	if v.Rejected == 0 {
		return
	}
	if p.lastRejection.IsZero() || time.Since(p.lastRejection) > quietPeriod {
		p.settings.Logger.Warn("the trace backend rejects spans; they are dropped and counted", "endpoint", p.settings.Backend,
			"err", v.Cause, "dropped", v.Rejected)
	}
	p.lastRejection = time.Now()
}
