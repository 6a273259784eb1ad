package adk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// policyCase is an event's members besides its run and its author, and what the public gets of them. Nothing that is called
// secret may be in that.
type policyCase struct{ sent, public string }

// Where nothing of the members leaves, the event does, and says that something happened; or it does not.
const (
	nothing = ""
	stays   = "the event stays in"
)

var policyCases = []policyCase{
	// Who, when, and how far.
	{`"id":"f1"`, `"id":"f1"`},
	{`"branch":"p.a"`, `"branch":"p.a"`},
	{`"timestamp":1767081391.059711`, `"timestamp":1767081391.059711`},
	{`"timestamp":"2026-05-03T10:00:00Z"`, `"timestamp":"2026-05-03T10:00:00Z"`},
	{`"partial":true`, `"partial":true`},
	{`"turnComplete":true`, `"turnComplete":true`},
	{`"turnCompleteReason":"secret"`, nothing},
	{`"interrupted":true`, `"interrupted":true`},
	{`"timestamp":"secret"`, nothing},
	{`"partial":"secret","interrupted":"secret","actions":{"escalate":"secret"}`, nothing},
	{`"finishReason":"STOP"`, `"finishReason":"STOP"`},
	{`"finishReason":"secret"`, `"finishReason":"OTHER"`},
	{`"content":{"role":"system","parts":[{"text":"secret"}]}`, stays},
	{`"content":{"role":"tool","parts":[{"text":"secret"}]}`, stays},
	{`"content":{"role":"function","parts":[{"text":"secret"}]}`, stays},
	{`"content":{"role":"secret","parts":[{"text":"secret"},{"functionCall":{"id":"c1","name":"f"}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"f"}}]}`},
	{`"content":{"role":["model"],"parts":[{"text":"secret"}]}`, stays},
	{`"longRunningToolIds":["c1","c2"]`, `"longRunningToolIds":["c1","c2"]`},
	{`"longRunningToolIds":[]`, `"longRunningToolIds":[]`},

	// What is said.
	{`"content":{"role":"model","parts":[{"text":"hi"}]}`, `"content":{"role":"model","parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"hi","thoughtSignature":"secret","videoMetadata":{"x":"secret"}}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","thought":true}]}`, stays},
	{`"content":{"role":"model","parts":[{"text":"secret","thought":true,"thoughtSignature":"secret"}]}`, stays},
	{`"content":{"parts":[{"text":"secret","thought":true},{"text":"hi","thought":false}]}`, `"content":{"parts":[{"text":"hi","thought":false}]}`},
	{`"content":{"parts":[{"text":"secret","thought":"true"},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","adk_thought":true},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","partMetadata":{"adk_thought":true}},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","partMetadata":{"thought":1}},{"text":"hi","partMetadata":{"thought":false}}]}`, `"content":{"parts":[{"text":"hi","partMetadata":{"thought":false}}]}`},
	{`"content":{"thought":true,"parts":[{"text":"secret"}]}`, stays},
	{`"id":"f1","content":{"Thought":"yes","parts":[{"text":"secret"}]}`, stays},
	{`"thought":true,"content":{"parts":[{"text":"secret"}]}`, stays},
	{`"thought":false,"content":{"thought":false,"parts":[{"text":"hi"}]}`, `"thought":false,"content":{"thought":false,"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"thinking":"secret","signature":"secret"},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":""}]}`, `"content":{"parts":[{"text":""}]}`},
	{`"content":{"parts":[]}`, `"content":{"parts":[]}`},
	{`"content":null`, nothing},
	{`"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"secret","displayName":"secret"}}]}`, stays},
	{`"content":{"parts":[{"fileData":{"fileUri":"secret","mimeType":"image/png"}}]}`, stays},
	{`"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"secret"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"secret"}}]}`, stays},
	{`"inputTranscription":{"text":"secret"},"outputTranscription":{"text":"secret","finished":true}`, nothing},

	// What tools are asked, and answer.
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"f","args":{"x":"secret"},"partialArgs":["secret"],"willContinue":true},"thoughtSignature":"secret"}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"result":"secret"},"parts":[{"text":"secret"}],"willContinue":true,"scheduling":"SILENT"}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"name":"f","args":{"x":"secret"},"id":"c1"}]}`, `"content":{"parts":[{"name":"f","id":"c1"}]}`},
	{`"content":{"parts":[{"functionResponse":{"name":"f","response":"secret"},"id":"c1"}]}`, `"content":{"parts":[{"functionResponse":{"name":"f"},"id":"c1"}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_input","args":{"message":"secret","payload":"secret"}}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_input"}}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_credential","args":{"authConfig":{"rawAuthCredential":{"oauth2":{"clientSecret":"secret"}}}}}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_credential"}}]}`},

	// What is done.
	{`"actions":{"transferToAgent":"b","escalate":true,"endInvocation":true}`, `"actions":{"transferToAgent":"b","escalate":true,"endInvocation":true}`},
	{`"actions":{"skipSummarization":true,"endOfAgent":true,"agentState":{"x":"secret"},"compaction":{"x":"secret"},"route":"secret","rewindBeforeInvocationId":"secret","deletedArtifactIds":["secret"]}`, nothing},
	{`"actions":{"stateDelta":{"temp:x":"secret","app:y":"secret","z":"secret"}}`, nothing},
	{`"actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{},"requestedToolConfirmations":{}}`, `"actions":{"stateDelta":{},"artifactDelta":{},"requestedToolConfirmations":{}}`},
	{`"actions":{"stateDelta":null,"artifactDelta":null}`, nothing},
	{`"actions":{"artifactDelta":{"a.txt":0,"user:b.txt":12}}`, `"actions":{"artifactDelta":{"a.txt":0,"user:b.txt":12}}`},
	{`"actions":{"artifactDelta":{"a":"secret","b":{"text":"secret"},"c":["secret"],"d":1.5,"e":true,"f":null,"g":-1e99,"h":2}}`, `"actions":{"artifactDelta":{"h":2}}`},
	{`"actions":{"artifactDelta":{"a":"secret"}}`, nothing},
	{`"actions":{"requestedAuthConfigs":{"c1":{"rawAuthCredential":{"oauth2":{"clientSecret":"secret"}}}}}`, nothing},
	{`"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?","confirmed":false,"payload":{"x":"secret"}}}}`, `"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?"}}}`},

	// What goes wrong.
	{`"errorCode":"SAFETY","errorMessage":"secret"`, `"errorCode":"SAFETY"`},
	{`"errorCode":"ValueError: secret"`, `"errorCode":"ERROR"`},
	{`"errorCode":{"x":"secret"}`, `"errorCode":"ERROR"`},
	{`"errorCode":""`, `"errorCode":""`},
	{`"errorCode":null`, `"errorCode":null`},
	{`"errorDetails":{"stacktrace":"secret"}`, nothing},

	// What it costs, and what servers say of themselves.
	{`"usageMetadata":{"promptTokenCount":10,"x":"secret"}`, nothing},
	{`"modelVersion":"secret","avgLogprobs":-0.1,"logprobsResult":{"x":"secret"}`, nothing},
	{`"groundingMetadata":{"searchEntryPoint":"secret"},"citationMetadata":{"citations":["secret"]}`, nothing},
	{`"cacheMetadata":{"x":"secret"},"interactionId":"secret","liveSessionId":"secret","liveSessionResumptionUpdate":{"x":"secret"},"goAway":{"x":"secret"}`, nothing},
	{`"customMetadata":{"a2a:request":{"x":"secret"},"a2a:response":{"x":"secret"}},"debugMetadata":{"x":"secret"}`, nothing},
	{`"nodeInfo":{"path":"secret"},"output":{"x":"secret"},"isolationScope":"secret","routes":["secret"]`, nothing},
	{`"requestedInput":{"interruptId":"secret","message":"secret","responseSchema":{"x":"secret"},"payload":"secret"}`, nothing},
	{`"llmRequest":"secret","providerMetadata":{"x":"secret"}`, nothing},
	{`"whatMayCome":"secret"`, nothing},
}

