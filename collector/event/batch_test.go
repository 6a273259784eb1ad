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

// TestBatchOwns puts everything into a batch that a decoder may use again for its next frame, and then does so.
func TestBatchOwns(t *testing.T) {
	frame := sse.Frame{ID: []byte("7"), Event: []byte("say"), Data: []byte(`{"plain":"p","escaped":"\u0065","json":"{\"a\":1}","more":"[2]","cut":"{","n":3}`)}
	foreign, said, keys := []byte(`{"b":["x"]}`), []byte("said"), []string{"key"}
	var theirs strictjson.Doc
	if err := theirs.Parse(foreign, 8); err != nil {
		t.Fatal(err)
	}

	var b Batch
	b.Begin(&Stream{Dialect: "d"}, frame, time.Time{})
	if refused := b.Parse(8); refused != "" {
		t.Fatal(refused)
	}
	b.AddText(KindText, b.JSON.Get("plain"))
	b.AddText(KindText, b.JSON.Get("escaped"))
	b.AddText(KindThought, theirs.Root().Get("b"))
	for v := range theirs.Root().Get("b").Elements() {
		b.AddText(KindThought, v)
	}
	b.Add(KindText).SetText(said)
	for _, name := range []string{"json", "more", "cut", "n", "none"} {
		b.Add(KindToolStarted).SetPayload(b.Embedded(b.JSON.Get(name)))
	}
	b.Add(KindToolEnded).SetPayload(theirs.Root())
	b.Add(KindArtifact).AddPiece(Piece{Kind: PieceRows, Value: theirs.Root().Get("b"), Schema: theirs.Root()})
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
	if got := told(&b); got != want {
		t.Errorf("at first:\n%swant:\n%s", got, want)
	}
	for _, used := range [][]byte{frame.ID, frame.Event, frame.Data, foreign, said} {
		copy(used, bytes.Repeat([]byte("#"), len(used)))
	}
	keys[0] = "#"
	if err := theirs.Parse([]byte(`[[0],0]`), 8); err != nil {
		t.Fatal(err)
	}
	if got := told(&b); got != want {
		t.Errorf("when all was used again:\n%swant:\n%s", got, want)
	}
}

// told puts into words what a batch holds.
func told(b *Batch) string {
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

// TestBegin has a batch forget the frame before.
func TestBegin(t *testing.T) {
	b := &Batch{}
	s := &Stream{Dialect: "d"}
	b.Begin(s, sse.Frame{ID: []byte("1"), Data: []byte(`{"text":"\u0065"}`)}, time.Unix(1, 0))
	b.Parse(8)
	b.Run, b.Rejected, b.Internal = "r", ReasonShape, true
	b.AddText(KindText, b.JSON.Get("text"))
	b.Begin(s, sse.Frame{Data: []byte("x")}, time.Unix(2, 0))
	if refused := b.Parse(8); refused != Reason(strictjson.Syntax) || b.JSON.Exists() {
		t.Errorf("refused as %q, JSON %s", refused, b.JSON.Raw())
	}
	if got := told(b); got != "  x\n" || b.Run != "" || b.Rejected != "" || b.Internal || b.Dialect != "d" || !b.Received.Equal(time.Unix(2, 0)) {
		t.Errorf("%q, %+v", got, b)
	}
	if b.AddText(KindText, strictjson.Value{}) != nil || len(b.Events) != 0 {
		t.Error("an event without text was added")
	}
	b.Reset()
	if b.Stream != nil || len(b.Frame.Data) > 0 || b.Cost() > 8<<10 {
		t.Errorf("%+v is left, %d bytes", b, b.Cost())
	}
}

// TestCost has every sort of thing that a batch holds count.
func TestCost(t *testing.T) {
	const n = 4 << 10
	long := strings.Repeat("x", n)
	cost := func(data string, put func(*Batch)) int {
		var b Batch
		b.Begin(&Stream{}, sse.Frame{Data: []byte(data)}, time.Time{})
		b.Parse(8)
		put(&b)
		return b.Cost()
	}
	list := "[" + strings.Repeat("1,", n) + "1]"
	for name, c := range map[string]struct {
		data  string
		least int
		put   func(*Batch)
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
		"keys of state":  {"", n + 16*n, func(b *Batch) { b.Add(KindState).SetState(State{Keys: slices.Repeat([]string{"k"}, n)}) }},
		"what is quoted": {"", n, func(b *Batch) { b.Add(KindCitation).Citation.Source = long }},
		"names":          {"", n, func(b *Batch) { b.Add(KindText).Name = long }},
		"who it is of":   {"", n, func(b *Batch) { b.Branch = long }},
	} {
		empty := cost("", func(*Batch) {})
		if more := cost(c.data, c.put) - empty; more < c.least {
			t.Errorf("%s: %d bytes, want %d at least", name, more, c.least)
		}
	}
}

// TestKeptMemory makes sure that what one huge frame needed is let go with the next.
func TestKeptMemory(t *testing.T) {
	var b Batch
	long := strings.Repeat("x", 1<<20)
	b.Begin(&Stream{}, sse.Frame{Data: []byte(`["` + long + `",` + strings.Repeat(`"{}",`, 1000) + `"{}"]`)}, time.Time{})
	b.Parse(8)
	for v := range b.JSON.Elements() {
		b.Add(KindToolStarted).SetPayload(b.Embedded(v))
		b.Add(KindText).SetText(v.Text())
	}
	before := b.Cost()
	b.Begin(&Stream{}, sse.Frame{}, time.Time{})
	if after := b.Cost(); before < 3<<20 || after > 512<<10 {
		t.Errorf("%d bytes, then %d", before, after)
	}
}
