package spans

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/otlp"
)

// Reasons why a span was dropped: the values of the label `reason`.
const (
	DroppedQueueFull  = "queue_full"  // the newest spans are dropped, because the queued ones belong to traces that have already begun
	DroppedQueueBytes = "queue_bytes" // like queue_full, for the queue's size in bytes
	DroppedMemory     = "memory"      // the memory budget of the process is used up
	DroppedRejected   = "rejected"    // the backend rejected them permanently
	DroppedShutdown   = "shutdown"    // the backend had not accepted them by the end of the shutdown
)

// DropReasons returns all reasons.
func DropReasons() []string {
	return []string{DroppedQueueFull, DroppedRejected, DroppedShutdown, DroppedQueueBytes, DroppedMemory}
}

const (
	shortestPause   = time.Second / 4 // minimum between attempts; the only pause during a shutdown
	longestPause    = 30 * time.Second
	maxRetryAfter   = 5 * time.Minute // maximum pause that the backend can ask for
	absentWait      = 2 * time.Second // how long a shutdown waits for a backend to accept a connection
	maxUnclassified = 5               // attempts to deliver a batch whose failures cannot be classified
)

// Settings configure the delivery of spans. NewSettings reads them.
type Settings struct {
	QueueSize  int             // maximum number of queued spans
	QueueBytes int             // maximum size in memory of the queued spans
	Memory     *budget.Account // account that queued spans are charged to; nil for no limit
	BatchSize  int             // maximum number of spans per attempt
	Delay      time.Duration   // how long a span waits for a full batch, and the first pause after a failure
	Timeout    time.Duration   // of one attempt; 0 for the exporter's own
	Backend    string          // host of the backend, for the log
	Logger     *slog.Logger
	Panics     *recovery.Recorder
}

// Processor keeps a bounded queue in front of an exporter and retries each batch until the backend
// accepts it. The SDK's batch processor silently drops a batch when an attempt fails. This one drops spans
// only for one of DropReasons, and counts them.
type Processor struct {
	exporter sdktrace.SpanExporter
	settings Settings
	wake     chan struct{} // a span was queued
	full     chan struct{} // the queued spans fill a batch, or half of the bytes
	stop     chan struct{}
	done     chan struct{}
	halt     context.CancelFunc // cancels the current attempt

	// Used by the delivering goroutine only.
	batch         adaptiveSize  // of the next attempt
	split         split         // of a batch that was rejected as malformed
	unclassified  int           // attempts to deliver the oldest batch with a failure that could not be classified
	lastRejection time.Time     // time of the last rejection; see logRejected
	retryAfter    time.Duration // pause that the backend's last response asked for

	mu       sync.Mutex
	queue    []sdktrace.ReadOnlySpan
	sizes    []int // of the queued spans
	size     int   // sum of sizes
	stopped  bool
	ended    bool   // the shutdown is over: results of a running attempt no longer count
	cause    string // of the last failure
	outage   outage
	exported uint64
	dropped  map[string]uint64
}

// NewProcessor returns a processor that delivers until Shutdown.
func NewProcessor(exporter sdktrace.SpanExporter, settings Settings) *Processor {
	ctx, halt := context.WithCancel(context.Background())
	p := &Processor{
		exporter: exporter, settings: settings, halt: halt, batch: adaptiveSize{most: settings.BatchSize, next: settings.BatchSize},
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		dropped: map[string]uint64{},
	}
	go p.run(ctx)
	return p
}

// Stats counts spans. Every sampled span that ended is counted in exactly one of the three.
type Stats struct {
	Exported uint64
	Queued   int
	Dropped  map[string]uint64 // by reason
}

// Stats returns the current counts.
func (p *Processor) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Exported: p.exported, Queued: len(p.queue), Dropped: make(map[string]uint64, len(p.dropped))}
	for reason, n := range p.dropped {
		s.Dropped[reason] = n
	}
	return s
}

