package formats_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/test/agents/recorded"
)

// TestGapWithinFormats checks that every format reports frames that are missing in the middle of the stream: as an event of its
// own name, or with the next run.
func TestGapWithinFormats(t *testing.T) {
	for format, named := range map[string]bool{"normalized": true, "a2a": false, "agui": false} {
		s := newServed(t, config.PolicyClient, 1000)
		s.play(filepath.Join(recorded.Captures["adk-go"], "plain.sse"))
		s.head++
		s.hub.Store().Publish(stream.GapEntry(&replay.Gap{Reason: replay.GapLost, Head: "e-1"}, uint64(s.head), ""))
		s.play(filepath.Join(recorded.Captures["adk-go"], "transfer.sse"))
		got := string(s.read("format="+format, 0))
		if strings.Contains(got, "event: delegraph.gap\n") != named || !strings.Contains(got, `"lost"`) {
			t.Errorf("%s:\n%s", format, got)
		}
	}
}
