package source

import (
	"io"
	"maps"
	"net/http"
	"strings"
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
	UnreadSession    = "session"    // its session's id is too long to be one, or would lead elsewhere in a URL
	UnreadPanic      = "panic"      // a fault of ours
)

// requestBody copies what passes to the agent of a run request, up to a limit: the request itself is neither held nor changed.
type requestBody struct {
	io.ReadCloser
	limit   int
	request *http.Request // as the server has it, which sets its trailers at the end of the body
	trailer http.Header   // to the agent; whoever reads the body may read it
	over    func()        // is told when the body is; nil where nobody asks

	mu     sync.Mutex
	copy   []byte
	whole  bool
	long   bool // over the limit
	broken bool // the client's doing
}

func newRequestBody(r *http.Request) *requestBody {
	b := &requestBody{ReadCloser: r.Body, request: r, trailer: r.Trailer.Clone(), whole: r.Body == http.NoBody}
	if b.trailer == nil {
		b.trailer = http.Header{} // some come unannounced
	}
	return b
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.note(p[:n], err)
	if err == io.EOF && b.over != nil {
		b.over()
	}
	return n, err
}

func (b *requestBody) note(p []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := b.limit - len(b.copy); len(p) > room {
		b.long, b.copy = true, nil
	} else if !b.long {
		b.copy = append(b.copy, p...)
	}
	switch err {
	case nil:
	case io.EOF:
		b.whole = true
		maps.Copy(b.trailer, b.request.Trailer)
	default:
		b.broken = true
	}
}

func (b *requestBody) isWhole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole
}

func (b *requestBody) isBroken() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

// identify reads session, user and app out of the request, as the first of the dialects that finds any. The reason is why it
// cannot, or "".
func (b *requestBody) identify(dialects []dialect.Dialect, length int64, depth int) (event.Identity, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.long:
		return event.Identity{}, UnreadTooLarge
	case !b.whole && int64(len(b.copy)) != length:
		return event.Identity{}, UnreadIncomplete
	}
	var doc strictjson.Doc
	if len(b.copy) > 0 && doc.Parse(b.copy, depth) != nil {
		return event.Identity{}, UnreadMalformed
	}
	request := b.describe(&doc)
	for _, d := range dialects {
		id := owned(d.Identify(request))
		// No escaping keeps a segment of dots from leading a tail's URL elsewhere: RFC 3986, 5.2.4 and 6.2.2.2.
		if len(id.Session) > event.MaxSession || id.Session == "." || id.Session == ".." {
			id.Session = ""
			return id, UnreadSession
		}
		if id.App != "" || id.User != "" || id.Session != "" || id.Joins != "" || id.Asks != "" || len(id.Answers) > 0 {
			return id, ""
		}
	}
	return event.Identity{}, ""
}

// describe returns the request with a body that was read.
func (b *requestBody) describe(doc *strictjson.Doc) dialect.Request {
	return dialect.Request{
		Method: b.request.Method, Path: canonical(b.request.URL), Query: b.request.URL.Query(), Header: b.request.Header, Body: doc.Root(),
	}
}

// asked returns the request, with as much of its body as can be read by now.
func (b *requestBody) asked(doc *strictjson.Doc, depth int) dialect.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.copy) == 0 || doc.Parse(b.copy, depth) != nil {
		*doc = strictjson.Doc{}
	}
	return b.describe(doc)
}

// owned returns a copy of an identity: its texts may be slices of a path or a query of a megabyte.
func owned(id event.Identity) event.Identity {
	id.App, id.User, id.Session, id.Joins = strings.Clone(id.App), strings.Clone(id.User), strings.Clone(id.Session), strings.Clone(id.Joins)
	for i, answer := range id.Answers {
		id.Answers[i] = strings.Clone(answer)
	}
	return id
}
