package adk_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// policyCase holds the members of an event besides its run and author, and the members that remain under
// the policy public. The latter must not contain "secret".
type policyCase struct{ sent, public string }

// Results without any of the members.
const (
	nothing  = ""         // the event leaves without them
	withheld = "withheld" // the event is withheld
)

var policyCases = []policyCase{
	// Identity, time and state.
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
	{`"content":{"role":"system","parts":[{"text":"secret"}]}`, withheld},
	{`"content":{"role":"tool","parts":[{"text":"secret"}]}`, withheld},
	{`"content":{"role":"function","parts":[{"text":"secret"}]}`, withheld},
	{`"content":{"role":"secret","parts":[{"text":"secret"},{"functionCall":{"id":"c1","name":"f"}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"f"}}]}`},
	{`"content":{"role":["model"],"parts":[{"text":"secret"}]}`, withheld},
	{`"longRunningToolIds":["c1","c2"]`, `"longRunningToolIds":["c1","c2"]`},
	{`"longRunningToolIds":[]`, `"longRunningToolIds":[]`},

	// Content.
	{`"content":{"role":"model","parts":[{"text":"hi"}]}`, `"content":{"role":"model","parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"hi","thoughtSignature":"secret","videoMetadata":{"x":"secret"}}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","thought":true}]}`, withheld},
	{`"content":{"role":"model","parts":[{"text":"secret","thought":true,"thoughtSignature":"secret"}]}`, withheld},
	{`"content":{"parts":[{"text":"secret","thought":true},{"text":"hi","thought":false}]}`, `"content":{"parts":[{"text":"hi","thought":false}]}`},
	{`"content":{"parts":[{"text":"secret","thought":"true"},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","adk_thought":true},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","partMetadata":{"adk_thought":true}},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":"secret","partMetadata":{"thought":1}},{"text":"hi","partMetadata":{"thought":false}}]}`, `"content":{"parts":[{"text":"hi","partMetadata":{"thought":false}}]}`},
	{`"content":{"thought":true,"parts":[{"text":"secret"}]}`, withheld},
	{`"id":"f1","content":{"Thought":"yes","parts":[{"text":"secret"}]}`, withheld},
	{`"thought":true,"content":{"parts":[{"text":"secret"}]}`, withheld},
	{`"thought":false,"content":{"thought":false,"parts":[{"text":"hi"}]}`, `"thought":false,"content":{"thought":false,"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"thinking":"secret","signature":"secret"},{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"content":{"parts":[{"text":""}]}`, `"content":{"parts":[{"text":""}]}`},
	{`"content":{"parts":[]}`, `"content":{"parts":[]}`},
	{`"content":null`, nothing},
	{`"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"secret","displayName":"secret"}}]}`, withheld},
	{`"content":{"parts":[{"fileData":{"fileUri":"secret","mimeType":"image/png"}}]}`, withheld},
	{`"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"secret"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"secret"}}]}`, withheld},
	{`"inputTranscription":{"text":"secret"},"outputTranscription":{"text":"secret","finished":true}`, nothing},

	// Calls and responses of tools.
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"f","args":{"x":"secret"},"partialArgs":["secret"],"willContinue":true},"thoughtSignature":"secret"}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"result":"secret"},"parts":[{"text":"secret"}],"willContinue":true,"scheduling":"SILENT"}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"name":"f","args":{"x":"secret"},"id":"c1"}]}`, `"content":{"parts":[{"name":"f","id":"c1"}]}`},
	{`"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"status":"pending","ticket":"secret"}}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"status":"pending"}}}]}`},
	{`"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"status":"secret"}}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"functionResponse":{"id":"c1","name":"f","response":{"status":5}}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
	{`"content":{"parts":[{"functionResponse":{"name":"f","response":"secret"},"id":"c1"}]}`, `"content":{"parts":[{"functionResponse":{"name":"f"},"id":"c1"}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_input","args":{"message":"secret","payload":"secret"}}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_input"}}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_credential","args":{"authConfig":{"rawAuthCredential":{"oauth2":{"clientSecret":"secret"}}}}}}]}`, `"content":{"parts":[{"functionCall":{"id":"c1","name":"adk_request_credential"}}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"c1","authConfig":{"x":"secret"}}}},{"function_call":{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c1","name":"secret","args":{"x":"secret"}},"toolConfirmation":{"hint":"secret"}}}}]}`,
		`"content":{"parts":[{"functionCall":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"c1"}}},{"function_call":{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c1"}}}}]}`},
	{`"content":{"parts":[{"functionCall":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"secret"}}},{"functionCall":{"id":"c1","name":"f","args":{"functionCallId":"secret"}}}]}`,
		`"content":{"parts":[{"functionCall":{"id":"q","name":"adk_request_credential"}},{"functionCall":{"id":"c1","name":"f"}}]}`},

	// Actions.
	{`"actions":{"transferToAgent":"b","escalate":true,"endInvocation":true}`, `"actions":{"transferToAgent":"b","escalate":true,"endInvocation":true}`},
	{`"actions":{"skipSummarization":true}`, `"actions":{"skipSummarization":true}`},
	{`"actions":{"skipSummarization":{"x":"secret"},"endOfAgent":true,"agentState":{"x":"secret"},"compaction":{"x":"secret"},"route":"secret","rewindBeforeInvocationId":"secret","deletedArtifactIds":["secret"]}`, nothing},
	{`"actions":{"stateDelta":{"temp:x":"secret","app:y":"secret","z":"secret"}}`, nothing},
	{`"actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{},"requestedToolConfirmations":{}}`, `"actions":{"stateDelta":{},"artifactDelta":{},"requestedToolConfirmations":{}}`},
	{`"actions":{"stateDelta":null,"artifactDelta":null}`, nothing},
	{`"actions":{"artifactDelta":{"a.txt":0,"user:b.txt":12}}`, `"actions":{"artifactDelta":{"a.txt":0,"user:b.txt":12}}`},
	{`"actions":{"artifactDelta":{"a":"secret","b":{"text":"secret"},"c":["secret"],"d":1.5,"e":true,"f":null,"g":-1e99,"h":2}}`, `"actions":{"artifactDelta":{"h":2}}`},
	{`"actions":{"artifactDelta":{"a":"secret"}}`, nothing},
	{`"actions":{"requestedAuthConfigs":{"c1":{"rawAuthCredential":{"oauth2":{"clientSecret":"secret"}}}}}`, nothing},
	{`"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?","confirmed":false,"payload":{"x":"secret"}}}}`, `"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?"}}}`},

	// Errors.
	{`"errorCode":"SAFETY","errorMessage":"secret"`, `"errorCode":"SAFETY"`},
	{`"errorCode":"ValueError: secret"`, `"errorCode":"ERROR"`},
	{`"errorCode":{"x":"secret"}`, `"errorCode":"ERROR"`},
	{`"errorCode":""`, `"errorCode":""`},
	{`"errorCode":null`, `"errorCode":null`},
	{`"errorMessage":"secret"`, `"errorMessage":"the agent failed"`},
	{`"errorCode":"","errorMessage":"secret"`, `"errorCode":"","errorMessage":"the agent failed"`},
	{`"errorCode":"","errorMessage":""`, `"errorCode":""`},
	{`"errorDetails":{"stacktrace":"secret"}`, nothing},

	// Usage and metadata.
	{`"usageMetadata":{"promptTokenCount":10,"x":"secret"}`, nothing},
	{`"modelVersion":"secret","avgLogprobs":-0.1,"logprobsResult":{"x":"secret"}`, nothing},
	{`"groundingMetadata":{"searchEntryPoint":"secret"},"citationMetadata":{"citations":["secret"]}`, nothing},
	{`"cacheMetadata":{"x":"secret"},"interactionId":"secret","liveSessionId":"secret","liveSessionResumptionUpdate":{"x":"secret"},"goAway":{"x":"secret"}`, nothing},
	{`"customMetadata":{"a2a:request":{"x":"secret"},"a2a:response":{"x":"secret"}},"debugMetadata":{"x":"secret"}`, `"customMetadata":{"a2a:response":{}}`},
	{`"customMetadata":{"a2a:task_id":"secret"},"content":{"parts":[{"text":"hi"}]}`, `"customMetadata":{"a2a:response":{}},"content":{"parts":[{"text":"hi"}]}`},
	{`"customMetadata":{"a2a:task_id":"secret"},"finishReason":"STOP"`, `"finishReason":"STOP"`},
	{`"customMetadata":{"a2a":"secret","x":"secret"}`, nothing},
	{`"output":"secret","nodeInfo":{"path":"w.f","outputFor":["w.f"]},"content":{"role":"model","parts":[{"text":"secret"}]}`, nothing},
	{`"output":["secret"],"nodeInfo":{"path":"w.f"},"partial":true,"content":{"parts":[{"text":"secret"}]}`, `"partial":true`},
	{`"output":"secret","nodeInfo":{"path":"w.f"},"errorMessage":"secret","content":{"parts":[{"text":"secret"}]}`, nothing},
	{`"output":"hi","nodeInfo":{"path":"w.f","outputFor":["w.f","w"]},"content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"output":"hi","nodeInfo":{"path":"f","outputFor":["f"]},"content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"output":"x","nodeInfo":{"path":"w@1/f.x@1","outputFor":["w@1/f.x@1"]},"content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"output":"hi","content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"output":"hi","nodeInfo":{"path":"w.a","messageAsOutput":true},"content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"nodeInfo":{"path":"w.f"},"content":{"parts":[{"text":"hi"}]}`, `"content":{"parts":[{"text":"hi"}]}`},
	{`"nodeInfo":{"path":"secret"},"output":{"x":"secret"},"isolationScope":"secret","routes":["secret"]`, nothing},
	{`"requestedInput":{"interruptId":"secret","message":"secret","responseSchema":{"x":"secret"},"payload":"secret"}`, nothing},
	{`"llmRequest":"secret","providerMetadata":{"x":"secret"}`, nothing},
	{`"newMember":"secret"`, nothing},
}

// spellings rewrite an event in camel case as other servers write it.
var spellings = map[string]func(string) string{
	"camel": func(e string) string { return e },
	"snake": snake,
	"rust":  func(e string) string { return `{"ui_protocol":"adk","event":` + snake(e) + `}` },
	"java":  java,
}

// java turns the custom metadata of an event into a list of entries.
func java(event string) string {
	before, rest, found := strings.Cut(event, `"customMetadata":{`)
	if !found {
		return event
	}
	rest = "{" + rest
	decoder := json.NewDecoder(strings.NewReader(rest))
	custom := map[string]json.RawMessage{}
	if decoder.Decode(&custom) != nil {
		return event
	}
	var entries []string
	for _, key := range slices.Sorted(maps.Keys(custom)) {
		text := string(custom[key])
		if text[0] != '"' {
			text = strconv.Quote(text)
		}
		entries = append(entries, `{"key":"`+key+`","stringValue":`+text+`}`)
	}
	return before + `"customMetadata":[` + strings.Join(entries, ",") + `]` + rest[decoder.InputOffset():]
}

var camelName = regexp.MustCompile(`"[a-z]+([A-Z][a-z]+)+":`)

func snake(event string) string {
	return camelName.ReplaceAllStringFunc(event, func(name string) string {
		return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) })
	})
}

