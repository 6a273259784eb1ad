package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var known = KnownNames{Dialects: []string{"adk", "looopy"}, Kinds: []string{"text", "thought", "tool_started"},
	Paths: []string{"type", "run", "session", "agent", "time"},
	Meanings: []Meaning{
		{Name: "run_started"}, {Name: "answer", Required: []string{"text"}}, {Name: "tool_ended", Required: []string{"name|call"}, Optional: []string{"result", "status"}},
	}}

func mustLoad(t *testing.T, file string) Config {
	t.Helper()
	config, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func load(file string) (Config, error) {
	data, err := Read(file)
	if err != nil {
		return Config{}, err
	}
	return Parse(file, data, known)
}

// agent returns a valid configuration with one source after an optional change.
func agent(change func(*Config)) Config {
	config := Default()
	source := defaultSource()
	source.Name = "agent"
	source.Proxy = &Proxy{Listen: ":8080", Upstream: "http://127.0.0.1:8000"}
	config.Sources = []Source{source}
	if change != nil {
		change(&config)
	}
	return config
}

// TestLoadGood checks a file that sets every kind of key.
func TestLoadGood(t *testing.T) {
	want := Config{
		Sources: []Source{
			{
				Name: "fire-briefing",
				Proxy: &Proxy{
					Listen:   ":8080",
					Upstream: "http://127.0.0.1:8000",
					Paths:    []string{"/run_sse", "/apps/*/run"},
				},
				Dialect:       "adk",
				Relay:         RelayVerbatim,
				AgentCards:    CardsVerbatim,
				Policy:        PolicyClient,
				Agent:         "fire chief",
				AgentsAsTools: []string{"burn_analyst", "Trail Assessor"},
			},
			{
				Name:          "support_2.eu",
				Proxy:         &Proxy{Listen: "[::1]:9090", Upstream: "https://agent.example.org/base/"},
				Dialect:       DialectAuto,
				Relay:         RelayFiltered,
				AgentCards:    CardsRewritten,
				Policy:        PolicyPublic,
				AgentsAsTools: []string{},
			},
		},
		Runs:    Runs{IdleTimeout: 90 * time.Minute, MaxOpen: 1, MaxOperations: 2, MaxEnded: 3, MaxEndedSize: 4096},
		Traces:  Traces{Content: ContentAll, MaxContent: 10, MaxContentHeld: 11, Profile: ProfileGenAI},
		Metrics: Metrics{MaxLabelValues: 4, MaxLabelSets: 5},
		Limits: Limits{
			Frame: 1536, JSONDepth: 6, RequestBody: 7, ConfidenceText: 8, ObserveQueue: 1 << 30, LogQueue: 4096, SpanQueue: 9, SpanQueueSize: 1 << 20, Memory: 64 << 20,
		},
		Stream: Stream{
			Listen: ":9443", WebConfigFile: "web.yml", Policy: PolicyClient,
			Kinds:   Kinds{In: []string{"text", "thought"}, Out: []string{"tool_started"}},
			Authors: []string{"coordinator"}, Thoughts: "brief", ConfidenceFloor: 0.5, StateKeys: []string{"progress"},
			Authentication: Authentication{BearerTokensFile: "/run/secrets/readers", ClientCertificates: true, Anonymous: AnonymousAnywhere},
			AllowedOrigins: []string{"https://app.example.org", "http://127.0.0.1:3000"},
			Replay:         Replay{Frames: 1, Bytes: 2048, Age: 3 * time.Second},
			Store:          StoreJetStream,
			JetStream: JetStream{
				URLs: []string{"nats://a:4222", "tls://b"}, CredentialsFile: "user.creds",
				TLS:    ClientTLS{CAFile: "ca.pem", CertFile: "cert.pem", KeyFile: "key.pem"},
				Stream: "AGENTS", Replicas: 3, MaxAge: 2 * time.Hour, MaxBytes: 3 * gibibyte, MaxMessages: 4, MaxMessage: 64 * kibibyte,
				Duplicates: 5 * time.Minute, Queue: 6 * mebibyte, MaxFeeds: 7, FeedBytes: 8 * mebibyte, AllFeeds: 9 * mebibyte,
				Shards: []Shard{{Name: "old"}, {Name: "new", URLs: []string{"nats://c"}, NKeyFile: "new.nk", TLS: ClientTLS{CAFile: "new.pem"}, Stream: "NEW"}},
				Serve:  []string{"new"}, Previous: []string{"old"}, MoveAt: "2026-11-24T12:00:00Z",
			},
			MaxSubscribers: 4, MaxPerToken: 5, MaxTickets: 6, ArrivalRate: 7, ArrivalBurst: 8,
			WriteTimeout: 7 * time.Second, Heartbeat: 8 * time.Second, MaxLife: 9 * time.Second, DrainDelay: 10 * time.Second,
		},
		Web: Web{TraceURL: "https://jaeger.example.org/trace/{trace_id}"},
	}
	if diff := cmp.Diff(want, mustLoad(t, "testdata/good.yml")); diff != "" {
		t.Errorf("good.yml differs (-want +got):\n%s", diff)
	}
}

// TestLoadGateway checks the configuration of a gateway, which has no source.
func TestLoadGateway(t *testing.T) {
	want := Default()
	want.Stream.Store, want.Stream.JetStream.URLs = StoreJetStream, []string{"nats://nats:4222"}
	if diff := cmp.Diff(want, mustLoad(t, "testdata/gateway.yml")); diff != "" {
		t.Errorf("gateway.yml differs (-want +got):\n%s", diff)
	}
}

// TestLoadMinimalIsDefault checks that omitted keys have their defaults.
func TestLoadMinimalIsDefault(t *testing.T) {
	if diff := cmp.Diff(agent(nil), mustLoad(t, "testdata/minimal.yml")); diff != "" {
		t.Errorf("minimal.yml differs (-want +got):\n%s", diff)
	}
}

// TestParseWindowsText checks a text with CRLF line ends and a byte order mark.
func TestParseWindowsText(t *testing.T) {
	text := "\ufeffsources:\r\n  - name: agent\r\n    proxy: {listen: \":8080\", upstream: \"http://127.0.0.1:8000\"}\r\n"
	config, err := Parse("windows.yml", []byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agent(nil), config); diff != "" {
		t.Errorf("the configuration differs (-want +got):\n%s", diff)
	}
}

// TestExampleIsDefault checks that example.yml has the defaults.
func TestExampleIsDefault(t *testing.T) {
	want := agent(func(c *Config) {
		c.Sources[0].Name = "fire-briefing"
		support := defaultSource()
		support.Name, support.Tail = "support", new(Tail)
		*support.Tail = defaultTail()
		support.Tail.URL = "http://127.0.0.1:3000/events/{session}?filterInternal=false"
		support.Tail.Headers = map[string]Header{"Authorization": {File: "/run/secrets/agent"}}
		helpdesk := defaultSource()
		helpdesk.Name, helpdesk.Dialect = "helpdesk", DialectCustom
		helpdesk.Proxy = &Proxy{Listen: ":8081", Upstream: "http://127.0.0.1:7000", Paths: []string{"/chat"}}
		helpdesk.Custom = &Custom{
			Paths: map[string]string{"type": "kind", "run": "run.id", "agent": "who"}, Failed: []string{"error"}, End: "[DONE]", Hidden: []string{"debug"},
			Frames: map[string]CustomFrame{
				"called": {Means: "tool_ended", Paths: map[string]string{"call": "tool.id", "status": "tool.status"}},
				"said":   {Means: "answer", Paths: map[string]string{"text": "text"}},
			},
		}
		c.Sources = append(c.Sources, support, helpdesk)
		c.Stream.JetStream.Shards = []Shard{
			{
				Name: "north", Gateway: "https://north.example.org", URLs: []string{"nats://north:4222"}, CredentialsFile: "/run/secrets/north.creds",
				TLS: ClientTLS{CAFile: "/run/secrets/north.pem"}, Stream: "NORTH",
			},
			{Name: "south", URLs: []string{"nats://south:4222"}},
		}
	})
	if diff := cmp.Diff(want, mustLoad(t, "example.yml")); diff != "" {
		t.Errorf("example.yml differs (-want +got):\n%s", diff)
	}
}

// TestExampleIsComplete checks that example.yml has each key with a comment.
func TestExampleIsComplete(t *testing.T) {
	comments := exampleComments(t)
	for _, key := range fieldKeys(reflect.TypeFor[Config](), "") {
		comment, ok := comments[key]
		if !ok && strings.HasPrefix(key, "sources[0].tail") { // a source is of one kind
			comment, ok = comments[strings.Replace(key, "[0]", "[1]", 1)]
		}
		if !ok && strings.HasPrefix(key, "sources[0].custom") {
			comment, ok = comments[strings.Replace(key, "[0]", "[2]", 1)]
		}
		if !ok {
			t.Errorf("example.yml does not have the key %s", key)
		} else if comment == "" {
			t.Errorf("example.yml has no comment on the line of %s", key)
		}
	}
}

// exampleComments maps the keys of example.yml to the comments on their lines.
func exampleComments(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("example.yml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	lines, comments := strings.Split(string(data), "\n"), make(map[string]string)
	var walk func(node *yaml.Node, key string)
	walk = func(node *yaml.Node, key string) {
		switch node.Kind {
		case yaml.SequenceNode:
			for i, item := range node.Content {
				walk(item, fmt.Sprintf("%s[%d]", key, i))
			}
		case yaml.MappingNode:
			for pair := range slices.Chunk(node.Content, 2) {
				path := join(key, pair[0].Value)
				_, comments[path], _ = strings.Cut(lines[pair[0].Line-1], " # ")
				walk(pair[1], path)
			}
		}
	}
	walk(document.Content[0], "")
	return comments
}

// fieldKeys returns the keys of a struct and of all structs in it, with [0] for the item of a list of structs.
func fieldKeys(settings reflect.Type, key string) (keys []string) {
	for field := range settings.Fields() {
		name, _ := yamlName(field)
		path, inner := join(key, name), field.Type
		keys = append(keys, path)
		if inner.Kind() == reflect.Slice {
			path += "[0]"
		}
		if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			keys = append(keys, fieldKeys(inner, path)...)
		}
	}
	return keys
}

// TestBounds checks the smallest and largest value of each bounded key, and that example.yml states them.
func TestBounds(t *testing.T) {
	comments := exampleComments(t)
	for _, bound := range []struct{ key, low, high, below, above string }{
		{"runs.idle_timeout", "1ms", "168h", "999us", "168h0m0.001s"},
		{"runs.max_open", "1", "1000000", "0", "1000001"},
		{"runs.max_operations", "1", "1000000", "0", "1000001"},
		{"runs.max_ended", "1", "10000", "0", "10001"},
		{"runs.max_ended_size", "1KiB", "4GiB", "1023", "4294967297"},
		{"traces.max_content", "1B", "16MiB", "0", "16777217"},
		{"traces.max_content_held", "1B", "4GiB", "0", "4294967297"},
		{"metrics.max_label_values", "1", "10000", "0", "10001"},
		{"metrics.max_label_sets", "2", "100000", "1", "100001"},
		{"limits.frame", "1B", "1GiB", "0", "1073741825"},
		{"limits.json_depth", "1", "10000", "0", "10001"},
		{"limits.request_body", "1B", "64MiB", "0", "67108865"},
		{"limits.confidence_text", "1B", "16MiB", "0", "16777217"},
		{"limits.observe_queue", "1B", "4GiB", "0", "4294967297"},
		{"limits.log_queue", "1KiB", "1GiB", "1023", "1073741825"},
		{"limits.span_queue", "1", "1000000", "0", "1000001"},
		{"limits.span_queue_size", "1KiB", "4GiB", "1023", "4294967297"},
		{"limits.memory", "0B", "1024GiB", "-1", "1025GiB"},
		{"stream.confidence_floor", "0", "1", "-0.1", "1.1"},
		{"stream.replay.frames", "1", "10000000", "0", "10000001"},
		{"stream.replay.bytes", "1KiB", "64GiB", "1023", "68719476737"},
		{"stream.replay.age", "1s", "24h", "999ms", "24h0m1s"},
		{"stream.max_subscribers", "1", "1000000", "0", "1000001"},
		{"stream.max_per_token", "1", "1000000", "0", "1000001"},
		{"stream.max_tickets", "1", "1000000", "0", "1000001"},
		{"stream.write_timeout", "10ms", "5m", "9ms", "5m1s"},
		{"stream.heartbeat", "100ms", "10m", "99ms", "10m1s"},
		{"stream.max_life", "1s", "168h", "999ms", "168h0m1s"},
		{"stream.drain_delay", "0s", "10m", "-1s", "10m0s1ms"},
	} {
		parse := func(value string) error {
			text, at, indent := agent(nil).String(), 0, "\n"
			for _, name := range strings.Split(bound.key, ".") {
				at += strings.Index(text[at:], indent+name+":") + len(indent+name+":")
				indent += "  "
			}
			end := at + strings.IndexByte(text[at:], '\n')
			_, err := Parse("bounds.yml", []byte(text[:at]+" "+value+text[end:]), known)
			return err
		}
		for _, value := range []string{bound.low, bound.high} {
			if err := parse(value); err != nil {
				t.Errorf("%s: the value %s gives the error %v, want none", bound.key, value, err)
			}
		}
		for _, value := range []string{bound.below, bound.above} {
			if err := parse(value); err == nil || !strings.Contains(err.Error(), bound.key+": ") {
				t.Errorf("%s: the value %s gives the error %v, want one for the key", bound.key, value, err)
			}
		}
		if want := bound.low + " to " + bound.high; !strings.HasSuffix(comments[bound.key], "; "+want) {
			t.Errorf("example.yml does not state the bounds %q of %s", want, bound.key)
		}
	}
}

// TestStringLoadsBack checks that a printed configuration loads as the same one.
func TestStringLoadsBack(t *testing.T) {
	odd := agent(func(c *Config) {
		c.Sources[0].Name = "007"
		c.Sources[0].Proxy.Paths = []string{"/a: b # c", "/*", `/\[x]`, "/'\"", "/é"}
		c.Sources[0].AgentsAsTools = []string{
			"null", "~", "true", "no", "1", "0x1f", "1e3",
			".inf", "2024-05-01", "- a", "a: b", "<<", "*a", "&a", "!a", " a ", "é火🔥", "'", `"`, "#", "=",
		}
		c.Runs.IdleTimeout = 1*time.Hour + 1*time.Nanosecond
		c.Limits.Frame = 1<<20 + 1
	})
	if err := odd.Validate(known); err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]Config{
		"good": mustLoad(t, "testdata/good.yml"), "default": agent(nil), "odd": odd,
	} {
		t.Run(name, func(t *testing.T) { checkLoadsBack(t, config) })
	}
}

func checkLoadsBack(t *testing.T, config Config) {
	t.Helper()
	text := config.String()
	again, err := Parse("printed.yml", []byte(text), known)
	if err != nil {
		t.Fatalf("Parse() = %v for\n%s", err, text)
	}
	if diff := cmp.Diff(config, again); diff != "" {
		t.Errorf("the loaded configuration differs (-printed +loaded):\n%s\n%s", diff, text)
	}
}
