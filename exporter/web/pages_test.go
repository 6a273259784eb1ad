package web

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func moment(seconds int) tracker.Timestamp {
	return tracker.Timestamp{At: noon.Add(time.Duration(seconds) * time.Second), Frame: 1 + seconds}
}

// sampleRun returns a run of ten seconds: its agent transfers control to a second one, which calls a failing tool and waits for input.
func sampleRun() *tracker.Run {
	root := &tracker.Operation{ID: tracker.SpanID{1}, Kind: tracker.InvokeAgent, Name: "first", Agent: "first", Started: moment(0), Ended: moment(10), Timing: tracker.TimingObserved}
	handover := &tracker.Operation{ID: tracker.SpanID{2}, Parent: root.ID, Kind: tracker.ExecuteTool, Name: "transfer_to_agent", Agent: "first", Details: &tracker.Details{HandoffSource: "first", HandoffTarget: "second"}, Started: moment(1), Ended: moment(2), Timing: tracker.TimingObserved, Status: tracker.OperationOK}
	second := &tracker.Operation{ID: tracker.SpanID{3}, Parent: root.ID, Kind: tracker.InvokeAgent, Name: "second", Agent: "second", Started: moment(2), Ended: moment(10), Timing: tracker.TimingObserved, Status: tracker.OperationOK}
	tool := &tracker.Operation{ID: tracker.SpanID{4}, Parent: second.ID, Kind: tracker.ExecuteTool, Name: "search", Agent: "second", Started: moment(3), Ended: moment(4), Timing: tracker.TimingObserved, Status: tracker.OperationError, Failure: event.ToolError, ErrorCode: "NOT_FOUND"}
	said := tracker.Confidence{Agent: "second", Confidence: event.Confidence{Value: 0.83, Known: true, Overall: true, Origin: event.OriginText}}
	second.Details = &tracker.Details{Links: []tracker.SpanID{handover.ID}, Confidence: []tracker.Confidence{said}}
	return &tracker.Run{
		ID: "e-1", Source: "support", Dialect: "adk", Session: "s-1", Agent: "first", Status: tracker.Interrupted, Reason: tracker.ReasonAwaitingInput,
		Root: root, Operations: []*tracker.Operation{root, handover, second, tool},
		Transfers: []tracker.Transfer{{From: "first", To: "second"}}, Confidence: []tracker.Confidence{said},
		Inputs: []*tracker.InputRequest{{Kind: event.InputConfirmation, Status: tracker.InputOpen, Requested: moment(8)}},
		Usage:  event.Usage{Input: event.Count{N: 12345, Known: true}}, Sampled: true, Trace: [16]byte{0xab},
	}
}

