package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// appOf returns the activity that MCP apps middleware makes from a call.
//
// Source: src/index.ts of @ag-ui/mcp-apps-middleware.
func appOf(result, input string) string {
	return `{"type":"ACTIVITY_SNAPSHOT","messageId":"app","activityType":"mcp-apps","content":{"result":` + result + `,"resourceUri":"ui://x","serverHash":"h","toolInput":` + input + `},"replace":true}`
}

// TestActivitiesOfCalls checks that an activity is withheld that has the arguments or the result of a withheld call, but not its ID.
func TestActivitiesOfCalls(t *testing.T) {
	const args = `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"query\": \"salaries of all\", \"top\": 1e1}"}`
	const same, other = `{"top":10,"query":"salaries of all"}`, `{"top":11,"query":"salaries of all"}`
	const delta = `{"type":"ACTIVITY_DELTA","messageId":"app","activityType":"mcp-apps","patch":[]}`
	call, end := startCases["a call"][0], startCases["a call"][2]
	internal := evasions["kind"](call)
	result := func(content string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":` + content + `}`
	}
	public := []string{`{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, `{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":"d","content":"1"}`}
	card := func(content string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"card","content":` + content + `}`
	}
	text := func(text string) string { return `{"content":[{"type":"text","text":"` + text + `"}]}` }
	list := func(content string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"card","content":` + content + `},` + hello + `]}`
	}
	const long, jsonText = `The salaries of all are secret`, `{\"salaries\":[\"4711\",\"0815\"],\"more\":null}`
	task, answer := strings.ReplaceAll(task, "call_1a2b3c", "c"), strings.Replace(strings.ReplaceAll(answer, "call_1a2b3c", "c"), "CANARY", long, 1)
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"of the last result":          {[]string{internal, result(`"1"`), appOf(text("1"), "{}")}, false},
		"changed":                     {[]string{internal, result(`"1"`), appOf(text("1"), "{}"), delta}, false},
		"of a hidden answer":          {[]string{task, strings.ReplaceAll(worker, "call_1a2b3c", "c"), answer, appOf(text("1"), "{}")}, false},
		"after an unreadable frame":   {[]string{call, evasions["unreadable"](result(`"1"`)), appOf(text("1"), "{}")}, false},
		"arguments":                   {append([]string{internal, args, end, result(`"1"`)}, append(public, appOf(text("1"), same))...), false},
		"arguments of an open call":   {[]string{internal, args, end, card(`{"x":[{"of":` + same + `}]}`)}, false},
		"arguments after an activity": {[]string{internal, card(`{}`), args, card(`{"x":` + same + `}`)}, false},
		"encoded arguments":           {[]string{internal, args, end, card(`{"x":"{\"top\":10.0,\"query\":\"salaries of all\"}"}`)}, false},
		"a change with arguments":     {[]string{card(`{}`), internal, args, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"card","patch":[{"op":"add","path":"/x","value":` + same + `}]}`}, false},
		"a result":                    {[]string{internal, result(`"` + long + `"`), card(text(long))}, false},
		"an answer":                   {[]string{task, strings.ReplaceAll(worker, "call_1a2b3c", "c"), answer, card(text(long))}, false},
		"results of two parts":        {[]string{internal, result(`"` + long + `\nand more"`), card(`{"content":[{"type":"text","text":"` + long + `"},{"type":"text","text":"and more"}]}`)}, false},
		"a result in a text":          {[]string{internal, result(`"` + long + `"`), card(text("Result: **" + long + "**."))}, false},
		"a result in a change":        {[]string{card(`{}`), internal, result(`"` + long + `"`), change(`[{"op":"add","path":"/x","value":"It says ` + long + `"}]`)}, false},
		"JSON in a text":              {[]string{internal, result(`"` + jsonText + `"`), card(text("Result: " + jsonText + "."))}, false},
		"arguments in a text":         {[]string{internal, args, end, card(text(`Arguments: {\"query\": \"salaries of all\", \"top\": 1e1}`))}, false},
		"words of a result":           {[]string{internal, result(`"` + long + `"`), card(text("The salaries of all are"))}, true},
		"a short result in a text":    {[]string{internal, result(`"It is sunny."`), card(text("Result: It is sunny."))}, true},
		"parts":                       {[]string{internal, result(`[{"type":"text","text":"` + long + `"}]`), card(`{"x":"` + long + `"}`)}, false},
		"a result of JSON":            {[]string{internal, result(`"` + jsonText + `"`), card(`{"x":{"more":null,"salaries":["4711","0815"]}}`)}, false},
		"encoded JSON":                {[]string{internal, result(`"` + jsonText + `"`), card(text(jsonText))}, false},
		"long arguments":              {[]string{internal, strings.Replace(args, "salaries", strings.Repeat("x", 17<<10), 1), card(`{"x":"` + strings.Repeat("x", 3<<10) + `"}`)}, false},
		"arguments of no known call":  {[]string{strings.Replace(internal, `"c"`, `""`, 1), card(`{"x":1}`)}, false},
		"arguments marked later":      {[]string{call, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"query\": \"salaries"}`, evasions["kind"](`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":" of all\", \"top\": 10}"}`), result(`"1"`), card(`{"x":` + same + `}`)}, false},
		"other arguments":             {[]string{internal, args, end, result(`"1"`), public[0], public[1], appOf(text("1"), other)}, true},
		"another result":              {[]string{internal, result(`"` + long + `"`), card(text(long + "s"))}, true},
		"a short result":              {[]string{internal, result(`"sunny"`), card(text("sunny"))}, true},
		"short arguments":             {[]string{internal, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"page\":1}"}`, end, card(`{"x":{"page":1}}`)}, true},
		"no arguments":                {[]string{internal, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`, end, card(`{"x":{}}`)}, true},
		"of a public call":            {[]string{call, args, end, result(`"` + long + `"`), appOf(text(long), same)}, true},
		"of a later public call":      {[]string{internal, result(`"1"`), public[0], public[1], appOf(text("1"), "{}")}, true},
		"another type":                {[]string{internal, result(`"1"`), card(text("1"))}, true},
		"short, after long arguments": {[]string{internal, strings.Replace(args, "salaries", strings.Repeat("x", 17<<10), 1), card(`{"x":"1"}`)}, true},
	} {
		sent := append([]string{run}, c.sent...)
		if got := last(filterFrames(t, allSettings[0], sent...)); (got == last(sent)) != c.leaves || !c.leaves && got != withheld {
			t.Errorf("%s: the activity leaves as %s", name, got)
		}
	}
	for content, before := range map[string][]string{
		`{"x":` + same + `}`: {internal, args},
		text(long):           {internal, result(`"` + long + `"`)},
	} {
		sent := append([]string{run}, append(before, list(content))...)
		if got, want := last(filterFrames(t, allSettings[0], sent...)), `{"type":"MESSAGES_SNAPSHOT","messages":[`+hello+`]}`; got != want {
			t.Errorf("the list %s becomes %s", last(sent), got)
		}
	}
	const listed = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"top\":10,\"query\":\"salaries of all\"}"}}]},{"id":"o","role":"tool","toolCallId":"c","content":"` + long + `"}]}`
	for _, sent := range []string{appOf("1", same), card(text(long))} {
		if got := last(filterFrames(t, allSettings[0], run, listed, sent)); got != withheld {
			t.Errorf("after a list with an internal call, %s becomes %s", sent, got)
		}
	}
}

// TestActivitiesOfManyResults checks that no activity leaves that may be a copy after more results than are remembered.
func TestActivitiesOfManyResults(t *testing.T) {
	var parts []string
	for i := range 1100 {
		parts = append(parts, fmt.Sprintf(`{"type":"text","text":"the secret plan number %d"}`, i))
	}
	result := `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[` + strings.Join(parts, ",") + `]}`
	for content, leaves := range map[string]bool{`{"x":"the secret plan number 1099"}`: false, `{"x":1}`: true} {
		activity := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"card","content":` + content + `}`
		if got := last(filterFrames(t, allSettings[0], run, evasions["kind"](startCases["a call"][0]), result, activity)); (got == activity) != leaves {
			t.Errorf("%s leaves as %s", activity, got)
		}
	}
}
