package a2a_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestAuthorsOfSnapshots repeats a message and an artifact in a snapshot that does not name their author.
func TestAuthorsOfSnapshots(t *testing.T) {
	artifact := func(id, part, more string) string {
		return envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"`+id+`","parts":[`+part+`]}`+more)
	}
	by := func(author string) string { return `,"metadata":{"adk_author":` + author + `}` }
	said := `{"messageId":"m","role":"agent","parts":[` + secret + `]}`
	status := func(more string) string {
		return envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working","message":`+said+`}`+more)
	}
	task := func(more string) string {
		return envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"completed"},"metadata":{"adk_author":"a"}`+more)
	}
	snapshot, history := task(`,"artifacts":[{"artifactId":"x","parts":[`+secret+`]}]`), task(`,"history":[`+said+`]`)
	const relayedCustom = `[{"key":"a2a:response","stringValue":"{\"metadata\":{\"adk_author\":\"b\"}}"}]`
	const relayed = `,"metadata":{"adk_author":"a","adk_custom_metadata":` + relayedCustom + `}`
	var many []string // more authors than are remembered
	for i := range 1024 {
		many = append(many, artifact(fmt.Sprint(i), secret, by(`"a"`)))
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"an artifact by one who may not":           {[]string{artifact("x", secret, by(`"b"`)), snapshot}, false},
		"an artifact by one who may":               {[]string{artifact("x", secret, by(`"a"`)), snapshot}, true},
		"an artifact by both":                      {[]string{artifact("x", secret, by(`"a"`)), artifact("x", secret, `,"append":true`+by(`"b"`)), snapshot}, false},
		"an artifact by nobody":                    {[]string{artifact("x", secret, ""), snapshot}, true},
		"an artifact with a part by another":       {[]string{artifact("x", strings.Replace(secret, "}", by(`"b"`)+"}", 1), by(`"a"`)), snapshot}, false},
		"an artifact by a list":                    {[]string{artifact("x", secret, by(`["a"]`)), snapshot}, false},
		"another artifact by one who may not":      {[]string{artifact("y", secret, by(`"b"`)), snapshot}, true},
		"an artifact of a remote agent":            {[]string{artifact("x", secret, relayed), snapshot}, false},
		"a snapshot of a remote agent":             {[]string{task(`,"artifacts":[{"artifactId":"x","parts":[` + secret + `]` + relayed + `}]`)}, false},
		"an artifact of an agent in a string":      {[]string{artifact("x", secret, strings.Replace(relayed, relayedCustom, strconv.Quote(relayedCustom), 1)), snapshot}, false},
		"a message by one who may not":             {[]string{status(by(`"b"`)), history}, false},
		"a message by one who may":                 {[]string{status(by(`"a"`)), history}, true},
		"an artifact of which the author is lost":  {append(many, artifact("x", secret, by(`"b"`)), snapshot), false},
		"an artifact by one who may, after others": {[]string{artifact("y", secret, by(`"b"`)), artifact("x", secret, by(`"a"`))}, true},
	} {
		for _, s := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			got := lastOutput(t, filter.Settings{Policy: s, Authors: []string{"a"}}, c.sent...)
			if leaves := strings.Contains(got, "secret"); leaves && !c.leaves || s == event.PolicyClient && leaves != c.leaves {
				t.Errorf("%s, under %s: the last frame becomes %s", name, s, got)
			}
		}
		if got := lastOutput(t, client, c.sent...); !strings.Contains(got, "secret") {
			t.Errorf("%s, without authors: the last frame becomes %s", name, got)
		}
	}
}
