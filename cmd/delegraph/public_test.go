package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown are the captures whose public stream stands in the golden file, for people to judge.
var shown = []string{
	"artifact.sse", "confirmation.sse", "failing_tool.sse", "long_running_silent.sse", "model_error.stream.sse", "safety.sse",
	"text_and_tool.stream.sse", "thought.stream.sse", "transfer.sse", "unicode.sse",
}

// secret are the members of which nothing may be in the public stream: thoughts, arguments, results, state, usage, and what
// servers say of themselves.
var secret = []string{
	"args", "response", "thought", "thoughtSignature", "usageMetadata", "stateDelta", "modelVersion", "nodeInfo", "avgLogprobs",
	"groundingMetadata", "customMetadata", "errorMessage", "error_details", "requestedAuthConfigs", "payload", "toolConfirmation",
}

// TestPublicStream replays every capture as the public gets it.
func TestPublicStream(t *testing.T) {
	var golden strings.Builder
	for _, family := range []string{"adk-go", "adk-js", "adk-python"} {
		for _, file := range sseFiles(t, captures[family]) {
			if filepath.Base(file) == "no_session.sse" {
				continue // no stream
			}
			out := streamed(t, "public", file)
			for i, data := range payloads(t, out) {
				var frame any
				if err := json.Unmarshal([]byte(data), &frame); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				if found := membersOf(frame, secret); len(found) > 0 {
					t.Errorf("%s: frame %d has %v", file, i, found)
				}
				if id := fmt.Sprintf("id: replay-%d\n", i+1); !bytes.Contains(out, []byte(id)) {
					t.Errorf("%s: no %q: an id was given to a frame that stays in", file, id)
				}
			}
			if family == "adk-python" && slices.Contains(shown, filepath.Base(file)) {
				fmt.Fprintf(&golden, "== %s\n%s", filepath.Base(file), out)
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/public.golden", []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/public.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(golden.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestClientStream replays every capture as its own client gets it: nothing is lost, nothing changed.
func TestClientStream(t *testing.T) {
	for _, folder := range adkCaptures {
		for _, file := range sseFiles(t, folder) {
			if filepath.Base(file) == "no_session.sse" {
				continue
			}
			sent, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := payloads(t, streamed(t, "client", file)), payloads(t, sent); !slices.Equal(got, want) {
				t.Errorf("%s: %d of %d frames", file, len(got), len(want))
			}
		}
	}
}

func streamed(t *testing.T, policy, file string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(t.Context(), []string{"replay", "--format=stream", "--policy=" + policy, file}, &out, &errs); err != nil {
		t.Fatal(file, err)
	}
	return out.Bytes()
}

func membersOf(v any, names []string) (found []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			empty, is := value.(map[string]any)
			if slices.Contains(names, name) && !(is && len(empty) == 0) && value != "about:blank" { // which stands in the place of a file
				found = append(found, name)
			}
			found = append(found, membersOf(value, names)...)
		}
	case []any:
		for _, value := range v {
			found = append(found, membersOf(value, names)...)
		}
	}
	return found
}

// TestPublicStreamKeepsTheUsersWords has servers name the human in ways of their own.
func TestPublicStreamKeepsTheUsersWords(t *testing.T) {
	const secret = "s3cr3t"
	var frames strings.Builder
	for _, author := range []string{`"user"`, `"User"`, `" user "`, `"USER"`, `""`, `null`, `"bot"`} {
		fmt.Fprintf(&frames, "data: {\"author\":%s,\"invocationId\":\"e-1\",\"content\":{\"role\":\"user\",\"parts\":[{\"text\":%q}]}}\n\n", author, secret)
	}
	for _, author := range []string{`"user"`, `"User"`} {
		fmt.Fprintf(&frames, "data: {\"author\":%s,\"invocationId\":\"e-1\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":%q}]}}\n\n", author, secret)
	}
	frames.WriteString("data: " + adkFrame + "\n\n")
	file := filepath.Join(t.TempDir(), "words.sse")
	if err := os.WriteFile(file, []byte(frames.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := string(streamed(t, "public", file)); strings.Contains(got, secret) || !strings.Contains(got, "hello") {
		t.Errorf("what leaves is %s", got)
	}
}
