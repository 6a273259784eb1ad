package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// transfers returns frames that transfer control from each agent to the next.
func transfers(agents ...string) (frames []*event.Batch) {
	for i, to := range agents[1:] {
		id := "call " + string(rune('a'+i))
		frames = append(frames,
			says(agents[i], calls(id, "transfer_to_agent")), says(agents[i], returns(id, "transfer_to_agent"), handsOver(id, to)))
	}
	return frames
}

// TestTransferLoops checks which transfers are marked as loops.
func TestTransferLoops(t *testing.T) {
	inBranches := func(frames []*event.Batch) []*event.Batch {
		for _, b := range frames {
			branch("")(b)
		}
		return frames
	}
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   []bool
	}{
		"on and on":                       {transfers("app", "a", "b", "c"), []bool{false, false, false}},
		"back to the one before":          {transfers("app", "a", "app"), []bool{false, true}},
		"back further up":                 {transfers("app", "a", "b", "app"), []bool{false, false, true}},
		"round and round":                 {transfers("app", "a", "app", "a", "app"), []bool{false, true, true, true}},
		"round and round, by ADK's place": {inBranches(transfers("app", "a", "app", "a", "app")), []bool{false, true, true, true}},
		"to itself":                       {transfers("app", "a", "a"), []bool{false, true}},
		"on after a loop":                 {transfers("app", "a", "app", "b"), []bool{false, true, false}},
		"control comes back by itself":    {append(transfers("app", "a"), transfers("app", "a")...), []bool{false, false}},
		"to one after the other":          {append(transfers("app", "a"), transfers("app", "b")...), []bool{false, false}},
		"to one that another called":      {append(transfers("app", "a"), transfers("b", "a")...), []bool{false, false}},
		"of nobody":                       {[]*event.Batch{says("", handsOver("", "a")), says("", handsOver("", "a"))}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, proxied(), c.frames...)
			if len(r.Transfers) != len(c.want) {
				t.Fatalf("%d transfers, not %d", len(r.Transfers), len(c.want))
			}
			for i, transfer := range r.Transfers {
				if transfer.Loop != c.want[i] {
					t.Errorf("transfer %d, from %s to %s: loop %t", i+1, transfer.From, transfer.To, transfer.Loop)
				}
			}
		})
	}
}

// TestCheckpointsAfterTransfers checks that a frame without facts, such as a checkpoint at the end of an agent, begins no agent, although the
// agent has just given control to one above it.
func TestCheckpointsAfterTransfers(t *testing.T) {
	down, up := []fact{responds("m"), handsOver("", "b")}, []fact{responds("m"), handsOver("", "a")}
	tell(t, []story{
		{"to the agent that runs it", file(), []*event.Batch{
			at2("a", "a@1", "", down...), at2("a", "a@1", ""), at2("b", "a@1/b@1", "", up...), at2("b", "a@1/b@1", ""),
			at2("a", "a@2", "", down...), at2("a", "a@2", ""), at2("b", "a@2/b@1", "", concludes), at2("b", "a@2/b@1", "")}, `
completed
invoke_agent a ok 1-8
  invoke_agent b ok 1-4
    chat m ok 2-3
  chat m ok 1-1
  invoke_agent a ok 3-8
    invoke_agent b ok 5-8
      chat m ok 6-7
    chat m ok 4-5`},
		{"to an agent above that has not spoken", file(), []*event.Batch{
			at2("b", "r@1/a@1/b@1", "", up...), at2("b", "r@1/a@1/b@1", ""), at2("a", "r@1/a@1", "", concludes), at2("a", "r@1/a@1", "")}, `
completed
invoke_workflow r ok 1-4
  invoke_agent b ok 1-2
    chat m ok 1-1
  invoke_agent a ok 1-4
    chat m ok 2-3`},
		{"by an agent that runs again", file(), []*event.Batch{
			at2("a", "a@1", "", down...), at2("b", "a@1/b@1", "", up...), at2("b", "a@1/b@1", "", concludes)}, `
completed
invoke_agent a ok 1-3
  invoke_agent b ok 1-2
    chat m ok 1-2
  chat m ok 1-1
  invoke_agent a ok 2-3
    invoke_agent b ok 2-3
      chat m ok 2-3`},
		{"an agent that has not spoken", file(), []*event.Batch{
			at2("a", "a@1", "", down...), at2("b", "a@1/b@1", "", up...), at2("c", "a@1/c@1", ""), at2("c", "a@1/c@1", "", concludes)}, `
completed
invoke_agent a ok 1-4
  invoke_agent b ok 1-2
    chat m ok 1-2
  chat m ok 1-1
  invoke_agent a ok 2-4
    invoke_agent c ok 2-4
      chat m ok 3-4`},
		{"the target", file(), []*event.Batch{
			at2("a", "r@1/a@1", "", down...), at2("b", "r@1/a@1/b@1", "", up...), at2("a", "r@1/a@1", ""), at2("a", "r@1/a@1", "", concludes)}, `
completed
invoke_workflow r ok 1-4
  invoke_agent a ok 1-2
    invoke_agent b ok 1-2
      chat m ok 1-2
    chat m ok 1-1
  invoke_agent a ok 2-4
    chat m ok 3-4`},
		{"without a number", file(), []*event.Batch{
			at2("a", "a", "", down...), at2("b", "a/b", "", up...), at2("b", "a/b", ""), at2("a", "a", "", concludes)}, `
completed
invoke_agent a ok 1-4
  invoke_agent b ok 1-4
    invoke_agent a ok 2-4
      invoke_agent b ok 2-3
      chat m ok 3-4
    chat m ok 1-2
  chat m ok 1-1`},
	})
}

