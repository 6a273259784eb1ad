package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestActivityData checks that the activity of an agent does not begin with what an internal agent has sent to it.
//
// Source: recordings of agent-framework-ag-ui 1.7.0, with executors that send a text.
func TestActivityData(t *testing.T) {
	version := func(executor, data string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"33:r:executor:` + executor + `","activityType":"executor","content":{"executor_id":"` + executor + `","data":` + data + `},"replace":true}`
	}
	empty := `{"type":"ACTIVITY_SNAPSHOT","messageId":"33:r:executor:writer","activityType":"executor","content":{"executor_id":"writer"},"replace":true}`
	change := func(op string) string {
		return `{"type":"ACTIVITY_DELTA","messageId":"33:r:executor:writer","activityType":"executor","patch":[` + op + `]}`
	}
	list := func(message string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + "," + message + `]}`
	}
	const text, object, users = `"CANARY of the plan"`, `{"score":1e1,"why":"CANARY of the plan"}`, `{"role":"user","content":"CANARY of the user"}`
	hidden := []string{`{"type":"STEP_STARTED","stepName":"internal_x"}`, version("internal_x", "[]"), `{"type":"STEP_FINISHED","stepName":"internal_x"}`, version("internal_x", `[`+text+`,`+object+`,"CANARY",`+users+`]`)}
	var crowd []string
	for i := range 1024 {
		crowd = append(crowd, version("internal_x", fmt.Sprintf(`["a secret text %d"]`, i)))
	}
	for what, c := range map[string]struct {
		sent []string
		want string // of the last frame, "" for all of it
	}{
		"a text":              {append(slices.Clone(hidden), version("writer", text)), empty},
		"an object":           {append(slices.Clone(hidden), version("writer", `{"why":"CANARY of the plan","score":10}`)), empty},
		"within a list":       {append(slices.Clone(hidden), version("writer", `["x",`+text+`]`)), version("writer", `["x"]`)},
		"in a text of JSON":   {append(slices.Clone(hidden), version("writer", `"{\"score\":10,\"why\":\"CANARY of the plan\"}"`)), empty},
		"a later version":     {append(slices.Clone(hidden), version("writer", text), version("writer", `"done"`)), ""},
		"a later change":      {append(slices.Clone(hidden), version("writer", text), change(`{"op":"add","path":"/x","value":"y"}`)), withheld},
		"in a change":         {append(slices.Clone(hidden), version("writer", `"x"`), change(`{"op":"add","path":"/data","value":`+text+`}`)), withheld},
		"in a list":           {append(slices.Clone(hidden), list(`{"id":"y","role":"activity","activityType":"x","content":{"d":`+text+`,"e":1}}`)), list(`{"id":"y","role":"activity","activityType":"x","content":{"e":1}}`)},
		"of a change":         {append(slices.Clone(hidden[:3]), strings.Replace(change(`{"op":"add","path":"/data/-","value":`+text+`}`), "writer", "internal_x", 1), version("writer", text)), empty},
		"of a changed list":   {append(slices.Clone(hidden[:3]), strings.Replace(change(`{"op":"add","path":"/data","value":[`+text+`]}`), "writer", "internal_x", 1), version("writer", text)), empty},
		"after many":          {append(crowd, version("writer", text)), withheld},
		"another text":        {append(slices.Clone(hidden), version("writer", `"CANARY of the plans"`)), ""},
		"a short text":        {append(slices.Clone(hidden), version("writer", `"CANARY"`)), ""},
		"the user's":          {append(slices.Clone(hidden), version("writer", users)), ""},
		"an answer":           {append(slices.Clone(hidden), list(`{"id":"y","role":"assistant","content":`+text+`}`)), ""},
		"of an ordinary":      {[]string{version("editor", `[`+text+`]`), version("writer", text)}, ""},
		"passed on":           {append([]string{version("editor", `[`+text+`]`)}, append(slices.Clone(hidden), version("writer", text))...), ""},
		"of an ordinary copy": {append(slices.Clone(hidden), version("editor", `[`+text+`]`), version("writer", text)), empty},
	} {
		want := c.want
		if want == "" {
			want = last(c.sent)
		}
		if got := last(filterFrames(t, allSettings[0], append([]string{run}, c.sent...)...)); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
}
