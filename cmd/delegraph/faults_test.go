package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// call and response are two frames of one run; between them its tool is at work.
const (
	callFrame     = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"survey","args":{}}}]},"finishReason":"STOP","modelVersion":"m-1"}` + "\n\n"
	responseFrame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"user","parts":[{"functionResponse":{"id":"c-1","name":"survey","response":{"ok":true}}}]}}` + "\n\n"
	finalFrame    = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP","modelVersion":"m-2"}` + "\n\n"
)

// TestAgentFaults has agents answer all kinds of things but a whole stream: a client gets through the sidecar what it would get
// without, and the next run is understood.
func TestAgentFaults(t *testing.T) {
	const whole = callFrame + responseFrame + finalFrame
	say := func(kind string, header http.Header, parts ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), header)
			w.Header().Set("Content-Type", kind)
			for _, part := range parts {
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
		}
	}
	breakOff := func(first http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			first(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	noise := make([]byte, 1<<18)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	const stream = "text/event-stream"
	zipped := http.Header{"Content-Encoding": {"gzip"}}
	for name, c := range map[string]struct {
		agent      http.HandlerFunc
		run        string // its status and the reason; "" where there is no run
		rejected   string // why a frame could not be read
		unobserved bool
		down       bool // counted as the agent's
	}{
		"dies within a frame":       {breakOff(say(stream, nil, callFrame, responseFrame[:50])), "incomplete broken_off", "truncated", false, true},
		"dies between frames":       {breakOff(say(stream, nil, callFrame, responseFrame)), "incomplete broken_off", "", false, true},
		"dies after the last frame": {breakOff(say(stream, nil, whole)), "incomplete broken_off", "", false, true},
		"sends less than it said":   {breakOff(say(stream, http.Header{"Content-Length": {"10000"}}, whole)), "incomplete broken_off", "", false, true},
		"ends within a frame":       {say(stream, nil, callFrame, responseFrame[:50]), "incomplete stream_ended", "truncated", false, false},
		"sends no frame":            {say(stream, nil, ""), "incomplete stream_ended", "", false, false},
		"sends comments":            {say(stream, nil, ": a\n\n", ": b\n\n"), "incomplete stream_ended", "", false, false},
		"sends noise":               {say(stream, nil, string(noise)), "incomplete stream_ended", "truncated", false, false},
		"sends another's frames":    {say(stream, nil, "event: x\ndata: 1\n\n", "data: 2\n\n"), "incomplete stream_ended", "shape", false, false},
		"sends a byte at a time":    {say(stream, nil, strings.Split(whole, "")...), "completed -", "", false, false},
		"ends lines with CR":        {say(stream, nil, strings.ReplaceAll(whole, "\n", "\r")), "completed -", "", false, false},
		"does not flush": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", stream)
			_, _ = io.WriteString(w, whole)
		}, "completed -", "", false, false},
		"sends 10 MB in a frame":   {say(stream, nil, callFrame, `data: "`+strings.Repeat("a", 10<<20)+`"`+"\n\n", responseFrame, finalFrame), "completed -", "too_large", false, false},
		"sends two streams as one": {say(stream+"; charset=utf-8", nil, whole, whole), "completed -", "", false, false},
		"compresses":               {say(stream, zipped, compressed(whole)), "completed -", "", false, false},
		"compresses, in capitals":  {say(stream, http.Header{"Content-Encoding": {"X-GZIP"}}, compressed(whole)), "completed -", "", false, false},
		"compresses a giant":       {say(stream, zipped, compressed(callFrame+`data: "`+strings.Repeat("a", 64<<20)+`"`+"\n\n"+responseFrame+finalFrame)), "completed -", "too_large", false, false},
		"compresses and dies":      {breakOff(say(stream, zipped, compressed(whole)[:80])), "incomplete broken_off", "truncated", false, true},
		"claims to compress":       {say(stream, zipped, whole), "incomplete stream_ended", "", true, false},
		"compresses otherwise":     {say(stream, http.Header{"Content-Encoding": {"br"}}, whole), "incomplete stream_ended", "", true, false},
		"calls it JSON":            {say("application/json", nil, whole), "", "", false, false},
		"sends a page":             {say("text/html; charset=utf-8", nil, "<!doctype html><title>Not what you asked for</title>"), "", "", false, false},
		"names no type":            {say("", nil, whole), "", "", false, false},
		"refuses":                  {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, whole, http.StatusServiceUnavailable) }, "", "", false, false},
		"sends elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login?next=%zz", http.StatusTemporaryRedirect)
		}, "", "", false, false},
		"sets cookies": {say(stream, http.Header{"Set-Cookie": {"a=1", "b=2"}, "Warning": {"199 - odd"}, "X-Empty": {""}}, whole), "completed -", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			agent := newRecordedAgent(t)
			agent.fault = c.agent
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			ask := adkserver.RunRequest("u", "s", "fault", true)
			want, got := post(t, agent.URL, ask, nil), post(t, car.address(), ask, nil)
			if fault := got.differs(want); fault != "" {
				t.Errorf("through the sidecar the client gets other than from the agent: %s", fault)
			}
			car.Wait()
			said := ""
			for _, r := range car.Recent.Reports() {
				said += string(r.Status) + " " + text(r.StatusReason)
				if r.Started == nil || r.Ended == nil || r.Operations[0].Timing != tracker.Observed.String() {
					t.Errorf("the run's times are %s and %s, %s", text(r.Started), text(r.Ended), r.Operations[0].Timing)
				}
			}
			if said != c.run {
				t.Errorf("the run is %q, not %q", said, c.run)
			}
			if c.rejected != "" && car.count(t, "delegraph_parse_errors_total", "reason", c.rejected) == 0 ||
				c.rejected == "" && car.count(t, "delegraph_parse_errors_total") > 0 {
				t.Errorf("%v frames could not be read", car.count(t, "delegraph_parse_errors_total"))
			}
			if lost := car.count(t, "delegraph_source_unobserved_bytes_total"); lost > 0 != c.unobserved || lost > float64(len(want.body)) {
				t.Errorf("%v bytes unobserved of %d", lost, len(want.body))
			}
			if errs := car.count(t, "delegraph_source_upstream_errors_total"); errs > 0 != c.down {
				t.Errorf("%v upstream errors", errs)
			}
			if up := car.count(t, "delegraph_source_up"); up != 1 {
				t.Errorf("the agent was reached, and delegraph_source_up is %v", up)
			}
			const next = "adk-go/transfer"
			if got := ask200(t, car, adkserver.RunRequest("u", "s", next, true)); !bytes.Equal(got, agent.recordings[next]) || car.Recent.Reports()[0].Status != tracker.Completed {
				t.Errorf("of the next run the client got %d bytes, and it is %s", len(got), car.Recent.Reports()[0].Status)
			}
		})
	}
}

