package spans

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
	exportLimit = 10 * time.Second // one attempt
	firstPause  = time.Second
	longestWait = 30 * time.Second
)

// Processor keeps a bounded queue in front of an exporter and tries each batch until the backend takes it. The SDK's own
// batch processor drops what an attempt fails on, without a word; this one drops only where it must, and counts.
type Processor struct {
	exporter sdktrace.SpanExporter
	limit    int
	wake     chan struct{}
	stop     chan struct{}
	done     chan struct{}

	mu       sync.Mutex
	queue    []sdktrace.ReadOnlySpan
	stopped  bool
	exported uint64
	dropped  map[string]uint64
}

// NewProcessor queues at most limit spans. It runs until Shutdown.
func NewProcessor(exporter sdktrace.SpanExporter, limit int) *Processor {
	p := &Processor{
		exporter: exporter, limit: limit,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		dropped: map[string]uint64{},
	}
	go p.run()
	return p
}

// Stats is how the delivery stands.
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

// Shutdown delivers what is queued until the context ends, then drops and counts the rest.
func (p *Processor) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	already := p.stopped
	p.stopped = true
	p.mu.Unlock()
	if !already {
		close(p.stop)
	}
	<-p.done
	err := p.drain(ctx)
	p.mu.Lock()
	p.dropped[DroppedShutdown] += uint64(len(p.queue))
	p.queue = nil
	p.mu.Unlock()
	if closed := p.exporter.Shutdown(ctx); err == nil {
		err = closed
	}
	return err
}

func (p *Processor) run() {
	defer close(p.done)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-p.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	pause := firstPause
	for {
		if !p.wait(p.wake, 0) || !p.wait(nil, batchDelay) {
			return
		}
		for p.pending() > 0 {
			if p.deliver(ctx) == nil {
				pause = firstPause
				continue
			}
			// Jitter, so that the sidecars of many agents do not come back at one moment.
			if !p.wait(nil, pause/2+rand.N(pause/2)) {
				return
			}
			pause = min(2*pause, longestWait)
		}
	}
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

func (p *Processor) drain(ctx context.Context) error {
	for p.pending() > 0 {
		if err := p.deliver(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			timer := time.NewTimer(firstPause / 4)
			select {
			case <-ctx.Done():
				timer.Stop()
				return err
			case <-timer.C:
			}
		}
	}
	return nil
}

// deliver makes one attempt with the oldest batch, which leaves the queue when the backend took it or refused it for good.
func (p *Processor) deliver(ctx context.Context) error {
	p.mu.Lock()
	batch := p.queue[:min(len(p.queue), batchSize)]
	p.mu.Unlock()
	attempt, cancel := context.WithTimeout(ctx, exportLimit)
	err := p.exporter.ExportSpans(attempt, batch)
	cancel()
	if err != nil && !permanent(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue = p.queue[len(batch):]; len(p.queue) == 0 {
		p.queue = nil // let the delivered spans go
	}
	if err != nil {
		p.dropped[DroppedRejected] += uint64(len(batch))
		return nil
	}
	p.exported += uint64(len(batch))
	return nil
}

// permanent knows the answers that OTLP says not to retry. Over HTTP the exporter hides the answer in text, so there all is retried.
func permanent(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.FailedPrecondition,
		codes.Unimplemented, codes.Internal, codes.Unauthenticated:
		return true
	}
	return false
}
