package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestNamedEvents sends events of which the application names the agent. Nothing of an internal one leaves, and all of another one does.
func TestNamedEvents(t *testing.T) {
	const textJS = `{"type":"raw_model_stream_event",AGENT"data":{"type":"output_text_delta","delta":"secret"}}`
	wrap := func(begin, end string) func(string) string { return func(v string) string { return begin + v + end } }
	envelopes := map[string]func(string) string{
		"Python":     wrap(`{"type":"raw_response_event",AGENT"data":`, `}`),
		"JavaScript": wrap(`{"type":"raw_model_stream_event",AGENT"data":{"type":"model","event":`, `}}`),
		"in data":    func(v string) string { return `{"type":"raw_response_event","data":{AGENT` + v[1:] + `}` },
		"in a model": wrap(`{"type":"raw_model_stream_event","data":{AGENT"type":"model","event":`, `}}`),
	}
	events := []string{created, added, delta, strings.Replace(delta, "text.delta", "text.done", 1), ended}
	for name, envelope := range envelopes {
		for _, member := range []string{`"agent":"NAME",`, `"agent":{"name":"NAME"},`, `"agent_name":"NAME",`} {
			if strings.HasPrefix(name, "in ") && !strings.HasPrefix(member, `"agent_name"`) {
				continue // the protocol has its own "agent" there
			}
			for _, some := range [][]string{events, events[1:], events[2:], events[2:4]} { // an application may pass on only some events
				for _, unnamed := range []string{"", strings.Replace(envelope(delta), "AGENT", "", 1)} {
					var sent []string
					for _, v := range some {
						sent = append(sent, strings.Replace(envelope(v), "AGENT", member, 1))
					}
					if unnamed != "" && len(some) != 2 {
						sent = slices.Insert(sent, len(sent)-1, unnamed)
					}
					checkNamed(t, name+" "+member, sent, strings.Split(later.Replace(strings.Join(sent, "\n")), "\n"))
				}
			}
		}
	}
	for _, member := range []string{`"agent":"NAME",`, `"agent_name":"NAME",`} {
		sent := []string{strings.Replace(textJS, "AGENT", member, 1)}
		checkNamed(t, "text "+member, sent, []string{strings.Replace(sent[0], "secret", "answer", 1)})
	}
}

// checkNamed checks that nothing leaves of events of which the agent is internal, and that all leave if it is not. next are events of
// another agent after them.
func checkNamed(t *testing.T, name string, sent, next []string) {
	t.Helper()
	internal, plain := strings.NewReplacer("NAME", "internal_checker"), strings.NewReplacer("NAME", "checker")
	events := stream(append([]string{begins("a")}, sent...)...)
	for _, s := range []filter.Settings{client, public} {
		if out := leaving(t, s, internal.Replace(events)); strings.Contains(out, "secret") {
			t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
		}
	}
	if out := leaving(t, client, plain.Replace(events)); strings.Count(out, "\n") != len(sent)+1 {
		t.Errorf("%s: if the agent is not internal, this leaves: %s", name, out)
	}
	if out := leaving(t, client, internal.Replace(events)+plain.Replace(stream(next...))); strings.Count(out, "\n") != len(next)+1 {
		t.Errorf("%s: after an internal agent, this leaves: %s", name, out)
	}
}

// TestNamedBeginnings names an internal agent only where its answer begins, and in an error.
func TestNamedBeginnings(t *testing.T) {
	const named = `"agent_name":"internal_checker",`
	begun := `{"type":"raw_model_stream_event",` + named + `"data":{"type":"response_started","providerData":{}}}`
	text := `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"secret"}}`
	checkStaysIn(t, []filter.Settings{client, public}, begins("a"), begun, text)
	checkStaysIn(t, []filter.Settings{client, public}, begins("a"), createdOf("r"), `{"type":"error",`+named+`"code":"x","message":"secret"}`)
}

// TestInternalAgentsOfItems sends parts of a response. The item in them names an internal agent.
func TestInternalAgentsOfItems(t *testing.T) {
	part := strings.Replace(delta, `"delta"`, `"item":{"agent":{"agent_name":"/root/internal_a"}},"delta"`, 1)
	checkStaysIn(t, []filter.Settings{client, public}, created, part, delta)
	if out := leaving(t, client, stream(created, added, strings.Replace(part, "internal_a", "a", 1))); !strings.Contains(out, "secret") {
		t.Errorf("if the agent is not internal, this leaves: %s", out)
	}
}

// named returns events in which an application names an agent.
func named(agent string, sent ...string) (all []string) {
	for _, v := range sent {
		all = append(all, strings.Replace(v, "{", `{"agent_name":"`+agent+`",`, 1))
	}
	return all
}

