package replay

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that tests advance.
type clock struct{ time.Time }

func (c *clock) now() time.Time          { return c.Time }
func (c *clock) forward(d time.Duration) { c.Time = c.Add(d) }

func newRing(t testing.TB, s Settings) (*Ring, *clock) {
	t.Helper()
	c := &clock{time.Now()}
	if s.Now == nil {
		s.Now = c.now
	}
	if s.Epoch == "" {
		s.Epoch = "e"
	}
	r, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

var roomy = Settings{Frames: 1000, Bytes: 1 << 20, Age: time.Hour}

func publish(t testing.TB, r *Ring, entries ...Entry) {
	t.Helper()
	for _, e := range entries {
		if drop := r.Publish(e); drop != NotDropped {
			t.Fatalf("dropped: %s", drop)
		}
	}
}

func numbered(from, to int) []Entry {
	var entries []Entry
	for i := from; i <= to; i++ {
		entries = append(entries, Entry{Data: fmt.Append(nil, i)})
	}
	return entries
}

func TestSettings(t *testing.T) {
	for name, s := range map[string]Settings{
		"no frames":  {Bytes: 1, Age: 1},
		"no bytes":   {Frames: 1, Age: 1},
		"no age":     {Frames: 1, Bytes: 1},
		"long epoch": {Frames: 1, Bytes: 1, Age: 1, Epoch: strings.Repeat("e", maxEpoch+1)},
		"odd epoch":  {Frames: 1, Bytes: 1, Age: 1, Epoch: "e e"},
	} {
		if _, err := New(s); err == nil {
			t.Errorf("%s: New returns no error", name)
		}
	}
}

// TestIDs checks that every browser can send the ids back, and that epochs differ.
func TestIDs(t *testing.T) {
	epochs := map[string]bool{}
	for range 100 {
		r, err := New(roomy)
		if err != nil {
			t.Fatal(err)
		}
		publish(t, r, numbered(1, 1)...)
		id := r.ID(r.Head())
		if len(id) > maxID || !isPlainID(id) || !strings.HasSuffix(id, "-1") {
			t.Fatalf("id %q", id)
		}
		epochs[id] = true
	}
	if len(epochs) != 100 {
		t.Errorf("%d epochs of 100 rings", len(epochs))
	}
	r, _ := newRing(t, Settings{Frames: 1, Bytes: 1000, Age: 1, Epoch: strings.Repeat("e", maxEpoch)})
	if id := r.ID(Cursor{number: 1<<64 - 1}); len(id) != maxID {
		t.Errorf("the longest id has %d bytes", len(id))
	}
}

func TestDrops(t *testing.T) {
	r, _ := newRing(t, Settings{Frames: 10, Bytes: 100, Age: time.Hour})
	frame := len("id: e-1\ndata: \n\n")
	for _, test := range []struct {
		name  string
		entry Entry
		want  Drop
	}{
		{"fills it", Entry{Data: make([]byte, 100-frame)}, NotDropped},
		{"a byte more", Entry{Data: make([]byte, 101-frame)}, TooLarge},
		{"far more", Entry{Data: make([]byte, 1000)}, TooLarge},
		{"lines that framing makes longer", Entry{Data: bytes.Repeat([]byte("\n"), 50)}, TooLarge},
		{"names fill it", Entry{Source: strings.Repeat("s", 20), Run: strings.Repeat("r", 30), Session: strings.Repeat("c", 50-frame)}, NotDropped},
		{"names too long", Entry{Source: strings.Repeat("s", 20), Run: strings.Repeat("r", 30), Session: strings.Repeat("c", 51-frame)}, TooLarge},
		{"a name of two lines", Entry{Name: "a\nb"}, BadName},
		{"a name with CR", Entry{Name: "a\rdata: b"}, BadName},
	} {
		before := r.Head()
		if got := r.Publish(test.entry); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		want := before.sequence
		if test.want == NotDropped {
			want++
		}
		if got := r.Head().sequence; got != want {
			t.Errorf("%s: a dropped frame must leave no hole: the head is %d, want %d", test.name, got, want)
		}
	}
}

// TestNothingOfAnEntryIsKept checks that the ring copies entries, by overwriting a published one.
func TestNothingOfAnEntryIsKept(t *testing.T) {
	r, _ := newRing(t, roomy)
	start, data := r.Head(), []byte("first")
	publish(t, r, Entry{Data: data})
	copy(data, "XXXXX")
	if b := r.Read(start, nil, nil); !bytes.Contains(b.Bytes, []byte("data: first\n")) {
		t.Errorf("read %q", b.Bytes)
	}
}

// TestRetention checks each limit at its edge: a reader can resume after the frame before the oldest one, but not
// earlier.
func TestRetention(t *testing.T) {
	size := len("id: e-1\ndata: 1\n\n")
	for name, test := range map[string]struct {
		settings Settings
		publish  int
		wait     time.Duration
		oldest   uint64
	}{
		"count: full":          {Settings{Frames: 5, Bytes: 1 << 20, Age: time.Hour}, 5, 0, 1},
		"count: one over":      {Settings{Frames: 5, Bytes: 1 << 20, Age: time.Hour}, 6, 0, 2},
		"one frame":            {Settings{Frames: 1, Bytes: 1 << 20, Age: time.Hour}, 9, 0, 9},
		"bytes: full":          {Settings{Frames: 100, Bytes: 5 * size, Age: time.Hour}, 5, 0, 1},
		"bytes: one over":      {Settings{Frames: 100, Bytes: 5 * size, Age: time.Hour}, 6, 0, 2},
		"bytes: one byte over": {Settings{Frames: 100, Bytes: 5*size - 1, Age: time.Hour}, 5, 0, 2},
		"age: young":           {Settings{Frames: 100, Bytes: 1 << 20, Age: time.Minute}, 5, time.Minute - 1, 1},
		"age: too old":         {Settings{Frames: 100, Bytes: 1 << 20, Age: time.Minute}, 5, time.Minute, 6},
		"nothing yet":          {Settings{Frames: 100, Bytes: 1 << 20, Age: time.Minute}, 0, time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, c := newRing(t, test.settings)
			publish(t, r, numbered(1, test.publish)...)
			c.forward(test.wait)
			exact := Cursor{sequence: test.oldest - 1, number: test.oldest - 1}
			if cursor, gap := r.Resume(r.ID(exact)); gap != nil || cursor.sequence != exact.sequence {
				t.Errorf("resume after %d: at %d, gap %+v", exact.sequence, cursor.sequence, gap)
			}
			if test.oldest > 1 {
				cursor, gap := r.Resume(r.ID(Cursor{number: test.oldest - 2}))
				if gap == nil || gap.Reason != GapEvicted || cursor.sequence != test.oldest-1 {
					t.Errorf("resume after %d: at %d, gap %+v", test.oldest-2, cursor.sequence, gap)
				}
			}
			if got, want := r.Stats().Frames, test.publish+1-int(test.oldest); got != want {
				t.Errorf("the ring holds %d frames, want %d", got, want)
			}
		})
	}
}

