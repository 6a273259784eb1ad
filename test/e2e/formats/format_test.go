package formats_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// everyCapture calls each with every capture and its usual name.
func everyCapture(t *testing.T, each func(name, file string)) {
	for _, family := range slices.Sorted(maps.Keys(recorded.Captures)) {
		for _, file := range recorded.Files(t, recorded.Captures[family]) {
			each(family+"/"+strings.TrimSuffix(filepath.Base(file), ".sse"), file)
		}
	}
}

// shownAs lists the captures whose formats are in the golden files for review.
var shownAs = []string{
	"adk-python/confirmation", "adk-python/text_and_tool.stream", "adk-python/transfer", "adk-go/model_error_after_tool",
	"looopy/litellm", "looopy/input-required", "looopy/artifacts", "adkstudio/server-tools", "deepagents/made-interrupt", "a2a/adk-go-streamed-tool", "a2a/python-canceled", "a2a/python-files",
	"agui/sdk-tools", "agui/made-runs", "agui/made-langgraph",
}

// TestFormats compares each format of a few captures of each dialect with golden files.
func TestFormats(t *testing.T) {
	for _, as := range format.Formats() {
		var got strings.Builder
		var found []string
		everyCapture(t, func(name, file string) {
			if slices.Contains(shownAs, name) {
				found = append(found, name)
				for _, policy := range harness.Policies {
					fmt.Fprintf(&got, "== %s, %s\n%s", name, policy, harness.ReplayAs(t, policy, string(as), file))
				}
			}
		})
		if len(found) != len(shownAs) {
			t.Fatalf("of %q there are only %q", shownAs, found)
		}
		golden := filepath.Join("testdata", "format", string(as)+".golden")
		if *harness.Update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("%s: %s", as, diff)
		}
	}
}

// TestFormatsShowNoMore checks that every string in every format is in the native frames for the same reader, or is one of our
// own words. The last output of a frame has its id, once.
func TestFormatsShowNoMore(t *testing.T) {
	everyCapture(t, func(name, file string) {
		for _, policy := range harness.Policies {
			native := harness.Frames(t, harness.ReplayAs(t, policy, "native", file))
			had := textsOf(t, native)
			for _, as := range format.Formats() {
				frames := harness.Frames(t, harness.ReplayAs(t, policy, string(as), file))
				if wrong := idsOf(frames, len(native)); wrong != "" {
					t.Errorf("%s, %s, %s: %s", name, policy, as, wrong)
				}
				for i, f := range frames {
					for _, text := range stringsOf(t, f.Data) {
						if !had.have(text) && !ownWord(text, file) {
							t.Errorf("%s, %s, %s: frame %d has %q, which no native frame has", name, policy, as, i, text)
						}
					}
				}
			}
		}
	})
}

// idsOf returns what is wrong with the ids of frames. An id stays in force until the next one.
func idsOf(frames []sse.Frame, native int) string {
	last := 0
	for i, f := range frames {
		var n int
		if len(f.ID) > 0 {
			if _, err := fmt.Sscanf(string(f.ID), replay.Epoch+"-%d", &n); err != nil {
				return fmt.Sprintf("frame %d has the id %q", i, f.ID)
			}
		}
		if n < last || n > native+1 { // one more for the end
			return fmt.Sprintf("frame %d of %d native ones comes after frame %d", n, native, last)
		}
		last = n
	}
	if len(frames) > 0 && last == 0 {
		return "no frame has an id"
	}
	return ""
}

// nativeContent holds the content of native frames: their strings, and the texts that come in pieces.
type nativeContent struct {
	t   *testing.T
	all string
}

func (h nativeContent) have(text string) bool {
	if strings.Contains(h.all, text) {
		return true
	}
	if file, err := base64.StdEncoding.DecodeString(text); err == nil && strings.Contains(h.all, string(file)) { // the file is in the frame as text
		return true
	}
	if inner := stringsOf(h.t, []byte(text)); len(inner) > 0 && text[0] != '"' { // JSON inside a string
		return !slices.ContainsFunc(inner, func(s string) bool { return !h.have(s) })
	}
	return strings.Contains(strings.ToLower(h.all), text) || // labels are in lower case
		strings.Contains(h.all, strings.ReplaceAll(text, "/", "~1")) // names in JSON Pointers
}

