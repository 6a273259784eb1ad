package tracker_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// mayBeRoot puts a frame's agent directly below the run.
func mayBeRoot(place string) fact {
	return func(b *event.Batch) { b.Branch, b.MayBeRoot = place, true }
}

// responseOf returns a fact: the frame belongs to a response, and no frame has named the response's agent yet.
func responseOf(response string) fact {
	return func(b *event.Batch) { b.AgentUnknown, b.Response = true, response }
}

// sentBy returns the frame that names the agent of a response and a call.
func sentBy(response, call string) fact {
	return func(b *event.Batch) { b.Sent = &event.Sent{Response: response, Call: call} }
}

// stops ends a frame's agent with an exception.
func stops(b *event.Batch) {
	e := b.Add(event.KindAgentEnded)
	e.Error, e.Code = event.AgentError, "ValueError"
}

// madeBy returns the frame that names the agent of a call.
func madeBy(call string) fact {
	return func(b *event.Batch) { b.Sent = &event.Sent{Call: call, OnlyCall: true} }
}

// renaming returns a fact: the frame's agent had a configured name in earlier frames.
func renaming(configured string) fact {
	return func(b *event.Batch) { b.Renames = configured }
}

func inParallel(b *event.Batch) { b.IsParallel = true }

// TestFirstAgent checks that the first agent of a graph of agents is the root, unless something runs beside it.
func TestFirstAgent(t *testing.T) {
	requested := proxied()
	requested.App = ""
	tell(t, []story{
		{"control leaves by transfers only", file(), []*event.Batch{
			says("", fresh(event.KindRunStarted)), says("a", mayBeRoot("a:1"), calls("t1", "go")), says("a", mayBeRoot("a:1"), returns("t1", "go"), settles, handsOver("t1", "b")),
			says("b", mayBeRoot("b:1"), responds("m"), handsOver("", "a")), says("a", mayBeRoot("a:2"), responds("m"), final)}, `
completed
invoke_agent a ok 1-5
  execute_tool go ok 2-3
  invoke_agent b ok 3-4
    chat m ok 3-4
  chat m ok 4-5`},
		{"control comes back to the same branch", file(), []*event.Batch{
			says("a", mayBeRoot("a"), calls("t1", "go")), says("a", mayBeRoot("a"), returns("t1", "go"), settles, handsOver("t1", "b")),
			says("b", mayBeRoot("b"), responds("m"), handsOver("", "a")), says("a", mayBeRoot("a"), responds("m"), final)}, `
completed
invoke_agent a ok 1-4
  execute_tool go ok 1-2
  invoke_agent b ok 2-3
    chat m ok 2-3
  chat m ok 3-4`},
		{"another agent works beside it", requested, []*event.Batch{
			says("", fresh(event.KindRunStarted)), says("a", mayBeRoot("a:1"), responds("m")), says("b", mayBeRoot("b:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 0-4
  invoke_agent a ok 1-2
    chat m ok 1-2
  invoke_agent b ok 1-3
    chat m ok 1-3`},
		{"another agent follows without a transfer", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("b", mayBeRoot("b:1"), responds("m")), says("b", mayBeRoot("b:1"), final)}, `
completed
invoke_workflow  ok 1-3
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent b ok 1-3
    chat m ok 1-2`},
		{"other work comes between two agents", requested, []*event.Batch{
			says("", fresh(event.KindRunStarted)), says("a", mayBeRoot("a:1"), calls("c", "ask")), says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), final), says("", returns("c", "ask"), settles), says(""),
			says("b", mayBeRoot("b:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 0-8
  invoke_agent a ok 1-5
    execute_tool ask ok 2-5
    chat m ok 2-3
  invoke_agent b ok 6-7
    chat m ok 6-7`},
		{"the run works between two agents", requested, []*event.Batch{
			says("", fresh(event.KindRunStarted)), says("a", mayBeRoot("a:1"), responds("m"), final), says(""), says(""), says("b", mayBeRoot("b:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 0-6
  invoke_agent a ok 1-2
    chat m ok 1-2
  invoke_agent b ok 4-5
    chat m ok 4-5`},
		{"another agent follows, and responses name no agent", file(), []*event.Batch{
			says("", responseOf(""), begins("m")), says("", responseOf(""), responds("m")), says("a", mayBeRoot(""), sentBy("", "")), says("", responseOf(""), begins("n")), says("", responseOf(""), responds("n")), says("b", mayBeRoot(""), sentBy("", "")), says("b", mayBeRoot(""), final)}, `
completed
invoke_workflow  ok 1-7
  invoke_agent a ok 1-3
    chat m ok 1-2
  invoke_agent b ok 3-7
    chat n ok 3-5`},
		{"an agent in a step follows", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("b", at("b:1", "", "s:1"), func(b *event.Batch) { b.Around = &event.Around{Step: "s", Branch: "s:1"} }, responds("m"), final)}, `
completed
invoke_workflow  ok 1-2
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_node s ok 1-2
    invoke_agent b ok 1-2
      chat m ok 1-2`},
		{"an agent in a step of the first follows", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("b", at("b:1", "", "s:1"), func(b *event.Batch) {
				b.Around = &event.Around{Step: "s", Branch: "s:1", Above: &event.Around{Agent: "a", Branch: "a:1"}}
			}, responds("m"), final)}, `
completed
invoke_agent a ok 1-2
  chat m ok 1-1
  invoke_node s ok 1-2
    invoke_agent b ok 1-2
      chat m ok 1-2`},
		{"an agent works twice at the same time", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:2"), inParallel, responds("m")), says("a", mayBeRoot("a:1"), final)}, `
completed
invoke_workflow  ok 1-3
  invoke_agent a ok 1-3
    chat m ok 1-1
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"a name replaces the configured one", file(), []*event.Batch{
			says("", fresh(event.KindRunStarted)), says("plain", asks("i", event.InputClarification)), says("a", renaming("plain"), calls("t1", "go")), says("a", renaming("plain"), returns("t1", "go"), settles, final)}, `
interrupted, awaiting_input
invoke_agent a interrupted 1-4
  execute_tool go ok 3-4`},
		{"a name replaces the configured one of what worked", file(), []*event.Batch{
			says("plain", responds("m")), says("a", renaming("plain"), responds("m")), says("b", renaming("plain"), at("b", "", ""), responds("m"), final)}, `
completed
invoke_agent a ok 1-3
  chat m ok 1-1
  chat m ok 1-2
  invoke_agent b ok 2-3
    chat m ok 2-3`},
		{"an author replaces the configured name", file(), []*event.Batch{
			says("plain", fresh(event.KindRunStarted)), says("a", mayBeRoot(""), renaming("plain"), responds("m")), says("a", mayBeRoot(""), renaming("plain"), final)}, `
completed
invoke_agent a ok 1-3
  chat m ok 1-2`},
		{"the run itself speaks", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("", final), says("me", responds("m"), final)}, `
completed
invoke_agent me ok 1-3
  invoke_agent a ok 1-1
    chat m ok 1-1
  chat m ok 2-3`},
		{"a node writes a text beside agents", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m"), final), says("b", mayBeRoot("b:1"), responds("m"), final), says("me", text, final), says("b", mayBeRoot(""), text, final), says("me", text, final)}, `
completed
invoke_workflow  ok 1-5
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent b ok 1-2
    chat m ok 1-2`},
		{"a node writes a text in another name", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m"), final), says("x", mayBeRoot(""), text, final)}, `
completed
invoke_agent a ok 1-2
  chat m ok 1-1`},
		{"an agent that has answered before the stream names it", file(), []*event.Batch{
			says("a", mayBeRoot(""), responds("m"), final), says("", responseOf(""), begins("n")), says("", responseOf(""), responds("n")), says("b", mayBeRoot(""), sentBy("", ""), text)}, `
completed
invoke_workflow  ok 1-4
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent b ok 1-4
    chat n ok 1-3`},
		{"a node calls a model beside agents", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m"), final), says("b", mayBeRoot("b:1"), responds("m"), final), says("me", text, responds("m"), final), says("me", text, final)}, `
completed
invoke_agent me ok 1-4
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent b ok 1-2
    chat m ok 1-2
  chat m ok 2-3`},
		{"a model answers in another name", file(), []*event.Batch{
			says("a", mayBeRoot(""), responds("m"), final), says("x", mayBeRoot(""), text, responds("m"), final)}, `
completed
invoke_workflow  ok 1-2
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent x ok 1-2
    chat m ok 1-2`},
		{"another agent without a branch", file(), []*event.Batch{
			says("a", mayBeRoot(""), fresh(event.KindRunStarted)), says("b", mayBeRoot("")), says("", responds("m")), says("a", mayBeRoot(""), responds("m"), final)}, `
completed
invoke_workflow  ok 1-4
  invoke_agent a ok 1-4
    chat m ok 3-4
  invoke_agent b ok 2-2
  chat m ok 2-3`},
		{"an agent in a call without a branch", file(), []*event.Batch{
			says("a", mayBeRoot(""), calls("c", "ask")), says("b", at("", "c", ""), responds("m")), says("a", mayBeRoot(""), returns("c", "ask")), says("a", mayBeRoot(""), responds("m"), final)}, `
completed
invoke_agent a ok 1-4
  execute_tool ask ok 1-3
    invoke_agent b ok 1-2
      chat m ok 1-2
  chat m ok 3-4`},
		{"the first agent fails, and a node answers in its place", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("", text), says("b", at("b:1", "", ""), responds("m")), says("", final)}, `
completed
invoke_workflow  ok 1-5
  invoke_agent a error agent_error (ValueError) 1-2
    chat m ok 1-1
  invoke_agent b ok 3-4
    chat m ok 3-4`},
		{"the first agent fails, and the run is complete", file(), []*event.Batch{
			says("", final), says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("", fresh(event.KindState))}, `
completed
invoke_workflow  ok 1-4
  invoke_agent a error agent_error (ValueError) 1-3
    chat m ok 1-2`},
		{"the first agent fails, and another one follows", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("b", mayBeRoot("b:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 1-3
  invoke_agent a error agent_error (ValueError) 1-2
    chat m ok 1-1
  invoke_agent b ok 1-3
    chat m ok 1-3`},
		{"the first agent fails, and the run with it", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("", fails)}, `
failed, error_frame
invoke_agent a error agent_error 1-3
  chat m ok 1-1`},
		{"the first agent fails and is retried", file(), []*event.Batch{
			says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("a", mayBeRoot("a:1"), starts), says("a", mayBeRoot("a:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 1-4
  invoke_agent a error agent_error (ValueError) 1-2
    chat m ok 1-1
  invoke_agent a ok 3-4
    chat m ok 3-4`},
		{"the first agent is retried and hands over", file(), []*event.Batch{
			says("", final), says("a", mayBeRoot("a:1"), responds("m")), says("a", mayBeRoot("a:1"), stops), says("a", mayBeRoot("a:1"), starts), says("a", mayBeRoot("a:1"), handsOver("", "b")),
			says("b", mayBeRoot("b:1"), responds("m"), final)}, `
completed
invoke_workflow  ok 1-6
  invoke_agent a error agent_error (ValueError) 1-3
    chat m ok 1-2
  invoke_agent a ok 4-6
    invoke_agent b ok 5-6
      chat m ok 5-6`},
		{"agents start again after their final answers", file(), []*event.Batch{
			says("a", mayBeRoot(""), responds("m"), final), says("b", mayBeRoot(""), responds("m"), final),
			says("a", mayBeRoot(""), starts), says("a", mayBeRoot(""), responds("m"), final), says("b", mayBeRoot(""), starts), says("b", mayBeRoot(""), responds("m"), final)}, `
completed
invoke_workflow  ok 1-6
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent b ok 1-2
    chat m ok 1-2
  invoke_agent a ok 3-4
    chat m ok 3-4
  invoke_agent b ok 5-6
    chat m ok 5-6`},
		{"the root starts again after its final answer", file(), []*event.Batch{
			says("a", mayBeRoot(""), responds("m"), final), says("a", mayBeRoot(""), starts), says("a", mayBeRoot(""), responds("m"), final)}, `
completed
invoke_workflow  ok 1-3
  invoke_agent a ok 1-1
    chat m ok 1-1
  invoke_agent a ok 2-3
    chat m ok 2-3`},
		{"an agent starts twice before its final answer", file(), []*event.Batch{
			says("a", mayBeRoot(""), starts), says("a", mayBeRoot(""), starts), says("a", mayBeRoot(""), responds("m"), final)}, `
completed
invoke_agent a ok 1-3
  chat m ok 2-3`},
	})
}

var starts = fresh(event.KindAgentStarted)

// TestNamedLate names the agent of a response after the response has ended. Until then, neither the response nor its call belongs to the root.
func TestNamedLate(t *testing.T) {
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   string
	}{
		"by the next frame": {[]*event.Batch{says("", responseOf(""), begins("n")), says("", responseOf(""), calls("d", "w")), says("", responseOf(""), responds("n")), says("b", at("", "c", ""), sentBy("", "d"))},
			"ask of a below a; n of b below b; w of b below b"},
		"never": {[]*event.Batch{says("", responseOf(""), begins("n")), says("", responseOf(""), calls("d", "w")), says("", responseOf(""), responds("n")), says("b", at("", "c", ""))},
			"ask of a below a; n of  below a; w of  below a"},
		"beside another response": {[]*event.Batch{says("", responseOf(""), begins("n")), says("", responseOf("1"), begins("o")), says("", responseOf("1"), responds("o")), says("b", at("", "c", ""), sentBy("1", "")), says("", responseOf(""), responds("n")), says("e", at("", "c", ""), sentBy("", ""))},
			"ask of a below a; n of e below e; o of b below b"},
		"after another response": {[]*event.Batch{says("", responseOf(""), begins("n")), says("", responseOf("1"), begins("o")), says("", responseOf(""), responds("n")), says("", responseOf("1"), responds("o")), says("b", at("", "c", ""), sentBy("", ""))},
			"ask of a below a; n of  below a; o of  below a"},
		"a call, after another response": {[]*event.Batch{says("", responseOf(""), begins("n")), says("", responseOf(""), calls("d", "w")), says("", responseOf(""), responds("n")), says("", responseOf(""), begins("o")), says("", responseOf(""), responds("o")), says("b", at("", "c", ""), madeBy("d")), says("e", at("", "c", ""), sentBy("", ""))},
			"ask of a below a; n of  below a; o of e below e; w of b below b"},
	} {
		for _, stream := range []*event.Stream{file(), proxied()} {
			frames := append([]*event.Batch{says("a", mayBeRoot(""), calls("c", "ask"))}, c.frames...)
			run := follow(t, stream, frames...)
			names := map[tracker.SpanID]string{}
			for _, op := range run.Operations {
				names[op.ID] = op.Name
			}
			var got []string
			for _, op := range run.Operations {
				if !op.Kind.Invokes() {
					got = append(got, op.Name+" of "+op.Agent+" below "+names[op.Parent])
				}
			}
			slices.Sort(got)
			want := c.want
			if stream.App != "" {
				want = strings.NewReplacer("n of  below a", "n of  below app", "w of  below a", "w of  below app", "o of  below a", "o of  below app").Replace(want)
			}
			if all := strings.Join(got, "; "); all != want {
				t.Errorf("%s, app %q:\n%s, want\n%s", name, stream.App, all, want)
			}
		}
	}
}

// TestNamedAfterItsCalls names an agent after it has made calls.
func TestNamedAfterItsCalls(t *testing.T) {
	named := func(stream *event.Stream) map[string]string {
		agents := map[string]string{}
		for _, op := range follow(t, stream, says("", calls("c", "look")), says("a", calls("d", "find")), says("a", returns("c", "look")), says("a", final)).Operations {
			agents[op.Name] = op.Agent
		}
		return agents
	}
	if got, want := named(file()), map[string]string{"a": "a", "look": "a", "find": "a"}; !maps.Equal(got, want) {
		t.Errorf("the operations are of %v, want %v", got, want)
	}
	if got := named(proxied())["look"]; got != "" {
		t.Errorf("a call of an application is of %q", got)
	}
}
