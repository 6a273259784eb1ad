package exporter_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
)

// lateFrames records the frames that a run's streams brought late, and whether the end of the run is known.
type lateFrames struct{ strings.Builder }

func (s *lateFrames) Open(*event.Stream) {}
func (s *lateFrames) Consume(b *event.Batch) {
	if b.Replayed {
		s.WriteString(b.Type)
	}
}
func (s *lateFrames) Close(_ *event.Stream, _ event.End, at time.Time) {
	if at.IsZero() {
		s.WriteString("?")
	}
}

// TestLateFrames sends the frames of a run over streams. Only after a time without any stream may frames be late. In the steps, "+a" opens
// the answer to a request and "+b?" a stream that joins its run, "b:x" is a frame, "b:x~" one before the first pause of the stream, "-a" the end of a
// stream, and "-a." a client that leaves.
func TestLateFrames(t *testing.T) {
	for steps, want := range map[string]string{
		"+a a:x -a":                               "",
		"+a a:x +b? b:y~ a:y -a -b":               "",
		"+a a:x -a. +b? b:x~ b:y~ b:z -b":         "y",
		"+a a:x -a. +b? b:x~ b:y~ -b":             "y?",
		"+a a:x -a. +b? -b":                       "?",
		"+a a:x -a. +b? b:y~ +c? c:y~ c:z~ -b -c": "yz?",
		"+a a:x -a. +b? b:y +c? c:y~ c:z~ -b -c":  "",
		"+a a:x -a. +b? b:y~ -b.":                 "y",
		"+b? b:x~ b:y~ b:z -b":                    "xy",
	} {
		synctest.Test(t, func(t *testing.T) {
			var late lateFrames
			s, streams := exporter.NewDeduplicator(&late, losses{}), map[string]*event.Stream{}
			for i, step := range strings.Fields(steps) {
				now := time.Unix(int64(i+1), 0)
				switch of := step[1:2]; step[0] {
				case '+':
					streams[of] = &event.Stream{Source: "s", OpenedAt: now, SingleRun: true}
					if strings.HasSuffix(step, "?") {
						streams[of] = &event.Stream{Source: "s", OpenedAt: now, Identity: event.Identity{JoinedRun: "t", ReplayedRun: "t"}}
					}
					s.Open(streams[of])
				case '-':
					end := event.EndOfStream
					if strings.HasSuffix(step, ".") {
						end = event.EndClientLeft
					}
					s.Close(streams[of], end, now)
				default:
					s.Consume(&event.Batch{Stream: streams[step[:1]], Type: step[2:3], Run: "t", ContentHash: uint64(step[2]), Received: now, Replayed: strings.HasSuffix(step, "~")})
				}
			}
			s.EndDelayed()
			if got := late.String(); got != want {
				t.Errorf("%s: late %s, want %s", steps, got, want)
			}
		})
	}
}
