package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
)

// Replay returns the reports of "delegraph replay" on a capture, or none if it fails.
func Replay(t *testing.T, file string) (reports []tracker.Report) {
	t.Helper()
	var out, errs bytes.Buffer
	if err := command.Run(t.Context(), []string{"replay", "--format=json", file}, &out, &errs); err != nil {
		return nil
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, `{"summary"`) {
			continue
		}
		var r tracker.Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	return reports
}

// ReceivedAt is later than all times in generated streams and captures, so that their lag is measured.
var ReceivedAt = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// ReceiveClock always returns ReceivedAt.
func ReceiveClock() time.Time { return ReceivedAt }

// ProxyStream returns a stream as a proxy opens it.
func ProxyStream() *event.Stream {
	return &event.Stream{
		Source: "source", Nonce: "nonce", Live: true, SingleRun: true, OpenedAt: ReceivedAt.Add(-time.Minute),
		Identity: event.Identity{App: "coordinator", Session: "session"},
	}
}

// Policies are the policies of the external stream.
var Policies = []string{"public", "client"}

// ReplayAs returns what a subscriber of a stream format gets when a capture is replayed.
func ReplayAs(t testing.TB, policy, as, file string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"replay", "--format=stream", "--stream-format=" + as, "--policy=" + policy, file}
	if err := command.Run(t.Context(), args, &out, &errs); err != nil && filepath.Base(file) != "no_session.sse" {
		t.Fatal(file, err)
	}
	return out.Bytes()
}

// Frames returns the frames of a stream.
func Frames(t testing.TB, stream []byte) (all []sse.Frame) {
	t.Helper()
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sse.Frame{ID: bytes.Clone(f.ID), Event: bytes.Clone(f.Event), Data: bytes.Clone(f.Data)})
	}
}
