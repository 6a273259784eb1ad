package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// TestNamesByPath checks that no change of a state or an activity makes a message internal by its path, and that other changes leave.
//
// Agno makes its changes with jsonpatch, which replaces each member of a message by an operation of its own.
func TestNamesByPath(t *testing.T) {
	const final, list = `{"last":{"role":"assistant","name":"helper","content":"hi","id":"a-1"}}`, `{"messages":[{"id":"a-1","content":"hi","metadata":{"event":"x"},"tool_calls":[{"name":"f"}]}]}`
	const tools, events = `{"tools":[{"name":"internal_search"}],"messages":[{"content":"hi"}],"n":1}`, `{"events":[{"name":"Sync"}],"last":{"content":"hi"},"n":1}`
	set := func(path, value string) string { return `{"op":"replace","path":"` + path + `","value":` + value + `}` }
	move := func(from, to string) string { return `{"op":"move","from":"` + from + `","path":"` + to + `"}` }
	name, content := func(of string) string { return set(of+"/name", `"internal_audit"`) }, func(of string) string { return set(of+"/content", `"secret"`) }
	for what, c := range map[string]struct {
		before  string
		changes []string // one patch each
		leave   bool
	}{
		"by jsonpatch":                   {final, []string{name("/last") + "," + content("/last") + "," + set("/last/id", `"a-2"`)}, false},
		"content first":                  {final, []string{content("/last") + "," + name("/last")}, false},
		"in two changes":                 {final, []string{name("/last"), content("/last")}, false},
		"in a list":                      {list, []string{name("/messages/0") + "," + content("/messages/0")}, false},
		"of a new message":               {`{"messages":[]}`, []string{set("/messages/0", `{"content":"secret"}`) + "," + name("/messages/0")}, false},
		"a new message":                  {`{"messages":[]}`, []string{set("/messages/-", `{"name":"internal_audit","text":"secret"}`)}, false},
		"a list":                         {`{}`, []string{set("/messages", `[{"name":"internal_audit","text":"secret"}]`)}, false},
		"an event in metadata":           {list, []string{content("/messages/0") + "," + set("/messages/0/metadata/event", `"internal_audit"`)}, false},
		"an event of no list":            {final, []string{content("/last") + "," + set("/last/metadata/event", `"internal_audit"`)}, false},
		"metadata":                       {list, []string{content("/messages/0") + "," + set("/messages/0/metadata", `{"event":"internal_audit"}`)}, false},
		"a kind":                         {final, []string{content("/last") + "," + set("/last/kind", `"internal"`)}, false},
		"in a list of names":             {final, []string{content("/last") + "," + set("/last/name/0", `"internal"`)}, false},
		"content of a named object":      {`{"last":{"role":"ai","name":"internal_audit"}}`, []string{content("/last")}, false},
		"a piece of such content":        {`{"last":{"role":"ai","name":"internal_audit"}}`, []string{set("/last/content/0", `"secret"`)}, false},
		"an object, then content":        {`{}`, []string{set("/last", `{"role":"ai","name":"internal_audit"}`), set("/n", "1"), content("/last")}, false},
		"a moved object":                 {`{"draft":{"type":"ai","name":"internal_audit"}}`, []string{move("/draft", "/last"), content("/last")}, false},
		"a moved name":                   {`{"a":{"name":"internal_audit"},"last":{"content":"hi","tool_calls":[]}}`, []string{move("/a/name", "/last/name") + "," + content("/last")}, false},
		"a moved parent":                 {`{"a":{"b":[{"role":"ai","name":"internal_audit"}]}}`, []string{move("/a", "/c"), content("/c/b/0")}, false},
		"of the whole":                   {`{"role":"ai","content":"hi"}`, []string{name("") + "," + content("")}, false},
		"after a removal":                {final, []string{`{"op":"remove","path":"/last"}`, set("/last", `{"content":"secret"}`) + "," + name("/last")}, false},
		"a role at last":                 {`{}`, []string{set("/last", `{"name":"internal_audit"}`), set("/last/content", `"x"`), set("/last/type", `"ai"`)}, false},
		"an object that is no operation": {`{}`, []string{`{"x":{"role":"ai","name":"internal_audit","content":"secret"}}`}, false},

		"a file":                      {`{"files":[]}`, []string{set("/files/-", `{"name":"internal-report.md","content":"secret"}`)}, true},
		"a file, by its members":      {`{"files":[{"name":"a","content":"b"}]}`, []string{set("/files/0/name", `"internal-report.md"`), content("/files/0")}, true},
		"a call's name":               {list, []string{content("/messages/0") + "," + set("/messages/0/tool_calls/0/name", `"internal_f"`)}, true},
		"the result of a tool":        {list, []string{set("/messages/1", `{"type":"tool","name":"internal_f","content":"secret","tool_call_id":"c"}`)}, true},
		"another name":                {final, []string{set("/last/name", `"audit"`) + "," + content("/last")}, true},
		"a word in a text":            {final, []string{set("/last/content", `"internal secret"`)}, true},
		"the name of no message":      {events, []string{set("/events/0/name", `"Internal secret"`), content("/last")}, true},
		"messages beside other names": {tools, []string{content("/messages/0"), set("/messages/1", `{"content":"secret"}`)}, true},
		"content beside":              {tools, []string{set("/notes", `{"content":"secret"}`), content("/notes")}, true},
		"a moved message":             {list, []string{move("/messages/0", "/messages/1"), content("/messages/0")}, true},
		"JSON that a tool returned":   {list, []string{set("/messages/0/content", `"{\"name\":\"internal_audit\",\"content\":\"secret\"}"`)}, true},
		"such a message":              {list, []string{set("/messages/-", `{"content":"{\"name\":\"internal_audit\",\"content\":\"secret\"}"}`)}, true},
	} {
		frames := []string{run, `{"type":"STATE_SNAPSHOT","snapshot":` + c.before + `}`}
		activities := []string{run, activity(c.before)}
		for _, patch := range c.changes {
			frames = append(frames, `{"type":"STATE_DELTA","delta":[`+patch+`]}`)
			activities = append(activities, change(`[`+patch+`]`))
		}
		if got := filterFrames(t, allSettings[0], frames...); slices.Equal(got, frames) != c.leave || !c.leave && strings.Contains(strings.Join(got, ""), "secret") {
			t.Errorf("%s: %q\nbecome %q", what, frames, got)
		}
		got := filterFrames(t, allSettings[0], activities...)
		if strings.Contains(strings.Join(got, ""), "secret") != c.leave && what != "the name of no message" && what != "a file, by its members" && what != "a call's name" { // in an activity, any object may be a message
			t.Errorf("%s: %q\nbecome %q", what, activities, got)
		}
	}
	unknown := []string{run, `{"type":"STATE_DELTA","delta":[` + name("/last") + `]}`}
	if got := last(filterFrames(t, allSettings[0], unknown...)); got != withheld {
		t.Errorf("without a snapshot: %s", got)
	}
}

