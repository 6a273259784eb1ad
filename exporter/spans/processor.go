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

// Why a span was dropped; the values of the label `reason`.
const (
	DroppedQueueFull  = "queue_full"  // the newest go, since the older ones complete the traces already begun
	DroppedQueueBytes = "queue_bytes" // likewise, by their size
	DroppedMemory     = "memory"      // all that waits in the process left no room
	DroppedRejected   = "rejected"    // the backend refused them for good
	DroppedShutdown   = "shutdown"    // the backend did not take them before we were gone
)

// DropReasons lists the reasons.
func DropReasons() []string {
	return []string{DroppedQueueFull, DroppedRejected, DroppedShutdown, DroppedQueueBytes, DroppedMemory}
}

const (
	shortestPause = time.Second / 4 // between attempts; while there is a grace period to be kept, every one
	longestPause  = 30 * time.Second
	absence       = 2 * time.Second // of a backend, after which a stop waits for it no more
	guesses       = 5               // attempts at a batch whose failure says nothing
)

// Settings say how spans are delivered; NewSettings reads them.
type Settings struct {
	Queue   int             // spans that wait at most
	Size    int             // of these spans in memory, in bytes
	Memory  *budget.Account // which they are taken from; nil for no bound
	Batch   int             // spans of one attempt at most
	Delay   time.Duration   // how long a span waits for company, and the first pause after a failure
	Timeout time.Duration   // of one attempt; 0 for that of the exporter alone
	Backend string          // its host, for the log
	Logger  *slog.Logger
	Panics  *recovery.Recorder
}

// Processor keeps a bounded queue in front of an exporter and tries each batch until the backend takes it. The SDK's own
// batch processor drops what an attempt fails on, without a word; this one drops only where it must, and counts.
type Processor struct {
	exporter sdktrace.SpanExporter
	settings Settings
	wake     chan struct{} // a span came
	full     chan struct{} // a batch is whole
	stop     chan struct{}
	done     chan struct{}
	halt     context.CancelFunc // ends the attempt on its way

	// Of the delivering goroutine alone.
	batch    int       // spans of the next attempt at most
	split    split     // of a batch that was refused as malformed
	guessed  int       // attempts at the oldest batch whose failure said nothing
	rejected time.Time // when spans last were, which is told once an episode

	mu       sync.Mutex
	queue    []sdktrace.ReadOnlySpan
	sizes    []int // of the spans in the queue
	size     int   // of all of them
	stopped  bool
	ended    bool   // the stop is over: what an attempt still brings counts no more
	cause    string // of the last failure
	outage   outage
	exported uint64
	dropped  map[string]uint64
}

