package collector_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestReplayedFrames checks which frames may have been sent before they were received: those of a stream that joins a run or a session, and of
// a connection that is not the first one of a stream, up to the first pause.
func TestReplayedFrames(t *testing.T) {
	const atOnce, pause = 10 * time.Millisecond, 300 * time.Millisecond
	for _, c := range []struct {
		name     string
		identity event.Identity
		delays   []time.Duration // before each frame
		want     string          // frames
	}{
		{"an answer", event.Identity{Session: "s"}, []time.Duration{0, atOnce}, ""},
		{"a stream that joins a run", event.Identity{JoinedRun: "r"}, []time.Duration{pause, atOnce, atOnce, pause, atOnce}, "123"},
		{"a stream that joins a session", event.Identity{JoinedSession: "s"}, []time.Duration{0, pause}, "1"},
	} {
		got := ""
		sink := sinkFunc(func(b *event.Batch) {
			if b.Replayed {
				got += b.Agent
			}
		})
		in := &delayedFrames{delays: c.delays}
		s := &event.Stream{Live: true, Identity: c.identity}
		if err := collector.New([]dialect.Dialect{fake("x")}, limits, sink).Observe(s, collector.Input{Reader: in, ReceivedAt: in.receivedAt}, "x"); err != nil || got != c.want {
			t.Errorf("%s: %v, replayed: %s, want %s", c.name, err, got, c.want)
		}
	}
}

// TestReplayedAfterReconnection reconnects a stream. Frames that come soon after may have been sent before.
func TestReplayedAfterReconnection(t *testing.T) {
	for delay, want := range map[time.Duration]string{10 * time.Millisecond: "3", 300 * time.Millisecond: ""} {
		now, got, connection := time.Unix(1, 0), "", 0
		sink := sinkFunc(func(b *event.Batch) {
			if b.Replayed {
				got += b.Agent
			}
		})
		connect := func(collector.Position) (collector.Input, error) {
			if connection++; connection > 2 {
				return collector.Input{}, io.EOF
			}
			begun, text := now, fmt.Sprintf("data: {\"x\":\"yes\",\"n\":\"%d\"}\n\n", 2*connection-1)
			return collector.Input{Reader: strings.NewReader(text), ReceivedAt: func() time.Time { return begun.Add(delay) }}, nil
		}
		if err := collector.New([]dialect.Dialect{fake("x")}, limits, sink).Follow(&event.Stream{Live: true}, func() time.Time { return now }, connect, "x"); err != nil || got != want {
			t.Errorf("%v after a connection: %v, replayed: %s, want %s", delay, err, got, want)
		}
	}
}

// delayedFrames is a stream of numbered frames that come after delays.
type delayedFrames struct {
	delays []time.Duration
	passed time.Duration
	frames int
}

func (s *delayedFrames) Read(into []byte) (int, error) {
	if s.frames == len(s.delays) {
		return 0, io.EOF
	}
	s.passed += s.delays[s.frames]
	s.frames++
	return copy(into, fmt.Sprintf("data: {\"x\":\"yes\",\"n\":\"%d\"}\n\n", s.frames)), nil
}

func (s *delayedFrames) receivedAt() time.Time { return time.Unix(1, 0).Add(s.passed) }
