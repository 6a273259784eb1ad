//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// twins are two sidecars in front of one agent. The second has no trace backend, a full disk, a subscriber that does not read and a
// scrape that never ends.
type twins struct {
	quiet, disturbed relays
	troubled         *harness.Instance
	scrapes          *atomic.Int64
}

// relays holds the addresses of the proxies of one sidecar.
type relays struct{ verbatim, filtered string }

const bothRelays = `
stream: {listen: %q, write_timeout: %s}
sources:
  - name: verbatim
    relay: verbatim
    proxy: {listen: %q, upstream: %q}
  - name: filtered
    proxy: {listen: %q, upstream: %[4]q}
`

// newTwins starts both sidecars and the disturbances. cutAfter is the time after which a subscriber that does not read is
// disconnected, pause the time between scrapes.
func newTwins(t testing.TB, agent, cutAfter string, pause time.Duration) *twins {
	t.Helper()
	p := &twins{scrapes: &atomic.Int64{}}
	receiver, external := harness.NewReceiver(t), loopback.FreeAddress(t)
	configured := func(stream string) (relays, string) {
		r := relays{loopback.FreeAddress(t), loopback.FreeAddress(t)}
		return r, fmt.Sprintf(bothRelays, stream, cutAfter, r.verbatim, agent, r.filtered)
	}
	quiet, config := configured(loopback.FreeAddress(t))
	p.quiet = quiet
	harness.Serve(t, config, receiver.Environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}))

	p.disturbed, config = configured(external)
	admin := loopback.FreeAddress(t)
	command := harness.ServeCommand(t, config, admin, map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": harness.ClosedURL(t, nil)}, "")
	command.Args[2] += " --log.level=debug" // of the shell's command line
	command.Stdout, command.Stderr = fullFile(t), fullFile(t)
	p.troubled = harness.StartReady(t, command, admin)
	conn, err := net.Dial("tcp", external)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // otherwise the kernel buffers some megabytes
	_, _ = io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	p.troubled.WaitMetric(t, 1, "delegraph_stream_subscribers")
	scraping, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for scraping.Err() == nil {
			if status, _, err := harness.Fetch(scraping, p.troubled.Admin+"/metrics"); err == nil && status == http.StatusOK {
				p.scrapes.Add(1)
			}
			select {
			case <-time.After(pause):
			case <-scraping.Done():
			}
		}
	}()
	t.Cleanup(func() { stop(); <-stopped })
	return p
}

// TestPromiseUnderFaults sends the recordings of all agents and a fast stream through both sidecars in turns. Clients get the same
// bytes from both, and with a verbatim relay the agent's own.
func TestPromiseUnderFaults(t *testing.T) {
	agent := recorded.NewAgent(t)
	times := 10_000
	if harness.RaceDetector {
		times /= 5 // still more than the kernel buffers for a subscriber that does not read
	}
	flood := bytes.Repeat([]byte(fakeagent.Run), times)
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(flood)
	}
	p := newTwins(t, agent.URL, "1s", 0)
	all, scraped := 0, p.scrapes.Load()
	for _, name := range append(agent.Names(), "fault") {
		want, sent := agent.Recordings[name], flood
		if want == nil {
			want = sent
		}
		quiet, disturbed := harness.AskRun(t, p.quiet.verbatim, name), harness.AskRun(t, p.disturbed.verbatim, name)
		if quiet.Err != nil || disturbed.Err != nil || sha256.Sum256(quiet.Body) != sha256.Sum256(want) || sha256.Sum256(disturbed.Body) != sha256.Sum256(want) {
			t.Errorf("%s, verbatim: %d and %d bytes of %d; %v, %v", name, len(quiet.Body), len(disturbed.Body), len(want), quiet.Err, disturbed.Err)
		}
		disturbed, quiet = harness.AskRun(t, p.disturbed.filtered, name), harness.AskRun(t, p.quiet.filtered, name)
		if quiet.Err != nil || disturbed.Err != nil || sha256.Sum256(quiet.Body) != sha256.Sum256(disturbed.Body) || len(quiet.Body) == 0 {
			t.Errorf("%s, filtered: %d and %d bytes; %v, %v", name, len(quiet.Body), len(disturbed.Body), quiet.Err, disturbed.Err)
		}
		all += len(want) + len(disturbed.Body)
	}
	// Check that the second sidecar was really disturbed:
	p.troubled.WaitMetric(t, 1, "delegraph_stream_disconnects_total", "reason", "write_timeout")
	if exported, waiting := p.troubled.Count(t, "delegraph_spans_exported_total"), p.troubled.Count(t, "delegraph_spans_queued"); exported != 0 || waiting == 0 {
		t.Errorf("%v spans were exported, %v wait", exported, waiting)
	}
	if p.scrapes.Load() == scraped {
		t.Error("no scrape happened meanwhile")
	}
	t.Logf("%d bytes, amid %d scrapes", all, p.scrapes.Load()-scraped)
}

