package source

import (
	"io"
	"net/http"
	"sync"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Why a run request could not be read; the values of the label `reason`.
const (
	UnreadTooLarge   = "too_large"
	UnreadMalformed  = "malformed"
	UnreadIncomplete = "incomplete" // the answer began before the request was over
)

// requestBody copies what passes to the agent of a run request, up to a limit: the request itself is neither held nor changed.
type requestBody struct {
	io.ReadCloser
	limit int

	mu    sync.Mutex
	copy  []byte
	whole bool
	over  bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := b.limit - len(b.copy); n > room {
		b.over, b.copy = true, nil
	} else if !b.over {
		b.copy = append(b.copy, p[:n]...)
	}
	if err == io.EOF {
		b.whole = true
	}
	return n, err
}

func (b *requestBody) isWhole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole
}

// duplexWriter closes the connection after an answer that began before its request was over. The server would read the rest of
// the request by itself and then panic at the next one: golang/go#68560.
type duplexWriter struct {
	http.ResponseWriter
	request *requestBody
}

// Unwrap is for http.ResponseController.
func (w *duplexWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes informational answers as they are.
func (w *duplexWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.request.isWhole() {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

// identify reads session, user and app out of the request, as the first of the dialects that finds any. The reason is why it
// cannot, or "".
func (b *requestBody) identify(dialects []dialect.Dialect, length int64, depth int) (event.Identity, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
		return event.Identity{}, UnreadTooLarge
	case !b.whole && int64(len(b.copy)) != length:
		return event.Identity{}, UnreadIncomplete
	}
	var doc strictjson.Doc
	if doc.Parse(b.copy, depth) != nil {
		return event.Identity{}, UnreadMalformed
	}
	for _, d := range dialects {
		if id := d.Identify(doc.Root()); id.App != "" || id.User != "" || id.Session != "" {
			return id, ""
		}
	}
	return event.Identity{}, ""
}