// TestNamedBeside names ordinary agents in events beside the work of internal ones. All of theirs leaves.
func TestNamedBeside(t *testing.T) {
	secret, answer := workOf(hidden, "i", "secret"), workOf("a", "k", "answer")
	begun := slices.Concat(named("a", begins("a")), named(hidden, begins(hidden)))
	asks := named("a", begins("a"), createdOf("ra"), strings.Replace(calledOf(1, "c", "ask"), "item.done", "item.added", 1), calledOf(2, "c", "ask"), completedOf(3, "ra", ""), callItem("a", "c", "ask"))
	alternate := func(one, other []string) (all []string) {
		for i := range one {
			all = append(all, one[i], other[i])
		}
		return all
	}
	js := func(v string) string {
		return strings.NewReplacer(`"raw_response_event","data":`, `"raw_model_stream_event","data":{"type":"model","event":`, `}}`, `}}}`).Replace(v)
	}
	startJS := func(id string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"response_started","providerData":{"type":"response.created","response":{"id":"` + id + `"}}}}`
	}
	for name, sent := range map[string][]string{
		"at the same time":            slices.Concat(begun, alternate(named(hidden, secret...), named("a", answer...))),
		"the ordinary one first":      slices.Concat(begun, alternate(named("a", answer...), named(hidden, secret...))),
		"one after the other":         slices.Concat(begun, named(hidden, secret[:3]...), named("a", answer...), named(hidden, secret[3:]...)),
		"a run after one that failed": slices.Concat(named(hidden, begins(hidden)), named(hidden, secret[:2]...), named("a", begins("a")), named("a", answer...)),
		"work that outlives its call": slices.Concat(asks, named(hidden, begins(hidden)), named(hidden, secret[:2]...), named("a", outputItem("a", "c")), named("a", answer[:1]...), named(hidden, secret[2]), named("a", answer[1:]...), named(hidden, secret[3:]...)),
		"work that outlives a failed call": slices.Concat(asks, named(hidden, begins(hidden)), named(hidden, secret[:2]...), named("a", strings.Replace(outputItem("a", "c"), `"o"`, `"An error occurred while running the tool. Please try again."`, 1)),
			named("a", answer[0]), named(hidden, secret[2]), named("a", answer[1:]...), named(hidden, secret[3:]...)),
		"only items of the ordinary one": slices.Concat(named("a", begins("a")), named(hidden, createdOf("ri")), named("a", saysItem("a", "k", "answer"), saysItem("a", "l", "answer"), saysItem("a", "m", "answer"))),
		"no beginnings":                  slices.Concat(named("a", begins("a")), alternate(named(hidden, secret...), named("a", answer...))),
		"in another call": slices.Concat(named("b", begins("b"), callItem("b", "c", "ask"), callItem("b", "d", "ask")), begun,
			named(hidden, secret[0]), named("a", answer[0]), named(hidden, secret[1]), named("a", answer[1]), named(hidden, secret[2:]...), named("a", answer[2:]...)),
	} {
		ordinary := 0
		for _, v := range sent {
			if !strings.Contains(v, hidden) {
				ordinary++
			}
		}
		if out := leaving(t, client, stream(sent...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != 3 || strings.Count(strings.TrimSpace(out), "\n")+1 != ordinary {
			t.Errorf("%s: this leaves: %s", name, out)
		}
	}
	withStarts := slices.Concat(named(hidden, startJS("ri"), js(secret[0])), named("a", startJS("rk"), js(answer[0])), alternate(named(hidden, js(secret[1]), js(secret[2]), js(secret[3])), named("a", js(answer[1]), js(answer[2]), js(answer[3]))))
	if out := leaving(t, client, stream(slices.Concat(begun, withStarts)...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
		t.Errorf("with the beginnings of the SDK for JavaScript, this leaves: %s", out)
	}
}

// TestWrongNames names an ordinary agent in events of an internal one, as do applications that name the agent around it.
func TestWrongNames(t *testing.T) {
	secret := workOf("", "i", "secret")
	asks := []string{begins("a"), callItem("a", "c", "ask")}
	marked := strings.Replace(secret[0], `"id":"ri"`, `"kind":"internal","id":"ri"`, 1)
	for name, sent := range map[string][]string{
		"its beginning":       slices.Concat(named("a", asks[0], begins(hidden)), named("a", secret...)),
		"its item":            slices.Concat(named("a", asks[0]), []string{begins(hidden)}, named("a", callItem(hidden, "f", "g")), named("a", secret[:4]...)),
		"an agent that waits": slices.Concat(named("a", asks...), []string{begins(hidden)}, named("a", secret[:4]...)),
		"a marked response":   slices.Concat(named("a", asks[0], marked), named("a", secret[1:]...)),
		"a marked agent":      slices.Concat([]string{strings.Replace(begins("a"), `{`, `{"kind":"internal",`, 1)}, named("a", secret...)),
	} {
		if out := leaving(t, client, stream(sent...)); strings.Contains(out, "secret") {
			t.Errorf("%s: this leaves: %s", name, out)
		}
	}
}

// TestAuthorsOfNamedEvents names the agents of responses at the same time. A name does not outweigh the only agent that can answer.
func TestAuthorsOfNamedEvents(t *testing.T) {
	for want, sent := range map[string][]string{
		`b: model_started; a#1: model_started`: slices.Concat([]string{begins("a"), begins("b")}, named("b", createdOf("r")), named("a", createdOf("s"))),
		`?: model_started`:                     slices.Concat([]string{begins("a"), begins("b")}, named("z", createdOf("r"))),
		`a: model_started`:                     slices.Concat([]string{begins("a")}, named("z", createdOf("r"))),
	} {
		if got := whoDid(sent...); got != want {
			t.Errorf("the facts are %s, want %s", got, want)
		}
	}
}
