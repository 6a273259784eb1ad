package waterfall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

func op(id, parent, name, from, to string) tracker.OperationReport {
	o := tracker.OperationReport{ID: id, Kind: tracker.ExecuteTool, Name: &name, Timing: tracker.Reported}
	if parent != "" {
		o.Parent = &parent
	}
	if from != "" {
		o.Started = at(from)
	}
	if to != "" {
		o.Ended = at(to)
	}
	return o
}

// at is so many seconds after noon.
func at(seconds string) *string {
	d, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return &seconds // no time at all
	}
	s := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).Add(d).Format(time.RFC3339Nano)
	return &s
}

func drawn(ops ...tracker.OperationReport) string {
	c := waterfall.Of(tracker.Report{Operations: ops})
	out := fmt.Sprintf("%s timed=%v", c.Took, c.Timed)
	for _, r := range c.Rows {
		out += fmt.Sprintf("\n%s%s %.2f-%.2f %s timed=%v last=%v", strings.Repeat("  ", len(r.Last)), *r.Name, r.From, r.To, r.Took, r.Timed, r.Last)
	}
	return out
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		ops  []tracker.OperationReport
		want string
	}{
		"nested": {[]tracker.OperationReport{op("1", "", "run", "0", "10"), op("2", "1", "a", "0", "5"), op("3", "2", "b", "2", "3"), op("4", "1", "c", "5", "10")}, `10s timed=true
run 0.00-1.00 10s timed=true last=[]
  a 0.00-0.50 5s timed=true last=[false]
    b 0.20-0.30 1s timed=true last=[false true]
  c 0.50-1.00 5s timed=true last=[true]`},
		"half known": {[]tracker.OperationReport{op("1", "", "run", "0", "10"), op("2", "1", "a", "", "5"), op("3", "1", "b", "5", ""), op("4", "1", "c", "", "")}, `10s timed=true
run 0.00-1.00 10s timed=true last=[]
  a 0.50-0.50 0s timed=false last=[false]
  b 0.50-0.50 0s timed=false last=[false]
  c 0.00-0.00 0s timed=false last=[true]`},
		"without times": {[]tracker.OperationReport{op("1", "", "run", "", ""), op("2", "1", "a", "", ""), op("3", "1", "b", "", ""), op("4", "1", "c", "", "")}, `0s timed=false
run 0.00-1.00 0s timed=false last=[]
  a 0.25-0.50 0s timed=false last=[false]
  b 0.50-0.75 0s timed=false last=[false]
  c 0.75-1.00 0s timed=false last=[true]`},
		"no time at all":     {[]tracker.OperationReport{op("1", "", "run", "noon", "later")}, "0s timed=false\nrun 0.00-1.00 0s timed=false last=[]"},
		"a moment":           {[]tracker.OperationReport{op("1", "", "run", "3", "3")}, "0s timed=true\nrun 0.00-0.00 0s timed=true last=[]"},
		"nothing":            {nil, "0s timed=false"},
		"part of itself":     {[]tracker.OperationReport{op("1", "", "run", "0", "1"), op("2", "2", "a", "0", "1")}, "1s timed=true\nrun 0.00-1.00 1s timed=true last=[]"},
		"outside of its run": {[]tracker.OperationReport{op("1", "", "run", "0", "1"), op("2", "1", "a", "-5", "9")}, "1s timed=true\nrun 0.00-1.00 1s timed=true last=[]\n  a 0.00-1.00 14s timed=true last=[true]"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(drawn(c.ops...), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUnknownTimingHasNoDuration has both times and yet no known beginning.
func TestUnknownTimingHasNoDuration(t *testing.T) {
	guessed := op("2", "1", "a", "0", "5")
	guessed.Timing = tracker.Unknown
	if rows := waterfall.Of(tracker.Report{Operations: []tracker.OperationReport{op("1", "", "run", "0", "10"), guessed}}).Rows; rows[1].Timed {
		t.Errorf("it took %s", rows[1].Took)
	}
}

// TestAt places a moment on the time axis of a run of ten seconds, if there is one.
func TestAt(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	timed := waterfall.Of(tracker.Report{Operations: []tracker.OperationReport{op("1", "", "run", "0", "10")}})
	for seconds, want := range map[int]float64{-5: 0, 0: 0, 4: 0.4, 10: 1, 99: 1} {
		if share, known := timed.At(noon.Add(time.Duration(seconds) * time.Second)); share != want || !known {
			t.Errorf("%d s is at %g, %v", seconds, share, known)
		}
	}
	if _, known := timed.At(time.Time{}); known {
		t.Error("a moment that nobody knows has a place")
	}
	if _, known := waterfall.Of(tracker.Report{Operations: []tracker.OperationReport{op("1", "", "run", "", "")}}).At(noon); known {
		t.Error("there is a place without an axis")
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 1500: "1.50 µs", 12345 * time.Microsecond: "12.3 ms", 999 * time.Millisecond: "999 ms",
		28700 * time.Millisecond: "28.7 s", 119 * time.Second: "119 s", 3*time.Minute + 400*time.Millisecond: "3m0s",
	} {
		if got := waterfall.Span(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}
