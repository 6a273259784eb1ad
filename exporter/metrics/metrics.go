// Package metrics turns batches and operations into Prometheus metrics, and can also send these over
// OTLP. The number of series is bounded, whatever agents send.
package metrics

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Settings holds the limits on labels, which must be positive, and other settings of the metrics.
type Settings struct {
	MaxLabelValues int                                // of each class: agents, tools, models, workflows, error codes, unknown event kinds
	MaxLabelSets   int                                // label sets of each metric with labels from agents
	UnknownKind    func(source, dialect, name string) // called once for each of the first MaxLabelValues unknown kinds; may be nil
	Names          conventions.Table
	Version        string
	Revision       string
	Panics         *recovery.Recorder // for the delivery over OTLP; nil recovers panics without recording them
	OTLPClient     *http.Client       // for the delivery over OTLP in this process; nil for the one that the environment configures
}

// SpanStats returns the current counts of exported, queued and dropped spans; dropped is keyed by
// reason.
type SpanStats func() (exported uint64, queued int, dropped map[string]uint64)

// Metrics records Delegraph's metrics. It implements tracker.Observer and tracker.Losses, and
// consumes batches alongside the tracker.
type Metrics struct {
	caps *caps
	reg  prometheus.Registerer

	agentDuration, workflowDuration, toolDuration, inferenceDuration, runDuration *family[*timer]
	timeToFirstText, firstChunk, confidence, inputWait, eventLag                  *family[prometheus.Observer]
	inferenceCalls, invocationToolCalls                                           *family[prometheus.Observer]
	runModelCalls, runToolCalls, delegationDepth                                  *family[prometheus.Observer]
	calls                                                                         calls
	tokens                                                                        []tokens

	runsStarted, runsEnded, toolCalls, toolCallFailures, transfers             *family[prometheus.Counter]
	unratedAnswer, citations, unreadable, inputRequests, inputExpired          *family[prometheus.Counter]
	artifacts, artifactBytes, frames, frameBytes, events, internal, unknown    *family[prometheus.Counter]
	parseErrors, lateFrames, upstreamErrors, unobservedBytes, unreadRequests   *family[prometheus.Counter]
	panics, operationsExpired, operationsEvicted                               *family[prometheus.Counter]
	relayWithheld, relayIDsWithheld, cardsUnchanged                            *family[prometheus.Counter]
	artifactGaps, chunksRepeated, planItems, transferLoops, missedFrames       *family[prometheus.Counter]
	toolCallsDiffer, reconnects, repeatedFrames, sessionsEvicted, unrecognized *family[prometheus.Counter]

	runsOpen, sourceUp, clockOffset, lastEvent *family[prometheus.Gauge]

	kinds      unknownKinds
	mu         sync.RWMutex
	perSource  map[[2]string]*frameSeries // by source and dialect
	configured map[string]bool            // sources set up by InitSource; false: removed since

	reloadSuccessful, reloadTime *family[prometheus.Gauge] // absent before the first load
}

