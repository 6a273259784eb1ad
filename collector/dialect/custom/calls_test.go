package custom_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsOfRuns checks that runs on one stream may use the same IDs and tools: what continues a withheld call of one run stays in, and
// what continues a call of another one leaves.
func TestCallsOfRuns(t *testing.T) {
	of := func(run, frame string) string { return strings.Replace(frame, "{", `{"run":"`+run+`",`, 1) }
	const (
		started  = `{"type":"tool_started","name":"pay","call":1}`
		hidden   = `{"type":"tool_started","name":"pay","call":1,"x":{"kind":"internal"}}`
		nameless = `{"type":"tool_started","name":"pay","x":{"kind":"internal"}}`
		unmapped = `{"type":"internal:tool","name":"pay","call":1}`
		ended    = `{"type":"tool_ended","name":"pay","call":1}`
		byName   = `{"type":"tool_ended","name":"pay"}`
		byID     = `{"type":"tool_ended","call":1}`
	)
	for _, c := range []struct {
		sent         []string
		leaves, only bool // the last frame, also if the stream has only one run
	}{
		{[]string{of("a", hidden), of("b", started), of("a", ended)}, false, true},
		{[]string{of("a", hidden), of("b", started), of("b", ended)}, true, true},
		{[]string{of("b", started), of("a", hidden), of("b", ended)}, true, false},
		{[]string{of("b", started), of("a", unmapped), of("a", ended)}, false, true},
		{[]string{of("b", started), of("a", unmapped), of("b", ended)}, true, true},
		{[]string{of("a", hidden), of("b", ended)}, true, false},
		{[]string{of("a", nameless), of("b", started), of("a", byName)}, false, true},
		{[]string{of("a", nameless), of("b", byName)}, true, false},
		{[]string{of("a", nameless), of("b", ended)}, true, false},
		{[]string{of("a", nameless), of("a", byID)}, false, false},
		{[]string{nameless, of("a", byID)}, false, false},
		{[]string{of("a", nameless), of("b", byID)}, true, false},
		{[]string{of("a", hidden), ended}, false, false},
		{[]string{hidden, of("a", ended)}, false, false},
		{[]string{hidden, of("a", started), of("a", ended)}, true, true},
		{[]string{started, of("a", hidden), of("a", ended)}, false, false},
	} {
		for isOnly, leaves := range map[bool]bool{false: c.leaves, true: c.only} {
			if why := reasonOfLast(mapping(), &event.Stream{SingleRun: isOnly}, c.sent...); (why == filter.Passed) != leaves {
				t.Errorf("%s, only one run %t: the last frame is withheld for %q", strings.Join(c.sent, "\n"), isOnly, why)
			}
		}
	}
}

// TestOtherPathsToCalls checks an internal frame of an unmapped type if results name calls by another path than starts.
func TestOtherPathsToCalls(t *testing.T) {
	m := custom.Mapping{Paths: map[string]string{"type": "type", "run": "run"}, Frames: map[string]custom.Frame{
		"call": {Means: "tool_started", Paths: map[string]string{"name": "tool", "call": "id"}}, "called": {Means: "tool_ended", Paths: map[string]string{"name": "tool", "call": "of"}},
	}}
	for result, leaves := range map[string]bool{`{"type":"called","tool":"pay","of":"1"}`: false, `{"type":"called","tool":"pay","of":"2"}`: true, `{"type":"called","tool":"pay"}`: false} {
		if why := reasonOfLast(m, &event.Stream{}, `{"type":"internal:call","tool":"pay","id":"1"}`, result); (why == filter.Passed) != leaves {
			t.Errorf("%s is withheld for %q", result, why)
		}
	}
}

// TestEndedRuns checks that no call is open after its run has ended without the result.
func TestEndedRuns(t *testing.T) {
	sent := []string{`{"type":"tool_started","run":"a","call":1}`, `{"type":"run_ended","run":"a"}`, `{"type":"internal","run":"a","call":1}`, `{"type":"tool_ended","run":"a","call":1}`}
	if why := reasonOfLast(mapping(), &event.Stream{}, sent...); why == filter.Passed {
		t.Error("the result of an internal call leaves because the call of an earlier run had its ID")
	}
}

// TestManyOpenCalls sends many runs without ends on one stream. The latest calls are known, also if their results have only IDs.
func TestManyOpenCalls(t *testing.T) {
	for name, result := range map[string]string{"results": `{"type":"tool_ended","run":%d,"call":1}`, "no results": `{"type":"text","run":%d,"text":"hi"}`} {
		var sent []string
		for run := range 1100 {
			sent = append(sent, fmt.Sprintf(`{"type":"tool_started","run":%d,"name":"f","call":1}`, run), fmt.Sprintf(result, run))
		}
		sent = append(sent, `{"type":"tool_started","run":"a","name":"f","call":1}`)
		asks := append(slices.Clone(sent), `{"type":"input_requested","run":"a","call":1}`)
		if all := factsOf(custom.New(mapping()), asks...); !strings.HasPrefix(all[len(all)-2], "tool_paused") {
			t.Errorf("with %s, a question pauses no call: %q", name, all[len(all)-2:])
		}
		sent = append(sent, `{"type":"internal","run":"a","call":1}`, `{"type":"tool_ended","run":"a","call":1}`)
		if why := reasonOfLast(mapping(), &event.Stream{}, sent...); why != filter.Passed {
			t.Errorf("with %s, the result of a call that left is withheld for %q", name, why)
		}
	}
}

