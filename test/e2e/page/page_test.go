package page_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

const (
	desktop = 1280
	phone   = 360
)

const (
	alive = `document.querySelector("#live.on")`
	rows  = `document.querySelectorAll("#rows > tr").length`
	first = `document.querySelector("#rows > tr").id`
)

// TestPage uses the pages of a running demo as people do: on a desktop and a phone, in light and dark mode, with and without
// JavaScript.
func TestPage(t *testing.T) {
	b := newBrowser(t)
	withoutTelemetry(t)
	demo := harness.StartDemo(t, "--speed=20").URL(t)
	host := strings.TrimSuffix(demo, "/")
	b.open(demo, nil)
	b.until(alive)

	t.Run("runs appear without a reload", func(t *testing.T) {
		b.t = t
		b.text(`globalThis.stayed = "yes"`)
		b.until(rows + " >= 3")
		newest := b.text(first)
		b.text(`document.querySelector("#rows > tr a").focus()`)
		focused := b.text(`document.activeElement.href`)
		b.until(first + ` !== "` + newest + `"`)
		if b.text("globalThis.stayed") != "yes" {
			t.Error("the page was loaded again")
		}
		if now := b.text(`document.activeElement.href`); now != focused {
			t.Errorf("the focus moved from %s to %s", focused, now)
		}
		b.until(`document.querySelector("#rows .completed")`)
		b.sound(host, desktop)
	})
	t.Run("filter", func(t *testing.T) {
		b.t = t
		b.do(browserCommand{"deed": "choose", "selector": "select[name=status]", "value": "completed"}, nil)
		b.do(browserCommand{"deed": "choose", "selector": "select[name=source]", "value": "fire-weather"}, nil)
		b.until(rows + ` > 0 && [...document.querySelectorAll("#rows tr")].every((row) => row.querySelector(".completed") && row.cells[2].innerText.startsWith("fire-weather"))`)
		if all, completed := b.number(rows), b.number(`document.querySelectorAll("#rows .status.completed").length`); all == 0 || all != completed {
			t.Errorf("%d of %d runs are completed", completed, all)
		}
	})
	t.Run("a run opens as a waterfall", func(t *testing.T) {
		b.t = t
		b.do(browserCommand{"deed": "click", "selector": "#rows a"}, nil)
		b.until(alive)
		if n := b.number(`document.querySelectorAll(".waterfall tbody tr").length`); n < 3 {
			t.Errorf("%d operations", n)
		}
		if b.number(`document.querySelectorAll(".waterfall tbody .stem").length`) == 0 || b.number(`document.querySelectorAll(".waterfall tbody .kind.agent").length`) < 2 {
			t.Errorf("no nested agents in %s", b.text(`document.querySelector(".waterfall").innerText`))
		}
		if n := b.number(`Math.max(...[...document.querySelectorAll(".bar rect")].map((r) => r.getBoundingClientRect().width))`); n < 200 {
			t.Errorf("the widest bar has %d pixels", n)
		}
		b.sound(host, desktop)
	})
	run := b.text("location.href")
	t.Run("every screen", func(t *testing.T) {
		b.t = t
		for _, width := range []int{phone, desktop} {
			for _, dark := range []bool{false, true} {
				for _, url := range []string{demo, run} {
					b.open(url, browserCommand{"width": width, "dark": dark})
					b.until(alive)
					b.sound(host, width)
				}
			}
		}
	})
	t.Run("keyboard", func(t *testing.T) {
		b.t = t
		b.open(demo, nil)
		b.do(browserCommand{"deed": "press", "key": "Tab"}, nil)
		if got := b.text("document.activeElement.className"); got != "skip" {
			t.Errorf("the first stop is %q", got)
		}
		b.do(browserCommand{"deed": "press", "key": "Enter"}, nil)
		if got := b.text("document.activeElement.id"); got != "main" {
			t.Errorf("it leads to %q", got)
		}
	})
	t.Run("without script", func(t *testing.T) {
		b.t = t
		for _, url := range []string{demo + "?status=completed", run} {
			b.open(url, browserCommand{"script": false, "width": phone})
			if b.number(`document.querySelectorAll("table tbody tr").length`) == 0 || b.number(`document.querySelectorAll("#live[hidden]").length`) != 1 {
				t.Errorf("%s shows nothing, or says that it is live", url)
			}
		}
	})
	t.Run("holds no connection in a hidden tab", func(t *testing.T) {
		b.t = t
		b.open(demo, nil)
		b.until(alive)
		const look = `Object.defineProperty(document, "hidden", { value: %t, configurable: true }), document.dispatchEvent(new Event("visibilitychange"))`
		b.text(fmt.Sprintf(look, true))
		b.text("listen()") // as it does some time after a refusal
		if state := b.number("source.readyState"); state != 2 {
			t.Errorf("the connection is in state %d", state)
		}
		b.text("globalThis.before = source")
		b.text(fmt.Sprintf(look, false))
		b.until("source !== before && source.readyState === 1")
	})
	t.Run("survives a reconnect", func(t *testing.T) {
		b.t = t
		w := harness.NewWire(t, strings.TrimPrefix(host, "http://"))
		b.open(w.URL()+"/", nil)
		b.until(alive)
		torn := w.Cut(true)
		b.until(`document.querySelector("#live.off")`)
		<-torn
		newest := b.text(first)
		w.Restore()
		b.until(alive + " && " + first + ` !== "` + newest + `"`)
	})
}