// TestIDsOfNamesByPath checks that a message that a path makes internal, and its calls, do not leave in later frames, and that others do.
func TestIDsOfNamesByPath(t *testing.T) {
	const message = `{"id":"msg-00000001","role":"assistant","content":"x","tool_calls":[{"id":"call-00000001","name":"f","args":{}}]}`
	const other, none = `{"id":"msg-00000002","role":"assistant","content":"y"}`, `{}`
	op := func(op, path, value string) string {
		return `{"op":"` + op + `","path":"` + path + `","value":` + value + `}`
	}
	name := func(of string) string { return op("add", of+"/name", `"internal_audit"`) }
	list := `{"messages":[` + message + `,` + other + `]}`
	for what, c := range map[string]struct {
		before  string
		changes []string
		others  bool // other messages leave
	}{
		"with the message":      {`{"messages":[]}`, []string{op("add", "/messages/0", message) + "," + op("add", "/messages/1", other) + "," + name("/messages/0")}, true},
		"after the message":     {none, []string{op("add", "/messages", `[`+message+`,`+other+`]`), name("/messages/0")}, true},
		"of the document":       {list, []string{name("/messages/0")}, true},
		"in metadata":           {list, []string{op("add", "/messages/0/metadata", `{"event":"internal_audit"}`)}, true},
		"of no list":            {`{"last":` + message + `,"next":` + other + `}`, []string{name("/last")}, true},
		"an ID by path":         {`{"last":{"role":"assistant","tool_calls":[{"id":"call-00000001"}]}}`, []string{op("add", "/last/id", `"msg-00000001"`) + "," + name("/last") + "," + op("add", "/last/content", `"x"`)}, true},
		"of what was replaced":  {`{"last":` + other + `}`, []string{op("replace", "/last", message), name("/last")}, true},
		"content at last":       {`{"last":{"id":"msg-00000001","role":"assistant","name":"internal_audit","toolCalls":[{"id":"call-00000001"}]}}`, []string{op("add", "/last/content", `"x"`)}, true},
		"after an insertion":    {list, []string{op("add", "/messages/0", `{"id":"msg-00000003","role":"user","content":"z"}`), name("/messages/1")}, false},
		"after a removal":       {list, []string{`{"op":"remove","path":"/messages/1"}`, name("/messages/0")}, false},
		"at an unknown element": {`{"messages":[]}`, []string{op("add", "/messages/-", message), name("/messages/0")}, true},
		"after a move":          {`{"draft":` + message + `}`, []string{`{"op":"move","from":"/draft","path":"/last"}`, name("/last")}, true},
	} {
		state, shown := []string{run, `{"type":"STATE_SNAPSHOT","snapshot":` + c.before + `}`}, []string{run, activity(c.before)}
		for _, patch := range c.changes {
			state, shown = append(state, `{"type":"STATE_DELTA","delta":[`+patch+`]}`), append(shown, change(`[`+patch+`]`))
		}
		for _, before := range [][]string{state, shown} {
			for id, leaves := range map[string]bool{"00000001": false, "00000002": true} {
				for _, next := range []string{`{"type":"TEXT_MESSAGE_START","messageId":"msg-ID","role":"assistant"}`, `{"type":"CUSTOM","name":"c","value":{"id":"msg-ID","content":"x"}}`,
					`{"type":"TOOL_CALL_START","toolCallId":"call-ID","toolCallName":"f"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"id":"msg-ID","content":"x"}}`} {
					next = strings.ReplaceAll(next, "ID", id)
					if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), next)...)); (got == next) != leaves && (!leaves || c.others) {
						t.Errorf("%s: after %q, %s leaves as %s", what, before[1:], next, got)
					}
				}
			}
		}
	}
}

