package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// reloadKeys lists the keys that a reload applies, and restartKeys those that need a restart. A new key must be added to one of them.
var reloadKeys = []string{
	"sources", "runs.idle_timeout", "runs.max_operations", "traces.content", "traces.max_content", "traces.max_content_held",
	"traces.profile", "stream.policy", "stream.kinds.in", "stream.kinds.out", "stream.authors", "stream.thoughts",
	"stream.confidence_floor", "stream.state_keys",
	"stream.jetstream.shards", "stream.jetstream.serve", "stream.jetstream.previous", "stream.jetstream.move_at",
}

var restartKeys = []string{
	"runs.max_open", "runs.max_ended", "runs.max_ended_size", "metrics.max_label_values", "metrics.max_label_sets",
	"limits.frame", "limits.json_depth", "limits.request_body", "limits.confidence_text", "limits.observe_queue", "limits.log_queue", "limits.span_queue", "limits.span_queue_size", "limits.memory",
	"stream.listen", "stream.web_config_file", "stream.authentication.bearer_tokens_file", "stream.authentication.client_certificates",
	"stream.authentication.anonymous", "stream.allowed_origins", "stream.replay.frames", "stream.replay.bytes", "stream.replay.age",
	"stream.store", "stream.jetstream.urls", "stream.jetstream.credentials_file", "stream.jetstream.nkey_file",
	"stream.jetstream.tls.ca_file", "stream.jetstream.tls.cert_file", "stream.jetstream.tls.key_file",
	"stream.jetstream.stream", "stream.jetstream.manage", "stream.jetstream.replicas", "stream.jetstream.max_age",
	"stream.jetstream.max_bytes", "stream.jetstream.max_messages", "stream.jetstream.max_message",
	"stream.jetstream.duplicates", "stream.jetstream.queue", "stream.jetstream.max_feeds", "stream.jetstream.feed_bytes",
	"stream.jetstream.all_feeds",
	"stream.max_subscribers", "stream.max_per_token", "stream.max_tickets", "stream.arrival_rate", "stream.arrival_burst", "stream.write_timeout", "stream.heartbeat", "stream.max_life", "stream.drain_delay",
	"web.trace_url",
}

// TestRestartKeys checks each changed key of a configuration on its own, then all of them.
func TestRestartKeys(t *testing.T) {
	var seen []string
	var all Config
	each(reflect.ValueOf(&all).Elem(), "", func(key string, _ reflect.Value) {
		seen = append(seen, key)
		running, wanted := agent(nil), agent(nil)
		each(reflect.ValueOf(&wanted).Elem(), "", func(at string, value reflect.Value) {
			if at == key {
				alter(t, value)
			}
		})
		var want []string
		if slices.Contains(restartKeys, key) {
			want = []string{key}
		}
		if diff := cmp.Diff(want, RestartKeys(running, wanted)); diff != "" {
			t.Errorf("RestartKeys() differs after a change of %s (-want +got):\n%s", key, diff)
		}
	})
	slices.Sort(seen)
	both := slices.Sorted(slices.Values(slices.Concat(reloadKeys, restartKeys)))
	if diff := cmp.Diff(both, seen); diff != "" {
		t.Errorf("reloadKeys and restartKeys differ from the existing keys (-listed +existing):\n%s", diff)
	}
	if got := RestartKeys(agent(nil), Config{}); len(got) < 20 || got[0] != "runs.max_open" {
		t.Errorf("RestartKeys() = %v for an empty configuration", got)
	}
}

// TestExampleMarksRestart checks that example.yml marks exactly the keys that need a restart.
func TestExampleMarksRestart(t *testing.T) {
	text, err := os.ReadFile("example.yml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var marked []string
	var walk func(*yaml.Node, string)
	walk = func(n *yaml.Node, key string) {
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			if strings.Contains(name.LineComment+value.LineComment, "# (restart) ") {
				marked = append(marked, join(key, name.Value))
			}
			walk(value, join(key, name.Value))
		}
	}
	walk(document.Content[0], "")
	if diff := cmp.Diff(restartKeys, marked); diff != "" {
		t.Errorf("the keys marked in example.yml differ (-restart +marked):\n%s", diff)
	}
}

// each visits the keys that are not sections.
func each(v reflect.Value, key string, visit func(string, reflect.Value)) {
	if v.Kind() != reflect.Struct {
		visit(key, v)
		return
	}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		each(v.Field(i), join(key, name), visit)
	}
}

// alter changes a value.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + int64(time.Second))
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.5)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	default:
		t.Fatalf("alter does not support a %s", v.Kind())
	}
}

// TestSameListenAddress checks which addresses conflict.
func TestSameListenAddress(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{":8080", ":8080", true},
		{":8080", "0.0.0.0:8080", true},
		{":8080", "[::]:8080", true},
		{"localhost:8080", "127.0.0.1:8080", true},
		{"Agent.example:8080", "agent.example:8080", true},
		{":8080", ":8081", false},
		{":8080", "127.0.0.1:8080", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"nonsense", "nonsense", false},
	} {
		if SameListenAddress(c.a, c.b) != c.want || SameListenAddress(c.b, c.a) != c.want {
			t.Errorf("SameListenAddress(%s, %s) = %t, want %t", c.a, c.b, !c.want, c.want)
		}
	}
}