// TestAgeIsReadAtRead checks that a frame that is too old is not read, even if no later frame was published.
func TestAgeIsReadAtRead(t *testing.T) {
	r, c := newRing(t, Settings{Frames: 10, Bytes: 1000, Age: time.Minute})
	start := r.Head()
	publish(t, r, Entry{Session: "s"})
	c.forward(30 * time.Second)
	publish(t, r, Entry{Session: "other"})
	c.forward(30 * time.Second)
	if b := r.Read(start, nil, nil); !b.Lost {
		t.Errorf("everything: read %q", b.Bytes)
	}
	if b := r.Read(start, NewSelection(Query{Sessions: []string{"s"}}), make([]byte, 0, 100)); !b.Lost {
		t.Errorf("the session: read %q", b.Bytes)
	}
	if b := r.Read(start, NewSelection(Query{Sessions: []string{"other"}}), make([]byte, 0, 100)); b.Frames != 1 {
		t.Errorf("the other session lost nothing: %+v", b)
	}
}

// TestClockGoesBack checks that a clock set back neither keeps frames forever nor evicts them all.
func TestClockGoesBack(t *testing.T) {
	r, c := newRing(t, Settings{Frames: 10, Bytes: 1000, Age: time.Minute})
	publish(t, r, numbered(1, 1)...)
	c.forward(-time.Hour)
	publish(t, r, numbered(2, 2)...)
	if n := r.Stats().Frames; n != 2 {
		t.Fatalf("the ring holds %d frames", n)
	}
	c.forward(time.Hour)
	if b := r.Read(Cursor{sequence: 1}, nil, nil); b.Frames != 1 {
		t.Fatalf("the frame that was published after the clock was set back is lost: %+v", b)
	}
	c.forward(-time.Hour)
	c.forward(time.Hour + time.Minute)
	if n := r.Stats().Frames; n != 0 {
		t.Errorf("the ring holds %d frames", n)
	}
}