// New registers every metric with reg.
func New(reg prometheus.Registerer, s Settings) *Metrics {
	c, g := newCaps(reg, s), newGenAI(s.Names)
	m := &Metrics{
		caps: c, reg: reg, perSource: map[[2]string]*frameSeries{}, configured: map[string]bool{},
		agentDuration:    g.agentDuration.timer(reg, c, agentBuckets),
		workflowDuration: g.workflowDuration.timer(reg, c, workflowBuckets),
		toolDuration:     g.toolDuration.timer(reg, c, callBuckets),
		inferenceCalls:   g.inferenceCalls.histogram(reg, c, countBuckets), invocationToolCalls: g.toolCalls.histogram(reg, c, countBuckets),
		calls:             calls{runs: map[*tracker.Run]runCalls{}},
		runModelCalls:     runModelCalls.histogram(reg, c, runCountBuckets),
		runToolCalls:      runToolCalls.histogram(reg, c, runCountBuckets),
		delegationDepth:   delegationDepth.histogram(reg, c, depthBuckets),
		inferenceDuration: g.inferenceDuration.timer(reg, c, callBuckets),
		firstChunk:        g.firstChunk.histogram(reg, c, callBuckets),
		tokens:            newTokens(reg, c, s.Names.Tokens, g.tokens),
		runDuration:       runDuration.timer(reg, c, agentBuckets),
		timeToFirstText:   timeToFirstText.histogram(reg, c, callBuckets),
		confidence:        confidence.histogram(reg, c, ratioBuckets),
		inputWait:         inputWait.histogram(reg, c, waitBuckets),
		eventLag:          eventLag.histogram(reg, c, lagBuckets),
		runsStarted:       runsStarted.counter(reg, c),
		runsEnded:         runsEnded.counter(reg, c),
		toolCalls:         toolCalls.counter(reg, c),
		toolCallFailures:  toolCallFailures.counter(reg, c),
		toolCallsDiffer:   toolCallsDiffer.counter(reg, c),
		transfers:         transfers.counter(reg, c),
		transferLoops:     transferLoops.counter(reg, c),
		unratedAnswer:     unratedAnswer.counter(reg, c),
		citations:         citations.counter(reg, c),
		unreadable:        unreadable.counter(reg, c),
		inputRequests:     inputRequests.counter(reg, c),
		inputExpired:      inputExpired.counter(reg, c),
		artifacts:         artifacts.counter(reg, c),
		artifactBytes:     artifactBytes.counter(reg, c),
		frames:            frames.counter(reg, c),
		frameBytes:        frameBytes.counter(reg, c),
		events:            events.counter(reg, c),
		internal:          internalEvents.counter(reg, c),
		unknown:           unknownEvents.counter(reg, c),
		kinds:             unknownKinds{report: s.UnknownKind, limit: s.MaxLabelValues, seen: map[[2]string]struct{}{}},
		parseErrors:       parseErrors.counter(reg, c),
		lateFrames:        lateFrames.counter(reg, c),
		upstreamErrors:    upstreamErrors.counter(reg, c),
		unobservedBytes:   unobservedBytes.counter(reg, c),
		unreadRequests:    unreadRequests.counter(reg, c),
		cardsUnchanged:    cardsUnchanged.counter(reg, c),
		panics:            panics.counter(reg, c),
		relayWithheld:     relayWithheld.counter(reg, c),
		relayIDsWithheld:  relayIDsWithheld.counter(reg, c),
		operationsExpired: operationsExpired.counter(reg, c),
		operationsEvicted: operationsEvicted.counter(reg, c),
		artifactGaps:      artifactGaps.counter(reg, c),
		chunksRepeated:    chunksRepeated.counter(reg, c),
		planItems:         planItems.counter(reg, c),
		reconnects:        reconnects.counter(reg, c),
		repeatedFrames:    repeatedFrames.counter(reg, c),
		missedFrames:      missedFrames.counter(reg, c),
		sessionsEvicted:   sessionsEvicted.counter(reg, c),
		unrecognized:      unrecognized.counter(reg, c),
		clockOffset:       clockOffset.gauge(reg, c),
		lastEvent:         lastEvent.gauge(reg, c),
		runsOpen:          runsOpen.gauge(reg, c),
		sourceUp:          sourceUp.gauge(reg, c),
		reloadSuccessful:  reloadSuccessful.gauge(reg, c),
		reloadTime:        reloadTime.gauge(reg, c),
	}
	m.runsEnded.zeros = true
	for _, c := range recovery.Components() {
		m.panics.with(string(c)) // from 0, so that the first panic shows as an increase
	}
	calls := m.toolCalls.create
	m.toolCalls.create = func(values ...string) prometheus.Counter {
		m.toolCallFailures.with(values...) // from 0, so that the failure rate of a tool is defined from its first call
		return calls(values...)
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildInfo.name, Help: buildInfo.help}, buildInfo.labels)
	reg.MustRegister(info)
	info.WithLabelValues(s.Version, s.Revision, runtime.Version()).Set(1)
	return m
}

// InitSource creates, at zero, the series of a source that alerting rules use in ratios or rates.
// The rate of a series that starts at one would miss the first error. Series with the name of an
// agent, such as those of runsEnded, cannot be created before the agent is known. They begin at their
// first value, and the alerting rules add it to the increase. dialects are the configured ones. AllowTools is called with tools.
func (m *Metrics) InitSource(source string, dialects, tools []string) {
	m.AllowTools(tools)
	m.mu.Lock()
	if isConfigured, known := m.configured[source]; known && !isConfigured {
		m.forgetFrameSeries(source) // those cached since the removal do not record the time of the last frame
	}
	m.configured[source] = true
	m.mu.Unlock()
	of := map[string][]string{"source": {source}, "dialect": append(slices.Clip(dialects), unknownDialect)}
	for _, f := range []*family[prometheus.Counter]{
		m.frames, m.frameBytes, m.parseErrors, m.runsStarted, m.upstreamErrors, m.unobservedBytes,
	} {
		f.createZeros(of)
	}
	m.runsOpen.createZeros(of)
}

