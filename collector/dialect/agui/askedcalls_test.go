package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Frames of ag-ui-langgraph in front of an agent with HumanInTheLoopMiddleware. BY is the agent's name in LangChain's metadata.
const (
	askedStart = `{"type":"TOOL_CALL_START","rawEvent":{"metadata":{"lc_agent_name":"BY"}},"toolCallId":"call_1a2b3c","toolCallName":"weather"}`
	askedArgs  = `{"type":"TOOL_CALL_ARGS","rawEvent":{"metadata":{"lc_agent_name":"BY"}},"toolCallId":"call_1a2b3c","delta":"{\"city\":\"ZürichCANARY\"}"}`
	askedEnd   = `{"type":"TOOL_CALL_END","rawEvent":{"metadata":{"lc_agent_name":"BY"}},"toolCallId":"call_1a2b3c"}`
	askedModel = `{"action_requests":[{"name":"weather","args":{"city":"Z\u00fcrichCANARY"},"description":"Tool: weather\nArgs: {'city': 'ZürichCANARY'}"}],"review_configs":[{"action_name":"weather"}]}`
)

var (
	asked       = []string{askedStart, askedArgs, askedEnd}
	askedOthers = []string{ // the same tool, called by an ordinary agent
		`{"type":"TOOL_CALL_START","toolCallId":"call_4d5e6f","toolCallName":"weather"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"call_4d5e6f","delta":"{\"city\":"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"call_4d5e6f","delta":"\"Rome\"}"}`,
	}
	askedListed = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_4d5e6f","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Rome\"}"}}]}]}`
	askedText   = []string{`{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"a"}`}
	askedAgain  = strings.Replace(askedListed, `"toolCalls":[`, `"toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"weather","arguments":"{\"city\":\"ZürichCANARY\"}"}},`, 1)
	askedResult = `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"call_1a2b3c","content":"sunny"}`
	inRome      = strings.NewReplacer(`Z\u00fcrichCANARY`, "Rome", "ZürichCANARY", "Rome")
)

func by(agent string, frames []string) (named []string) {
	for _, frame := range frames {
		named = append(named, strings.ReplaceAll(frame, "BY", agent))
	}
	return named
}

// quoted returns a value as a string of JSON.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// questionsOf are the frames in which a question comes, and what remains of those that leave without it.
func questionsOf(value string) map[string]string {
	end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r"`
	return map[string]string{
		`{"type":"CUSTOM","name":"on_interrupt","value":` + quoted(value) + `}`:                                                                withheld,
		`{"type":"CUSTOM","name":"on_interrupt","value":` + value + `}`:                                                                        withheld,
		`{"type":"CUSTOM","name":"asking","value":[{"x":` + value + `}]}`:                                                                      withheld,
		end + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","metadata":{"langgraph":{"raw":` + value + `}}}]}}`:         end + `}`,
		end + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","metadata":{"langgraph":{"raw":` + quoted(value) + `}}}]}}`: end + `}`,
		end + `,"result":{"__interrupt__":[{"value":` + value + `}]}}`:                                                                         end + `}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"x":1,"__interrupt__":[{"value":` + value + `}]}}`:                                               `{"type":"STATE_SNAPSHOT","snapshot":{"x":1,"__interrupt__":[{}]}}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"x":1,"__interrupt__":[{"value":` + quoted(value) + `}]}}`:                                       `{"type":"STATE_SNAPSHOT","snapshot":{"x":1,"__interrupt__":[{}]}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/__interrupt__","value":[{"value":` + value + `}]}]}`:                              withheld,
	}
}

