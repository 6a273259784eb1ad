package a2a_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// asKagent writes the metadata of an ADK agent as kagent does. toADK is the reverse. Names of functions such as adk_request_input stay.
var (
	asKagent = strings.NewReplacer(`"adk_request`, `"adk_request`, `\"adk_`, `\"kagent_`, `"adk_partial`, `"kagent_adk_partial`, `"adk_`, `"kagent_`)
	toADK    = strings.NewReplacer(`"kagent_adk_partial`, `"adk_partial`, `\"kagent_`, `\"adk_`, `"kagent_`, `"adk_`)
)

// TestKagent plays the recordings of ADK agents with the prefix of kagent. The facts do not change. What leaves differs only in the
// names of members.
func TestKagent(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		adk := string(recorded)
		kagent := asKagent.Replace(adk)
		if kagent == adk {
			continue
		}
		renamed++
		facts := func(stream string) string { return dialecttest.Facts(a2a.Dialect{}, &event.Stream{}, stream) }
		if diff := cmp.Diff(facts(adk), facts(kagent)); diff != "" {
			t.Errorf("%s: the facts differ (-adk +kagent):\n%s", file, diff)
		}
		for _, settings := range []filter.Settings{
			public, {Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, {Policy: event.PolicyPublic, Authors: []string{"a"}},
			{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindToolStarted}}, {Policy: event.PolicyClient, Authors: []string{"a"}},
		} {
			want, got := filterStream(t, settings, adk), filterStream(t, settings, kagent)
			for i := range want {
				if toADK.Replace(got[i]) != toADK.Replace(want[i]) {
					t.Errorf("%s, frame %d, %+v: the output is %s, want %s", file, i, settings, got[i], want[i])
				}
			}
		}
	}
	if renamed == 0 {
		t.Error("no recording has metadata of ADK agents")
	}
}

// TestInternalKagent checks that nothing of kagent's internal events leaves, also where the answer repeats one.
func TestInternalKagent(t *testing.T) {
	const text, about = `{"kind":"text","text":"CANARY"}`, `"kagent_author":"a","kagent_invocation_id":"e-1"`
	const internal = `,"metadata":{` + about + `,"kagent_custom_metadata":"{'kind': 'internal:audit'}"}`
	state := func(state, parts, more string) [3]string {
		return [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"` + state + `","message":` + message("agent", parts) + `}` + more}
	}
	answer := func(parts string) [3]string {
		return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":"new","parts":[` + parts + `]},"lastChunk":true`}
	}
	part := func(data, kind string) string {
		return `{"kind":"data","data":` + data + `,"metadata":{"kagent_type":"` + kind + `"}}`
	}
	call, response := part(`{"id":"c1","name":"f","args":{"x":"CANARY"}}`, "function_call"), part(`{"id":"c1","name":"f","response":{"x":"CANARY"}}`, "function_response")
	asks := part(`{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c1","name":"f","args":{"x":"CANARY"}}}}`, "function_call")
	const hello = `{"kind":"text","text":"hello"}`
	for name, c := range map[string]struct {
		sent           [][3]string
		client, public bool // the last frame leaves with the canary
	}{
		"a text":                 {[][3]string{state("working", text, internal)}, false, false},
		"a call":                 {[][3]string{state("working", call, internal)}, false, false},
		"an answer":              {[][3]string{state("completed", text, internal)}, false, false},
		"a response":             {[][3]string{state("working", call, internal), state("working", response, "")}, false, false},
		"a confirmation":         {[][3]string{state("working", call, internal), state("input-required", asks, "")}, false, false},
		"the answer repeats it":  {[][3]string{state("working", text, internal), answer(text)}, false, false},
		"the answer is another":  {[][3]string{state("working", hello, internal), answer(text)}, true, true},
		"an event that may":      {[][3]string{state("working", text, `,"metadata":{`+about+`}`), answer(text)}, true, true},
		"a text of the user":     {[][3]string{state("completed", text, `,"metadata":{"kagent_author":"user"}`)}, true, false},
		"the result of code":     {[][3]string{state("completed", `{"kind":"text","text":"CANARY","metadata":{"kagent_type":"code_execution_result"}}`, "")}, true, false},
		"the arguments of calls": {[][3]string{state("working", call, "")}, true, false},
	} {
		stream := ""
		for i, u := range c.sent {
			body := strings.Replace(u[2], `"messageId":"m"`, `"messageId":"m`+strconv.Itoa(i)+`"`, 1)
			stream += "data: " + envelopes["0.3"](u[0], u[1], body) + "\n\n"
		}
		for policy, leaves := range map[event.Policy]bool{event.PolicyClient: c.client, event.PolicyPublic: c.public} {
			all := filterStream(t, filter.Settings{Policy: policy}, stream)
			if got := all[len(all)-1]; strings.Contains(got, "CANARY") != leaves {
				t.Errorf("%s: under %s, the output is %s", name, policy, got)
			}
		}
	}
}
