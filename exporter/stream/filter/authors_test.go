package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// settingCase is a setting, a stream, and the expected output under each policy.
type settingCase struct {
	name           string
	settings       filter.Settings
	sent           string
	public, client string // whole: as it came
}

const wholeRule = "whole"

func trySettings(t *testing.T, cases []settingCase, leaves func(filter.Settings, string) string) {
	t.Helper()
	for _, c := range cases {
		for policy, want := range map[event.Policy]string{event.PolicyPublic: c.public, event.PolicyClient: c.client} {
			if want == wholeRule {
				want = c.sent
			}
			c.settings.Policy = policy
			if got := leaves(c.settings, c.sent); got != want {
				t.Errorf("%s, %s: %s, want %s", c.name, policy, got, want)
			}
		}
	}
}

// adkSaid returns an event of an author.
func adkSaid(author string, members ...string) string {
	return `{"invocationId":"e-1","author":"` + author + `",` + strings.Join(members, ",") + `}`
}

func TestAuthors(t *testing.T) {
	authors := func(names ...string) filter.Settings {
		return filter.Settings{Authors: names, Thoughts: event.ThoughtsDetailed}
	}
	nobody := `{"invocationId":"e-1",` + adkParts(hi) + `}`
	trySettings(t, []settingCase{
		{"none named, an agent", authors(), adkSaid("a", adkParts(hi)), wholeRule, wholeRule},
		{"none named, nobody", authors(), nobody, wholeRule, wholeRule},
		{"none named, the user", authors(), adkSaid("user", adkParts(hi)), empty, wholeRule},
		{"none named, the user answers", authors(), adkSaid("user", adkParts(hi, answer)), adkSaid("user", adkParts(answer)), wholeRule},
		{"an agent who is named", authors("b", "a"), adkSaid("a", adkParts(hi)), wholeRule, wholeRule},
		{"an agent who is not", authors("a"), adkSaid("b", adkParts(hi)), empty, setting},
		{"an agent of a like name", authors("a"), adkSaid("A", adkParts(hi)), empty, setting},
		{"an agent who is not, and calls", authors("a"), adkSaid("b", adkParts(hi, call)), adkSaid("b", adkParts(call)), setting},
		{"an agent who is not, and only calls", authors("a"), adkSaid("b", adkParts(call)), wholeRule, wholeRule},
		{"an agent who is not, and says nothing", authors("a"), adkSaid("b", adkParts(`{"text":""}`)), wholeRule, wholeRule},
		{"an agent who is not, a delta", authors("a"), adkSaid("b", `"partial":true`, adkParts(hi)), empty, setting},
		{"an agent who is not, words beside a call", authors("a"), adkSaid("b", adkParts(`{"functionCall":{"name":"f"},"text":"hi"}`)), adkSaid("b", adkParts(`{"functionCall":{"name":"f"}}`)), setting},
		{"an agent who is named, words beside a call", authors("a"), adkEvent(adkParts(`{"functionCall":{"name":"f"},"text":"hi"}`)), adkEvent(adkParts(`{"functionCall":{"name":"f"}}`)), wholeRule},
		{"an agent who is not thinks", authors("a"), adkSaid("b", adkParts(thinking)), empty, setting},
		{"an agent who is named thinks", authors("a"), adkSaid("a", adkParts(thinking)), wholeRule, wholeRule},
		{"nobody, where somebody is named", authors("a", "user"), nobody, empty, setting},
		{"the user, where an agent is named", authors("a"), adkSaid("user", adkParts(hi)), empty, setting},
		{"the user, named", authors("a", "user"), adkSaid("user", adkParts(hi)), wholeRule, wholeRule},
		{"the user, named and escaped", authors("user"), adkSaid(`us\u0065r`, adkParts(hi)), adkSaid("user", adkParts(hi)), wholeRule},
		{"an agent, where the user is named", authors("user"), adkSaid("a", adkParts(hi)), empty, setting},
	}, func(s filter.Settings, sent string) string { return leavesADK(t, s, sent) })
}

