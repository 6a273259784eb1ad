package a2a_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestTasksOfRemoteAgents checks what an update of a remote agent has of the earlier work of that agent, some of which was withheld.
func TestTasksOfRemoteAgents(t *testing.T) {
	task := func(kind string, texts ...string) string {
		for i, text := range texts {
			texts[i] = `{"messageId":"m","role":"ROLE_AGENT","parts":[` + text + `]}`
		}
		return `{"a2a:response":{"history":[` + strings.Join(texts, ",") + `],"metadata":{"adk_custom_metadata":{"kind":"` + kind + `"}}}}`
	}
	const secret, hi, open = `{"text":"CANARY"}`, `{"text":"hi"}`, `{"text":"open"}`
	for name, c := range map[string]struct{ before, kind, sent, want string }{
		"the history":    {task("note", open), "internal", task("note", open, secret, hi), task("note", open, hi)},
		"without a mark": {task("note", open), "note", task("note", open, secret, hi), task("note", open, secret, hi)},
	} {
		for form, formatted := range map[string]func(string) string{"an object": func(custom string) string { return custom }, "a string": strconv.Quote} {
			update := func(place, id, custom string) [3]string {
				metadata := `"metadata":{"adk_author":"r","adk_custom_metadata":` + custom + `}`
				part := `{"kind":"text","text":"` + id + `"}`
				if place == "a status" {
					return stateOf("working", id, part, ","+metadata)
				}
				return replaced(artifactOf(part, ""), `"artifactId":"a"`, `"artifactId":"`+id+`",`+metadata)
			}
			for _, place := range []string{"a status", "an artifact"} {
				for envelope, wrap := range envelopes {
					var stream strings.Builder
					for i, custom := range []string{c.before, task(c.kind, open, secret), c.sent} {
						sent := update(place, strconv.Itoa(i), formatted(custom))
						stream.WriteString("data: " + wrap(sent[0], sent[1], sent[2]) + "\n\n")
					}
					want := update(place, "2", formatted(c.want))
					if c.want != c.sent && form == "a string" {
						want = replaced(want, `,"adk_custom_metadata":`+formatted(c.want), "")
					}
					if got := filterStream(t, client, stream.String())[2]; got != wrap(want[0], want[1], want[2]) {
						t.Errorf("%s, %s in %s, %s: the update leaves as %s", name, form, place, envelope, got)
					}
				}
			}
		}
	}
}
