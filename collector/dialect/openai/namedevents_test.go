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
