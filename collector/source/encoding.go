package source

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// contentEncoding is how an answer is encoded, "" where it is not: "none" is no registered name, but the usual way to keep the
// compression of some frameworks (Next.js) off a stream. Several are a name that no encoding has.
func contentEncoding(h http.Header) string {
	var named []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" && name != "none" {
			named = append(named, name)
		}
	}
	return strings.Join(named, ", ")
}

// decompress reads the copy of a stream that the agent compressed; the client's own bytes stay as they are. The header is
// read at the first byte, since a stream may begin long after its answer did.
func decompress(r io.Reader, encoding string) io.Reader {
	switch encoding {
	case "":
		return r
	case "gzip", "x-gzip":
		return &lazyGzip{source: r}
	}
	return unreadable(encoding)
}

// toTheEnd follows a stream that cannot be decoded, or not any more, to its end, which is that of its run.
type toTheEnd struct {
	decoded io.Reader
	source  *tap
	any     bool // something was decoded
	read    int  // bytes of the source that were decoded when no more could be
}

func (e *toTheEnd) Read(p []byte) (int, error) {
	n, err := e.decoded.Read(p)
	e.any = e.any || n > 0
	if err != nil {
		if e.any {
			e.read = e.source.given
		}
		_, _ = io.Copy(io.Discard, e.source)
	}
	return n, err
}

// unreadable is a stream in an encoding that we cannot undo.
type unreadable string

func (e unreadable) Read([]byte) (int, error) {
	return 0, fmt.Errorf("content encoding %q cannot be read", string(e))
}

// unjudgeable says why the client cannot get a stream: nobody here can say what is in it.
type unjudgeable string

func (u unjudgeable) Error() string { return string(u) }

func inEncoding(encoding string) unjudgeable {
	return unjudgeable(fmt.Sprintf("the agent's stream is in the content encoding %q, which cannot be judged: let it send gzip or none", encoding))
}

func ofType(media string) unjudgeable {
	return unjudgeable(fmt.Sprintf("the agent's stream is of the type %q, the binary transport of AG-UI, which cannot be judged: let the client accept text/event-stream and nothing else", media))
}

type lazyGzip struct {
	source io.Reader
	reader *gzip.Reader
}

func (g *lazyGzip) Read(p []byte) (int, error) {
	if g.reader == nil {
		reader, err := gzip.NewReader(g.source)
		if err != nil {
			return 0, err
		}
		g.reader = reader
	}
	return g.reader.Read(p)
}
