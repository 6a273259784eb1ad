package web

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// runFrom returns a completed run of the session s-1 between two seconds. A negative second is an unknown time.
func runFrom(id byte, from, to int) *tracker.Run {
	root := &tracker.Operation{ID: tracker.SpanID{id}, Kind: tracker.InvokeAgent, Name: "desk", Agent: "desk", Timing: tracker.TimingObserved}
	for _, end := range []struct {
		of      *tracker.Timestamp
		seconds int
	}{{&root.Started, from}, {&root.Ended, to}} {
		if *end.of = moment(end.seconds); end.seconds < 0 {
			*end.of, root.Timing = tracker.Timestamp{}, tracker.TimingUnknown
		}
	}
	return &tracker.Run{ID: fmt.Sprint("e-", id), Source: "support", Session: "s-1", Agent: "desk", Status: tracker.Completed, Root: root, Operations: []*tracker.Operation{root}}
}

// asking makes a run end while it waits for an input, requested at a second.
func asking(r *tracker.Run, kind event.InputKind, requested int) *tracker.Run {
	r.Status, r.Reason = tracker.Interrupted, tracker.ReasonAwaitingInput
	r.Inputs = append(r.Inputs, &tracker.InputRequest{Kind: kind, Status: tracker.InputOpen, Requested: moment(requested)})
	return r
}

// resuming links a run to an earlier one.
func resuming(r *tracker.Run, earlier byte) *tracker.Run {
	r.Links = append(r.Links, tracker.Link{Kind: "resumes", Root: tracker.SpanID{earlier}})
	return r
}

func failing(r *tracker.Run) *tracker.Run {
	r.Status, r.Reason, r.Root.ErrorCode = tracker.Failed, tracker.ReasonErrorFrame, "RESOURCE_EXHAUSTED"
	r.Operations = append(r.Operations, &tracker.Operation{Kind: tracker.ExecuteTool, Name: "search", Status: tracker.OperationError, ErrorCode: "NOT_FOUND"})
	return r
}

// sessionOf returns the page of the session s-1 with runs that ended in this order.
func sessionOf(t *testing.T, runs ...*tracker.Run) string {
	t.Helper()
	s := settings()
	s.Runs = runsOf(runs...)
	answer, body := ask(t, s, "GET", "/session?source=support&id=s-1")
	if answer.StatusCode != 200 {
		t.Fatalf("%s: %.300s", answer.Status, body)
	}
	checkHeaders(t, answer)
	return body
}

var clock = regexp.MustCompile(` \d\d:\d\d:\d\d`)

// bars returns the rows of the time axis: each with its name, place and duration.
func bars(body string) (rows []string) {
	_, axis, _ := strings.Cut(body, `<table class="waterfall"`)
	axis, _, _ = strings.Cut(axis, "</table>")
	for row := range strings.SplitSeq(axis, `<tr role="row" id=`) {
		if !strings.Contains(row, "<td") {
			continue
		}
		place := regexp.MustCompile(`<(?:rect|circle) class="([^"]*)" c?x="([^"]*)"(?: y="8" width="([^"]*)")?`).FindStringSubmatch(row)
		if place == nil {
			place = []string{"", "no place", "", ""}
		}
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(strings.TrimSuffix("<"+row, "\n"), " "))
		rows = append(rows, clock.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")+" | "+strings.TrimSpace(strings.Join(place[1:], " ")))
	}
	return rows
}