// TestResumeIsReadable evicts frames between Resume and Read.
func TestResumeIsReadable(t *testing.T) {
	for _, s := range []*Selection{nil, NewSelection(Query{Sources: []string{""}})} {
		r, c := newRing(t, Settings{Frames: 3, Bytes: 1000, Age: time.Minute})
		publish(t, r, numbered(1, 9)...)
		cursor, gap := r.Resume("e-1")
		if gap == nil || gap.Oldest != "e-7" {
			t.Fatalf("gap %+v", gap)
		}
		publish(t, r, numbered(10, 19)...)
		c.forward(time.Hour)
		b := r.Read(cursor, s, make([]byte, 0, 1000))
		if b.Frames != 3 || !bytes.HasPrefix(b.Bytes, []byte("id: e-7\n")) {
			t.Errorf("read %+v", b)
		}
		if b = r.Read(b.Next, s, nil); !b.Lost {
			t.Errorf("then read %q", b.Bytes)
		}
	}
}

// TestQuietSession reads a quiet session while frames of other sessions fill the ring many times.
func TestQuietSession(t *testing.T) {
	names := differentShards(2)
	r, _ := newRing(t, Settings{Frames: 20, Bytes: 5000, Age: time.Hour})
	quiet := NewSelection(Query{Sessions: names[:1]})
	scratch := make([]byte, 0, 1000)
	b := r.Read(r.Head(), quiet, scratch)
	for range 1000 {
		publish(t, r, Entry{Session: names[1]})
	}
	select {
	case <-b.Wait:
		t.Error("the reader is woken for another session")
	default:
	}
	publish(t, r, Entry{Session: names[0], Data: []byte("here")})
	<-b.Wait
	if b = r.Read(b.Next, quiet, scratch); b.Frames != 1 || !bytes.Contains(b.Bytes, []byte("here")) {
		t.Errorf("read %+v", b)
	}
	late := b.Next
	publish(t, r, Entry{Session: names[0]})
	for range 20 {
		publish(t, r, Entry{Session: names[1]})
	}
	if b = r.Read(late, quiet, scratch); !b.Lost {
		t.Errorf("a frame of the session was evicted: read %+v, want Lost", b)
	}
}

// TestNothingTwice reads with a selection that matches no frame, and checks that each frame is examined once.
func TestNothingTwice(t *testing.T) {
	r, _ := newRing(t, roomy)
	none := NewSelection(Query{Kinds: KindsOf(event.KindError)})
	cursor := r.Head()
	for range 10 {
		publish(t, r, numbered(1, 10)...)
		b := r.Read(cursor, none, nil)
		if b.Frames != 0 || b.Wait == nil || b.Next.sequence != r.Head().sequence {
			t.Fatalf("read %+v at head %d", b, r.Head().sequence)
		}
		cursor = b.Next
	}
}

