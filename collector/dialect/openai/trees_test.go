package openai_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// lastRun is an observer that keeps the last run that has ended.
type lastRun struct{ run *tracker.Run }

func (*lastRun) RunStarted(*tracker.Run)                         {}
func (*lastRun) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (l *lastRun) RunEnded(r *tracker.Run)                       { l.run = r }

func (*lastRun) CountEvicted(string)   {}
func (*lastRun) CountExpired(string)   {}
func (*lastRun) CountLateFrame(string) {}

// treeOf returns the tree of the run that a stream shows, with the frames at which operations begin and end. "?" marks an unknown timing. The
// request is frame 0.
func treeOf(t *testing.T, sent ...string) string {
	t.Helper()
	n, zero := 0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	s := &event.Stream{Source: "s", Nonce: "n", Live: true, SingleRun: true, OpenedAt: zero}
	d := c.Decode(s, collector.Input{Reader: strings.NewReader(stream(sent...)), ReceivedAt: func() time.Time {
		n++
		return zero.Add(time.Duration(n) * time.Second)
	}}, "openai")
	last := &lastRun{}
	tr := tracker.New(tracker.Settings{MaxOpenRuns: 1, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}, last, last)
	tr.Open(s)
	for b, err := d.Next(); err == nil; b, err = d.Next() {
		tr.Consume(b)
	}
	tr.Close(s, event.EndOfStream, zero.Add(time.Duration(n+1)*time.Second))
	var out strings.Builder
	out.WriteString(string(last.run.Status))
	addBelow(&out, last.run, tracker.SpanID{}, "\n", zero)
	return out.String()
}

func addBelow(out *strings.Builder, r *tracker.Run, parent tracker.SpanID, indent string, zero time.Time) {
	for _, op := range r.Operations {
		if op.Parent != parent {
			continue
		}
		mark := ""
		if op.Timing == tracker.TimingUnknown {
			mark = "?"
		}
		fmt.Fprintf(out, "%s%s %s %s %.0f-%.0f%s", indent, op.Kind, op.Name, op.Status, op.Started.At.Sub(zero).Seconds(), op.Ended.At.Sub(zero).Seconds(), mark)
		addBelow(out, r, op.ID, indent+"  ", zero)
	}
}

// answerJS returns an answer of a model without calls, and the item that names its agent, as the SDK for JavaScript sends them.
func answerJS(agent, id string) []string {
	item := `{"type":"message","id":"i` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + id + `"}]}`
	return []string{
		strings.Replace(started, `"id":"r"`, `"id":"`+id+`"`, 1),
		doneOf(id, item),
		strings.NewReplacer(`"id":"i"`, `"id":"i`+id+`"`, `"A"`, `"`+agent+`"`).Replace(message),
	}
}

// callJS is answerJS for an answer with a call, and the result of the call.
func callJS(agent, id string) []string {
	of := strings.NewReplacer(`"id":"f"`, `"id":"f`+id+`"`, `"A"`, `"`+agent+`"`)
	return []string{
		strings.Replace(started, `"id":"r"`, `"id":"`+id+`"`, 1),
		doneOf(id, `{"type":"function_call","id":"f`+id+`","callId":"c","name":"w","arguments":"{}"}`), of.Replace(called), of.Replace(output),
	}
}

// itemJS returns an item of agent A.
func itemJS(name, kind, raw string) string {
	return `{"type":"run_item_stream_event","name":"` + name + `","item":{"type":"` + kind + `","rawItem":` + raw + `,"agent":{"name":"A"}}}`
}

func doneOf(id, item string) string { return outlineEnd(id, `"inputTokens":5,"outputTokens":2`, item) }