// BenchmarkPromiseUnderFaults uses an agent that sends each frame only after its client has the previous one. It reports the
// ratio of the round trips through both sidecars, at Prometheus' usual scrape rate and at the highest possible one.
func BenchmarkPromiseUnderFaults(b *testing.B) {
	for name, pause := range map[string]time.Duration{"a scrape a second": time.Second, "scrapes without a pause": 0} {
		b.Run(name, func(b *testing.B) { benchmarkPromise(b, pause) })
	}
}

func benchmarkPromise(b *testing.B, pause time.Duration) {
	recorded, err := os.ReadFile(recorded.Files(b, recorded.ADKCaptures["adk-python"])[0])
	if err != nil {
		b.Fatal(err)
	}
	first, _, _ := bytes.Cut(recorded, []byte("\n\n"))
	frame := append(first, "\n\n"...)
	turns := make(chan chan struct{}, 1)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for range <-turns {
			_, _ = w.Write(frame)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	b.Cleanup(agent.Close)
	p := newTwins(b, agent.URL, "5m", pause)
	for name, of := range map[string]func(relays) string{
		"verbatim": func(r relays) string { return r.verbatim },
		"filtered": func(r relays) string { return r.filtered },
	} {
		b.Run(name, func(b *testing.B) {
			talks := []*talk{newTalk(b, of(p.quiet), turns), newTalk(b, of(p.disturbed), turns)}
			for turn := 0; b.Loop(); turn++ {
				for i := range talks {
					talks[(turn+i)%2].trips(b, 10)
				}
			}
			for _, t := range talks {
				close(t.turn)
				slices.Sort(t.took)
			}
			b.ReportMetric(0, "ns/op")
			for _, percent := range []int{50, 99} {
				at := len(talks[0].took) * percent / 100
				b.ReportMetric(float64(talks[1].took[at])/float64(talks[0].took[at]), fmt.Sprintf("p%d-ratio", percent))
				b.ReportMetric(float64(talks[0].took[at].Microseconds()), fmt.Sprintf("µs-p%d-quiet", percent))
			}
		})
	}
}

// talk is a run whose frames are requested one by one.
type talk struct {
	turn chan struct{}
	body io.Reader
	got  []byte
	took []time.Duration
}

func newTalk(b *testing.B, proxy string, turns chan<- chan struct{}) *talk {
	b.Helper()
	t := &talk{turn: make(chan struct{})}
	turns <- t.turn
	resp, err := openRun(context.Background(), proxy, "x")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	t.body = resp.Body
	t.turn <- struct{}{}
	for !strings.HasSuffix(string(t.got), "\n\n") { // in the form in which the relay writes it
		one := make([]byte, 1)
		if _, err := io.ReadFull(resp.Body, one); err != nil {
			b.Fatal(err)
		}
		t.got = append(t.got, one...)
	}
	return t
}

func (t *talk) trips(b *testing.B, n int) {
	for range n {
		begun := time.Now()
		t.turn <- struct{}{}
		if _, err := io.ReadFull(t.body, t.got); err != nil {
			b.Fatal(err)
		}
		t.took = append(t.took, time.Since(begun))
	}
}
