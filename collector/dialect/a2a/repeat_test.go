package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRepeats checks that repetitions and continuations of a withheld message or artifact are withheld, also
// in a history or snapshot.
func TestRepeats(t *testing.T) {
	const (
		internal = `{"kind":"text","text":"x","metadata":{"type":"internal:x"}}`
		canary   = `[{"kind":"text","text":"CANARY"}]`
		working  = `"status":{"state":"working"}`
		inner    = `,"metadata":{"a":[{"kind":"internal:x"}]}`
		empty    = `{"artifactId":"a","parts":[]}`
	)
	artifact := func(id, parts, more string) [3]string {
		return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":"` + id + `","parts":` + parts + `}` + more}
	}
	nameless := func(parts, more string) [3]string {
		return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"parts":` + parts + `}` + more}
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
	taskIn := func(more string) [3]string { return [3]string{"task", "task", `"id":"t","contextId":"c",` + more} }
	numbered := func(id, parts string) [3]string {
		return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":` + id + `,"parts":` + parts + `}`}
	}
	const (
		event1 = `,"metadata":{"adk_event_id":"1"}`
		event2 = `,"metadata":{"adk_event_id":"2"}`
		event3 = `,"metadata":{"adk_author":"x"}`
		marked = `,"metadata":{"adk_event_id":"1","adk_custom_metadata":"{\"kind\": \"internal\"}"}`
	)
	stated := func(id, more string) [3]string {
		frame := state(said(id, canary))
		frame[2] += more
		return frame
	}
	const branched = `,"metadata":{"adk_event_id":"1","adk_author":"b","adk_branch":"pay@c"}`
	calling := state(said("k", `[`+plainCall+`]`))
	calling[2] += strings.Replace(marked, `"1"`, `"0"`, 1)
	unnamed := func(parts, more string) string {
		return `{"kind":"message","role":"agent","parts":` + parts + more + `}`
	}
	const ofMessage = `,"metadata":{"type":"internal:x"}`
	inTask := task(`,"artifacts":[{"artifactId":"a","parts":` + canary + `}]`)
	inHistory := task(`,"history":[` + said("n", "[]") + `,` + said("m", canary) + `]`)
	const more, begins = `,"append":true`, `,"append":false`
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // under the policy client
	}{
		"an event again":                  {[][3]string{stated("m", marked), artifact("a", canary, event1)}, false},
		"an event's artifact":             {[][3]string{stated("m", marked), artifact("a", canary, `,"x":1`+event1), inTask}, false},
		"an event's artifact continued":   {[][3]string{stated("m", marked), artifact("a", canary, event1), artifact("a", canary, more)}, false},
		"an event, marked inside":         {[][3]string{artifact("b", canary+marked, ""), stated("m", event1)}, false},
		"an event's parts":                {[][3]string{stated("m", marked), artifact("a", canary, event2)}, false},
		"an event's parts, no metadata":   {[][3]string{stated("m", marked), artifact("a", canary, "")}, false},
		"an event's parts in a snapshot":  {[][3]string{stated("m", marked), inTask}, false},
		"parts of another order":          {[][3]string{stated("m", marked), artifact("a", `[{"text":"CANARY","kind":"text"}]`, event2)}, false},
		"parts of a call's branch":        {[][3]string{calling, stated("m", branched), artifact("a", canary, event2)}, false},
		"a piece of another event":        {[][3]string{stated("m", marked), artifact("a", canary, more+event2)}, true},
		"another event":                   {[][3]string{stated("m", marked), stated("n", event2)}, true},
		"an artifact, then another":       {[][3]string{artifact("b", canary, marked), artifact("a", canary, event2)}, true},
		"other parts":                     {[][3]string{stated("m", marked), artifact("a", "["+hi+`,{"kind":"text","text":"CANARY"}]`, event2)}, true},
		"an artifact without an id":       {[][3]string{nameless("["+internal+"]", ""), nameless(canary, more)}, false},
		"one in a marked update":          {[][3]string{nameless("[]", `,"metadata":{"type":"internal"}`), nameless(canary, more)}, false},
		"an artifact without an id alone": {[][3]string{artifact("a", "["+internal+"]", ""), nameless(canary, "")}, true},
		"an artifact continued":           {[][3]string{artifact("a", "["+internal+"]", begins), artifact("a", canary, more)}, false},
		"an artifact again":               {[][3]string{artifact("a", "["+internal+"]", ""), artifact("a", canary, "")}, false},
		"an artifact in a snapshot":       {[][3]string{artifact("a", "["+internal+"]", ""), inTask}, false},
		"a piece in a snapshot":           {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more), inTask}, false},
		"a piece, and the next":           {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more), artifact("a", canary, more)}, false},
		"an event, and the next":          {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more+event3), artifact("a", canary, more)}, true},
		"an event's artifact again":       {[][3]string{artifact("a", "["+hi+"]", ""), artifact("a", "["+internal+"]", more+event3), artifact("a", canary, "")}, false},
		"another artifact":                {[][3]string{artifact("b", "["+internal+"]", ""), artifact("a", canary, "")}, true},
		"a message again":                 {[][3]string{state(said("m", "["+internal+"]")), state(said("m", canary))}, false},
		"a message in a history":          {[][3]string{state(said("m", "["+internal+"]")), inHistory}, false},
		"a message without an id":         {[][3]string{state(unnamed(canary, ofMessage)), task(`,"history":[` + unnamed(canary, "") + `]`)}, false},
		"another without an id":           {[][3]string{state(unnamed("["+hi+"]", ofMessage)), task(`,"history":[` + unnamed(canary, "") + `]`)}, true},
		"a later one without an id":       {[][3]string{state(unnamed("["+hi+"]", ofMessage)), state(unnamed(canary, ""))}, true},
		"a message of the user's":         {[][3]string{state(said("o", "["+internal+"]")), inHistory}, true},
		"a message of a snapshot":         {[][3]string{task(`,"history":[` + said("m", "["+internal+"]") + `]`), state(said("m", canary))}, false},
		"an artifact of a snapshot":       {[][3]string{task(`,"artifacts":[{"artifactId":"a","parts":[` + internal + `]}]`), artifact("a", canary, more)}, false},
		"another artifact of a snapshot":  {[][3]string{task(`,"artifacts":[{"artifactId":"b","parts":[` + internal + `]},{"artifactId":"a","parts":[` + hi + `]}]`), artifact("a", canary, "")}, true},
		"an artifact of an internal task": {[][3]string{task(inner + `,"artifacts":[` + empty + `]`), artifact("a", canary, "")}, false},
		"a piece of such an artifact":     {[][3]string{task(inner + `,"artifacts":[` + empty + `]`), artifact("a", canary, more)}, false},
		"a released artifact continued":   {[][3]string{artifact("a", "["+hi+"]", ""), task(inner + `,"artifacts":[` + empty + `]`), artifact("a", canary, more)}, true},
		"a released artifact repeated":    {[][3]string{artifact("a", "["+hi+"]", ""), task(inner + `,"artifacts":[` + empty + `]`), artifact("a", canary, "")}, false},
		"beside an internal artifact":     {[][3]string{task(inner + `,"artifacts":[{"artifactId":"b","kind":"internal"},` + empty + `]`), artifact("a", canary, "")}, false},
		"of an internal task's history":   {[][3]string{task(inner + `,"history":[` + said("m", "[]") + `]`), state(said("m", canary))}, false},
		"of an internal task's status":    {[][3]string{taskIn(`"status":{"state":"working","message":` + said("m", "[]") + `}` + inner), state(said("m", canary))}, false},
		"of an internal status":           {[][3]string{taskIn(`"status":{"state":"working","type":"internal","message":` + said("m", "[]") + `}`), state(said("m", canary))}, false},
		"of an unknown kind":              {[][3]string{{"weird", "weird", ids + `,"artifact":` + empty}, artifact("a", canary, "")}, false},
		"a message of an unknown kind":    {[][3]string{{"weird", "weird", `"x":{"message":` + said("m", "[]") + `}`}, state(said("m", canary))}, false},
		"a number as id":                  {[][3]string{numbered("5", "["+internal+"]"), numbered("5", canary)}, false},
		"a number, then its digits":       {[][3]string{numbered("5.0", "["+internal+"]"), numbered(`"5"`, canary)}, false},
		"digits, then the number":         {[][3]string{numbered(`"0.5"`, "["+internal+"]"), numbered("0.5", canary)}, false},
		"an empty id":                     {[][3]string{numbered(`""`, "["+internal+"]"), numbered(`""`, canary)}, false},
		"null as id":                      {[][3]string{numbered("null", "["+internal+"]"), numbered("null", canary)}, false},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			for _, s := range []filter.Settings{client, public} {
				got := filterStream(t, s, stream.String())
				if last := got[len(got)-1]; strings.Contains(last, "CANARY") && !c.leaves || c.leaves && s.Policy == client.Policy && !strings.Contains(last, "CANARY") {
					t.Errorf("%s, %s, under %s: the output is %q", name, envelope, s.Policy, got)
				}
			}
		}
	}
}

