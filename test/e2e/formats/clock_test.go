package formats_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// statedTime finds the times in frames: RFC 3339, and seconds or milliseconds since 1970.
var statedTime = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[^"]*"|:\s?1[78]\d{8}(\d{3})?(\.\d+)?\b`)

// TestClocksThatAreSetBack sets the agent's clock back by an hour in the middle of each recording. No operation may last less than
// nothing, or an hour.
func TestClocksThatAreSetBack(t *testing.T) {
	moved := map[string]int{}
	everyCapture(t, func(name, file string) {
		sent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		half := len(sent) / 2
		half += max(bytes.Index(sent[half:], []byte("\n\n")), 0)
		changed := filepath.Join(t.TempDir(), "set-back.sse")
		if err := os.WriteFile(changed, append(bytes.Clone(sent[:half]), statedTime.ReplaceAllFunc(sent[half:], hourBefore)...), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, run := range harness.Replay(t, changed) {
			moved[run.Dialect]++
			for _, op := range run.Operations {
				if op.Seconds != nil && (*op.Seconds < 0 || *op.Seconds > 1800) {
					t.Errorf("%s: %s lasts %f seconds (%s)", name, op.Kind, *op.Seconds, op.DurationTiming)
				}
			}
		}
	})
	for _, dialect := range []string{"adk", "a2a", "agui", "looopy", "langgraph", "adkstudio", "deepagents"} {
		if moved[dialect] == 0 {
			t.Errorf("no recording of %s has runs", dialect)
		}
	}
}

func hourBefore(at []byte) []byte {
	if at[0] == '"' {
		parsed, err := time.Parse(time.RFC3339Nano, string(bytes.Trim(at, `"`)))
		if err != nil {
			return at
		}
		return parsed.Add(-time.Hour).AppendFormat([]byte{'"'}, time.RFC3339Nano+`"`)
	}
	n, err := strconv.ParseFloat(string(bytes.Trim(at, ": ")), 64)
	if err != nil {
		return at
	}
	return strconv.AppendFloat([]byte{':'}, n-3600*math.Max(1, math.Pow10(len(strconv.FormatInt(int64(n), 10))-10)), 'f', -1, 64)
}