// TestNobodySleepsThroughAFrame publishes during a Read, after it has found no frame and before it registers for
// notification.
func TestNobodySleepsThroughAFrame(t *testing.T) {
	for name, s := range map[string]*Selection{"everything": nil, "a session": NewSelection(Query{Sessions: []string{""}})} {
		var between func()
		set := roomy
		set.Now = func() time.Time {
			if f := between; f != nil {
				between = nil
				f()
			}
			return time.Time{}
		}
		r, _ := newRing(t, set)
		start := r.Head()
		between = func() { publish(t, r, numbered(1, 1)...) }
		if b := r.Read(start, s, make([]byte, 0, 100)); b.Frames != 1 {
			t.Errorf("%s: read %+v", name, b)
		}
	}
}

// TestBatches checks the limit of a batch to the byte.
func TestBatches(t *testing.T) {
	r, _ := newRing(t, Settings{Frames: 10_000, Bytes: 64 << 20, Age: time.Hour, Epoch: "epoch"})
	for range 1000 {
		publish(t, r, Entry{Data: make([]byte, 1024-len("id: epoch-")-len(fmt.Sprint(r.Head().sequence+1))-len("\ndata: \n\n"))})
	}
	publish(t, r, Entry{Data: make([]byte, MaxBatch)})
	for from, want := range map[uint64]int{0: 64, 64: 64, 1000: 1} {
		if b := r.Read(Cursor{sequence: from}, nil, nil); b.Frames != want || want > 1 && len(b.Bytes) != MaxBatch {
			t.Errorf("after %d: %d frames, %d bytes", from, b.Frames, len(b.Bytes))
		}
	}
	all := NewSelection(Query{Sources: []string{""}})
	for room, want := range map[int]int{1023: 1, 1024: 1, 2047: 1, 2048: 2, 10 * 1024: 10} {
		if b := r.Read(Cursor{}, all, make([]byte, 0, room)); b.Frames != want || len(b.Bytes) != want*1024 {
			t.Errorf("with room for %d: %d frames, %d bytes", room, b.Frames, len(b.Bytes))
		}
	}
	if b := r.Read(Cursor{sequence: 1000}, all, make([]byte, 0, 100)); b.Frames != 1 || len(b.Bytes) < MaxBatch {
		t.Errorf("the large frame: %d frames, %d bytes", b.Frames, len(b.Bytes))
	}
}

func TestKindsFit(t *testing.T) {
	if n := len(event.Kinds()); n > 64 {
		t.Fatalf("%d kinds in a set of 64", n)
	}
}

// TestMemory fills rings many times and checks that their memory stays near the limit for all frame sizes.
func TestMemory(t *testing.T) {
	const bound = 2 << 20
	for name, size := range map[string]int{"small": 40, "usual": 600, "half a segment": maxSegment/2 + 1, "a segment": maxSegment, "large": bound / 3} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			r, _ := newRing(t, Settings{Frames: 1 << 20, Bytes: bound, Age: time.Hour})
			held := r.Head()
			e := Entry{Run: "run", Data: make([]byte, size)}
			for range 6 * bound / size {
				publish(t, r, e)
			}
			frames := r.Stats().Frames
			grown := int(heap()) - int(before)
			room := bound + bound/8 + 3*max(maxSegment, size+100) + frames*2*64
			if grown > room {
				t.Errorf("%d frames: the heap grew by %d bytes, at most %d are expected", frames, grown, room)
			}
			if !r.Read(held, nil, nil).Lost {
				t.Error("the ring evicted too few frames for this test")
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestReadAllocatesNothing(t *testing.T) {
	r, _ := newRing(t, roomy)
	cursor := r.Head()
	publish(t, r, numbered(1, 500)...)
	scratch := make([]byte, 0, 4096)
	some := NewSelection(Query{Sources: []string{""}})
	if n := testing.AllocsPerRun(100, func() { r.Read(cursor, nil, nil); r.Read(cursor, some, scratch) }); n != 0 {
		t.Errorf("Read makes %v allocations, want none", n)
	}
}
