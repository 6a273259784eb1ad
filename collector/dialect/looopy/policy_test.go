package looopy_test

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
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

var (
	public = filter.Settings{Policy: event.PolicyPublic}
	client = filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
)

// filterStream returns the filter's output for each frame: its name and data, or the reason why it is withheld.
func filterStream(t *testing.T, s filter.Settings, stream string) (output []string) {
	t.Helper()
	settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader(stream), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New([]dialect.Dialect{looopy.Dialect{}}, settings, nil).Decode(&event.Stream{}, input, "looopy")
	f := filter.New(s)
	for {
		b, err := decoding.Next()
		if err != nil {
			return output
		}
		frame, why := f.Apply(b)
		if why != filter.Passed {
			output = append(output, withheld+": "+string(why))
			continue
		}
		output = append(output, frame.Name+" "+string(frame.Data))
	}
}

// policyCase holds the members of an event besides its task, and the members that remain under the policy
// public. The latter must not contain "secret".
type policyCase struct{ kind, sent, public string }

// Results without any of the members.
const (
	withheld = "withheld" // the event is withheld
	nothing  = ""         // the event leaves without them
)

var policyCases = []policyCase{
	// Common members.
	{"task-status", `"contextId":"c","parentTaskId":"p","path":["agent:a","tool:b"],"timestamp":"2026-01-01T00:00:00Z"`, `"contextId":"c","parentTaskId":"p","path":["agent:a","tool:b"],"timestamp":"2026-01-01T00:00:00Z"`},
	{"task-status", `"newMember":"secret"`, nothing},
	{"task-status", `"path":["tool:b",{"x":"secret"}]`, `"path":["tool:b"]`},

	// Tasks.
	{"task-created", `"initiator":"user","metadata":{"agentId":"a","model":"secret","historyLength":"secret","x":"secret"}`, `"initiator":"user","metadata":{"agentId":"a"}`},
	{"task-created", `"initiator":"user","metadata":{"historyLength":1}`, `"initiator":"user"`},
	{"task-status", `"status":"working","message":"secret","metadata":{}`, `"status":"working","metadata":{}`},
	{"task-status", `"status":"failed","message":"secret","metadata":{"error":"secret","reason":"secret","consecutiveToolFailures":3}`, `"status":"failed"`},
	{"task-status", `"status":"waiting-input","metadata":{"reason":"secret","blockedBy":"user","pendingInputIds":["i1"],"pendingToolNames":["f"],"pendingAuths":[{"authId":"a1","authType":"pat","provider":"p","x":"secret"}]}`,
		`"status":"waiting-input","metadata":{"blockedBy":"user","pendingInputIds":["i1"],"pendingToolNames":["f"],"pendingAuths":[{"authId":"a1","authType":"pat","provider":"p"}]}`},
	{"task-complete", `"content":"hi","artifacts":["a"],"metadata":{"duration":1,"iterations":2,"tokensUsed":"secret","finishReason":"stop","x":"secret"}`, `"content":"hi","artifacts":["a"],"metadata":{"duration":1,"iterations":2,"finishReason":"stop"}`},
	{"subtask-created", `"subtaskId":"s","agentId":"a","prompt":"secret"`, `"subtaskId":"s","agentId":"a"`},

	// Only numbers.
	{"tool-progress", `"toolCallId":"c1","progress":"secret"`, `"toolCallId":"c1"`},
	{"data-write", `"artifactId":"a","metadata":{"version":"secret"}`, `"artifactId":"a"`},
	{"input-required", `"inputId":"i1","metadata":{"timeout":"secret","expiresIn":"secret"}`, `"inputId":"i1"`},

	// The model.
	{"content-delta", `"delta":"hi","index":0`, `"delta":"hi","index":0`},
	{"content-complete", `"content":"hi","finishReason":"stop"`, `"content":"hi","finishReason":"stop"`},
	{"content-complete", `"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":{"x":"secret"}}}]`,
		`"content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1","type":"function","function":{"name":"f"}}]`},
	{"thought-stream", `"thoughtId":"secret","thoughtType":"planning","verbosity":"brief","content":"secret","index":0,"metadata":{"confidence":0.9,"alternatives":["secret"],"relatedTo":"secret","source":"secret"}`, withheld},
	{"thought-stream", `"content":"secret"`, withheld},
	{"llm-usage", `"model":"secret","prompt_tokens":1,"completion_tokens":1,"total_tokens":1,"completion_tokens_details":{"reasoning_tokens":1},"prompt_tokens_details":{"cached_tokens":1},"cache_read_input_tokens":1`, withheld},
	{"message", `"message":{"role":"user","content":"secret"}`, withheld},

	// Tools.
	{"tool-call", `"toolCallId":"c1","toolName":"f","arguments":{"x":"secret"},"metadata":{"x":"secret"}`, `"toolCallId":"c1","toolName":"f"`},
	{"tool-start", `"toolCallId":"c1","toolName":"f","arguments":{"x":"secret"},"icon":"secret","metadata":{"provider":"secret","concurrent":true}`, `"toolCallId":"c1","toolName":"f"`},
	{"tool-progress", `"toolCallId":"c1","progress":0.5,"message":"secret","icon":"secret","metadata":{"step":"secret","stepsCompleted":1,"stepsTotal":2}`, `"toolCallId":"c1","progress":0.5`},
	{"tool-complete", `"toolCallId":"c1","toolName":"f","success":false,"result":{"x":"secret"},"error":"secret","icon":"secret","metadata":{"duration":1,"cached":false,"retries":0}`, `"toolCallId":"c1","toolName":"f","success":false`},

	// Requests for input.
	{"tool-input-required", `"toolCallId":"c1","toolName":"f","toolArguments":{"x":"secret"},"inputId":"i1","inputType":"data","prompt":"?","schema":{"type":"object"},"options":["a",{"b":1}]`,
		`"toolCallId":"c1","toolName":"f","inputId":"i1","inputType":"data","prompt":"?","schema":{"type":"object"},"options":["a",{"b":1}]`},
	{"input-required", `"inputId":"i1","requireUser":true,"inputType":"selection","prompt":"?","schema":{"type":"boolean"},"options":["a"],"metadata":{"toolCall":{"function":{"arguments":"secret"}},"urgency":"high","timeout":300,"x":"secret"}`,
		`"inputId":"i1","requireUser":true,"inputType":"selection","prompt":"?","schema":{"type":"boolean"},"options":["a"],"metadata":{"urgency":"high","timeout":300}`},
	{"auth-required", `"authId":"a1","authType":"oauth2","provider":"p","scopes":["s"],"prompt":"?","authUrl":"https://a.test","infoUrl":"https://i.test","authorizationEndpoint":"https://e.test","clientId":"c","codeChallenge":"x","codeChallengeMethod":"S256","codeVerifier":"secret","clientSecret":"secret","encryptionKey":{"kty":"EC","crv":"P-256","x":"X","y":"Y","kid":"k","alg":"ECDH-ES","d":"secret"},"metadata":{"expiresIn":300,"toolCallId":"c1","toolName":"f","toolArguments":{"x":"secret"}}`,
		`"authId":"a1","authType":"oauth2","provider":"p","scopes":["s"],"prompt":"?","authUrl":"https://a.test","infoUrl":"https://i.test","authorizationEndpoint":"https://e.test","clientId":"c","codeChallenge":"x","codeChallengeMethod":"S256","encryptionKey":{"kty":"EC","crv":"P-256","x":"X","y":"Y","kid":"k","alg":"ECDH-ES"},"metadata":{"expiresIn":300,"toolCallId":"c1","toolName":"f"}`},
	{"input-received", `"inputId":"i1","providedBy":"user","userId":"secret","agentId":"secret","metadata":{"duration":900}`, `"inputId":"i1","providedBy":"user"`},
	{"auth-completed", `"authId":"a1","userId":"secret","metadata":{"expiresAt":"secret"}`, `"authId":"a1"`},

	// Artifacts.
	{"file-write", `"artifactId":"f","data":"secret","index":0,"complete":true,"name":"a.md","description":"secret","mimeType":"text/plain","encoding":"utf-8","metadata":{"encoding":"utf-8","chunkSize":1,"totalChunks":1,"totalSize":1,"toolCallId":"c1"}`,
		`"artifactId":"f","index":0,"complete":true,"name":"a.md","mimeType":"text/plain"`},
	{"data-write", `"artifactId":"d","data":{"x":"secret"},"name":"n","description":"secret","metadata":{"version":2,"dataSize":3,"toolCallId":"c1"}`, `"artifactId":"d","name":"n","metadata":{"version":2}`},
	{"dataset-write", `"artifactId":"s","rows":[{"x":"secret"}],"index":0,"complete":false,"name":"n","description":"secret","schema":{"x":"secret"},"metadata":{"totalRows":1,"batchSize":1,"totalBatches":1}`,
		`"artifactId":"s","index":0,"complete":false,"name":"n"`},
}

