package looopy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// recordedFrame is a frame of a capture.
type recordedFrame struct {
	id, kind string
	data     map[string]json.RawMessage
}

func recording(t *testing.T, name string) (frames []recordedFrame) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(content), "\n\n") {
		var r recordedFrame
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch field {
			case "id":
				r.id = value
			case "event":
				r.kind = value
			case "data":
				if err := json.Unmarshal([]byte(value), &r.data); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		if r.data != nil {
			frames = append(frames, r)
		}
	}
	return frames
}

func recordings(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal("no captures: ", err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".sse"))
	}
	return names
}

// capturedFacts returns the facts of a capture, one line per frame.
func capturedFacts(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return factsOf(&event.Stream{}, string(content))
}

// TestShapesOfCaptures checks where servers put kind and context: those of November 2025 in the data too,
// current ones only in the event name and the id.
func TestShapesOfCaptures(t *testing.T) {
	for _, name := range recordings(t) {
		for i, r := range recording(t, name) {
			kind, hasKind := r.data["kind"]
			context, hasContext := r.data["contextId"]
			older := strings.HasPrefix(name, "2025-")
			if hasKind != older || hasContext != older {
				t.Errorf("%s, frame %d: the data has a kind: %t, a context: %t; want %t", name, i+1, hasKind, hasContext, older)
			}
			if older && (string(kind) != `"`+r.kind+`"` || !strings.HasPrefix(r.id, strings.Trim(string(context), `"`)+"-")) {
				t.Errorf("%s, frame %d: the id is %s and the name %s, but the data has the context %s and the kind %s", name, i+1, r.id, r.kind, context, kind)
			}
			_, hasTask := r.data["taskId"]
			if written := strings.HasSuffix(r.kind, "-write"); hasTask == (name == "artifacts-raw" && written) {
				t.Errorf("%s, frame %d, %s: the data has a task: %t", name, i+1, r.kind, hasTask)
			}
		}
	}
}

// TestCanaries checks that, in the captures, only internal events have the marker, except for a frame without a
// kind that the server's own filter let pass. The decoder must report the internal events as such, also those
// that a server's replay let pass.
func TestCanaries(t *testing.T) {
	marked := map[string]int{}
	for _, name := range recordings(t) {
		facts := strings.Split(capturedFacts(t, name), "\n")
		for i, r := range recording(t, name) {
			all := fmt.Sprintf("%s", r.data)
			internal := strings.HasPrefix(r.kind, "internal:")
			if strings.Contains(all, "CANARY-INTERNAL") {
				marked[name]++
				if name != "quirk-empty-kind-filtered" && !internal {
					t.Errorf("%s, frame %d: the kind %s has the marker", name, i+1, r.kind)
				}
			}
			head, _, _ := strings.Cut(facts[i], ";")
			if internal != strings.Contains(head, " internal") && name != "quirk-empty-kind-filtered" {
				t.Errorf("%s, frame %d: the kind %s decodes to %s, want it internal: %t", name, i+1, r.kind, facts[i], internal)
			}
		}
	}
	for _, name := range []string{"2025-all20-replay-filtered-leak", "reconnect-leak-replay", "quirk-empty-kind-filtered"} { // requested without internal events
		if marked[name] == 0 {
			t.Errorf("%s has no leak", name)
		}
	}
	for _, name := range []string{"2025-all20-filtered", "internal-filtered", "reconnect-leak-1", "reconnect-leak-2"} {
		if marked[name] > 0 {
			t.Errorf("%s has a leak", name)
		}
	}
}

// TestKindsOfCaptures checks that there are captures of all kinds: 20 of 2025, and 27 today.
func TestKindsOfCaptures(t *testing.T) {
	for name, want := range map[string]int{"2025-all20-kinds": 20, "all-kinds": 27} {
		seen := map[string]bool{}
		for _, r := range recording(t, name) {
			seen[r.kind] = true
		}
		if len(seen) != want {
			t.Errorf("%s has %d kinds, want %d", name, len(seen), want)
		}
	}
}

// TestIDsOfCaptures checks the ids of captures: a resumed stream continues without a gap, a turn of the AWS
// runtime starts at 1, and filtered events leave gaps.
func TestIDsOfCaptures(t *testing.T) {
	numbers := func(names ...string) (all []string) {
		for _, name := range names {
			for _, r := range recording(t, name) {
				all = append(all, r.id[strings.LastIndex(r.id, "-")+1:])
			}
		}
		return all
	}
	var whole []string
	for n := 1; n <= 17; n++ {
		whole = append(whole, fmt.Sprint(n))
	}
	if got := numbers("reconnect-1", "reconnect-2"); !slices.Equal(got, whole) {
		t.Errorf("the ids of a resumed stream are %v", got)
	}
	if got := numbers("reconnect-full-replay"); !slices.Equal(got, whole[1:]) {
		t.Errorf("the ids of a replay after the first event are %v", got)
	}
	if got := numbers("aws-invocations-1"); !slices.Equal(got[:3], []string{"1", "2", "4"}) {
		t.Errorf("the ids of a turn with internal events are %v", got)
	}
	if got := numbers("aws-invocations-2"); got[0] != "1" {
		t.Errorf("the ids of the next turn are %v", got)
	}
	if got := numbers("internal-filtered"); !slices.Equal(got, []string{"1", "2", "5", "6", "8", "9", "12", "13", "15"}) {
		t.Errorf("the ids of a filtered stream are %v", got)
	}
}

