package adk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestInternalRecordings checks that nothing leaves of what agents of real servers marked as internal and wrote with the word CANARY, nor
// of the copies that ADK made of it. All other frames leave. So do those with the results of calls, and those with a state, without the
// copies. The file NAME-2 is the answer to the second request of the session of NAME-1.
func TestInternalRecordings(t *testing.T) {
	files, _ := filepath.Glob("testdata/internal/*.sse")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	var memory *event.Withheld
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frames := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(recorded)), "data: "), "\n\ndata: ")
		if !strings.HasSuffix(file, "-2.sse") {
			memory = new(event.Withheld)
		}
		session := event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: "s"}}
		public := leavesOf(t, &session, event.PolicyPublic, frames...)
		for i, got := range leavesOf(t, &session, event.PolicyClient, frames...) {
			want, isInternal := withoutCopies(t, frames[i])
			if isInternal {
				want = withheld
			}
			if got != want {
				t.Errorf("%s, frame %d, under client: the output is %s, want %s", file, i+1, got, want)
			}
			if strings.Contains(public[i], "CANARY") || isInternal && public[i] != withheld {
				t.Errorf("%s, frame %d, under public: the output is %s", file, i+1, public[i])
			}
		}
	}
}

// state matches a value of the state, or of an agent's state, that has the word CANARY.
var state = regexp.MustCompile(`"(ans|input)":"[^"]*CANARY[^"]*"`)

// withoutCopies returns a frame without the results and the state that have the word CANARY, and whether more of it has. The caller of an
// internal agent is boss. ADK writes the result of a task as the user's.
func withoutCopies(t *testing.T, frame string) (rest string, isInternal bool) {
	t.Helper()
	var e struct {
		Author  string
		Content struct {
			Parts []struct {
				FunctionResponse struct{ Response json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal([]byte(frame), &e); err != nil {
		t.Fatal(err)
	}
	rest = state.ReplaceAllString(frame, "")
	for _, part := range e.Content.Parts {
		if response := string(part.FunctionResponse.Response); strings.Contains(response, "CANARY") && (e.Author == "boss" || e.Author == "user") {
			rest = strings.Replace(rest, `,"response":`+response, "", 1)
		}
	}
	return rest, strings.Contains(rest, "CANARY") || strings.Contains(rest, `"kind":"internal:audit"`)
}
