package replay_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// conformanceFolder has recordings for testing other programs.
const conformanceFolder = "../../../conformance"

// conformance selects the recordings, by dialect, from folders of captures.
var conformance = map[string]map[string][]string{
	"adk": {
		recorded.Captures["adk-python"]: {"plain", "text_and_tool.stream", "transfer.stream", "failing_tool", "confirmation", "model_error", "safety", "thought.stream"},
		recorded.Captures["adk-go"]:     {"nostream_parallel_tools", "nostream_wf_loop"},
		recorded.Captures["adk-js"]:     {"parallel_failing"},
	},
	"looopy":     {recorded.Captures["looopy"]: {"text", "tool-success", "tool-failure", "subagent", "input-required", "internal-loop", "llm-error", "thought-stream"}},
	"adkstudio":  {recorded.Captures["adkstudio"]: {"server-tools", "server-parallel", "server-interrupt", "server-error", "server-thinking", "made-payloads"}},
	"deepagents": {recorded.Captures["deepagents"]: {"made-simple", "made-subagents", "made-interrupt", "made-error", "made-cancelled"}},
	"langgraph":  {recorded.Captures["langgraph"]: {"two-tools", "two-tools-partial", "two-tools-values", "subagent-updates", "approve", "thinking", "model-error"}},
	"a2a":        {recorded.Captures["a2a"]: {"adk-python-tool", "adk-python-transfer", "adk-python-asked", "adk-go-crash", "python-files", "go-sdk-failed", "python-message", "agno-tool"}},
	"agui":       {recorded.Captures["agui"]: {"sdk-plain", "sdk-tools", "sdk-steps", "sdk-reasoning", "sdk-error", "made-subagents", "made-interrupt", "llamaindex-tools"}},
	"aisdk":      {recorded.Captures["aisdk"]: {"vercel-plain", "vercel-tools", "vercel-tool-error", "vercel-subagent", "vercel-approval", "vercel-extras", "vercel-model-breaks", "pydantic-denied"}},
	"openai":     {recorded.Captures["openai"]: {"chat-tools", "chat-reasoning", "chat-error", "responses-tools", "responses-failed", "sdk-handoff", "sdk-failing-tool", "made-builtin"}},
}

// TestConformance compares the folder's files with Delegraph's output for each recording.
func TestConformance(t *testing.T) {
	want := map[string][]byte{}
	for dialect, folders := range conformance {
		for folder, names := range folders {
			for _, name := range names {
				recorded, err := os.ReadFile(filepath.Join(folder, name+".sse"))
				if err != nil {
					t.Fatal(err)
				}
				at := filepath.Join(dialect, name)
				want[filepath.Join(at, "input.sse")] = recorded
				maps.Copy(want, replayFiles(t, dialect, at, recorded))
			}
		}
	}
	if *harness.Update {
		rewrite(t, want)
	}
	have := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(conformanceFolder, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name, err := filepath.Rel(conformanceFolder, file)
		if err != nil {
			t.Fatal(err)
		}
		if have[name], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(have))); diff != "" {
		t.Errorf("files (-want +have): %s", diff)
	}
	for name, content := range want {
		if have[name] != nil && !bytes.Equal(content, have[name]) {
			t.Errorf("%s: %s", name, cmp.Diff(string(content), string(have[name])))
		}
	}
}

// replayFiles returns the output of a replay of a recording, by file.
func replayFiles(t *testing.T, dialect, at string, recorded []byte) map[string][]byte {
	t.Helper()
	input := filepath.Join(t.TempDir(), "input.sse")
	if err := os.WriteFile(input, recorded, 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func(policy, format string) []byte {
		var out bytes.Buffer
		if err := command.Run(t.Context(), []string{"replay", "--dialect", dialect, "--format", "stream", "--policy", policy, "--stream-format", format, input}, &out, io.Discard); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		return out.Bytes()
	}
	var events strings.Builder
	for line := range strings.Lines(string(replay("client", "normalized"))) {
		if data, is := strings.CutPrefix(line, "data: "); is {
			events.WriteString(data)
		}
	}
	return map[string][]byte{
		filepath.Join(at, "client.sse"):       replay("client", "native"),
		filepath.Join(at, "public.sse"):       replay("public", "native"),
		filepath.Join(at, "normalized.jsonl"): []byte(events.String()),
	}
}

// rewrite replaces the files.
func rewrite(t *testing.T, files map[string][]byte) {
	t.Helper()
	for dialect := range conformance {
		if err := os.RemoveAll(filepath.Join(conformanceFolder, dialect)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		file := filepath.Join(conformanceFolder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
