package filter_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// canary is in every internal event, and in every other part of the catalogue that must not pass.
const canary = "c4n4ry7f3e9d"

// attempt is one way to get internal content past a filter.
type attempt struct {
	Name   string `json:"name"`
	Want   string `json:"want"` // drop, pass-clean (without the canary), or none (no frame at all)
	Wire   []byte `json:"wire_b64"`
	Filler int    `json:"filler"` // bytes of "y" between Wire and Tail
	Tail   []byte `json:"tail_b64"`
}

// Read limits in these tests. The catalogue has a frame that exceeds each.
const (
	frameLimit = 1 << 20
	depthLimit = 128
)

// kinded is a small protocol like those that the catalogue attacks: a member "kind" names each frame's type.
var kinded = event.Table{
	Discriminators:  []string{"kind", "type"},
	Envelopes:       []string{"result", "event", "rawEvent"},
	DeepEnvelopes:   true,
	TypeIsEventName: true,
	Types: map[string]event.Type{
		"content-delta": {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{
			"kind": {}, "delta": {Fact: event.KindText, Form: event.FormText},
		}}},
		"tool-start": {Client: true},
		"state": {Client: true, InternalMembers: []string{"input"}, Public: &event.Rule{Members: map[string]*event.Rule{
			"kind": {}, "delta": {Patch: true, Required: true}, "snapshot": {State: true, Fallback: "{}"},
		}}},
		"thought-stream": {Client: true, Public: &event.Rule{ThoughtMarkers: []string{"thought"}, Members: map[string]*event.Rule{
			"kind": {}, "thought": {Fact: event.KindThought, Form: event.FormText},
		}}},
	},
}

// decode takes the type from the frame's kind, or from its event name if it has no kind.
func decode(f sse.Frame, table *event.Table, doc *strictjson.Doc) *event.Batch {
	b := &event.Batch{Stream: &event.Stream{Source: "test"}, Frame: f, Table: table}
	if err := doc.Parse(f.Data, depthLimit); err != nil {
		b.Rejected = event.ReasonShape
		return b
	}
	b.JSON = doc.Root()
	if b.Type = b.JSON.Get("kind").String(); b.Type == "" {
		b.Type = string(f.Event)
	}
	switch b.Type {
	case "content-delta":
		b.Add(event.KindText).SetText(b.JSON.Get("delta").Text())
	case "thought-stream":
		b.Add(event.KindThought).SetText(b.JSON.Get("thought").Text())
		for c := range b.JSON.Get("confidence").Elements() {
			value, known := c.Float()
			b.Add(event.KindConfidence).Confidence = event.Confidence{Value: value, Known: known, Origin: event.OriginThought}
		}
	}
	return b
}

// kindedBatches returns the frames of a stream of that protocol.
func kindedBatches(wire io.Reader) iter.Seq[*event.Batch] {
	return func(yield func(*event.Batch) bool) {
		frames := sse.NewReader(wire, frameLimit)
		var doc strictjson.Doc
		for {
			frame, err := frames.Next()
			if err == io.EOF {
				return
			}
			b := &event.Batch{Stream: &event.Stream{Source: "test"}, Table: &kinded, Rejected: event.ReasonTooLarge}
			if err == nil {
				b = decode(frame, &kinded, &doc)
			}
			if !yield(b) {
				return
			}
		}
	}
}

// sent returns everything that passes, and the reason for each frame.
func sent(t *testing.T, batches iter.Seq[*event.Batch], f *filter.Filter) (out []byte, verdicts string) {
	t.Helper()
	var all []string
	for b := range batches {
		leaves, why := f.Apply(b)
		if why != filter.Passed {
			all = append(all, string(why))
			continue
		}
		all = append(all, passed)
		var err error
		if out, err = sse.AppendFrame(out, sse.Frame{Event: []byte(leaves.Name), Data: leaves.Data}); err != nil {
			t.Fatal(err)
		}
	}
	return out, strings.Join(all, ", ")
}

const passed = "passed"

// readSizes lists the sizes of reads, in bytes. 0 is the whole stream at once.
var readSizes = []int{0, 1, 2, 3, 5, 7}

// TestCatalogue checks every attempt under both policies, in reads of six sizes. Policy public passes no canary and loses
// nothing harmless. The golden file has the result of each attempt under policy client.
func TestCatalogue(t *testing.T) {
	var golden strings.Builder
	for _, a := range readCatalogue(t) {
		for _, size := range readSizes {
			out, verdicts := sent(t, kindedBatches(chunked(a.Wire, size)), filter.New(filter.Settings{Policy: event.PolicyPublic}))
			if bytes.Contains(out, []byte(canary)) || strings.Contains(verdicts, passed) != (a.Want == "pass-clean") {
				t.Errorf("%s in reads of %d: %s, want %s\n%.300s", a.Name, size, verdicts, a.Want, out)
			}
		}
		var first []byte
		for _, size := range readSizes {
			out, verdicts := sent(t, kindedBatches(chunked(a.Wire, size)), filter.New(filter.Settings{Policy: event.PolicyClient}))
			if size == 0 {
				first = out
				fmt.Fprintf(&golden, "%s: %s\n", a.Name, verdicts)
			}
			if !bytes.Equal(out, first) {
				t.Errorf("%s in reads of %d differs", a.Name, size)
			}
		}
	}
	compare(t, "testdata/client.golden", golden.String())
}

func readCatalogue(t testing.TB) []attempt {
	t.Helper()
	content, err := os.ReadFile("testdata/catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []attempt
	if err := json.Unmarshal(content, &all); err != nil || len(all) < 58 {
		t.Fatal(len(all), err)
	}
	for i := range all {
		all[i].Wire = slices.Concat(all[i].Wire, bytes.Repeat([]byte("y"), all[i].Filler), all[i].Tail)
	}
	return all
}

func chunked(wire []byte, size int) io.Reader {
	if size == 0 {
		return bytes.NewReader(wire)
	}
	if size == 1 {
		return iotest.OneByteReader(bytes.NewReader(wire))
	}
	return &chunks{wire, size}
}

type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestDeepEnvelopes checks that the time of filtering is proportional to a frame's size and depth, when each level is an
// envelope and a discriminator. Otherwise the test does not end.
func TestDeepEnvelopes(t *testing.T) {
	for _, member := range []string{`"result":`, `"kind":`, `"metadata":`} {
		inner := strings.Repeat("{"+member, depthLimit-2) + `{"kind":"internal:x"}` + strings.Repeat("}", depthLimit-2)
		wire := `data: {"kind":"content-delta","delta":"a","result":` + inner + "}\n\n"
		_, verdicts := sent(t, kindedBatches(strings.NewReader(wire)), filter.New(filter.Settings{Policy: event.PolicyPublic}))
		if verdicts != string(filter.ReasonInternal) {
			t.Errorf("%s: %s", member, verdicts)
		}
	}
}
