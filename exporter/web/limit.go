package web

import (
	"net/http"
	"time"
)

const (
	maxAnswers    = 5                // pages and answers of the API that are built or sent at once
	answerWait    = 5 * time.Second  // for a place among them, after which the response is 503
	answerTimeout = 30 * time.Second // within which a client must have read its answer
)

// limitAnswers returns a function that adds one common limit to handlers. An answer may be many megabytes and cost much time, which
// clients must not take from the relayed streams.
func limitAnswers() func(http.HandlerFunc) http.Handler {
	places := make(chan struct{}, maxAnswers)
	return func(next http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wait := time.NewTimer(answerWait)
			defer wait.Stop()
			select {
			case places <- struct{}{}:
			case <-r.Context().Done():
				return
			case <-wait.C:
				w.Header().Set("Retry-After", "5")
				writeText(w, http.StatusServiceUnavailable, "too many requests for runs; try again later")
				return
			}
			defer func() { <-places }()
			control := http.NewResponseController(w)
			_ = control.SetWriteDeadline(time.Now().Add(answerTimeout))  // not supported by a test's recorder
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // of the connection's next answers
			next(w, r)
		})
	}
}