// TestTooManyIDs checks that after a document with more IDs than are held, no message starts once a path makes one internal that was there,
// and that those of ordinary changes and of new internal messages start.
func TestTooManyIDs(t *testing.T) {
	const secret = `{"id":"secret","role":"assistant","content":"x"}`
	others := ""
	for i := range wire.MaxSet {
		others += fmt.Sprintf(`{"id":"m%d","role":"user","content":"x"},`, i)
	}
	document := `{"messages":[` + others + secret + `],"last":{"id":"m0","role":"assistant","content":"x"}}`
	for patch, leaves := range map[string]bool{
		fmt.Sprintf(`{"op":"add","path":"/messages/%d/name","value":"internal_audit"}`, wire.MaxSet):               false,
		fmt.Sprintf(`{"op":"add","path":"/messages/%d/metadata","value":{"event":"internal_audit"}}`, wire.MaxSet): false,
		`{"op":"copy","from":"/messages/0","path":"/last"},{"op":"add","path":"/last/name","value":"internal_a"}`:  false,
		`{"op":"add","path":"/messages/0/content","value":"y"}`:                                                    true,
		`{"op":"add","path":"/messages/-","value":{"id":"new","role":"user","name":"internal_a","content":"y"}}`:   true,
	} {
		for what, before := range map[string][]string{
			"state":    {run, `{"type":"STATE_SNAPSHOT","snapshot":` + document + `}`, `{"type":"STATE_DELTA","delta":[` + patch + `]}`},
			"activity": {run, activity(document), change(`[` + patch + `]`)},
		} {
			for _, next := range []string{`{"type":"TEXT_MESSAGE_START","messageId":"secret","role":"assistant"}`, `{"type":"MESSAGES_SNAPSHOT","messages":[` + secret + `]}`} {
				if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), next)...)); (got == next) != leaves {
					t.Errorf("%s: after %s, %s leaves as %s", what, patch, next, got)
				}
			}
		}
	}
}

