package recent_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// timedRun returns a completed run with a start and a duration in seconds. A negative duration leaves the end unknown.
func timedRun(id string, started, seconds int) *tracker.Run {
	run := endedRun(id)
	run.Status = tracker.Completed
	run.Root.Started.At = time.Unix(int64(started), 0)
	if seconds >= 0 {
		run.Root.Ended.At = time.Unix(int64(started+seconds), 0)
	}
	return run
}

// TestSorted pages through the list in each order with each page size, and checks the order and that each run appears once.
func TestSorted(t *testing.T) {
	r := recent.New(100, 1<<20)
	follow(t, r, 3) // they start at 0, 1 and 2 s
	for _, c := range []struct {
		id                       string
		started, seconds, tokens int
	}{
		{"a", 3, 9, 7}, {"b", 1, 9, -1}, {"c", 2, -1, 0}, {"d", -5, 30, 7}, {"e", 4, 0, 100},
	} {
		run := timedRun(c.id, c.started, c.seconds)
		if c.tokens >= 0 {
			run.Usage.Output = event.Count{N: int64(c.tokens), Known: true}
		}
		r.RunEnded(run)
	}
	untimed := endedRun("f")
	untimed.Status = tracker.Completed
	r.RunEnded(untimed)
	for by, want := range map[recent.Sort]string{
		recent.SortDefault:  "e-2 e-1 e-0 f e d c b a",
		recent.SortStarted:  "e a c e-2 b e-1 e-0 d f",
		recent.SortDuration: "e-2 e-1 e-0 d b a e f c",
		recent.SortTokens:   "e-2 e-1 e-0 e d a c f b",
	} {
		for limit := range 10 {
			var got []string
			for q := (recent.Query{Sort: by, Limit: limit}); ; {
				page := r.Page(q, limit%2 == 0)
				for i, s := range page.Runs {
					if got = append(got, s.Run); page.Whole != nil && page.Whole[i].ID != s.Run {
						t.Errorf("%s: the full run of %s is %s", by, s.Run, page.Whole[i].ID)
					}
				}
				if page.Next == (recent.Cursor{}) {
					break
				}
				var err error
				if q.After, err = recent.ParseCursor(page.Next.String(), by); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("order %q, %d a page: %q; want %q", by, limit, got, want)
			}
		}
	}
}

// TestSortedWhileRunsEnd pages through the list while runs end, and checks that no run is missing.
func TestSortedWhileRunsEnd(t *testing.T) {
	for _, by := range append(recent.Sorts(), recent.SortDefault) {
		for seed := range uint64(20) {
			random := rand.New(rand.NewPCG(seed, 0))
			r := recent.New(100, 1<<20)
			e, streams := follow(t, r, 12)
			end := func() {
				i := random.IntN(len(streams))
				e.Close(streams[i], event.EndOfStream, time.Unix(100+random.Int64N(100), 0))
				streams = slices.Delete(streams, i, i+1)
			}
			for range 4 {
				end()
			}
			seen := map[string]bool{}
			for q := (recent.Query{Sort: by, Limit: 2}); ; {
				page := r.Page(q, false)
				for _, s := range page.Runs {
					seen[s.Run] = true
				}
				if q.After = page.Next; q.After == (recent.Cursor{}) {
					break
				}
				if len(streams) > 0 {
					end()
				}
			}
			if len(seen) != 12 {
				t.Errorf("order %q, seed %d: only %d of 12 runs", by, seed, len(seen))
			}
		}
	}
}

// TestSortedWhileStartsChange pages through the runs by their start while the starts of open runs become known or earlier, and
// unknown again at their end. It checks that no run is missing.
func TestSortedWhileStartsChange(t *testing.T) {
	r := recent.New(100, 1<<20)
	e, streams := follow(t, r, 0)
	for i := range 4 {
		s := &event.Stream{Source: "agent", Live: true, SingleRun: true, Nonce: fmt.Sprint(i)}
		streams = append(streams, s)
		e.Open(s)
		b := &event.Batch{Stream: s, Run: fmt.Sprint("e-", i), Agent: "agent", Events: []event.Event{{Kind: event.KindToolStarted, CallID: "c", Name: "search"}}}
		if i%2 == 1 {
			b.Received = time.Unix(50, 0)
		}
		e.Consume(b)
	}
	seen, at := map[string]bool{}, []int64{60, 20}
	for q := (recent.Query{Sort: recent.SortStarted, Limit: 1}); ; {
		page := r.Page(q, false)
		for _, s := range page.Runs {
			seen[s.Run] = true
		}
		if q.After = page.Next; q.After == (recent.Cursor{}) {
			break
		}
		for i, s := range streams {
			if len(at) > 0 {
				e.Consume(&event.Batch{Stream: s, Run: fmt.Sprint("e-", i), Agent: "agent", Received: time.Unix(at[0], 0)})
			} else {
				e.Close(s, event.EndOfStream, time.Time{})
			}
		}
		at = at[min(1, len(at)):]
	}
	if len(seen) != 4 {
		t.Errorf("only %d of 4 runs are listed", len(seen))
	}
}

