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

// FuzzOpenStream checks that a stream without a known dialect passes byte for byte, in pieces of any size.
func FuzzOpenStream(f *testing.F) {
	for _, stream := range []string{
		"", "\n", "\r\r\n\n", yes, yes + no, "data: x\r\n\r\n: c\n\nid: 1\n\ndata: cut", "\xef\xbb\xbfdata: 1\n\n",
		"data: " + strings.Repeat("x", 3*relayLimit), "data: " + strings.Repeat("x", 3*relayLimit) + "\r\n\r\n" + yes, strings.Repeat("data\n", relayLimit) + "\n" + yes,
	} {
		f.Add([]byte(stream), uint8(0))
		f.Add([]byte(stream), uint8(1))
	}
	nobody := collector.New(nil, collector.Settings{MaxFrame: relayLimit, MaxJSONDepth: 64}, nil)
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
		r := newFilteredBody(io.NopCloser(nil), wordFilter{}, nil)
		r.startUnconfirmed(body, relayLimit, func(in io.Reader) *collector.StreamDecoder {
			return nobody.Decode(&event.Stream{}, collector.Input{Reader: in, ReceivedAt: time.Now, RequireSure: true, ReportComments: true})
		})
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, stream) {
			t.Errorf("the stream %q becomes %q, %v", stream, got, err)
		}
	})
}

// FuzzPaths checks the interpretations of any path: the canonical one is normalized and stable, all are absolute, and the decoded path is
// among them.
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
		as := interpretPath(u)
		once := as.all[0]
		if strings.ContainsAny(once, `\;#`) || strings.Contains(once, "//") {
			t.Errorf("canonical(%q) = %q is not normalized", path, once)
		}
		if twice := canonical(&url.URL{Path: once}); twice != once {
			t.Errorf("canonical(%q) = %q, whose canonical form is %q", path, once, twice)
		}
		for _, one := range as.all {
			if !strings.HasPrefix(one, "/") {
				t.Errorf("an interpretation of %q is not absolute: %q", path, one)
			}
		}
		if segment := "/chat/" + url.PathEscape(path); path != "" && !interpretPath(parsePath(t, segment)).match("/chat/*") {
			t.Errorf("the segment %q does not match /chat/*", segment)
		}
	})
}

func parsePath(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.ParseRequestURI(path)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