// spellings are the ways in which servers write an event, given as Python does.
var spellings = map[string]func(string) string{
	"camel": func(e string) string { return e },
	"snake": snake,
	"rust":  func(e string) string { return `{"ui_protocol":"adk","event":` + snake(e) + `}` },
}

var camelName = regexp.MustCompile(`"[a-z]+([A-Z][a-z]+)+":`)

func snake(event string) string {
	return camelName.ReplaceAllStringFunc(event, func(name string) string {
		return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) })
	})
}

// leaves is what of an event, given by its data, leaves by a policy.
func leaves(t *testing.T, s filter.Settings, data string) string {
	t.Helper()
	settings := collector.Settings{Frame: 1 << 20, JSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader("data: " + data + "\n\n"), Arrival: func() time.Time { return time.Time{} }}
	b, err := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{}, input, "adk").Next()
	if err != nil {
		t.Fatal(err)
	}
	frame, why := filter.New(s).Apply(b)
	if why == filter.Empty {
		return stays
	}
	if why != filter.Passed {
		return string(why)
	}
	return string(frame.Data)
}

// by is an event of somebody.
func by(author, members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"invocationId":"e-1","author":"` + author + `"` + members + `}`
}

// TestPolicies lets each field of an event leave, in each of its spellings: to the public what the table says, to the protocol's
// own client all of it.
func TestPolicies(t *testing.T) {
	client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	for _, c := range policyCases {
		for spelling, spelled := range spellings {
			sent, want := spelled(by("a", c.sent)), stays
			if c.public != stays {
				want = spelled(by("a", c.public))
			}
			if got := leaves(t, filter.Settings{Policy: event.PolicyPublic}, sent); got != want || strings.Contains(got, "secret") {
				t.Errorf("%s: the public gets of\n%s\n%s\nwant\n%s", spelling, sent, got, want)
			}
			if got := leaves(t, client, sent); got != sent {
				t.Errorf("%s: the client gets of\n%s\n%s", spelling, sent, got)
			}
		}
	}
}

// TestPoliciesOfTheUser has the user speak: whose words are no answer.
func TestPoliciesOfTheUser(t *testing.T) {
	for _, c := range []policyCase{
		{`"content":{"role":"user","parts":[{"text":"secret"}]}`, stays},
		{`"partial":true,"content":{"parts":[{"text":"secret"}]}`, stays},
		{`"id":"f1","content":{"parts":[{"text":"secret"},{"functionResponse":{"id":"c1","name":"f","response":"secret"}}]}`, `"id":"f1","content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
		{`"content":{"parts":[{"text":"secret","functionResponse":{"id":"c1","name":"f"}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
		{`"content":{"parts":[{"inlineData":{"data":"secret"}}]}`, stays},
		{`"actions":{"stateDelta":{"x":"secret"}}`, nothing},
		{nothing, nothing},
	} {
		for spelling, spelled := range spellings {
			sent, want := spelled(by("user", c.sent)), stays
			if c.public != stays {
				want = spelled(by("user", c.public))
			}
			if got := leaves(t, filter.Settings{Policy: event.PolicyPublic}, sent); got != want || strings.Contains(got, "secret") {
				t.Errorf("%s: the public gets of\n%s\n%s\nwant\n%s", spelling, sent, got, want)
			}
			if got := leaves(t, filter.Settings{Policy: event.PolicyClient}, sent); got != sent {
				t.Errorf("%s: the client gets of\n%s\n%s", spelling, sent, got)
			}
		}
	}
}

// TestPoliciesOfErrors has runs fail by frames that are no events.
func TestPoliciesOfErrors(t *testing.T) {
	const failed = `{"error":"the run failed"}`
	for _, sent := range []string{
		`{"error":"secret"}`, `{"error":""}`, `{"error":{"message":"secret"}}`, `{"error":["secret"]}`, `{"error":7}`,
		`{"error":"secret","error_details":{"error_type":"secret","error_message":"secret","timestamp":1,"stacktrace":"secret"}}`,
		`{"x":"secret","error":"secret"}`,
	} {
		if got := leaves(t, filter.Settings{Policy: event.PolicyPublic}, sent); got != failed {
			t.Errorf("the public gets of %s %s", sent, got)
		}
		if got := leaves(t, filter.Settings{Policy: event.PolicyClient}, sent); got != sent {
			t.Errorf("the client gets of %s %s", sent, got)
		}
	}
}

// TestPoliciesOfCaptures has a case for every member that any recorded server sends.
func TestPoliciesOfCaptures(t *testing.T) {
	tested := map[string]bool{"invocationId": true, "author": true}
	for _, c := range policyCases {
		for _, member := range membersOf(t, "{"+c.sent+"}") {
			tested[member] = true
		}
	}
	files, _ := filepath.Glob("testdata/*.sse")
	recorded, _ := filepath.Glob("adkserver/testdata/captures/*/*.sse")
	if len(files) == 0 || len(recorded) == 0 {
		t.Fatal("no captures")
	}
	for _, file := range slices.Concat(files, recorded) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			data, ok := strings.CutPrefix(line, "data:")
			if !ok || !json.Valid([]byte(data)) || strings.Contains(data, `"error":`) && !strings.Contains(data, `"author":`) {
				continue
			}
			for _, member := range membersOf(t, data) {
				if !tested[member] {
					t.Errorf("%s: no case has %q", file, member)
					tested[member] = true
				}
			}
		}
	}
}

// membersOf are the paths of an event's members, in camel case, down to those that an agent names.
func membersOf(t *testing.T, data string) (paths []string) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(data), &root); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if inner, ok := root["event"].(map[string]any); ok {
		root = inner
	}
	var walk func(string, any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				at := path + camel(name)
				paths = append(paths, at)
				if named := []string{"args", "response", "stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations", "usageMetadata", "groundingMetadata"}; !slices.Contains(named, camel(name)) {
					walk(at+".", value)
				}
			}
		case []any:
			for _, element := range v {
				walk(path, element)
			}
		}
	}
	walk("", root)
	return paths
}

func camel(name string) string {
	return regexp.MustCompile(`_[a-z]`).ReplaceAllStringFunc(name, func(c string) string { return strings.ToUpper(c[1:]) })
}