// NewProcessor delivers until Shutdown.
func NewProcessor(exporter sdktrace.SpanExporter, settings Settings) *Processor {
	ctx, halt := context.WithCancel(context.Background())
	p := &Processor{
		exporter: exporter, settings: settings, halt: halt, batch: settings.Batch,
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
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
	size := sizeOf(span)
	p.mu.Lock()
	switch {
	case p.stopped:
		p.dropped[DroppedShutdown]++
	case len(p.queue) >= p.settings.Queue:
		p.dropped[DroppedQueueFull]++
	case p.size+size > p.settings.Size:
		p.dropped[DroppedQueueBytes]++
	case !p.settings.Memory.Reserve(size):
		p.dropped[DroppedMemory]++
	default:
		p.queue, p.sizes = append(p.queue, span), append(p.sizes, size)
		p.size += size
	}
	whole := len(p.queue) >= p.settings.Batch
	p.mu.Unlock()
	signal(p.wake)
	if whole {
		signal(p.full)
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// ForceFlush is the SDK's; delivery goes on by itself, and Shutdown flushes.
func (p *Processor) ForceFlush(context.Context) error { return nil }

// Shutdown delivers what is queued until the context ends or nobody is there to take it, then drops and counts the rest, which is
// its error. An attempt on its way is not cut short before: the backend may have taken its spans, and would get them twice.
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
	lost := p.end()
	// An exporter that does not heed its context is left behind: the grace period is the process's.
	p.halt()
	if err := p.exporter.Shutdown(ctx); lost == nil {
		return err
	}
	return lost
}

// end drops what is left.
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
	p.queue, p.sizes, p.size = nil, nil, 0 // not cleared: an attempt may still read it
	return err
}

func (p *Processor) run(ctx context.Context) {
	defer close(p.done)
	for {
		least, more := p.gather()
		if !more || !p.deliverAll(ctx, least) {
			break
		}
	}
	p.deliverLast(ctx)
}

// gather waits until a batch is whole or the first of its spans has waited long enough. The least that is then worth an attempt is
// a whole batch, or any span. It returns false when it is time to stop.
func (p *Processor) gather() (least int, more bool) {
	if p.pending() == 0 {
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
		return p.settings.Batch, true
	case <-delay.C:
		return 1, true
	}
}

// deliverAll goes on until fewer spans than the least are queued. It returns false when it is time to stop.
func (p *Processor) deliverAll(ctx context.Context, least int) bool {
	first := min(max(p.settings.Delay, shortestPause), longestPause)
	pause := first
	for p.pending() >= least {
		if p.deliver(ctx) == otlp.Delivered {
			pause = first
			continue
		}
		// Jitter, so that the sidecars of many agents do not come back at one moment.
		if !pauseFor(pause/2+rand.N(pause/2), p.stop) {
			return false
		}
		pause = min(2*pause, longestPause)
	}
	return true
}

// deliverLast uses the grace period. A backend that is slow, overloaded or restarting behind a proxy gets all of it. One where
// nobody takes a connection, time and again for as long as an absence, is given up: it will hardly be there before we are gone,
// and until then the agent's pod would wait for us.
func (p *Processor) deliverLast(ctx context.Context) {
	var absent time.Time // since when
	for p.pending() > 0 {
		switch p.deliver(ctx) {
		case otlp.Delivered:
			absent = time.Time{}
			continue
		case otlp.Nobody:
			if absent.IsZero() {
				absent = time.Now()
			}
			if time.Since(absent) >= absence {
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

// pauseFor returns false where the pause was cut short.
func pauseFor(d time.Duration, cut <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-cut:
		return false
	case <-timer.C:
		return true
	}
}

func (p *Processor) pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// deliver makes one attempt with the oldest batch, which leaves the queue when the backend took it or refused it for good. What it
// returns is not delivered where a pause is needed.
func (p *Processor) deliver(ctx context.Context) otlp.Outcome {
	batch := p.next()
	v := p.attempt(ctx, batch)
	switch {
	case v.Outcome == otlp.TooLarge && len(batch) > 1:
		p.batch = len(batch) / 2
		return otlp.Delivered
	case v.Outcome == otlp.Malformed:
		if next := p.split.refused(len(batch)); next > 0 {
			p.batch = next
			return otlp.Delivered
		}
		if len(batch) > 1 {
			batch = p.oldest(p.split.left)
		}
		v.Rejected = len(batch)
	case v.Outcome == otlp.Obscure && p.guessed+1 < guesses:
		p.guessed++
		p.fail(v)
		return otlp.Obscure
	case v.Outcome == otlp.Nobody, v.Outcome == otlp.Unreachable:
		p.fail(v)
		return v.Outcome
	case v.Outcome != otlp.Delivered:
		v.Rejected = len(batch)
	}
	p.batch, p.guessed = min(2*p.batch, p.settings.Batch), 0
	if p.split.settled(len(batch), v.Outcome) {
		p.batch = p.settings.Batch
	}
	v.Rejected = min(v.Rejected, len(batch))
	p.settle(len(batch), v)
	return otlp.Delivered
}

func (p *Processor) attempt(ctx context.Context, batch []sdktrace.ReadOnlySpan) (v otlp.Verdict) {
	defer p.settings.Panics.Recover(recovery.Spans, func() {
		v = otlp.Verdict{Outcome: otlp.Refused, Cause: "a fault of Delegraph's own"} // which another attempt would meet again
	})
	if p.settings.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.settings.Timeout)
		defer cancel()
	}
	return otlp.Judge(p.exporter.ExportSpans(ctx, batch))
}

// next returns the next batch. Should the attempt with it fail, an outage may have begun.
func (p *Processor) next() []sdktrace.ReadOnlySpan {
	p.mu.Lock()
	if !p.outage.told {
		p.outage = outage{began: time.Now(), dropped: p.lost()}
	}
	p.mu.Unlock()
	if p.split.left > 0 { // without spans that nobody has refused yet
		return p.oldest(min(p.batch, p.split.left))
	}
	return p.oldest(p.batch)
}

// oldest returns the oldest n spans, or all if there are less.
func (p *Processor) oldest(n int) []sdktrace.ReadOnlySpan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue[:min(len(p.queue), n)]
}
