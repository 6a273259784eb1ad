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

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// op returns an operation between two times, in seconds after noon; "" is unknown.
func op(id, parent byte, name, from, to string) *tracker.Operation {
	o := &tracker.Operation{ID: tracker.SpanID{id}, Kind: tracker.ExecuteTool, Name: name, Timing: tracker.TimingReported}
	if o.Started.At, o.Ended.At = at(from), at(to); o.Started.At.IsZero() || o.Ended.At.IsZero() {
		o.Timing = tracker.TimingUnknown
	}
	if parent != 0 {
		o.Parent = tracker.SpanID{parent}
	}
	return o
}

// untimedOp returns an operation without times, between two frames.
func untimedOp(id, parent byte, name string, from, to int) *tracker.Operation {
	o := op(id, parent, name, "", "")
	o.Started.Frame, o.Ended.Frame = from, to
	return o
}

// place sets the place of an operation with unknown times, as the tracker does.
func place(o *tracker.Operation, from, to string) *tracker.Operation {
	o.Timing, o.Details = tracker.TimingUnknown, &tracker.Details{EstimatedStart: at(from), EstimatedEnd: at(to)}
	return o
}

func at(seconds string) time.Time {
	d, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return time.Time{}
	}
	return noon.Add(d)
}

func runOf(ops ...*tracker.Operation) *tracker.Run {
	r := &tracker.Run{Status: tracker.Completed, Operations: ops}
	if len(ops) > 0 {
		r.Root = ops[0]
	}
	return r
}

func draw(r *tracker.Run) string {
	c := waterfall.New(r, noon.Add(20*time.Second))
	out := fmt.Sprintf("%s timed=%v known=%v", c.Duration, c.Timed, c.Known())
	for _, r := range c.Rows {
		out += fmt.Sprintf("\n%s%s %.2f-%.2f ", strings.Repeat("  ", r.Depth), r.Op.Name, r.From, r.To)
		if r.Timed {
			out += r.Duration.String()
		} else {
			out += "?"
		}
		out += fmt.Sprint(" ", r.Last)
	}
	return out
}

