package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
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
)

// policies are the two readers that there are.
var policies = []string{"public", "client"}

// formatted is what a subscriber of a format gets of a capture.
func formatted(t testing.TB, policy, as, file string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"replay", "--format=stream", "--stream-format=" + as, "--policy=" + policy, file}
	if err := run(t.Context(), args, &out, &errs); err != nil && filepath.Base(file) != "no_session.sse" {
		t.Fatal(file, err)
	}
	return out.Bytes()
}

// everyCapture calls each with every capture, by the name under which people know it.
func everyCapture(t *testing.T, each func(name, file string)) {
	for _, family := range slices.Sorted(maps.Keys(captures)) {
		for _, file := range sseFiles(t, captures[family]) {
			each(family+"/"+strings.TrimSuffix(filepath.Base(file), ".sse"), file)
		}
	}
}

// framesOf reads a stream as any reader does.
func framesOf(t testing.TB, stream []byte) (all []sse.Frame) {
	t.Helper()
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sse.Frame{ID: bytes.Clone(f.ID), Event: bytes.Clone(f.Event), Data: bytes.Clone(f.Data)})
	}
}

// shownAs are the captures whose formats stand in the golden files, for people to judge.
var shownAs = []string{
	"adk-python/confirmation", "adk-python/text_and_tool.stream", "adk-python/transfer", "adk-go/model_error_after_tool",
	"looopy/litellm", "looopy/input-required", "looopy/artifacts", "adkstudio/server-tools", "deepagents/made-interrupt", "a2a/adk-go-streamed-tool", "a2a/python-canceled", "a2a/python-files",
	"agui/sdk-tools", "agui/made-runs", "agui/made-langgraph",
}

// TestFormats holds what a few captures of each dialect become in each format.
func TestFormats(t *testing.T) {
	for _, as := range format.Formats() {
		var got strings.Builder
		var found []string
		everyCapture(t, func(name, file string) {
			if slices.Contains(shownAs, name) {
				found = append(found, name)
				for _, policy := range policies {
					fmt.Fprintf(&got, "== %s, %s\n%s", name, policy, formatted(t, policy, string(as), file))
				}
			}
		})
		if len(found) != len(shownAs) {
			t.Fatalf("of %q there are only %q", shownAs, found)
		}
		golden := filepath.Join("testdata", "format", string(as)+".golden")
		if *update {
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

// TestFormatsShowNoMore looks for every string of every format in the native frames of the same reader: what is not there must be a
// word of ours. What a frame becomes has the id of that frame, once, and at its end.
func TestFormatsShowNoMore(t *testing.T) {
	everyCapture(t, func(name, file string) {
		for _, policy := range policies {
			native := framesOf(t, formatted(t, policy, "native", file))
			had := textsOf(t, native)
			for _, as := range format.Formats() {
				frames := framesOf(t, formatted(t, policy, string(as), file))
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

// idsOf says what is wrong with the ids of frames. The reader's last id is in force until the next.
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

// had is all that native frames say: their strings, and the texts that they say piece by piece.
type had struct {
	t   *testing.T
	all string
}

func (h had) have(text string) bool {
	if strings.Contains(h.all, text) {
		return true
	}
	if file, err := base64.StdEncoding.DecodeString(text); err == nil && strings.Contains(h.all, string(file)) { // that stands there as text
		return true
	}
	if inner := stringsOf(h.t, []byte(text)); len(inner) > 0 && text[0] != '"' { // JSON that stands in a string
		return !slices.ContainsFunc(inner, func(s string) bool { return !h.have(s) })
	}
	return strings.Contains(strings.ToLower(h.all), text) || // labels are in lower case
		strings.Contains(h.all, strings.ReplaceAll(text, "/", "~1")) // names in JSON Pointers
}

func textsOf(t *testing.T, native []sse.Frame) had {
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
	return had{t, each.String() + joined.String()}
}

// textMembers are the pieces of text in a frame, by the name under which it says them and by the message that they are of.
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

// stringsOf are all strings of a JSON value, but the names of members.
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

// made is what is made of what is there: ids of ours, RFC 3339, the number that tells agents of one name apart, and the pseudonym of a
// thread.
var made = regexp.MustCompile(`^(replay-[0-9]+(\.m?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|.*#[0-9]+|thread-[0-9a-f]{16})$`)

// ownWord says whether a string is a word that stands in the program.
func ownWord(text, file string) bool {
	return text == "" || text == filepath.Base(file) || made.MatchString(text) || slices.Contains(ownWords(), text)
}

// ownWords are those of the formats: what docs/reference/events.md says, and the protocols' own.
var ownWords = sync.OnceValue(func() []string {
	var all []string
	for _, name := range []string{"format.go", "normalized.go", "facts.go", "agui.go", "aguiwire.go", "a2a.go", "a2awire.go", "runs.go", "gap.go", "a2apart.go"} {
		source, err := os.ReadFile(filepath.Join("../../exporter/stream/format", name))
		if err != nil {
			panic(err)
		}
		for _, match := range regexp.MustCompile("\"([^\"\n]+)\"|`json:\"([^\",]+)").FindAllStringSubmatch(string(source), -1) {
			all = append(all, match[1]+match[2])
		}
	}
	for _, name := range []string{"event.go", "piece.go"} {
		vocabulary, err := os.ReadFile(filepath.Join("../../collector/event", name))
		if err != nil {
			panic(err)
		}
		for _, match := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(string(vocabulary), -1) {
			all = append(all, match[1], "delegraph."+match[1])
		}
	}
	return append(all, "main", "subagent", "on_interrupt", "structured", "text", "thought", "agui", "adk", "looopy", "adkstudio", "deepagents", "a2a", "2.0")
})
