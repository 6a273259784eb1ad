package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// chunkOf returns a chunk of a completion with one choice.
func chunkOf(id string, index int, delta, reason string) string {
	return fmt.Sprintf(`{"id":"%s","object":"chat.completion.chunk","choices":[{"index":%d,"delta":{%s},"finish_reason":%s}]}`, id, index, delta, reason)
}

// TestForgottenCompletions begins so many completions that a decoder forgets some. Nothing leaves of those that were internal or no answers.
func TestForgottenCompletions(t *testing.T) {
	const role, said, none, stop = `"role":"assistant"`, `"content":"secret"`, `null`, `"stop"`
	mark := func(chunk string) string { return strings.Replace(chunk, `"object"`, `"kind":"internal","object"`, 1) }
	several := func(n int, prefix string, chunks func(id string) []string) (sent []string) {
		for i := range n {
			sent = append(sent, chunks(fmt.Sprint(prefix, i))...)
		}
		return sent
	}
	open := func(id string) []string { return []string{chunkOf(id, 0, role, none)} }
	finished := func(id string) []string { return []string{chunkOf(id, 0, role, none), chunkOf(id, 0, ``, stop)} }
	internal := func(id string) []string { return []string{mark(chunkOf(id, 0, role, none))} }
	begun := mark(chunkOf("x", 0, role, none))
	for name, c := range map[string]struct {
		first, last string
		others      []string
	}{
		"beside finished ones":   {begun, chunkOf("x", 1, role+","+said, none), several(20, "y", finished)},
		"beside open ones":       {begun, chunkOf("x", 1, role+","+said, none), several(20, "y", open)},
		"without a role":         {begun, chunkOf("x", 0, said, none), several(20, "y", open)},
		"beside internal ones":   {begun, chunkOf("x", 1, role+","+said, none), several(20, "y", internal)},
		"a system's":             {chunkOf("x", 0, `"role":"system"`, none), chunkOf("x", 0, said, none), several(20, "y", open)},
		"a finished one":         {mark(chunkOf("x", 0, role, stop)), chunkOf("x", 1, role+","+said, none), several(20, "y", internal)},
		"a message of a foreign": {chunkOf("x", 0, `"role":"critic"`, none), chunkOf("x", 0, said, none), several(20, "y", open)},
	} {
		for _, s := range []filter.Settings{client, public} {
			if name == "a message of a foreign" && s.Policy == event.PolicyClient {
				continue
			}
			for _, single := range []bool{true, false} {
				sent := append(append([]string{c.first}, c.others...), c.last)
				if out := leavingOf(t, s, &event.Stream{SingleRun: single}, stream(sent...)); strings.Contains(out, "secret") {
					t.Errorf("%s: under %s, single %t, this leaves: %s", name, s.Policy, single, out[max(len(out)-200, 0):])
				}
			}
		}
	}
	sent := append(several(20, "y", open), chunkOf("x", 0, role+`,"content":"answer"`, none))
	if out := leavingOf(t, public, &event.Stream{}, stream(sent...)); !strings.Contains(out, "answer") {
		t.Error("of a completion beside many others nothing leaves")
	}
}