// OnStart does nothing: only ended spans are delivered.
func (p *Processor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd queues a sampled span. It never blocks.
func (p *Processor) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	size := sizeOf(span)
	p.mu.Lock()
	switch {
	case p.stopped:
		p.dropped[DroppedShutdown]++
	case len(p.queue) >= p.settings.QueueSize:
		p.dropped[DroppedQueueFull]++
	case p.size+size > p.settings.QueueBytes:
		p.dropped[DroppedQueueBytes]++
	case !p.settings.Memory.Reserve(size):
		p.dropped[DroppedMemory]++
	default:
		p.queue, p.sizes = append(p.queue, span), append(p.sizes, size)
		p.size += size
	}
	isFull := len(p.queue) >= p.settings.BatchSize || p.isLarge()
	p.mu.Unlock()
	signal(p.wake)
	if isFull {
		signal(p.full)
	}
}

// isLarge reports whether the queued spans use half of the queue's bytes. It needs the lock.
func (p *Processor) isLarge() bool { return p.size >= p.settings.QueueBytes/2 }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// ForceFlush does nothing: delivery runs in the background, and Shutdown flushes.
func (p *Processor) ForceFlush(context.Context) error { return nil }

// Shutdown delivers the queued spans until the context ends or deliverLast gives up. It drops and
// counts the rest, and its error reports them. A running attempt is not canceled before the
// context ends: the backend may have accepted its spans and would get them twice.
func (p *Processor) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	first := !p.stopped
	p.stopped = true
	p.mu.Unlock()
	if !first {
		select {
		case <-p.done:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	close(p.stop)
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	undelivered := p.end()
	// Do not wait for an exporter that ignores its context: the grace period is for the whole process.
	p.halt()
	if err := p.exporter.Shutdown(ctx); undelivered == nil {
		return err
	}
	return undelivered
}

// end drops the remaining spans, and returns an error if there are any.
func (p *Processor) end() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.queue); n > 0 {
		cause := p.cause
		if cause == "" {
			cause = "no answer within the grace period"
		}
		err = fmt.Errorf("%d spans were not delivered to %s: %s", n, p.settings.Backend, cause)
		p.dropped[DroppedShutdown] += uint64(n)
	}
	p.ended = true
	p.settings.Memory.Release(p.size)
	p.queue, p.sizes, p.size = nil, nil, 0 // not cleared: a running attempt may still read it
	return err
}

// run delivers until Shutdown, and then the rest.
func (p *Processor) run(ctx context.Context) {
	defer close(p.done)
	for {
		minQueued, more := p.gather()
		if !more || !p.deliverAll(ctx, minQueued) {
			break
		}
	}
	p.deliverLast(ctx)
}

// gather waits until a batch is full, the queued spans are large, or the first span has waited long enough. It returns
// how many queued spans are worth an attempt: a full batch in the first case, else one. It returns false when it is time
// to stop.
func (p *Processor) gather() (minQueued int, more bool) {
	if p.queued() == 0 {
		select {
		case <-p.stop:
			return 0, false
		case <-p.wake:
		}
	}
	delay := time.NewTimer(p.settings.Delay)
	defer delay.Stop()
	select {
	case <-p.stop:
		return 0, false
	case <-p.full:
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.isLarge() {
			return 1, true
		}
		return p.settings.BatchSize, true
	case <-delay.C:
		return 1, true
	}
}

// deliverAll delivers while at least minQueued spans are queued. It returns false when it is time to stop.
func (p *Processor) deliverAll(ctx context.Context, minQueued int) bool {
	first := min(max(p.settings.Delay, shortestPause), longestPause)
	pause := first
	for p.queued() >= minQueued {
		if p.deliver(ctx) == otlp.Delivered {
			pause = first
			continue
		}
		// Jitter, so that the sidecars of many agents do not retry at the same time.
		if !pauseFor(max(pause/2, min(p.retryAfter, maxRetryAfter))+rand.N(pause/2), p.stop) {
			return false
		}
		pause = min(2*pause, longestPause)
	}
	return true
}