// TestSearch finds open and ended runs by parts of names, by trace and span ids, and by their start.
func TestSearch(t *testing.T) {
	r := recent.New(100, 8<<20)
	follow(t, r, 2)
	ended := timedRun("Run-Ä", 60, 1)
	ended.Session, ended.Agent, ended.App, ended.Trace, ended.Root.ID = "conversation 7", "Coordinator", "Desk", [16]byte{0xab, 15: 1}, tracker.SpanID{0xcd}
	ended.Operations = append(ended.Operations, &tracker.Operation{ID: tracker.SpanID{7: 9}, Kind: tracker.ExecuteTool})
	r.RunEnded(ended)
	r.RunEnded(endedRun(strings.Repeat("a", 1<<20) + "end"))
	open := r.Page(recent.Query{Status: tracker.Running}, true).Whole
	trace, tool := hex.EncodeToString(open[0].Trace[:]), hex.EncodeToString(open[0].Operations[1].ID[:])
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	for _, c := range []struct {
		query recent.Query
		want  string
	}{
		{recent.Query{Text: "SATION"}, "Run-Ä"}, {recent.Query{Text: "run-ä"}, "Run-Ä"}, {recent.Query{Text: "coord"}, "Run-Ä"}, {recent.Query{Text: "desk"}, "Run-Ä"},
		{recent.Query{Text: "S-1"}, "e-1"}, {recent.Query{Text: "end"}, ""}, {recent.Query{Text: "nothing"}, ""},
		{recent.Query{Text: "AB000000000000000000000000000001"}, "Run-Ä"}, {recent.Query{Text: "cd00000000000000"}, "Run-Ä"}, {recent.Query{Text: "0000000000000009"}, "Run-Ä"},
		{recent.Query{Text: trace}, "e-1"}, {recent.Query{Text: tool}, "e-1"}, {recent.Query{Text: tool[:15]}, ""},
		{recent.Query{Text: strings.Repeat("0", 32)}, ""}, {recent.Query{Text: strings.Repeat("0", 16)}, ""},
		{recent.Query{From: at(1)}, "e-1 Run-Ä"}, {recent.Query{From: at(1), To: at(60)}, "e-1"}, {recent.Query{To: at(1)}, "e-0"}, {recent.Query{From: at(61)}, ""},
		{recent.Query{Text: "e-", Source: "agent", To: at(1)}, "e-0"},
	} {
		var got []string
		for _, s := range r.Page(c.query, false).Runs {
			got = append(got, s.Run)
		}
		if strings.Join(got, " ") != c.want || !c.query.Narrows() {
			t.Errorf("%+v: %.100q; want %q", c.query, got, c.want)
		}
	}
	if again := r.Page(recent.Query{Status: tracker.Running}, true).Whole; again[0].Trace != open[0].Trace {
		t.Error("the search changed the ids of an open run")
	}
}

