package formats_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// uncounted is an observer of a store that does nothing.
type uncounted struct{}

func (uncounted) CountPublished()                   {}
func (uncounted) CountRepeated()                    {}
func (uncounted) CountDropped(jetstream.Drop)       {}
func (uncounted) CountRetry()                       {}
func (uncounted) CountFeedRetry()                   {}
func (uncounted) CountFeedGap(replay.GapReason)     {}
func (uncounted) CountDroppedFeedFrame(replay.Drop) {}

// newNATS starts a NATS server, and returns its URL.
func newNATS(t *testing.T) string {
	t.Helper()
	folder, address := t.TempDir(), loopback.FreeAddress(t)
	file := filepath.Join(folder, "nats.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, "listen: %q\njetstream: {store_dir: %q, max_file: 1GB}\n", address, folder), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Start(t, subprocess.Command(harness.Component(t, "nats", "nats-server"), "-c", file))
	return "nats://" + address
}

// newStored returns a hub that publishes to NATS and reads from there, and its store.
func newStored(t *testing.T, url, policy string) (*served, *jetstream.Store) {
	t.Helper()
	store, err := jetstream.Open(jetstream.Settings{
		URLs: []string{url}, Stream: "DELEGRAPH", ManageStream: true, Publish: true,
		Limits:     jetstream.Limits{Replicas: 1, MaxAge: time.Hour, MaxBytes: 256 << 20, MaxMessagesPerSubject: 10_000, MaxMessageBytes: 1 << 20, DuplicateWindow: time.Minute},
		QueueBytes: 64 << 20, MaxFeeds: 100, FeedBytes: 64 << 20, Ring: replay.Settings{Frames: 10_000, Bytes: 16 << 20, Age: time.Hour},
		Observer: uncounted{}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	harness.Await(t, func(context.Context) error { return store.Ready() })
	s := newServedFrom(t, policy, stream.Settings{Store: store})
	t.Cleanup(func() { s.hub.Close(); _ = store.Close(context.Background()) })
	return s, store
}

// TestFormatsResumeAtAnotherGateway resumes at a gateway that had no reader. Readers get what they would have got by staying.
func TestFormatsResumeAtAnotherGateway(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, family := range slices.Sorted(maps.Keys(recorded.Captures)) {
		files := recorded.Files(t, recorded.Captures[family])
		file := files[random.IntN(len(files))]
		url := newNATS(t)
		first, store := newStored(t, url, config.PolicyClient)
		first.play(file)
		harness.Await(t, func(context.Context) error {
			if n := store.QueuedBytes(); n > 0 {
				return fmt.Errorf("%d bytes are not published", n)
			}
			return nil
		})
		end, _ := store.Attach(t.Context(), stream.Request{})
		first.head, first.epoch = int(end.Cursor.Number()), strings.TrimSuffix(end.Ring.ID(end.Cursor), fmt.Sprint("-", end.Cursor.Number()))
		end.Release()
		for _, as := range format.Formats() {
			whole := first.read("format="+string(as), 0)
			other, _ := newStored(t, url, config.PolicyClient)
			other.head, other.epoch = first.head, first.epoch
			for _, after := range []int{1 + random.IntN(first.head-1), first.head / 2} { // the second may share the feed of the first
				if got, want := factsAfter(t, as, other.read("format="+string(as), after), after), factsAfter(t, as, whole, after); got != want {
					t.Errorf("%s, %s behind frame %d of %d:\n%s\nwant\n%s", file, as, after, first.head, got, want)
				}
			}
		}
	}
}
