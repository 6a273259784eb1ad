package stream

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestSubscribersAreCharged checks that subscribers are refused when the memory budget has no room for them, and that
// subscribers that leave make room.
func TestSubscribersAreCharged(t *testing.T) {
	for writers, size := range map[bool]int{false: SubscriberSize, true: waitingSize} {
		whole := budget.New(int64(size + SubscriberSize + 100))
		account := whole.Account("subscribers", 1, 1)
		bubbleWith(t, writers, func(set *Settings) { set.Memory = account }, func(s *stand) {
			first, second := s.get("/events"), s.get("/events")
			s.refused("Accept: text/event-stream", "no memory for another subscriber")
			s.counted("refused memory status", 1)
			first.leave()
			third := s.get("/events")
			s.expect(third, "id: e-0\n: open\n\n")
			if used := whole.Usage()[0].Bytes; used != int64(2*size) {
				t.Errorf("%d bytes are charged for two subscribers, want %d", used, 2*size)
			}
			second.leave()
			third.leave()
			if used := whole.Usage()[0].Bytes; used != 0 {
				t.Errorf("%d bytes are charged without subscribers", used)
			}
		})
	}
}

// TestSelectedFramesWithoutScratch checks that a subscriber gets all of its frames if there is no room for a copy of them.
func TestSelectedFramesWithoutScratch(t *testing.T) {
	for _, writers := range []bool{false, true} {
		whole := budget.New(SubscriberSize)
		account := whole.Account("subscribers", 1, 1)
		bubbleWith(t, writers, func(set *Settings) { set.Memory = account }, func(s *stand) {
			c := s.get("/events/s")
			c.take()
			account.Charge(SubscriberSize - int(whole.Usage()[0].Bytes)) // no room is left
			for _, text := range []string{"one", "two", "three"} {
				e := say(text)
				e.Session = "s"
				s.hub.store.(*memoryStore).ring.Publish(e)
				e.Session = "another"
				s.hub.store.(*memoryStore).ring.Publish(e)
			}
			s.settle()
			frames, _ := received(t, c.take())
			if got := strings.Join(frames, ", "); got != "e-1 message one, e-3 message two, e-5 message three" {
				t.Errorf("got %s", got)
			}
			if used := whole.Usage()[0]; used.Bytes != SubscriberSize || used.Shed == 0 {
				t.Errorf("%+v is charged, want %d bytes and refusals", used, SubscriberSize)
			}
			c.leave()
		})
	}
}
