package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRepeats lets nothing leave that repeats or continues a message or an artifact that stayed in, in a history and a snapshot either.
func TestRepeats(t *testing.T) {
	const (
		internal = `{"kind":"text","text":"x","metadata":{"type":"internal:x"}}`
		canary   = `[{"kind":"text","text":"CANARY"}]`
		working  = `"status":{"state":"working"}`
	)
	artifact := func(id, parts, more string) [3]string {
		return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":"` + id + `","parts":` + parts + `}` + more}
	}
	said := func(id, parts string) string {
		return `{"kind":"message","role":"agent","messageId":"` + id + `","parts":` + parts + `}`
	}
	state := func(message string) [3]string {
		return [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"working","message":` + message + `},"final":false`}
	}
	task := func(more string) [3]string {
		return [3]string{"task", "task", `"id":"t","contextId":"c",` + working + more}
	}
	inTask := task(`,"artifacts":[{"artifactId":"a","parts":` + canary + `}]`)
	inHistory := task(`,"history":[` + said("n", "[]") + `,` + said("m", canary) + `]`)
	const more, begins = `,"append":true`, `,"append":false`
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // to the protocol's own client
	}{
		"an artifact goes on":            {[][3]string{artifact("a", "["+internal+"]", begins), artifact("a", canary, more)}, false},
		"an artifact again":              {[][3]string{artifact("a", "["+internal+"]", ""), artifact("a", canary, "")}, false},
		"an artifact in a snapshot":      {[][3]string{artifact("a", "["+internal+"]", ""), inTask}, false},
		"a piece in a snapshot":          {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more), inTask}, false},
		"a piece, and the next":          {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more), artifact("a", canary, more)}, true},
		"another artifact":               {[][3]string{artifact("b", "["+internal+"]", ""), artifact("a", canary, "")}, true},
		"a message again":                {[][3]string{state(said("m", "["+internal+"]")), state(said("m", canary))}, false},
		"a message in a history":         {[][3]string{state(said("m", "["+internal+"]")), inHistory}, false},
		"a message of the user's":        {[][3]string{state(said("o", "["+internal+"]")), inHistory}, true},
		"of a snapshot":                  {[][3]string{task(`,"history":[` + said("m", "["+internal+"]") + `]`), state(said("m", canary))}, false},
		"an artifact of a snapshot":      {[][3]string{task(`,"artifacts":[{"artifactId":"a","parts":[` + internal + `]}]`), artifact("a", canary, more)}, false},
		"another artifact of a snapshot": {[][3]string{task(`,"artifacts":[{"artifactId":"b","parts":[` + internal + `]},{"artifactId":"a","parts":[` + hi + `]}]`), artifact("a", canary, "")}, true},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			for _, s := range []filter.Settings{client, public} {
				got := leave(t, s, stream.String())
				if last := got[len(got)-1]; strings.Contains(last, "CANARY") && !c.leaves || c.leaves && s.Policy == client.Policy && !strings.Contains(last, "CANARY") {
					t.Errorf("%s, %s, %s: %q", name, envelope, s.Policy, got)
				}
			}
		}
	}
}

// TestRepeatsOfMany lets no snapshot leave once more stayed in than is remembered.
func TestRepeatsOfMany(t *testing.T) {
	var stream strings.Builder
	wrap := envelopes["0.3"]
	snapshot := "data: " + wrap("task", "", `"id":"t","contextId":"c","status":{"state":"working"}`) + "\n\n"
	for i := range 1025 {
		if i == 1024 {
			stream.WriteString(snapshot)
		}
		id := strings.Repeat("x", i%200+1) + string(rune('a'+i/200))
		stream.WriteString("data: " + wrap("artifact-update", "", ids+`,"artifact":{"artifactId":"`+id+`","parts":[],"kind":"internal"}`) + "\n\n")
	}
	stream.WriteString(snapshot)
	got := leave(t, client, stream.String())
	if strings.HasPrefix(got[1024], stays) || !strings.HasPrefix(got[1026], stays) {
		t.Errorf("of a snapshot leaves %q, and after one more %q", got[1024], got[1026])
	}
}
