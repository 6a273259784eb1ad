package stream

import (
	"sync"
	"time"
)

// maxRetryAfter bounds the time for which a refused subscriber is told to wait.
const maxRetryAfter = time.Minute

// admission limits how fast subscribers arrive: a token bucket. It also counts refused subscribers
// that are expected to return, to spread their return over the time in which they can be admitted.
type admission struct {
	rate, burst float64 // tokens a second, tokens at most; with rate 0 everyone is admitted

	mu      sync.Mutex
	tokens  float64
	waiting float64 // refused subscribers that are expected to return
	last    time.Time
}

func newAdmission(rate float64, burst int) *admission {
	return &admission{rate: rate, burst: float64(burst), tokens: float64(burst)}
}

// admit takes a token. If there is none, it returns the time within which the subscriber should return. If refused
// subscribers return at random times within it, there is about one token for each.
func (a *admission) admit(now time.Time) (admitted bool, returnWithin time.Duration) {
	if a.rate == 0 {
		return true, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.last.IsZero() {
		earned := max(now.Sub(a.last).Seconds(), 0) * a.rate
		a.tokens, a.waiting = min(a.tokens+earned, a.burst), max(a.waiting-earned, 0)
	}
	a.last = now
	if a.tokens >= 1 {
		a.tokens--
		return true, 0
	}
	a.waiting = min(a.waiting+1, a.rate*maxRetryAfter.Seconds())
	return false, time.Duration(a.waiting / a.rate * float64(time.Second))
}
