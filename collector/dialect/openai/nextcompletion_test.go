package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCompletionsAfterInternal sends a completion after an internal one. It leaves if it has its own ID, or if the internal one has finished
// and has another ID or none.
func TestCompletionsAfterInternal(t *testing.T) {
	chunk := func(id, delta, reason string) string {
		return `{"id":"` + id + `","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":` + reason + `}]}`
	}
	mark := func(chunk string) string { return strings.Replace(chunk, `"object"`, `"kind":"internal","object"`, 1) }
	const role, secret, answer, stop = `"role":"assistant","content":"secret"`, `"content":"secret"`, `"role":"assistant","content":"answer"`, `"stop"`
	next := []string{chunk("d", answer, "null"), chunk("d", `"content":"answer"`, "null"), chunk("d", "", stop), "[DONE]"}
	internal := []string{mark(chunk("c", role, "null")), mark(chunk("c", secret, "null")), mark(chunk("c", "", stop))}
	for name, c := range map[string]struct {
		answers int // that leave
		sent    []string
	}{
		"each chunk marked":  {2, append(internal[:3:3], next...)},
		"only the beginning": {2, append([]string{internal[0], chunk("c", secret, "null"), chunk("c", "", stop)}, next...)},
		"a system's":         {2, append([]string{chunk("c", `"role":"system","content":"secret"`, "null"), chunk("c", secret, "null"), chunk("c", "", stop)}, next...)},
		"after [DONE]":       {2, append(append(internal[:3:3], "[DONE]"), next...)},
		"between two":        {4, append(append(next[:3:3], strings.NewReplacer(`"c"`, `"e"`).Replace(internal[0]), strings.NewReplacer(`"c"`, `"e"`).Replace(internal[2])), strings.Split(strings.ReplaceAll(strings.Join(next, "\n"), `"d"`, `"f"`), "\n")...)},
		"more of the first":  {1, append(internal[:3:3], next[0], chunk("c", secret, "null"), chunk("c", role, "null"))},
		"no end":             {2, append(internal[:2:2], next[0], next[1])},
		"no role":            {1, append(internal[:3:3], next[1])},
		"no ID":              {2, append(internal[:3:3], chunk("", answer, "null"), chunk("", `"content":"answer"`, "null"))},
		"no ID, no end":      {0, append(internal[:2:2], chunk("", secret, "null"), chunk("", role, "null"))},
		"an ID each":         {0, []string{mark(chunk("c", role, "null")), chunk("d", secret, "null"), chunk("e", secret, stop)}},
		"the same ID":        {0, append(internal[:3:3], chunk("c", role, "null"), chunk("c", secret, "null"))},
		"another number":     {1, append(internal[:3:3], strings.Replace(next[1], `"index":0`, `"index":1`, 1))},
		"a later mark":       {2, []string{chunk("c", answer, "null"), mark(chunk("c", secret, "null")), chunk("c", "", stop), next[1]}},
		"number, next":       {1, append(internal[:3:3], strings.Replace(next[0], `"index":0`, `"index":1`, 1))},
	} {
		for _, s := range []filter.Settings{client, public} {
			if out := leaving(t, s, stream(c.sent...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != c.answers {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
}