// TestFirstFailure checks which operation counts as the first that failed.
func TestFirstFailure(t *testing.T) {
	op := func(kind tracker.OperationKind, name string, frame int) *tracker.Operation {
		return &tracker.Operation{
			ID: tracker.SpanID([]byte(name + "        ")), Parent: tracker.SpanID([]byte("outer   ")), Kind: kind, Name: name,
			Status: tracker.OperationError, Failure: event.ToolError, ErrorCode: "E_" + name, Ended: tracker.Timestamp{Frame: frame},
		}
	}
	within := func(op, parent *tracker.Operation) *tracker.Operation {
		op.Parent = parent.ID
		return op
	}
	outer := within(op(tracker.InvokeAgent, "outer", 5), &tracker.Operation{})
	step := &tracker.Operation{ID: tracker.SpanID{1}, Parent: outer.ID, Kind: tracker.InvokeNode, Ended: tracker.Timestamp{Frame: 5}}
	worker := op(tracker.ExecuteTool, "worker", 3)
	worker.AgentTool = true
	classed := op(tracker.ExecuteTool, "classed", 1)
	classed.ErrorCode = ""
	unnamed := op(tracker.Chat, "", 1)
	unnamed.Agent = "writer"
	for name, c := range map[string]struct {
		operations []*tracker.Operation
		want       string
	}{
		"none":                    {nil, ""},
		"the earlier":             {[]*tracker.Operation{outer, op(tracker.ExecuteTool, "late", 4), worker}, "invoke_agent worker: E_worker"},
		"a call before its agent": {[]*tracker.Operation{outer, op(tracker.ExecuteTool, "tool", 5), op(tracker.InvokeAgent, "inner", 5)}, "execute_tool tool: E_tool"},
		"the inner agent":         {[]*tracker.Operation{outer, op(tracker.InvokeAgent, "inner", 5)}, "invoke_agent inner: E_inner"},
		"the first of two agents": {[]*tracker.Operation{outer, op(tracker.InvokeAgent, "a", 5), op(tracker.InvokeAgent, "b", 5)}, "invoke_agent a: E_a"},
		"an agent in a step":      {[]*tracker.Operation{outer, step, within(op(tracker.InvokeAgent, "inner", 5), step)}, "invoke_agent inner: E_inner"},
		"the first of two calls":  {[]*tracker.Operation{op(tracker.ExecuteTool, "a", 5), op(tracker.ExecuteTool, "b", 5)}, "execute_tool a: E_a"},
		"the inner call":          {[]*tracker.Operation{op(tracker.ExecuteTool, "a", 5), op(tracker.ExecuteTool, "b", 5), within(op(tracker.ExecuteTool, "in a", 5), op(tracker.ExecuteTool, "a", 5))}, "execute_tool in a: E_in a"},
		"a class without a code":  {[]*tracker.Operation{classed}, "execute_tool classed: tool_error"},
		"an unknown model":        {[]*tracker.Operation{unnamed}, "invoke_agent writer: E_"},
	} {
		run := failedRun("f")
		run.Root.Status, run.Root.Failure = tracker.OperationError, event.AgentError
		run.Operations = append(run.Operations, c.operations...)
		r := recent.New(1, 1<<20)
		r.RunEnded(run)
		got := ""
		s := r.Page(recent.Query{}, false).Runs[0]
		if f := s.FirstFailure; f != nil {
			got = fmt.Sprintf("%s %s: %s", f.Kind, f.Name, f.Type)
		}
		if got != c.want || s.Code != "agent_error" {
			t.Errorf("%s: %q, want %q; the run's code is %q", name, got, c.want, s.Code)
		}
	}
}

// TestRunBySpan finds open and ended runs by the ids that a page of full runs shows for their traces and root spans.
func TestRunBySpan(t *testing.T) {
	r := recent.New(10, 1<<20)
	e, streams := follow(t, r, 2) // no operation has ended, so no id is final
	ended := timedRun("ended", 0, 1)
	ended.Trace, ended.Root.ID = [16]byte{1}, tracker.SpanID{2}
	r.RunEnded(ended)
	r.RunEnded(endedRun("without ids"))
	for _, run := range r.Page(recent.Query{}, true).Whole {
		for _, id := range []string{hex.EncodeToString(run.Trace[:]), hex.EncodeToString(run.Root.ID[:])} {
			got, _, known := r.Run(id)
			if want := strings.Trim(id, "0") != ""; known != want || known && got.ID != run.ID {
				t.Errorf("%s of %s: found is %t, %+v", id, run.ID, known, got)
			}
		}
	}
	open, summary, _ := r.Run("e-1")
	if keys := r.Keys([]tracker.SpanID{open.Root.ID, ended.Root.ID}); keys[open.Root.ID] != summary.Key || keys[ended.Root.ID] == "" {
		t.Errorf("the keys by root span are %v", keys)
	}
	if session, _ := r.Session("agent", "s-1", 10); session.Runs[0].Root != open.Root.ID {
		t.Errorf("in its session, the root span is %x", session.Runs[0].Root)
	}
	if _, _, known := r.Run(hex.EncodeToString(open.Operations[1].ID[:])); known {
		t.Error("a call finds its run")
	}
	e.Close(streams[1], event.EndOfStream, time.Unix(9, 0))
	if run, _, _ := r.Run(hex.EncodeToString(open.Root.ID[:])); run == nil || run.ID != "e-1" || run.Status == tracker.Running {
		t.Errorf("after its end: %+v", run)
	}
}