// shapes format an event of task t as servers send it.
var shapes = map[string]func(kind, members string) string{
	"design document": func(kind, members string) string {
		return "event: " + kind + "\ndata: " + dataOf(`"kind":"`+kind+`",`, members) + "\n\n"
	},
	"kind alone": func(kind, members string) string { return "data: " + dataOf(`"kind":"`+kind+`",`, members) + "\n\n" },
	"name alone": func(kind, members string) string {
		return "id: c-1\nevent: " + kind + "\ndata: " + dataOf("", members) + "\n\n"
	},
}

func dataOf(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return "{" + kind + `"taskId":"t"` + members + "}"
}

// TestPolicies checks each member of each event in each shape. The policy public must let out what the table
// allows. The policy client must let out everything, with the kind as the frame's name.
func TestPolicies(t *testing.T) {
	for _, c := range policyCases {
		for name, shape := range shapes {
			stream := shape(c.kind, c.sent)
			kind := ""
			if name != "name alone" {
				kind = `"kind":"` + c.kind + `",`
			}
			want := c.kind + " " + dataOf(kind, c.public)
			if got := filterStream(t, public, stream)[0]; c.public == withheld && !strings.HasPrefix(got, withheld) || c.public != withheld && got != want || strings.Contains(got, "secret") {
				t.Errorf("%s: under public, filtering\n%sgives\n%s\nwant\n%s", name, stream, got, want)
			}
			if got, want := filterStream(t, client, stream)[0], c.kind+" "+dataOf(kind, c.sent); got != want {
				t.Errorf("%s: under client, filtering\n%sgives\n%s\nwant\n%s", name, stream, got, want)
			}
		}
	}
}

