package adk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// leavesOf filters the frames of a stream and returns those that leave, or withheld.
func leavesOf(t *testing.T, policy event.Policy, frames ...string) (out []string) {
	t.Helper()
	settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader("data: " + strings.Join(frames, "\n\ndata: ") + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{}, input, "adk")
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
		out = append(out, string(frame.Data))
	}
	return out
}

// checkLast checks whether the last of some frames leaves under client, in each spelling.
func checkLast(t *testing.T, name string, leaves bool, sent ...string) {
	t.Helper()
	for spelling, spelled := range spellings {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			if frames[i] = frame; strings.Contains(frame, "invocationId") {
				frames[i] = spelled(frame)
			}
		}
		got := leavesOf(t, event.PolicyClient, frames...)
		if last := got[len(got)-1]; (last == frames[len(frames)-1]) != leaves || !leaves && last != withheld {
			t.Errorf("%s, %s: the last frame leaves as %s", name, spelling, last)
		}
		public := leavesOf(t, event.PolicyPublic, frames...)
		if last := public[len(public)-1]; !leaves && last != withheld {
			t.Errorf("%s, %s: under public, the last frame leaves as %s", name, spelling, last)
		}
	}
}

const internal = `"customMetadata":{"kind":"internal:payment"},`

func content(parts ...string) string {
	return `"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
}

func says(text string) string {
	return content(`{"text":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}`)
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

// TestCallsOfWithheldEvents checks what is about a call of an internal event, and what is not.
func TestCallsOfWithheldEvents(t *testing.T) {
	hidden := by("a", internal+content(called("c", "secret")))
	server := by("a", internal+content(`{"toolCall":{"id":"s","toolType":"GOOGLE_SEARCH_WEB","args":{"x":1}}}`))
	code := by("a", internal+content(`{"executableCode":{"id":"k","code":"x"}}`))
	asked := by("a", content(confirmation("c")))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the response":                     {[]string{hidden, by("a", content(responded("c")))}, false},
		"the response of the user":         {[]string{hidden, by("user", content(responded("c")))}, false},
		"a response in pieces":             {[]string{hidden, by("a", `"partial":true,`+content(responded("c")))}, false},
		"a pending response, and the next": {[]string{hidden, by("a", content(`{"functionResponse":{"id":"c","response":{"status":"pending"}}}`)), by("a", content(responded("c")))}, false},
		"the response beside another":      {[]string{hidden, by("a", content(called("d", "1"))), by("a", content(responded("d"), responded("c")))}, false},
		"the response beside a text":       {[]string{hidden, by("a", content(`{"text":"x",`+strings.TrimPrefix(responded("c"), "{")))}, false},
		"the ID beside the response":       {[]string{hidden, by("a", content(`{"id":"c","functionResponse":{"name":"pay","response":{"r":"secret"}}}`))}, false},
		"the response to a call of Rust":   {[]string{by("a", internal+content(`{"id":"c","name":"pay","args":{}}`)), by("a", content(responded("c")))}, false},
		"a confirmation":                   {[]string{hidden, asked}, false},
		"the answer to a confirmation":     {[]string{hidden, asked, by("user", content(`{"functionResponse":{"id":"q","name":"adk_request_confirmation","response":{"x":"secret"}}}`))}, false},
		"a credential":                     {[]string{hidden, by("a", content(`{"functionCall":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"c","authConfig":{"x":"secret"}}}}`))}, false},
		"a confirmation in the actions":    {[]string{hidden, by("a", `"actions":{"requestedToolConfirmations":{"c":{"hint":"secret"}}}`)}, false},
		"a credential in the actions":      {[]string{hidden, by("a", `"actions":{"requestedAuthConfigs":{"c":{"x":"secret"}}}`)}, false},
		"its long-running ID":              {[]string{hidden, by("a", `"longRunningToolIds":["c"],`+says("hi"))}, false},
		"a widget of the call":             {[]string{hidden, by("a", `"actions":{"renderUiWidgets":[{"id":"c","provider":"mcp","payload":{"tool_args":{"x":"secret"}}}]}`)}, false},
		"the call again":                   {[]string{hidden, by("a", content(called("c", "secret")))}, false},
		"the response to a marked piece":   {[]string{by("a", internal+`"partial":true,`+content(called("c", "secret"))), by("a", content(responded("c")))}, false},
		"after a marked repeat":            {[]string{by("a", `"partial":true,`+content(called("c", "1"))), hidden, by("a", content(responded("c")))}, false},
		"after a marked response":          {[]string{by("a", internal+content(responded("c"))), by("a", content(responded("c")))}, false},
		"of a tool of the model's server":  {[]string{server, by("a", content(`{"toolResponse":{"id":"s","toolType":"GOOGLE_SEARCH_WEB","response":{"x":"secret"}}}`))}, false},
		"the files beside the response":    {[]string{hidden, by("a", `"id":"e",`+content(responded("c"))), by("a", `"id":"e","actions":{"stateDelta":{"x":"secret"},"artifactDelta":{"secret":0}}`)}, false},
		"a piece with the event's ID":      {[]string{by("a", `"id":"e",`+internal+says("x")), by("b", `"id":"f",`+says("hi")), by("a", `"id":"e",`+says("secret"))}, false},
		"a call in such a piece":           {[]string{by("a", `"id":"e",`+internal+says("x")), by("a", `"id":"e",`+content(called("c", "secret"))), by("a", content(responded("c")))}, false},
		"of code":                          {[]string{code, by("a", content(`{"codeExecutionResult":{"id":"k","output":"secret"}}`))}, false},

		"the response to a number":         {[]string{by("a", internal+content(`{"functionCall":{"id":7,"name":"pay"}}`)), by("a", content(`{"functionResponse":{"id":7,"name":"pay","response":{"r":"secret"}}}`))}, false},
		"a response to the number as text": {[]string{by("a", internal+content(`{"functionCall":{"id":7,"name":"pay"}}`)), by("a", content(responded("7")))}, false},
		"the response to a list":           {[]string{by("a", internal+content(`{"functionCall":{"id":["c"],"name":"pay"}}`)), by("a", content(`{"functionResponse":{"id":["c"],"name":"pay"}}`))}, false},

		"a response to another number":    {[]string{by("a", internal+content(`{"functionCall":{"id":7,"name":"pay"}}`)), by("a", content(`{"functionResponse":{"id":8,"name":"pay"}}`))}, true},
		"calls with a null as ID":         {[]string{by("a", internal+content(`{"functionCall":{"id":null,"name":"pay"}}`)), by("a", content(`{"functionResponse":{"id":null,"name":"pay"}}`))}, true},
		"another response":                {[]string{hidden, by("a", content(called("d", "1"))), by("a", content(responded("d")))}, true},
		"another confirmation":            {[]string{hidden, by("a", content(confirmation("d")))}, true},
		"the files of another event":      {[]string{hidden, by("a", `"id":"e",`+content(responded("c"))), by("a", `"id":"f","actions":{"artifactDelta":{"x":0}}`)}, true},
		"a piece of another event":        {[]string{by("a", `"id":"e",`+internal+says("x")), by("a", `"id":"f",`+says("hi"))}, true},
		"files without an ID":             {[]string{hidden, by("a", content(responded("c"))), by("a", `"actions":{"artifactDelta":{"x":0}}`)}, true},
		"a widget of another call":        {[]string{hidden, by("a", `"actions":{"renderUiWidgets":[{"id":"d"}]}`)}, true},
		"the text again":                  {[]string{by("a", internal+says("the answer")), by("a", says("the answer"))}, true},
		"an error with the text":          {[]string{by("a", internal+says("the answer")), `{"error":"the answer"}`}, true},
		"where the call runs":             {[]string{hidden, by("b", `"branch":"pay@c","isolationScope":"c","nodeInfo":{"path":"a@1/pay@c"},`+says("hi"))}, true},
		"a state":                         {[]string{by("a", internal+says("the answer")), by("a", `"actions":{"stateDelta":{"x":"the answer"}}`)}, true},
		"the call of a marked response":   {[]string{by("a", content(called("c", "1"))), by("a", internal+content(responded("c"))), asked}, true},
		"calls without an ID":             {[]string{by("a", internal+content(`{"functionCall":{"name":"pay"}}`)), by("a", content(`{"functionResponse":{"name":"pay"}}`))}, true},
		"a response after an unreadable":  {[]string{by("a", internal+content(called("c", `","x":"`))), by("a", content(responded("c")))}, true},
		"a summary":                       {[]string{hidden, summary}, true},
		"the agent's text after the call": {[]string{hidden, by("a", content(responded("c"))), by("a", says("hi"))}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestManyWithheldEvents checks that the pieces of an internal event stay in after more such events than are remembered.
func TestManyWithheldEvents(t *testing.T) {
	var frames []string
	for i := range wire.MaxSet + 1 {
		frames = append(frames, by("a", fmt.Sprintf(`"id":"e%d",`, i)+internal+says("x")))
	}
	for _, i := range []int{1, wire.MaxSet - 1, wire.MaxSet} {
		checkLast(t, fmt.Sprint("a piece of event ", i), false, append(frames, by("a", fmt.Sprintf(`"id":"e%d",`, i)+says("secret")))...)
	}
}

// TestManyWithheldCalls checks that, after more calls were withheld than are remembered, no response leaves whose call did not.
func TestManyWithheldCalls(t *testing.T) {
	frames := []string{by("a", content(called("first", "1")))}
	for i := range 1100 {
		frames = append(frames, by("a", internal+content(called(fmt.Sprint(i), "secret"))))
	}
	frames = append(frames, by("a", content(called("last", "1"))))
	many := by("a", internal+content(strings.Repeat(called("x", "1")+",", 5000)+called("many", "1")))
	for id, leaves := range map[string]bool{"first": true, "last": true, "0": false, "1099": false, "unknown": false} {
		got := leavesOf(t, event.PolicyClient, append(frames, by("a", content(responded(id))))...)
		if last := got[len(got)-1]; (last != withheld) != leaves {
			t.Errorf("after many calls, the response to %s leaves as %s", id, last)
		}
	}
	checkLast(t, "of an event with too many parts", false, many, by("a", content(responded("many"))))
}

// TestMarks puts a mark at each place where an event may have one.
func TestMarks(t *testing.T) {
	for name, members := range map[string]string{
		"a kind":                     `"kind":"internal:x"`,
		"a type":                     `"type":"internal:x"`,
		"an event":                   `"event":"internal:x"`,
		"metadata":                   `"customMetadata":{"type":"internal:x"}`,
		"an event's name":            `"customMetadata":{"event":"internal:x"}`,
		"a remote answer":            `"customMetadata":{"a2a:response":{"status":{"message":{"metadata":{"kind":"internal"}}}}}`,
		"an artifact of a task":      `"customMetadata":{"a2a:response":{"artifacts":[{"metadata":{"adk_custom_metadata":{"kind":"internal:x"}}}]}}`,
		"a remote answer in a text":  `"customMetadata":{"a2a:response":"{\"metadata\":{\"kind\":\"internal\"}}"}`,
		"a remote answer of kagent":  `"customMetadata":{"a2a:response":{"metadata":{"kagent_custom_metadata":"{'kind': 'internal:x'}"}}}`,
		"a request":                  `"customMetadata":{"a2a:request":{"params":{"message":{"parts":[{"type":"internal:x"}]}}}}`,
		"metadata in another case":   `"customMetadata":{"Kind":" \u0130ntern\u200bal"}`,
		"metadata in JSON in a text": `"customMetadata":{"a2a:response":"\"{\\\"kind\\\":\\\"internal\\\"}\""}`,
	} {
		checkLast(t, name, false, by("a", members+","+says("secret")))
		checkLast(t, "without "+name, true, by("a", strings.NewReplacer("internal", "external", `"kind":"`, `"label":"`, `"type":"`, `"label":"`, `\u0130ntern`, "extern", "Kind", "Label").Replace(members)+","+says("hi")))
	}
}

// TestInternalNames checks that no name of an agent, a tool, a node or a remote agent marks an event.
func TestInternalNames(t *testing.T) {
	const call = `{"functionCall":{"id":"c","name":"internal_x","args":{"kind":"internal"}}}`
	for _, sent := range []string{
		by("internal_x", says("hi")),
		by("internal_x", `"branch":"internal_x.internal_y@1","isolationScope":"internal_x","nodeInfo":{"path":"internal_x@1/internal_y@1"},`+says("hi")),
		by("internal_x", `"actions":{"transferToAgent":"internal_x","stateDelta":{"internal_x":1},"artifactDelta":{"internal_x":1}},`+content(call)),
		by("internal_x", content(`{"functionResponse":{"id":"c","name":"internal_x","response":{"kind":"internal"}}}`)),
		by("internal_x", `"output":"hi","nodeInfo":{"path":"w@1/internal_x@1","outputFor":["w@1/internal_x@1"]}`),
		by("r", `"customMetadata":{"a2a:response":{"status":{"state":"working","message":{"parts":[{"data":{"name":"internal_x"}}]}},"metadata":{"adk_author":"internal_x","adk_app_name":"internal_x"}}},`+says("hi")),
	} {
		checkLast(t, sent, true, sent)
	}
}