// deliverLast delivers during the shutdown. For a backend that is slow, overloaded or restarting behind a
// proxy it tries until the context is done. It gives up a backend that accepts no connection for
// absentWait: such a backend is unlikely to return in time, and the agent's pod would wait for it. It ignores the pause
// that an overloaded backend asks for, because the spans would be lost.
func (p *Processor) deliverLast(ctx context.Context) {
	var absent time.Time // when the backend was first found absent
	for p.queued() > 0 {
		switch p.deliver(ctx) {
		case otlp.Delivered:
			absent = time.Time{}
			continue
		case otlp.NoConnection:
			if absent.IsZero() {
				absent = time.Now()
			}
			if time.Since(absent) >= absentWait {
				return
			}
		default:
			absent = time.Time{}
		}
		if !pauseFor(shortestPause, ctx.Done()) {
			return
		}
	}
}

// pauseFor waits for d. It returns false if stop is closed before.
func pauseFor(d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-stop:
		return false
	case <-timer.C:
		return true
	}
}

func (p *Processor) queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// deliver attempts to deliver the oldest batch. The batch leaves the queue when the backend accepts
// it or rejects it permanently. deliver returns a failure if the caller must pause before the next
// attempt. It returns Delivered, even after a rejection, if the next batch or a smaller part of
// this one can follow at once.
func (p *Processor) deliver(ctx context.Context) otlp.Outcome {
	batch := p.next()
	v := p.attempt(ctx, batch)
	p.retryAfter = v.RetryAfter
	switch {
	case v.Outcome == otlp.TooLarge && len(batch) > 1:
		p.batch.refuse(len(batch))
		return otlp.Delivered
	case v.Outcome == otlp.Malformed:
		if next := p.split.reject(len(batch)); next > 0 {
			p.batch.next = next
			return otlp.Delivered
		}
		if len(batch) > 1 {
			batch = p.oldest(p.split.left)
		}
		v.Rejected = len(batch)
	case v.Outcome == otlp.Unclassified && p.unclassified+1 < maxUnclassified:
		p.unclassified++
		p.batch.next = len(batch) // leaves out later spans, which have not failed as often
		p.fail(v)
		return otlp.Unclassified
	case v.Outcome == otlp.NoConnection, v.Outcome == otlp.Unreachable:
		p.fail(v)
		return v.Outcome
	case v.Outcome != otlp.Delivered:
		v.Rejected = len(batch)
	}
	p.unclassified = 0
	if p.batch.grow(); p.split.settle(len(batch), v.Outcome) {
		p.batch.reset()
	}
	v.Rejected = min(v.Rejected, len(batch))
	p.settle(len(batch), v)
	return otlp.Delivered
}

func (p *Processor) attempt(ctx context.Context, batch []sdktrace.ReadOnlySpan) (v otlp.Result) {
	defer p.settings.Panics.Recover(recovery.Spans, func() {
		v = otlp.Result{Outcome: otlp.Refused, Cause: "panic in Delegraph"} // another attempt would panic again
	})
	if p.settings.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.settings.Timeout)
		defer cancel()
	}
	return otlp.Classify(p.exporter.ExportSpans(ctx, batch))
}

// next returns the next batch. If there is no outage, it records when one would begin, because the
// attempt at this batch may fail.
func (p *Processor) next() []sdktrace.ReadOnlySpan {
	p.mu.Lock()
	if !p.outage.active {
		p.outage = outage{began: time.Now(), dropped: p.droppedTotal()}
	}
	p.mu.Unlock()
	if p.split.left > 0 { // leave out later spans, which have not been rejected
		return p.oldest(min(p.batch.next, p.split.left))
	}
	return p.oldest(p.batch.next)
}

// oldest returns the oldest n spans, or all if there are fewer.
func (p *Processor) oldest(n int) []sdktrace.ReadOnlySpan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue[:min(len(p.queue), n)]
}

// remove removes the oldest n spans from the queue. The caller holds the lock.
func (p *Processor) remove(n int) {
	for _, size := range p.sizes[:n] {
		p.size -= size
		p.settings.Memory.Release(size)
	}
	clear(p.queue[:n]) // release the spans before the queue's array is released
	p.queue, p.sizes = p.queue[n:], p.sizes[n:]
	if len(p.queue) == 0 {
		p.queue, p.sizes = nil, nil
	}
}
