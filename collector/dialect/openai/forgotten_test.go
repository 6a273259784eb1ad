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

// TestForgottenResponses begins so many responses that a decoder forgets some. Nothing leaves of parts that may be of an internal one.
func TestForgottenResponses(t *testing.T) {
	wraps := map[string]func(string) string{"plain": func(v string) string { return v }, "SDK": func(v string) string { return `{"type":"raw_response_event","data":` + v + `}` }}
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	of := func(id, data string) string { return strings.Replace(data, `"id":"r"`, `"id":"`+id+`"`, 1) }
	for name, wrap := range wraps {
		for _, marked := range []bool{true, false} {
			sent := []string{wrap(of("x", internal))}
			for i := range 20 {
				next := created
				if marked {
					next = internal
				}
				sent = append(sent, wrap(of(fmt.Sprint("s", i), next)))
			}
			var last []string // the ends of the internal ones that are not forgotten, and the start of an ordinary one
			for i := range 20 {
				last = append(last, strings.NewReplacer("secret", "hidden", `"i"`, fmt.Sprintf(`"i%d"`, i)).Replace(of(fmt.Sprint("s", i), ended)))
			}
			last = append(last, of("z", created))
			progress := strings.NewReplacer("created", "in_progress", "prompt", "secret").Replace(of("x", created))
			for what, last := range map[string][]string{"parts": {added, delta}, "the end": {of("x", ended)}, "the start again": append(last[:len(last):len(last)], progress), "parts beside another": append(last[:len(last):len(last)], added, delta)} {
				for _, s := range []filter.Settings{client, public} {
					for _, single := range []bool{true, false} {
						all := sent[:len(sent):len(sent)]
						for _, v := range last {
							all = append(all, wrap(v))
						}
						if out := leavingOf(t, s, &event.Stream{SingleRun: single}, stream(all...)); strings.Contains(out, "secret") {
							t.Errorf("%s, %s: under %s, single %t, this leaves: %s", name, what, s.Policy, single, out[max(len(out)-200, 0):])
						}
					}
				}
			}
		}
	}
}

// TestPartsBesideInternal sends parts while two responses are open, one of them internal. Parts of an item leave only if they say of which
// response it is.
func TestPartsBesideInternal(t *testing.T) {
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	number := func(data string, n int) string {
		return strings.Replace(data, `{"type"`, fmt.Sprintf(`{"sequence_number":%d,"type"`, n), 1)
	}
	beside := []string{internal, later.Replace(created)}
	checkLeaves(t, 0, append(beside[:2:2], added, delta, strings.Replace(added, "added", "done", 1))...)
	checkLeaves(t, 0, append(beside[:2:2], added, strings.Replace(delta, `"item_id":"i",`, "", 1))...)
	checkLeaves(t, 1, number(internal, 0), number(added, 1), number(later.Replace(created), 0), later.Replace(number(added, 1)), later.Replace(number(delta, 2)), number(delta, 2))
	checkLeaves(t, 1, append(beside[:2:2], ended, later.Replace(added), later.Replace(delta))...)
	if out := leaving(t, client, stream(append(beside, `{"type":"keepalive"}`)...)); !strings.Contains(out, "keepalive") {
		t.Errorf("beside an internal response, only this leaves: %s", out)
	}
}
