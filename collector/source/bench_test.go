//go:build unix

package source_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// streamCounts lists the numbers of concurrent streams.
var streamCounts = []int{1, 100}

// BenchmarkProxyThroughput measures an agent that sends as fast as it is read, one frame per write. An operation is 10,000 frames over all
// streams, until the client has all of them and, for our proxies, until they have been observed.
func BenchmarkProxyThroughput(b *testing.B) {
	for _, streams := range streamCounts {
		r := newRig(b)
		for _, p := range r.proxies {
			b.Run(fmt.Sprintf("%d/%s", streams, p.name), func(b *testing.B) {
				b.SetBytes(r.flood(b, p, streams))
				for b.Loop() {
					r.flood(b, p, streams)
				}
			})
		}
		b.Run(fmt.Sprintf("%d/ratio", streams), func(b *testing.B) {
			took := r.measure(b, func(p proxy) []float64 { r.flood(b, p, streams); return nil })
			took.report(b, "speed", took.speed)
			took.report(b, "cpu", took.cpu)
		})
	}
}

// BenchmarkProxyRoundTrip measures an agent that sends a frame only when its client has the previous one. An operation is one call of
// exchange.
func BenchmarkProxyRoundTrip(b *testing.B) {
	for _, streams := range streamCounts {
		r := newRig(b)
		talks := map[string][]*talk{}
		for _, p := range r.proxies {
			talks[p.name] = r.startTalks(b, p, streams)
		}
		for _, p := range r.proxies {
			b.Run(fmt.Sprintf("%d/%s", streams, p.name), func(b *testing.B) {
				trips := 0
				for b.Loop() {
					trips += len(exchange(b, talks[p.name]))
				}
				b.ReportMetric(float64(trips)/b.Elapsed().Seconds(), "trips/s")
			})
		}
		b.Run(fmt.Sprintf("%d/ratio", streams), func(b *testing.B) {
			took := r.measure(b, func(p proxy) []float64 { return exchange(b, talks[p.name]) })
			took.report(b, "speed", took.speed)
			took.report(b, "cpu", took.cpu)
			took.report(b, "p50", took.percentile(50))
			took.report(b, "p99", took.percentile(99))
		})
	}
}

// timings holds the measurements of each proxy by name.
type timings map[string]*timing

type timing struct {
	sum, cpu time.Duration // cpu is the total of client, agent and proxy
	trips    []float64     // durations of round trips in nanoseconds, sorted
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// measure measures the proxies alternately. It starts each round with another one, so that other load on the machine affects all of them.
func (r *rig) measure(b *testing.B, work func(proxy) []float64) timings {
	took := timings{}
	for _, p := range r.proxies {
		took[p.name] = &timing{}
	}
	for turn := 0; b.Loop(); turn++ {
		for i := range r.proxies {
			p := r.proxies[(turn+i)%len(r.proxies)]
			begin, used := time.Now(), processorTime()
			trips := work(p)
			t := took[p.name]
			t.sum += time.Since(begin)
			t.cpu += processorTime() - used
			t.trips = append(t.trips, trips...)
		}
	}
	for _, t := range took {
		slices.Sort(t.trips)
	}
	b.ReportMetric(0, "ns/op")
	return took
}

// speed uses the total of all rounds, because the speed of a round depends on how many frames a proxy finds ready at once.
func (t timings) speed(name string) float64 { return 1 / t[name].sum.Seconds() }

func (t timings) cpu(name string) float64 { return t[name].cpu.Seconds() }

func (t timings) percentile(p int) func(string) float64 {
	return func(name string) float64 { return t[name].trips[len(t[name].trips)*p/100] }
}

// report reports a figure of our proxies relative to that of the plain proxy.
func (t timings) report(b *testing.B, what string, figure func(string) float64) {
	for name := range t {
		if name != "plain" {
			b.ReportMetric(figure(name)/figure("plain"), name+"-"+what+"/plain")
		}
	}
}

// rig is an agent with three proxies in front of it: a plain reverse proxy, a filtered Delegraph proxy and a verbatim
// one. Both Delegraph proxies have all functions of the sidecar.
type rig struct {
	agent    *benchAgent
	proxies  []proxy
	counters *proxyRecorder
}

type proxy struct {
	name, address string
	wait          func() // waits until everything is observed
}

func newRig(b *testing.B) *rig {
	b.Helper()
	agent := &benchAgent{frame: recordedDelta(b)}
	upstream := httptest.NewServer(agent)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{agent: agent, counters: &proxyRecorder{}}
	b.Cleanup(func() {
		agent.endTalks()
		http.DefaultClient.CloseIdleConnections()
		upstream.Close()
	})
	r.add(b, "plain", redact(b, target), func() {})
	verbatim, filtered := r.ours(target, false), r.ours(target, true)
	r.add(b, "verbatim", verbatim, verbatim.Wait)
	r.add(b, "filtered", filtered, filtered.Wait)
	return r
}

func (r *rig) add(b *testing.B, name string, h http.Handler, wait func()) {
	front := httptest.NewServer(h)
	b.Cleanup(func() { front.Close(); wait() })
	r.proxies = append(r.proxies, proxy{name, front.URL, wait})
}

func redact(b *testing.B, target *url.URL) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone() // like ours, except that connections are reused
	transport.Proxy, transport.DisableCompression, transport.MaxIdleConnsPerHost = nil, true, 100
	b.Cleanup(transport.CloseIdleConnections)
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // without it, streams sometimes break
		p.ServeHTTP(w, r)
	})
}