// TestRepeatsOfMany checks that, after more was withheld than is remembered, only frames leave that cannot
// repeat it.
func TestRepeatsOfMany(t *testing.T) {
	wrap := envelopes["0.3"]
	frame := func(kind, members string) string { return "data: " + wrap(kind, "", members) + "\n\n" }
	artifact := func(id, more string) string {
		return frame("artifact-update", ids+`,"artifact":{"artifactId":"`+id+`","parts":[]`+more)
	}
	said := `{"messageId":"m","role":"agent","parts":[` + hi + `]}`
	tests := []struct {
		sent   string
		leaves bool
	}{
		{frame("task", `"id":"t","contextId":"c","status":{"state":"working"}`), false},
		{artifact("b", `}`), false},
		{frame("status-update", ids+`,"status":{"state":"working","message":`+said+`}`), false},
		{frame("message", `"messageId":"m","role":"agent","parts":[]`), false},
		{artifact("0", `},"append":true`), true},
		{frame("status-update", ids+`,"status":{"state":"working"}`), true},
	}
	for _, c := range tests {
		for _, many := range []int{1024, 1025} {
			var stream strings.Builder
			stream.WriteString(artifact("0", "}"))
			for i := range many {
				stream.WriteString(artifact(strings.Repeat("x", i%200+1)+string(rune('a'+i/200)), `,"kind":"internal"}`))
			}
			stream.WriteString(c.sent)
			got := filterStream(t, client, stream.String())
			if leaves := !strings.HasPrefix(got[len(got)-1], withheld); leaves != (c.leaves || many == 1024) {
				t.Errorf("after %d withheld artifacts, filtering %s gives %s", many, c.sent, got[len(got)-1])
			}
		}
	}
}

