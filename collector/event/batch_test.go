package event

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestBatchOwnsBytes checks that a batch does not change if the bytes that it was given are overwritten.
func TestBatchOwnsBytes(t *testing.T) {
	frame := sse.Frame{ID: []byte("7"), Event: []byte("say"), Data: []byte(`{"plain":"p","escaped":"\u0065","json":"{\"a\":1}","more":"[2]","cut":"{","n":3}`)}
	foreign, text, keys := []byte(`{"b":["x"]}`), []byte("said"), []string{"key"}
	var otherDoc strictjson.Doc
	if err := otherDoc.Parse(foreign, 8); err != nil {
		t.Fatal(err)
	}

	var b Batch
	b.Begin(&Stream{Dialect: "d"}, frame, time.Time{})
	if rejected := b.Parse(8); rejected != "" {
		t.Fatal(rejected)
	}
	b.AddText(KindText, b.JSON.Get("plain"))
	b.AddText(KindText, b.JSON.Get("escaped"))
	b.AddText(KindThought, otherDoc.Root().Get("b"))
	for v := range otherDoc.Root().Get("b").Elements() {
		b.AddText(KindThought, v)
	}
	b.Add(KindText).SetText(text)
	for _, name := range []string{"json", "more", "cut", "n", "none"} {
		b.Add(KindToolStarted).SetPayload(b.Embedded(b.JSON.Get(name)))
	}
	b.Add(KindToolEnded).SetPayload(otherDoc.Root())
	b.Add(KindArtifact).AddPiece(Piece{Kind: PieceRows, Value: otherDoc.Root().Get("b"), Schema: otherDoc.Root()})
	b.Add(KindState).SetState(State{Keys: keys})

	const want = `7 say {"plain":"p","escaped":"\u0065","json":"{\"a\":1}","more":"[2]","cut":"{","n":3}
text "p"
text "e"
thought "x"
text "said"
tool_started {"a":1}
tool_started [2]
tool_started "{"
tool_started 3
tool_started
tool_ended {"b":["x"]}
artifact rows ["x"] {"b":["x"]}
state [key]
`
	if got := describe(&b); got != want {
		t.Errorf("before overwriting, the batch is:\n%swant:\n%s", got, want)
	}
	for _, used := range [][]byte{frame.ID, frame.Event, frame.Data, foreign, text} {
		copy(used, bytes.Repeat([]byte("#"), len(used)))
	}
	keys[0] = "#"
	if err := otherDoc.Parse([]byte(`[[0],0]`), 8); err != nil {
		t.Fatal(err)
	}
	if got := describe(&b); got != want {
		t.Errorf("after overwriting, the batch is:\n%swant:\n%s", got, want)
	}
}

// describe returns the content of a batch as text.
func describe(b *Batch) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s %s\n", b.Frame.ID, b.Frame.Event, b.Frame.Data)
	for i := range b.Events {
		e := &b.Events[i]
		line := e.Kind.String()
		if len(e.Text()) > 0 {
			line += fmt.Sprintf(" %q", e.Text())
		}
		if e.Payload().Exists() {
			line += " " + string(e.Payload().Raw())
		}
		for _, p := range e.Pieces() {
			line += fmt.Sprintf(" %s %s %s", p.Kind, p.Value.Raw(), p.Schema.Raw())
		}
		if len(e.State().Keys) > 0 {
			line += fmt.Sprint(" ", e.State().Keys)
		}
		w.WriteString(line + "\n")
	}
	return w.String()
}

// TestBegin checks that Begin discards the previous frame.
func TestBegin(t *testing.T) {
	b := &Batch{}
	s := &Stream{Dialect: "d"}
	b.Begin(s, sse.Frame{ID: []byte("1"), Data: []byte(`{"text":"\u0065"}`)}, time.Unix(1, 0))
	b.Parse(8)
	b.Run, b.Rejected, b.Internal = "r", ReasonShape, true
	b.AddText(KindText, b.JSON.Get("text"))
	b.Begin(s, sse.Frame{Data: []byte("x")}, time.Unix(2, 0))
	if rejected := b.Parse(8); rejected != Reason(strictjson.Syntax) || b.JSON.Exists() {
		t.Errorf("Parse() = %q with the JSON %s, want a syntax error and no JSON", rejected, b.JSON.Raw())
	}
	if got := describe(b); got != "  x\n" || b.Run != "" || b.Rejected != "" || b.Internal || b.Dialect != "d" || !b.Received.Equal(time.Unix(2, 0)) {
		t.Errorf("after Begin, the batch is %q, %+v; want only the new frame", got, b)
	}
	if b.AddText(KindText, strictjson.Value{}) != nil || len(b.Events) != 0 {
		t.Error("AddText() adds an event without text")
	}
	b.Reset()
	if b.Stream != nil || len(b.Frame.Data) > 0 || b.MemorySize() > 8<<10 {
		t.Errorf("after Reset, the batch is %+v with %d bytes, want it empty", b, b.MemorySize())
	}
}