// TestList checks the content of the list for each run.
func TestList(t *testing.T) {
	s := settings()
	s.Runs = runsOf(sampleRun())
	_, body := ask(t, s, "GET", "/")
	for _, want := range []string{
		"0 open, 1 ended", "<bdi>first</bdi>", "session <bdi>s-1</bdi>", `<span class="status interrupted">interrupted</span> <small>waiting for input</small> <small class="bad"><span class="sr">the first failure: </span><i class="kind tool"></i>tool <bdi>search</bdi>: <bdi>NOT_FOUND</bdi></small>`,
		"<bdi>support</bdi> <small>adk</small>", `datetime="2026-01-02T12:00:00Z">12:00:00</time> <small>2 Jan 2026</small>`,
		`class="n">10.0 s</td>`, `class="n">2 <small class="bad">1 failed</small>`, "12\u202f345 / –", "83 % <small><bdi>second</bdi></small>",
		`<span aria-hidden="true">→</span> ` + callee("agent", "second") + ", " + callee("tool", "search") + `</small>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// callee returns how the list shows an agent or a tool.
func callee(kind, name string) string {
	return `<i class="kind ` + kind + `"></i><span class="sr">` + kind + ` </span><bdi>` + name + `</bdi>`
}

// TestRunPage checks the waterfall, the transfer's arrow, the wait, the error, the confidence and the graph.
func TestRunPage(t *testing.T) {
	s := settings()
	s.Runs = runsOf(sampleRun())
	s.TraceURL = "http://localhost:16686/trace/{trace_id}?uiFind=x"
	_, body := ask(t, s, "GET", "/runs/e-1")
	for _, want := range []string{
		"Took 10.0 s. It delegated to 1 agent (<bdi>second</bdi>), called 1 tool (<bdi>search</bdi>), had 1 call fail and waits for 1 answer.",
		`href="http://localhost:16686/trace/ab000000000000000000000000000000?uiFind=x"`,
		`<rect class="agent" x="20.00%" y="8" width="80.00%"`, `<rect class="tool failed" x="30.00%" y="8" width="10.00%"`,
		`<rect class="wait" x="80.00%" y="8" width="20.00%"`, "waits for a confirmation", `<span class="tag bad">NOT_FOUND</span>`,
		`<line class="arrow" x1="20.00%" x2="20.00%" y1="14" y2="100%"/>`, `<line class="arrow" x1="20.00%" x2="20.00%" y1="0" y2="5"/>`,
		`<span class="sr">level 2, agent </span>`, `<span class="sr">at 3.00 s</span>`,
		`<span class="sr">confidence </span>83 %`, "the whole answer", "answer text",
		"<bdi>first</bdi> transferred control to <bdi>second</bdi>", "<bdi>second</bdi> called <bdi>search</bdi>", `class="transfer" fill="none"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	unsampled := sampleRun()
	unsampled.Sampled = false
	s.Runs = runsOf(unsampled)
	if _, body := ask(t, s, "GET", "/runs/e-1"); strings.Contains(body, "localhost:16686") {
		t.Error("there is a link to a trace that was not exported")
	}
}

// TestUnnamedAgent checks that a run whose agent has no name gets the same placeholder on all pages, as a link in the list.
func TestUnnamedAgent(t *testing.T) {
	for _, name := range []string{"", " \u00a0"} {
		r := sampleRun()
		r.Agent, r.Root.Name = name, name
		s := settings()
		s.Runs = runsOf(r)
		for path, want := range map[string]string{"/": "><bdi>unnamed agent</bdi>", "/runs/e-1": "<h1><bdi>unnamed agent</bdi></h1>"} {
			if _, body := ask(t, s, "GET", path); !strings.Contains(body, want) {
				t.Errorf("no %s in %s", want, body)
			}
		}
		if _, body := ask(t, s, "GET", "/runs/e-1"); !strings.Contains(body, `"><bdi>unnamed agent</bdi></a>`) {
			t.Errorf("the waterfall has no such agent: %s", body)
		}
	}
}

// TestAgentOfAnApp checks that an agent whose name differs from its app's is not shown as a delegation to itself.
func TestAgentOfAnApp(t *testing.T) {
	r := sampleRun()
	r.App, r.Root.Name = "app", "app"
	own := &tracker.Operation{ID: tracker.SpanID{7}, Parent: r.Root.ID, Kind: tracker.InvokeAgent, Name: "first", Agent: "first", Started: moment(0), Ended: moment(10), Timing: tracker.TimingObserved, Status: tracker.OperationError}
	r.Operations = append(r.Operations, own)
	s := settings()
	s.Runs = runsOf(r)
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, `<span aria-hidden="true">→</span> `+callee("agent", "second")+", "+callee("tool", "search")+`</small>`) {
		t.Errorf("the list has %s", body)
	}
	const story = "It delegated to 1 agent (<bdi>second</bdi>), called 1 tool (<bdi>search</bdi>), had 1 call fail and waits for 1 answer."
	if _, body := ask(t, s, "GET", "/runs/e-1"); !strings.Contains(body, story) {
		t.Errorf("no %s in %s", story, body)
	}
}

// TestFailedRun checks that both pages show the error code of a failed run, if the stream has one.
func TestFailedRun(t *testing.T) {
	for code, want := range map[string]string{"RESOURCE_EXHAUSTED": "a response carried an error code: RESOURCE_EXHAUSTED<", "": "a response carried an error code: agent_error<"} {
		r := sampleRun()
		r.Status, r.Reason = tracker.Failed, tracker.ReasonErrorCode
		r.Root.Status, r.Root.Failure, r.Root.ErrorCode = tracker.OperationError, event.AgentError, code
		s := settings()
		s.Runs = runsOf(r)
		for _, path := range []string{"/", "/runs/e-1"} {
			if _, body := ask(t, s, "GET", path); !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", path, want, body)
			}
		}
	}
}

