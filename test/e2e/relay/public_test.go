package relay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// shown lists the captures whose public stream is in the golden file for review.
var shown = []string{
	"artifact.sse", "confirmation.sse", "failing_tool.sse", "long_running_silent.sse", "model_error.stream.sse", "safety.sse",
	"text_and_tool.stream.sse", "thought.stream.sse", "transfer.sse", "unicode.sse",
}

// secret lists the members that must not be in the public stream: thoughts, arguments, results, state, usage, and details of
// servers.
var secret = []string{
	"args", "response", "thought", "thoughtSignature", "usageMetadata", "stateDelta", "modelVersion", "nodeInfo", "avgLogprobs",
	"groundingMetadata", "customMetadata", "errorMessage", "error_details", "requestedAuthConfigs", "payload", "toolConfirmation",
}

// pending is the only response of a tool that leaves: its call waits for an answer from outside.
const pending = `"response":{"status":"pending"}`

// askedCall matches the only arguments that leave: the ID of the call that a request asks about.
var askedCall = regexp.MustCompile(`"args":\{"originalFunctionCall":\{"id":"[^"]*"\}\}`)

// TestPublicStream replays every capture under the policy public.
func TestPublicStream(t *testing.T) {
	var golden strings.Builder
	for _, family := range []string{"adk-go", "adk-js", "adk-python"} {
		for _, file := range recorded.Files(t, recorded.Captures[family]) {
			if filepath.Base(file) == "no_session.sse" {
				continue // no stream
			}
			out := streamed(t, "public", file)
			for i, data := range harness.FrameData(t, out) {
				var frame any
				data = askedCall.ReplaceAllString(strings.ReplaceAll(data, pending, `"pending":true`), `"asked":true`)
				if err := json.Unmarshal([]byte(data), &frame); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				if found := harness.FindMembers(frame, secret); len(found) > 0 {
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
	if *harness.Update {
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

// TestClientStream replays every capture under the policy client: nothing is lost or changed.
func TestClientStream(t *testing.T) {
	for _, folder := range recorded.ADKCaptures {
		for _, file := range recorded.Files(t, folder) {
			if filepath.Base(file) == "no_session.sse" {
				continue
			}
			sent, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := harness.FrameData(t, streamed(t, "client", file)), harness.FrameData(t, sent); !slices.Equal(got, want) {
				t.Errorf("%s: %d of %d frames", file, len(got), len(want))
			}
		}
	}
}

func streamed(t *testing.T, policy, file string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if err := command.Run(t.Context(), []string{"replay", "--format=stream", "--policy=" + policy, file}, &out, &errs); err != nil {
		t.Fatal(file, err)
	}
	return out.Bytes()
}

// TestPublicStreamKeepsTheUsersWords uses servers that name the user in their own ways.
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