// TestMemorySize checks that MemorySize counts everything in a batch.
func TestMemorySize(t *testing.T) {
	const n = 4 << 10
	long := strings.Repeat("x", n)
	cost := func(data string, put func(*Batch)) int {
		var b Batch
		b.Begin(&Stream{}, sse.Frame{Data: []byte(data)}, time.Time{})
		b.Parse(8)
		put(&b)
		return b.MemorySize()
	}
	list := "[" + strings.Repeat("1,", n) + "1]"
	for name, c := range map[string]struct {
		data string
		min  int // bytes
		put  func(*Batch)
	}{
		"the frame": {long, n, func(*Batch) {}},
		"its index": {list, 18 * n, func(*Batch) {}},
		"events": {"", n * int(unsafe.Sizeof(Event{})), func(b *Batch) {
			for range n {
				b.Add(KindOther)
			}
		}},
		"a text": {"", n, func(b *Batch) { b.Add(KindText).SetText([]byte(long)) }},
		"many texts": {"", 10 * (n + int(unsafe.Sizeof(Event{}))), func(b *Batch) {
			for range 10 {
				b.Add(KindText).SetText([]byte(long))
			}
		}},
		"embedded JSON": {`"\u005b` + list[1:] + `"`, 40 * n / 2, func(b *Batch) { b.Embedded(b.JSON) }},
		"pieces": {`1`, MaxPieces * int(unsafe.Sizeof(Piece{})), func(b *Batch) {
			e := b.Add(KindArtifact)
			for range MaxPieces {
				e.AddPiece(Piece{Value: b.JSON})
			}
		}},
		"names of pieces": {`1`, n, func(b *Batch) {
			b.Add(KindArtifact).AddPiece(Piece{Value: b.JSON, Name: long[:n/2], Media: long[:n/2]})
		}},
		"keys of state": {"", n + 16*n, func(b *Batch) { b.Add(KindState).SetState(State{Keys: slices.Repeat([]string{"k"}, n)}) }},
		"citation":      {"", n, func(b *Batch) { b.Add(KindCitation).Citation.Source = long }},
		"names":         {"", n, func(b *Batch) { b.Add(KindText).Name = long }},
		"branch":        {"", n, func(b *Batch) { b.Branch = long }},
		"cuts": {list, 18*n + 40*n, func(b *Batch) {
			b.Cuts = map[strictjson.Value]struct{}{}
			for v := range b.JSON.Elements() {
				b.Cuts[v] = struct{}{}
			}
		}},
		"substitutes": {list, 18*n + 56*n, func(b *Batch) {
			for v := range b.JSON.Elements() {
				b.Substitute(v, "1")
			}
		}},
		"kinds of texts": {list, 18*n + 40*n, func(b *Batch) {
			b.TextKinds = map[strictjson.Value]Kind{}
			for v := range b.JSON.Elements() {
				b.TextKinds[v] = KindText
			}
		}},
		"authors": {list, 18*n + 80*n, func(b *Batch) {
			b.Authors, b.InputAuthors = map[strictjson.Value][]string{}, slices.Repeat([]string{"a"}, n)
			for v := range b.JSON.Elements() {
				b.Authors[v] = []string{"a"}
			}
		}},
	} {
		empty := cost("", func(*Batch) {})
		if more := cost(c.data, c.put) - empty; more < c.min {
			t.Errorf("%s adds %d bytes, want at least %d", name, more, c.min)
		}
	}
}

// TestLargeFrame checks that the next frame releases the memory of a very large one.
func TestLargeFrame(t *testing.T) {
	var b Batch
	long := strings.Repeat("x", 1<<20)
	b.Begin(&Stream{}, sse.Frame{Data: []byte(`["` + long + `",` + strings.Repeat(`"{}",`, 1000) + `"{}"]`)}, time.Time{})
	b.Parse(8)
	for v := range b.JSON.Elements() {
		b.Add(KindToolStarted).SetPayload(b.Embedded(v))
		b.Add(KindText).SetText(v.Text())
	}
	before := b.MemorySize()
	b.Begin(&Stream{}, sse.Frame{}, time.Time{})
	if after := b.MemorySize(); before < 3<<20 || after > 512<<10 {
		t.Errorf("the batch takes %d bytes before the next frame and %d after it, want at least 3 MiB and at most 512 KiB", before, after)
	}
}

// TestNameTexts names the texts of two messages. The second call visits none of the events before the first one.
func TestNameTexts(t *testing.T) {
	var b Batch
	b.Add(KindText)
	b.NameTexts("")
	b.Add(KindThought)
	b.Add(KindToolStarted)
	b.NameTexts("a")
	b.Events[1].Message = ""
	b.Add(KindText)
	b.NameTexts("b")
	var got []string
	for _, e := range b.Events {
		got = append(got, e.Message)
	}
	if want := []string{"a", "", "", "b"}; !slices.Equal(got, want) {
		t.Errorf("the messages are %q, want %q", got, want)
	}
}

// TestCopiedValues adds a value of another batch that has names that differ only by case.
func TestCopiedValues(t *testing.T) {
	var other, b Batch
	other.Begin(&Stream{}, sse.Frame{Data: []byte(`{"free":{"Q":1,"q":2}}`)}, time.Time{})
	other.Table = &Table{FreeMembers: []string{"free"}}
	if rejected := other.Parse(8); rejected != "" {
		t.Fatal(rejected)
	}
	b.Begin(&Stream{}, sse.Frame{Data: []byte(`{}`)}, time.Time{})
	e := b.Add(KindToolStarted)
	if e.SetPayload(other.JSON.Get("free")); string(e.Payload().Raw()) != `{"Q":1,"q":2}` {
		t.Errorf("the payload is %s", e.Payload().Raw())
	}
	if rejected := b.Parse(8); rejected != "" || b.Table != nil {
		t.Errorf("without a table, the frame is rejected as %q", rejected)
	}
}
