package faults_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestAgentFaults uses agents that answer with anything but a whole stream. A client gets the same through the sidecar as
// directly, and the next run is observed.
func TestAgentFaults(t *testing.T) {
	const whole = fakeagent.Run
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
		run        string // its status and reason; "" without a run
		rejected   string // why a frame could not be decoded
		unobserved bool
		down       bool // counted as an error of the agent
	}{
		"dies within a frame":       {breakOff(say(stream, nil, fakeagent.CallFrame, fakeagent.ResponseFrame[:50])), "incomplete broken_off", "truncated", false, true},
		"dies between frames":       {breakOff(say(stream, nil, fakeagent.CallFrame, fakeagent.ResponseFrame)), "incomplete broken_off", "", false, true},
		"dies after the last frame": {breakOff(say(stream, nil, whole)), "incomplete broken_off", "", false, true},
		"sends less than it said":   {breakOff(say(stream, http.Header{"Content-Length": {"10000"}}, whole)), "incomplete broken_off", "", false, true},
		"ends within a frame":       {say(stream, nil, fakeagent.CallFrame, fakeagent.ResponseFrame[:50]), "incomplete stream_ended", "truncated", false, false},
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
		"sends 10 MB in a frame":   {say(stream, nil, fakeagent.CallFrame, `data: "`+strings.Repeat("a", 10<<20)+`"`+"\n\n", fakeagent.ResponseFrame, fakeagent.FinalFrame), "completed -", "too_large", false, false},
		"sends two streams as one": {say(stream+"; charset=utf-8", nil, whole, whole), "completed -", "", false, false},
		"compresses":               {say(stream, zipped, compressed(whole)), "completed -", "", false, false},
		"compresses, in capitals":  {say(stream, http.Header{"Content-Encoding": {"X-GZIP"}}, compressed(whole)), "completed -", "", false, false},
		"compresses a giant":       {say(stream, zipped, compressed(fakeagent.CallFrame+`data: "`+strings.Repeat("a", 64<<20)+`"`+"\n\n"+fakeagent.ResponseFrame+fakeagent.FinalFrame)), "completed -", "too_large", false, false},
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
			agent := recorded.NewAgent(t)
			agent.Fault = c.agent
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			ask := adkserver.RunRequest("u", "s", "fault", true)
			want, got := harness.Post(t, agent.URL, ask, nil), harness.Post(t, service.Address(), ask, nil)
			if fault := got.Differs(want); fault != "" {
				t.Errorf("through the sidecar the client gets other than from the agent: %s", fault)
			}
			service.Wait()
			said := ""
			for _, r := range service.Recent.Reports() {
				said += string(r.Status) + " " + harness.Text(r.StatusReason)
				if r.Started == nil || r.Ended == nil || r.Operations[0].Timing != tracker.TimingObserved.String() {
					t.Errorf("the run's times are %s and %s, %s", harness.Text(r.Started), harness.Text(r.Ended), r.Operations[0].Timing)
				}
			}
			if said != c.run {
				t.Errorf("the run is %q, not %q", said, c.run)
			}
			if c.rejected != "" && service.Count(t, "delegraph_parse_errors_total", "reason", c.rejected) == 0 ||
				c.rejected == "" && service.Count(t, "delegraph_parse_errors_total") > 0 {
				t.Errorf("%v frames could not be read", service.Count(t, "delegraph_parse_errors_total"))
			}
			if lost := service.Count(t, "delegraph_source_unobserved_bytes_total"); lost > 0 != c.unobserved || lost > float64(len(want.Body)) {
				t.Errorf("%v bytes unobserved of %d", lost, len(want.Body))
			}
			if errs := service.Count(t, "delegraph_source_upstream_errors_total"); errs > 0 != c.down {
				t.Errorf("%v upstream errors", errs)
			}
			if up := service.Count(t, "delegraph_source_up"); up != 1 {
				t.Errorf("the agent was reached, and delegraph_source_up is %v", up)
			}
			const next = "adk-go/transfer"
			if got := harness.AskOK(t, service, adkserver.RunRequest("u", "s", next, true)); !bytes.Equal(got, agent.Recordings[next]) || service.Recent.Reports()[0].Status != tracker.Completed {
				t.Errorf("of the next run the client got %d bytes, and it is %s", len(got), service.Recent.Reports()[0].Status)
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

// TestAgentDownAndUp starts without an agent, then with one that does not speak HTTP, then with a working one.
func TestAgentDownAndUp(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	address := loopback.FreeAddress(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, "http://"+address), receiver.Environment(nil))
	const agentSays = `delegraph: the agent behind source "fire-briefing" `
	unreachable := func(times float64, sentence string) {
		t.Helper()
		got := harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "adk-go/plain", true), nil)
		if got.Status != http.StatusBadGateway || got.Err != nil || string(got.Body) != agentSays+sentence+"\n" {
			t.Errorf("status %d, %v: %q", got.Status, got.Err, got.Body)
		}
		if up, errs := service.Count(t, "delegraph_source_up"), service.Count(t, "delegraph_source_upstream_errors_total"); up != 0 || errs != times {
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
				_, _ = io.Copy(io.Discard, r.Body) // an unread body would make the connection end with a reset
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 hunter2 is the password\r\nhunter2\r\n\r\n")
			conn.Close()
		}
	}()
	unreachable(2, "did not answer in HTTP; is "+address+" the agent's address, and is the scheme of its URL correct?")
	if strings.Contains(service.Log.String(), "hunter2") {
		t.Errorf("bytes from the agent are logged:\n%s", service.Log)
	}
	listener.Close()

	if listener, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: agent}
	go func() { _ = back.Serve(listener) }()
	defer back.Close()
	if got := harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/plain", true)); !bytes.Equal(got, agent.Recordings["adk-go/plain"]) {
		t.Errorf("the client got %d bytes", len(got))
	}
	if up := service.Count(t, "delegraph_source_up"); up != 1 {
		t.Errorf("delegraph_source_up %v", up)
	}
	service.Stop()
	bad := 0
	for _, s := range receiver.Spans() {
		if harness.Attribute(s, "http.response.status_code") == "502" && s.Status.Code == tracepb.Status_STATUS_CODE_ERROR {
			bad++
		}
	}
	if runs := service.Recent.Reports(); bad != 2 || len(runs) != 1 {
		t.Errorf("%d spans of unanswered requests, %d runs", bad, len(runs))
	}
}

