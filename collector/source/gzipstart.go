package source

import (
	"bytes"
	"io"
	"time"
)

// gzipMagic begins each gzip stream (RFC 1952, 2.3.1).
var gzipMagic = []byte("\x1f\x8b\x08")

// gzipWait is how long the header of an answer waits for the first bytes of its content. An agent may send them long after it.
const gzipWait = 100 * time.Millisecond

// gzipStart is the body of an answer that should be gzip. It reads the first bytes ahead, so that the client can get an error
// with a status if they are not.
type gzipStart struct {
	io.ReadCloser
	isRead chan struct{} // closed when the fields below are set
	start  []byte        // what Read has not returned yet
	err    error
}

func newGzipStart(body io.ReadCloser) *gzipStart {
	g := &gzipStart{ReadCloser: body, isRead: make(chan struct{})}
	go func() {
		defer close(g.isRead)
		start := make([]byte, len(gzipMagic))
		n, err := io.ReadFull(body, start)
		g.start, g.err = start[:n], err
	}()
	return g
}

// isOther reports whether the content is not gzip, as far as that is known in time. Empty content may be.
func (g *gzipStart) isOther() bool {
	select {
	case <-g.isRead:
		return len(g.start) > 0 && !bytes.HasPrefix(gzipMagic, g.start)
	case <-time.After(gzipWait):
		return false
	}
}

func (g *gzipStart) Read(p []byte) (int, error) {
	<-g.isRead
	if n := copy(p, g.start); n > 0 {
		g.start = g.start[n:]
		return n, nil
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.ReadCloser.Read(p)
}