// TestSessionAxis checks the place of each run, and that a time between two runs is shown only if it is known that no run was open.
func TestSessionAxis(t *testing.T) {
	for name, c := range map[string]struct {
		runs []*tracker.Run
		want []string
	}{
		"one": {[]*tracker.Run{runFrom(1, 0, 10)}, []string{"desk completed at 0 s 10.0 s | agent 0.00% 100.00%"}},
		"after a completed run": {[]*tracker.Run{runFrom(1, 0, 10), runFrom(2, 15, 20)}, []string{
			"desk completed at 0 s 10.0 s | agent 0.00% 50.00%", "no run at 10.0 s 5.00 s | gap 50.00% 25.00%", "desk completed at 15.0 s 5.00 s | agent 75.00% 25.00%",
		}},
		"after a run that asked": {[]*tracker.Run{asking(runFrom(1, 0, 10), event.InputConfirmation, 9), runFrom(2, 15, 20)}, []string{
			"desk interrupted at 0 s 10.0 s | agent paused 0.00% 50.00%", "waits for a confirmation at 10.0 s 5.00 s | wait 50.00% 25.00%", "desk completed at 15.0 s 5.00 s | agent 75.00% 25.00%",
		}},
		"after a failed run": {[]*tracker.Run{failing(runFrom(1, 0, 10)), runFrom(2, 15, 20)}, []string{
			"desk failed at 0 s 10.0 s | agent failed 0.00% 50.00%", "no run at 10.0 s 5.00 s | gap 50.00% 25.00%", "desk completed at 15.0 s 5.00 s | agent 75.00% 25.00%",
		}},
		"at the same time": {[]*tracker.Run{runFrom(2, 5, 8), runFrom(1, 0, 10), runFrom(3, 10, 20)}, []string{
			"desk completed at 0 s 10.0 s | agent 0.00% 50.00%", "desk completed at 5.00 s 3.00 s | agent 25.00% 15.00%", "desk completed at 10.0 s 10.0 s | agent 50.00% 50.00%",
		}},
		"around a run that started at an unknown time": {[]*tracker.Run{runFrom(1, 0, 5), runFrom(2, -1, 10), runFrom(3, 15, 20)}, []string{
			"desk completed at 0 s 5.00 s | agent 0.00% 25.00%", "desk completed at an unknown time ? unknown | agent unknown 50.00%", "desk completed at 15.0 s 5.00 s | agent 75.00% 25.00%",
		}},
		"long after a run that started at an unknown time": {[]*tracker.Run{runFrom(1, -1, 5), runFrom(2, 10, 15), runFrom(3, 18, 25)}, []string{
			"desk completed at an unknown time ? unknown | agent unknown 0.00%", "desk completed at 5.00 s 5.00 s | agent 25.00% 25.00%",
			"no run at 10.0 s 3.00 s | gap 50.00% 15.00%", "desk completed at 13.0 s 7.00 s | agent 65.00% 35.00%",
		}},
		"around a run without times": {[]*tracker.Run{runFrom(1, 0, 5), runFrom(2, -1, -1), runFrom(3, 15, 20)}, []string{
			"desk completed at 0 s 5.00 s | agent 0.00% 25.00%", "desk completed at an unknown time ? unknown | no place", "desk completed at 15.0 s 5.00 s | agent 75.00% 25.00%",
		}},
		"without times": {[]*tracker.Run{runFrom(1, -1, -1)}, []string{"desk completed at an unknown time ? unknown | no place"}},
		"a moment":      {[]*tracker.Run{runFrom(1, 3, 3)}, []string{"desk completed at 0 s 0 s | agent 0.00%"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := bars(sessionOf(t, c.runs...)); !slices.Equal(got, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestSessionAxisOfFullStore checks that a time after which an evicted run may have ended is not called a time without a run.
func TestSessionAxisOfFullStore(t *testing.T) {
	s := settings()
	s.Runs = recent.New(2, 1<<20)
	for _, r := range []*tracker.Run{failing(runFrom(1, 0, 5)), runFrom(2, 6, 7), runFrom(3, 15, 20)} {
		s.Runs.RunEnded(r)
	}
	_, body := ask(t, s, "GET", "/session?source=support&id=s-1")
	if rows := bars(body); len(rows) != 3 || !strings.HasPrefix(rows[1], "no kept run at 5.00 s 10.0 s") {
		t.Errorf("%q", rows)
	}
	if want := "1 ended run of all sessions was removed to make room. Runs of this session may be among them."; !strings.Contains(body, want) {
		t.Errorf("no %s in %s", want, body)
	}
}

// TestSessionPage checks what the page says about each run and about all of them.
func TestSessionPage(t *testing.T) {
	asked := asking(asking(runFrom(1, 0, 10), event.InputConfirmation, 9), event.InputTool, 10)
	asked.Usage.Input = event.Count{N: 1200, Known: true}
	answered := resuming(runFrom(2, 15, 20), 1)
	answered.Inputs = []*tracker.InputRequest{
		{Kind: event.InputCredential, Status: tracker.InputAnswered, Requested: moment(16), Answered: moment(18)}, {Kind: event.InputData, Status: tracker.InputAnswered},
		{Kind: event.InputSelection, Status: tracker.InputExpired, Requested: moment(16)}, {Kind: event.InputData, Status: tracker.InputOpen, Requested: moment(17)},
	}
	lost := resuming(failing(runFrom(3, 20, 21)), 9)
	waits := asking(runFrom(4, 22, 23), event.InputClarification, 22)
	body := sessionOf(t, asked, answered, lost, waits)
	text := strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))), " ")
	for _, want := range []string{
		"4 runs in 23.0 s: 1 completed, 1 failed, 2 interrupted .", "Source support", "Agent desk", "First start 2026-01-02 12:00:00", "Last end 2026-01-02 12:00:23",
		"Tokens in / out 1 200 / – stated by 1 / 0 of 4 runs", "Failed runs 1",
		"confirmation: open at the end; resumed by the run of 12:00:15 , 6.00 s after the request", "tool: open at the end; resumed by the run of 12:00:15 , 5.00 s after the request",
		"run e-2 resumes the run of 12:00:00", "desk 12:00:15 completed", "credential: answered after 2.00 s", "data: answered selection: expired data: open at the end",
		"resumes a run that is not kept", "the agent sent an error: RESOURCE_EXHAUSTED tool search : NOT_FOUND", "clarification: open, and no kept run resumed this one",
	} {
		want = strings.ReplaceAll(strings.ReplaceAll(want, " .", "."), " ,", ",")
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, " .", "."), " ,", ","), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "removed") || strings.Contains(text, "unknown") {
		t.Errorf("an eviction or an unknown time in %s", text)
	}
}

