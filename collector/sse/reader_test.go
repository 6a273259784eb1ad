package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"
)

type vector struct {
	name        string
	wire        []byte
	want        []vectorEvent
	lastEventID string
	retry       time.Duration
}

type vectorEvent struct{ Type, Data, ID string }

func readVectors(tb testing.TB) []vector {
	tb.Helper()
	raw, err := os.ReadFile("testdata/sse-vectors.json")
	if err != nil {
		tb.Fatal(err)
	}
	var list []struct {
		Name        string        `json:"name"`
		Wire        []byte        `json:"wire_b64"`
		Want        []vectorEvent `json:"want"`
		LastEventID string        `json:"last_event_id_after"`
		Retry       int           `json:"retry_after"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		tb.Fatal(err)
	}
	vectors := make([]vector, len(list))
	for i, v := range list {
		vectors[i] = vector{v.Name, v.Wire, v.Want, v.LastEventID, time.Duration(v.Retry) * time.Millisecond}
	}
	if len(vectors) != 86 {
		tb.Fatalf("%d vectors, want 86", len(vectors))
	}
	return vectors
}

// TestVectors checks the reader on the shared test vectors, read in chunks of several sizes.
func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			for _, size := range []int{len(v.wire) + 1, 1, 2, 3, 5, 7} {
				out := drain(t, &splitReader{stream: string(v.wire), sizes: []int{size}}, DefaultLimit, nil)
				var got []vectorEvent
				for _, r := range out.Results {
					f := Frame{Event: []byte(r.Event)}
					got = append(got, vectorEvent{f.Type(), decoded(t, r.Data), r.ID})
				}
				if diff := cmp.Diff(v.want, got); diff != "" {
					t.Errorf("chunks of %d: events differ (-want +got):\n%s", size, diff)
				}
				if out.LastEventID != v.lastEventID || out.Retry != v.retry {
					t.Errorf("chunks of %d: the last id is %q and the retry time %v, want %q and %v", size, out.LastEventID, out.Retry, v.lastEventID, v.retry)
				}
			}
		})
	}
}

// TestRules checks rules of the standard that the vectors do not cover. Each case also runs against the
// oracle at several splits, which checks when a frame is returned.
func TestRules(t *testing.T) {
	const mib = 1 << 20
	type frames = []result
	long := strings.Repeat("x", maxResumeID)
	for _, tc := range []struct {
		name, wire string
		want       frames // ID, Event, Data, Size
		lastID     string
		retry      time.Duration
		truncated  int
	}{
		{name: "size: field lines and blank line", wire: "\ufeff:c\nevent:x\r\ndata:1\r\n\r\n", want: frames{{Event: "x", Data: "1", Size: 9 + 8 + 1}}},
		{name: "size: comments after a field count", wire: ":c\r\ndata:1\r\n:c\r\n\r\n", want: frames{{Data: "1", Size: 8 + 4 + 1}}},
		{name: "size: blank lines belong to no frame", wire: "\n\r\n\rdata:1\n\n\r\ndata:2\r\rdata:3\r\n\r\ndata:4\n\n", want: frames{{Data: "1", Size: 8}, {Data: "2", Size: 8}, {Data: "3", Size: 9}, {Data: "4", Size: 8}}},
		{name: "bare event block is no frame", wire: "event: end\n\ndata: \nevent: end\n\n", want: frames{{Event: "end", Size: 19}}},
		{name: "data lines around other fields", wire: "data:11\nevent:name\ndata:22\nid:7\n:comment\ndata:33\r\n\r\n", want: frames{{ID: "7", Event: "name", Data: "11\n22\n33", Size: 51}}, lastID: "7"},
		{name: "data joined over all line ends", wire: "data\rdata\r\ndata\ndata:x\r\ndata: \r\r", want: frames{{Data: "\n\n\nx\n", Size: 5 + 6 + 5 + 8 + 7 + 1}}},
		{name: "field order", wire: "id:1\ndata:a\nevent:x\n\nevent:y\nid:2\ndata:b\n\n", want: frames{{ID: "1", Event: "x", Data: "a", Size: 21}, {ID: "2", Event: "y", Data: "b", Size: 21}}, lastID: "2"},
		{name: "id of a block cut in its last line", wire: "id:1\n\nid:2\ndata:x\n", lastID: "1", truncated: 12},
		{name: "id is committed by the blank line", wire: "id:1\n\nid:2\n\n", lastID: "2"},
		{name: "id cut mid line", wire: "id:1\n\nid:2", lastID: "1", truncated: 4},
		{name: "id reset asks for no id", wire: "id:1\ndata:a\n\nid\n\n", want: frames{{ID: "1", Data: "a", Size: 13}}},
		{name: "id NUL keeps the one of its block", wire: "id:5\nid:a\x00b\n\n", lastID: "5"},
		{name: "id of 1 KiB is kept", wire: "id:" + long + "\n\n", lastID: long},
		{name: "id over 1 KiB holds for frames only", wire: "id:1\n\nid:x" + long + "\ndata:a\n\ndata:b\n\n", want: frames{{ID: "x" + long, Data: "a", Size: 3 + 1025 + 1 + 8}, {ID: "x" + long, Data: "b", Size: 8}}, lastID: "1"},
		{name: "id with header-breaking bytes is kept", wire: "id:\x01\x7f\n\n", lastID: "\x01\x7f"},
		{name: "retry acts at the line end", wire: "retry:2000\ndata:x", retry: 2 * time.Second, truncated: 17},
		{name: "retry without data", wire: "retry:2000\n\n", retry: 2 * time.Second},
		{name: "retry of zero", wire: "retry:0\n\n"},
		{name: "retry over a duration", wire: "retry:9223372036854775807\n\n", retry: math.MaxInt64 / time.Millisecond * time.Millisecond},
		{name: "retry over 64 bits is ignored", wire: "retry:1000\nretry:36893488147419103232\nretry:9223372036854775808\n\n", retry: time.Second},
		{name: "retry with many zeros", wire: "retry:" + strings.Repeat("0", 100) + "1500\n\n", retry: 1500 * time.Millisecond},
		{name: "comments at the end are no frame", wire: "data:a\n\n:bye\nretry:500\nfoo\n:cut", want: frames{{Data: "a", Size: 8}}, retry: 500 * time.Millisecond},
		{name: "a retry line cut at the end", wire: "data:a\n\nretry: 5", want: frames{{Data: "a", Size: 8}}},
		{name: "an unknown line cut in its value", wire: ":c\nfoo: 5"},
		{name: "a line cut in its name", wire: ":c\nret", truncated: 3},
		{name: "comments before a cut block", wire: ":c\n:c\ndata:a\n:c", truncated: 9},
		{name: "a cut block with an id alone", wire: "id:1\n", truncated: 5},
		{name: "a cut block with an event alone", wire: "event:x\r", truncated: 8},
		{name: "a blank line alone", wire: "\n"},
		{name: "BOM alone", wire: "\ufeff"},
		{name: "BOM cut", wire: "\xef\xbb", truncated: 2},
		{name: "BOM, then CR", wire: "\ufeff\rdata:1\r\r", want: frames{{Data: "1", Size: 8}}},
		{name: "first bytes of a BOM are a field name", wire: "\xef\ndata:1\n\n", want: frames{{Data: "1", Size: 10}}},
		{name: "characters split over chunks", wire: "data:€豆腐😀\n\n", want: frames{{Data: "€豆腐😀", Size: 5 + 3 + 6 + 4 + 2}}},
		{name: "invalid bytes as sent", wire: "event:\xff\ndata:\xc0\xaf\xe2\x82\n\n", want: frames{{Event: "\xff", Data: "\xc0\xaf\xe2\x82", Size: 8 + 10 + 1}}},
		{name: "10,000 data lines", wire: strings.Repeat("data: x\n", 10_000) + "\n", want: frames{{Data: strings.Repeat("x\n", 9_999) + "x", Size: 80_001}}},
		{name: "100 frames at once", wire: strings.Repeat("data:x\n\n", 100), want: func() (f frames) {
			for range 100 {
				f = append(f, result{Data: "x", Size: 8})
			}
			return f
		}()},
		{name: "lines of 5 MiB", wire: "data:" + strings.Repeat("x", 5*mib/2) + "\ndata:" + strings.Repeat("y", 5*mib/2) + "\n\ndata:z\n\n", want: frames{{Data: strings.Repeat("x", 5*mib/2) + "\n" + strings.Repeat("y", 5*mib/2), Size: 5*mib + 13}, {Data: "z", Size: 8}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := drain(t, &splitReader{stream: tc.wire}, DefaultLimit, nil)
			want := outcome{Results: tc.want, LastEventID: tc.lastID, Retry: tc.retry, Truncated: tc.truncated}
			plain := got
			plain.Results = nil
			for _, r := range got.Results {
				plain.Results = append(plain.Results, result{ID: r.ID, Event: r.Event, Data: r.Data, Size: r.Size})
			}
			if diff := cmp.Diff(want, plain); diff != "" {
				t.Fatalf("the frames differ (-want +got):\n%s", diff)
			}
			for _, size := range []int{1, 4096} {
				split := drain(t, &splitReader{stream: tc.wire, sizes: []int{size}}, DefaultLimit, nil)
				if diff := cmp.Diff(got, split); diff != "" {
					t.Fatalf("chunks of %d: the frames differ (-whole +split):\n%s", size, diff)
				}
			}
			if len(tc.wire) < 4096 {
				checkSplits(t, tc.wire, DefaultLimit, nil, []int{1}, []int{2}, []int{3, 0, 1})
			}
		})
	}
}

// TestFrameIsReturnedWithItsLastByte checks that a frame does not wait for a byte after its blank line.
func TestFrameIsReturnedWithItsLastByte(t *testing.T) {
	for _, wire := range []string{"data:a\n\n", "data:a\r\r", "data:a\r\n\r", "data:a\n\r", "data:a\r\n\n"} {
		pr, pw := io.Pipe()
		go func() {
			_, _ = io.WriteString(pw, wire) // and no further byte
		}()
		f, err := NewReader(pr, 0).Next()
		if err != nil || string(f.Data) != "a" {
			t.Errorf("%q: Next() = %q, %v", wire, f.Data, err)
		}
		_ = pw.Close()
	}
}

// TestDataIsBorrowed checks that a frame borrows the bytes of the buffer and cannot overwrite it.
func TestDataIsBorrowed(t *testing.T) {
	r := NewReader(strings.NewReader("event:x\ndata:one\n\ndata:two\ndata:three\n\n"), 0)
	for range 2 {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(r.buf, f.Data); at < 0 || &r.buf[at] != &f.Data[0] {
			t.Errorf("the data %q is a copy, want borrowed bytes", f.Data)
		}
		before := bytes.Clone(r.buf)
		_, _, _ = append(f.Data, '!'), append(f.Event, '!'), append(f.ID, '!')
		if !bytes.Equal(before, r.buf) {
			t.Errorf("appending to %q overwrites the bytes after it", f.Data)
		}
	}
}

// TestUnended reads streams that end within a block.
func TestUnended(t *testing.T) {
	for sent, want := range map[string]string{
		"data: a": "a", "data: a\n": "a", "data: a\r": "a", "data: a\ndata: b": "a\nb", "id: 1\nevent: e\ndata: a": "1 e a", "data:": "", "data\n": "",
		"data: a\n: comm": "a", "data: a\n:": "a", "data: a\nretry: 1": "a", "data: a\nfoo: 1": "a",
		"data": "none", "data: a\ndata": "none", "data: a\ndat": "none", "data: a\nid: 1": "none", "data: a\nretry": "none", ": comm": "none",
		"data: a\n\n": "none", "event: e": "none", "data: a\nevent: inter": "none", "": "none",
	} {
		r := NewReader(strings.NewReader("id: 0\ndata: before\n\n"+sent), 0)
		for err := error(nil); err == nil; {
			_, err = r.Next()
		}
		got := "none"
		if f, ok := r.TakeUnended(); ok {
			got = strings.TrimSpace(string(f.Event) + " " + string(f.Data))
			if string(f.ID) != "0" {
				got = string(f.ID) + " " + got
			}
		}
		if got != want || r.LastEventID() != "0" {
			t.Errorf("%q ends with %q and the id %s, want %q", sent, got, r.LastEventID(), want)
		}
	}
}

// TestUnendedIsOwned checks that a new connection does not change an unended frame.
func TestUnendedIsOwned(t *testing.T) {
	r := NewReader(strings.NewReader("id: 1\ndata: a\n\ndata: b"), 0)
	next(t, r, "a", "1")
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	f, _ := r.TakeUnended()
	r.Resume(strings.NewReader("id: 2\ndata: c\n\nid: 3\ndata: d\n\n"))
	next(t, r, "c", "2")
	next(t, r, "d", "3")
	if string(f.ID) != "1" || string(f.Data) != "b" {
		t.Errorf("the unended frame now has the id %q and the data %q", f.ID, f.Data)
	}
}

// TestUnendedMemory checks that the memory of an unended frame counts until the caller takes the frame.
func TestUnendedMemory(t *testing.T) {
	const size = 1 << 20
	r := NewReader(strings.NewReader("id:0\n\nid:1\ndata:"+strings.Repeat("x", size)), 0)
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	if n := r.MemorySize(); n < size {
		t.Errorf("the reader says that it holds %d bytes, with %d of data", n, size)
	}
	if f, ok := r.TakeUnended(); !ok || len(f.Data) != size || r.MemorySize() > 1<<10 {
		t.Errorf("the frame has %d bytes, and the reader still holds %d", len(f.Data), r.MemorySize())
	}
	if _, again := r.TakeUnended(); again {
		t.Error("the frame can be taken twice")
	}
}

// TestSourceErrors checks that an error of the source is returned after all complete frames, and is final.
func TestSourceErrors(t *testing.T) {
	broken := errors.New("connection reset")
	t.Run("after complete frames, and final", func(t *testing.T) {
		src := &splitReader{stream: "id:1\ndata:a\n\nid:2\ndata:b\n", err: broken, early: true}
		got := drain(t, src, DefaultLimit, nil)
		if len(got.Results) != 1 || got.LastEventID != "1" || got.Truncated != 12 {
			t.Errorf("the results are %+v", got)
		}
	})
	t.Run("in a block over the limit", func(t *testing.T) {
		src := &splitReader{stream: "data:aaaaaaaaaaaa", err: broken}
		got := drain(t, src, 8, nil)
		if len(got.Results) != 1 || !got.Results[0].TooLarge || got.Truncated != 0 {
			t.Errorf("the results are %+v", got)
		}
	})
	t.Run("no progress", func(t *testing.T) {
		_, err := NewReader(iotest.ErrReader(nil), 0).Next()
		if err != io.ErrNoProgress {
			t.Errorf("Next() = %v", err)
		}
	})
	t.Run("no progress in a block over the limit", func(t *testing.T) {
		// Otherwise the rest of the block would be read as a frame.
		empty := &emptyReads{count: maxEmptyReads}
		r := NewReader(io.MultiReader(strings.NewReader("data:aaaaaaaaaaaa\n"), empty, strings.NewReader("data:b\n\n")), 8)
		var tooLarge *TooLargeError
		if _, err := r.Next(); !errors.As(err, &tooLarge) {
			t.Fatalf("Next() = %v", err)
		}
		if f, err := r.Next(); err != io.ErrNoProgress {
			t.Errorf("the second Next() = %q, %v", f.Data, err)
		}
	})
}

// emptyReads returns no bytes and no error count times, then an error.
type emptyReads struct{ count int }

func (e *emptyReads) Read([]byte) (int, error) {
	if e.count == 0 {
		return 0, io.EOF
	}
	e.count--
	return 0, nil
}

// TestResume checks which state the reader keeps on a new connection.
func TestResume(t *testing.T) {
	r := NewReader(strings.NewReader("id:1\nretry:2000\ndata:a\n\nid:2\ndata:cut\r"), 0)
	next(t, r, "a", "1")
	if _, err := r.Next(); err != io.EOF || r.TruncatedBytes() != 14 {
		t.Fatalf("Next() = %v with %d truncated bytes", err, r.TruncatedBytes())
	}
	r.Resume(strings.NewReader("\ufeffdata:b\n\nid:3\ndata:c\n\n"))
	if retry, ok := r.Retry(); r.LastEventID() != "1" || retry != 2*time.Second || !ok || r.TruncatedBytes() != 0 {
		t.Fatalf("after Resume, the id is %q, the retry time %v, and %d bytes are truncated", r.LastEventID(), retry, r.TruncatedBytes())
	}
	next(t, r, "b", "1")
	next(t, r, "c", "3")
}

func next(t *testing.T, r *Reader, data, id string) {
	t.Helper()
	f, err := r.Next()
	if err != nil || string(f.Data) != data || string(f.ID) != id {
		t.Fatalf("Next() has the data %q and the id %q, %v; want %q and %q", f.Data, f.ID, err, data, id)
	}
}

// TestType checks that an empty event name means "message".
func TestType(t *testing.T) {
	for event, want := range map[string]string{"": "message", "message": "message", "end": "end", "Message": "Message"} {
		if got := (Frame{Event: []byte(event)}).Type(); got != want {
			t.Errorf("Frame{Event: %q}.Type() = %q, want %q", event, got, want)
		}
	}
}

// decoded returns text as a browser decodes it.
func decoded(t *testing.T, text string) string {
	t.Helper()
	out, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBeforeGrowAfterResume checks that a reader reports the growth of its buffer on a new connection too.
func TestBeforeGrowAfterResume(t *testing.T) {
	large := "data: " + strings.Repeat("x", 100<<10) + "\n\n"
	r := NewReader(strings.NewReader(large), 1<<20)
	calls := 0
	r.BeforeGrow(func(int) { calls++ })
	for range 2 {
		calls = 0
		for _, err := r.Next(); err != io.EOF; _, err = r.Next() {
			if err != nil {
				t.Fatal(err)
			}
		}
		if calls == 0 {
			t.Error("the growth was not reported")
		}
		r.Resume(strings.NewReader(large))
	}
}
