package web

import (
	"net/http"
	"time"
)

const (
	maxResponses    = 5                // pages and responses of the API that are built or sent at once
	responseWait    = 5 * time.Second  // for a slot, after which the response is 503
	responseTimeout = 30 * time.Second // within which a client must have read its response
)

// limitResponses returns a function that adds one common limit to handlers. A response may have many megabytes
// and take much processor time, which the relayed streams need first.
func limitResponses() func(http.HandlerFunc) http.Handler {
	slots := make(chan struct{}, maxResponses)
	return func(next http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wait := time.NewTimer(responseWait)
			defer wait.Stop()
			select {
			case slots <- struct{}{}:
			case <-r.Context().Done():
				return
			case <-wait.C:
				w.Header().Set("Retry-After", "5")
				writeText(w, http.StatusServiceUnavailable, "too many requests for runs; try again later")
				return
			}
			defer func() { <-slots }()
			control := http.NewResponseController(w)
			_ = control.SetWriteDeadline(time.Now().Add(responseTimeout)) // not supported by a test's recorder
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }()  // of the connection's next responses
			next(w, r)
		})
	}
}
