package recent

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Sort is an order of the list of runs.
type Sort string

// The orders. All are descending, and ended runs with an unknown value come last. SortStarted mixes open and
// ended runs, and open runs with an unknown start come first. In the other orders, open runs come before ended
// ones, the latest start first. A run may end while pages are read, and its start may become known or earlier.
// Each of these can only move the run to a later page.
const (
	SortDefault  Sort = ""         // ended runs by their end, as it was observed
	SortStarted  Sort = "started"  // all runs by their start
	SortDuration Sort = "duration" // ended runs by their duration
	SortTokens   Sort = "tokens"   // ended runs by the sum of their known input and output tokens
)

// Sorts returns the orders other than the default.
func Sorts() []Sort { return []Sort{SortStarted, SortDuration, SortTokens} }

// Cursor is the position of a run in the list. The zero value is the beginning.
type Cursor struct {
	sort  Sort
	open  bool   // among the open runs, which come before the others; never with SortStarted
	value int64  // the run's start, duration or tokens, or unknown; 0 with SortDefault
	tie   uint64 // orders equal values: the run's number, or endedRun.ended of an ended run with SortDefault
}

// unknown is the value of a run whose value is not known.
const unknown = math.MinInt64

// openCursor returns the position of an open run with a number.
func openCursor(by Sort, started time.Time, number uint64) Cursor {
	if by == SortStarted {
		c := Cursor{sort: by, value: startValue(started), tie: number}
		if started.IsZero() {
			c.value = math.MaxInt64
		}
		return c
	}
	return Cursor{sort: by, open: true, tie: number}
}

// endedCursor returns the position of an ended run.
func endedCursor(by Sort, k *endedRun) Cursor {
	c := Cursor{sort: by, tie: k.number}
	switch by {
	case SortStarted:
		c.value = startValue(k.summary.Started)
	case SortDuration:
		c.value = unknown
		if d, known := k.summary.Duration(); known {
			c.value = int64(d)
		}
	case SortTokens:
		c.value = unknown
		if sum := k.summary.Usage.Input.Add(k.summary.Usage.Output); sum.Known {
			c.value = sum.N
		}
	default:
		c.tie = k.ended
	}
	return c
}

// startValue returns a start in microseconds. In nanoseconds, some years that a stream can state would
// overflow.
func startValue(started time.Time) int64 {
	if started.IsZero() {
		return unknown
	}
	return started.UnixMicro()
}

// compare returns a negative number if c comes before d in their common order, and a positive one if it comes after.
func (c Cursor) compare(d Cursor) int {
	if c.open != d.open {
		if c.open {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(d.value, c.value), cmp.Compare(d.tie, c.tie))
}

// follows reports whether the position is after another. Every position is after the beginning.
func (c Cursor) follows(d Cursor) bool { return d == Cursor{} || c.compare(d) > 0 }

// String returns the cursor in the form that ParseCursor reads, such as "ended-118" or
// "duration-1500000000-42", or "" for the beginning.
func (c Cursor) String() string {
	if c.tie == 0 {
		return ""
	}
	text := "open"
	switch {
	case c.open:
	case c.sort == SortDefault:
		text = "ended"
	case c.value == unknown:
		text = "unknown"
	default:
		text = strconv.FormatInt(c.value, 10)
	}
	if c.sort != SortDefault {
		text = string(c.sort) + "-" + text
	}
	return fmt.Sprintf("%s-%d", text, c.tie)
}

// ParseCursor parses the text of a cursor of the given order.
func ParseCursor(text string, by Sort) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	c, ok := parseCursor(text, by)
	if !ok || c.String() != text {
		return Cursor{}, fmt.Errorf("%.40q is not a cursor of this list: take one from the previous page, or leave it out", text)
	}
	return c, nil
}

func parseCursor(text string, by Sort) (c Cursor, ok bool) {
	c.sort = by
	if by != SortDefault {
		if text, ok = strings.CutPrefix(text, string(by)+"-"); !ok {
			return c, false
		}
	}
	at := strings.LastIndexByte(text, '-')
	if at < 0 {
		return c, false
	}
	var err error
	if c.tie, err = strconv.ParseUint(text[at+1:], 10, 64); err != nil || c.tie == 0 {
		return c, false
	}
	switch value := text[:at]; {
	case value == "open":
		c.open = true
		return c, by != SortStarted
	case by == SortDefault:
		return c, value == "ended"
	case value == "unknown":
		c.value = unknown
		return c, true
	default:
		c.value, err = strconv.ParseInt(value, 10, 64)
		return c, err == nil
	}
}
