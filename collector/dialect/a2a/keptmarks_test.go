package a2a_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestKeptMarks sends an internal event of a remote agent. The artifacts of its task keep the mark. The updates of the agent that asks the
// remote one leave without these artifacts.
func TestKeptMarks(t *testing.T) {
	artifact := func(custom, text string) string {
		return `{"artifactId":"` + text + `","parts":[{"text":"` + text + `"}],"metadata":{"adk_custom_metadata":{` + custom + `}}}`
	}
	update := func(id, part, custom string) [3]string {
		return stateOf("working", id, part, `,"metadata":{"adk_author":"r","adk_custom_metadata":`+custom+`}`)
	}
	task := func(own string, artifacts ...string) string {
		return `{` + own + `"a2a:response":{"artifacts":[` + strings.Join(artifacts, ",") + `]}}`
	}
	const mark, label, state = `"kind":"internal"`, `"label":"x"`, `{"a2a:response":{"metadata":{"adk_actions":{"stateDelta":{"k":"CANARY answer"}}}}}`
	hidden, open := artifact(mark, "CANARY answer"), artifact(label, "open")
	said := func(text string) string { return `{"kind":"text","text":"` + text + `"}` }
	const file = `{"kind":"file","file":{"bytes":"eA==","name":"f","mimeType":"x/y"}}`
	first := update("1", said("CANARY answer"), task(mark+",", hidden))
	for name, c := range map[string]struct {
		part, sent, want string // the custom metadata as it leaves; withheld
	}{
		"another text":          {said("open"), task("", hidden, open), withheld},
		"a call":                {plainCall, task("", hidden, open), task("", open)},
		"with metadata":         {file, task(label+",", hidden, open), task(label+",", open)},
		"a file":                {file, task("", hidden, open), withheld},
		"the same text":         {said("CANARY answer"), task("", hidden, open), withheld},
		"with a mark":           {said("open"), task(mark+",", hidden, open), withheld},
		"of a changed artifact": {said("open"), task("", strings.Replace(hidden, "}]", `},{"text":"more"}]`, 1)), withheld},
		"a state":               {said("open"), state, strings.Replace(state, `"k":"CANARY answer"`, "", 1)},
	} {
		for form, formatted := range map[string]func(string) string{"an object": func(custom string) string { return custom }, "a string": strconv.Quote} {
			for envelope, wrap := range envelopes {
				var stream strings.Builder
				last := update("2", c.part, formatted(c.sent))
				for _, sent := range [][3]string{first, last} {
					stream.WriteString("data: " + wrap(sent[0], sent[1], sent[2]) + "\n\n")
				}
				want := withheld + ": internal"
				if c.want != withheld {
					leaves := update("2", c.part, formatted(c.want))
					if form == "a string" {
						leaves = replaced(leaves, `,"adk_custom_metadata":`+formatted(c.want), "")
					}
					want = wrap(leaves[0], leaves[1], leaves[2])
				}
				if got := filterStream(t, client, stream.String())[1]; got != want {
					t.Errorf("%s, %s, %s: the update leaves as %s, want %s", name, form, envelope, got, want)
				}
			}
		}
	}
}
