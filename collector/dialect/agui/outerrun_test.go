package agui_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRunsAroundWithheld checks that an open run goes on after a withheld one that does not name it as its parent, and that nothing of the
// withheld run leaves.
func TestRunsAroundWithheld(t *testing.T) {
	of := func(kind, run string) string { return sent(kind, `"threadId":"t"`, `"runId":"`+run+`"`) }
	text := func(id string) string {
		return sent("TEXT_MESSAGE_CHUNK", `"messageId":"`+id+`"`, `"role":"assistant"`, `"delta":"x"`)
	}
	start, end := of("RUN_STARTED", "r"), of("RUN_FINISHED", "r")
	innerStart, innerEnd := of("internal:RUN_STARTED", "n"), of("internal:RUN_FINISHED", "n")
	failure := sent("RUN_ERROR", `"message":"x"`)
	for name, c := range map[string]struct {
		frames []string
		leave  []bool
	}{
		"a run in it":            {[]string{start, innerStart, text("n"), innerEnd, text("m"), end}, []bool{true, false, false, false, true, true}},
		"its marked type":        {[]string{start, `{"type":"RUN_STARTED","kind":"internal","threadId":"t","runId":"n"}`, text("n"), innerEnd, text("m"), end}, []bool{true, false, false, false, true, true}},
		"an end without a mark":  {[]string{start, innerStart, of("RUN_FINISHED", "n"), text("m"), end}, []bool{true, false, false, true, true}},
		"an end that repeats":    {[]string{start, innerStart, innerEnd, of("RUN_FINISHED", "n"), text("m"), end}, []bool{true, false, false, false, true, true}},
		"the end of another run": {[]string{start, innerStart, of("RUN_FINISHED", "x"), text("m"), end}, []bool{true, false, false, false, true}},
		"an error in it":         {[]string{start, innerStart, failure, text("m"), end}, []bool{true, false, false, true, true}},
		"the outer end first":    {[]string{start, innerStart, end, text("n"), innerEnd, text("n"), of("RUN_STARTED", "s"), text("m")}, []bool{true, false, true, false, false, false, true, true}},
		"a message around it": {
			[]string{start, text("m"), innerStart, text("n"), innerEnd, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, end},
			[]bool{true, true, false, false, false, true, true},
		},
		"a withheld run in it": {
			[]string{start, innerStart, of("internal:RUN_STARTED", "x"), of("RUN_FINISHED", "x"), text("n"), innerEnd, text("m"), end},
			[]bool{true, false, false, false, false, false, true, true},
		},
		"a run after it": {[]string{start, innerStart, of("RUN_STARTED", "s"), text("m"), of("RUN_FINISHED", "s")}, []bool{true, false, true, true, true}},
		"its id again":   {[]string{start, innerStart, innerEnd, end, of("RUN_STARTED", "n"), text("n"), of("RUN_FINISHED", "n")}, []bool{true, false, false, true, true, true, true}},
	} {
		for _, s := range allSettings {
			got := filterFrames(t, s, c.frames...)
			leave := make([]bool, len(got))
			for i := range got {
				leave[i] = got[i] != withheld
			}
			if !slices.Equal(leave, c.leave) {
				t.Errorf("%s, %s: %v leave, want %v", name, s.Policy, leave, c.leave)
			}
		}
	}
	var runs []string
	decodeEach(t, []string{start, innerStart, text("n"), innerEnd, innerEnd, text("m"), end}, func(b *event.Batch) {
		runs = append(runs, b.Run)
		if b.Has(event.KindRunEnded) {
			runs = append(runs, "ended")
		}
	})
	if want := []string{"r", "n", "n", "n", "ended", "r", "r", "r", "ended"}; !slices.Equal(runs, want) {
		t.Errorf("the frames are of the runs %q, want %q", runs, want)
	}
}