// TestThoughts checks that the settings let thoughts out, without their alternatives.
func TestThoughts(t *testing.T) {
	settings := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	stream := shapes["name alone"]("thought-stream", `"thoughtId":"h","thoughtType":"decision","verbosity":"brief","content":"hm","index":0,"metadata":{"confidence":0.9,"alternatives":["secret"]}`)
	const want = `thought-stream {"taskId":"t","thoughtId":"h","thoughtType":"decision","verbosity":"brief","content":"hm","index":0,"metadata":{"confidence":0.9}}`
	if got := filterStream(t, settings, stream)[0]; got != want {
		t.Errorf("with thoughts, one becomes %s, want %s", got, want)
	}
	settings.MinConfidence = 0.95
	if got := filterStream(t, settings, stream)[0]; !strings.HasPrefix(got, withheld) {
		t.Errorf("a thought below MinConfidence becomes %s, want it withheld", got)
	}
	other := shapes["name alone"]("thought-stream", `"note":"secret"`)
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		if got := filterStream(t, filter.Settings{Policy: policy}, other)[0]; !strings.HasPrefix(got, withheld) {
			t.Errorf("%s, without thoughts: one with other members becomes %s, want it withheld", policy, got)
		}
	}
}

// TestRepeatedAnswer checks that a task's end leaves with its answer although content-complete had it already.
func TestRepeatedAnswer(t *testing.T) {
	shape := shapes["name alone"]
	got := filterStream(t, public, shape("content-complete", `"content":"hi","finishReason":"stop"`)+shape("task-complete", `"content":"hi"`))
	want := []string{`content-complete {"taskId":"t","content":"hi","finishReason":"stop"}`, `task-complete {"taskId":"t","content":"hi"}`}
	if !slices.Equal(got, want) {
		t.Errorf("the output is %q, want %q", got, want)
	}
}

