package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestEndsOfRunsThatLeft checks that if the start of a run left, its end leaves too, although something within or before it is withheld.
func TestEndsOfRunsThatLeft(t *testing.T) {
	start := func(id, more string) string { return sent("RUN_STARTED", `"threadId":"t"`, `"runId":"`+id+`"`+more) }
	end := func(id, more string) string { return sent("RUN_FINISHED", `"threadId":"t"`, `"runId":"`+id+`"`+more) }
	const internal, nested = `,"kind":"internal"`, `,"parentRunId":"r"`
	const failure = `{"type":"RUN_ERROR","message":"x"}`
	for name, c := range map[string]struct {
		before     []string
		last, want string
	}{
		"after a withheld run with its ID": {[]string{start("r", internal), end("r", ""), start("r", "")}, end("r", ""), end("r", "")},
		"an error after such a run":        {[]string{start("r", internal), end("r", ""), start("r", "")}, `{"type":"RUN_ERROR","message":"x","runId":"r"}`, `{"type":"RUN_ERROR","message":"x","runId":"r"}`},
		"a nested run of such a run":       {[]string{start("r", internal), end("r", ""), start("r", "")}, start("n", nested), start("n", nested)},
		"an error in a withheld run":       {[]string{start("r", ""), start("n", nested+internal)}, failure, failure},
		"the end in a withheld run":        {[]string{start("r", ""), start("n", nested+internal)}, end("r", ""), end("r", "")},
		"the end of a withheld run":        {[]string{start("r", ""), start("n", nested+internal)}, end("n", `,"result":"CANARY"`), withheld},
		"a bare error in a withheld run":   {[]string{start("r", ""), start("n", nested+internal)}, `{"error":"x"}`, `{"error":"x"}`},
		"an error after a withheld run":    {[]string{start("r", ""), start("n", nested+internal), end("n", "")}, failure, failure},
		"an error of a withheld run":       {[]string{start("r", internal)}, failure, withheld},
		"a withheld run again":             {[]string{start("r", internal), end("r", ""), start("r", ""), end("r", ""), start("r", internal)}, end("r", ""), withheld},
		"a nested run with an old ID":      {[]string{start("n", internal), end("n", ""), start("r", ""), start("n", nested)}, end("n", ""), end("n", "")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := last(filterFrames(t, allSettings[0], append(slices.Clip(c.before), c.last)...)); got != c.want {
				t.Errorf("after %s, %s leaves as %s, want %s", strings.Join(c.before, "\n"), c.last, got, c.want)
			}
		})
	}
}