// TestPageOfRestartedServer starts another server with other runs on the same port. Open pages continue with those.
func TestPageOfRestartedServer(t *testing.T) {
	b := newBrowser(t)
	agent := recorded.NewAgent(t)
	serve := func(address string) (service *harness.Service, pages *http.Server, at string) {
		service = harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		pages = &http.Server{Handler: service.Admin}
		served := make(chan error, 1)
		go func() { served <- pages.Serve(listener) }()
		t.Cleanup(func() {
			pages.Close()
			<-served
		})
		harness.AskOK(t, service, adkserver.RunRequest("u", "s", agent.Names()[0], true))
		service.Wait()
		return service, pages, "http://" + listener.Addr().String()
	}
	service, pages, url := serve("127.0.0.1:0")
	for _, whole := range []bool{true, false} {
		run := regexp.MustCompile(`runs/[0-9a-f]{8}-\d+`).FindString(fetchBody(t, url+"/"))
		path, after := "/", alive+" && "+rows+` === 1 && `+first+` !== "`+strings.Replace(run, "runs/", "run-", 1)+`"`
		if !whole {
			path, after = "/"+run, `document.querySelector("#live.off").innerText === "This run is no longer stored"`
		}
		b.open(url+path, nil)
		b.until(alive)
		b.sound(url, desktop)
		b.text(`globalThis.stayed = "yes"`)
		pages.Close()
		service.Stop()
		b.until(`document.querySelector("#live.off")`)
		service, pages, _ = serve(strings.TrimPrefix(url, "http://"))
		b.until(after)
		if b.text("globalThis.stayed") != "yes" {
			t.Errorf("%s was loaded again", path)
		}
		var said []string
		b.do(browserCommand{"deed": "said"}, &said)
		for _, s := range said {
			if !strings.HasPrefix(s, "Failed to load resource: ") { // Chromium logs this if a server is away or a run does not exist
				t.Errorf("the console says %s", s)
			}
		}
		b.sound(url, desktop)
	}
}

