package jetstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/test/loopback"
)

// publishAll publishes numbered frames of a session, and returns once NATS has stored them.
func publishAll(t testing.TB, s *Store, session string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		s.Publish(heardFrame(session, fmt.Sprint(session, i), fmt.Sprint(session, "-", i)))
	}
	until(t, "all is published", func() bool { return s.QueuedBytes() == 0 })
}

// TestEvicted checks that a gap is reported if NATS silently removes unread messages in the middle of the stream.
func TestEvicted(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(func(set *Settings) { set.Limits.MaxMessagesPerSubject = 3 })
	first := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 1)
	first.wants("c1-0")
	behind := first.id()
	publishAll(t, store, "c2", 0, 1)
	for i := 1; i < 10; i++ { // otherwise NATS may remove messages that it has not sent yet
		publishAll(t, store, "c1", i, i+1)
		first.read(i + 1)
	}

	other, _ := s.open(func(set *Settings) { set.Limits.MaxMessagesPerSubject = 3 })
	back := attach(t, other, behind, "c1")
	back.wants("<evicted>", "c1-7", "c1-8", "c1-9")
	publishAll(t, store, "c1", 10, 11)
	back.wants("<evicted>", "c1-7", "c1-8", "c1-9", "c1-10")

	whole := attach(t, other, first.id(), "c1") // after c1-9
	whole.wants("c1-10")
	quiet := attach(t, other, behind, "c2") // the evicted frames are of another session
	quiet.wants("c2-0")
	all := attach(t, other, behind)
	all.wants("c2-0", "<evicted>", "c1-8", "c1-9", "c1-10")
	if n := seen.count("gap evicted"); n != 0 {
		t.Errorf("%d gaps for a reader that was always connected", n)
	}
}

// TestEvictedAll removes all messages of a session. With the next frame, only the readers that missed some must get a
// gap.
func TestEvictedAll(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	reader := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 3)
	reader.wants("c1-0", "c1-1", "c1-2")
	has := reader.id()
	lacks := strings.TrimSuffix(has, "3") + "2"

	kept := s.storedStream()
	if err := kept.Purge(t.Context()); err != nil { // like expiry by age, but at once
		t.Fatal(err)
	}
	for i, of := range []string{"who knows the subject", "who does not"} {
		publisher := store
		readers, _ := s.open(nil)
		if i > 0 {
			publisher, _ = s.open(nil)
		}
		missing, complete := attach(t, readers, lacks, "c1"), attach(t, readers, has, "c1")
		publishAll(t, publisher, "c1", 3+i, 4+i)
		next := fmt.Sprint("c1-", 3+i)
		t.Log("published by", of)
		missing.wants("<evicted>", next)
		complete.wants(next)
		has, lacks = complete.id(), has
		if err := kept.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPurgedSession removes the messages of one session, as an operator may do to delete a conversation. Only readers that
// missed some of them must get a gap.
func TestPurgedSession(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	reader := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 2)
	reader.wants("c1-0", "c1-1")
	has := reader.id()
	publishAll(t, store, "c2", 0, 1)
	publishAll(t, store, "c1", 2, 5)
	reader.read(5)
	if err := s.storedStream().Purge(t.Context(), jetstream.WithPurgeSubject(sessionSubjects("c1"))); err != nil {
		t.Fatal(err)
	}
	readers, _ := s.open(nil)
	before := attach(t, readers, has, "c1")
	publishAll(t, store, "c1", 5, 6)
	before.wants("<evicted>", "c1-5")
	after, _ := s.open(nil)
	attach(t, after, has, "c1").wants("<evicted>", "c1-5")
	reader.wants("c1-0", "c1-1", "c1-2", "c1-3", "c1-4", "c1-5")
}

// TestAnotherStream recreates the stream. Its numbers then start again.
func TestAnotherStream(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	reader := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 3)
	reader.read(3)
	jet, err := jetstream.New(s.raw())
	if err != nil {
		t.Fatal(err)
	}
	if err := jet.DeleteStream(t.Context(), "DELEGRAPH"); err != nil {
		t.Fatal(err)
	}
	publishAll(t, store, "c1", 3, 5) // creates the stream
	until(t, "the reader is sent away", func() bool {
		select {
		case <-reader.place.Done:
			return true
		default:
			return false
		}
	})
	attach(t, store, reader.id(), "c1").wants("<restarted>", "c1-3", "c1-4")
	future := strings.Replace(attach(t, store, "", "c1").id(), "-2", "-99", 1)
	attach(t, store, future, "c1").wants("<future>", "c1-3", "c1-4")
	attach(t, store, "nobody's", "c1").wants("<unknown>", "c1-3", "c1-4")
}

