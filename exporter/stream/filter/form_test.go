package filter_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestForms checks what leaves under the policy public for names, IDs, URLs and media types.
func TestForms(t *testing.T) {
	long := strings.Repeat("x", 300)
	const hashed = "sha256-0d4e2ca9e9cbced7a7a5380eb29e1a37"
	for _, c := range []struct{ dialect, kind, member, value, want string }{
		{"aisdk", "tool-input-start", "toolName", "Read a file's content", "Read a file's content"},
		{"aisdk", "tool-input-start", "toolName", "größe/v2.lesen-1", "größe/v2.lesen-1"},
		{"aisdk", "tool-input-start", "toolName", `get_weather(city="x")`, "unknown"},
		{"aisdk", "tool-input-start", "toolName", "get_weather(city)", "unknown"},
		{"aisdk", "tool-input-start", "toolName", `{"k":"v"}`, "unknown"},
		{"aisdk", "tool-input-start", "toolName", "<Agent a at 0x7f>", "unknown"},
		{"aisdk", "tool-input-start", "toolName", "The answer is 7, he said!", "unknown"},
		{"aisdk", "tool-input-start", "toolName", long, "unknown"},
		{"aisdk", "tool-input-start", "toolCallId", "call_1/a=", "call_1/a="},
		{"aisdk", "tool-input-start", "toolCallId", long, hashed},
		{"aisdk", "tool-input-start", "toolCallId", long + "(a=b)", ""},
		{"aisdk", "tool-input-start", "toolCallId", "Agent(secret=x)", ""},
		{"aisdk", "tool-input-start", "toolCallId", "{'k': 'v'}", ""},
		{"aisdk", "tool-input-start", "toolCallId", "[secret]", ""},
		{"aisdk", "tool-input-start", "toolCallId", "<Agent a at 0x7f>", ""},
		{"aisdk", "tool-input-start", "toolName", "https://user:pw@example.org/mcp", "unknown"},
		{"aisdk", "tool-input-start", "toolName", "sse: https://user:pw@example.org", "unknown"},
		{"aisdk", "tool-input-start", "toolName", "mcp://example.org/search@1", "mcp://example.org/search@1"},
		{"aisdk", "tool-input-start", "toolName", "@org/search:run", "@org/search:run"},
		{"aisdk", "tool-input-start", "toolCallId", "https://user:pw@example.org/x", ""},
		{"aisdk", "tool-input-start", "toolCallId", "postgres://user:pw@db/x", ""},
		{"aisdk", "tool-input-start", "toolCallId", "see https://token@example.org", ""},
		{"aisdk", "tool-input-start", "toolCallId", "https://user:pw@example.org/" + long, ""},
		{"aisdk", "tool-input-start", "toolCallId", "https://example.org/a@b", "https://example.org/a@b"},
		{"aisdk", "tool-input-start", "toolCallId", "team.agent@call", "team.agent@call"},
		{"aisdk", "tool-input-start", "toolCallId", "user@example.org", "user@example.org"},
		{"aisdk", "tool-input-start", "toolCallId", "User[id=1, password=x]", ""},
		{"aisdk", "tool-input-start", "toolCallId", "Message [type=a, content=x]", ""},
		{"aisdk", "tool-input-start", "toolCallId", "Optional[secret]", ""},
		{"aisdk", "tool-input-start", "toolCallId", "Optional.empty", "Optional.empty"},
		{"aisdk", "tool-input-start", "toolCallId", "team[1]", "team[1]"},
		{"aisdk", "tool-input-start", "toolCallId", "node[0]=x", "node[0]=x"},
		{"aisdk", "tool-input-start", "toolCallId", "a[1/c=", "a[1/c="},
		{"aisdk", "text-start", "id", long, hashed},
		{"aisdk", "start", "messageId", "Agent(secret=x)", ""},
		{"aisdk", "source-url", "url", "https://example.org/?q=a@b", "https://example.org/?q=a@b"},
		{"aisdk", "source-url", "url", "https://user:pw@example.org/x", "https://example.org/x"},
		{"aisdk", "source-url", "url", "https://user@example.org", "https://example.org"},
		{"aisdk", "source-url", "url", "https://user:p@w@example.org", "https://example.org"},
		{"aisdk", "source-url", "url", `https:\\user:pw@example.org`, `https:\\example.org`},
		{"aisdk", "source-url", "url", " ht\ntps:user:pw@example.org", " https:example.org"},
		{"aisdk", "source-url", "url", "//user:pw@example.org", "//example.org"},
		{"aisdk", "source-url", "url", "postgres://user:pw@example.org/x", "postgres://example.org/x"},
		{"aisdk", "source-url", "url", "mailto:user@example.org", "mailto:user@example.org"},
		{"aisdk", "source-document", "mediaType", `text/plain; charset="utf-8"`, `text/plain; charset="utf-8"`},
		{"aisdk", "source-document", "mediaType", "image", "image"},
		{"aisdk", "source-document", "mediaType", "a text of the agent", "application/octet-stream"},
		{"aisdk", "source-document", "mediaType", "application/pdf; x=" + long, "application/octet-stream"},
		{"looopy", "file-write", "mimeType", "image/svg+xml", "image/svg+xml"},
		{"looopy", "file-write", "mimeType", "a text of the agent", ""},
	} {
		d := dialectNamed(t, c.dialect)
		members := map[string]string{"toolCallId": "c", "toolName": "f", "id": "t", "sourceId": "s", "title": "t", "mediaType": "text/plain", "artifactId": "a"}
		discriminator := d.Table().Discriminators[0]
		members[discriminator], members[c.member] = c.kind, c.value
		sent, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		b := &event.Batch{Stream: &event.Stream{}, Frame: sse.Frame{Data: sent}, Table: d.Table(), Type: c.kind}
		b.Parse(depthLimit)
		frame, _ := filter.New(filter.Settings{Policy: event.PolicyPublic}).Apply(b)
		left := map[string]any{c.member: ""}
		if len(frame.Data) > 0 {
			if err := json.Unmarshal(frame.Data, &left); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := left[c.member].(string); got != c.want {
			t.Errorf("%s %s: %.40q leaves as %q, want %q", c.kind, c.member, c.value, got, c.want)
		}
	}
}

func dialectNamed(t *testing.T, name string) interface{ Table() *event.Table } {
	t.Helper()
	for _, d := range collector.Dialects() {
		if d.Name() == name {
			return d
		}
	}
	t.Fatal(name)
	return nil
}

// callKinds are the kinds of facts about calls.
var callKinds = []event.Kind{event.KindToolStarted, event.KindToolPaused, event.KindToolProgress, event.KindToolEnded}

// TestOddCalls renames the tools and calls of recordings. Even if a name or an ID may not leave as it is, the same frames about calls
// leave: none leaves without the beginning of its call.
func TestOddCalls(t *testing.T) {
	files, err := filepath.Glob("../../../collector/dialect/*/testdata/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	renamed := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dialect := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if dialect == "custom" || dialect == "dialecttest" {
			continue
		}
		wire := string(content)
		var names, ids []string
		for _, e := range eventsOf(t, dialect, wire) {
			if e.Kind == event.KindToolStarted {
				names, ids = append(names, e.Name), append(ids, e.CallID)
			}
		}
		for _, odd := range []string{`get_weather(city="x")`, `{"k":"v"}`, strings.Repeat("x", 300)} {
			want, got := callsLeft(t, dialect, wire, names, "renamed"), callsLeft(t, dialect, wire, names, odd)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, tools named %.30s: %s", file, odd, diff)
			}
			renamed += len(want)
		}
		long := strings.Repeat("x", 300)
		want, got := callsLeft(t, dialect, wire, ids, "renamed"), callsLeft(t, dialect, wire, ids, long)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, long IDs: %s", file, diff)
		}
	}
	if renamed == 0 {
		t.Error("the recordings have no calls")
	}
}