func compressed(plain string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, plain)
	_ = w.Close()
	return b.String()
}

// differs says in what two answers are not the same, but for their dates and for whether an empty one says so.
func (a gotten) differs(b gotten) string {
	for _, h := range []http.Header{a.header, b.header} {
		h.Del("Date")
		if h.Get("Content-Length") == "0" {
			h.Del("Content-Length")
		}
	}
	switch {
	case a.status != b.status:
		return fmt.Sprintf("status %d, not %d", a.status, b.status)
	case !maps.EqualFunc(a.header, b.header, slices.Equal):
		return fmt.Sprintf("header %v, not %v", a.header, b.header)
	case !bytes.Equal(a.body, b.body):
		return fmt.Sprintf("%d bytes, not %d: %.300q", len(a.body), len(b.body), a.body)
	case !errors.Is(a.err, b.err):
		return fmt.Sprintf("then %v, not %v", a.err, b.err)
	}
	return ""
}

// TestAgentDownAndUp has an agent that is not there, then one that speaks no HTTP, then one that does.
func TestAgentDownAndUp(t *testing.T) {
	agent, receiver := newRecordedAgent(t), newBackend(t)
	listener := listen(t)
	address := listener.Addr().String()
	listener.Close()
	car := launch(t, fmt.Sprintf(verbatim, "http://"+address), receiver.environment(nil))
	const agentSays = `delegraph: the agent behind source "fire-briefing" `
	unreachable := func(times float64, sentence string) {
		t.Helper()
		got := post(t, car.address(), adkserver.RunRequest("u", "s", "adk-go/plain", true), nil)
		if got.status != http.StatusBadGateway || got.err != nil || string(got.body) != agentSays+sentence+"\n" {
			t.Errorf("status %d, %v: %q", got.status, got.err, got.body)
		}
		if up, errs := car.count(t, "delegraph_source_up"), car.count(t, "delegraph_source_upstream_errors_total"); up != 0 || errs != times {
			t.Errorf("delegraph_source_up %v, %v upstream errors", up, errs)
		}
	}
	unreachable(1, "did not answer; is it running at "+address+"?")

	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body) // what is not read has the connection reset
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 hunter2 is the password\r\nhunter2\r\n\r\n")
			conn.Close()
		}
	}()
	unreachable(2, "answered, but not in HTTP; is it what listens at "+address+", and is the scheme of its URL right?")
	if strings.Contains(car.log.String(), "hunter2") {
		t.Errorf("what came over the wire is logged:\n%s", car.log)
	}
	listener.Close()

	if listener, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: agent}
	go func() { _ = back.Serve(listener) }()
	defer back.Close()
	if got := ask200(t, car, adkserver.RunRequest("u", "s", "adk-go/plain", true)); !bytes.Equal(got, agent.recordings["adk-go/plain"]) {
		t.Errorf("the client got %d bytes", len(got))
	}
	if up := car.count(t, "delegraph_source_up"); up != 1 {
		t.Errorf("delegraph_source_up %v", up)
	}
	car.stop()
	bad := 0
	for _, s := range receiver.spans() {
		if said(s, "http.response.status_code") == "502" && s.Status.Code == tracepb.Status_STATUS_CODE_ERROR {
			bad++
		}
	}
	if runs := car.Recent.Reports(); bad != 2 || len(runs) != 1 {
		t.Errorf("%d spans of unanswered requests, %d runs", bad, len(runs))
	}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLargeRequest sends more than is read for ids: the agent gets all of it.
