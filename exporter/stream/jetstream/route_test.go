package jetstream

import (
	"fmt"
	"testing"
	"time"
)

// TestManyMoving checks that the limit of look-ups does not keep readers that need none.
func TestManyMoving(t *testing.T) {
	c := newClusters(t, "a", "b")
	grown := c.layout(&tally{}, true, "a", "b")
	grown.Previous, grown.MoveAt = []string{"a"}, time.Now() // sessions without messages do not move yet
	s := c.open(grown)
	for i := range 2 * maxWatched {
		session := movingSession([]string{"a"}, []string{"a", "b"}, "a", "b", fmt.Sprint("s", i, "-"))
		s.readers.add(readerKey{scope: scopeSession, session: session, shard: "a"})
		s.readers.add(readerKey{scope: scopeAll, shard: "a", session: session}) // the session only makes the key unique
	}
	s.moveReaders(t.Context())
	left := map[scope]int{}
	for key := range s.readers.open {
		left[key.scope]++
	}
	if left[scopeAll] > 0 || left[scopeSession] != 2*maxWatched {
		t.Errorf("left are %d readers of everything and %d of a session", left[scopeAll], left[scopeSession])
	}
	if n := s.lookup.answers.Len(); n != 2*maxWatched { // in both shards
		t.Errorf("NATS was asked %d times, want %d", n, 2*maxWatched)
	}
}