// TestLargeRequest sends a request that is larger than the part that is searched for ids, and checks that the agent gets all of
// it.
func TestLargeRequest(t *testing.T) {
	agent := recorded.NewAgent(t)
	hash := make(chan [sha256.Size]byte, 1)
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		hash <- sha256.Sum256(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, fakeagent.FinalFrame)
	})
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	body := adkserver.RunRequest("u", "s", strings.Repeat("Give me a briefing. ", 3<<20/20), true)
	if got := harness.AskOK(t, service, body); string(got) != fakeagent.FinalFrame {
		t.Errorf("the client got %q", got)
	}
	if <-hash != sha256.Sum256(body) {
		t.Error("the agent got another request")
	}
	if r := service.Recent.Reports()[0]; service.Count(t, "delegraph_source_unread_requests_total", "reason", "too_large") != 1 || r.Session != nil || r.Status != tracker.Completed {
		t.Errorf("not counted, or the run is %s in session %s", r.Status, harness.Text(r.Session))
	}
}

// TestFiftyClients serves fifty clients at once, with enough room to observe them and with hardly any.
func TestFiftyClients(t *testing.T) {
	const clients, capture = 50, "adk-go/big_tool"
	for name, c := range map[string]struct {
		limits string
		lost   bool
	}{"room": {"{}", false}, "no room": {"{observe_queue: 2KiB}", true}} {
		t.Run(name, func(t *testing.T) {
			begun, agent, receiver := time.Now(), recorded.NewAgent(t), harness.NewReceiver(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL)+"limits: "+c.limits, receiver.Environment(nil))
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() {
					got := harness.Post(t, service.Address(), adkserver.RunRequest("u", fmt.Sprint("s", i), capture, true), nil)
					if got.Status != http.StatusOK || got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[capture]) {
						t.Errorf("client %d got %d bytes of %d: %v", i, len(got.Body), len(agent.Recordings[capture]), got.Err)
					}
				})
			}
			all.Wait()
			service.Wait()
			lost := service.Count(t, "delegraph_source_unobserved_bytes_total")
			if lost > 0 != c.lost || lost > float64(clients*len(agent.Recordings[capture])) {
				t.Errorf("%v bytes unobserved", lost)
			}
			status, reason := "completed", "-"
			if c.lost {
				status, reason = "incomplete", "evicted"
			}
			if ended := service.Count(t, "delegraph_runs_ended_total", "status", status); ended != clients || service.Count(t, "delegraph_runs_open") != 0 {
				t.Errorf("%v runs ended as %s, %v are open", ended, status, service.Count(t, "delegraph_runs_open"))
			}
			if r := service.Recent.Reports()[0]; harness.Text(r.StatusReason) != reason {
				t.Errorf("%s, %s", r.Status, harness.Text(r.StatusReason))
			}
			service.Stop()
			traces := receiver.Traces(t)
			if len(traces) != clients {
				t.Errorf("%d traces", len(traces))
			}
			for _, spans := range traces {
				spans.CheckShape(t, begun, time.Now())
			}
		})
	}
}

// TestScrapeHangs serves clients during a scrape that never ends.
func TestScrapeHangs(t *testing.T) {
	agent := recorded.NewAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	admin := httptest.NewServer(service.Admin)
	defer admin.Close()
	scraping, release := make(chan struct{}), make(chan struct{})
	slow := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "slow", Help: "A gauge that takes its time."}, func() float64 {
		scraping <- struct{}{}
		<-release
		return 0
	})
	service.Registry.MustRegister(slow)
	conn, err := net.Dial("tcp", admin.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	<-scraping
	for _, name := range agent.Names() {
		if got := harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true)); !bytes.Equal(got, agent.Recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d", name, len(got), len(agent.Recordings[name]))
		}
	}
	close(release)
	if page, err := io.ReadAll(conn); err != nil || !strings.Contains(string(page), "\nslow 0\n") {
		t.Errorf("the scrape: %v\n%.300s", err, page)
	}
}