func (r *rig) ours(target *url.URL, filtered bool) *source.Proxy {
	provider := spans.NewProvider(sdktrace.AlwaysSample(), discardSpans{}, resource.Empty())
	counted := metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 100, MaxLabelSets: 1000})
	sink := exporter.New(counted, tracker.Settings{MaxOpenRuns: 10_000, MaxOperations: 10_000, MaxFacts: 1000, IdleTimeout: time.Hour}, nil, spans.NewObserver(provider, conventions.Released(), ""))
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 8 << 20, MaxJSONDepth: 128, Proof: proof.Limits{MaxText: 64 << 10, MaxFindings: 32}}, sink)
	settings := source.ProxySettings{Name: "ours", Upstream: target, BodyLimit: 1 << 20, JSONDepth: 128, QueueLimit: 16 << 20, FrameLimit: 8 << 20}
	if filtered {
		settings.NewFilter = func() source.Filter {
			return filter.NewRelay(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, counted)
		}
	}
	return source.NewProxy(settings, c, collector.Dialects(), source.Tracing{Tracer: provider.Tracer(""), Propagator: propagation.TraceContext{}},
		r.counters, slog.New(slog.DiscardHandler), time.Now)
}

// flood makes the agent send all its frames over the given number of streams, and returns the number of bytes.
func (r *rig) flood(b *testing.B, p proxy, streams int) int64 {
	const frames = 10_000
	want := int64(frames / streams * len(r.agent.frame))
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			resp, err := p.ask(fmt.Sprintf("frames=%d", frames/streams))
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != want {
				b.Errorf("%s: %d of %d bytes, %v", p.name, n, want, err)
			}
		})
	}
	all.Wait()
	p.wait()
	if n := r.counters.unobserved; n > 0 {
		b.Fatalf("%d bytes were not observed, so the cost is not comparable", n)
	}
	return want * int64(streams)
}

func (p proxy) ask(query string) (*http.Response, error) {
	return http.Post(p.address+"/run_sse?"+query, "application/json", strings.NewReader(request))
}

// talk is a stream whose client requests each frame.
type talk struct {
	turn chan<- struct{}
	body io.ReadCloser
	got  []byte
}

// startTalks starts talks through a proxy.
func (r *rig) startTalks(b *testing.B, p proxy, streams int) (talks []*talk) {
	b.Helper()
	for range streams {
		n, turn := r.agent.openTalk()
		resp, err := p.ask(fmt.Sprintf("talk=%d", n))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { resp.Body.Close() })
		talks = append(talks, &talk{turn, resp.Body, make([]byte, len(r.agent.frame))})
	}
	exchange(b, talks)
	return talks
}

// exchange makes round trips on each stream and returns their durations in nanoseconds. A single stream makes more
// round trips, so that the delayed observation is measured with the same proxy.
func exchange(b *testing.B, talks []*talk) []float64 {
	trips := max(10, 200/len(talks))
	took := make([]float64, trips*len(talks))
	failed := make(chan error, len(talks))
	var all sync.WaitGroup
	for i, t := range talks {
		all.Go(func() {
			for trip := range trips {
				begin := time.Now()
				t.turn <- struct{}{}
				if _, err := io.ReadFull(t.body, t.got); err != nil {
					failed <- err
					return
				}
				took[trips*i+trip] = float64(time.Since(begin))
			}
		})
	}
	all.Wait()
	if len(failed) > 0 {
		b.Fatal(<-failed)
	}
	return took
}

// benchAgent is an agent that repeats one frame: a requested number of times at once, or once for each turn of a talk.
type benchAgent struct {
	frame []byte

	mu    sync.Mutex
	turns []chan struct{}
}

func (a *benchAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(bytes []byte) {
		_, _ = w.Write(bytes)
		_ = out.Flush()
	}
	if n, err := strconv.Atoi(r.FormValue("frames")); err == nil {
		for range n {
			send(a.frame)
		}
		return
	}
	n, _ := strconv.Atoi(r.FormValue("talk"))
	a.mu.Lock()
	turn := a.turns[n]
	a.mu.Unlock()
	send(nil)
	for range turn {
		send(a.frame)
	}
}

// openTalk opens a talk.
func (a *benchAgent) openTalk() (int, chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = append(a.turns, make(chan struct{}))
	return len(a.turns) - 1, a.turns[len(a.turns)-1]
}

// endTalks ends all talks.
func (a *benchAgent) endTalks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, turn := range a.turns {
		close(turn)
	}
}

// recordedDelta returns a delta frame recorded from a real server.
func recordedDelta(b *testing.B) []byte {
	b.Helper()
	content, err := os.ReadFile("../dialect/adk/adkserver/testdata/captures/python/slow.stream.sse")
	if err != nil {
		b.Fatal(err)
	}
	first, _, _ := bytes.Cut(content, []byte("\n\n"))
	return append(first, "\n\n"...)
}

// discardSpans is a span processor that drops all spans.
type discardSpans struct{ sdktrace.SpanProcessor }

func (discardSpans) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discardSpans) OnEnd(sdktrace.ReadOnlySpan)                     {}