// TestAway kills NATS. Readers must stay connected, frames must be queued, and no frame may be missing after NATS
// restarts.
func TestAway(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(nil)
	reader, all := attach(t, store, "", "c1"), attach(t, store, "")
	publishAll(t, store, "c1", 0, 3)
	reader.read(3)
	s.kill()
	until(t, "it is noticed", func() bool { return !store.Connected() })
	for i := 3; i < 6; i++ {
		store.Publish(heardFrame("c1", fmt.Sprint("c1", i), fmt.Sprint("c1-", i)))
	}
	back := attach(t, store, reader.id(), "c1")
	if store.QueuedBytes() == 0 || store.QueueCapacity() <= store.QueuedBytes() {
		t.Errorf("%d of %d bytes wait for NATS", store.QueuedBytes(), store.QueueCapacity())
	}
	s.start()
	want := []string{"c1-0", "c1-1", "c1-2", "c1-3", "c1-4", "c1-5"}
	reader.wants(want...)
	all.wants(want...)
	back.wants(want[3:]...)
	if seen.count("gap evicted")+seen.count("gap lost") > 0 || seen.count("retried") == 0 {
		t.Errorf("the counted events are %v", seen.events)
	}
}

// TestNeverThere opens a store without NATS. Frames must be queued, and readers must be told to retry.
func TestNeverThere(t *testing.T) {
	program(t)
	set := (&server{TB: t, address: loopback.FreeAddress(t)}).settings(&tally{})
	store, err := Open(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Ready(); err == nil {
		t.Error("the store is ready without NATS")
	}
	if _, refused := store.Attach(t.Context(), stream.Request{}); refused != stream.Unavailable {
		t.Errorf("a reader is refused with %q", refused)
	}
	store.Publish(heardFrame("c1", "1", "a"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Close(over); err == nil {
		t.Error("the queue is empty although NATS is not reachable")
	}
}

// TestQueueFull checks that a full queue drops frames, and that readers get a gap once there is room again.
func TestQueueFull(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(func(set *Settings) { set.QueueBytes = 8 << 10 })
	reader := attach(t, store, "", "c1")
	other := attach(t, store, "", "c2")
	publishAll(t, store, "c1", 0, 1)
	publishAll(t, store, "c2", 0, 1)
	reader.read(1)
	s.kill()
	until(t, "it is noticed", func() bool { return !store.Connected() })
	taken := 1
	for seen.count("dropped queue_full") == 0 {
		store.Publish(heardFrame("c1", fmt.Sprint("c1", taken), fmt.Sprint("c1-", taken)))
		taken++
	}
	store.Publish(heardFrame("c1", "dropped too", "dropped too"))
	s.start()
	until(t, "there is room again", func() bool { return store.QueuedBytes() == 0 })
	publishAll(t, store, "c1", 100, 101)
	publishAll(t, store, "c2", 1, 2)
	var want []string
	for i := range taken - 1 {
		want = append(want, fmt.Sprint("c1-", i))
	}
	reader.wants(append(want, "<lost>", "c1-100")...)
	other.wants("c2-0", "c2-1")
}

// TestTooLarge checks that a frame too large for a message is dropped, and that the next one reports the gap.
func TestTooLarge(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(func(set *Settings) { set.Limits.MaxMessageBytes = 16 << 10 })
	reader := attach(t, store, "", "c1")
	store.Publish(heardFrame("c1", "1", strings.Repeat("x", 16<<10)))
	store.Publish(heardFrame("c1", "2", "small"))
	reader.wants("<lost>", "small")
	if seen.count("dropped too_large") != 1 {
		t.Errorf("the counted events are %v", seen.events)
	}
}

// TestFeedsFull checks the limit of feeds. Readers of the same subjects share one.
func TestFeedsFull(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(func(set *Settings) { set.MaxFeeds = 2 })
	one, again, two := attach(t, store, "", "c1"), attach(t, store, "", "c1"), attach(t, store, "", "c2")
	q := replay.Query{Sessions: []string{"c3"}}
	if _, refused := store.Attach(t.Context(), stream.Request{Query: q}); refused != stream.FeedLimit {
		t.Errorf("a third session is refused with %q", refused)
	}
	publishAll(t, store, "c1", 0, 1)
	one.wants("c1-0")
	again.wants("c1-0")
	two.place.Release()
	three := attach(t, store, "", "c3") // replaces the feed without readers
	publishAll(t, store, "c3", 0, 1)
	three.wants("c3-0")
	if n := store.OpenFeeds(); n != 2 {
		t.Errorf("%d feeds are open", n)
	}
}

// TestNames publishes frames of sessions and sources whose names are not valid tokens of a NATS subject.
func TestNames(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(nil)
	names := []string{"", "_", "*", ">", "a.b", "c d", "\x00\r\nNats-Msg-Id: x", "ü", "%41", strings.Repeat("long", 1000), "~"}
	all := attach(t, store, "")
	for i, name := range names {
		e := heardFrame(name, fmt.Sprint(i), fmt.Sprint("of ", i))
		e.Run, e.Source = name, name
		store.Publish(e)
		all.read(i + 1)
	}
	for i, name := range names[1:] {
		reader := attach(t, store, all.place.Ring.ID(all.place.Cursor), name)
		reader.wants(fmt.Sprint("of ", i+1))
	}
	if seen.count("published") != len(names) || all.place.Gap != nil {
		t.Errorf("the counted events are %v", seen.events)
	}
}

// TestNATSFacts checks the behavior of NATS that the publisher relies on. A duplicate is never stored again. If it
// expects the correct last sequence, NATS acknowledges it as a duplicate. If it expects another one, NATS may instead
// refuse it and report the last sequence.
func TestNATSFacts(t *testing.T) {
	s := newServer(t, "")
	s.open(nil)
	jet, err := jetstream.New(s.raw())
	if err != nil {
		t.Fatal(err)
	}
	checkFacts(t, jet)
}

func checkFacts(t *testing.T, jet jetstream.JetStream) {
	t.Helper()
	publish := func(id string, expected uint64) string {
		m := nats.NewMsg(prefix + "s.facts")
		m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, fmt.Sprint(expected))
		m.Header.Set(jetstream.MsgIDHeader, id)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ack, err := jet.PublishMsg(ctx, m)
		l := subjectQueue{}
		if err != nil {
			if handleError(&l, err) != nil {
				t.Fatal(err)
			}
			return fmt.Sprint("last ", l.last)
		}
		return fmt.Sprint(ack.Sequence, ack.Duplicate)
	}
	first := publish("a", 0)
	var one uint64
	if _, err := fmt.Sscanf(first, "%d false", &one); err != nil {
		t.Fatal(first)
	}
	if got, want := publish("b", one), fmt.Sprint(one+1, false); got != want {
		t.Errorf("the second message: %s, want %s", got, want)
	}
	if got, want := publish("c", one), fmt.Sprint("last ", one+1); got != want {
		t.Errorf("with another expected sequence: %s, want %s", got, want)
	}
	stale := publish("a", 0)
	if stale != fmt.Sprint("last ", one+1) && stale != fmt.Sprint(one, true) {
		t.Errorf("a duplicate that expects a wrong sequence: %s", stale)
	}
	if got, want := publish("a", one+1), fmt.Sprint(one, true); got != want {
		t.Errorf("a duplicate that expects the last sequence: %s, want %s", got, want)
	}
	t.Logf("NATS answers a duplicate that expects a wrong sequence with %q", stale)
}

// TestHeartbeats checks that a reader gets comments while NATS is down, and continues over the same connection afterwards.
func TestHeartbeats(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	at := newSite(t, store)
	defer at.close()
	w := &world{T: t, random: rand.New(rand.NewPCG(1, 1)), sites: []*site{at}}
	v := &visitor{path: "/events/c1"}
	w.come(v)
	publishAll(t, store, "c1", 0, 1)
	until(t, "the first frame comes", func() bool { return strings.Contains(v.at.so(), "data: c1-0\n") })
	s.kill()
	until(t, "comments come", func() bool { return strings.Count(v.at.so(), "\n:") > 2 })
	s.start()
	publishAll(t, store, "c1", 1, 2)
	until(t, "the second frame comes", func() bool { return strings.Contains(v.at.so(), "data: c1-1\n") })
	v.at.cancel()
	<-v.at.done
}

// TestPace slowly reads far more than the ring holds, and checks that a feed that catches up waits for its reader.
func TestPace(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	first := attach(t, store, "", "c1")
	behind := first.id()
	first.place.Release()
	var want []string
	for i := range 300 {
		text := fmt.Sprint(i, strings.Repeat(" ", 1000))
		store.Publish(heardFrame("c1", fmt.Sprint(i), text))
		want = append(want, text)
	}
	until(t, "all is published", func() bool { return store.QueuedBytes() == 0 })
	small, _ := s.open(func(set *Settings) { set.Ring.Bytes = 32 << 10 })
	reader := attach(t, small, behind, "c1")
	for n := 5; n <= len(want); n += 5 {
		reader.most = 5
		reader.read(n)
		time.Sleep(time.Millisecond) // the latency of a slow network
	}
	reader.wants(want...)
}