// TestFailedAgent checks an agent that fails in a run that completes.
func TestFailedAgent(t *testing.T) {
	r := sampleRun()
	r.Operations[2].Status = tracker.OperationError
	s := settings()
	s.Runs = runsOf(r)
	if _, body := ask(t, s, "GET", "/runs/e-1"); !strings.Contains(body, "had 1 call fail, had 1 agent fail and waits") {
		t.Errorf("the story is %s", body)
	}
}

// TestReasons checks that every reason for not completing has a text.
func TestReasons(t *testing.T) {
	source, err := os.ReadFile("../tracker/run.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`StatusReason = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	for _, reason := range all {
		if reasonTexts[tracker.StatusReason(reason[1])] == "" {
			t.Errorf("none for %s", reason[1])
		}
	}
	if len(all) != len(reasonTexts) {
		t.Errorf("%d reasons, words for %d", len(all), len(reasonTexts))
	}
}

// TestUnknownTimes checks that operations with unknown times are drawn where their spans are, hatched and without a duration.
func TestUnknownTimes(t *testing.T) {
	r := sampleRun()
	placed := &tracker.Operation{ID: tracker.SpanID{5}, Parent: tracker.SpanID{3}, Kind: tracker.ExecuteTool, Name: "placed", Timing: tracker.TimingUnknown, Details: &tracker.Details{EstimatedStart: moment(5).At, EstimatedEnd: moment(7).At}}
	half := &tracker.Operation{ID: tracker.SpanID{6}, Parent: tracker.SpanID{3}, Kind: tracker.Chat, Name: "half", Timing: tracker.TimingUnknown, Ended: moment(9)}
	r.Operations = append(r.Operations, placed, half)
	s := settings()
	s.Runs = runsOf(r)
	_, body := ask(t, s, "GET", "/runs/e-1")
	for _, want := range []string{
		`<rect class="tool unknown" x="50.00%" y="8" width="20.00%"`, `<circle class="model unknown" cx="90.00%"`,
		`<pattern id="hatch-tool"`, `at an unknown time</span>`, `<span aria-hidden="true">?</span><span class="sr">unknown</span>`,
		"time unknown, drawn next to known operations",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	s.Runs = runsOf(sampleRun())
	if _, body := ask(t, s, "GET", "/runs/e-1"); strings.Contains(body, "unknown") {
		t.Errorf("an operation with known times is drawn as unknown: %s", body)
	}
	for _, op := range r.Operations { // a capture without times
		op.Started, op.Ended, op.Timing = tracker.Timestamp{Frame: op.Started.Frame}, tracker.Timestamp{Frame: op.Ended.Frame}, tracker.TimingUnknown
		if d := op.Details; d != nil {
			d.EstimatedStart, d.EstimatedEnd = time.Time{}, time.Time{}
		}
	}
	s.Runs = runsOf(r)
	_, body = ask(t, s, "GET", "/runs/e-1")
	for _, want := range []string{"The stream has no times", `<rect class="agent unknown" x="20.00%" y="8" width="80.00%"`, `<rect class="tool failed unknown" x="30.00%"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// TestManyNames checks a run with more agents than fit on a line.
func TestManyNames(t *testing.T) {
	r := sampleRun()
	for i := range 10 {
		r.Operations = append(r.Operations, &tracker.Operation{ID: tracker.SpanID{9, byte(i)}, Parent: tracker.SpanID{1}, Kind: tracker.ExecuteTool, Name: fmt.Sprint("tool-", i%8)})
	}
	s := settings()
	s.Runs = runsOf(r)
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, callee("agent", "second")+", "+callee("tool", "search")+", "+callee("tool", "tool-0")+", …") {
		t.Errorf("the list has %s", body)
	}
	_, body := ask(t, s, "GET", "/runs/e-1")
	if want := "called 9 tools 11 times ("; !strings.Contains(body, want) || !strings.Contains(body, ", 4 more)") {
		t.Errorf("no %s in %s", want, body)
	}
}

// TestPagesNeedNoOtherHost checks that pages load nothing from other hosts, and nothing that the content policy forbids.
func TestPagesNeedNoOtherHost(t *testing.T) {
	s := settings()
	s.Runs = runsOf(sampleRun())
	for _, path := range []string{"/", "/runs/e-1", "/runs/none"} {
		_, body := ask(t, s, "GET", path)
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
		}
		if regexp.MustCompile(` style=| on[a-z]+=|<style|<script>`).MatchString(body) {
			t.Errorf("%s has what the policy forbids", path)
		}
		for _, m := range regexp.MustCompile(`"((?:\.\./)?)(assets/[^"]*)"`).FindAllStringSubmatch(body, -1) {
			if answer, _ := ask(t, s, "GET", "/"+m[2]); answer.StatusCode != 200 || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %s", m[2], answer.Status)
			}
		}
	}
	if answer, _ := ask(t, s, "GET", "/assets/frame.html"); answer.StatusCode != 404 {
		t.Errorf("a template is served: %s", answer.Status)
	}
}

