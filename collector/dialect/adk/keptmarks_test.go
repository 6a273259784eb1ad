package adk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// made returns an artifact of a remote agent's task, as ADK's newer executor makes one for each event.
func made(id, custom, parts string) string {
	if custom != "" {
		custom = `,"adk_custom_metadata":{` + custom + `}`
	}
	return `{"artifactId":"` + id + `","name":"` + id + `","parts":[` + parts + `],"metadata":{"adk_author":"x","adk_branch":"x@9f","adk_event_id":"` + id + `"` + custom + `}}`
}

// sendsArtifacts returns an event of a remote agent with the artifacts of its task.
func sendsArtifacts(custom, parts string, artifacts ...string) string {
	if custom != "" {
		custom += ","
	}
	return by("r", `"customMetadata":{`+custom+`"a2a:response":{"id":"t","artifacts":[`+strings.Join(artifacts, ",")+`],"metadata":{"adk_app_name":"m"}}},`+content(parts))
}

// TestKeptMarks sends an internal event of a remote agent, and then others. The artifacts of its task keep the mark of the first.
func TestKeptMarks(t *testing.T) {
	const mark, label = `"kind":"internal:note"`, `"label":"answer"`
	const secret, two, file = `{"text":"secret"}`, `{"text":"two"}`, `{"inlineData":{"data":"eA==","mimeType":"x/y"}}`
	const call, response = `{"data":{"id":"c","name":"pay","args":{"x":"secret"}},"metadata":{"adk_type":"function_call"}}`, `{"data":{"id":"c","name":"pay","response":{"r":"secret"}},"metadata":{"adk_type":"function_response"}}`
	const other = `{"data":{"id":"9f","name":"x","response":{"result":"secret"}},"metadata":{"adk_type":"function_response"}}`
	hidden, open, answer := made("i", mark, secret), made("o", label, two), made("p", "", two)
	first := sendsArtifacts(mark, secret, hidden)
	calls := sendsArtifacts(mark, called("c", "secret"), made("i", mark, call))
	result := func(response string) string { return `{"functionResponse":{"id":"9f","name":"x"` + response + `}}` }
	for name, c := range map[string]struct {
		sent []string
		want string // the last event, as it leaves
	}{
		"with metadata of its own":    {[]string{first, sendsArtifacts(label, two, hidden, open)}, sendsArtifacts(label, two, open)},
		"without content":             {[]string{first, sendsArtifacts("", "", hidden)}, sendsArtifacts("", "")},
		"a file with metadata":        {[]string{first, sendsArtifacts(label, file+","+two, hidden, open)}, sendsArtifacts(label, file+","+two, open)},
		"after another one":           {[]string{first, sendsArtifacts(label, two, hidden, open), sendsArtifacts(label, `{"text":"three"}`, hidden, open)}, sendsArtifacts(label, `{"text":"three"}`, open)},
		"after its call and response": {[]string{calls, sendsArtifacts("", responded("c"), made("i", mark, call), made("s", "", response)), sendsArtifacts(label, two, made("i", mark, call), made("s", "", response), open)}, sendsArtifacts(label, two, open)},
		"after a saved file":          {[]string{calls, sendsArtifacts("", secret, made("i", mark, call), `{"artifactId":"secret_0","parts":[`+secret+`]}`), sendsArtifacts(label, two, made("i", mark, call), `{"artifactId":"secret_0","parts":[`+secret+`]}`, open)}, sendsArtifacts(label, two, open)},
		"a result with its answer":    {[]string{first, sendsArtifacts("", result(`,"response":{"result":"secret"}`), hidden, made("s", "", other))}, sendsArtifacts("", result(""))},
		"a result that it changed":    {[]string{first, sendsArtifacts("", result(`,"response":{"result":"SECRET"}`), hidden, made("s", "", strings.ReplaceAll(other, "secret", "SECRET")))}, sendsArtifacts("", result(""))},
		"a message in the history":    {[]string{sendsMessages(mark, "secret", message(mark, "secret")), sendsMessages(label, "two", message(mark, "secret"), message(label, "two"))}, sendsMessages(label, "two", message(label, "two"))},

		"with a mark":              {[]string{first, sendsArtifacts(mark, two, hidden, answer)}, withheld},
		"of an artifact":           {[]string{first, sendsArtifacts(label, two, hidden, made("j", mark, two))}, withheld},
		"of a changed artifact":    {[]string{first, sendsArtifacts("", two, made("i", mark, secret+","+two))}, withheld},
		"of the task":              {[]string{first, strings.Replace(sendsArtifacts(label, two, hidden, open), `"adk_app_name":"m"`, `"adk_custom_metadata":{"kind":"internal"}`, 1)}, withheld},
		"of an artifact elsewhere": {[]string{first, by("r", `"artifact":`+hidden+`,"customMetadata":{"label":"answer","a2a:response":{}},`+content(two))}, withheld},
		"of an artifact without":   {[]string{sendsArtifacts(label, two, hidden, open)}, withheld},
		"a text without metadata":  {[]string{first, sendsArtifacts("", two, hidden, answer)}, withheld},
		"the same text":            {[]string{first, sendsArtifacts("", secret, hidden)}, withheld},
		"the text of a saved file": {[]string{calls, sendsArtifacts("", responded("c"), made("i", mark, call), made("s", "", response)), sendsArtifacts("", secret, made("i", mark, call), `{"artifactId":"x.txt_0","parts":[`+secret+`]}`)}, withheld},
		"a file":                   {[]string{first, sendsArtifacts("", file, hidden)}, withheld},
		"after an unreadable":      {[]string{strings.Replace(first, `"adk_author"`, `"US":1,"us":2,"adk_author"`, 1), sendsArtifacts(label, two, hidden, open)}, withheld},
	} {
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.sent...)
		if last := got[len(got)-1]; last != c.want {
			t.Errorf("%s: the event leaves as %s, want %s", name, last, c.want)
		}
		for spelling, spelled := range spellings {
			var sent []string
			for _, one := range c.sent {
				sent = append(sent, spelled(one))
			}
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				if got := leavesOf(t, &event.Stream{}, policy, sent...)[len(sent)-1]; (got == withheld) != (c.want == withheld) || strings.Contains(strings.ToLower(got), "secret") {
					t.Errorf("%s, %s: under %s, the event leaves as %s", name, spelling, policy, got)
				}
			}
		}
	}
}

