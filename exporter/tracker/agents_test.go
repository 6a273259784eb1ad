package tracker_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

type story struct {
	name   string
	stream *event.Stream
	frames []*event.Batch
	want   string
}

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) { equal(t, outline(follow(t, s.stream, s.frames...)), s.want) })
	}
}

// TestRun checks the name, kind and times of the root operation.
func TestRun(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	tell(t, []story{
		{"is named by the app", proxied(), []*event.Batch{says("coordinator", final)}, `
completed
invoke_agent app ok 0-2
  invoke_agent coordinator ok 1-1`},
		{"else by the first segment of the first branch", unnamed, []*event.Batch{
			says("par_a", branch("pipeline.par_a"), final), says("writer", branch("other.writer"), final)}, `
completed
invoke_workflow  ok 0-3
  invoke_agent pipeline ok 0-1
    invoke_agent par_a ok 0-1
  invoke_agent other ok 1-2
    invoke_agent writer ok 1-2`},
		{"else by the first author, who is never the user", file(), []*event.Batch{says("", text), says("coordinator", final), says("helper", final)}, `
completed
invoke_agent coordinator ok 1-3
  invoke_agent helper ok 3-3`},
		{"and never by one that is at work for it", file(), []*event.Batch{says("sub", at("s1", "", ""), text), says("coordinator", final)}, `
completed
invoke_agent coordinator ok 1-2
  invoke_agent sub ok 1-1`},
		{"is the agent of its name, in any branch", file(), []*event.Batch{
			says("a", text), says("a", branch("x.a"), final)}, `
completed
invoke_workflow x ok 1-2
  invoke_agent a ok 1-2`},
		{"has no name where nobody speaks", file(), []*event.Batch{says("", final)}, `
completed
invoke_agent  ok 1-1`},
		{"lasts from its request's forwarding to the end of its stream", proxied(), []*event.Batch{says("app", text), says("app", final)}, `
completed
invoke_agent app ok 0-3`},
		{"lasts so even if no frame comes", proxied(), nil, `
incomplete, stream_ended
invoke_workflow app unfinished 0-1`},
		{"is the application's where no agent speaks", proxied(), []*event.Batch{says("", responds("m")), says("", calls("c", "tool")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  chat m ok 0-1
  execute_tool tool unfinished 2-4`},
		{"lasts from first to last frame of a tailed stream", tailed(), []*event.Batch{says("a", text), says("a", final)}, `
completed
invoke_agent a ok 1-2`},
		{"lasts from first to last frame of a file", file(), []*event.Batch{says("a", text), says("a", final)}, `
completed
invoke_agent a ok 1-2`},
		{"lasts from the earliest reported time to the latest", file(), []*event.Batch{
			says("a", reported(4)), says("a", reported(2)), says("a", reported(6)), says("a", undated), says("a", final, reported(5))}, `
completed
invoke_agent a ok 2-6`},
		{"has no end if the clock was set back", file(), []*event.Batch{says("a", reported(4)), says("a", reported(5)), says("a", final, reported(2))}, `
completed
invoke_agent a ok 2-?`},
		{"has no end where the last frame has no time", file(), []*event.Batch{says("a", reported(2)), says("a", reported(5)), says("a", final, undated)}, `
completed
invoke_agent a ok 2-?`},
		{"has no beginning where the first frame has no time", file(), []*event.Batch{says("a", undated), says("a", reported(5)), says("a", final, reported(6))}, `
completed
invoke_agent a ok ?-6`},
		{"has no times where none are reported", file(), []*event.Batch{says("a", undated), says("a", undated, final)}, `
completed
invoke_agent a ok ?-?`},
	})
}

// TestDelegatesWithin checks a call that names an agent of which nothing else is seen.
func TestDelegatesWithin(t *testing.T) {
	begins := []*event.Batch{says("me", fresh(event.KindRunStarted)), says("me", calls("c", "delegate")), says("ghost", at("c", "c", ""), fresh(event.KindOther))}
	denied := func(b *event.Batch) {
		returns("c", "delegate")(b)
		b.Events[len(b.Events)-1].AgentNotFound = true
	}
	empty := with(`""`)
	works := []*event.Batch{says("ghost", at("c", "c", ""), calls("d", "delegate")), says("spirit", at("d", "d", "c"), fresh(event.KindOther))}
	tell(t, []story{
		{"that answers with nothing", file(), append(begins[:3:3], says("me", returns("c", "delegate"), empty, settles), says("me", final)), `
completed
invoke_agent me ok 1-5
  execute_tool delegate ok 2-4
    invoke_agent ghost unfinished 3-3`},
		{"that works, although the answer is empty", file(), append(begins[:3:3], says("ghost", at("c", "c", ""), text), says("me", returns("c", "delegate"), empty, settles), says("me", final)), `
completed
invoke_agent me ok 1-6
  execute_tool delegate ok 2-5
    invoke_agent ghost ok 3-4`},
		{"in a call that is open when the agent around it ends", file(), append(append(begins[:3:3], works...), says("me", returns("c", "delegate"), settles), says("me", final)), `
completed
invoke_agent me ok 1-7
  execute_tool delegate ok 2-6
    invoke_agent ghost unfinished 3-6
      execute_tool delegate unfinished 4-6
        invoke_agent spirit unfinished 5-5`},
		{"that answers", file(), append(begins[:3:3], says("me", returns("c", "delegate"), settles), says("me", final)), `
completed
invoke_agent me ok 1-5
  execute_tool delegate ok 2-4
    invoke_agent ghost ok 3-3`},
		{"that does not exist", file(), append(begins[:3:3], says("me", denied, settles), says("me", final)), `
completed
invoke_agent me ok 1-5
  execute_tool delegate ok 2-4`},
		{"that has used a tool, whatever the answer says", file(), append(begins[:3:3],
			says("ghost", at("c", "c", ""), calls("t", "look")), says("ghost", at("c", "c", ""), returns("t", "look"), settles), says("me", denied, settles), says("me", final)), `
completed
invoke_agent me ok 1-7
  execute_tool delegate ok 2-6
    invoke_agent ghost ok 3-5
      execute_tool look ok 4-5`},
		{"that does not answer", file(), append(begins[:3:3], says("me", final)), `
incomplete, stream_ended
invoke_agent me unfinished 1-4
  execute_tool delegate unfinished 2-4
    invoke_agent ghost unfinished 3-3`},
	})
}

// TestNoAgentSpeaks checks that an application counts as no agent.
func TestNoAgentSpeaks(t *testing.T) {
	run := follow(t, proxied(), says("", responds("m")), says("", calls("c", "tool")), says("", fails))
	for _, op := range run.Operations {
		if op.Agent != "" {
			t.Errorf("%s %s is of an agent %q", op.Kind, op.Name, op.Agent)
		}
	}
}

func reported(at int) fact { return func(b *event.Batch) { b.Time = second(at) } }

// TestAgents checks that each author has one operation in each of its branches.
func TestAgents(t *testing.T) {
	tell(t, []story{
		{"are resumed in loops", proxied(), []*event.Batch{
			says("writer", text), says("critic", text), says("writer", text), says("critic", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent writer ok 1-3
  invoke_agent critic ok 2-4`},
		{"are told apart by their branches", proxied(), []*event.Batch{
			says("worker", branch("p.one"), text), says("worker", branch("p.two"), text), says("worker", branch("p.one"), final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent p ok 0-3
    invoke_agent one ok 0-3
      invoke_agent worker ok 0-3
    invoke_agent two ok 0-2
      invoke_agent worker ok 0-2`},
		{"are told apart by their branches, in protocols without places too", proxied(), []*event.Batch{
			says("worker", lane("one"), text), says("worker", lane("two"), text), says("worker", lane("one"), final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent worker ok 1-3
  invoke_agent worker ok 2-2`},
		{"end with their last frame or their last child's end, whichever is later", proxied(), []*event.Batch{
			says("early", calls("c1", "tool")), says("late", text), says("", returns("c1", "tool"), settles), says("late", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent early ok 1-3
    execute_tool tool ok 1-3
  invoke_agent late ok 2-4`},
		{"start with their first frame or their first child's start, whichever is earlier", proxied(), []*event.Batch{
			says("a", text), says("b", begins("m")), says("b", responds("m"), final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-1
  invoke_agent b ok 1-3
    chat m ok 1-3`},
		{"are held by what holds them, to the root", file(), []*event.Batch{
			says("a", text), says("b", returns("c1", "transfer"), settles, handsOver("c1", "c")),
			says("c", calls("c2", "tool")), says("", returns("c2", "tool"), settles, reported(9)), says("c", final, reported(4))}, `
completed
invoke_agent a ok 1-9
  invoke_agent b ok 2-9
    invoke_agent c ok 2-9
      execute_tool tool ok 3-9
    execute_tool transfer ok ?-2`},
		{"used as a tool are a tool", proxied(), []*event.Batch{
			says("app", calls("c1", "burn_analyst")), says("app", returns("c1", "burn_analyst")), says("app", final)}, `
completed
invoke_agent app ok 0-4
  execute_tool burn_analyst ok 1-2`},
	})
}

// TestTransfers checks which agent has control after transfers.
func TestTransfers(t *testing.T) {
	to := func(from, target string) []*event.Batch {
		return []*event.Batch{
			says(from, calls("to "+target, "transfer_to_agent")),
			says(from, returns("to "+target, "transfer_to_agent"), handsOver("to "+target, target)),
		}
	}
	tell(t, []story{
		{"the agent is below the one that handed over", proxied(),
			append(append(to("app", "a"), to("a", "b")...), says("b", responds("m"), final)), `
completed
invoke_agent app ok 0-6
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-5
    execute_tool transfer_to_agent ok 3-4
    invoke_agent b ok 4-5
      chat m ok 4-5`},
		{"the agent starts with the transfer", proxied(), append(to("app", "a"), says("a", final)), `
completed
invoke_agent app ok 0-4
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-3`},
		{"control that comes back resumes the run", proxied(), append(append(to("app", "a"), to("a", "app")...), says("app", final)), `
completed
invoke_agent app ok 0-6
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-4
    execute_tool transfer_to_agent ok 3-4`},
		{"control that comes back resumes an agent where it stands", proxied(),
			append(append(append(to("app", "a"), to("a", "b")...), to("b", "a")...), says("a", final)), `
completed
invoke_agent app ok 0-8
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-7
    execute_tool transfer_to_agent ok 3-4
    invoke_agent b ok 4-6
      execute_tool transfer_to_agent ok 5-6`},
		{"an agent may arrive in a branch of its own", proxied(), append(to("app", "a"), says("a", branch("app.a"), text), says("a", branch("app.a"), final)), `
completed
invoke_workflow app ok 0-5
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-4`},
		{"and is another outside of it", proxied(), append(to("app", "a"), says("a", branch("app.a"), text), says("a", branch(""), responds(""), final)), `
completed
invoke_workflow app ok 0-5
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-3
  invoke_agent a ok 3-4
    chat  ok 3-4`},
		{"an agent that arrives in a branch owes its answer there", proxied(),
			append(to("app", "a"), says("a", branch("app.a"), partial, text), says("b", branch("app.b"), final)), `
incomplete, stream_ended
invoke_workflow app unfinished 0-5
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a unfinished 2-3
  invoke_agent b ok 2-4`},
		{"an agent arrives once", proxied(), append(to("app", "a"), says("a", text), says("a", branch("app.a"), final)), `
completed
invoke_workflow app ok 0-5
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a ok 2-3
  invoke_agent a ok 3-4`},
		{"an agent that never speaks is unfinished, and so is the run", proxied(), append(to("app", "a"), says("", final)), `
incomplete, stream_ended
invoke_agent app unfinished 0-4
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a unfinished 2-?`},
		{"an agent whose turn another took is unfinished", proxied(), append(to("app", "a"), says("b", final)), `
completed
invoke_agent app ok 0-4
  execute_tool transfer_to_agent ok 1-2
  invoke_agent a unfinished 2-?
  invoke_agent b ok 3-3`},
		{"a transfer that nobody signed comes from the run", proxied(), []*event.Batch{says("", handsOver("", "a")), says("a", final)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent a ok 1-2`},
	})
}

// TestTransferFacts checks what a transfer records: the fact, the source and target of its call,
// and the link from the target to the call.
func TestTransferFacts(t *testing.T) {
	for name, id := range map[string]string{"with a call id": "c1", "without": ""} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, proxied(),
				says("app", calls("old", "tool"), calls("", "waits"), calls("other", "tool")), says("app", returns("old", "tool")),
				says("app", calls(id, "transfer_to_agent")),
				says("app", responds("m"), returns("other", "tool"), returns(id, "transfer_to_agent"), handsOver(id, "a")),
				says("a", final))
			call, target := findOperation(t, r, tracker.ExecuteTool, "transfer_to_agent"), findOperation(t, r, tracker.InvokeAgent, "a")
			if want := (tracker.Transfer{From: "app", To: "a", EventID: "event of a"}); len(r.Transfers) != 1 || r.Transfers[0] != want {
				t.Errorf("transfers %+v", r.Transfers)
			}
			if ends := call.Details.OrZero(); ends.HandoffSource != "app" || ends.HandoffTarget != "a" {
				t.Errorf("the call hands over from %q to %q", ends.HandoffSource, ends.HandoffTarget)
			}
			if !slices.Equal(target.Details.OrZero().Links, []tracker.SpanID{call.ID}) || call.ID == (tracker.SpanID{}) {
				t.Errorf("the target links to %x, the call is %x", target.Details.OrZero().Links, call.ID)
			}
		})
	}
	for name, c := range map[string]struct {
		frames []*event.Batch
		from   string
	}{
		"of nobody":                                {[]*event.Batch{says("", handsOver("", "a"))}, ""},
		"of the root agent":                        {[]*event.Batch{says("r", text), says("", handsOver("", "a"))}, "r"},
		"while another agent is in control":        {[]*event.Batch{says("r", text), says("r", handsOver("", "b")), says("", handsOver("", "a"))}, ""},
		"of a workflow above the first two agents": {[]*event.Batch{says("r", mayBeRoot("")), says("b", mayBeRoot("")), says("", handsOver("", "a"))}, ""},
	} {
		if r := follow(t, file(), c.frames...); r.Transfers[len(r.Transfers)-1].From != c.from {
			t.Errorf("a transfer %s: %+v", name, r.Transfers)
		}
	}
	t.Run("without a call id, alone in its frame", func(t *testing.T) {
		r := follow(t, proxied(), says("app", calls("", "transfer_to_agent")), says("app", returns("", "transfer_to_agent"), handsOver("", "a")), says("a", final))
		if call := findOperation(t, r, tracker.ExecuteTool, "transfer_to_agent"); !slices.Equal(findOperation(t, r, tracker.InvokeAgent, "a").Details.OrZero().Links, []tracker.SpanID{call.ID}) {
			t.Error("the target does not link to the call")
		}
	})
	t.Run("which call it was is unknown", func(t *testing.T) {
		r := follow(t, proxied(),
			says("app", calls("", "transfer_to_agent"), calls("", "tool")),
			says("app", returns("", "transfer_to_agent"), returns("", "tool"), handsOver("", "a")), says("a", final))
		if target := findOperation(t, r, tracker.InvokeAgent, "a"); len(target.Details.OrZero().Links) != 0 || len(r.Transfers) != 1 {
			t.Errorf("links %x, transfers %+v", target.Details.OrZero().Links, r.Transfers)
		}
	})
	t.Run("back to the run", func(t *testing.T) {
		r := follow(t, proxied(),
			says("a", calls("c1", "transfer_to_agent")), says("a", returns("c1", "transfer_to_agent"), handsOver("c1", "app")), says("app", final))
		if call := findOperation(t, r, tracker.ExecuteTool, "transfer_to_agent"); !slices.Equal(r.Root.Details.OrZero().Links, []tracker.SpanID{call.ID}) {
			t.Errorf("the run links to %x, the call is %x", r.Root.Details.OrZero().Links, call.ID)
		}
	})
}
