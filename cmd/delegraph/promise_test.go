//go:build linux

package main

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
)

// twins are two sidecars before one agent: one that nothing disturbs, and one with its trace backend away, its disk full, a
// subscriber who has stopped reading and a scrape that never ends.
type twins struct {
	quiet, disturbed relays
	troubled         *instance
	scrapes          *atomic.Int64
}

// relays are the addresses of one sidecar's proxies.
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

// newTwins begins with the disturbance. A subscriber who does not read is cut after so long; scrapes follow one another with such
// pauses.
func newTwins(t testing.TB, agent, cutAfter string, pause time.Duration) *twins {
	t.Helper()
	p := &twins{scrapes: &atomic.Int64{}}
	receiver, external := newBackend(t), vacant(t)
	configured := func(stream string) (relays, string) {
		r := relays{vacant(t), vacant(t)}
		return r, fmt.Sprintf(bothRelays, stream, cutAfter, r.verbatim, agent, r.filtered)
	}
	quiet, config := configured(vacant(t))
	p.quiet = quiet
	serveProcess(t, config, receiver.environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}))

	p.disturbed, config = configured(external)
	admin := vacant(t)
	command := serveCommand(t, config, admin, map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": closed(t, nil)}, "")
	command.Args[2] += " --log.level=debug" // of the shell's line
	command.Stdout, command.Stderr = fullFile(t), fullFile(t)
	p.troubled = ready(t, command, admin)
	conn, err := net.Dial("tcp", external)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // else the kernel reads some megabytes for it
	_, _ = io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	p.troubled.becomes(t, 1, "delegraph_stream_subscribers")
	scraping, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for scraping.Err() == nil {
			if status, _, err := look(scraping, p.troubled.admin+"/metrics"); err == nil && status == http.StatusOK {
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

// TestPromiseUnderFaults has the recordings of all agents, and a flood, come through both sidecars in turns: the clients' bytes are
// the same, and those that are relayed verbatim are the agent's.
func TestPromiseUnderFaults(t *testing.T) {
	agent := newRecordedAgent(t)
	times := 10_000
	if raceDetector {
		times /= 5 // still more than the kernel reads for a subscriber who does not
	}
	flood := bytes.Repeat([]byte(callFrame+responseFrame+finalFrame), times)
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(flood)
	}
	p := newTwins(t, agent.URL, "1s", 0)
	all, scraped := 0, p.scrapes.Load()
	for _, name := range append(agent.names(), "fault") {
		want, sent := agent.recordings[name], flood
		if want == nil {
			want = sent
		}
		quiet, disturbed := askRun(t, p.quiet.verbatim, name), askRun(t, p.disturbed.verbatim, name)
		if quiet.err != nil || disturbed.err != nil || sha256.Sum256(quiet.body) != sha256.Sum256(want) || sha256.Sum256(disturbed.body) != sha256.Sum256(want) {
			t.Errorf("%s, verbatim: %d and %d bytes of %d; %v, %v", name, len(quiet.body), len(disturbed.body), len(want), quiet.err, disturbed.err)
		}
		disturbed, quiet = askRun(t, p.disturbed.filtered, name), askRun(t, p.quiet.filtered, name)
		if quiet.err != nil || disturbed.err != nil || sha256.Sum256(quiet.body) != sha256.Sum256(disturbed.body) || len(quiet.body) == 0 {
			t.Errorf("%s, filtered: %d and %d bytes; %v, %v", name, len(quiet.body), len(disturbed.body), quiet.err, disturbed.err)
		}
		all += len(want) + len(disturbed.body)
	}
	// That all of it was really disturbed:
	p.troubled.becomes(t, 1, "delegraph_stream_disconnects_total", "reason", "write_timeout")
	if exported, waiting := p.troubled.count(t, "delegraph_spans_exported_total"), p.troubled.count(t, "delegraph_spans_queued"); exported != 0 || waiting == 0 {
		t.Errorf("%v spans were exported, %v wait", exported, waiting)
	}
	if p.scrapes.Load() == scraped {
		t.Error("nothing was scraped meanwhile")
	}
	t.Logf("%d bytes, amid %d scrapes", all, p.scrapes.Load()-scraped)
}

// BenchmarkPromiseUnderFaults has an agent send each frame only when its client has the last one, through both sidecars in turns,
// and reports the round trips of the disturbed one through those of the other, with scrapes as Prometheus makes them at most, and
// with as many as there may be, which take what there is of a processor.
func BenchmarkPromiseUnderFaults(b *testing.B) {
	for name, pause := range map[string]time.Duration{"a scrape a second": time.Second, "scrapes without a pause": 0} {
		b.Run(name, func(b *testing.B) { benchmarkPromise(b, pause) })
	}
}

func benchmarkPromise(b *testing.B, pause time.Duration) {
	recorded, err := os.ReadFile(sseFiles(b, adkCaptures["adk-python"])[0])
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

// talk is a run whose frames are asked for one by one.
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
	for !strings.HasSuffix(string(t.got), "\n\n") { // as long as the relay makes it
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
