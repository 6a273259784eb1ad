package filter_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// showsMore are frames with one fact that leave without it, because they repeat or complete others. An A2A result leaves as an artifact
// without parts.
var showsMore = []string{
	"a2a tool_started awaited", "a2a tool_ended results", "adk model_started event", "aisdk usage tool-input-start",
	"langgraph state values", "langgraph tool_ended values", "langgraph agent_ended updates", "langgraph usage messages/partial",
	"looopy model_started tool-call", "looopy model_ended content-complete", "looopy agent_ended task-status",
	"openai model_ended response.completed of items", "openai model_ended raw_response_event response.completed of items",
}

// TestExcludedFacts excludes each kind of fact from the recordings of all dialects. A frame that states nothing else stays in.
func TestExcludedFacts(t *testing.T) {
	files, err := filepath.Glob("../../../collector/dialect/*/testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	withheld := 0
	for _, file := range files {
		dialect := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if dialect == "custom" || dialect == "dialecttest" {
			continue // of configurations and of tests
		}
		wire, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		filters := map[event.Policy][]*filter.Filter{}
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			for _, kind := range event.Kinds() {
				filters[policy] = append(filters[policy], filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}))
			}
		}
		eachBatch(t, dialect, string(wire), func(b *event.Batch) {
			kind, isOnly := onlyKind(b)
			if !isOnly || slices.Contains(showsMore, dialect+" "+kind.String()+" "+b.Type) {
				return
			}
			for policy, of := range filters {
				if frame, why := of[kind].Apply(b); why == filter.Passed {
					t.Errorf("%s, %s without %s: %s leaves of %s", file, policy, kind, frame.Data, b.Frame.Data)
				}
				withheld++
			}
		})
	}
	if withheld == 0 {
		t.Error("the recordings have no frame with one fact")
	}
}

// onlyKind returns the kind of the facts that a frame states, if there is one. Text counts in the tests of words.
func onlyKind(b *event.Batch) (kind event.Kind, isOnly bool) {
	for i := range b.Events {
		switch k := b.Events[i].Kind; {
		case k == event.KindOther || k == kind:
		case kind != event.KindOther || k == event.KindText || k == event.KindThought:
			return k, false
		default:
			kind = k
		}
	}
	return kind, kind != event.KindOther
}

// TestInterruptedRuns checks that the end of a run does not say that the run waits for input if a setting excludes that.
func TestInterruptedRuns(t *testing.T) {
	wire := aguiRun + data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","message":"Pay?"}]}}`)
	s := filter.Settings{Policy: event.PolicyPublic, Exclude: []event.Kind{event.KindInputRequested}}
	if got, want := lastOf(t, s, "agui", wire), `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`; got != want {
		t.Errorf("%s leaves, want %s", got, want)
	}
}

// TestFailedCalls checks a frame that begins a call and states its failure: it stays in if a setting excludes either.
func TestFailedCalls(t *testing.T) {
	wire := data(`{"type":"start"}`) + data(`{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":{},"errorText":"x"}`)
	for _, kind := range []event.Kind{event.KindToolStarted, event.KindToolEnded} {
		if got := lastOf(t, filter.Settings{Policy: event.PolicyPublic, Exclude: []event.Kind{kind}}, "aisdk", wire); got != empty {
			t.Errorf("without %s, %s leaves", kind, got)
		}
	}
}
