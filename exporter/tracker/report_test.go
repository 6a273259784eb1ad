package tracker_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// spanIDs matches span ids, which a report numbers in the order of the operations.
var spanIDs = regexp.MustCompile(`"[0-9a-f]{16}"`)

// printReport returns a run's report, one field on each line, with numbered ids.
func printReport(t *testing.T, r *tracker.Run) string {
	t.Helper()
	out, err := r.Report().JSON()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	numbered := spanIDs.ReplaceAllStringFunc(string(out), func(id string) string {
		if !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
		return `"` + string(rune('A'+slices.Index(seen, id))) + `"`
	})
	return regexp.MustCompile(`(,)("[a-z_]+":[\[{]|\{"id")`).ReplaceAllString(numbered, "$1\n$2")
}

// TestReportOfALink checks that a link to a run without an ID has the ID of that run's first operation.
func TestReportOfALink(t *testing.T) {
	s, asking, answering := watch(), proxied(), answerStream("q1")
	s.feed(asking, says("app", asks("q1", event.InputTool))).end(asking, event.EndOfStream)
	s.feed(answering, says("app", final)).end(answering, event.EndOfStream)
	links, asked := s.runs[1].Report().Links, s.runs[0].Report().Operations[0].ID
	if len(links) != 1 || links[0] != (tracker.LinkReport{Kind: "resumes", Operation: asked}) {
		t.Errorf("links %+v, want one to the operation %s", links, asked)
	}
}

// TestReportOfNothing checks that every key is present: lists are empty and never null, and unknown
// values are null and never 0.
func TestReportOfNothing(t *testing.T) {
	equal(t, printReport(t, follow(t, &event.Stream{Source: "stdin"}, says("", undated))), `
{"run":null,"dialect":"","source":"stdin","session":null,"app":null,"agent":null,"status":"incomplete","status_reason":"stream_ended","error":null,"started":null,"ended":null,
"operations":[{"id":"A","parent":null,"kind":"invoke_agent","name":null,"agent":null,"status":"unfinished","error":null,"failure":null,"started":null,"ended":null,"timing":"unknown","duration_seconds":null,"duration_timing":"unknown"}],
"transfers":[],
"confidence":[],
"citations":[],
"reasoning":[],
"thoughts":[],
"inputs":[],
"artifacts":[],
"links":[],"plan":null,
"state":[],
"usage":{"input_tokens":null,"output_tokens":null},"events":1,"internal_events":0,"parse_errors":0}`)
}

