package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// evasions are ways in which a beginning may say that it is meant for nobody outside, so that it stays in.
var evasions = map[string]func(string) string{
	"kind":                      and(`"kind":"internal"`),
	"kind, longer":              and(`"kind":"internal:x"`),
	"kind, in another case":     and(`"KIND":"InternalNote"`),
	"kind, full width":          and(`"ｋｉｎｄ":"ｉｎｔｅｒｎａｌ"`),
	"kind, in Kelvin":           and(`"\u212aind":"internal"`),
	"kind, without its dot":     and(`"kınd":"ınternal"`),
	"kind, with blanks":         and(`" k\u200bind":"in\u00adter nal"`),
	"kind, a list":              and(`"kind":["internal"]`),
	"kind that nobody has":      and(`"kind":"note"`),
	"kind, empty":               and(`"kind":""`),
	"kind, null":                and(`"kind":null`),
	"framework's type":          and(`"rawEvent":{"type":"internal:x"}`),
	"framework's kind, deep":    and(`"rawEvent":{"event":[{"Kind":"internal"}]}`),
	"framework, another case":   and(`"raw\u00adEvent":{"type":"internal"}`),
	"framework's, in a list":    and(`"rawEvent":[{"event":{"kind":["x",{"Internal":1}]}}]`),
	"event":                     and(`"event":{"type":"internal"}`),
	"name":                      label("name", `"internal:planner"`),
	"name, a list":              label("name", `["x",{"Internal":1}]`),
	"name, in another case":     label("Name", `"\u0131NTERNAL"`),
	"name, full width":          label("ｎame", `"ｉnternal x"`),
	"activity's type":           label("activityType", `"internal:x"`),
	"activity's type, Python's": and(`"activity_type":"Internal"`),
	"role, a number":            and(`"role":7`),
	"role, a list":              and(`"role":["assistant"]`),
	"role, in another case":     and(`"Role":{}`),
	"SSE name":                  named("internal"),
	"SSE name, longer":          named("internal:x"),
	"SSE name that nobody has":  named("message"),
	"SSE name, its own type":    named("TEXT_MESSAGE_START"),
	"read by nobody":            and(`"x":"\ud800"`),
	"twice the same":            and(`"x":1,"X":1`),
	"type, a list":              swap(`{"type":"`, `{"type":["x"],"was":"`),
	"type, longer":              swap(`{"type":"`, `{"type":"internal:`),
	"type that nobody has":      swap(`{"type":"`, `{"type":"X_`),
	"type, in another case too": swap(`{"type":"`, `{"type ":"x","type":"`),
}

func and(member string) func(string) string {
	return func(data string) string { return strings.TrimSuffix(data, "}") + "," + member + "}" }
}

// label has a beginning name itself by a member, instead of any that it has.
func label(member, value string) func(string) string {
	return func(data string) string {
		return and(`"` + member + `":` + value)(strings.NewReplacer(`,"name":"n"`, "", `,"activityType":"a"`, "").Replace(data))
	}
}

func named(name string) func(string) string { return func(data string) string { return name + data } }

func swap(from, to string) func(string) string {
	return func(data string) string { return strings.Replace(data, from, to, 1) }
}