// TestTreesOfSeveralRuns shows several runs of the Agents SDK on one stream. The SDK for JavaScript does not announce their first agents.
func TestTreesOfSeveralRuns(t *testing.T) {
	const (
		thought = `{"type":"reasoning","id":"t","content":[{"type":"input_text","text":"x"}]}`
		said    = `{"type":"message","id":"ip","role":"assistant","content":[{"type":"output_text","text":"p"}]}`
	)
	for name, c := range map[string]struct {
		sent [][]string
		want string
	}{
		"one run": {[][]string{callJS("A", "r"), answerJS("A", "p")}, `
completed
invoke_agent A ok 0-9
  chat m ok 0-2
  execute_tool w ok 3-4
  chat m ok 4-6`},
		"one after the other": {[][]string{answerJS("A", "r"), answerJS("B", "p")}, `
completed
invoke_workflow  ok 0-8
  invoke_agent A ok 0-3
    chat m ok 0-2
  invoke_agent B ok 3-6
    chat m ok 3-5`},
		"rounds": {[][]string{answerJS("A", "r"), answerJS("B", "p"), answerJS("A", "q"), answerJS("B", "s")}, `
completed
invoke_workflow  ok 0-14
  invoke_agent A ok 0-3
    chat m ok 0-2
  invoke_agent B ok 3-6
    chat m ok 3-5
  invoke_agent A ok 6-9
    chat m ok 6-8
  invoke_agent B ok 9-12
    chat m ok 9-11`},
		"an agent in a call": {[][]string{callJS("A", "r")[:3], answerJS("B", "p"), callJS("A", "r")[3:], answerJS("A", "q")}, `
completed
invoke_agent A ok 0-12
  chat m ok 0-2
  execute_tool w ok 3-7
    invoke_agent B ok 3-6
      chat m ok 3-5
  chat m ok 7-9`},
		"a thought before the answer": {[][]string{answerJS("A", "r"), {answerJS("A", "p")[0], doneOf("p", thought+`,`+said), itemJS("reasoning_item_created", "reasoning_item", thought), itemJS("message_output_created", "message_output_item", said)}}, `
completed
invoke_workflow  ok 0-9
  invoke_agent A ok 0-3
    chat m ok 0-2
  invoke_agent A ok 3-7
    chat m ok 3-5`},
		"a handoff beside another run": {[][]string{answerJS("D", "p"), answerJS("E", "q"), {agentA, asksB, toB, agentB}, callJS("B", "r"), answerJS("F", "s")}, `
completed
invoke_workflow  ok 0-19
  invoke_agent D ok 0-3
    chat m ok 0-2
  invoke_agent E ok 3-6
    chat m ok 3-5
  invoke_agent A ok 7-14
    execute_tool transfer_to_B ok 8-9
    invoke_agent B ok 9-14
      chat m ok 10-12?
      execute_tool w ok 13-14
  invoke_agent F ok 14-17?
    chat m ok 14-16?`},
		"the first one never answers": {[][]string{callJS("A", "r"), answerJS("B", "p"), answerJS("D", "q")}, `
completed
invoke_workflow  ok 0-12
  invoke_agent A ok 0-4
    chat m ok 0-2
    execute_tool w ok 3-4
  invoke_agent B ok 4-7?
    chat m ok 4-6?
  invoke_agent D ok 7-10?
    chat m ok 7-9?`},
	} {
		var all []string
		for _, some := range c.sent {
			all = append(all, some...)
		}
		all = append(all, "[DONE]")
		if diff := cmp.Diff(strings.TrimSpace(c.want), treeOf(t, all...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		checkTruth(t, name, stream(all...))
	}
}

// TestPiecesBesideAgents shows a piece of a text while another agent waits for its model. It stays in if only that agent may be shown.
func TestPiecesBesideAgents(t *testing.T) {
	onlyA := filter.Settings{Policy: event.PolicyClient, Authors: []string{"A"}}
	secret := strings.NewReplacer(`"A"`, `"B"`, `"i"`, `"ip"`)
	for _, b := range [][]string{
		{answerJS("B", "p")[0], secret.Replace(piece)},
		{answerJS("B", "p")[0], ofModel(createdJS("p")), secret.Replace(piece), secret.Replace(ofModel(added)), secret.Replace(ofModel(delta))},
	} {
		checkStaysIn(t, []filter.Settings{onlyA}, append(callJS("A", "r"), b...)...)
	}
}