// TestReport checks the report of a run with every kind of fact.
func TestReport(t *testing.T) {
	artifact := func(name string, a event.Artifact) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindArtifact)
			e.Name, e.Artifact = name, a
		}
	}
	cites := func(c event.Citation) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindCitation)
			e.Name, e.Citation = "a", c
		}
	}
	reasons := func(b *event.Batch) {
		e := b.Add(event.KindReasoning)
		e.Name, e.Steps = "a", 3
	}
	plans := func(b *event.Batch) { b.Add(event.KindPlan).Plan = event.Plan{Pending: 1, Completed: 2} }
	shows := func(b *event.Batch) {
		b.Add(event.KindState).SetState(event.State{Keys: []string{"query", "results"}, Bytes: event.Count{N: 40, Known: true}})
	}
	uses := func(b *event.Batch) {
		b.Events[len(b.Events)-1].Usage = event.Usage{Input: event.Count{N: 1810, Known: true}, Output: event.Count{Known: true}}
	}
	thinks := func(id string) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindThought)
			e.ID, e.ThoughtType = id, "planning"
		}
	}
	progresses := func(b *event.Batch) {
		e := b.Add(event.KindToolProgress)
		e.CallID, e.Progress = "c1", event.Progress{Value: 0.5, Known: true}
	}
	asksModel := func(b *event.Batch) {
		count := func(n int64) event.Count { return event.Count{N: n, Known: true} }
		e := b.Add(event.KindIteration)
		e.CallsModel, e.Model, e.Loop = true, "n", event.Loop{Iteration: count(1), Messages: count(2), Tools: count(3)}
	}
	s, asking, stream := watch(), proxied(), answerStream("q0")
	s.feed(asking, says("app", of("e-0"), asks("q0", event.InputTool))).end(asking, event.EndOfStream)
	s.feed(stream,
		says("app", of("e-1"), asksModel, responds("m"), uses, calls("c1", "transfer_to_agent"), callsOutside("", "ask")),
		says("app", progresses, returns("c1", "transfer_to_agent"), handsOver("c1", "a"), internal),
		says("a", plans, shows, asks("q1", event.InputConfirmation), returns("c2", "tool"), wrong(event.ToolError), coded("E_BUSY")),
		says("a", answers("q1"), thinks("1"), thinks("1"), thinks("2"), text, rates("a", 0.92, overall), rates("a", 0, inWords, func(e *event.Event) { e.Confidence.Scope = "timber" }),
			cites(event.Citation{Source: "MTBS", Reference: "2022-09-15", URI: "https://example.org/"}), cites(event.Citation{Source: "36 CFR 220.6"}), reasons,
			artifact("report.txt", event.Artifact{Kind: event.ArtifactFile, Complete: true}),
			artifact("data", event.Artifact{Kind: event.ArtifactData, Bytes: event.Count{N: 123, Known: true}}), final),
		says("", unreadable),
	).end(stream, event.EndOfStream)
	equal(t, printReport(t, s.runs[1]), `
{"run":"e-1","dialect":"adk","source":"briefing","session":"session","app":"app","agent":"app","status":"interrupted","status_reason":"awaiting_input","error":null,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:11Z",
"operations":[{"id":"A","parent":null,"kind":"invoke_agent","name":"app","agent":"app","status":"interrupted","error":null,"failure":null,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:11Z","timing":"observed","duration_seconds":6,"duration_timing":"observed","iteration":1,"messages":2,"tools":3},
{"id":"B","parent":"A","kind":"chat","name":"m","agent":"app","status":"ok","error":null,"failure":null,"started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z","timing":"observed","duration_seconds":1,"duration_timing":"observed","iteration":1,"messages":2,"tools":3,"request_model":"n"},
{"id":"C","parent":"A","kind":"execute_tool","name":"transfer_to_agent","agent":"app","status":"ok","error":null,"failure":null,"started":"2026-01-02T03:04:06Z","ended":"2026-01-02T03:04:07Z","timing":"observed","duration_seconds":1,"duration_timing":"observed","progress":0.5},
{"id":"D","parent":"A","kind":"execute_tool","name":"ask","agent":"app","status":"interrupted","error":null,"failure":null,"started":"2026-01-02T03:04:06Z","ended":null,"timing":"unknown","duration_seconds":null,"duration_timing":"unknown"},
{"id":"E","parent":"A","kind":"invoke_agent","name":"a","agent":"a","status":"ok","error":null,"failure":null,"started":"2026-01-02T03:04:07Z","ended":"2026-01-02T03:04:09Z","timing":"observed","duration_seconds":2,"duration_timing":"observed"},
{"id":"F","parent":"E","kind":"execute_tool","name":"tool","agent":"a","status":"error","error":"E_BUSY","failure":"tool_error","started":null,"ended":"2026-01-02T03:04:08Z","timing":"unknown","duration_seconds":null,"duration_timing":"unknown"}],
"transfers":[{"from":"app","to":"a","event":"event of a"}],
"confidence":[{"agent":"a","value":0.92,"scope":"","label":"","origin":"text","overall":true},{"agent":"a","value":null,"scope":"timber","label":"high","origin":"text","overall":false}],
"citations":[{"agent":"a","source":"MTBS","reference":"2022-09-15","uri":"https://example.org/"},{"agent":"a","source":"36 CFR 220.6","reference":null,"uri":null}],
"reasoning":[{"agent":"a","steps":3}],
"thoughts":[{"agent":"a","type":"planning","count":2}],
"inputs":[{"id":null,"kind":"tool","status":"open","wait_seconds":null},
{"id":"q1","kind":"confirmation","status":"answered","wait_seconds":1}],
"artifacts":[{"name":"report.txt","kind":"file","bytes":null,"complete":true},{"name":"data","kind":"data","bytes":123,"complete":false}],
"links":[{"kind":"resumes","run":"e-0","operation":"G"}],
"plan":{"pending":1,"in_progress":0,"completed":2,"canceled":0},
"state":[{"agent":"a","operation":"E",
"keys":["query","results"],"bytes":40}],
"usage":{"input_tokens":1810,"output_tokens":0},"events":4,"internal_events":1,"parse_errors":1}`)
}

// TestReportTimes checks that times are in UTC, with nanoseconds.
func TestReportTimes(t *testing.T) {
	at := second(1).Add(123456789).In(time.FixedZone("", 3600))
	r := follow(t, file(), says("a", func(b *event.Batch) { b.Time = at }))
	if got := *r.Report().Started; got != "2026-01-02T03:04:06.123456789Z" {
		t.Error(got)
	}
}

// TestReportOfARunningRun checks that the report of a running run can be parsed again.
func TestReportOfARunningRun(t *testing.T) {
	s := watch()
	var reports []tracker.Report
	s.Tracker = tracker.New(tracker.Settings{MaxOpenRuns: 1, MaxOperations: 10, MaxFacts: 10, IdleTimeout: 1}, s, startObserver(func(r *tracker.Run) {
		reports = append(reports, r.Report())
	}))
	s.Open(proxied())
	if len(reports) != 1 || reports[0].Status != tracker.Running || len(reports[0].Operations) != 1 {
		t.Fatalf("%+v", reports)
	}
	line, err := reports[0].JSON()
	if err != nil || strings.Contains(string(line), "\n") {
		t.Fatalf("%s, %v", line, err)
	}
	var back tracker.Report
	if err := json.Unmarshal(line, &back); err != nil || !reflect.DeepEqual(back, reports[0]) {
		t.Errorf("%+v, %v", back, err)
	}
}

// startObserver is called for runs that begin.
type startObserver func(*tracker.Run)

func (f startObserver) RunStarted(r *tracker.Run)                     { f(r) }
func (startObserver) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (startObserver) RunEnded(*tracker.Run)                           {}