// callsLeft renames strings and returns what leaves of calls under the policy public: the kinds of facts, and the position of the call.
func callsLeft(t *testing.T, dialect, wire string, old []string, to string) (left []string) {
	t.Helper()
	slices.Sort(old)
	var pairs []string
	for i, name := range slices.Compact(old) {
		if name != "" {
			quoted, err := json.Marshal(to + strings.Repeat("y", i))
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, `"`+name+`"`, string(quoted))
		}
	}
	var public strings.Builder
	f := filter.New(filter.Settings{Policy: event.PolicyPublic})
	eachBatch(t, dialect, strings.NewReplacer(pairs...).Replace(wire), func(b *event.Batch) {
		if frame, why := f.Apply(b); why == filter.Passed {
			out, err := sse.AppendFrame(nil, sse.Frame{Event: []byte(frame.Name), Data: frame.Data})
			if err != nil {
				t.Fatal(err)
			}
			public.Write(out)
		}
	})
	var ids []string
	for _, e := range eventsOf(t, dialect, public.String()) {
		if !slices.Contains(callKinds, e.Kind) {
			continue
		}
		if !slices.Contains(ids, e.CallID) {
			ids = append(ids, e.CallID)
		}
		left = append(left, e.Kind.String()+" "+string(rune('a'+slices.Index(ids, e.CallID))))
	}
	return left
}

// eventsOf returns the events of a stream, without their values.
func eventsOf(t *testing.T, dialect, wire string) (all []event.Event) {
	t.Helper()
	eachBatch(t, dialect, wire, func(b *event.Batch) {
		for i := range b.Events {
			e := &b.Events[i]
			all = append(all, event.Event{Kind: e.Kind, Name: e.Name, CallID: e.CallID})
		}
	})
	return all
}

func eachBatch(t *testing.T, dialect, wire string, do func(*event.Batch)) {
	t.Helper()
	settings := collector.Settings{MaxFrame: frameLimit, MaxJSONDepth: depthLimit}
	input := collector.Input{Reader: strings.NewReader(wire), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Source: "test", SingleRun: true}, input, dialect)
	for {
		b, err := decoding.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(b)
	}
}