// begun are beginnings, each with what may go on with it.
var begun = map[string][]string{
	"a message": {
		`{"type":"TEXT_MESSAGE_START","messageId":"m"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
	},
	"a message in chunks": {
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`,
	},
	"a call": {
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"x"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`,
	},
	"a call in chunks": {
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"x"}`, `{"type":"TOOL_CALL_CHUNK","delta":"x"}`, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`,
	},
	"reasoning": {
		`{"type":"REASONING_START","messageId":"r"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`, `{"type":"REASONING_END","messageId":"r"}`,
	},
	"a thought": {
		`{"type":"REASONING_MESSAGE_START","messageId":"m"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"x"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`,
	},
	"a thought in chunks": {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"x"}`},
	"thinking":            {`{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`},
	"a thought of before": {`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`},
	"an activity":         {`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}`, `{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}`},
	"a subagent":          {`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"x"}`},
	"a step":              {`{"type":"STEP_STARTED","stepName":"s"}`, `{"type":"STEP_FINISHED","stepName":"s"}`},
}

// everything is what each policy lets out at most.
var everything = []filter.Settings{
	{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, {Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed},
}

// TestHeldBeginnings lets nothing leave that goes on with what stayed in.
func TestHeldBeginnings(t *testing.T) {
	for what, frames := range begun {
		for how, evade := range evasions {
			sent := append([]string{evade(frames[0])}, frames[1:]...)
			for _, s := range everything {
				if got := leave(t, s, sent...); slices.ContainsFunc(got, func(one string) bool { return one != stays }) {
					t.Errorf("%s, %s, %s: %q", what, how, s.Policy, got)
				}
			}
		}
	}
}

// TestHeldBesides makes sure that what is none of its business leaves before and after a beginning that stays in, and that what is
// begun again by its name does not.
func TestHeldBesides(t *testing.T) {
	evade := evasions["kind"]
	for what, frames := range begun {
		other := strings.NewReplacer(`"m"`, `"m2"`, `"c"`, `"c2"`, `"r"`, `"r2"`, `"s"`, `"s2"`)
		clean := other.Replace(frames[0])
		more := other.Replace(frames[len(frames)-1])
		client := everything[0]
		if got := leave(t, client, clean, evade(frames[0]), clean, more); got[0] != clean || got[1] != stays || got[2] != clean || got[3] != more {
			t.Errorf("%s: %q", what, got)
		}
		if named := clean != frames[0]; !named {
			continue
		}
		for _, s := range everything {
			if got := leave(t, s, evade(frames[0]), frames[0], frames[1]); got[1] != stays || got[2] != stays {
				t.Errorf("%s, begun again: %q", what, got)
			}
		}
	}
}

// TestHeldParts keeps in what is part of something that stays in.
func TestHeldParts(t *testing.T) {
	evade := evasions["kind"]
	for name, sent := range map[string][]string{
		"a call of a message":      {evade(begun["a message"][0]), `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, begun["a call"][1]},
		"a subagent of a call":     {evade(begun["a call"][0]), `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentToolCallId":"c"}`, begun["a subagent"][1]},
		"a subagent of a subagent": {evade(begun["a subagent"][0]), `{"type":"SUBAGENT_STARTED","subagentRunId":"u","name":"n","parentSubagentRunId":"s"}`, `{"type":"STATE_SNAPSHOT","snapshot":{},"subagentRunId":"u"}`},
		"words of a subagent":      {evade(begun["a subagent"][0]), `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`, begun["a message"][1]},
		"thoughts of reasoning":    append([]string{evade(begun["reasoning"][0])}, begun["a thought"]...),
		"thoughts of thinking":     append([]string{evade(begun["thinking"][0])}, begun["a thought of before"]...),
		"chunks of a message":      {evade(begun["a message"][0]), begun["a message in chunks"][0], `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`},
		"chunks of an unknown one": {evasions["type, longer"](begun["a message"][0]), begun["a message in chunks"][0], `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`},
		"chunks after what ends":   {evade(begun["a message in chunks"][0]), `{"type":"INTERNAL_X"}`, begun["a message in chunks"][0]},
		"what is encrypted":        {evade(begun["a call"][0]), `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"x"}`},
		"what a run left":          {evade(begun["a call"][0]), `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}`},
	} {
		for _, s := range everything {
			if got := leave(t, s, sent...); slices.ContainsFunc(got, func(one string) bool { return one != stays }) {
				t.Errorf("%s, %s: %q", name, s.Policy, got)
			}
		}
	}
}

// TestHeldFirst holds back what goes on with a piece that stays in where no beginning was seen: it may have been the beginning.
func TestHeldFirst(t *testing.T) {
	for what, frames := range begun {
		if strings.Contains(what, "message") {
			continue // the pieces of messages never leave without a beginning
		}
		for _, evade := range []string{"kind", "name", "activity's type", "SSE name"} {
			for _, s := range everything {
				sent := []string{evasions[evade](frames[1]), frames[1], frames[0], frames[1]}
				if strings.Contains(what, "before") || what == "thinking" || strings.HasSuffix(what, "chunks") || what == "reasoning" {
					sent = sent[:2] // without an id, what begins next is something else
				}
				if got := leave(t, s, sent...); slices.ContainsFunc(got, func(one string) bool { return one != stays }) {
					t.Errorf("%s, %s, %s: %q", what, evade, s.Policy, got)
				}
			}
		}
	}
}

// TestHeldRuns lets nothing of a run leave whose beginning stays in, be it the stream's or one within another, and all of the next one.
func TestHeldRuns(t *testing.T) {
	start := func(run string) string { return `{"type":"RUN_STARTED","threadId":"t","runId":"` + run + `"}` }
	end := func(run string) string { return `{"type":"RUN_FINISHED","threadId":"t","runId":"` + run + `"}` }
	within := and(`"parentRunId":"r"`)
	said := begun["a message"][:2]
	for how, evade := range evasions {
		if strings.HasPrefix(how, "type") || strings.HasPrefix(how, "role") || how == "read by nobody" || how == "twice the same" {
			continue // nobody knows that it began a run, or a run has no role
		}
		for _, s := range everything {
			got := leave(t, s, evade(start("r")), said[0], said[1], begun["a step"][0], end("r"), start("q"), said[0], said[1])
			if want := []string{stays, stays, stays, stays, stays, start("q"), said[0], said[1]}; !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q", how, s.Policy, got)
			}
			got = leave(t, s, start("r"), evade(within(start("n"))), said[0], said[1], end("n"), begun["a step"][0], end("r"))
			if want := []string{start("r"), stays, stays, stays, stays, begun["a step"][0], end("r")}; !slices.Equal(got, want) {
				t.Errorf("%s, within another, %s: %q", how, s.Policy, got)
			}
			got = leave(t, s, start("r"), evade(within(start("n"))), `{"type":"RUN_ERROR","message":"x"}`, start("q"), said[0])
			if want := []string{start("q"), said[0]}; !slices.Equal(got[3:], want) {
				t.Errorf("%s, within another that fails, %s: %q", how, s.Policy, got)
			}
		}
	}
}

// TestHeldInNextRun keeps in what goes on with it in another run of the stream.
func TestHeldInNextRun(t *testing.T) {
	call := begun["a call"]
	got := leave(t, everything[0], evasions["kind"](call[0]), `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, call[3])
	if last(got) != stays {
		t.Errorf("%q", got)
	}
}

// TestHeldOfNobody keeps in what may go on with it, where a frame does not say whose it is.
func TestHeldOfNobody(t *testing.T) {
	thought := begun["a thought of before"]
	got := leave(t, everything[0], thought[0], and(`"subagentRunId":"s","kind":"internal"`)(thought[0]), thought[1])
	if got[0] == stays || last(got) != stays {
		t.Errorf("%q", got)
	}
}