// TestAuthorsOfRepeats repeats an answer in frames whose decoder reports no text. It has the author of the answer: the user who is
// listed is not that author, and neither is an agent that is not known.
func TestAuthorsOfRepeats(t *testing.T) {
	const content = `[{"type":"output_text","text":"hello","annotations":[]}]`
	const item = `{"id":"i","type":"message","role":"assistant","status":"completed","content":` + content + `}`
	response := []string{
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","output_index":0,"item_id":"i","content_index":0,"delta":"hello"}`,
		`{"type":"response.content_part.done","output_index":0,"item_id":"i","content_index":0,"part":` + strings.Trim(content, "[]") + `}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
		`{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[` + item + `]}}`,
	}
	for _, c := range []struct {
		dialect, agent, start string
		frames                []string
	}{
		{"openai", "", openAIResponse, response},
		{"openai", "a", data(`{"type":"agent_updated_stream_event","new_agent":{"name":"a"}}`) + openAIResponse, response},
		{"a2a", "", "", []string{
			`{"result":{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"hello"}]}}}`,
			`{"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"hello"}]}]}}`,
		}},
	} {
		sent := c.start
		for _, frame := range c.frames {
			sent += data(frame)
			for _, author := range []string{"user", "a", "b"} {
				public := lastOf(t, filter.Settings{Policy: event.PolicyPublic, Authors: []string{author}}, c.dialect, sent)
				client := lastOf(t, filter.Settings{Policy: event.PolicyClient, Authors: []string{author}}, c.dialect, sent)
				if want := strings.Contains(frame, "hello") && c.agent == author; strings.Contains(public, "hello") != want || strings.Contains(client, "hello") != want {
					t.Errorf("%s, author %q of %q: of %s this leaves:\npublic: %s\nclient: %s", c.dialect, author, c.agent, frame, public, client)
				}
			}
		}
	}
}

func TestThoughts(t *testing.T) {
	alone := map[event.Verbosity]string{event.ThoughtsNone: empty, event.ThoughtsBrief: empty, event.ThoughtsNormal: empty, event.ThoughtsDetailed: adkEvent(adkParts(thinking))}
	for _, thought := range []string{
		thinking, `{"text":"hm","thought":"true"}`, `{"text":"hm","thought":1}`, `{"text":"hm","thought":{}}`, `{"thinking":"hm"}`, `{"thought":true,"text":"hm"}`,
	} {
		both, without := adkEvent(adkParts(hi, thought)), adkEvent(adkParts(hi))
		leaving := both
		if strings.Contains(thought, `:"true"`) || strings.HasSuffix(thought, "{}}") { // of signs, only numbers and booleans leave as they are
			leaving = adkEvent(adkParts(hi, `{"text":"hm","thought":true}`))
		}
		for verbosity, want := range map[event.Verbosity][2]string{
			event.ThoughtsNone:     {without, setting},
			event.ThoughtsBrief:    {without, setting},
			event.ThoughtsNormal:   {without, setting},
			event.ThoughtsDetailed: {leaving, wholeRule},
		} {
			trySettings(t, []settingCase{
				{fmt.Sprint(thought, verbosity), filter.Settings{Thoughts: verbosity}, both, want[0], want[1]},
				{fmt.Sprint("beside a text that stays in ", verbosity), filter.Settings{Thoughts: verbosity, Exclude: []event.Kind{event.KindText}}, adkEvent(adkParts(thinking, hi)), alone[verbosity], setting},
				{fmt.Sprint("no thought", verbosity), filter.Settings{Thoughts: verbosity}, without, wholeRule, wholeRule},
				{fmt.Sprint("said to be none", verbosity), filter.Settings{Thoughts: verbosity}, adkEvent(adkParts(`{"text":"hi","thought":false}`)), wholeRule, wholeRule},
			}, func(s filter.Settings, sent string) string { return leavesADK(t, s, sent) })
		}
	}
}