// AllowTools admits tool names from the configuration, as label values of both tools and agents,
// beyond the limit on label values.
func (m *Metrics) AllowTools(tools []string) {
	for _, tool := range tools {
		m.caps.reserve("tool", tool)
		m.caps.reserve("agent", tool)
	}
}

// SetReload records whether loading the configuration succeeded.
func (m *Metrics) SetReload(ok bool, at time.Time) {
	loaded := 0.0
	if ok {
		loaded = 1
		m.reloadTime.with().Set(seconds(at))
	}
	m.reloadSuccessful.with().Set(loaded)
}

// seconds returns a Prometheus timestamp: seconds since 1970.
func seconds(at time.Time) float64 { return float64(at.UnixNano()) / 1e9 }

// unknownDialect labels frames of a stream whose dialect is not known, or not known yet.
const unknownDialect = "unknown"

func (m *Metrics) event(f *frameSeries, source, dialect string, k event.Kind) prometheus.Counter {
	if c := f.events[k].Load(); c != nil {
		return *c
	}
	c := m.events.with(source, dialect, k.String())
	f.events[k].Store(&c)
	return c
}

// Consume counts a frame and its events.
func (m *Metrics) Consume(b *event.Batch) {
	source, dialect := b.Stream.Source, b.Stream.Dialect
	if dialect == "" {
		dialect = unknownDialect
	}
	f := m.frameSeries(source, dialect)
	if b.Rejected != event.ReasonTruncated {
		f.frames.Inc()
		f.bytes.Add(float64(b.Frame.Size))
	}
	if b.Rejected != "" {
		m.parseErrors.with(source, dialect, string(b.Rejected)).Inc()
	}
	for i := range b.Events {
		m.event(f, source, dialect, b.Events[i].Kind).Inc()
	}
	for _, why := range b.Unreadable {
		m.unreadable.with(source, string(why)).Inc()
	}
	if b.UnknownKind != "" {
		m.unknown.with(source, dialect, b.UnknownKind).Inc()
		m.kinds.see(source, dialect, b.UnknownKind)
	}
	if b.Internal {
		kind := event.KindOther
		if len(b.Events) > 0 {
			kind = b.Events[0].Kind
		}
		m.internal.with(source, internalName(b), kind.String()).Inc()
	}
	if !b.Received.IsZero() && b.Rejected == "" {
		if last := f.last(); last != nil {
			last.Set(seconds(b.Received))
		}
	}
	if !b.Received.IsZero() && !b.Time.IsZero() && !b.Replayed {
		f.lag().Observe(max(b.Received.Sub(b.Time).Seconds(), 0))
	}
}

// internalName returns the type of an internal frame, or _other if it may be content: it is neither
// an identifier nor in the dialect's table.
func internalName(b *event.Batch) string {
	if b.Type == "" || event.IsIdentifier(b.Type) {
		return b.Type
	}
	if b.Table != nil {
		if _, known := b.Table.Types[b.Type]; known {
			return b.Type
		}
	}
	return other
}

// RunStarted counts a started run.
func (m *Metrics) RunStarted(r *tracker.Run) {
	m.runsStarted.with(r.Source).Inc()
	m.runsOpen.with(r.Source).Inc()
}

// OperationEnded records an operation's duration, calls and tokens.
func (m *Metrics) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	calls := m.calls.take(r, op)
	switch op.Kind {
	case tracker.InvokeWorkflow:
		observe(m.workflowDuration, r, op, r.Source, op.Name, op.ErrorType())
	case tracker.InvokeAgent:
		observe(m.agentDuration, r, op, r.Source, op.Name, op.ErrorType())
		countCalls(m.inferenceCalls, m.invocationToolCalls, r.Source, op.Name, calls)
	case tracker.ExecuteTool:
		m.calls.add(r, op, callCount{tools: 1})
		m.toolCalls.with(r.Source, op.Agent, op.Name).Inc()
		if op.Status == tracker.OperationError {
			m.toolCallFailures.with(r.Source, op.Agent, op.Name).Inc()
		}
		observe(m.toolDuration, r, op, r.Source, op.Name, op.Agent, op.ErrorType())
	case tracker.Chat:
		m.calls.add(r, op, callCount{inference: 1})
		observe(m.inferenceDuration, r, op, r.Source, string(op.Kind), op.Name, op.ErrorType())
		if first, known := op.FirstChunk(); known {
			m.firstChunk.with(r.Source, string(op.Kind), op.Name).Observe(first.Seconds())
		}
		m.observeUsage(r, op.Kind, op.Name, op.Response.OrZero().Usage)
	}
}