func message(custom, text string) string {
	return `{"messageId":"` + text + `","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}],"metadata":{"adk_custom_metadata":{` + custom + `}}}`
}

// sendsMessages returns an event of a remote agent with the messages of its task. The last message is that of the event.
func sendsMessages(custom, text string, messages ...string) string {
	return by("r", `"customMetadata":{`+custom+`,"a2a:response":{"id":"t","history":[`+strings.Join(messages, ",")+`],"status":{"message":`+messages[len(messages)-1]+`}}},`+says(text))
}

// TestKeptMarksOnOtherStreams continues the task of a remote agent in another run of its session, or of another one.
func TestKeptMarksOnOtherStreams(t *testing.T) {
	hidden := made("i", `"kind":"internal"`, `{"text":"secret"}`)
	for session, leaves := range map[string]bool{"s": true, "t": false} {
		memory := new(event.Withheld)
		stream := func(session string) *event.Stream {
			return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
		}
		leavesOf(t, stream("s"), event.PolicyClient, sendsArtifacts(`"kind":"internal"`, `{"text":"secret"}`, hidden))
		got := leavesOf(t, stream(session), event.PolicyClient, sendsArtifacts(`"label":"x"`, `{"text":"two"}`, hidden))[0]
		if (got != withheld) != leaves || strings.Contains(got, "secret") {
			t.Errorf("in the session %s, the event leaves as %s", session, got)
		}
	}
}
