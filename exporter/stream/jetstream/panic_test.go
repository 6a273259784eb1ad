package jetstream

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// panicsOnce is an Observer that panics at the first published frame.
type panicsOnce struct {
	*tally
	once sync.Once
}

func (p *panicsOnce) CountPublished() {
	p.once.Do(func() { panic("planted") })
	p.tally.CountPublished()
}

// TestPublisherSurvivesAPanic checks that a panic while a frame is published does not end the process, and that readers get each frame
// once.
func TestPublisherSurvivesAPanic(t *testing.T) {
	s := newServer(t, "")
	var panics tally
	store, seen := s.open(func(set *Settings) {
		set.Observer = &panicsOnce{tally: set.Observer.(*tally)}
		set.Panics = recovery.New(slog.New(slog.DiscardHandler), func(c recovery.Component) { panics.note(string(c)) })
	})
	reads := attach(t, store, "", "c1")
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprint("a", i))
		store.Publish(heardFrame("c1", fmt.Sprint(i), want[i]))
	}
	reads.wants(want...)
	until(t, "every frame is accounted for", func() bool { return seen.count("published")+seen.count("repeated") == 5 })
	if panics.count(string(recovery.Stream)) != 1 || seen.count("repeated") != 1 {
		t.Errorf("counted panics: %v; counted events: %v", panics.events, seen.events)
	}
}

// TestRecovered checks that a panic becomes an error, and that other results pass.
func TestRecovered(t *testing.T) {
	panics := recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) {})
	other := errors.New("other")
	got := []error{
		panicToError(panics, func() error { panic("planted") }), panicToError(panics, func() error { return other }), panicToError(panics, func() error { return nil }),
	}
	if want := []error{errPanicked, other, nil}; !slices.Equal(got, want) {
		t.Errorf("the results are %v, want %v", got, want)
	}
}

// panicsAtDrop is an Observer that panics at a frame that a feed cannot store.
type panicsAtDrop struct{ *tally }

func (panicsAtDrop) CountDroppedFeedFrame(replay.Drop) { panic("planted") }

// storedMessage is a message as a feed gets it.
type storedMessage struct {
	jetstream.Msg
	message *nats.Msg
}

func (m storedMessage) Subject() string      { return m.message.Subject }
func (m storedMessage) Headers() nats.Header { return m.message.Header }
func (m storedMessage) Data() []byte         { return m.message.Data }

// TestGapAfterAPanic checks that the readers of a session get a gap if a panic loses a frame of the session.
func TestGapAfterAPanic(t *testing.T) {
	settings := Settings{Observer: panicsAtDrop{&tally{}}, Ring: replay.Settings{Frames: 10, Bytes: 1000, Age: time.Hour}}
	streams, err := lru.New[streamKey, *replay.Stream](1)
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed(t.Context(), &settings, &connection{settings: settings}, &streamRegistry{streams: streams}, feedSpec{subjects: []string{sessionSubjects("c1")}}, "j1", 0)
	large := encode(&replay.Entry{Source: "a", Session: "c1", Data: make([]byte, 2000)}, "1")
	large.Header[previousHeader] = []string{"0"}
	f.receive(storedMessage{message: large}, 1, true)
	frames, _ := f.ring.Frames(replay.Cursor{}, replay.NewSelection(replay.Query{Sessions: []string{"c1"}}), make([]replay.Frame, 0, 10))
	if len(frames) != 1 || frames[0].Gap == nil || frames[0].Gap.Reason != replay.GapLost {
		t.Errorf("a reader of the session gets %v, want a gap", frames)
	}
}