func TestOf(t *testing.T) {
	running := runOf(op(1, 0, "run", "0", ""), op(2, 1, "a", "0", "5"), op(3, 1, "b", "5", ""))
	running.Status = tracker.Running
	for name, c := range map[string]struct {
		run  *tracker.Run
		want string
	}{
		"nested": {runOf(op(1, 0, "run", "0", "10"), op(2, 1, "a", "0", "5"), op(3, 2, "b", "2", "3"), op(4, 1, "c", "5", "10")), `10s timed=true known=true
run 0.00-1.00 10s []
  a 0.00-0.50 5s [false]
    b 0.20-0.30 1s [false true]
  c 0.50-1.00 5s [true]`},
		"half known": {runOf(op(1, 0, "run", "0", "10"), op(2, 1, "a", "", "5"), op(3, 1, "b", "5", ""), op(4, 1, "c", "", "")), `10s timed=true known=true
run 0.00-1.00 10s []
  a 0.50-0.50 ? [false]
  b 0.50-0.50 ? [false]
  c 0.00-0.00 ? [true]`},
		"put beside what is known": {runOf(op(1, 0, "run", "0", "10"), place(op(2, 1, "a", "", "6"), "4", "6"), place(op(3, 2, "b", "", ""), "4", "4")), `10s timed=true known=true
run 0.00-1.00 10s []
  a 0.40-0.60 ? [true]
    b 0.40-0.40 ? [true true]`},
		"a run whose beginning nobody knows": {runOf(place(op(1, 0, "run", "", "10"), "5", "10"), op(2, 1, "a", "5", "7"), op(3, 1, "b", "", "")), `5s timed=true known=false
run 0.00-1.00 ? []
  a 0.00-0.40 2s [false]
  b 0.00-0.00 ? [true]`},
		"without times": {runOf(untimedOp(1, 0, "run", 1, 11), untimedOp(2, 1, "a", 1, 3), untimedOp(3, 1, "b", 3, 11), untimedOp(4, 3, "c", 6, 6), untimedOp(5, 3, "never ended", 6, 0)), `0s timed=false known=false
run 0.00-1.00 ? []
  a 0.00-0.20 ? [false]
  b 0.20-1.00 ? [true]
    c 0.50-0.50 ? [true false]
    never ended 0.50-1.00 ? [true true]`},
		"one frame without a time":   {runOf(untimedOp(1, 0, "run", 1, 1), untimedOp(2, 1, "a", 1, 1)), "0s timed=false known=false\nrun 0.00-1.00 ? []\n  a 0.00-1.00 ? [true]"},
		"a moment":                   {runOf(op(1, 0, "run", "3", "3")), "0s timed=true known=true\nrun 0.00-0.00 0s []"},
		"nothing":                    {runOf(), "0s timed=false known=false"},
		"part of itself":             {runOf(op(1, 0, "run", "0", "1"), op(2, 2, "a", "0", "1")), "1s timed=true known=true\nrun 0.00-1.00 1s []"},
		"part of what was forgotten": {runOf(op(1, 0, "run", "0", "1"), op(2, 9, "a", "0", "1")), "1s timed=true known=true\nrun 0.00-1.00 1s []\n  a 0.00-1.00 1s [true]"},
		"outside of its run":         {runOf(op(1, 0, "run", "0", "1"), op(2, 1, "a", "-5", "9")), "1s timed=true known=true\nrun 0.00-1.00 1s []\n  a 0.00-1.00 14s [true]"},
		"on its way":                 {running, "20s timed=true known=true\nrun 0.00-1.00 20s []\n  a 0.00-0.25 5s [false]\n  b 0.25-1.00 15s [true]"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(draw(c.run), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDeep draws a run with as many levels as operations, whose rows only know the innermost levels above them.
func TestDeep(t *testing.T) {
	ops := []*tracker.Operation{op(0, 0, "run", "0", "1")}
	ops[0].ID = tracker.SpanID{7: 1}
	for i := range 9_999 {
		o := op(0, 0, "deeper", "0", "1")
		o.ID, o.Parent = tracker.SpanID{1, 1: byte(i), 2: byte(i >> 8)}, ops[i].ID
		ops = append(ops, o)
	}
	rows := waterfall.New(runOf(ops...), noon).Rows
	if last := rows[len(rows)-1]; len(rows) != 10_000 || last.Depth != 9_999 || len(last.Last) > 100 {
		t.Errorf("%d rows, the last at depth %d with %d levels", len(rows), last.Depth, len(last.Last))
	}
}

// TestUnknownTimingHasNoDuration checks an operation with both times but an unknown start.
func TestUnknownTimingHasNoDuration(t *testing.T) {
	guessed := op(2, 1, "a", "0", "5")
	guessed.Timing = tracker.TimingUnknown
	if rows := waterfall.New(runOf(op(1, 0, "run", "0", "10"), guessed), noon).Rows; rows[1].Timed {
		t.Errorf("it took %s", rows[1].Duration)
	}
}

// TestAt checks the place of a time on the axis of a run of ten seconds, and the absence of a place.
func TestAt(t *testing.T) {
	timed := waterfall.New(runOf(op(1, 0, "run", "0", "10")), noon)
	for seconds, want := range map[int]float64{-5: 0, 0: 0, 4: 0.4, 10: 1, 99: 1} {
		if share, known := timed.Position(noon.Add(time.Duration(seconds) * time.Second)); share != want || !known {
			t.Errorf("%d s is at %g, %v", seconds, share, known)
		}
	}
	if _, known := timed.Position(time.Time{}); known {
		t.Error("an unknown time has a place")
	}
	if _, known := waterfall.New(runOf(untimedOp(1, 0, "run", 1, 2)), noon).Position(noon); known {
		t.Error("a time has a place without an axis")
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 1500: "1.50 µs", 12345 * time.Microsecond: "12.3 ms", 999 * time.Millisecond: "999 ms",
		28700 * time.Millisecond: "28.7 s", 119 * time.Second: "119 s", 3*time.Minute + 400*time.Millisecond: "3m0s",
	} {
		if got := waterfall.FormatDuration(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}