// TestWithheld checks frames that the servers' own filters let pass, or that another reader might read
// differently.
func TestWithheld(t *testing.T) {
	const data = `{"taskId":"t","reasoning":"secret","delta":"secret"}`
	kind := func(kind string) string { return `{"kind":` + kind + `,"taskId":"t","delta":"secret"}` }
	nested := `{"taskId":"t","delta":"x","metadata":{"x":[{"kind":"internal:x","y":"secret"}]}}`
	for _, c := range []struct{ name, data, why string }{
		{"internal:llm-call", data, "internal"},
		{"Internal:thought-process", data, "internal"},
		{"llm-call", data, "internal"},
		{"Checkpoint", data, "internal"},
		{"thought-process", data, "internal"},
		{"tool-message", data, "internal"},
		{"tool-start", kind(`"internal:tool-start"`), "internal"},
		{"internal:tool-start", kind(`"tool-start"`), "internal"},
		{"llm-call", kind(`"content-delta"`), "internal"},
		{"content-delta", kind(`"checkpoint"`), "internal"},
		{"content-delta", `{"KIND":"internal:x","taskId":"t","delta":"secret"}`, "internal"},
		{"content-delta", `{"type":"internal:x","taskId":"t","delta":"secret"}`, "internal"},
		{"content-delta", nested, "internal"},
		{"content-delta", `{"kind":"content-delta","event":"internal:llm-call","taskId":"t","delta":"secret"}`, "internal"},
		{"message", `{"taskId":"t","message":{"role":"system","content":"secret"}}`, "internal"},
		{"message", `{"taskId":"t","message":[{"role":"user"},{"Role":" Developer","content":"secret"}]}`, "internal"},
		{"message", `{"taskId":"t","message":{"role":["system"],"content":"secret"}}`, "internal"},
		{"message", `{"taskId":"t","message":{"metadata":{"role":"internal:x"},"content":"secret"}}`, "internal"},
		{"message", `{"taskId":"t","role":"system","message":{"content":"secret"}}`, "internal"},
		{"content-delta", `{"taskId":"t","role":"system","delta":"secret"}`, "internal"},
		{"content-complete", `{"taskId":"t","metadata":{"role":"system"},"content":"secret"}`, "internal"},
		{"thought-stream", `{"taskId":"t","role":"system","content":"secret"}`, "internal"},
		{"task-complete", `{"taskId":"t","role":"developer","content":"secret"}`, "internal"},
		{"", data, "unknown"},
		{"undefined", data, "unknown"},
		{"prompt-error", data, "unknown"},
		{"error", data, "unknown"},
		{"content-delta", kind(`"tool-start"`), "unknown"},
		{"message", kind(`"content-delta"`), "unknown"},
		{"Content-Delta", data, "unknown"},
		{"content-delta", kind(`null`), "unknown"},
		{"content-delta", kind(`["content-delta"]`), "unreadable"},
		{"content-delta", `{"delta":"secret"}`, "unreadable"},
		{"content-delta", `{"taskId":"t","delta":"secret"`, "unreadable"},
	} {
		stream := "event: " + c.name + "\ndata: " + c.data + "\n\n"
		for _, s := range []filter.Settings{public, client} {
			if got := filterStream(t, s, stream); !slices.Equal(got, []string{withheld + ": " + c.why}) {
				t.Errorf("under %s, filtering\n%sgives %q", s.Policy, stream, got)
			}
		}
	}
}

// TestNames sends events of an agent and of a tool with names that begin like a mark. All leave.
func TestNames(t *testing.T) {
	for kind, members := range map[string]string{
		"task-created":    `"path":["agent:internal_x"],"metadata":{"agentId":"internal_x"}`,
		"subtask-created": `"subtaskId":"s","agentId":"internal_x"`,
		"content-delta":   `"path":["agent:internal_x","tool:internal_x"],"delta":"x"`,
		"tool-start":      `"toolCallId":"internal_c","toolName":"internal_x","metadata":{"provider":"internal_x"}`,
		"tool-complete":   `"toolCallId":"internal_c","toolName":"internal_x","success":true`,
		"message":         `"message":{"role":"assistant","name":"internal_x","content":"x"}`,
		"task-complete":   `"path":["agent:internal_x"],"content":"x"`,
	} {
		if got, want := filterStream(t, client, shapes["name alone"](kind, members))[0], kind+" "+dataOf("", members); got != want {
			t.Errorf("of %s, %s is let out", want, got)
		}
	}
}

// TestRoles checks that the client gets frames of other roles, and of agents that only have a name like a role.
func TestRoles(t *testing.T) {
	for _, members := range []string{
		`"message":{"role":"assistant","content":"x"}`, `"message":{"role":"tool","content":"x","toolCallId":"c"}`, `"message":{"role":null,"content":"x"}`,
		`"message":{"role":"assistant","name":"system","content":"system"}`,
	} {
		if got, want := filterStream(t, client, shapes["name alone"]("message", members))[0], "message "+dataOf("", members); got != want {
			t.Errorf("of %s, %s is let out", want, got)
		}
	}
	const result = `"toolCallId":"c","toolName":"people","success":true,"result":{"role":"developer","content":"x"},"metadata":{"role":"developer"}`
	if got, want := filterStream(t, client, shapes["name alone"]("tool-complete", result))[0], "tool-complete "+dataOf("", result); got != want {
		t.Errorf("of %s, %s is let out", want, got)
	}
}

