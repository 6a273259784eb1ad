package source

import (
	"bytes"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// FuzzOpenStream relays what no dialect knows, read in pieces of all sizes: it passes byte for byte.
func FuzzOpenStream(f *testing.F) {
	for _, stream := range []string{
		"", "\n", "\r\r\n\n", yes, yes + no, "data: x\r\n\r\n: c\n\nid: 1\n\ndata: cut", "\xef\xbb\xbfdata: 1\n\n",
		"data: " + strings.Repeat("x", 3*relayLimit), "data: " + strings.Repeat("x", 3*relayLimit) + "\r\n\r\n" + yes, strings.Repeat("data\n", relayLimit) + "\n" + yes,
	} {
		f.Add([]byte(stream), uint8(0))
		f.Add([]byte(stream), uint8(1))
	}
	nobody := collector.New(nil, collector.Settings{Frame: relayLimit, JSONDepth: 64}, nil)
	f.Fuzz(func(t *testing.T, stream []byte, pieces uint8) {
		var body io.Reader = bytes.NewReader(stream)
		switch pieces % 4 {
		case 1:
			body = iotest.OneByteReader(body)
		case 2:
			body = iotest.HalfReader(body)
		case 3:
			body = iotest.DataErrReader(body)
		}
		r := newRelayed(io.NopCloser(nil), judge{}, nil)
		r.open(body, relayLimit, func(in io.Reader) *collector.Decoding {
			return nobody.Decode(&event.Stream{}, collector.Input{Reader: in, Arrival: time.Now, Sure: true, Comments: true})
		})
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, stream) {
			t.Errorf("%q became %q, %v", stream, got, err)
		}
	})
}

// FuzzPaths takes any request's path for what any server may take it for: absolute paths, the first in one spelling, which no second look
// changes, and the path as it is decoded among them.
func FuzzPaths(f *testing.F) {
	for _, path := range []string{
		"", "/", "/run_sse", "//run_sse", "/x/../run_sse;a=b", `/\run_sse`, "/run_sse#f", "/%72un_sse", "*", "/..;/run_sse", "/a%2f..%5cb/%2e", "/ /%20/%ff",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || len(path) > 64 {
			return
		}
		as := read(u)
		once := as.all[0]
		if strings.ContainsAny(once, `\;#`) || strings.Contains(once, "//") {
			t.Errorf("%q is taken for %q", path, once)
		}
		if twice := canonical(&url.URL{Path: once}); twice != once {
			t.Errorf("%q is taken for %q, and that for %q", path, once, twice)
		}
		for _, one := range as.all {
			if !strings.HasPrefix(one, "/") {
				t.Errorf("%q is read as %q", path, one)
			}
		}
		if segment := "/chat/" + url.PathEscape(path); path != "" && !read(parsed(t, segment)).match("/chat/*") {
			t.Errorf("%q is no path of /chat/*", segment)
		}
	})
}

func parsed(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.ParseRequestURI(path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