// TestRepeatsOfUnreadable checks that, after an unreadable frame, no snapshot with content leaves and no piece
// of an artifact that may have started in that frame.
func TestRepeatsOfUnreadable(t *testing.T) {
	wrap := envelopes["0.3"]
	frame := func(kind, members string) string { return "data: " + wrap(kind, "", members) + "\n\n" }
	artifact := func(id, more string) string {
		return frame("artifact-update", ids+`,"artifact":{"artifactId":"`+id+`","parts":[]}`+more)
	}
	const working, unreadable = `"id":"t","contextId":"c","status":{"state":"working"}`, "data: {\"US\":1,\"us\":2}\n\n"
	for name, c := range map[string]struct {
		sent   string
		leaves bool
	}{
		"a snapshot":                  {unreadable + frame("task", working+`,"artifacts":[{"artifactId":"a","parts":[]}]`), false},
		"a snapshot, after its start": {artifact("a", "") + unreadable + frame("task", working+`,"artifacts":[{"artifactId":"a","parts":[]}]`), false},
		"a history":                   {unreadable + frame("task", working+`,"history":[{"messageId":"m","role":"user","parts":[]}]`), false},
		"a history without ids":       {unreadable + frame("task", working+`,"history":[{"role":"user","parts":[]}]`), false},
		"a message of a snapshot":     {unreadable + frame("task", `"id":"t","contextId":"c","status":{"state":"working","message":{"role":"agent","parts":[]}}`), false},
		"a snapshot without content":  {unreadable + frame("task", working), true},
		"a snapshot after other data": {"data: ping\n\n" + frame("task", working+`,"artifacts":[{"artifactId":"a","parts":[]}]`), true},
		"a piece":                     {unreadable + artifact("a", `,"append":true`), false},
		"the start after a piece":     {unreadable + artifact("a", `,"append":true`) + artifact("a", ""), false},
		"a piece after the start":     {unreadable + artifact("a", "") + artifact("a", `,"append":true`), true},
		"a piece of a known artifact": {artifact("a", "") + unreadable + artifact("a", `,"append":true`), true},
		"a piece after a large frame": {"data: {" + strings.Repeat("x", 2<<20) + "\n\n" + artifact("a", `,"append":true`), false},
		"a snapshot after a string":   {"data: \"ping\"\n\n" + frame("task", working+`,"artifacts":[{"artifactId":"a","parts":[]}]`), true},
		"a piece after a string":      {`data: "{\"artifact\":{\"artifactId\":\"a\"}}"` + "\n\n" + artifact("a", `,"append":true`), false},
		"a piece after an envelope":   {`data: {"data":"{\"artifact\":{\"artifactId\":\"a\"}}"}` + "\n\n" + artifact("a", `,"append":true`), false},
		"a piece after strings":       {`data: [["\u007b\"artifact\":{}}"]]` + "\n\n" + artifact("a", `,"append":true`), false},
		"a piece after a separator":   {"data: \x1e{}\n\n" + artifact("a", `,"append":true`), false},
		"a piece after a prefix":      {"data: )]}',{}\n\n" + artifact("a", `,"append":true`), false},
		"a piece after a failure":     {"data: " + wrap("x", "", `"text":"{}"`) + "\n\n" + artifact("a", `,"append":true`), false},
	} {
		for _, s := range []filter.Settings{client, public} {
			got := filterStream(t, s, c.sent)
			if leaves := !strings.HasPrefix(got[len(got)-1], withheld); leaves != c.leaves && (s.Policy == client.Policy || !c.leaves) {
				t.Errorf("%s, under %s: the last frame becomes %q, want it let out: %t", name, s.Policy, got[len(got)-1], c.leaves)
			}
		}
	}
}