// RunEnded records a run's end, and everything that is counted only then.
func (m *Metrics) RunEnded(r *tracker.Run) {
	agent := cmp.Or(r.Agent, r.Root.Name)
	m.runsOpen.with(r.Source).Dec()
	m.runsEnded.with(r.Source, agent, string(r.Status)).Inc()
	calls := m.calls.takeRun(r)
	countCalls(m.runModelCalls, m.runToolCalls, r.Source, agent, calls)
	m.observeDelegation(r, agent)
	observe(m.runDuration, r, r.Root, r.Source, agent, string(r.Status))
	if first := r.FirstText.At; r.Live && !first.IsZero() && !r.Root.Started.At.IsZero() {
		m.timeToFirstText.with(r.Source, agent).Observe(first.Sub(r.Root.Started.At).Seconds())
	}
	if r.ReportedToolCalls.Known && r.ReportedToolCalls.N != int64(calls.tools) {
		m.toolCallsDiffer.with(r.Source).Inc()
	}
	for _, t := range r.Transfers {
		m.transfers.with(r.Source, t.From, t.To).Inc()
		if t.Loop {
			m.transferLoops.with(r.Source, t.From, t.To).Inc()
		}
	}
	m.countProof(r)
	m.countInputs(r)
	m.countArtifacts(r)
	m.countPlan(r)
	for _, used := range r.UnattributedUsage {
		m.observeRunUsage(r, used)
	}
	if r.ClockOffsetKnown {
		m.setClockOffset(r.Source, r.ClockOffset)
	}
}

// setClockOffset records a source's clock offset, unless the source was removed: its runs may end later.
func (m *Metrics) setClockOffset(source string, offset time.Duration) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if isConfigured, known := m.configured[source]; isConfigured || !known {
		m.clockOffset.with(source).Set(offset.Seconds())
	}
}

func (m *Metrics) countInputs(r *tracker.Run) {
	for _, in := range r.Inputs {
		m.inputRequests.with(r.Source, string(in.Kind)).Inc()
		if wait, ok := in.Wait(); ok {
			m.inputWait.with(r.Source, string(in.Kind)).Observe(wait.Seconds())
		}
		if in.Status == tracker.InputExpired {
			m.inputExpired.with(r.Source, string(in.Kind)).Inc()
		}
	}
}

func (m *Metrics) countArtifacts(r *tracker.Run) {
	for _, a := range r.Artifacts {
		m.artifacts.with(r.Source, string(a.Kind)).Inc()
		if a.Bytes.Known {
			m.artifactBytes.with(r.Source, string(a.Kind)).Add(float64(a.Bytes.N))
		}
		if a.Gaps > 0 {
			m.artifactGaps.with(r.Source, string(a.Kind)).Add(float64(a.Gaps))
		}
		if a.Duplicates > 0 {
			m.chunksRepeated.with(r.Source, string(a.Kind)).Add(float64(a.Duplicates))
		}
	}
}

func (m *Metrics) countPlan(r *tracker.Run) {
	for status, n := range map[string]int{
		"pending": r.Plan.Pending, "in_progress": r.Plan.InProgress, "completed": r.Plan.Completed, "canceled": r.Plan.Canceled,
	} {
		if n > 0 {
			m.planItems.with(r.Source, status).Add(float64(n))
		}
	}
}

func (m *Metrics) countProof(r *tracker.Run) {
	for _, s := range r.Confidence {
		if s.Known && !s.Restated {
			m.confidence.with(r.Source, s.Agent, string(s.Origin)).Observe(s.Value)
		}
	}
	for _, c := range r.Citations {
		m.citations.with(r.Source, c.Agent).Inc()
	}
	for agent, n := range r.UnratedAnswers {
		m.unratedAnswer.with(r.Source, agent).Add(float64(n))
	}
}
