package main

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
)

// conformanceFolder has the recordings against which other programs can be tested.
const conformanceFolder = "../../conformance"

// conformance chooses the recordings, by dialect, from folders of captures.
var conformance = map[string]map[string][]string{
	"adk": {
		captures["adk-python"]: {"plain", "text_and_tool.stream", "transfer.stream", "failing_tool", "confirmation", "model_error", "safety", "thought.stream"},
		captures["adk-go"]:     {"nostream_parallel_tools", "nostream_wf_loop"},
		captures["adk-js"]:     {"parallel_failing"},
	},
	"looopy":     {captures["looopy"]: {"text", "tool-success", "tool-failure", "subagent", "input-required", "internal-loop", "llm-error", "thought-stream"}},
	"adkstudio":  {captures["adkstudio"]: {"server-tools", "server-parallel", "server-interrupt", "server-error", "server-thinking", "made-payloads"}},
	"deepagents": {captures["deepagents"]: {"made-simple", "made-subagents", "made-interrupt", "made-error", "made-cancelled"}},
	"a2a":        {captures["a2a"]: {"adk-python-tool", "adk-python-transfer", "adk-python-asked", "adk-go-crash", "python-files", "go-sdk-failed", "python-message", "agno-tool"}},
	"agui":       {captures["agui"]: {"sdk-plain", "sdk-tools", "sdk-steps", "sdk-reasoning", "sdk-error", "made-subagents", "made-interrupt", "llamaindex-tools"}},
}

// TestConformance holds the folder's files against what Delegraph makes of each recording.
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
				maps.Copy(want, printed(t, dialect, at, recorded))
			}
		}
	}
	if *update {
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

// printed returns what replay prints of a recording, by file.
func printed(t *testing.T, dialect, at string, recorded []byte) map[string][]byte {
	t.Helper()
	input := filepath.Join(t.TempDir(), "input.sse")
	if err := os.WriteFile(input, recorded, 0o600); err != nil {
		t.Fatal(err)
	}
	replay := func(policy, format string) []byte {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"replay", "--dialect", dialect, "--format", "stream", "--policy", policy, "--stream-format", format, input}, &out, io.Discard); err != nil {
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

// rewrite replaces the recordings.
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
