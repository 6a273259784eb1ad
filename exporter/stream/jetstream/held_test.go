package jetstream

import (
	"fmt"
	"strings"
	"testing"
)

// TestHeldTogether reads more sessions than fit into all feeds together. Readers that keep up and readers that catch up
// must both get every frame.
func TestHeldTogether(t *testing.T) {
	const sessions, frames, held = 20, 60, 64 << 10
	s := newServer(t, "")
	little := func(set *Settings) { set.FeedBytes, set.Ring.Bytes = held, 64<<10 }
	store, _ := s.open(little)
	want := make([][]string, sessions)
	live := make([]*reader, sessions)
	first := attach(t, store, "").id()
	for i := range sessions {
		live[i] = attach(t, store, "", fmt.Sprint("c", i))
	}
	for n := range frames {
		for i := range sessions {
			text := fmt.Sprint(n, strings.Repeat(" ", 1000))
			want[i] = append(want[i], text)
			store.Publish(heardFrame(fmt.Sprint("c", i), fmt.Sprint(n), text))
		}
		for _, r := range live {
			r.read(n + 1)
		}
	}
	for i, r := range live {
		r.wants(want[i]...)
	}
	if n := store.Stats().Bytes; n > held+held/4 {
		t.Errorf("the feeds hold %d bytes", n)
	}
	for i := range live {
		attach(t, store, first, fmt.Sprint("c", i)).wants(want[i]...)
	}
	store.feeds.endAll()
	if n := store.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes are held in no feed", n)
	}
}

// TestSilentForLong lets NATS expire all messages of a session that connected readers have already read. They must get
// no gap.
func TestSilentForLong(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(nil)
	reader := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 3)
	reader.wants("c1-0", "c1-1", "c1-2")
	publishAll(t, store, "c2", 0, 5)
	kept := s.storedStream()
	if err := kept.Purge(t.Context()); err != nil { // like expiry by age, but at once
		t.Fatal(err)
	}
	publishAll(t, store, "c1", 3, 4)
	reader.wants("c1-0", "c1-1", "c1-2", "c1-3")

	publishAll(t, store, "c2", 5, 9)
	feed := store.feeds.open[sessionSubjects("c1")][0]
	s.kill()
	until(t, "it is noticed", func() bool { return !store.Connected() })
	feed.caughtUp.Store(false)
	s.start()
	until(t, "the feed has a consumer again", feed.caughtUp.Load)
	publishAll(t, store, "c2", 9, 12)
	if err := kept.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishAll(t, store, "c1", 4, 5)
	reader.wants("c1-0", "c1-1", "c1-2", "c1-3", "c1-4")
	if n := seen.count("gap evicted"); n != 0 {
		t.Errorf("%d gaps are counted, want none", n)
	}
}