// TestQuestionsAboutToolsOfWithheldCalls checks that a question does not leave with the tool and the arguments of a withheld call, and that
// other questions do.
func TestQuestionsAboutToolsOfWithheldCalls(t *testing.T) {
	internal, ordinary := by("internal_expert", asked), by("expert", asked)
	listed := `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"id":"a","type":"ai","kind":"internal_expert","content":"","tool_calls":[{"id":"call_1a2b3c","name":"weather","args":{"city":"ZürichCANARY"}}]}]}}`
	const bare = `{"type":"TOOL_CALL_START","toolCallId":"","toolCallName":"weather"}`
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"of an internal agent":                 {internal, false},
		"beside another of the tool":           {slices.Concat(internal, askedOthers), false},
		"again in a list that leaves":          {slices.Concat(internal, askedText, []string{askedAgain}), false},
		"in a list":                            {[]string{listed}, false},
		"whose arguments are internal":         {[]string{ordinary[0], internal[1], ordinary[2]}, false},
		"of a model, without frames":           {by("internal_expert", []string{`{"type":"RAW","event":{"event":"on_chat_model_end","metadata":{"lc_agent_name":"BY"},"data":{"output":{"id":"lc_run--1","tool_calls":[{"id":"call_1a2b3c","name":"weather","args":{"city":"ZürichCANARY"}}]}}}}`}), false},
		"without an ID":                        {[]string{evasions["kind"](bare)}, false},
		"unreadable":                           {[]string{evasions["unreadable"](ordinary[0])}, false},
		"of an ordinary agent":                 {ordinary, true},
		"of an ordinary agent, same arguments": {slices.Concat(internal, []string{strings.ReplaceAll(ordinary[0], "1a2b3c", "4d5e6f"), strings.ReplaceAll(ordinary[1], "1a2b3c", "4d5e6f")}), true},
		"with a result":                        {append(slices.Clone(internal), askedResult), true},
		"of another tool":                      {[]string{strings.Replace(internal[0], "weather", "time", 1), internal[1]}, true},
	} {
		for question, remains := range questionsOf(askedModel) {
			want := question
			if !c.leaves {
				want = remains
			}
			got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.sent...), question)...))
			if got != want {
				t.Errorf("a call %s: %s\nleaves as %s\nwant %s", name, question, got, want)
			}
			if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, append(append([]string{run}, c.sent...), question)...)); strings.Contains(got, "CANARY") {
				t.Errorf("a call %s under public: %s", name, got)
			}
		}
	}
	for name, sent := range map[string][]string{
		"that left in pieces":      slices.Concat(internal, askedOthers),
		"that left before":         slices.Concat(askedOthers, internal),
		"that left in a list":      append(slices.Clone(internal), askedListed),
		"with a piece of another":  {askedOthers[0], askedOthers[1], strings.ReplaceAll(internal[1], "1a2b3c", "4d5e6f"), askedOthers[2]},
		"before an unreadable one": append(slices.Clone(askedOthers), evasions["unreadable"](ordinary[0])),
	} {
		for question := range questionsOf(inRome.Replace(askedModel)) {
			isState := strings.Contains(question, "STATE_DELTA") // of a state that the client may lack
			if got := last(filterFrames(t, allSettings[0], append(append([]string{run}, sent...), question)...)); got != question && !isState {
				t.Errorf("a call %s: %s\nleaves as %s", name, question, got)
			}
		}
	}
}

// TestRequestsOfWithheldCalls checks the forms of a request: those of agent inboxes and of the middleware's mode per call, and others.
func TestRequestsOfWithheldCalls(t *testing.T) {
	for request, leaves := range map[string]bool{
		`{"action_request":{"action":"weather","args":{"city":"CANARY"}},"description":"x"}`:                                                      false,
		`{"type":"tool_approval","tool_call_id":"call_1a2b3c","name":"weather","args":{"city":"CANARY"}}`:                                         false,
		`{"type":"tool_approval","tool_call_id":"call_4d5e6f","name":"weather","args":{"city":"Paris"}}`:                                          true,
		`{"type":"tool_approval","tool_call_id":"call_9f9f9f","name":"weather","args":{"city":"CANARY"}}`:                                         false,
		`{"toolName":"weather","input":"CANARY"}`:                                                                                                 false,
		`{"function":{"name":"weather","arguments":"{\"city\":\"CANARY\"}"}}`:                                                                     false,
		`{"name":"weather","args":{"city":"Rome"},"input":{"city":"CANARY"}}`:                                                                     false,
		`{"name":"a","name ":"a","name  ":"a","name   ":"a"," name":"a"," name ":"a","  name":"a","action":"a","tool":"weather","args":"CANARY"}`: false,
		`{"name":"time","args":{"city":"Rome"}}`:                                                                                                  true,
		`{"name":"weather","title":"Which city?"}`:                                                                                                true,
		`{"action_requests":[{"name":"weather","args":{"city":"Rome"}},{"name":"weather","args":{"city":"CANARY"}}]}`:                             false,
	} {
		question := `{"type":"CUSTOM","name":"on_interrupt","value":` + quoted(request) + `}`
		sent := append(slices.Concat([]string{run}, by("internal_expert", asked), askedOthers), question)
		if got := last(filterFrames(t, allSettings[0], sent...)); (got == question) != leaves {
			t.Errorf("%s leaves as %s", question, got)
		}
	}
}

// TestRepeatedQuestions checks that the stream of a later run does not repeat a withheld question: LangGraph's adapter asks again if a
// request brings no answer.
func TestRepeatedQuestions(t *testing.T) {
	question := `{"type":"CUSTOM","name":"on_interrupt","value":` + quoted(askedModel) + `}`
	other := `{"type":"CUSTOM","name":"on_interrupt","value":` + quoted(inRome.Replace(askedModel)) + `}`
	again := strings.Replace(run, `"runId":"r"`, `"runId":"r2"`, 1)
	for name, c := range map[string]struct {
		then   []string
		leaves bool
	}{
		"the same":               {[]string{again, question}, false},
		"another":                {[]string{again, other}, true},
		"of another session":     {[]string{strings.Replace(again, `"threadId":"t"`, `"threadId":"u"`, 1), question}, true},
		"about a call that left": {append(append([]string{again}, by("expert", asked)...), question), true},
	} {
		memory := &event.Withheld{}
		var got string
		for _, frames := range [][]string{append(append([]string{run}, by("internal_expert", asked)...), question), c.then} {
			f := filter.New(allSettings[0])
			decodeStream(t, &event.Stream{Withheld: memory}, frames, func(b *event.Batch) {
				frame, why := f.Apply(b)
				if got = string(frame.Data); why != filter.Passed {
					got = withheld
				}
			})
		}
		if (got == last(c.then)) != c.leaves {
			t.Errorf("%s: the question leaves as %s", name, got)
		}
	}
}