func textsOf(t *testing.T, native []sse.Frame) nativeContent {
	var each, joined strings.Builder
	pieces := map[string]*strings.Builder{}
	for _, f := range native {
		each.Write(f.Event)
		each.WriteByte('\n')
		each.Write(f.Data)
		each.WriteByte('\n')
		joined.Write(f.Data)
		for _, s := range stringsOf(t, f.Data) {
			each.WriteString(s + "\n")
			if inner := stringsOf(t, []byte(s)); len(inner) > 0 {
				each.WriteString(strings.Join(inner, "\n") + "\n")
			}
		}
		for name, s := range textMembers(f.Data) {
			if pieces[name] == nil {
				pieces[name] = &strings.Builder{}
			}
			pieces[name].WriteString(s)
		}
	}
	for _, text := range pieces {
		each.WriteString(text.String() + "\n")
	}
	return nativeContent{t, each.String() + joined.String()}
}

// textMembers returns the pieces of text in a frame, by member name and message.
func textMembers(data []byte) map[string]string {
	found := map[string]string{}
	var walk func(v any, of string)
	walk = func(v any, of string) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"type", "messageId", "artifactId", "subagentRunId"} {
				if id, is := v[name].(string); is {
					of = id
				}
			}
			if id, is := v["id"].(string); is && (v["type"] == "AIMessageChunk" || v["type"] == "text-delta") { // messages of LangGraph and texts of the AI SDK
				of = id
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if s, is := v[name].(string); is {
					found[name] += s
					found[name+of] += s
				}
				walk(v[name], of)
			}
		case []any:
			for _, each := range v {
				walk(each, of)
			}
		}
	}
	var v any
	if json.Unmarshal(data, &v) == nil {
		walk(v, "")
	}
	return found
}

// stringsOf returns all strings of a JSON value except member names.
func stringsOf(t *testing.T, data []byte) (all []string) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case map[string]any:
			for name, each := range v {
				all = append(all, name)
				walk(each)
			}
		case []any:
			for _, each := range v {
				walk(each)
			}
		}
	}
	var v any
	if err := json.Unmarshal(data, &v); err == nil {
		walk(v)
	}
	return all
}

// made matches strings that we derive: our own ids, RFC 3339 times, the numbers of agents with the same name, and the pseudonyms
// of threads.
var made = regexp.MustCompile(`^(replay-[0-9]+(\.m?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|.*#[0-9]+|thread-[0-9a-f]{16})$`)

// ownWord reports whether a string is a word of the program.
func ownWord(text, file string) bool {
	return text == "" || text == filepath.Base(file) || made.MatchString(text) || slices.Contains(ownWords(), text)
}

// ownWords holds the words of the formats: those of docs/reference/events.md and the protocols' own.
var ownWords = sync.OnceValue(func() []string {
	var all []string
	for _, name := range []string{"format.go", "normalized.go", "facts.go", "agui.go", "aguiwire.go", "a2a.go", "a2awire.go", "runs.go", "gap.go", "a2apart.go"} {
		source, err := os.ReadFile(filepath.Join("../../../exporter/stream/format", name))
		if err != nil {
			panic(err)
		}
		for _, match := range regexp.MustCompile("\"([^\"\n]+)\"|`json:\"([^\",]+)").FindAllStringSubmatch(string(source), -1) {
			all = append(all, match[1]+match[2])
		}
	}
	for _, name := range []string{"event.go", "piece.go"} {
		vocabulary, err := os.ReadFile(filepath.Join("../../../collector/event", name))
		if err != nil {
			panic(err)
		}
		for _, match := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(string(vocabulary), -1) {
			all = append(all, match[1], "delegraph."+match[1])
		}
	}
	return append(all, "main", "subagent", "on_interrupt", "structured", "text", "thought", "agui", "aisdk", "adk", "looopy", "adkstudio", "deepagents", "langgraph", "openai", "a2a", "2.0")
})