// filterFrame returns the data of an event after the filter, withheld, or the reason why it is withheld.
func filterFrame(t *testing.T, s filter.Settings, data string) string {
	t.Helper()
	settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader("data: " + data + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
	b, err := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{}, input, "adk").Next()
	if err != nil {
		t.Fatal(err)
	}
	frame, why := filter.New(s).Apply(b)
	if why == filter.ReasonEmpty {
		return withheld
	}
	if why != filter.Passed {
		return string(why)
	}
	return string(frame.Data)
}

// by returns an event of an author.
func by(author, members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"invocationId":"e-1","author":"` + author + `"` + members + `}`
}

// TestPolicies checks each member of an event in each spelling: the policy public lets out what the table
// allows, and the policy client everything.
func TestPolicies(t *testing.T) {
	client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	for _, c := range policyCases {
		for spelling, spelled := range spellings {
			checkPolicies(t, client, "a", c, spelling, spelled)
		}
	}
}

// checkPolicies checks an event of an author in one spelling under public and under client, which must not
// change it.
func checkPolicies(t *testing.T, client filter.Settings, author string, c policyCase, spelling string, spelled func(string) string) {
	t.Helper()
	sent, want := spelled(by(author, c.sent)), withheld
	if c.public != withheld {
		want = spelled(by(author, c.public))
	}
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, sent); got != want || strings.Contains(got, "secret") {
		t.Errorf("%s: under public, filtering\n%s\ngives\n%s\nwant\n%s", spelling, sent, got, want)
	}
	if got := filterFrame(t, client, sent); got != sent {
		t.Errorf("%s: under client, filtering\n%s\ngives\n%s\nwant it unchanged", spelling, sent, got)
	}
}

// TestPoliciesOfTheUser checks that the policy public withholds texts of the user.
func TestPoliciesOfTheUser(t *testing.T) {
	for _, c := range []policyCase{
		{`"content":{"role":"user","parts":[{"text":"secret"}]}`, withheld},
		{`"partial":true,"content":{"parts":[{"text":"secret"}]}`, withheld},
		{`"id":"f1","content":{"parts":[{"text":"secret"},{"functionResponse":{"id":"c1","name":"f","response":"secret"}}]}`, `"id":"f1","content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
		{`"content":{"parts":[{"text":"secret","functionResponse":{"id":"c1","name":"f"}}]}`, `"content":{"parts":[{"functionResponse":{"id":"c1","name":"f"}}]}`},
		{`"content":{"parts":[{"inlineData":{"data":"secret"}}]}`, withheld},
		{`"actions":{"stateDelta":{"x":"secret"}}`, nothing},
		{nothing, nothing},
	} {
		for spelling, spelled := range spellings {
			checkPolicies(t, filter.Settings{Policy: event.PolicyClient}, "user", c, spelling, spelled)
		}
	}
	for _, sent := range []string{ // readers that ignore the case of names
		`"content":{"Role":"user","parts":[{"text":"secret"}]}`, `"content":{"ROLE":"system","parts":[{"text":"secret"}]}`,
		`"content":{"role":"model","ｒole":"user","parts":[{"text":"secret"}]}`, `"content":{"ｒole":"user","role":"model","parts":[{"text":"secret"}]}`, `"Ａuthor":"user","content":{"parts":[{"text":"secret"}]}`,
	} {
		for spelling, spelled := range spellings {
			checkPolicies(t, filter.Settings{Policy: event.PolicyClient}, "a", policyCase{sent, withheld}, spelling, spelled)
		}
	}
}

