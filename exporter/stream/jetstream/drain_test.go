package jetstream

import (
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go"
)

// TestRetryWhileDraining requeues a subject while drain waits. The signal must wake a goroutine that publishes.
func TestRetryWhileDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(100, func(d Drop) { t.Errorf("a message was dropped: %s", d) })
		q.add(&message{Msg: &nats.Msg{Subject: "a"}, size: 1}, "")
		failed, _ := q.next()
		givenUp, isDrained := false, false
		go func() {
			q.drain(func() bool { return givenUp })
			isDrained = true
		}()
		synctest.Wait()
		go func() {
			if sq, _ := q.next(); sq != nil {
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
