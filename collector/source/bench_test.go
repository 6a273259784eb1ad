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

// crowds are the numbers of streams that go on at once.
var crowds = []int{1, 100}

// BenchmarkProxyThroughput has an agent send as fast as it is read, a frame a write. An operation is 10,000 frames over all
// streams, until the client has all of them; ours until they are observed too.
func BenchmarkProxyThroughput(b *testing.B) {
	for _, streams := range crowds {
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
			took := r.inTurns(b, func(p proxy) []float64 { r.flood(b, p, streams); return nil })
			took.report(b, "speed", took.speed)
			took.report(b, "cpu", took.cpu)
		})
	}
}

// BenchmarkProxyRoundTrip has an agent that sends a frame only when its client has the last one. An operation is as many
// such trips on each stream as exchange makes.
func BenchmarkProxyRoundTrip(b *testing.B) {
	for _, streams := range crowds {
		r := newRig(b)
		talks := map[string][]*talk{}
		for _, p := range r.proxies {
			talks[p.name] = r.converse(b, p, streams)
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
			took := r.inTurns(b, func(p proxy) []float64 { return exchange(b, talks[p.name]) })
			took.report(b, "speed", took.speed)
			took.report(b, "cpu", took.cpu)
			took.report(b, "p50", took.percentile(50))
			took.report(b, "p99", took.percentile(99))
		})
	}
}

// taken is how long each proxy took, by name.
type taken map[string]*timing

type timing struct {
	sum, cpu time.Duration // the processor's is that of client, agent and proxy together
	trips    []float64     // nanoseconds, sorted
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// inTurns lets the proxies work, each time another one first, so that whatever else the machine does falls on all of them.
func (r *rig) inTurns(b *testing.B, work func(proxy) []float64) taken {
	took := taken{}
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

// speed is by the sums: how many frames a proxy finds ready at once changes from one flood to the next, and its speed with it.
func (t taken) speed(name string) float64 { return 1 / t[name].sum.Seconds() }

func (t taken) cpu(name string) float64 { return t[name].cpu.Seconds() }

func (t taken) percentile(p int) func(string) float64 {
	return func(name string) float64 { return t[name].trips[len(t[name].trips)*p/100] }
}

// report gives a figure of ours through that of the plain proxy.
func (t taken) report(b *testing.B, what string, figure func(string) float64) {
	for name := range t {
		if name != "plain" {
			b.ReportMetric(figure(name)/figure("plain"), name+"-"+what+"/plain")
		}
	}
}

// rig is one agent and, in front of it, a plain reverse proxy and ours, which do all that the sidecar does: the one filters
// what it relays, the other relays every byte.
type rig struct {
	agent    *scripted
	proxies  []proxy
	counters *seen
}

type proxy struct {
	name, address string
	wait          func() // until all is observed
}

func newRig(b *testing.B) *rig {
	b.Helper()
	agent := &scripted{frame: recordedDelta(b)}
	upstream := httptest.NewServer(agent)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	r := &rig{agent: agent, counters: &seen{}}
	b.Cleanup(func() {
		agent.dismiss()
		http.DefaultClient.CloseIdleConnections()
		upstream.Close()
	})
	r.add(b, "plain", plain(b, target), func() {})
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

func plain(b *testing.B, target *url.URL) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone() // as ours has it, but that its connections serve one run after another
	transport.Proxy, transport.DisableCompression, transport.MaxIdleConnsPerHost = nil, true, 100
	b.Cleanup(transport.CloseIdleConnections)
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // else it breaks streams now and then
		p.ServeHTTP(w, r)
	})
}

func (r *rig) ours(target *url.URL, filtered bool) *source.Proxy {
	provider := spans.NewProvider(sdktrace.AlwaysSample(), nowhere{}, resource.Empty())
	counted := metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 100, MaxLabelSets: 1000})
	sink := exporter.New(counted, tracker.Settings{MaxOpen: 10_000, MaxOperations: 10_000, MaxFacts: 1000, Idle: time.Hour}, nil, spans.NewObserver(provider, conventions.Released(), ""))
	c := collector.New(collector.Dialects(), collector.Settings{Frame: 8 << 20, JSONDepth: 128, Proof: proof.Limits{Text: 64 << 10, Findings: 32}}, sink)
	settings := source.ProxySettings{Name: "ours", Upstream: target, BodyLimit: 1 << 20, JSONDepth: 128, QueueLimit: 16 << 20, FrameLimit: 8 << 20}
	if filtered {
		settings.Judge = func() source.Judge {
			return filter.NewRelay(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, counted)
		}
	}
	return source.NewProxy(settings, c, collector.Dialects(), source.Tracing{Tracer: provider.Tracer(""), Propagator: propagation.TraceContext{}},
		r.counters, slog.New(slog.DiscardHandler), time.Now)
}

// flood has the agent send all its frames over this many streams, and returns how many bytes they are.
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
		b.Fatalf("%d bytes were not observed: this is not the cost of the whole work", n)
	}
	return want * int64(streams)
}

func (p proxy) ask(query string) (*http.Response, error) {
	return http.Post(p.address+"/run_sse?"+query, "application/json", strings.NewReader(request))
}

// talk is a stream whose frames are asked for one by one.
type talk struct {
	turn chan<- struct{}
	body io.ReadCloser
	got  []byte
}

// converse begins talks through a proxy.
func (r *rig) converse(b *testing.B, p proxy, streams int) (talks []*talk) {
	b.Helper()
	for range streams {
		n, turn := r.agent.invite()
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

// exchange makes trips on each stream, and returns how many nanoseconds each took. One stream makes so many that what is observed
// a moment later falls on the same proxy.
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

// scripted is an agent that sends one frame again and again: as often as it is asked to at once, or at each turn of a talk.
type scripted struct {
	frame []byte

	mu    sync.Mutex
	turns []chan struct{}
}

func (a *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// invite opens a talk.
func (a *scripted) invite() (int, chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = append(a.turns, make(chan struct{}))
	return len(a.turns) - 1, a.turns[len(a.turns)-1]
}

// dismiss ends all talks.
func (a *scripted) dismiss() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, turn := range a.turns {
		close(turn)
	}
}

// recordedDelta is a delta that a real server sent.
func recordedDelta(b *testing.B) []byte {
	b.Helper()
	content, err := os.ReadFile("../dialect/adk/adkserver/testdata/captures/python/slow.stream.sse")
	if err != nil {
		b.Fatal(err)
	}
	first, _, _ := bytes.Cut(content, []byte("\n\n"))
	return append(first, "\n\n"...)
}

// nowhere takes spans and delivers none.
type nowhere struct{ sdktrace.SpanProcessor }

func (nowhere) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (nowhere) OnEnd(sdktrace.ReadOnlySpan)                     {}
