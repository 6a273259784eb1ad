package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEarlier checks that readers never get entries from before their position, and that only EarlierFrames returns them.
func TestEarlier(t *testing.T) {
	stream := &Stream{Dialect: "a"}
	earlier := func(number uint64) Entry {
		return Entry{Number: number, Session: "s", Data: fmt.Append(nil, number), Stream: stream, Earlier: true}
	}
	later := func(number uint64) Entry {
		e := earlier(number)
		e.Earlier = false
		return e
	}
	for name, test := range map[string]struct {
		frames  int // that the ring holds
		forget  bool
		entries []Entry
		earlier []uint64
	}{
		"all held":        {frames: 100, entries: []Entry{earlier(3), earlier(7), later(11), later(14)}, earlier: []uint64{3, 7}},
		"the oldest gone": {frames: 3, entries: []Entry{earlier(3), earlier(7), later(11), later(14)}, earlier: []uint64{7}},
		"all gone":        {frames: 2, entries: []Entry{earlier(3), earlier(7), later(11), later(14)}},
		"forgotten":       {frames: 100, forget: true, entries: []Entry{earlier(3), earlier(7), later(11), later(14)}},
		"none":            {frames: 100, entries: []Entry{later(11), later(14)}},
		"too late":        {frames: 100, entries: []Entry{later(11), earlier(7), later(14)}},
		"not earlier":     {frames: 100, entries: []Entry{earlier(11), later(11), later(14)}},
	} {
		for _, q := range []Query{{}, {Sessions: []string{"s"}}} {
			ring, _ := newRing(t, Settings{Frames: test.frames, Bytes: 1 << 20, Age: time.Hour, After: 10})
			start, selection := ring.Head(), NewSelection(q)
			for _, e := range test.entries {
				if e.Number == 11 {
					if test.forget {
						ring.EvictEarlier()
					}
					if batch := ring.Read(start, selection, make([]byte, 0, 1000)); batch.Frames > 0 || batch.Lost || ring.ID(batch.Next) != "e-10" {
						t.Errorf("%s: before the first frame a reader gets %+v", name, batch)
					}
					if at, gap := ring.Resume("e-10"); gap != nil || ring.ID(at) != "e-10" {
						t.Errorf("%s: before the first frame a reader resumes at %s with %+v", name, ring.ID(at), gap)
					}
					if _, gap := ring.Resume("e-5"); gap == nil || gap.Oldest != "" || gap.Head != "e-10" {
						t.Errorf("%s: before the first frame a reader that missed frames gets %+v", name, gap)
					}
				}
				publish(t, ring, e)
			}
			resumed, missed := ring.Resume("e-10")
			if missed != nil {
				t.Errorf("%s: a reader gets the gap %+v", name, missed)
			}
			for _, cursor := range []Cursor{start, resumed} {
				if got := read(t, ring, cursor, selection); got != "e-11 e-14" {
					t.Errorf("%s: a reader gets %s", name, got)
				}
			}
			at, gap := ring.Resume("e-5")
			if got := read(t, ring, at, selection); gap == nil || gap.Oldest != "e-11" || got != "e-11 e-14" {
				t.Errorf("%s: a reader that missed frames gets %+v, %s", name, gap, got)
			}
			frames, _ := ring.Frames(start, selection, make([]Frame, 0, 10))
			if len(frames) != 2 {
				t.Fatalf("%s: a reader of another format gets %d frames", name, len(frames))
			}
			var before []uint64
			ring.EarlierFrames(stream, frames[0].Sequence, selection, 10, func(f Frame) { before = append(before, f.Number) })
			if !slices.Equal(before, test.earlier) {
				t.Errorf("%s: the earlier frames are %d, want %d", name, before, test.earlier)
			}
		}
	}
}

// read returns the ids of the frames after a cursor.
func read(t *testing.T, ring *Ring, c Cursor, s *Selection) string {
	t.Helper()
	var ids []string
	for {
		batch := ring.Read(c, s, make([]byte, 0, 1000))
		if batch.Lost {
			t.Fatal("frames are lost")
		}
		for line := range strings.Lines(string(batch.Bytes)) {
			if id, is := strings.CutPrefix(line, "id: "); is {
				ids = append(ids, strings.TrimSpace(id))
			}
		}
		if c = batch.Next; batch.Wait != nil {
			return strings.Join(ids, " ")
		}
	}
}
