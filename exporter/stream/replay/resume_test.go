package replay

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestResume checks all kinds of ids on a ring that holds sequences 8 to 10.
func TestResume(t *testing.T) {
	for _, test := range []struct {
		id   string
		want GapReason
		at   uint64
	}{
		{"e-7", "", 7},
		{"e-8", "", 8},
		{"e-10", "", 10},
		{"e-6", GapEvicted, 7},
		{"e-0", GapEvicted, 7},
		{"e-11", GapFuture, 7},
		{"e-18446744073709551615", GapFuture, 7},
		{"e-18446744073709551616", GapUnknown, 7},
		{"E-8", GapRestarted, 7},
		{"f-8", GapRestarted, 7},
		{"f-0", GapRestarted, 7},
		{"e-e-8", GapRestarted, 7},
		{"e-08", GapUnknown, 7},
		{"e-+8", GapUnknown, 7},
		{"e-8 ", GapUnknown, 7},
		{"e-", GapUnknown, 7},
		{"-8", GapUnknown, 7},
		{"e8", GapUnknown, 7},
		{"8", GapUnknown, 7},
		{"", GapUnknown, 7},
		{"-", GapUnknown, 7},
		{"e-8\n", GapUnknown, 7},
		{"e-٣", GapUnknown, 7},
		{"e\x00-8", GapUnknown, 7},
		{strings.Repeat("e", maxEpoch) + "-8", GapRestarted, 7},
		{strings.Repeat("e", maxEpoch+1) + "-8", GapUnknown, 7},
		{strings.Repeat("9", 1<<20), GapUnknown, 7},
	} {
		r, _ := newRing(t, Settings{Frames: 3, Bytes: 1000, Age: time.Hour})
		publish(t, r, numbered(1, 10)...)
		cursor, gap := r.Resume(test.id)
		var reason GapReason
		if gap != nil {
			reason = gap.Reason
			if gap.Oldest != "e-8" || gap.Head != "e-10" {
				t.Errorf("%.40q: gap %+v", test.id, gap)
			}
		}
		if reason != test.want || cursor.sequence != test.at {
			t.Errorf("%.40q: %q at %d, want %q at %d", test.id, reason, cursor.sequence, test.want, test.at)
		}
	}
}

// FuzzResume resumes from arbitrary ids. Only ids of this ring resume without a gap, and a gap never repeats unsafe characters.
func FuzzResume(f *testing.F) {
	for _, id := range []string{"e-7", "e-6", "e-11", "x-1", "e-", "", "e-018", "é-1", "e-1\r\ndata: x"} {
		f.Add(id)
	}
	r, _ := newRing(f, Settings{Frames: 3, Bytes: 1000, Age: time.Hour})
	publish(f, r, numbered(1, 10)...)
	f.Fuzz(func(t *testing.T, id string) {
		cursor, gap := r.Resume(id)
		if gap == nil {
			if r.ID(cursor) != id {
				t.Errorf("%q is taken for %q", id, r.ID(cursor))
			}
			return
		}
		if !slices.Contains(GapReasons(), gap.Reason) || cursor.sequence != 7 {
			t.Errorf("%q: %+v at %d", id, gap, cursor.sequence)
		}
		if gap.Requested != "" && gap.Requested != id || len(gap.Requested) > maxID || strings.ContainsAny(gap.Requested, "\r\n\"\\<> ") {
			t.Errorf("%q: requested %q", id, gap.Requested)
		}
	})
}

// TestResumeAtGap checks that a reader can resume with the position that it got with a gap, if the oldest entry is a gap.
func TestResumeAtGap(t *testing.T) {
	for name, entries := range map[string][]Entry{
		"after a frame":            {{Number: 5, Data: []byte("a")}, {Number: 5, Gap: &Gap{Reason: GapLost}}},
		"before the first frame":   {{Gap: &Gap{Reason: GapLost}}},
		"numbers that leave holes": {{Number: 5, Data: []byte("a")}, {Number: 9, Data: []byte("b")}},
	} {
		r, _ := newRing(t, Settings{Frames: 1, Bytes: 1000, Age: time.Hour})
		publish(t, r, entries...)
		at, gap := r.Resume("bad id")
		if gap == nil {
			t.Fatalf("%s: no gap", name)
		}
		if again, gap := r.Resume(r.ID(at)); gap != nil || again.Sequence() != at.Sequence() {
			t.Errorf("%s: resumed at %s: %+v, at %d and not %d", name, r.ID(at), gap, again.Sequence(), at.Sequence())
		}
	}
}
