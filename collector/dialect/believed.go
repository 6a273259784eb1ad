package dialect

import (
	"math"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// MaxName bounds names and ids, in bytes: they end in span attributes and label values.
const MaxName = 256

// Name returns a text as a name: UTF-8, which event names and headers need not be, and at most MaxName bytes.
func Name(s string) string { return event.Bounded(s, MaxName) }

// maxCount bounds a count that is believed; a sum of them stays far from overflow.
const maxCount = 1 << 40

// Count is a number of things, unknown where it is no whole number of 0 or more, or beyond what anybody counts.
func Count(v strictjson.Value) event.Count {
	n, ok := v.Int()
	if !ok || n < 0 || n > maxCount {
		return event.Count{}
	}
	return event.Count{N: n, Known: true}
}

// maxDuration bounds a duration that is believed.
const maxDuration = 100 * 365 * 24 * time.Hour

// Duration is a number of units, unknown where it is none of 0 or more, or more than a century.
func Duration(v strictjson.Value, unit time.Duration) event.Duration {
	n, ok := v.Float()
	if n *= float64(unit); !ok || n < 0 || n > float64(maxDuration) {
		return event.Duration{}
	}
	return event.Duration{D: time.Duration(math.Round(n)), Known: true}
}

// Times outside these years are not what a running agent says of its events.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Time is a time that the wire reports, in UTC; zero where no running agent reports it.
func Time(t time.Time) time.Time {
	if t = t.UTC(); t.Before(earliest) || t.After(latest) {
		return time.Time{}
	}
	return t
}

// TextTime is a time that is written by RFC 3339, as Time believes it.
func TextTime(v strictjson.Value) time.Time {
	t, err := time.Parse(time.RFC3339Nano, v.String())
	if err != nil {
		return time.Time{}
	}
	return Time(t)
}
