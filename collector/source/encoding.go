package source

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// contentEncoding returns the content encoding of an answer, or "" for none. It also accepts "none":
// the name is not registered, but some frameworks (Next.js) need it to leave a stream uncompressed.
// Several encodings are joined to a name that decompress does not support.
func contentEncoding(h http.Header) string {
	var named []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" && name != "none" {
			named = append(named, name)
		}
	}
	return strings.Join(named, ", ")
}

// decompress returns a reader of the decoded content. It reads the gzip header at the first Read,
// because the content may begin long after the header of the answer.
func decompress(r io.Reader, encoding string) io.Reader {
	switch encoding {
	case "":
		return r
	case "gzip", "x-gzip":
		return &gzipStream{source: bufio.NewReader(r)}
	}
	return unsupportedEncoding(encoding)
}

// isSupported reports whether decompress can decode an encoding.
func isSupported(encoding string) bool {
	_, unsupported := decompress(nil, encoding).(unsupportedEncoding)
	return !unsupported
}

// drainingReader reads a decoded stream for its observer. The bytes of frames that have been read only in
// part are charged to the tap's budget. After a decoding error it waits for the end of the tap, discarding what comes,
// before it returns the error. The error makes the observer end the run, which must not end before the stream.
type drainingReader struct {
	decoded  io.Reader
	tap      *tap
	maxFrame int // maximum bytes of a frame that are held

	bytesBeforeError int   // bytes of the tap that were read before an error; 0 if none of them could be decoded
	total            int64 // decoded bytes
	consumed         int64 // decoded bytes of frames that were observed
	charged          int   // decoded bytes that are charged to the budget: those that are not consumed yet, at most maxFrame
}

func (d *drainingReader) Read(p []byte) (int, error) {
	if !d.charge() {
		d.tap.giveUp()
		d.decoded = d.tap
	}
	n, err := d.decoded.Read(p)
	d.total += int64(n)
	if err != nil {
		if d.total > 0 {
			d.bytesBeforeError = d.tap.delivered
		}
		_, _ = io.Copy(io.Discard, d.tap)
	}
	return n, err
}

// charge charges the bytes that were read and not observed yet. It reports whether the budget has room.
func (d *drainingReader) charge() bool {
	held := min(int(d.total-d.consumed), d.maxFrame)
	if held > d.charged && !d.tap.memory.Reserve(held-d.charged) {
		return false
	}
	d.tap.memory.Release(max(0, d.charged-held))
	d.charged = held
	return true
}

// release returns what was charged to the budget.
func (d *drainingReader) release() { d.tap.memory.Release(d.charged) }

// unsupportedEncoding is the reader of a stream in an encoding that cannot be decoded.
type unsupportedEncoding string

func (e unsupportedEncoding) Read([]byte) (int, error) {
	return 0, fmt.Errorf("content encoding %q is not supported", string(e))
}

// unfilterable is the error for a stream that is withheld because the filter cannot read its
// content.
type unfilterable string

func (u unfilterable) Error() string { return string(u) }

func encodingError(encoding string) unfilterable {
	return unfilterable(fmt.Sprintf("the agent's stream has the content encoding %q, which cannot be filtered; configure the agent to send gzip or no encoding", encoding))
}

func mediaTypeError(media string) unfilterable {
	return unfilterable(fmt.Sprintf("the agent's stream has the type %q, the binary transport of AG-UI, which cannot be filtered; let the client accept only text/event-stream", media))
}

// gzipStream reads the members of a gzip stream (RFC 1952, 2.2). Unlike gzip.Reader, it returns the end of a member
// without waiting for the next one: an agent may send one for each event.
type gzipStream struct {
	source *bufio.Reader // an io.ByteReader: gzip.Reader does not read beyond a member
	member *gzip.Reader  // nil before the first one
	ended  bool          // the member is over
}

func (g *gzipStream) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if err = g.next(); err != nil {
			return 0, err
		}
		n, err = g.member.Read(p)
		if g.ended = err == io.EOF; g.ended { //nolint:errorlint // gzip.Reader does not wrap it
			err = nil
		}
	}
	return n, err
}

// next begins the first member, or the one after a member that is over.
func (g *gzipStream) next() (err error) {
	switch {
	case g.member == nil:
		g.member, err = gzip.NewReader(g.source)
	case g.ended:
		err = g.member.Reset(g.source)
	default:
		return nil
	}
	if err == nil {
		g.member.Multistream(false)
	}
	return err
}
