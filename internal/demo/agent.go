package demo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// requestID is the header by which an agent knows the requests of our own client.
const requestID = "X-Request-Id"

// longest is when an agent speaks at the latest that is slower than anybody can wait for.
const longest = 1000 * time.Hour

// maxRequest bounds what is read of a request, in bytes.
const maxRequest = 1 << 16

// agent answers in its protocol with what was recorded of it.
type agent struct {
	source string
	speed  float64
	routes http.ServeMux

	mu       sync.Mutex
	said     map[string]*bytes.Buffer // to the requests that are under way, by their ids
	contexts map[string]*turns        // of agents whose answers are heard elsewhere
}

func newAgent(source string, speed float64) *agent {
	a := &agent{source: source, speed: speed, said: map[string]*bytes.Buffer{}, contexts: map[string]*turns{}}
	protocols[source].serve(a)
	return a
}

// ServeHTTP answers, and keeps what it said to a request that somebody will ask about.
func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	said := a.said[r.Header.Get(requestID)]
	a.mu.Unlock()
	if said != nil {
		w = &witnessed{w, a, said}
	}
	a.routes.ServeHTTP(w, r)
}

// witness keeps what the agent will say to a request. The answer may be asked for once it has been read to its end.
func (a *agent) witness(id string) (said func() []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := &bytes.Buffer{}
	a.said[id] = kept
	return func() []byte {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.said, id)
		return kept.Bytes()
	}
}

// witnessed copies an answer.
type witnessed struct {
	http.ResponseWriter
	agent *agent
	said  *bytes.Buffer
}

// Unwrap lets the answer be flushed.
func (w *witnessed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write copies what is sent.
func (w *witnessed) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.agent.mu.Lock()
	defer w.agent.mu.Unlock()
	w.said.Write(p[:n])
	return n, err
}

// body is a request's, as far as it is read.
func body(w http.ResponseWriter, r *http.Request) []byte {
	read, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest)) // of one that breaks off, what came
	return read
}

// tell plays a recording in a session, as if it happened now, until its end or until nobody listens. Where the agent is faster than
// its recording, its clock is ahead: the recording's own durations stand in its frames too.
func (a *agent) tell(w http.ResponseWriter, r *http.Request, of recording, session string) {
	openStream(w)
	began := time.Now()
	for _, f := range of.told(began, session) {
		at := began.Add(time.Duration(min(float64(f.after)/a.speed, float64(longest))))
		if !pause(r.Context(), time.Until(at)) {
			return
		}
		_, _ = w.Write(f.bytes) // where it fails the request is over, and so is its context
		_ = http.NewResponseController(w).Flush()
	}
}

// openStream begins the answer with what every protocol has at its beginning.
func openStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	_ = http.NewResponseController(w).Flush()
}

// turns are what is asked for in a context by one request and heard there by another, whoever comes first.
type turns struct {
	next  chan turn
	users int
}

// turn is one of them.
type turn struct {
	recording recording
	over      chan struct{} // closed when it has been told
}

// join is for those who ask in a context and for those who listen to it. All of them leave.
func (a *agent) join(context string) (t *turns, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t = a.contexts[context]; t == nil {
		t = &turns{next: make(chan turn)}
		a.contexts[context] = t
	}
	t.users++
	return t, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(a.contexts, context)
		}
	}
}

// pause waits. It is false where the context is done before.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
