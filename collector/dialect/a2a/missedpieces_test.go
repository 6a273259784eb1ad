package a2a

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestMissedPieces checks what a snapshot adds to an artifact whose other pieces were sent while no client was connected.
func TestMissedPieces(t *testing.T) {
	snapshot := func(state, parts string) string {
		return taskIs(state, `,"artifacts":[{"artifactId":"a","parts":[`+parts+`]}]`)
	}
	one, three, done := piece("a", text("one "), ""), piece("a", text("three"), more), statusIs("completed", "", "")
	thought := `{"kind":"text","text":"hm","metadata":{"adk_thought":true}}`
	const begun, added = `artifact-update partial; artifact id="a" other bytes=4; text "one "`, `artifact-update partial; artifact id="a" other bytes=5 append; text "three"`
	const whole, end, ended = `status-update; text "one two three"; final; run_ended awaits_outcome`, `final; run_ended`, `status-update; final; run_ended awaits_outcome`
	runDecode(t, []decodeCase{
		{"some", []string{one, snapshot("working", text("one ")+","+text("two ")), three, done},
			[]string{begun, `progress partial; artifact id="a" other bytes=8; text "two "`, added, whole}},
		{"none", []string{one, snapshot("working", text("one ")), three, done}, []string{begun, `progress; other`, added, `status-update; text "one three"; final; run_ended awaits_outcome`}},
		{"the last", []string{one, snapshot("completed", text("one two"))}, []string{begun, `task; artifact id="a" other bytes=7 complete; text "one two"; ` + end}},
		{"none, at the end", []string{one, snapshot("completed", text("one "))}, []string{begun, `task; text "one "; ` + end}},
		{"before a failure", []string{one, snapshot("failed", text("one ")+","+text("two"))},
			[]string{begun, `progress partial; artifact id="a" other bytes=7; text "two"; error agent_error; run_ended agent_error`}},
		{"all of another text", []string{one, snapshot("working", text("two ")), three, done},
			[]string{begun, `progress partial; artifact id="a" other bytes=4; text "two "`, added, `status-update; text "two three"; final; run_ended awaits_outcome`}},
		{"beside a thought", []string{one, snapshot("working", text("one ")+","+thought+","+text("two ")), three, done}, []string{begun, `progress; thought "adk_thought"`, added, ended}},
	})
	long := strings.Repeat("x", dialect.TextTailSize+1)
	if got := factsOf(&event.Stream{}, piece("a", text(long), ""), snapshot("working", text(long+"z")), three, done); !strings.HasSuffix(got, added+"\n"+ended) {
		t.Errorf("of a long text that lacks a piece, a whole text is reported: %s", got)
	}
	joined := event.Stream{Identity: event.Identity{JoinedRun: "t"}}
	want := `progress; artifact id="a" other bytes=4` + "\n" + `artifact-update partial; artifact id="a" other bytes=5 append; text "three"`
	if got := factsOf(&joined, snapshot("submitted", text("one ")), three); got != want {
		t.Errorf("after a subscription, the stream decodes to\n%s, want\n%s", got, want)
	}
}
