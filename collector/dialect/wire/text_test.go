package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestTime checks the formats and bounds of timestamps.
func TestTime(t *testing.T) {
	const unknown = ""
	for sent, want := range map[string]string{
		// Python: seconds with microseconds, although a float64 does not represent them exactly.
		`1767081391.059711`: "2025-12-30T07:56:31.059711Z", `1750000000`: "2025-06-15T15:06:40Z", `1.767081391e9`: "2025-12-30T07:56:31Z",
		// JavaScript and Java: milliseconds.
		`1767081391059`: "2025-12-30T07:56:31.059Z", `1767081391059.5`: "2025-12-30T07:56:31.0595Z",
		// Rust, and stored sessions.
		`"2026-05-03T10:00:00.000000001Z"`: "2026-05-03T10:00:00.000000001Z", `"2026-05-03T12:00:00+02:00"`: "2026-05-03T10:00:00Z",
		// The limits are the years 2000 and 2200, in both units.
		`946684800`: "2000-01-01T00:00:00Z", `946684799`: unknown, `946684800000`: "2000-01-01T00:00:00Z", `946684799999`: unknown,
		`7258118400`: "2200-01-01T00:00:00Z", `7258118401`: unknown, `7258118400000`: "2200-01-01T00:00:00Z", `7258118400001`: unknown,
		`99999999999`: unknown, `100000000000`: unknown, `"1999-12-31T23:59:59Z"`: unknown, `"2200-01-01T00:00:01Z"`: unknown,
		// Go without a time, and invalid values.
		`null`: unknown, `0`: unknown, `-1767081391`: unknown, `1e999`: unknown, `-1e999`: unknown, `1e16`: unknown, `9223372036854775807`: unknown, `1e-400`: unknown,
		`""`: unknown, `"1767081391"`: unknown, `"2026-05-03"`: unknown, `"2026-05-03T10:00:00"`: unknown, `"2026-13-03T10:00:00Z"`: unknown,
		`"` + strings.Repeat("9", 1<<16) + `-05-03T10:00:00Z"`: unknown, `[1767081391]`: unknown, `{"seconds":1767081391}`: unknown, `true`: unknown,
	} {
		got := ""
		if at := Time(value(t, sent)); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
			if at.Location() != time.UTC {
				t.Errorf("Time(%s) is not in UTC", sent)
			}
		}
		if got != want {
			t.Errorf("Time(%.40s) = %q, want %q", sent, got, want)
		}
	}
	if !Time(strictjson.Value{}).IsZero() {
		t.Error("Time() of a missing value is a time")
	}
}