// TestCaptures checks parts that the facts of each capture must have or must not have.
func TestCaptures(t *testing.T) {
	for name, c := range map[string]struct{ has, hasNot []string }{
		// The first server of 2025 ended a turn only with its answer.
		"2025-text":         {[]string{"; final"}, []string{"run_ended", "task-complete"}},
		"2025-tool-success": {[]string{"; final"}, []string{"run_ended", "task-complete"}},
		"2025-llm-error":    {[]string{"error agent_error; run_ended agent_error"}, []string{"final"}},
		// It reported a tool that threw as successful without a result, and an unknown tool as failed.
		"2025-tool-failure": {[]string{`tool_ended name="failing" call="c1" null`, `tool_ended name="nobody" call="c3" tool_error null`}, []string{`call="c1" tool_error`}},

		"text":             {[]string{"run_started", "; final", "run_ended"}, []string{"error"}},
		"canceled":         {[]string{"error canceled; run_ended canceled"}, []string{"final"}},
		"llm-error":        {[]string{"run_ended agent_error"}, []string{"final"}},
		"llm-length":       {[]string{`finish="length"`, "; final"}, []string{"error"}},
		"litellm":          {[]string{"usage"}, nil},
		"tool-failure":     {[]string{"tool_error"}, nil},
		"subagent":         {[]string{" within=", "agent_started", "agent_ended"}, []string{"tool_error"}},
		"parallel-tools":   {[]string{`tool_ended name="failing" call="p3" tool_error`, `tool_ended name="get_weather" call="p1" {`}, []string{`name="get_weather" call="p1" tool_error`}},
		"thought-stream":   {[]string{"thought"}, nil},
		"input-required":   {[]string{"input_requested"}, []string{"final", "run_ended"}},
		"auth-required":    {[]string{"credential", `routing="user"`}, []string{"final", "run_ended"}},
		"artifacts":        {[]string{"artifact"}, nil},
		"input-resume":     {[]string{"run_ended"}, []string{"error"}},
		"tool-unknown":     {[]string{"tool-call", "run_ended"}, []string{"tool_started"}}, // no call starts or ends
		"llm-silent":       {[]string{"run_started"}, []string{"model_started", "run_ended"}},
		"heartbeat":        {[]string{"run_started"}, []string{"rejected"}},
		"subagent-failed":  {[]string{"agent_ended agent_error", `tool_ended name="agent__broken-bot__invoke" call="call_1" tool_error "Complete"`}, nil},
		"subagent-down":    {[]string{`tool_ended name="agent__gone-bot__invoke" call="call_1" tool_error`}, []string{"agent_started"}},
		"auth-resume":      {[]string{"tool_started name=\"calendar\" call=\"call_1\" {\"day\":\"Mon\"}\n"}, []string{"input_requested"}},
		"input-resume-llm": {[]string{`input_answered call="call_1"`}, []string{"tool_started"}},
	} {
		facts := capturedFacts(t, name)
		for _, part := range c.has {
			if !strings.Contains(facts, part) {
				t.Errorf("the facts of %s do not contain %q:\n%s", name, part, facts)
			}
		}
		for _, part := range c.hasNot {
			if strings.Contains(facts, part) {
				t.Errorf("the facts of %s contain %q:\n%s", name, part, facts)
			}
		}
	}
	if after, before, _ := strings.Cut(capturedFacts(t, "auth-resume"), "run_started"); !strings.Contains(after, "tool_ended") || strings.Contains(before, "tool_") {
		t.Error("a resumed turn does not start with its calls")
	}
	if facts := capturedFacts(t, "error-state-next-turn"); strings.Count(facts, "\n") != 0 || !strings.HasSuffix(facts, "run_ended agent_error awaits_outcome") {
		t.Errorf("the turn after an error decodes to %s", facts)
	}
	factsOnly := func(name string) string {
		var all []string
		for line := range strings.Lines(capturedFacts(t, name)) {
			_, fact, _ := strings.Cut(line, ";")
			all = append(all, fact)
		}
		return strings.Join(all, "")
	}
	if factsOnly("artifacts") != factsOnly("artifacts-raw") {
		t.Error("artifacts without a task do not belong to the latest task")
	}
}