// TestToolsOfEndedCalls checks that a tool has no open call once its call has ended by its ID.
func TestToolsOfEndedCalls(t *testing.T) {
	sent := []string{`{"type":"tool_started","name":"pay","call":1}`, `{"type":"tool_ended","call":1}`, `{"type":"internal","name":"pay"}`, `{"type":"tool_ended","name":"pay"}`}
	if why := reasonOfLast(mapping(), &event.Stream{}, sent...); why == filter.Passed {
		t.Error("the result of an internal call leaves")
	}
}

// TestToolsOfUnmappedFrames checks that an internal frame that names a tool is no call without a tool, although some types have no name.
func TestToolsOfUnmappedFrames(t *testing.T) {
	const progress = `{"type":"tool_progress","text":"shown"}`
	for _, c := range []struct {
		sent   []string
		leaves bool // the last frame
	}{
		{[]string{`{"type":"internal","name":"pay"}`, progress}, false},
		{[]string{`{"type":"internal","name":"pay"}`, `{"type":"tool_started","name":"pay"}`, progress}, true},
		{[]string{`{"type":"internal"}`, `{"type":"tool_started","name":"pay"}`, progress}, false},
	} {
		if why := reasonOfLast(mapping(), &event.Stream{}, c.sent...); (why == filter.Passed) != c.leaves {
			t.Errorf("%s: the last frame is withheld for %q", strings.Join(c.sent, "\n"), why)
		}
	}
}

// TestQuestionsOfCalls checks that a question pauses the call with its ID.
func TestQuestionsOfCalls(t *testing.T) {
	for _, c := range []struct {
		sent []string
		want string // facts of the last frame
	}{
		{[]string{`{"type":"tool_started","name":"f","call":"1"}`, `{"type":"input_requested","call":1}`}, `tool_paused call="1"; input_requested call="1" clarification`},
		{[]string{`{"type":"tool_started","name":"f","call":"1","kind":"internal"}`, `{"type":"input_requested","call":"1"}`}, `tool_paused call="1"; input_requested call="1" clarification`},
		{[]string{`{"type":"tool_started","name":"f","call":"1"}`, `{"type":"input_requested","call":"q"}`}, `input_requested call="q" clarification`},
		{[]string{`{"type":"tool_started","name":"f","call":"1"}`, `{"type":"input_requested"}`}, `input_requested clarification`},
		{[]string{`{"type":"tool_started","name":"f","call":"1"}`, `{"type":"tool_ended","call":"1"}`, `{"type":"input_requested","call":"1"}`}, `input_requested call="1" clarification`},
		{[]string{`{"type":"tool_started","run":"a","name":"f","call":"1"}`, `{"type":"input_requested","run":"b","call":"1"}`}, `input_requested call="1" clarification`},
	} {
		before, all := factsOf(custom.New(mapping()), c.sent[:len(c.sent)-1]...), factsOf(custom.New(mapping()), c.sent...)
		if diff := cmp.Diff(c.want, strings.Join(all[len(before):], "; ")); diff != "" {
			t.Errorf("%s: the facts of the last frame differ (-want +got):\n%s", strings.Join(c.sent, "\n"), diff)
		}
	}
}

// TestKinds checks that a frame stays in if a setting excludes the fact that its type states, and that it otherwise counts as this fact.
func TestKinds(t *testing.T) {
	for name, kind := range map[string]event.Kind{
		"run_started": event.KindRunStarted, "run_ended": event.KindRunEnded, "run_failed": event.KindRunEnded,
		"agent_started": event.KindAgentStarted, "agent_ended": event.KindAgentEnded, "agent_failed": event.KindAgentEnded,
		"tool_started": event.KindToolStarted, "tool_progress": event.KindToolProgress, "tool_ended": event.KindToolEnded, "tool_failed": event.KindToolEnded,
		"transfer": event.KindTransfer, "thought": event.KindThought, "text": event.KindText, "text_delta": event.KindText, "answer": event.KindText,
		"model_ended": event.KindModelEnded, "confidence": event.KindConfidence, "input_requested": event.KindInputRequested, "input_answered": event.KindInputAnswered,
	} {
		data := fmt.Sprintf(`{"type":%q,"agent":"a","call":"c","target":"b","text":"hi","confidence":0.9}`, name)
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			all := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}
			if frame, why := filter.New(all).Apply(decode(custom.New(mapping()), "", data)); why != filter.Passed || frame.Kinds&(1<<kind) == 0 {
				t.Errorf("%s: %s is withheld for %q, or does not count as %s", policy, data, why, kind)
			}
			all.Exclude = []event.Kind{kind}
			if frame, why := filter.New(all).Apply(decode(custom.New(mapping()), "", data)); why == filter.Passed && (kind != event.KindText || strings.Contains(string(frame.Data), "hi")) {
				t.Errorf("%s without %s: %s leaves", policy, kind, frame.Data)
			}
		}
	}
}
