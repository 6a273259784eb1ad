package source

import (
	"context"
	"net/http"
	"time"
)

// linger is for how long a request goes on when its client has closed the connection, at least for sending: one that waits for
// an answer cannot be told from one that left. Agents' own servers give such a client what they have ready, and no more.
const linger = 100 * time.Millisecond

// lingering returns the request with a context that ends a moment after the client left.
func (p *Proxy) lingering(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(r.Context(), func() { time.AfterFunc(p.linger, cancel) })
	return r.WithContext(ctx), func() { stop(); cancel() }
}

// answerWriter gives the client the agent's answer with nothing of net/http's own in it.
type answerWriter struct {
	http.ResponseWriter
	request *requestBody
	client  context.Context // done when the client has left
	span    *serverSpan     // nil where the request has none
	whole   bool            // the answer has come to its end

	restricted bool // to what the policy public lets out
}

// fail records why the request failed.
func (w *answerWriter) fail(why string) {
	if w.span != nil {
		w.span.fail(why)
	}
}

// Unwrap is for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes informational answers as they are. It closes the connection after an answer that began before its request
// was over: the server would read the rest of the request by itself and then panic at the next one, golang/go#68560.
func (w *answerWriter) WriteHeader(status int) {
	if w.restricted && status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return // its headers are the agent's
	}
	if w.span != nil {
		w.span.answered(status)
	}
	if header := w.Header(); status >= http.StatusOK {
		if !w.request.isWhole() {
			header.Set("Connection", "close")
		}
		if _, named := header["Content-Type"]; !named {
			header["Content-Type"] = nil // else the server guesses one
		}
	}
	w.ResponseWriter.WriteHeader(status)
}
