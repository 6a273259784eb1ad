package source

import (
	"compress/gzip"
	"fmt"
	"io"
)

// decompress reads the copy of a stream that the agent compressed; the client's own bytes stay as they are. The header is
// read at the first byte, since a stream may begin long after its answer did.
func decompress(r io.Reader, encoding string) io.Reader {
	switch encoding {
	case "", "identity":
		return r
	case "gzip":
		return &lazyGzip{source: r}
	}
	return unreadable(encoding)
}

// unreadable is a stream in an encoding that we cannot undo.
type unreadable string

func (e unreadable) Read([]byte) (int, error) {
	return 0, fmt.Errorf("content encoding %q cannot be read", string(e))
}

// unjudgeable is the encoding of a stream that the client cannot get, since nobody can say what is in it.
type unjudgeable string

func (e unjudgeable) Error() string {
	return fmt.Sprintf("the agent's stream is in the content encoding %q, which cannot be judged: let it send gzip or none", string(e))
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