// TestLargeRun checks that the page of a large run is bounded, however its operations are nested.
func TestLargeRun(t *testing.T) {
	r := run("deep")
	for i := range 9_999 {
		parent := r.Operations[len(r.Operations)-1].ID
		r.Operations = append(r.Operations, &tracker.Operation{
			ID: tracker.SpanID{1: byte(i), 2: byte(i >> 8), 3: 1}, Parent: parent, Kind: tracker.InvokeAgent, Name: fmt.Sprint("agent ", i), Details: &tracker.Details{Links: []tracker.SpanID{{1}}},
		})
	}
	s := settings()
	s.Runs = runsOf(r)
	_, body := ask(t, s, "GET", "/runs/deep")
	if !strings.Contains(body, "<a href=\"?from=500\">9\u202f500 more operations</a>") || !strings.Contains(body, "9\u202f960 calls of further agents and tools not shown.") || !strings.Contains(body, "made 9\u202f960 further calls") {
		t.Error("the page does not say what it leaves out")
	}
	if len(body) > 2<<20 {
		t.Errorf("the page has %d bytes", len(body))
	}
	_, body = ask(t, s, "GET", "/runs/deep?op="+hex.EncodeToString(r.Operations[9_999].ID[:]))
	if !strings.Contains(body, "<a href=\"?from=9000\">9\u202f500 earlier operations</a>") || strings.Contains(body, " more operation") || !strings.Contains(body, `id="details"`) {
		t.Error("the last operation is not reachable")
	}
}