// TestRepeatedAnswers checks that an answer leaves again in the snapshot that ends its task.
func TestRepeatedAnswers(t *testing.T) {
	artifact, said := `"artifact":{"artifactId":"a","parts":[`+hi+`]}`, message("agent", hi)
	snapshot := func(more string) string {
		return envelopes["1.0"]("", "task", `"id":"t","contextId":"c",`+more)
	}
	const ended = `"status":{"state":"completed"}`
	whole := snapshot(ended + `,"artifacts":[{"artifactId":"a","parts":[` + hi + `]}]`)
	last := envelopes["1.0"]("", "artifactUpdate", ids+`,`+artifact+`,"lastChunk":true`)
	for name, sent := range map[string][]string{
		"an artifact":                          {last, whole},
		"an artifact of an ended task":         {last, envelopes["1.0"]("", "statusUpdate", ids+`,`+ended), whole},
		"a snapshot":                           {whole, whole},
		"an artifact of a snapshot":            {snapshot(`"status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[` + hi + `]}]`), whole},
		"a message":                            {envelopes["1.0"]("", "statusUpdate", status("completed", said)), snapshot(`"status":{"state":"completed","message":` + said + `}`)},
		"a message that the status says again": {envelopes["1.0"]("", "statusUpdate", status("completed", said)), envelopes["1.0"]("", "statusUpdate", status("completed", said))},
	} {
		got := filterStream(t, public, "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n")
		if !strings.Contains(got[len(got)-1], `"hi"`) {
			t.Errorf("%s does not leave again: %q", name, got)
		}
	}
}
