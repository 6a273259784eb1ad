package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestGapWithinFormats tells readers of other formats of frames that are missing in the middle of the stream: those who know the event
// by its name, others with the next run.
func TestGapWithinFormats(t *testing.T) {
	for format, named := range map[string]bool{"normalized": true, "a2a": false, "agui": false} {
		s := newServed(t, config.PolicyClient, 1000)
		s.play(filepath.Join(captures["adk-go"], "plain.sse"))
		s.head++
		s.hub.Publish(stream.GapEntry(&replay.Gap{Reason: replay.Lost, Head: "e-1"}, uint64(s.head), ""))
		s.play(filepath.Join(captures["adk-go"], "transfer.sse"))
		got := string(s.read("format="+format, 0))
		if strings.Contains(got, "event: delegraph.gap\n") != named || !strings.Contains(got, `"lost"`) {
			t.Errorf("%s:\n%s", format, got)
		}
	}
}
