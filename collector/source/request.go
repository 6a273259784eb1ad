package source

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Reasons why a run request could not be read: the values of the label `reason`.
const (
	UnreadTooLarge   = "too_large"
	UnreadMalformed  = "malformed"
	UnreadIncomplete = "incomplete" // the answer began before the request was complete
	UnreadSession    = "session"    // the session id is too long, or would change the path of a URL
	UnreadPanic      = "panic"      // a dialect panicked
	UnreadMemory     = "memory"     // the memory budget had no room for the request
)

// requestBody relays the body of a request to the agent, and keeps a copy up to a limit. It does not change the
// body, and delays it only as expectation describes.
type requestBody struct {
	io.ReadCloser
	request    *http.Request // the server's request; it gets its trailers at the end of the body
	trailer    http.Header   // for the agent; complete after the end of the body
	onComplete func()        // called after the end of the body; may be nil
	expected   *expectation  // nil if the client does not wait to be asked

	mu       sync.Mutex
	keepers  int // calls of keepCopy without discard; negative once the copy was freed
	copy     bodyCopy
	complete bool
	noCopy   string // why there is no copy: UnreadTooLarge, UnreadMemory, or UnreadIncomplete after discard; "" if there is one
	broken   bool   // reading failed because of the client
}

func newRequestBody(r *http.Request) *requestBody {
	b := &requestBody{ReadCloser: r.Body, request: r, trailer: r.Trailer.Clone(), complete: r.Body == http.NoBody, expected: newExpectation(r)}
	if b.trailer == nil {
		b.trailer = http.Header{} // trailers may come without being announced
	}
	return b
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.expected.wait()
	n, err := b.ReadCloser.Read(p)
	b.record(p[:n], err)
	if err == io.EOF && b.onComplete != nil {
		b.onComplete()
	}
	return n, err
}

func (b *requestBody) record(p []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.complete = true
		maps.Copy(b.trailer, b.request.Trailer)
	default:
		b.broken = true
	}
}

// keep adds p to the copy, or drops the copy if there is no room.
func (b *requestBody) keep(p []byte) {
	switch {
	case b.noCopy != "" || len(p) == 0:
	case len(b.copy.data)+len(p) > b.copy.limit:
		b.release(UnreadTooLarge)
	case !b.copy.grow(len(p)):
		b.release(UnreadMemory)
	default:
		b.copy.data = append(b.copy.data, p...)
	}
}

// release frees the copy and records the reason. No copy is kept from then on.
func (b *requestBody) release(reason string) {
	b.copy.release()
	b.noCopy = reason
}

// keepCopy keeps the copy until discard has been called once more.
func (b *requestBody) keepCopy() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keepers++
}

// discard frees the copy if nothing else needs it.
func (b *requestBody) discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keepers--; b.keepers < 0 {
		b.release(UnreadIncomplete)
	}
}

func (b *requestBody) isComplete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.complete
}

func (b *requestBody) isBroken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

// identify returns what the request says about its run, from the first dialect that finds anything. The
// second result is one of the Unread constants if the request could not be read, or "".
func (b *requestBody) identify(dialects []dialect.Dialect, length int64, depth int) (event.Identity, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.noCopy != "":
		return event.Identity{}, b.noCopy
	case !b.complete && int64(len(b.copy.data)) != length:
		return event.Identity{}, UnreadIncomplete
	}
	var doc strictjson.Doc
	if len(b.copy.data) > 0 && doc.Parse(b.copy.data, depth, strictjson.Everywhere) != nil {
		return event.Identity{}, UnreadMalformed
	}
	request := b.describe(&doc)
	request.Unambiguous = len(dialects) == 1
	for _, d := range dialects {
		id := cloneIdentity(d.Identify(request))
		// A tail puts the session into a URL. A path segment "." or ".." changes the path even if its dots are
		// escaped: RFC 3986, 5.2.4 and 6.2.2.2.
		if len(id.Session) > event.MaxSession || id.Session == "." || id.Session == ".." {
			id.Session = ""
			return id, UnreadSession
		}
		if id.App != "" || id.User != "" || id.Session != "" || id.JoinedRun != "" || id.RequestDialect != "" || id.NewRun || id.InBackground || len(id.Answers) > 0 {
			return id, ""
		}
	}
	return event.Identity{}, ""
}

// describe returns the request for dialects, with a parsed body.
func (b *requestBody) describe(doc *strictjson.Doc) dialect.Request {
	return dialect.Request{
		Method: b.request.Method, Path: canonical(b.request.URL), Query: b.request.URL.Query(), Header: b.request.Header, Body: doc.Root(),
	}
}

// describeEarly returns the request for dialects before it is complete. Its body is empty if the copy is not JSON yet.
func (b *requestBody) describeEarly(doc *strictjson.Doc, depth int) dialect.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.copy.data) == 0 || doc.Parse(b.copy.data, depth, strictjson.Everywhere) != nil {
		*doc = strictjson.Doc{}
	}
	return b.describe(doc)
}

// cloneIdentity returns a copy of an identity. The original may keep a path or query of a megabyte in
// memory.
func cloneIdentity(id event.Identity) event.Identity {
	id.App, id.User, id.Session, id.JoinedRun = strings.Clone(id.App), strings.Clone(id.User), strings.Clone(id.Session), strings.Clone(id.JoinedRun)
	id.ReplayedRun, id.JoinedSession, id.AnsweredRun = strings.Clone(id.ReplayedRun), strings.Clone(id.JoinedSession), strings.Clone(id.AnsweredRun)
	for i, answer := range id.Answers {
		id.Answers[i] = strings.Clone(answer)
	}
	return id
}