// TestDepth checks the delegation depth.
func TestDepth(t *testing.T) {
	isAgent := func(s *tracker.Settings) { s.IsAgentTool = func(_, tool string) bool { return tool == "expert" } }
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   int
	}{
		"alone":                          {frames: []*event.Batch{says("app", text, final)}},
		"with tools":                     {frames: []*event.Batch{says("app", calls("c", "t")), says("app", returns("c", "t")), says("app", final)}},
		"a tool that is an agent":        {frames: []*event.Batch{says("app", calls("c", "expert")), says("app", returns("c", "expert")), says("app", final)}, want: 1},
		"control handed over":            {frames: append(transfers("app", "a"), says("a", final)), want: 1},
		"handed on":                      {frames: append(transfers("app", "a", "b"), says("b", final)), want: 2},
		"one after the other":            {frames: append(append(transfers("app", "a"), transfers("app", "b")...), says("b", final)), want: 1},
		"below an application by itself": {frames: []*event.Batch{says("other", branch(""), text, final)}},
	} {
		t.Run(name, func(t *testing.T) {
			stream := proxied()
			r := watch(isAgent).feed(stream, c.frames...).end(stream, event.EndOfStream).only(t)
			if depth, known := r.DelegationDepth(); depth != c.want || !known {
				t.Errorf("depth %d, known %t", depth, known)
			}
		})
	}
	workflow := tracker.Run{Operations: []*tracker.Operation{{Kind: tracker.InvokeWorkflow, Name: "app"}}}
	if _, known := workflow.DelegationDepth(); known {
		t.Error("a run without an agent has a depth")
	}
}

// TestTransferAfterEnd has the result of a call hand control over after the stated end of the call's agent.
func TestTransferAfterEnd(t *testing.T) {
	a, handsOverLate := lane("a:1"), says("a", lane("a:1"), returns("c", "transfer"), settles, handsOver("c", "b"))
	tell(t, []story{
		{"a call is open", proxied(), []*event.Batch{says("a", a, endsTurn("c"), endsTurn("d")), says("a", a, ends), handsOverLate, says("b", lane("b:1"), responds("m"), final)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent a ok 1-4
    execute_tool transfer ok 1-3
    execute_tool transfer unfinished 1-3
    invoke_agent b ok 3-4
      chat m ok 3-4`},
	})
}