// TestPoliciesOfCaptures checks recorded streams: nothing internal leaves under either policy, all other events
// leave under the policy client, and policyCases has each of their members.
func TestPoliciesOfCaptures(t *testing.T) {
	tested := map[string]bool{"kind": true, "taskId": true}
	for _, c := range policyCases {
		for _, member := range membersOf(t, c.kind, "{"+c.sent+"}") {
			tested[c.kind+" "+member] = true
			if c.kind == "task-status" {
				tested[member] = true // for all kinds
			}
		}
	}
	files, _ := filepath.Glob("testdata/*.sse")
	if len(files) == 0 {
		t.Fatal("no captures")
	}
	frame := regexp.MustCompile(`(?m)^event: ?(.*)\ndata: (.*)$`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		toPublic, toClient := filterStream(t, public, string(content)), filterStream(t, client, string(content))
		for i, sent := range frame.FindAllStringSubmatch(string(content), -1) {
			kind, data := sent[1], sent[2]
			if kind == "" || kind == "undefined" || strings.HasPrefix(strings.ToLower(kind), "internal:") {
				if !strings.HasPrefix(toClient[i], withheld) || !strings.HasPrefix(toPublic[i], withheld) {
					t.Errorf("%s, frame %d: the kind %s is let out", file, i+1, kind)
				}
				continue
			}
			if toClient[i] != kind+" "+data {
				t.Errorf("%s, frame %d: under client, filtering\n%s\ngives\n%s", file, i+1, data, toClient[i])
			}
			for _, member := range membersOf(t, kind, data) {
				if !tested[member] && !tested[kind+" "+member] {
					t.Errorf("%s: policyCases does not have %q for %s", file, member, kind)
					tested[member] = true
				}
			}
		}
		if all := strings.Join(slices.Concat(toPublic, toClient), "\n"); strings.Contains(all, "CANARY") {
			t.Errorf("%s: a canary is let out", file)
		}
	}
}

// membersOf returns the paths of an event's members. It skips names that a tool chooses.
func membersOf(t *testing.T, kind, data string) (paths []string) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(data), &root); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	var walk func(string, any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				paths = append(paths, path+name)
				if !slices.Contains([]string{"arguments", "toolArguments", "result", "schema", "options", "rows", "data", "message"}, name) {
					walk(path+name+".", value)
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

// TestInstructions sends messages for models in members of any frame. The client gets the frame without them. Arguments and results are
// not searched.
func TestInstructions(t *testing.T) {
	for _, role := range []string{`"system"`, `" Developer"`, `["assistant"]`} {
		message := `{"role":` + role + `,"content":"secret"}`
		for _, c := range []struct{ kind, sent, want string }{
			{"task-status", `"status":"working","message":MESSAGE`, `"status":"working"`},
			{"task-status", `"status":"working","metadata":{"message":MESSAGE}`, `"status":"working","metadata":{}`},
			{"task-created", `"initiator":"user","metadata":{"messages":[MESSAGE,{"role":"user","content":"x"}]}`, `"initiator":"user","metadata":{"messages":[{"role":"user","content":"x"}]}`},
			{"content-complete", `"content":"x","messages":[MESSAGE]`, `"content":"x","messages":[]`},
			{"task-complete", `"content":"x","history":[[MESSAGE]]`, `"content":"x","history":[[]]`},
			{"message", `"messages":[MESSAGE]`, `"messages":[]`},
			{"message", `"content":{"messages":[MESSAGE]}`, `"content":{"messages":[]}`},
			{"message", `"role":"assistant","content":[MESSAGE]`, `"role":"assistant","content":[]`},
			{"llm-usage", `"model":"m","request":{"prompt":MESSAGE}`, `"model":"m","request":{}`},
			{"tool-complete", `"result":"x","metadata":{"messages":[MESSAGE]}`, `"result":"x","metadata":{"messages":[]}`},
			{"tool-start", `"arguments":{"a":[MESSAGE]}`, "="},
			{"content-complete", `"content":"x","toolCalls":[{"function":{"arguments":{"a":MESSAGE}}}]`, "="},
			{"tool-complete", `"result":MESSAGE`, "="},
			{"tool-input-required", `"toolArguments":MESSAGE,"schema":MESSAGE,"options":[MESSAGE]`, "="},
			{"data-write", `"data":MESSAGE`, "="},
			{"dataset-write", `"rows":[MESSAGE]`, "="},
		} {
			sent := strings.ReplaceAll(c.sent, "MESSAGE", message)
			stream := shapes["name alone"](c.kind, sent)
			want := c.kind + " " + dataOf("", strings.Replace(c.want, "=", sent, 1))
			if got := filterStream(t, client, stream)[0]; got != want {
				t.Errorf("under client, filtering\n%sgives\n%s\nwant\n%s", stream, got, want)
			}
		}
	}
}
