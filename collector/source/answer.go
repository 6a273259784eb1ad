package source

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// linger is how long a request continues after its client has closed the connection. The client may have
// closed only its sending side and may still wait for the answer. Both cases look the same. linger is
// short because a client without a proxy would not get more: as soon as it closes its sending side, the agent's
// server sends what is ready of the answer, and nothing later.
const linger = 100 * time.Millisecond

// withLinger returns the request with a context that ends p.linger after the client has left.
func (p *Proxy) withLinger(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(r.Context(), func() { time.AfterFunc(p.linger, cancel) })
	return r.WithContext(ctx), func() { stop(); cancel() }
}

// disconnecter can end a request from another goroutine until the request is over.
type disconnecter struct {
	mu     sync.Mutex
	writer http.ResponseWriter // nil once the request is over
	cancel context.CancelFunc
}

// disconnect ends the request and closes the connection to its client, even if the client does not read.
func (d *disconnecter) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writer != nil {
		d.cancel()
		_ = http.NewResponseController(d.writer).SetWriteDeadline(time.Unix(1, 0))
	}
}

// release drops the writer. Otherwise the writer would keep the whole request in memory.
func (d *disconnecter) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writer = nil
}

// frameShare returns a share of FrameMemory for the stream that answers a request.
func (p *Proxy) frameShare(ctx context.Context) *frameShare {
	return p.settings.FrameMemory.share(ctx, p.settings.FrameLimit, func() {
		if p.loggedStall.allows() {
			p.logger.Warn("stream disconnected: memory is used up, and this stream has made no progress; further ones within a minute are only counted, in delegraph_memory_shed_total", "name", p.settings.Name)
		}
		forwardedOf(ctx).disconnecter.disconnect()
	})
}

// answerWriter writes the agent's answer to the client. It keeps net/http from guessing a Content-Type.
type answerWriter struct {
	http.ResponseWriter
	request    *requestBody
	clientCtx  context.Context // done when the client has left
	span       *serverSpan     // nil if the request has none
	begun      bool            // the header of the agent's answer was written
	complete   bool            // the whole answer was sent
	restricted bool            // the policy public limits the answer
}

func newAnswerWriter(w http.ResponseWriter, r *http.Request, body *requestBody) *answerWriter {
	return &answerWriter{ResponseWriter: w, request: body, clientCtx: r.Context()}
}

// fail records why the request failed.
func (w *answerWriter) fail(why string) {
	if w.span != nil {
		w.span.fail(why)
	}
}

// flushBroken sends the header of an answer that breaks off before its body begins. ReverseProxy sends it in another
// goroutine, perhaps too late: then the server would close the connection without a status.
func (w *answerWriter) flushBroken() {
	if w.begun && !w.complete {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the status. If the answer begins before the request has been read, it makes the
// server close the connection after the answer. Otherwise the server would read the rest of the request
// and panic at the next one (golang/go#68560).
func (w *answerWriter) WriteHeader(status int) {
	if status == http.StatusContinue || status >= http.StatusOK {
		defer w.request.expected.meet()
	}
	if w.restricted && status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return // informational answers carry the agent's headers
	}
	if status == http.StatusContinue && w.request.expected != nil {
		return // net/http sends its own when the transport reads the body
	}
	if w.span != nil {
		w.span.recordStatus(status)
	}
	if header := w.Header(); status >= http.StatusOK {
		w.begun = true
		if !w.request.isComplete() {
			header.Set("Connection", "close")
		}
		if _, named := header["Content-Type"]; !named {
			header["Content-Type"] = nil // keep the server from guessing one
		}
	}
	w.ResponseWriter.WriteHeader(status)
}