// TestOpenSession checks a session with an open run, which lasts until now and whose request for input is open.
func TestOpenSession(t *testing.T) {
	s := crowded(1, 1)
	s.Runs.RunEnded(runFrom(1, 0, 10))
	if answer, body := ask(t, s, "GET", "/session?source=support&id=s-1"); answer.StatusCode != 200 || strings.Contains(body, "running") {
		t.Errorf("a run without a session is part of one: %s", body)
	}
	line := newWait(tracker.InputRequest{Kind: event.InputData, Status: tracker.InputOpen, Requested: moment(2)}, recent.SessionRun{Summary: recent.Summary{Status: tracker.Running}}, nil, nil, noon.Add(5*time.Second))
	if line.Text != "open for 3.00 s" {
		t.Errorf("it is %q", line.Text)
	}
	running := recent.SessionRun{Summary: recent.Summary{Status: tracker.Running, Started: noon, Key: "k"}}
	axis := newSessionAxis(recent.Session{Runs: []recent.SessionRun{running}}, noon.Add(5*time.Second))
	if len(axis.Bars) != 1 || axis.Bars[0].Class != "agent open" || axis.Bars[0].Took != "5.00 s" || axis.Took != "5.00 s" {
		t.Errorf("%+v", axis)
	}
}

// TestNoSession requests sessions that do not exist, and addresses that are wrong.
func TestNoSession(t *testing.T) {
	for query, status := range map[string]int{
		"source=support&id=none": 404, "source=other&id=s-1": 404, "id=s-1": 404, "source=support&id=": 404, "": 404,
		"source=support&id=s-1&id=s-2": 400, "session=s-1": 400, "id=%zz": 400,
	} {
		s := settings()
		s.Runs = runsOf(runFrom(1, 0, 1))
		answer, body := ask(t, s, "GET", "/session?"+query)
		if answer.StatusCode != status || status == 404 && !strings.Contains(body, "No open or stored run belongs to this session.") {
			t.Errorf("%s: %s %s", query, answer.Status, body)
		}
		checkHeaders(t, answer)
	}
}

