package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// TestFrames checks that Frames includes the ends of streams, which Read skips.
func TestFrames(t *testing.T) {
	ring, err := New(Settings{Frames: 100, Bytes: 1 << 20, Age: time.Hour, Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	one, two := &Stream{Dialect: "a"}, &Stream{Dialect: "a"}
	start := ring.Head()
	ring.Publish(Entry{Stream: two, StreamEnded: true, End: event.EndShutdown}) // before there are any bytes
	ring.Publish(Entry{Stream: one, Session: "s", Name: "chunk", Data: []byte("first\n second")})
	ring.Publish(Entry{Stream: two, Session: "t", Data: []byte("other")})
	ring.Publish(Entry{Stream: one, Session: "s", Data: []byte("")})
	ring.Publish(Entry{Stream: one, Session: "s", StreamEnded: true, End: event.EndClientLeft})
	ring.Publish(Entry{Stream: one, Session: "s", StreamEnded: true})

	for name, c := range map[string]struct {
		query    Query
		frames   string
		native   int
		nextTail uint64
	}{
		"everything":  {Query{}, `1 over 2 | 2 "chunk" "first\n second" | 3 "" "other" | 4 "" "" | 5 over 1 | 6 over 0`, 3, 6},
		"one session": {Query{Sessions: []string{"s"}}, `2 "chunk" "first\n second" | 4 "" "" | 5 over 1 | 6 over 0`, 2, 6},
	} {
		selection := NewSelection(c.query)
		var got []string
		for cursor, room := start, 2; ; room = 2 {
			frames, batch := ring.Frames(cursor, selection, make([]Frame, 0, room))
			for _, f := range frames {
				got = append(got, describe(f))
			}
			if cursor = batch.Next; batch.Frames != len(frames) || batch.Lost {
				t.Fatalf("%s: %+v of %d frames", name, batch, len(frames))
			}
			if batch.Wait != nil {
				if cursor.Sequence() != c.nextTail {
					t.Errorf("%s: the cursor is at %d", name, cursor.Sequence())
				}
				break
			}
		}
		if strings.Join(got, " | ") != c.frames {
			t.Errorf("%s: %s", name, strings.Join(got, " | "))
		}
		n := 0
		for cursor := start; ; {
			batch := ring.Read(cursor, selection, make([]byte, 0, 1000))
			n += batch.Frames
			if strings.Count(string(batch.Bytes), "\n\n") != batch.Frames {
				t.Errorf("%s: %d frames in %q", name, batch.Frames, batch.Bytes)
			}
			if cursor = batch.Next; batch.Wait != nil {
				break
			}
		}
		if n != c.native {
			t.Errorf("%s: %d native frames", name, n)
		}
	}
	for _, c := range []struct {
		before uint64
		most   int
		query  Query
		want   []uint64
	}{
		{5, 10, Query{}, []uint64{2, 4}}, {4, 10, Query{}, []uint64{2}}, {2, 10, Query{}, nil}, {99, 1, Query{}, []uint64{4}},
		{5, 0, Query{}, nil}, {5, 10, Query{Sessions: []string{"t"}}, nil},
	} {
		var got []uint64
		n, _ := ring.EarlierFrames(one, c.before, NewSelection(c.query), c.most, func(f Frame) { got = append(got, f.Sequence) })
		if !slices.Equal(got, c.want) || n != len(c.want) {
			t.Errorf("%+v: got the frames %d in %d calls", c, got, n)
		}
	}
}

func describe(f Frame) string {
	if f.StreamEnded {
		return fmt.Sprintf("%d over %d", f.Sequence, f.End)
	}
	data, _ := f.Data(nil)
	return fmt.Sprintf("%d %q %q", f.Sequence, f.Name(), data)
}

// TestEndsAreNoFrames checks that the ends of streams are counted separately until they are evicted.
func TestEndsAreNoFrames(t *testing.T) {
	ring, err := New(Settings{Frames: 3, Bytes: 1 << 10, Age: time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	stream := &Stream{}
	for _, e := range []Entry{{StreamEnded: true, Stream: stream}, {Data: []byte("1")}, {StreamEnded: true, Stream: stream}, {Data: []byte("2")}} {
		if why := ring.Publish(e); why != NotDropped {
			t.Fatal(why)
		}
	}
	if got := ring.Stats(); got.Frames != 2 || got.StreamEnds != 1 {
		t.Errorf("the statistics are %+v", got)
	}
}
