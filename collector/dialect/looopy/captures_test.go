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

// What each recording is, and what the servers were seen to do in it.

// recorded is a frame of a capture.
type recorded struct {
	id, kind string
	data     map[string]json.RawMessage
}

func recording(t *testing.T, name string) (frames []recorded) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(content), "\n\n") {
		var r recorded
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

// says is a capture's facts, a line a frame.
func says(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return lines(&event.Stream{}, string(content))
}

// TestShapesOfCaptures finds kind and context where the server of the time puts them: that of November 2025 in the data too, today's
// in the event name and the id alone.
func TestShapesOfCaptures(t *testing.T) {
	for _, name := range recordings(t) {
		for i, r := range recording(t, name) {
			kind, hasKind := r.data["kind"]
			context, hasContext := r.data["contextId"]
			older := strings.HasPrefix(name, "2025-")
			if hasKind != older || hasContext != older {
				t.Errorf("%s, frame %d: kind in the data: %v, context: %v", name, i+1, hasKind, hasContext)
			}
			if older && (string(kind) != `"`+r.kind+`"` || !strings.HasPrefix(r.id, strings.Trim(string(context), `"`)+"-")) {
				t.Errorf("%s, frame %d: %s and %s, in the data %s and %s", name, i+1, r.id, r.kind, context, kind)
			}
			_, hasTask := r.data["taskId"]
			if written := strings.HasSuffix(r.kind, "-write"); hasTask == (name == "artifacts-raw" && written) {
				t.Errorf("%s, frame %d, %s: with a task: %v", name, i+1, r.kind, hasTask)
			}
		}
	}
}

// TestCanaries finds the marker in internal events only, but where the server's own filter let something else pass; its replay let
// internal events themselves pass. All of them are internal to us, or of no kind.
func TestCanaries(t *testing.T) {
	marked := map[string]int{}
	for _, name := range recordings(t) {
		facts := strings.Split(says(t, name), "\n")
		for i, r := range recording(t, name) {
			all := fmt.Sprintf("%s", r.data)
			internal := strings.HasPrefix(r.kind, "internal:")
			if strings.Contains(all, "CANARY-INTERNAL") {
				marked[name]++
				if name != "quirk-empty-kind-filtered" && !internal {
					t.Errorf("%s, frame %d, %s has the marker", name, i+1, r.kind)
				}
			}
			head, _, _ := strings.Cut(facts[i], ";")
			if internal != strings.Contains(head, " internal") && name != "quirk-empty-kind-filtered" {
				t.Errorf("%s, frame %d, %s: %s", name, i+1, r.kind, facts[i])
			}
		}
	}
	for _, asked := range []string{"2025-all20-replay-filtered-leak", "reconnect-leak-replay", "quirk-empty-kind-filtered"} { // without internal events
		if marked[asked] == 0 {
			t.Errorf("%s shows no leak", asked)
		}
	}
	for _, kept := range []string{"2025-all20-filtered", "internal-filtered", "reconnect-leak-1", "reconnect-leak-2"} {
		if marked[kept] > 0 {
			t.Errorf("%s shows a leak", kept)
		}
	}
}

// TestKindsOfCaptures has recordings of all kinds: 20 then, 27 today.
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

// TestIDsOfCaptures: a resumed stream goes on without a gap, a turn of the AWS runtime begins at 1, and what was filtered leaves gaps.
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
		t.Errorf("a resumed stream: %v", got)
	}
	if got := numbers("reconnect-full-replay"); !slices.Equal(got, whole[1:]) {
		t.Errorf("replayed after its first event: %v", got)
	}
	if got := numbers("aws-invocations-1"); !slices.Equal(got[:3], []string{"1", "2", "4"}) {
		t.Errorf("a turn with internal events: %v", got)
	}
	if got := numbers("aws-invocations-2"); got[0] != "1" {
		t.Errorf("the next turn: %v", got)
	}
	if got := numbers("internal-filtered"); !slices.Equal(got, []string{"1", "2", "5", "6", "8", "9", "12", "13", "15"}) {
		t.Errorf("filtered: %v", got)
	}
}

// TestCaptures holds what the servers do against what is made of it: for each capture, what its facts have and what they have not.
func TestCaptures(t *testing.T) {
	for name, c := range map[string]struct{ has, hasNot []string }{
		// The first server of 2025 ended a turn with its answer and nothing else.
		"2025-text":         {[]string{"; final"}, []string{"run_ended", "task-complete"}},
		"2025-tool-success": {[]string{"; final"}, []string{"run_ended", "task-complete"}},
		"2025-llm-error":    {[]string{"error agent_error; run_ended agent_error"}, []string{"final"}},
		// It said that a tool that threw had succeeded, with no result; of one that it did not have, that it had not.
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
		"tool-unknown":     {[]string{"tool-call", "run_ended"}, []string{"tool_started"}}, // begins no call, and ends none
		"llm-silent":       {[]string{"run_started"}, []string{"model_started", "run_ended"}},
		"heartbeat":        {[]string{"run_started"}, []string{"rejected"}},
		"subagent-failed":  {[]string{"agent_ended agent_error", `tool_ended name="agent__broken-bot__invoke" call="call_1" tool_error "Complete"`}, nil},
		"subagent-down":    {[]string{`tool_ended name="agent__gone-bot__invoke" call="call_1" tool_error`}, []string{"agent_started"}},
		"auth-resume":      {[]string{"tool_started name=\"calendar\" call=\"call_1\" {\"day\":\"Mon\"}\n"}, []string{"input_requested"}},
		"input-resume-llm": {[]string{`input_answered call="call_1"`}, []string{"tool_started"}},
	} {
		facts := says(t, name)
		for _, part := range c.has {
			if !strings.Contains(facts, part) {
				t.Errorf("%s has no %q:\n%s", name, part, facts)
			}
		}
		for _, part := range c.hasNot {
			if strings.Contains(facts, part) {
				t.Errorf("%s has %q:\n%s", name, part, facts)
			}
		}
	}
	if after, before, _ := strings.Cut(says(t, "auth-resume"), "run_started"); !strings.Contains(after, "tool_ended") || strings.Contains(before, "tool_") {
		t.Error("a resumed turn does not begin with its calls")
	}
	if facts := says(t, "error-state-next-turn"); strings.Count(facts, "\n") != 0 || !strings.HasSuffix(facts, "run_ended agent_error awaits_outcome") {
		t.Errorf("after an error, the next turn is %s", facts)
	}
	same := func(name string) string {
		var all []string
		for line := range strings.Lines(says(t, name)) {
			_, fact, _ := strings.Cut(line, ";")
			all = append(all, fact)
		}
		return strings.Join(all, "")
	}
	if same("artifacts") != same("artifacts-raw") {
		t.Error("artifacts of no task are not those of the task that was heard of last")
	}
}
