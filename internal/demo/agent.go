package demo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// requestID is the header by which an agent recognizes the requests of the demo's own clients.
const requestID = "X-Request-Id"

// maxDelay caps the delay of a frame if the speed is very low.
const maxDelay = 1000 * time.Hour

// maxRequest is the number of bytes of a request body that are read.
const maxRequest = 1 << 16

// agent is a server that answers with recordings, in the protocol of its source.
type agent struct {
	source string
	speed  float64
	routes http.ServeMux

	mu              sync.Mutex
	recordedAnswers map[string]*bytes.Buffer // answers to open requests, by request id
	contexts        map[string]*conversation // by context id; for agents that stream a turn in another request's answer
}

func newAgent(source string, speed float64) *agent {
	a := &agent{source: source, speed: speed, recordedAnswers: map[string]*bytes.Buffer{}, contexts: map[string]*conversation{}}
	protocols[source].serve(a)
	return a
}

// ServeHTTP answers a request, and keeps a copy of the answer if record was called for its id.
func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	said := a.recordedAnswers[r.Header.Get(requestID)]
	a.mu.Unlock()
	if said != nil {
		w = &recordingWriter{w, a, said}
	}
	a.routes.ServeHTTP(w, r)
}

// record makes the agent keep its answer to a request. Call the returned function for the answer after the
// client has read it to its end.
func (a *agent) record(id string) (said func() []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := &bytes.Buffer{}
	a.recordedAnswers[id] = kept
	return func() []byte {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.recordedAnswers, id)
		return kept.Bytes()
	}
}

// recordingWriter copies an answer.
type recordingWriter struct {
	http.ResponseWriter
	agent *agent
	copy  *bytes.Buffer
}

// Unwrap returns the wrapped writer, which can flush.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write sends and copies p.
func (w *recordingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.agent.mu.Lock()
	defer w.agent.mu.Unlock()
	w.copy.Write(p[:n])
	return n, err
}

// body returns the body of a request, up to maxRequest.
func body(w http.ResponseWriter, r *http.Request) []byte {
	read, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest)) // an incomplete body is good enough
	return read
}

// play plays a recording in a session, as if it happened now, until its end or until the client leaves. At a
// higher speed, the times within the frames run ahead of the clock, because they keep the recorded durations.
func (a *agent) play(w http.ResponseWriter, r *http.Request, of recording, session string) {
	openStream(w)
	began := time.Now()
	for _, f := range of.at(began, session) {
		at := began.Add(time.Duration(min(float64(f.after)/a.speed, float64(maxDelay))))
		if !pause(r.Context(), time.Until(at)) {
			return
		}
		_, _ = w.Write(f.bytes) // if it fails, the request's context is done
		_ = http.NewResponseController(w).Flush()
	}
}

// openStream sends the headers of an event stream.
func openStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	_ = http.NewResponseController(w).Flush()
}

// conversation passes turns from the requests that ask for them to the request that streams the context.
type conversation struct {
	next  chan turn
	users int
}

// turn is one turn of a conversation.
type turn struct {
	recording recording
	played    chan struct{} // closed when the recording has been played
}

// joinContext returns the conversation of a context, for requests that ask and for those that listen. Call leave
// at the end of the request.
func (a *agent) joinContext(context string) (t *conversation, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t = a.contexts[context]; t == nil {
		t = &conversation{next: make(chan turn)}
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

// pause waits for d. It returns false if the context is done before that.
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