// TestLongSession checks that the page of a session is bounded and says what it leaves out.
func TestLongSession(t *testing.T) {
	s := settings()
	s.Runs = recent.New(1000, 1<<30)
	for i := range 1000 {
		r := runFrom(byte(i), 10*i, 10*i+5)
		for range 100 {
			asking(r, event.InputData, 10*i)
		}
		s.Runs.RunEnded(r)
	}
	_, body := ask(t, s, "GET", "/session?source=support&id=s-1")
	if !strings.Contains(body, "The latest 200 runs are shown. The numbers above count 800 older runs, too.") || !strings.Contains(body, "<li>80 more</li>") {
		t.Error("the page does not say what it leaves out")
	}
	if rows := strings.Count(body, `<tr role="row" id="run-`); rows != 200 || len(body) > 2<<20 {
		t.Errorf("the page has %d rows and %d bytes", rows, len(body))
	}
}

// TestHostileSession follows the link of a run with a hostile session id to its session, and checks that the page shows the id as text.
func TestHostileSession(t *testing.T) {
	for name, c := range hostile {
		if len(c.sent) > 1<<10 {
			continue // the tracker cuts names, and a URL cannot be so long
		}
		t.Run(name, func(t *testing.T) {
			s := settings()
			s.Runs = runsOf(run(c.sent), run(c.sent))
			_, body := ask(t, s, "GET", "/runs/"+s.Runs.Page(recent.Query{}, false).Runs[0].Key)
			link := regexp.MustCompile(`href="\.\./(session[^"]*)"`).FindStringSubmatch(body)
			if link == nil {
				t.Fatalf("no link to the session in %s", body)
			}
			target := html.UnescapeString(link[1])
			if u, err := url.Parse(target); err != nil || u.Query().Get("id") != c.sent || u.Query().Get("source") != c.sent {
				t.Fatalf("the link %q is to %q, %v", target, u, err)
			}
			answer, body := ask(t, s, "GET", "/"+target)
			if answer.StatusCode != 200 || strings.Count(body, `<tr role="row" id="run-`) != 2 {
				t.Errorf("%s: %s", answer.Status, body)
			}
			shown := html.EscapeString(oneLine(c.sent))
			if name == "blank" {
				shown = "–"
			}
			if got := html.UnescapeString(body); !strings.Contains(got, "<h1>Session <bdi>"+html.UnescapeString(shown)+"</bdi>") || strings.ContainsAny(body, "\x00\x07\x1b\x7f\u202e\u2066") {
				t.Errorf("the page says %.2000q", body)
			}
			if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || strings.Contains(body, "<b onmouseover") {
				t.Errorf("markup of a name in %s", body)
			}
		})
	}
}

// TestSessionFailures checks that a session names a failed operation as the list of runs does.
func TestSessionFailures(t *testing.T) {
	r := failing(runFrom(1, 0, 5))
	r.Operations = append(r.Operations,
		&tracker.Operation{Kind: tracker.ExecuteTool, Name: "writer", AgentTool: true, Status: tracker.OperationError, ErrorCode: "INTERNAL"},
		&tracker.Operation{Kind: tracker.Chat, Agent: "desk", Status: tracker.OperationError, ErrorCode: "SAFETY"})
	body := sessionOf(t, r)
	for _, want := range []string{
		`<i class="kind tool"></i>tool <bdi>search</bdi>: <bdi>NOT_FOUND</bdi>`,
		`<i class="kind agent"></i>agent <bdi>writer</bdi>: <bdi>INTERNAL</bdi>`,
		`<i class="kind agent"></i>agent <bdi>desk</bdi>: <bdi>SAFETY</bdi>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("without %s:\n%s", want, body)
		}
	}
}