func TestLargeRequest(t *testing.T) {
	agent := newRecordedAgent(t)
	hash := make(chan [sha256.Size]byte, 1)
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		hash <- sha256.Sum256(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, finalFrame)
	})
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	body := adkserver.RunRequest("u", "s", strings.Repeat("Give me a briefing. ", 3<<20/20), true)
	if got := ask200(t, car, body); string(got) != finalFrame {
		t.Errorf("the client got %q", got)
	}
	if <-hash != sha256.Sum256(body) {
		t.Error("the agent got another request")
	}
	if r := car.Recent.Reports()[0]; car.count(t, "delegraph_source_unread_requests_total", "reason", "too_large") != 1 || r.Session != nil || r.Status != tracker.Completed {
		t.Errorf("not counted, or the run is %s in session %s", r.Status, text(r.Session))
	}
}

// TestFiftyClients has them all at once, with room to observe them and with hardly any.
func TestFiftyClients(t *testing.T) {
	const clients, capture = 50, "adk-go/big_tool"
	for name, c := range map[string]struct {
		limits string
		lost   bool
	}{"room": {"{}", false}, "no room": {"{observe_queue: 2KiB}", true}} {
		t.Run(name, func(t *testing.T) {
			begun, agent, receiver := time.Now(), newRecordedAgent(t), newBackend(t)
			car := launch(t, fmt.Sprintf(verbatim, agent.URL)+"limits: "+c.limits, receiver.environment(nil))
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() {
					got := post(t, car.address(), adkserver.RunRequest("u", fmt.Sprint("s", i), capture, true), nil)
					if got.status != http.StatusOK || got.err != nil || !bytes.Equal(got.body, agent.recordings[capture]) {
						t.Errorf("client %d got %d bytes of %d: %v", i, len(got.body), len(agent.recordings[capture]), got.err)
					}
				})
			}
			all.Wait()
			car.Wait()
			lost := car.count(t, "delegraph_source_unobserved_bytes_total")
			if lost > 0 != c.lost || lost > float64(clients*len(agent.recordings[capture])) {
				t.Errorf("%v bytes unobserved", lost)
			}
			status, reason := "completed", "-"
			if c.lost {
				status, reason = "incomplete", "evicted"
			}
			if ended := car.count(t, "delegraph_runs_ended_total", "status", status); ended != clients || car.count(t, "delegraph_runs_open") != 0 {
				t.Errorf("%v runs ended as %s, %v are open", ended, status, car.count(t, "delegraph_runs_open"))
			}
			if r := car.Recent.Reports()[0]; text(r.StatusReason) != reason {
				t.Errorf("%s, %s", r.Status, text(r.StatusReason))
			}
			car.stop()
			traces := receiver.traces(t)
			if len(traces) != clients {
				t.Errorf("%d traces", len(traces))
			}
			for _, spans := range traces {
				spans.checkShape(t, begun, time.Now())
			}
		})
	}
}

// TestScrapeHangs has a scrape that never ends while clients are served.
func TestScrapeHangs(t *testing.T) {
	agent := newRecordedAgent(t)
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	admin := httptest.NewServer(car.admin)
	defer admin.Close()
	scraping, release := make(chan struct{}), make(chan struct{})
	slow := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "slow", Help: "A gauge that takes its time."}, func() float64 {
		scraping <- struct{}{}
		<-release
		return 0
	})
	car.Registry.MustRegister(slow)
	conn, err := net.Dial("tcp", admin.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	<-scraping
	for _, name := range agent.names() {
		if got := ask200(t, car, adkserver.RunRequest("u", "s", name, true)); !bytes.Equal(got, agent.recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d", name, len(got), len(agent.recordings[name]))
		}
	}
	close(release)
	if page, err := io.ReadAll(conn); err != nil || !strings.Contains(string(page), "\nslow 0\n") {
		t.Errorf("the scrape: %v\n%.300s", err, page)
	}
}
