package dialect

import (
	"math"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// MaxName is the maximum length of names and ids, in bytes. They become span attributes and label
// values.
const MaxName = 256

// Name returns s as valid UTF-8 of at most MaxName bytes. SSE event names and headers may be invalid
// UTF-8.
func Name(s string) string { return event.LimitText(s, MaxName) }

// maxCount is the highest plausible count. A sum of such counts stays far from overflow.
const maxCount = 1 << 40

// Count returns v as a count. The count is unknown if v is not a whole number from 0 to maxCount.
func Count(v strictjson.Value) event.Count {
	n, ok := v.Int()
	if !ok || n < 0 || n > maxCount {
		return event.Count{}
	}
	return event.Count{N: n, Known: true}
}

// maxDuration is the longest plausible duration.
const maxDuration = 100 * 365 * 24 * time.Hour

// Duration returns v units as a duration. The duration is unknown if it is not from 0 to maxDuration, or
// if v is not a number.
func Duration(v strictjson.Value, unit time.Duration) event.Duration {
	n, ok := v.Float()
	if n *= float64(unit); !ok || n < 0 || n > float64(maxDuration) {
		return event.Duration{}
	}
	return event.Duration{D: time.Duration(math.Round(n)), Known: true}
}

// earliest and latest are the bounds of the times that a running agent plausibly reports.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Time returns a time of the wire in UTC, or the zero time if it is not from earliest to latest.
func Time(t time.Time) time.Time {
	if t = t.UTC(); t.Before(earliest) || t.After(latest) {
		return time.Time{}
	}
	return t
}

// TextTime parses a time in the format of RFC 3339 and applies the limits of Time. It returns the zero time
// if v is not such a time.
func TextTime(v strictjson.Value) time.Time {
	t, err := time.Parse(time.RFC3339Nano, v.String())
	if err != nil {
		return time.Time{}
	}
	return Time(t)
}