// TestHostilePage uses an agent whose names would be markup in a careless page.
func TestHostilePage(t *testing.T) {
	b := newBrowser(t)
	asked := make(chan struct{}, 2)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		w.Header().Set("Content-Type", "text/event-stream")
		names := slices.Clone(hostileNames)
		if len(asked) == 2 {
			slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest first
		}
		for i, name := range names {
			part := map[string]any{"functionCall": map[string]any{"id": fmt.Sprint(name, i), "name": name, "args": map[string]any{}}}
			frame, _ := json.Marshal(map[string]any{"author": name, "invocationId": hostileNames[0], "content": map[string]any{"parts": []any{part}}})
			fmt.Fprintf(w, "data: %s\n\n", frame)
		}
		_, _ = io.WriteString(w, "data: {\"broken\n\n")
	}))
	t.Cleanup(agent.Close)
	service := harness.Launch(t, hostileConfig(agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	for range cap(asked) {
		if got := harness.Post(t, service.Address(), adkserver.RunRequest("u", hostileNames[1], "hello", true), nil); got.Err != nil {
			t.Fatal(got.Err)
		}
		service.Wait()
	}
	pages := httptest.NewServer(service.Admin)
	t.Cleanup(pages.Close)
	t.Cleanup(pages.CloseClientConnections) // an open page keeps its connection
	key := regexp.MustCompile(`runs/[0-9a-f]{8}-\d+`).FindString(fetchBody(t, pages.URL+"/"))
	for _, width := range []int{phone, desktop} {
		for _, path := range []string{"/", "/" + key} {
			b.open(pages.URL+path, browserCommand{"width": width})
			b.until(alive)
			b.sound(pages.URL, width)
			if n := b.number(`document.querySelectorAll("main script, main img, main b, main [onerror], main [onmouseover]").length`); n != 0 {
				t.Errorf("%s has %d elements that a name made", path, n)
			}
			if text := b.text("document.body.innerText"); !strings.Contains(text, `<script>alert("script")</script>`) || strings.ContainsAny(text, "\u202e\x1b\x07") || len(text) > 20<<10 {
				t.Errorf("%s says %.3000q", path, text)
			}
		}
	}
	b.open(pages.URL+"/", browserCommand{"width": desktop})
	if wide := b.number(`document.querySelector("#rows th").offsetWidth`); wide > desktop/3 {
		t.Errorf("a long name takes %d pixels of the line", wide)
	}
	if size := len(fetchBody(t, pages.URL+"/"+key)); size > 128<<10 {
		t.Errorf("the run's page has %d bytes", size)
	}
}

// TestRunAsOTLP compares the spans of a run from the API with those that a backend gets.
func TestRunAsOTLP(t *testing.T) {
	agent := recorded.NewAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	name := agent.Names()[0]
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true))
	service.Wait()
	pages := httptest.NewServer(service.Admin)
	t.Cleanup(pages.Close)
	var runs []tracker.Report
	if err := json.Unmarshal([]byte(fetchBody(t, pages.URL+"/api/v1/runs?limit=1")), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var sent struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID string
					Attributes                    []struct{ Key string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(fetchBody(t, pages.URL+"/api/v1/runs/"+runs[0].Operations[0].ID+"?format=otlp")), &sent); err != nil {
		t.Fatal(err)
	}
	spans := sent.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != len(runs[0].Operations) || len(spans) < 2 {
		t.Fatalf("%d spans of %d operations", len(spans), len(runs[0].Operations))
	}
	attributes := map[string]int{}
	for i, op := range runs[0].Operations {
		if !strings.EqualFold(spans[i].SpanID, op.ID) || op.Parent != nil && !strings.EqualFold(spans[i].ParentSpanID, *op.Parent) || spans[i].TraceID != spans[0].TraceID {
			t.Errorf("operation %+v has the span %+v", op, spans[i])
		}
		for _, a := range spans[i].Attributes {
			attributes[a.Key]++
		}
	}
	for _, key := range []string{"gen_ai.usage.input_tokens", "gen_ai.response.finish_reasons"} {
		if attributes[key] == 0 {
			t.Errorf("no span has %s", key)
		}
	}
}

func fetchBody(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return string(body)
}
