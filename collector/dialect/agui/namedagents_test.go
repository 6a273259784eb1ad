package agui_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestNamedAgents checks that objects that name an internal agent do not leave in what applications and tools make.
//
// Source: recordings of @ag-ui/mastra 1.1.2 and agent-framework-ag-ui 1.7.0.
func TestNamedAgents(t *testing.T) {
	quoted := func(text string) string {
		q, _ := json.Marshal(text)
		return string(q)
	}
	activity := func(id, content string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"` + id + `","activityType":"executor","content":` + content + `}`
	}
	ends := func(member string) string { return `{"type":"RUN_FINISHED","threadId":"t","runId":"r",` + member + `}` }
	change := func(op string) string {
		return `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"executor","patch":[` + op + `]}`
	}
	list := func(message string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + "," + message + `]}`
	}
	call := toolCall("c", "agent-writer", "{}", "")[:3]
	places := map[string][]string{
		"a result":              append(slices.Clone(call), `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":QUOTED}`),
		"parts of a result":     append(slices.Clone(call), `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":[{"type":"text","text":QUOTED}]}`),
		"a listed result":       {list(`{"id":"y","role":"tool","toolCallId":"c","content":QUOTED}`)},
		"a listed activity":     {list(`{"id":"y","role":"activity","activityType":"x","content":ONE}`)},
		"within a listed one":   {list(`{"id":"y","role":"activity","activityType":"x","content":{"data":[ONE]}}`)},
		"a request":             {with(`"input":{"messages":[{"id":"y","role":"tool","toolCallId":"c","content":QUOTED}]}`)(run)},
		"a custom event":        {`{"type":"CUSTOM","name":"x","value":{"steps":[ONE]}}`},
		"a custom question":     {`{"type":"CUSTOM","name":"on_interrupt","value":QUOTED}`},
		"a question":            {ends(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","metadata":{"mastra":ONE}}]}`)},
		"an old question":       {ends(`"interrupt":{"id":"i","payload":ONE}`)},
		"the result of a run":   {ends(`"result":{"steps":[ONE]}`)},
		"an activity":           {activity("a", "ONE")},
		"a part of an activity": {activity("a", `{"data":[{"x":"y"},ONE]}`)},
		"a text in an activity": {activity("a", `{"data":QUOTED}`)},
		"a changed activity":    {activity("a", `{}`), change(`{"op":"add","path":"/x","value":ONE}`)},
	}
	for object, leaves := range map[string]bool{
		`{"toolName":"agent-internal_x","result":{"text":"CANARY"}}`:                           false,
		`{"tool_name":"workflow-Internal_x","args":"CANARY"}`:                                  false,
		`{"data":{"subAgentToolResults":[{"toolName":"agent-internal_x","result":"CANARY"}]}}`: false,
		`{"executor_id":"internal_x","data":"CANARY"}`:                                         false,
		`{"source_executor_id":"Internal.x","data":"CANARY"}`:                                  false,
		`{"authorName":"internal_x","contents":[{"text":"CANARY"}]}`:                           false,
		`{"toolName":"agent-writer","result":"CANARY"}`:                                        true,
		`{"toolName":"internal_look","result":"CANARY"}`:                                       true,
		`{"executor_id":"writer","data":"CANARY"}`:                                             true,
		`{"executor_id":"agent-internal_x","title":"internal_x","data":"CANARY"}`:              true,
	} {
		for where, frames := range places {
			sent := slices.Concat([]string{run}, frames)
			sent[len(sent)-1] = strings.NewReplacer("ONE", object, "QUOTED", quoted(object)).Replace(last(sent))
			for i, s := range allSettings {
				got := last(filterFrames(t, s, sent...))
				isLeft := strings.Contains(got, "CANARY") || strings.Contains(got, `"id":"i"`) // a question stays in as a whole
				if isLeft != leaves && (i == 0 || !leaves) || i == 0 && leaves && got != last(sent) {
					t.Errorf("%s in %s, %s: %s", object, where, s.Policy, got)
				}
			}
		}
	}
}

// TestNamedActivities checks that all versions of an activity stay in that is of an internal agent, and that others lose only a part.
func TestNamedActivities(t *testing.T) {
	version := func(id, content string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"` + id + `","activityType":"executor","content":` + content + `,"replace":true}`
	}
	change := func(id, op string) string {
		return `{"type":"ACTIVITY_DELTA","messageId":"` + id + `","activityType":"executor","patch":[` + op + `]}`
	}
	const of, other, canary = `{"executor_id":"internal_x","data":null}`, `{"data":"x"}`, `{"data":"CANARY"}`
	add := `{"op":"add","path":"/data","value":"CANARY"}`
	for what, c := range map[string]struct {
		sent []string
		want string
	}{
		"a later version":           {[]string{version("a", of), version("a", canary)}, withheld},
		"a later change":            {[]string{version("a", of), change("a", add)}, withheld},
		"after a change that names": {[]string{version("a", other), change("a", `{"op":"add","path":"/executor_id","value":"internal_x"}`), version("a", canary)}, withheld},
		"after a change of a tool":  {[]string{version("a", other), change("a", `{"op":"replace","path":"/x/toolName","value":"agent-internal_x"}`), version("a", canary)}, withheld},
		"a moved name":              {[]string{version("a", other), change("a", `{"op":"move","from":"/x","path":"/executor_id"}`), version("a", canary)}, withheld},
		"an ordinary name":          {[]string{version("a", other), change("a", `{"op":"add","path":"/executor_id","value":"writer"}`), version("a", canary)}, version("a", canary)},
		"a name in the ID":          {[]string{version("1:r:executor:internal_x", canary)}, withheld},
		"a change with such an ID":  {[]string{change("1:r:executor:internal_x", add)}, withheld},
		"an ordinary ID":            {[]string{version("1:r:executor:an-internal_x", canary)}, version("1:r:executor:an-internal_x", canary)},
		"a part":                    {[]string{version("a", `{"executor_id":"writer","data":[{"executor_id":"internal_x","d":"CANARY"},"x"]}`)}, version("a", `{"executor_id":"writer","data":["x"]}`)},
		"a version after a part":    {[]string{version("a", `{"data":`+of+`}`), version("a", canary)}, version("a", canary)},
		"a change after a part":     {[]string{version("a", `{"data":`+of+`}`), change("a", add)}, withheld},
		"in a list":                 {[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `,{"id":"1:r:executor:internal_x","role":"activity","activityType":"x","content":` + canary + `}]}`}, `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `]}`},
	} {
		if got := last(filterFrames(t, allSettings[0], slices.Concat([]string{run}, c.sent)...)); got != c.want {
			t.Errorf("%s: %s", what, got)
		}
		if c.want != withheld {
			continue
		}
		if got := last(filterFrames(t, allSettings[1], slices.Concat([]string{run}, c.sent)...)); got != withheld {
			t.Errorf("%s, public: %s", what, got)
		}
	}
}