// TestManyCopies checks that after a patch with more copies than are followed, no change of a message leaves, and that ordinary copies
// hold up nothing.
func TestManyCopies(t *testing.T) {
	state := `{"a":{"id":"msg-00000001","role":"ai","name":"helper","content":"x"}`
	for i := range 1000 {
		state += fmt.Sprintf(`,"m%d":{"role":"ai","content":"x"}`, i)
	}
	for copies, leaves := range map[int]bool{100: true, 1000: false} {
		patch := strings.Repeat(`{"op":"copy","from":"/a","path":"/b"},`, copies) + `{"op":"add","path":"/n","value":1}`
		frames := []string{run, `{"type":"STATE_SNAPSHOT","snapshot":` + state + `}}`, `{"type":"STATE_DELTA","delta":[` + patch + `]}`}
		for next, leaves := range map[string]bool{
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/m1/content","value":"y"}]}`: leaves,
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]}`:            true,
		} {
			if got := last(filterFrames(t, allSettings[0], append(slices.Clone(frames), next)...)); (got == next) != leaves {
				t.Errorf("after %d copies, %s leaves as %s", copies, next, got)
			}
		}
		hidden := `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/m1/name","value":"internal_audit"}]}`
		text := `{"type":"TEXT_MESSAGE_START","messageId":"msg-00000002","role":"assistant"}`
		if got := last(filterFrames(t, allSettings[0], append(slices.Clone(frames), hidden, text)...)); (got == text) != leaves {
			t.Errorf("after %d copies and an internal name, %s leaves as %s", copies, text, got)
		}
	}
}

// TestIDsOfReplacedDocuments checks that the IDs of a document that a change replaces as a whole are those of the new one.
func TestIDsOfReplacedDocuments(t *testing.T) {
	document := func(id string) string {
		return `{"messages":[{"id":"` + id + `","role":"assistant","content":"x"}]}`
	}
	const name = `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/messages/0/name","value":"internal_audit"}]}`
	op := func(op, id string) string {
		return `{"type":"STATE_DELTA","delta":[{"op":"` + op + `","path":"","value":` + document(id) + `}]}`
	}
	snapshot := `{"type":"STATE_SNAPSHOT","snapshot":` + document("msg-00000001") + `}`
	for _, c := range []struct {
		before   []string
		id       string
		isHidden bool
	}{
		{[]string{op("replace", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("replace", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("add", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("replace", "msg-00000002")}, "msg-00000001", false},
		{[]string{snapshot, op("test", "msg-00000002")}, "msg-00000001", true},
	} {
		list := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"` + c.id + `","role":"assistant","content":"x"},` + hello + `]}`
		got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), name, list)...))
		if want := strings.Replace(list, `{"id":"`+c.id+`","role":"assistant","content":"x"},`, "", 1); c.isHidden && got != want || !c.isHidden && got != list {
			t.Errorf("after %s the list leaves as %s", c.before, got)
		}
	}
}