// TestAuthorsLikeUser checks that the policy public withholds texts of authors that a reader might take for the user.
func TestAuthorsLikeUser(t *testing.T) {
	for _, author := range []string{`"USER"`, `" user "`, `"ｕｓｅｒ"`, `"us\u200ber"`, `["user"]`, `["a",["User"]]`} {
		sent := `{"invocationId":"e-1","author":` + author + `,"content":{"role":"model","parts":[{"text":"secret"}]}}`
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, sent); strings.Contains(got, "secret") {
			t.Errorf("under public, filtering %s gives %s", sent, got)
		}
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient}, sent); got != sent {
			t.Errorf("under client, filtering %s gives %s, want it unchanged", sent, got)
		}
	}
}

// TestPoliciesOfErrors checks error frames, which are not events.
func TestPoliciesOfErrors(t *testing.T) {
	const failed = `{"error":"the run failed"}`
	for _, sent := range []string{
		`{"error":"secret"}`, `{"error":""}`, `{"error":{"message":"secret"}}`, `{"error":["secret"]}`, `{"error":7}`,
		`{"error":"secret","error_details":{"error_type":"secret","error_message":"secret","timestamp":1,"stacktrace":"secret"}}`,
		`{"x":"secret","error":"secret"}`,
	} {
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, sent); got != failed {
			t.Errorf("under public, filtering %s gives %s, want %s", sent, got, failed)
		}
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient}, sent); got != sent {
			t.Errorf("under client, filtering %s gives %s, want it unchanged", sent, got)
		}
	}
}

// TestPoliciesOfCaptures checks that policyCases has each member that a recorded server sends.
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
					t.Errorf("%s: policyCases does not have %q", file, member)
					tested[member] = true
				}
			}
		}
	}
}

// membersOf returns the paths of an event's members in camel case. It skips names that the agent chooses.
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