// TestSources checks the state of each source, and the place and cause of its parse errors.
func TestSources(t *testing.T) {
	s := settings()
	s.Sources = recent.NewSources(func() time.Time { return noon }, recent.Source{Name: "support", Kind: "proxy"}, recent.Source{Name: "other", Kind: "tail"})
	stream := &event.Stream{Source: "support", Dialect: "adk"}
	s.Sources.Open(stream)
	s.Sources.Consume(&event.Batch{Stream: stream})
	bad := &event.Batch{Stream: stream, Rejected: event.ReasonShape}
	bad.Frame.Size, bad.Frame.Data = 77, []byte("s3cret")
	s.Sources.Consume(bad)
	s.Sources.Up("support", true)
	_, body := ask(t, s, "GET", "/")
	for _, want := range []string{
		`support <span class="status completed">up</span>`, `other <span class="status quiet">not reached yet</span>`,
		"1 open stream · 2 frames · <span class=\"bad\">1 parse error</span> · last frame <time datetime=\"2026-01-02T12:00:00Z\">2026-01-02 12:00:00</time>",
		`<td>2026-01-02 12:00:00</td><td>shape</td><td class="n">2</td><td class="n">77</td><td>adk</td>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "s3cret") {
		t.Error("the page contains data of the frame")
	}
	const above = `<p class="quiet" id="counts" data-live>0 open, 0 ended · <a href="#sources">2 sources`
	if !strings.Contains(body, above+"</a>") {
		t.Errorf("nothing above the runs leads to the sources: %s", body)
	}
	s.Sources.Up("support", false)
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, above+", 1 down</a>") {
		t.Errorf("nothing above the runs says that a source is down: %s", body)
	}
}

// BenchmarkList writes the first page with 10,000 stored and 1,000 open runs, for several queries. It reports the page's size, and the
// ratio of its time to that with only the 50 runs shown, measured alternately.
func BenchmarkList(b *testing.B) {
	pages := []http.Handler{Handler(crowded(50, 0)), Handler(crowded(10_000, 1_000))}
	for _, query := range []string{"", "?q=agent+7", "?q=0123456789abcdef", "?since=1h&source=support", "?sort=started", "?sort=duration", "?sort=tokens"} {
		b.Run(query, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/"+query, nil)
			var took [2][]time.Duration
			var size int
			for b.Loop() {
				for i, page := range pages {
					w, began := httptest.NewRecorder(), time.Now()
					page.ServeHTTP(w, r)
					took[i], size = append(took[i], time.Since(began)), w.Body.Len()
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			few, many := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(0, "ns/op") // of both
			b.ReportMetric(float64(many.Microseconds()), "µs/page")
			b.ReportMetric(float64(many)/float64(few), "x/50-runs")
			b.ReportMetric(float64(size), "B/page")
		})
	}
}

// crowded returns settings with the given numbers of ended and open runs.
func crowded(ended, open int) Settings {
	s := settings()
	s.Runs = recent.New(max(ended, 1), 1<<30)
	for i := range ended {
		r := sampleRun()
		r.Agent = fmt.Sprint("agent ", i%20)
		s.Runs.RunEnded(r)
	}
	e := exporter.New(metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 100, MaxLabelSets: 1000}),
		tracker.Settings{MaxOpenRuns: max(open, 1), MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}, nil, s.Runs)
	s.Runs.SetTracker(e.Tracker())
	for i := range open {
		stream := &event.Stream{Source: "support", Live: true, SingleRun: true, OpenedAt: noon, Nonce: fmt.Sprint(i)}
		e.Open(stream)
		e.Consume(&event.Batch{Stream: stream, Agent: "first", Received: noon, Events: []event.Event{{Kind: event.KindToolStarted, CallID: "1", Name: "search"}}})
	}
	return s
}

// TestLinkedRuns checks that a run links to the run that it continues only by the id of that run's root span. The id of
// a run is not enough: an agent chooses it, and could choose the id of a run that is not kept.
func TestLinkedRuns(t *testing.T) {
	kept, posing, last := runFrom(1, 0, 1), runFrom(2, 2, 3), resuming(resuming(runFrom(3, 4, 5), 1), 9)
	posing.ID = "0900000000000000"
	s := settings()
	s.Runs = runsOf(kept, posing, last)
	_, of, _ := s.Runs.Run("e-3")
	_, to, _ := s.Runs.Run("e-1")
	_, body := ask(t, s, "GET", "/runs/"+of.Key)
	links := body[strings.Index(body, `id="h-links"`):]
	links = links[:strings.Index(links, "</section>")]
	if strings.Count(links, "<a ") != 1 || !strings.Contains(links, `<a href="`+to.Key+`">`) || strings.Count(links, "no longer stored") != 1 {
		t.Errorf("the links are %s", links)
	}
}

// TestLinkedRunsCost checks that the page of a run looks at the open runs a few times, not once for each link: it holds the tracker's lock
// meanwhile.
func TestLinkedRunsCost(t *testing.T) {
	allocated := func(open int) uint64 {
		s := crowded(0, open)
		last := runFrom(3, 4, 5)
		for i := range 200 {
			last.Links = append(last.Links, tracker.Link{Kind: "resumes", Root: tracker.SpanID{9, byte(i)}})
		}
		s.Runs.RunStarted(last)
		s.Runs.RunEnded(last)
		var before, after runtime.MemStats
		ask(t, s, "GET", "/runs/e-3") // compiles the page
		runtime.ReadMemStats(&before)
		ask(t, s, "GET", "/runs/e-3")
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if none, many := allocated(0), allocated(1_000); many > none+1<<20 {
		t.Errorf("the page takes %d bytes without open runs, %d with 1,000", none, many)
	}
}
