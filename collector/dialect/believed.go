package dialect

import (
	"math"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// MaxName bounds names and ids, in bytes: they end in span attributes and label values.
const MaxName = 256

// Name returns s as a name: valid UTF-8, which event names and headers need not be, and at most MaxName bytes long. A name that was
// cut is a copy: names live as long as their runs are remembered, and s may be a MiB.
func Name(s string) string {
	if len(s) > MaxName {
		s = strings.Clone(s[:MaxName])
	}
	return strings.ToValidUTF8(s, "")
}

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

// SaysError says whether a tool's response is ADK's convention for an error: a member `error` that says something.
func SaysError(response strictjson.Value) bool {
	e := response.Get("error")
	switch e.Kind() {
	case strictjson.String:
		return len(e.Text()) > 0
	case strictjson.Bool:
		on, _ := e.Bool()
		return on
	case strictjson.Number: // a code: 0 is none
		n, ok := e.Float()
		return n != 0 || !ok
	}
	return e.Len() > 0
}