func TestFloor(t *testing.T) {
	floor := func(f float64) filter.Settings {
		return filter.Settings{Thoughts: event.ThoughtsDetailed, MinConfidence: f}
	}
	sure := func(confidence string) string {
		return `{"kind":"thought-stream","thought":"hm"` + confidence + `}`
	}
	bare := sure("")
	for _, c := range []struct {
		name     string
		settings filter.Settings
		stated   string
		leaves   bool
	}{
		{"no floor, nothing stated", floor(0), ``, true},
		{"no floor, nothing known", floor(0), `,"confidence":["high"]`, true},
		{"above", floor(0.5), `,"confidence":[0.6]`, true},
		{"at it", floor(0.5), `,"confidence":[0.5]`, true},
		{"below", floor(0.5), `,"confidence":[0.49]`, false},
		{"nothing stated", floor(0.5), ``, false},
		{"nothing known", floor(0.5), `,"confidence":["high"]`, false},
		{"one of two below", floor(0.5), `,"confidence":[0.9,0.1]`, false},
		{"not known, and above", floor(0.5), `,"confidence":["high",0.9]`, true},
		{"below, then above", floor(0.5), `,"confidence":[0.1,0.9]`, false},
		{"above, and thoughts stay in", filter.Settings{Thoughts: event.ThoughtsNormal, MinConfidence: 0.5}, `,"confidence":[0.6]`, false},
	} {
		public, client := empty, setting
		if c.leaves {
			public, client = bare, wholeRule
		}
		trySettings(t, []settingCase{{c.name, c.settings, sure(c.stated), public, client}}, func(s filter.Settings, sent string) string {
			return leaves(s, kindedBatches(strings.NewReader(data(sent))))
		})
	}
	// The minimum applies only to thoughts, and an answer's confidence is not that of a thought.
	said := `{"text":"**Confidence:** 92%"}`
	trySettings(t, []settingCase{
		{"an answer", floor(0.95), adkEvent(adkParts(said)), wholeRule, wholeRule},
		{"a thought beside an answer", floor(0.5), adkEvent(adkParts(said, thinking)), adkEvent(adkParts(said)), setting},
	}, func(s filter.Settings, sent string) string { return leavesADK(t, s, sent) })
}

func TestStateKeys(t *testing.T) {
	keys := func(names ...string) filter.Settings { return filter.Settings{StateKeys: names} }
	state := func(members string) string { return adkEvent(adkParts(hi), `"actions":{"stateDelta":{`+members+`}}`) }
	trySettings(t, []settingCase{
		{"none", keys(), state(`"a":1`), adkEvent(adkParts(hi)), wholeRule},
		{"one of two", keys("a"), state(`"a":{"b":[1,"x",null,true]},"c":2`), state(`"a":{"b":[1,"x",null,true]}`), wholeRule},
		{"another", keys("b"), state(`"a":{"b":1}`), adkEvent(adkParts(hi)), wholeRule},
		{"a like one", keys("a"), state(`"A":1`), adkEvent(adkParts(hi)), wholeRule},
		{"an escaped one", keys("a"), state(`"\u0061":1`), state(`"a":1`), wholeRule},
		{"a scoped one", keys("user:a"), state(`"user:a":1,"a":2,"temp:a":3`), state(`"user:a":1`), wholeRule},
		{"one called kind", keys("kind"), state(`"kind":"internal:x"`), wholeRule, wholeRule}, // the configuration asks for it
		{"no object", keys("a"), adkEvent(adkParts(hi), `"actions":{"stateDelta":["a"]}`), adkEvent(adkParts(hi)), wholeRule},
		{"elsewhere", keys("args", "a"), adkEvent(adkParts(`{"functionCall":{"name":"f","args":{"a":1}}}`), `"a":1`), adkEvent(adkParts(`{"functionCall":{"name":"f"}}`)), wholeRule},
	}, func(s filter.Settings, sent string) string { return leavesADK(t, s, sent) })
}
