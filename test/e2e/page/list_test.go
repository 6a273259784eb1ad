package page_test

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/web"
)

// stand is an admin server whose runs the test makes.
type stand struct {
	runs    *recent.Runs
	sources *recent.Sources
	url     string
	ended   int
}

func newStand(t testing.TB) *stand {
	s := &stand{runs: recent.New(10_000, 1<<30), sources: recent.NewSources(time.Now, recent.Source{
		Name: "support", Kind: "proxy", Address: "http://localhost:8080", Agent: "http://127.0.0.1:8000",
	})}
	server := httptest.NewServer(web.Handler(web.Settings{
		Gatherer: prometheus.NewRegistry(), Runs: s.runs, Sources: s.sources, Version: "test", Logger: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // an open page keeps its connection
	s.url = server.URL + "/"
	return s
}

// end adds an ended run of the given number of operations. Every tenth fails because a tool does. Run number n lasts n % 100 + 1
// seconds.
func (s *stand) end(operations int) {
	n := s.ended
	s.ended++
	began := time.Now().Add(-10 * time.Minute)
	at := func(d time.Duration) tracker.Timestamp { return tracker.Timestamp{At: began.Add(d), Frame: 1} }
	id := func(i int) tracker.SpanID { return tracker.SpanID{1, byte(n >> 8), byte(n), 7: byte(i)} }
	took := time.Duration(n%100+1) * time.Second
	root := &tracker.Operation{ID: id(0), Kind: tracker.InvokeAgent, Name: fmt.Sprint("agent-", n%5), Started: at(0), Ended: at(took), Timing: tracker.TimingObserved, Status: tracker.OperationOK}
	run := &tracker.Run{
		ID: fmt.Sprint("run-", n), Session: fmt.Sprint("session-", n/2), Source: []string{"support", "sales"}[n%2], Dialect: "adk", Agent: root.Name,
		Trace: [16]byte{2, byte(n >> 8), byte(n)}, Status: tracker.Completed, Root: root, Operations: []*tracker.Operation{root},
		Usage: event.Usage{Input: event.Count{N: int64(n), Known: true}, Output: event.Count{N: 1, Known: true}},
	}
	for i := 1; i < operations; i++ {
		op := &tracker.Operation{
			ID: id(i), Parent: root.ID, Kind: tracker.ExecuteTool, Name: fmt.Sprint("lookup-", i), Started: at(0), Ended: at(took), Timing: tracker.TimingObserved, Status: tracker.OperationOK,
		}
		if i == 1 {
			op.Kind, op.Name = tracker.InvokeAgent, "clerk"
		}
		if i == 2 && n%10 == 9 {
			op.Status, op.Failure, op.ErrorCode = tracker.OperationError, event.ToolError, "TimeoutError"
			run.Status, run.Reason, root.Status, root.Failure = tracker.Failed, tracker.ReasonErrorFrame, tracker.OperationError, event.AgentError
		}
		run.Operations = append(run.Operations, op)
	}
	s.runs.RunStarted(run)
	s.runs.RunEnded(run)
}

const (
	shown    = `[...document.querySelectorAll("#rows th > small:last-child > bdi")].map((id) => id.innerText)`
	overview = `document.getElementById("overview").innerText.replaceAll(/\s+/g, " ")`
)

// TestListPage uses the list as people do: they filter, search, sort and read it while runs end.
func TestListPage(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t)
	t.Run("before the first run", func(t *testing.T) {
		b.t = t
		s.sources.SetExample("support", "curl -N 'http://localhost:8080/run_sse' -d '{"+strings.Repeat(`"long":"value",`, 30)+"}'")
		for _, width := range []int{390, desktop} {
			b.open(s.url, browserCommand{"width": width, "dark": width == desktop})
			b.until(alive)
			b.sound(strings.TrimSuffix(s.url, "/"), width)
			if text := b.text(`document.getElementById("none").innerText`); !strings.Contains(text, "Use http://localhost:8080 in your client instead of http://127.0.0.1:8000") || !strings.Contains(text, "curl -N") {
				t.Errorf("the page says %s", text)
			}
		}
		s.end(3)
		b.until(rows + " === 1")
	})
	for range 120 {
		s.end(4)
	}
	open := func(t *testing.T, query string) {
		b.t = t
		b.open(s.url+query, nil)
		b.until(alive)
		b.text(`globalThis.stayed = "yes"`)
	}
	stays := func(t *testing.T) {
		t.Helper()
		if b.text("globalThis.stayed") != "yes" || b.number("history.length") != 2 { // a new tab has one entry
			t.Errorf("the page was loaded again, or the history has %d entries", b.number("history.length"))
		}
	}
	t.Run("every screen", func(t *testing.T) {
		b.t = t
		for _, width := range []int{390, desktop} {
			b.open(s.url+"?q=run-11", browserCommand{"width": width, "dark": width == 390})
			b.until(alive)
			b.text(`document.getElementById("by-source").open = true`)
			b.sound(strings.TrimSuffix(s.url, "/"), width)
		}
	})
	t.Run("filters apply at once", func(t *testing.T) {
		open(t, "")
		b.text(`document.querySelector("select[name=status]").focus()`)
		b.do(browserCommand{"deed": "choose", "selector": "select[name=status]", "value": "failed"}, nil)
		b.until(rows + ` === 12 && document.querySelectorAll("#rows .failed").length === 12`)
		b.do(browserCommand{"deed": "choose", "selector": "select[name=since]", "value": "15m"}, nil)
		b.until(`location.search === "?status=failed&since=15m" && document.querySelector("#clear a")`)
		if got := b.text(`document.activeElement.name + " " + document.querySelector("#filter button").hidden`); got != "status true" {
			t.Errorf("the focus and whether the button is hidden: %s", got)
		}
		if got := b.text(overview); !strings.Contains(got, "Runs started 12") || !strings.Contains(got, "Failed 100 % 12 of 12 ended") {
			t.Errorf("the overview says %s", got)
		}
		stays(t)
		link := b.text("location.href")
		b.open(link, browserCommand{"script": false})
		if got := b.text(rows + ` + document.querySelector("select[name=status]").value + document.querySelector("#filter button").hidden`); got != "12failedfalse" {
			t.Errorf("without script, the link shows %s", got)
		}
		b.do(browserCommand{"deed": "choose", "selector": "select[name=source]", "value": "support"}, nil)
		b.do(browserCommand{"deed": "click", "selector": "#filter button"}, nil)
		if got := b.text(`document.getElementById("none").innerText`); !strings.Contains(got, "No run that is kept matches these filters.") {
			t.Errorf("without script, the form leads to %s", got)
		}
		b.do(browserCommand{"deed": "click", "selector": "#none a"}, nil)
		if n := b.number(rows); n != 50 {
			t.Errorf("%d runs without filters", n)
		}
	})
	t.Run("search", func(t *testing.T) {
		open(t, "")
		b.text(`document.querySelector("[name=q]").focus()`)
		for _, key := range strings.Split("RUN-77", "") {
			b.do(browserCommand{"deed": "press", "key": key}, nil)
		}
		b.until(rows + ` === 1 && location.search === "?q=RUN-77"`)
		s.end(3) // the page updates itself while somebody types
		b.do(browserCommand{"deed": "press", "key": "x"}, nil)
		b.until(`document.getElementById("none") && document.activeElement.value === "RUN-77x"`)
		b.sound(strings.TrimSuffix(s.url, "/"), desktop)
		trace := [16]byte{2, 0, 77}
		for _, id := range []string{hex.EncodeToString(trace[:]), "01004d0000000002"} {
			b.text(`document.querySelector("[name=q]").value = "` + strings.ToUpper(id) + `", document.querySelector("[name=q]").dispatchEvent(new Event("input", { bubbles: true }))`)
			b.until(rows + ` === 1 && ` + shown + `[0] === "run-77" && location.search.length > 16`)
			if id[0] == '0' && len(id) == 32 {
				b.text(`document.querySelector("#filter").requestSubmit()`)
			}
		}
		stays(t)
	})
	t.Run("order and pages", func(t *testing.T) {
		open(t, "")
		b.do(browserCommand{"deed": "choose", "selector": "select[name=sort]", "value": "duration"}, nil)
		b.until(shown + `[0] === "run-99"`)
		if cells := b.text(`[...document.querySelectorAll("#rows td:nth-of-type(4)")].slice(0, 3).map((cell) => cell.innerText)`); cells != "100 s,99.0 s,98.0 s" {
			t.Errorf("the longest runs took %s", cells)
		}
		stays(t)
		var all []string
		for {
			all = append(all, strings.Split(b.text(shown), ",")...)
			if b.text(`document.querySelector("[rel=next]") !== null`) == "false" {
				break
			}
			b.do(browserCommand{"deed": "click", "selector": "[rel=next]"}, nil)
			b.until(alive)
		}
		if slices.Sort(all); len(all) != s.ended || len(slices.Compact(all)) != s.ended {
			t.Errorf("the pages have %d runs, want each of %d once", len(all), s.ended)
		}
		b.do(browserCommand{"deed": "choose", "selector": "select[name=sort]", "value": "tokens"}, nil)
		b.until(`location.search === "?sort=tokens" && ` + shown + `[0] === "run-` + fmt.Sprint(s.ended-1) + `"`)
	})
	t.Run("a time that is none", func(t *testing.T) {
		open(t, "?from="+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
		write := func(value string) {
			b.text(`document.querySelector("[name=from]").value = "` + value + `", document.querySelector("[name=from]").dispatchEvent(new Event("change", { bubbles: true }))`)
		}
		write("noon")
		b.until(`document.querySelector("#live.off").innerText.includes('from="noon" is not a time')`)
		write(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		b.until(`document.querySelector("#none a") && ` + alive)
	})
	t.Run("failures, agents and tools", func(t *testing.T) {
		open(t, "?q=run-19&sort=started")
		row := b.text(`document.querySelector("#rows tr").innerText.replaceAll(/\s+/g, " ")`)
		for _, want := range []string{"the first failure: tool lookup-2: TimeoutError", "agent clerk, tool lookup-2, tool lookup-3"} {
			if !strings.Contains(row, want) {
				t.Errorf("no %q in %s", want, row)
			}
		}
		if b.number(`document.querySelectorAll("#rows th .kind.agent").length`) != 1 || b.number(`document.querySelectorAll("#rows th .kind.tool").length`) != 2 {
			t.Error("agents and tools have other marks")
		}
	})
	t.Run("runs end while somebody reads", func(t *testing.T) {
		open(t, "?source=support")
		b.text(`document.getElementById("by-source")?.setAttribute("open", "")`)
		b.text(`getSelection().selectAllChildren(document.querySelectorAll("#rows tr")[20].querySelector("small bdi"))`)
		b.text(`document.querySelectorAll("#rows a")[21].focus({ preventScroll: true }), document.querySelectorAll("#rows tr")[18].scrollIntoView()`)
		const state = `[getSelection().toString(), document.activeElement.getAttribute("href"), Math.round(document.querySelectorAll("#rows tr a[href='" + document.activeElement.getAttribute("href") + "']")[0].getBoundingClientRect().top)]`
		before := b.text(state)
		newest := b.text(first)
		for range 4 {
			s.end(3)
		}
		b.until(first + ` !== "` + newest + `"`)
		b.until(`document.getElementById("counts").innerText.includes("` + fmt.Sprint(s.ended) + ` ended")`)
		if after := b.text(state); after != before {
			t.Errorf("selection, focus and place are %s, were %s", after, before)
		}
		stays(t)
		b.sound(strings.TrimSuffix(s.url, "/"), desktop)
	})
}

// BenchmarkListPage measures in Chromium, with 1,000 runs and 10,000 operations: loading the list in a new browser profile, applying a
// filter, opening a run, and returning to the list. Each is the time from the request or the click to the load event, or to the next
// frame for the filter.
func BenchmarkListPage(t *testing.B) {
	b := newBrowser(t)
	s := newStand(t)
	for range 1_000 {
		s.end(10)
	}
	const loaded = `performance.getEntriesByType("navigation")[0].loadEventEnd`
	follow := func(selector, arrived string) int {
		b.text(`sessionStorage.began = performance.timeOrigin + performance.now(), document.querySelector("` + selector + `").click()`)
		b.until(arrived + ` && ` + loaded + ` > 0`)
		return b.number(`performance.timeOrigin + ` + loaded + ` - sessionStorage.began`)
	}
	took := map[string][]int{}
	note := func(unit string, n int) { took[unit] = append(took[unit], n) }
	for t.Loop() {
		b.open(s.url, nil)
		note("ms/first-load", b.number(loaded))
		b.until(alive)
		note("ms/filter", b.number(`await new Promise((done) => {
			const began = performance.now()
			const field = document.querySelector("select[name=status]")
			new MutationObserver((_, observer) => {
				observer.disconnect()
				requestAnimationFrame(() => done(performance.now() - began))
			}).observe(document.getElementById("runs"), { childList: true, subtree: true })
			field.value = "failed"
			field.dispatchEvent(new Event("change", { bubbles: true }))
		})`))
		note("ms/open", follow("#rows a", `document.querySelector(".waterfall")`))
		note("ms/load", follow(".brand", `document.getElementById("rows")`))
	}
	t.ReportMetric(0, "ns/op") // of all together
	for unit, n := range took {
		slices.Sort(n)
		t.ReportMetric(float64(n[len(n)/2]), unit)
	}
}
