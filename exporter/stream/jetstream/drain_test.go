package jetstream

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestCloseWhileMoving closes a store while frames of a moved session are queued. The publisher of the old shard
// needs the connection of the new one.
func TestCloseWhileMoving(t *testing.T) {
	c := newClusters(t, "a", "b")
	seen := &tally{}
	moved := c.layout(seen, true, "a", "b")
	moved.Previous, moved.MoveAt = []string{"a"}, time.Now().Add(-time.Hour)
	sidecar := c.open(moved)
	session := movingSession([]string{"a"}, []string{"a", "b"}, "a", "b", "s")
	const frames = 100
	for i := range frames {
		sidecar.Publish(heardFrame(session, fmt.Sprint(i), fmt.Sprint(i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := sidecar.Close(ctx); err != nil || seen.count("published") != frames {
		t.Errorf("closed with the error %v; the counted events are %v", err, seen.events)
	}
	if n := len(c.stored("b", session)); n != frames {
		t.Errorf("the new shard has %d frames, want %d", n, frames)
	}
}

// TestRetryWhileDraining requeues a subject while drain waits. The signal must wake a goroutine that publishes.
func TestRetryWhileDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(100, func(d Drop) { t.Errorf("a message was dropped: %s", d) })
		q.add(&message{Msg: &nats.Msg{Subject: "a"}, size: 1}, "")
		failed, _ := q.next(never)
		givenUp, isDrained := false, false
		go func() {
			q.drain(func() bool { return givenUp })
			isDrained = true
		}()
		synctest.Wait()
		go func() {
			if sq, _ := q.next(never); sq != nil {
				q.done(sq, "")
			}
		}()
		synctest.Wait()
		q.retry(failed)
		synctest.Wait()
		if !isDrained {
			t.Error("the subject was not published")
			givenUp = true
			q.wake()
		}
	})
}
