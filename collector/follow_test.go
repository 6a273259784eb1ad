package collector_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestFollowManyConnections checks for each dialect's captures that a stream gives the same events over one
// connection and with a connection for each frame.
func TestFollowManyConnections(t *testing.T) {
	for _, d := range collector.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			for file, content := range captures(t, d) {
				one := followedEvents(t, d, [][]byte{content})
				many := followedEvents(t, d, connections(content))
				if diff := cmp.Diff(one, many); diff != "" {
					t.Errorf("%s: the events over many connections differ (-one +many):\n%s", filepath.Base(file), diff)
				}
			}
		})
	}
}

// connections returns a capture in pieces of one frame.
func connections(content []byte) [][]byte {
	separator := []byte("\n\n")
	if bytes.Contains(content, []byte("\r\n\r\n")) {
		separator = []byte("\r\n\r\n")
	}
	return bytes.SplitAfter(content, separator)
}

// followedEvents returns a line for each batch of a stream that consists of these connections.
func followedEvents(t *testing.T, d dialect.Dialect, connections [][]byte) (lines []string) {
	t.Helper()
	follow(t, d, sinkFunc(func(b *event.Batch) {
		line := fmt.Sprintf("%s %s %s:", b.Rejected, b.Type, b.Run)
		for i := range b.Events {
			line += " " + b.Events[i].Kind.String()
		}
		lines = append(lines, line)
	}), connections)
	return lines
}

// follow follows a stream that consists of these connections.
func follow(t *testing.T, d dialect.Dialect, sink event.Sink, connections [][]byte) {
	t.Helper()
	settings := limits
	settings.MaxFrame = 1 << 20
	now := func() time.Time { return time.Time{} }
	s := &event.Stream{Source: "agent", Live: true, Identity: event.Identity{Session: "s"}, States: &event.States{}}
	err := collector.New([]dialect.Dialect{d}, settings, sink).Follow(s, now, func(collector.Position) (collector.Input, error) {
		if len(connections) == 0 {
			return collector.Input{}, io.EOF
		}
		next := connections[0]
		connections = connections[1:]
		return collector.Input{Reader: bytes.NewReader(next), ReceivedAt: now}, nil
	}, d.Name())
	if err != nil {
		t.Fatal(err)
	}
}

// closing is a dialect whose decoders record that they are closed.
type closing struct {
	fake
	sink *recorder
}

func (d closing) New(*event.Stream) dialect.Decoder { return closingDecoder{sink: d.sink} }

type closingDecoder struct {
	fakeDecoder
	sink *recorder
}

func (d closingDecoder) Close() { d.sink.calls = append(d.sink.calls, "decoder closed") }

// TestDecoderIsClosed checks that a decoder is closed after its last frame, and not between connections.
func TestDecoderIsClosed(t *testing.T) {
	r := &recorder{}
	follow(t, closing{"x", r}, r, [][]byte{[]byte(stream(yesX)), []byte(stream(none))})
	if diff := cmp.Diff([]string{"x yes", "x none", "decoder closed", "closed 0"}, r.calls); diff != "" {
		t.Errorf("Follow: the calls differ (-want +got):\n%s", diff)
	}
	*r = recorder{}
	in := collector.Input{Reader: strings.NewReader(stream(yesX, none))}
	if err := collector.New([]dialect.Dialect{closing{"x", r}}, limits, r).Observe(&event.Stream{}, in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x yes", "x none", "decoder closed", "closed 0"}, r.calls); diff != "" {
		t.Errorf("Observe: the calls differ (-want +got):\n%s", diff)
	}
}
