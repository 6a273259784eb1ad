package adk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// leavesOf filters the frames of a stream and returns those that leave, or withheld.
func leavesOf(t *testing.T, of *event.Stream, policy event.Policy, frames ...string) (out []string) {
	t.Helper()
	settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader("data: " + strings.Join(frames, "\n\ndata: ") + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(of, input, "adk")
	f := filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed})
	for range frames {
		b, err := decoding.Next()
		if err != nil {
			t.Fatal(err)
		}
		frame, why := f.Apply(b)
		if why != filter.Passed {
			out = append(out, withheld)
			continue
		}
		data, judged := string(frame.Data), b.Judgment(1000)
		b.Judge(&judged)
		if again, _ := f.Apply(b); string(again.Data) != data {
			t.Errorf("%s leaves again as %s", data, again.Data)
		}
		out = append(out, data)
	}
	return out
}

const (
	internal = `"customMetadata":{"kind":"internal:payment"},`
	uniqueID = "adk-11111111-2222-4333-8444-555555555555"
)

func content(parts ...string) string {
	return `"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

func called(id, args string) string {
	return `{"functionCall":{"id":"` + id + `","name":"pay","args":{"x":"` + args + `"}}}`
}

func responded(id string) string {
	return `{"functionResponse":{"id":"` + id + `","name":"pay","response":{"r":"secret"}}}`
}

func confirmation(id string) string {
	return `{"functionCall":{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"` + id + `","name":"pay","args":{"x":"secret"}},"toolConfirmation":{"hint":"secret"}}}}`
}

var nested = `"customMetadata":{"a2a:response":{"history":[{"parts":[{"data":{"id":"c","name":"pay","args":{"x":"secret"}},"metadata":{"adk_type":"function_call"}}]}]}}`

// TestCallsOfWithheldEvents checks what repeats or answers a call of an internal event, and what such an event does not
// withhold.
func TestCallsOfWithheldEvents(t *testing.T) {
	hidden := by("a", internal+content(called("c", "secret")))
	nameless := `{"functionCall":{"name":"pay","args":{}}}`
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the response":                        {[]string{hidden, by("a", content(responded("c")))}, false},
		"the response of the user":            {[]string{hidden, by("user", content(responded("c")))}, false},
		"a response in pieces":                {[]string{hidden, by("a", `"partial":true,`+content(responded("c")))}, false},
		"a pending response, and the next":    {[]string{hidden, by("a", content(`{"functionResponse":{"id":"c","response":{"status":"pending"}}}`)), by("a", content(responded("c")))}, false},
		"the response without an ID":          {[]string{hidden, by("a", content(`{"functionResponse":{"name":"pay","response":{"r":"secret"}}}`))}, false},
		"the response to a call without one":  {[]string{by("a", internal+content(nameless)), by("a", content(`{"functionResponse":{"name":"pay","response":{"r":"secret"}}}`))}, false},
		"the response beside another":         {[]string{hidden, by("a", content(called("d", "1"))), by("a", content(responded("d"), responded("c")))}, false},
		"a confirmation":                      {[]string{hidden, by("a", content(confirmation("c")))}, false},
		"the answer to a confirmation":        {[]string{hidden, by("a", content(confirmation("c"))), by("user", content(`{"functionResponse":{"id":"q","name":"adk_request_confirmation","response":{"x":"secret"}}}`))}, false},
		"a credential":                        {[]string{hidden, by("a", content(`{"functionCall":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"c","authConfig":{"x":"secret"}}}}`))}, false},
		"a confirmation in the actions":       {[]string{hidden, by("a", `"actions":{"requestedToolConfirmations":{"c":{"hint":"secret"}}}`)}, false},
		"a credential in the actions":         {[]string{hidden, by("a", `"actions":{"requestedAuthConfigs":{"c":{"x":"secret"}}}`)}, false},
		"a widget of the call":                {[]string{hidden, by("a", `"actions":{"renderUiWidgets":[{"id":"c","provider":"mcp","payload":{"tool_args":{"x":"secret"}}}]}`)}, false},
		"a widget of another call":            {[]string{hidden, by("a", `"actions":{"renderUiWidgets":[{"id":"d","provider":"mcp","payload":{"tool_args":{"x":"1"}}}]}`)}, true},
		"the call again":                      {[]string{hidden, by("a", content(called("c", "secret")))}, false},
		"the response to a marked piece":      {[]string{by("a", internal+`"partial":true,`+content(called("c", "secret"))), by("a", content(responded("c")))}, false},
		"the response to a marked repeat":     {[]string{by("a", `"partial":true,`+content(called("c", "1"))), hidden, by("a", content(responded("c")))}, false},
		"an agent in the branch of a call":    {[]string{hidden, by("b", `"branch":"a.pay@c.d@1",`+content(`{"text":"secret"}`))}, false},
		"the response in such a branch":       {[]string{hidden, by("b", `"branch":"pay@c",`+content(called("d", "secret"))), by("b", content(responded("d")))}, false},
		"a branch of an ID with dots":         {[]string{by("a", internal+content(called("f.g:0", "secret"))), by("b", `"branch":"a@1.pay@f.g:0.d",`+content(`{"text":"secret"}`))}, false},
		"the scope of a task":                 {[]string{hidden, by("b", `"isolationScope":"c",`+content(`{"text":"secret"}`))}, false},
		"the rest of a marked piece":          {[]string{by("a", `"id":"e",`+internal+`"partial":true,`+content(`{"text":"x"}`)), by("a", `"id":"e","partial":true,`+content(`{"text":"secret"}`))}, false},
		"the whole of a marked piece":         {[]string{by("a", `"id":"e",`+internal+`"partial":true,`+content(`{"text":"x"}`)), by("a", `"id":"e",`+content(`{"text":"x secret"}`))}, false},
		"the response to such a whole":        {[]string{by("a", `"id":"e",`+internal+`"partial":true`), by("a", `"id":"e",`+content(called("c", "x"))), by("a", content(responded("c")))}, false},
		"another event":                       {[]string{by("a", `"id":"e",`+internal+content(`{"text":"x"}`)), by("a", `"id":"f",`+content(`{"text":"hi"}`))}, true},
		"another response":                    {[]string{hidden, by("a", content(called("d", "1"))), by("a", content(responded("d")))}, true},
		"another branch":                      {[]string{hidden, by("b", `"branch":"a.pay@d",`+content(`{"text":"hi"}`))}, true},
		"another remote agent":                {[]string{by("a", internal+content(called("d", "1"))), by("a", nested)}, true},
		"another call without an ID":          {[]string{by("a", internal+content(nameless)), by("a", content(nameless))}, true},
		"the call of an internal response":    {[]string{by("a", content(called("c", "1"))), by("a", internal+content(responded("c"))), by("a", content(confirmation("c")))}, true},
		"a response without its call":         {[]string{by("a", internal+content(`{"text":"x"}`)), by("a", content(responded("c")))}, true},
		"a response without a name":           {[]string{hidden, by("a", content(`{"functionResponse":{"id":"z","response":{"r":"secret"}}}`))}, false},
		"a known response without a name":     {[]string{hidden, by("a", content(called("d", "1"))), by("a", content(`{"functionResponse":{"id":"d","response":{"r":"1"}}}`))}, true},
		"a response after an unreadable call": {[]string{`{"invocationId":"e-1","author":"a",` + internal + content(called("c", `","X":"`)) + `}`, by("a", content(responded("c")))}, false},
		"after a frame over the limit":        {[]string{by("a", `"x":"`+strings.Repeat("x", 2<<20)+`"`), by("a", content(responded("c")))}, false},
		"after other unreadable frames":       {[]string{by("a", `"x":{"US":1,"us":2}`), by("a", content(responded("c")))}, true},
		"a known call after an unreadable":    {[]string{by("a", content(called("c", "1"))), by("a", internal+`"x":{"US":1,"us":2}`), by("a", content(responded("c")))}, true},
		"a branch after an unreadable frame":  {[]string{by("a", internal+`"x":{"US":1,"us":2}`), by("b", `"branch":"a@1",`+content(`{"text":"hi"}`))}, true},
	} {
		for spelling, spelled := range spellings {
			var frames []string
			for _, frame := range c.sent {
				frames = append(frames, spelled(frame))
			}
			client := leavesOf(t, &event.Stream{}, event.PolicyClient, frames...)
			if got, sent := client[len(client)-1], frames[len(frames)-1]; (got == sent) != c.leaves || !c.leaves && got != withheld {
				t.Errorf("%s, %s: under client, the last frame leaves as %s", name, spelling, got)
			}
			public := leavesOf(t, &event.Stream{}, event.PolicyPublic, frames...)
			if got := public[len(public)-1]; !c.leaves && got != withheld {
				t.Errorf("%s, %s: under public, the last frame leaves as %s", name, spelling, got)
			}
		}
	}
}

// TestPiecesOfWithheldCalls streams the arguments of calls in pieces. Only the first piece has the name, and the others may have other IDs.
func TestPiecesOfWithheldCalls(t *testing.T) {
	start := func(members string) string {
		return by("a", members+content(`{"functionCall":{"id":"c","name":"pay","willContinue":true}}`))
	}
	piece := func(author, id string) string {
		return by(author, `"partial":true,`+content(`{"functionCall":{`+id+`"partialArgs":[{"jsonPath":"$.x","stringValue":"secret"}],"willContinue":true}}`))
	}
	const partial = `"partial":true,`
	hidden, shown := start(partial+internal), start(partial)
	none, empty, other := piece("a", ""), piece("a", `"id":"","name":"",`), piece("a", `"id":"d",`)
	ended, whole := by("a", partial+content(`{"functionCall":{}}`)), by("a", content(called("c", "1")))
	unmarked := strings.ReplaceAll(other, partial, "")
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"without an ID":               {[]string{hidden, none}, false},
		"with an empty ID":            {[]string{hidden, empty}, false},
		"with another ID":             {[]string{hidden, other}, false},
		"the next":                    {[]string{hidden, other, other}, false},
		"after a text":                {[]string{hidden, by("a", partial+content(`{"text":"hi"}`)), other}, false},
		"after a call of another":     {[]string{hidden, by("b", content(called("e", "1"))), other}, false},
		"beside another call":         {[]string{hidden, shown, other}, false},
		"with a blank name":           {[]string{hidden, strings.Replace(empty, `"name":""`, `"name":" \u200b"`, 1)}, false},
		"without the branch":          {[]string{strings.Replace(hidden, `"partial"`, `"branch":"r.a","partial"`, 1), other}, false},
		"without the path":            {[]string{strings.Replace(hidden, `"partial"`, `"nodeInfo":{"path":"r/a@1"},"partial"`, 1), other}, false},
		"with a branch":               {[]string{hidden, strings.Replace(other, `"partial"`, `"branch":"r.a","partial"`, 1)}, false},
		"with another branch":         {[]string{strings.Replace(hidden, `"partial"`, `"branch":"r.b","partial"`, 1), strings.Replace(other, `"partial"`, `"branch":"r.a","partial"`, 1)}, true},
		"of the later of two":         {[]string{strings.Replace(shown, `"c"`, `"e"`, 1), hidden, other}, false},
		"of the later without branch": {[]string{strings.Replace(shown, `"c"`, `"e"`, 1), strings.Replace(hidden, `"partial"`, `"branch":"r.a","partial"`, 1), other}, false},
		"after the whole call":        {[]string{by("a", internal+content(called("c", "1"))), other}, false},
		"of a call after the pieces":  {[]string{hidden, other, ended, strings.Replace(shown, `"c"`, `"e"`, 1), none}, true},
		"after a marked piece, too":   {[]string{hidden, strings.Replace(none, partial, partial+internal, 1), strings.Replace(shown, `"c"`, `"e"`, 1), none}, true},
		"while a call has no end":     {[]string{hidden, by("a", internal+`"longRunningToolIds":["c"],`+content(called("c", "1"))), strings.Replace(shown, `"c"`, `"e"`, 1), none}, true},
		"after a broken call":         {[]string{hidden, by("a", `"errorCode":"MALFORMED_FUNCTION_CALL"`), strings.Replace(shown, `"c"`, `"e"`, 1), none}, true},
		"of a call that is not":       {[]string{start(internal), unmarked}, false},
		"after a marked piece":        {[]string{shown, strings.Replace(other, partial, partial+internal, 1), none}, false},
		"after an unreadable start":   {[]string{unread, other}, false},
		"after an unreadable frame":   {[]string{shown, unread, other}, false},
		"after a call and such a one": {[]string{shown, whole, unread, other}, false},
		"a piece in a whole event":    {[]string{hidden, unmarked, none}, false},
		"the end":                     {[]string{hidden, ended}, false},
		"of a call that left":         {[]string{shown, other}, true},
		"of a call that left, in all": {[]string{start(""), unmarked, unmarked}, true},
		"of the next call":            {[]string{hidden, other, by("a", internal+content(called("c", "1"))), strings.Replace(shown, `"c"`, `"e"`, 1), other}, true},
		"without any start":           {[]string{other}, true},
		"after an unread and a start": {[]string{unread, shown, other}, true},
		"of another agent":            {[]string{hidden, strings.NewReplacer(`"author":"a"`, `"author":"b"`, `"c"`, `"e"`).Replace(shown), piece("b", `"id":"d",`)}, true},
		"with the ID of another call": {[]string{hidden, strings.Replace(shown, `"c"`, `"d"`, 1), other}, true},
	} {
		for spelling, spelled := range spellings {
			var frames []string
			for _, frame := range c.sent {
				frames = append(frames, spelled(frame))
			}
			client := leavesOf(t, &event.Stream{}, event.PolicyClient, frames...)
			if got, sent := client[len(client)-1], frames[len(frames)-1]; (got == sent) != c.leaves || !c.leaves && got != withheld {
				t.Errorf("%s, %s: under client, the last frame leaves as %s", name, spelling, got)
			}
		}
	}
}

// TestManyWithheldCalls checks that, after more calls were withheld than are remembered, no response leaves whose call did not.
func TestManyWithheldCalls(t *testing.T) {
	frames := []string{by("a", content(called("first", "1")))}
	for i := range 1024 {
		frames = append(frames, by("a", internal+content(called(fmt.Sprint(i), "secret"))))
	}
	frames = append(frames, by("a", content(responded("1023"))), by("a", content(responded("other"))), by("a", content(responded("first"))))
	got := leavesOf(t, &event.Stream{}, event.PolicyClient, frames...)
	if last := got[len(got)-3:]; last[0] != withheld || last[1] != withheld || last[2] == withheld {
		t.Errorf("the last frames leave as %q", last)
	}
}

// TestCallsOfOtherStreams answers a withheld call on another stream, as after a confirmation.
func TestCallsOfOtherStreams(t *testing.T) {
	in := func(session string) event.Identity {
		return event.Identity{App: "p", User: "u", Session: session}
	}
	for name, c := range map[string]struct {
		id     string
		as     event.Identity
		leaves bool
	}{
		"a unique ID":                    {uniqueID, in("s"), false},
		"a unique ID in another session": {uniqueID, in("t"), false},
		"another ID":                     {"c", in("s"), false},
		"another ID in another session":  {"c", in("t"), true},
		"without a session":              {"c", event.Identity{}, true},
	} {
		memory := new(event.Withheld)
		leavesOf(t, &event.Stream{Withheld: memory, Identity: in("s")}, event.PolicyClient, by("a", internal+content(called(c.id, "secret"))))
		next := &event.Stream{Withheld: memory, Identity: c.as}
		if got := leavesOf(t, next, event.PolicyClient, by("a", content(responded(c.id))))[0]; (got != withheld) != c.leaves {
			t.Errorf("%s: the response leaves as %s", name, got)
		}
	}
	memory := new(event.Withheld)
	leavesOf(t, &event.Stream{Withheld: memory, Identity: in("s")}, event.PolicyClient, by("a", internal+content(called("c", "secret"))))
	again := leavesOf(t, &event.Stream{Withheld: memory, Identity: in("s")}, event.PolicyClient, by("a", content(called("c", "1"))), by("a", content(responded("c"))))
	if again[0] == withheld || again[1] == withheld {
		t.Errorf("the next call with the same ID and its response leave as %q", again)
	}
}
