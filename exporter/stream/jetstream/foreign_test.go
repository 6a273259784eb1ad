package jetstream

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestHeadersTooLarge checks that a message that NATS always rejects is dropped, and does not block later messages.
func TestHeadersTooLarge(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(nil)
	reader := attach(t, store, "", "c1")
	large := heardFrame("c1", "1", "large")
	large.Run = strings.Repeat("r", 70<<10)
	store.Publish(large)
	store.Publish(heardFrame("c1", "2", "small"))
	reader.wants("<lost>", "small")
	if seen.count("dropped too_large") != 1 {
		t.Errorf("the counted events are %v", seen.events)
	}
}

// TestForeign reads a stream to which other programs publish too. A message of another program, or whose session does not
// match its subject, must be ignored and must cause no gap.
func TestForeign(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(nil)
	one, two, all := attach(t, store, "", "c1"), attach(t, store, "", "c2"), attach(t, store, "")
	publishAll(t, store, "c1", 0, 1)
	raw := s.raw()
	for _, header := range []nats.Header{
		nil,
		{previousHeader: {"%zz"}},
		{previousHeader: {"0"}, sourceHeader: {"support"}, sessionHeader: {"c2"}},
		{previousHeader: {"99"}, sourceHeader: {"other"}, sessionHeader: {"c1"}},
		{previousHeader: {"0"}, sourceHeader: {"support"}},
	} {
		m := nats.NewMsg(subjectOf("support", "c1"))
		m.Header, m.Data = header, []byte("forged")
		if err := raw.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw.Flush(); err != nil {
		t.Fatal(err)
	}
	publishAll(t, store, "c2", 0, 1)
	publishAll(t, store, "c1", 1, 2)
	one.wants("c1-0", "c1-1")
	two.wants("c2-0")
	all.wants("c1-0", "c2-0", "c1-1")
	if n := seen.count("gap evicted") + seen.count("gap lost"); n != 0 {
		t.Errorf("%d gaps are counted, want none", n)
	}
}
