package spans

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Why a span was dropped; the values of the label `reason`.
const (
	DroppedQueueFull = "queue_full" // the newest go, since the older ones complete the traces already begun
	DroppedRejected  = "rejected"   // the backend refused them for good
	DroppedShutdown  = "shutdown"   // the backend did not take them within the grace period
)

// DropReasons lists the reasons.
func DropReasons() []string { return []string{DroppedQueueFull, DroppedRejected, DroppedShutdown} }

const (
	batchSize   = 512
	batchDelay  = time.Second      // how long a span waits for company
	exportLimit = 30 * time.Second // one attempt, where OTEL_EXPORTER_OTLP_TIMEOUT does not end it before
	firstPause  = time.Second
	longestWait = 30 * time.Second
	lastPause   = firstPause / 4 // between attempts while there is a grace period to be kept
	guesses     = 5              // attempts at a batch whose failure says nothing
)

// Processor keeps a bounded queue in front of an exporter and tries each batch until the backend takes it. The SDK's own
// batch processor drops what an attempt fails on, without a word; this one drops only where it must, and counts.
type Processor struct {
	exporter sdktrace.SpanExporter
	limit    int
	wake     chan struct{}
	stop     chan struct{}
	done     chan struct{}
	halt     context.CancelFunc // ends the attempt on its way

	// Of the delivering goroutine alone.
	size    int // of the next batch
	guessed int // attempts at the oldest batch whose failure said nothing

	mu       sync.Mutex
	queue    []sdktrace.ReadOnlySpan
	stopped  bool
	ended    bool  // the grace period is over: what an attempt still brings counts no more
	failure  error // of the last attempt
	exported uint64
	dropped  map[string]uint64
}

// NewProcessor queues at most limit spans. It runs until Shutdown.
func NewProcessor(exporter sdktrace.SpanExporter, limit int) *Processor {
	ctx, halt := context.WithCancel(context.Background())
	p := &Processor{
		exporter: exporter, limit: limit, halt: halt, size: batchSize,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		dropped: map[string]uint64{},
	}
	go p.run(ctx)
	return p
}

// Stats is how the delivery stands. Every sampled span that came is in exactly one of the three.
type Stats struct {
	Exported uint64
	Queued   int
	Dropped  map[string]uint64 // by reason
}

// Stats is a snapshot.
func (p *Processor) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Exported: p.exported, Queued: len(p.queue), Dropped: make(map[string]uint64, len(p.dropped))}
	for reason, n := range p.dropped {
		s.Dropped[reason] = n
	}
	return s
}

// OnStart does nothing: an unfinished span has nothing to deliver.
func (p *Processor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd queues a sampled span. It never blocks.
func (p *Processor) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	p.mu.Lock()
	switch {
	case p.stopped:
		p.dropped[DroppedShutdown]++
	case len(p.queue) >= p.limit:
		p.dropped[DroppedQueueFull]++
	default:
		p.queue = append(p.queue, span)
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// ForceFlush is the SDK's; delivery goes on by itself, and Shutdown flushes.
func (p *Processor) ForceFlush(context.Context) error { return nil }

// Shutdown delivers what is queued until the context ends, then drops and counts the rest, which is its error. An attempt on
// its way is not cut short before: the backend may have taken its spans, and would get them twice.
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
	// An exporter that does not heed its context is left behind: the grace period is the process's.
	p.halt()
	return errors.Join(p.end(), p.exporter.Shutdown(ctx))
}

// end drops what is left.
func (p *Processor) end() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.queue); n > 0 {
		err = fmt.Errorf("%d spans were not delivered before the end of the grace period", n)
		if p.failure != nil {
			err = fmt.Errorf("%w: %w", err, p.failure)
		}
		p.dropped[DroppedShutdown] += uint64(n)
	}
	p.ended, p.queue = true, nil
	return err
}

func (p *Processor) run(ctx context.Context) {
	defer close(p.done)
	for p.wait(p.wake, 0) && p.wait(nil, batchDelay) && p.deliverAll(ctx) {
	}
	for p.pending() > 0 && ctx.Err() == nil {
		if p.deliver(ctx) == nil {
			continue
		}
		timer := time.NewTimer(lastPause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// deliverAll empties the queue. It returns false when it is time to stop.
func (p *Processor) deliverAll(ctx context.Context) bool {
	pause := firstPause
	for p.pending() > 0 {
		if p.deliver(ctx) == nil {
			pause = firstPause
			continue
		}
		// Jitter, so that the sidecars of many agents do not come back at one moment.
		if !p.wait(nil, pause/2+rand.N(pause/2)) {
			return false
		}
		pause = min(2*pause, longestWait)
	}
	return true
}

// wait returns false when it is time to stop.
func (p *Processor) wait(wake <-chan struct{}, d time.Duration) bool {
	var timer <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-p.stop:
		return false
	case <-wake:
	case <-timer:
	}
	return true
}

func (p *Processor) pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// deliver makes one attempt with the oldest batch, which leaves the queue when the backend took it or refused it for good. An
// error asks for a pause.
func (p *Processor) deliver(ctx context.Context) error {
	p.mu.Lock()
	batch := p.queue[:min(len(p.queue), p.size)]
	p.mu.Unlock()
	attempt, cancel := context.WithTimeout(ctx, exportLimit)
	err := p.exporter.ExportSpans(attempt, batch)
	cancel()
	outcome, rejected := judge(err)
	switch {
	case outcome == tooLarge && len(batch) > 1:
		p.size = len(batch) / 2
		return nil
	case outcome == unreachable:
		return p.fail(err)
	case outcome == obscure:
		if p.guessed++; p.guessed < guesses {
			return p.fail(err)
		}
		rejected = len(batch)
	case outcome != delivered:
		rejected = len(batch)
	}
	p.size, p.guessed = min(2*p.size, batchSize), 0
	p.settle(len(batch), min(rejected, len(batch)))
	return nil
}

func (p *Processor) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failure = err
	return err
}

// settle takes the oldest n spans, of which some were rejected, out of the queue.
func (p *Processor) settle(n, rejected int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	clear(p.queue[:n]) // let the spans go before the queue's array does
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil
	}
	p.exported += uint64(n - rejected)
	p.dropped[DroppedRejected] += uint64(rejected)
}
