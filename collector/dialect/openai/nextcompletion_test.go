package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCompletionsAfterInternal sends a completion after an internal one that has finished, in the answer to one request. It leaves whole if
// it has its own ID and begins with a role. Whatever else follows may continue the internal one.
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
		"no end":             {0, append(internal[:2:2], chunk("d", role, "null"), chunk("d", secret, "null"))},
		"no role":            {0, append(internal[:3:3], chunk("d", secret, "null"))},
		"no ID":              {0, append(internal[:3:3], chunk("", role, "null"), chunk("", secret, "null"))},
		"the same ID":        {0, append(internal[:3:3], chunk("c", role, "null"), chunk("c", secret, "null"))},
		"an ID each":         {0, []string{mark(chunk("c", role, "null")), chunk("d", role, "null"), chunk("e", role, stop), chunk("f", secret, "null"), strings.Replace(chunk("g", role, "null"), `"object"`, `"usage":{"prompt_tokens":1},"object"`, 1)}},
		"another number":     {0, append(internal[:3:3], strings.Replace(chunk("d", secret, "null"), `"index":0`, `"index":1`, 1), strings.Replace(chunk("d", secret, "null"), `"index":0`, `"index":2`, 1))},
		"number, no end":     {0, append(internal[:2:2], strings.Replace(chunk("d", role, "null"), `"index":0`, `"index":1`, 1), strings.Replace(chunk("e", secret, "null"), `"index":0`, `"index":1`, 1))},
		"a later mark":       {1, []string{chunk("c", answer, "null"), mark(chunk("c", secret, "null")), chunk("c", "", stop), chunk("d", secret, "null")}},
		"number, next":       {1, append(internal[:3:3], strings.Replace(next[0], `"index":0`, `"index":1`, 1))},
		"another choice":     {1, append(internal[:3:3], mark(strings.Replace(chunk("c", role, "null"), `"index":0`, `"index":1`, 1)), next[0], strings.Replace(chunk("d", role, "null"), `"index":0`, `"index":1`, 1))},
	} {
		for _, s := range []filter.Settings{client, public} {
			if out := leaving(t, s, stream(c.sent...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != c.answers {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
}
