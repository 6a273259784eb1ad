package relay_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// canaries are frames that call themselves internal, each in the form of one dialect, or of none.
var canaries = []string{
	`data: {"kind":"internal:x","x":"CANARY"}`,
	"event: internal:x\ndata: {\"x\":\"CANARY\"}",
	`data: {"kind":"internal:x","author":"CANARY","invocationId":"e-1","content":{"parts":[{"text":"x"}]}}`,
	"event: internal:x\ndata: " + strings.Replace(adkFrame, "hello", "CANARY", 1),
	`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"internal:x","x":"CANARY"}}`,
	`data: {"statusUpdate":{"taskId":"CANARY","status":{"state":"TASK_STATE_WORKING"},"metadata":{"type":"internal:x"}}}`,
	`data: {"kind":"internal:thought-process","contextId":"c","taskId":"t","timestamp":"2026-01-01T00:00:00Z","content":"CANARY"}`,
	"event: internal:tool-start\ndata: {\"kind\":\"internal:tool-start\",\"contextId\":\"c\",\"taskId\":\"CANARY\"}",
	`data: {"v":2,"type":"internal:x","message_id":"CANARY","chat_id":"c"}`,
	`data: {"type":"internal:STEP_STARTED","stepName":"CANARY"}`,
	`data: {"type":"CUSTOM","name":"CANARY","value":1,"rawEvent":{"type":"internal:x"}}`,
}

// brokenFrame is an unreadable frame that a path of one dialect withholds and any other path forwards.
const brokenFrame = "data: CANARY"

// TestPinnedDialectIsNoWeaker sends frames that call themselves internal, and an unreadable one, on the paths of every dialect and
// on one of none. A source with a configured dialect forwards none of them that a source without one withholds.
func TestPinnedDialectIsNoWeaker(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(sent)
	}))
	t.Cleanup(agent.Close)
	sources := append([]string{"auto"}, settings.DialectNames()...)
	configured := "sources:\n"
	for _, name := range sources {
		configured += fmt.Sprintf("  - {name: %[1]s, dialect: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[2]q}}\n", name, agent.URL)
	}
	service := harness.Launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	passes := func(i int, path, stream string) bool {
		return bytes.Contains(echo(t, service, i, path, []byte(stream)), []byte("CANARY"))
	}
	paths := []string{"/news"}
	for _, d := range collector.Dialects() {
		for _, at := range d.Paths() {
			paths = append(paths, strings.ReplaceAll(at.Glob, "*", "x"))
		}
	}
	for _, path := range paths {
		for _, canary := range append(canaries, brokenFrame) {
			stream := canary + "\n\n"
			if passes(0, path, stream) {
				if path != "/news" && canary != brokenFrame {
					t.Errorf("auto, %s: %q passes", path, canary)
				}
				continue
			}
			for i, name := range sources[1:] {
				if passes(i+1, path, stream) {
					t.Errorf("%s, %s: %q passes", name, path, canary)
				}
			}
		}
	}
}

// TestPinnedDialectOnOthersPaths sends streams of the configured dialect on paths that only other dialects have. The client gets as much
// as on a path of no dialect.
func TestPinnedDialectOnOthersPaths(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(sent)
	}))
	t.Cleanup(agent.Close)
	recorded := recordedStreams(t)
	for name, file := range map[string]string{"openai": "openai-agents/recordings/root-plain.http", "aisdk": "vercel/recordings/plain.http"} {
		service := harness.Launch(t, fmt.Sprintf("sources: [{name: %[1]s, dialect: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[2]q}}]", name, agent.URL),
			map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		var stream []byte
		for at, data := range recorded {
			if strings.HasSuffix(at, file) {
				stream = data
			}
		}
		want := echo(t, service, 0, "/news", stream)
		if len(want) == 0 {
			t.Fatalf("%s: %s: nothing passes on a path of no dialect", name, file)
		}
		for _, d := range collector.Dialects() {
			for _, at := range d.Paths() {
				path := strings.ReplaceAll(at.Glob, "*", "x")
				if got := echo(t, service, 0, path, stream); !bytes.Equal(got, want) && at.Method != http.MethodGet {
					t.Errorf("%s on %s: %d bytes pass, want %d", name, path, len(got), len(want))
				}
			}
		}
	}
}
