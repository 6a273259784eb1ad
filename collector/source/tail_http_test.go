package source

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// What a client of server-sent events does with HTTP: WHATWG HTML 9.2.3, as far as it holds for a program that nobody can load
// again. Where it gives up for good, a browser does so after any status but 200; a tail after 204 only.

// TestStatuses has the agent answer with a stream under every kind of status: only that under 200 is read.
func TestStatuses(t *testing.T) {
	const read, over, soon, late = "read", "over", "soon", "late"
	for status, want := range map[int]string{
		200: read, 204: over,
		// Whoever asks for something else will get it, or nothing: that is not ours to judge, and not to hammer at.
		201: late, 202: late, 203: late, 205: late, 206: late, 210: late, 226: late, 299: late, 300: late, 304: late, 305: late, 306: late,
		400: late, 401: late, 402: late, 403: late, 405: late, 406: late, 407: late, 409: late, 410: late, 411: late, 415: late, 421: late,
		422: late, 425: late, 431: late, 451: late, 499: late,
		// No session yet, too many, or an agent that is down: these pass.
		404: soon, 408: soon, 429: soon, 500: soon, 501: soon, 502: soon, 503: soon, 504: soon, 511: soon, 599: soon, 999: soon,
	} {
		a := tailing(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, says("1", "a"))
		})
		got := soon
		switch {
		case len(a.frames) > 0:
			got = read
		case len(a.waited) == 0:
			got = over
		case a.waited[0] >= longestPause:
			got = late
		}
		if got != want {
			t.Errorf("%d: %s, want %s; %s", status, got, want, strings.Join(a.got, ", "))
		}
	}
}

// TestEarlyHints has the agent answer twice, first with what is no answer yet.
func TestEarlyHints(t *testing.T) {
	a := tailing(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		streams(says("1", "a"))(w, r)
	})
	if len(a.frames) != 1 {
		t.Error(a.got)
	}
}

// TestContentTypes reads what is a stream of events under all its parameters, which have no say: the encoding is UTF-8.
func TestContentTypes(t *testing.T) {
	for kind, read := range map[string]bool{
		"text/event-stream": true, "text/event-stream;": true, "text/event-stream;charset=UTF-8": true, "Text/Event-Stream": true,
		"text/event-stream ; charset=windows-1251": true, `text/event-stream; charset="x"; boundary=y`: true, "text/event-stream;x": true,
		"text/event-stream; charset=utf-8; charset=utf-8": true,
		"": false, "text/x-bogus": false, "text/event-streams": false, "text/event": false, "text/plain": false, "application/json": false,
		"text/plain; text/event-stream": false, "application/x-ndjson": false, "text event-stream": false,
	} {
		a := tailing(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = []string{kind} // an empty one too, which net/http would fill in
			_, _ = io.WriteString(w, says("1", "é"))
		})
		if got := len(a.frames) == 1; got != read || !read && a.waited[0] < longestPause {
			t.Errorf("%q: %v, want %v; %s %s", kind, got, read, a.got, a.waited)
		}
	}
}

// TestUnaskedEncoding is refused: its bytes are no frames.
func TestUnaskedEncoding(t *testing.T) {
	a := tailing(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		streams(says("1", "a"))(w, r)
	})
	if got := strings.Join(a.got, ", "); got != "open ctx, up false, close stopped" || a.waited[0] < longestPause {
		t.Error(got, a.waited)
	}
}

// asked is what a server was asked for.
type asked struct{ Method, URI, LastID, Authorization, Accept, CacheControl string }

// looked notes what the next answer is asked for.
func looked(all *[]asked, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		last := "none"
		if ids := h.Values("Last-Event-ID"); len(ids) > 0 {
			last = fmt.Sprintf("%q", ids)
		}
		*all = append(*all, asked{r.Method, r.RequestURI, last, h.Get("Authorization"), h.Get("Accept"), h.Get("Cache-Control")})
		next(w, r)
	}
}

// TestRedirects follows them as what it asked for, with all that it asked with, and asks the first address again afterwards.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var got []asked
		tailing(t, 5, func(s *TailSettings) {
			s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "token", nil }}
		}, looked(&got, streams(says("7", "a"))), looked(&got, answers(status, "Location", "../there?x=1")), looked(&got, streams(says("8", "b"))), looked(&got, answers(204)))
		request := asked{"GET", "/events/ctx", "none", "token", "text/event-stream", "no-cache"}
		want := []asked{request, request, request, request}
		want[1].LastID, want[2].LastID, want[2].URI, want[3].LastID = `["7"]`, `["7"]`, "/there?x=1", `["8"]`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: %s", status, diff)
		}
	}
}

// TestRedirectsThatAreNone ask once, or as often as we allow, and wait.
func TestRedirectsThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		asked    int
		least    time.Duration
		complain string
	}{
		"to itself":         {answers(301, "Location", ""), 1, longestPause, "it answered 301"},
		"to nowhere":        {answers(307), 1, longestPause, "it answered 307"},
		"round and round":   {answers(302, "Location", "/events/ctx"), 10, firstPause, "redirected 10 times"},
		"to no address":     {answers(308, "Location", "http://s3cr3t:%zz/"), 1, firstPause, "its answer is no HTTP"},
		"to another scheme": {answers(301, "Location", "ftp://127.0.0.1/s3cr3t"), 1, longestPause, "redirected to another host"},
	} {
		var got []asked
		a := tailing(t, 0, nil, looked(&got, c.answer))
		if len(got) != c.asked || a.waited[0] < c.least {
			t.Errorf("%s: asked %d times, then waited %s", name, len(got), a.waited[0])
		}
		if log := a.log.String(); !strings.Contains(log, c.complain) || strings.Contains(log, "s3cr3t") {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// TestElsewhere asks no other host, which is another port too, whatever it would be told there.
func TestElsewhere(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("asked with %v", r.Header) }))
	defer there.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		a := tailing(t, 0, nil, answers(status, "Location", there.URL))
		if !strings.Contains(a.log.String(), "redirected to another host") {
			t.Error(a.log.String())
		}
	}
}

// TestSameHost has what no server on one port can do.
func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		from, to string
		followed bool
	}{
		{"http://agent/a", "http://agent/b", true}, {"http://agent/a", "https://agent/b", true}, {"https://agent/a", "https://agent/b", true},
		{"https://agent/a", "http://agent/a", false}, {"http://agent/a", "http://agent.example/a", false},
		{"http://agent/a", "http://agent:81/a", false}, {"http://agent/a", "http://agent@other/a", false},
	} {
		from, _ := url.Parse(c.from)
		to, _ := url.Parse(c.to)
		if err := sameHost(&http.Request{URL: to}, []*http.Request{{URL: from}}); (err == nil) != c.followed {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// TestLastEventID comes back with the last id of all connections, where it is one that HTTP can carry.
func TestLastEventID(t *testing.T) {
	frame := func(fields string) string { return fields + "\ndata: {}\n\n" }
	long := strings.Repeat("x", 1<<10)
	for name, c := range map[string]struct {
		streams []string
		want    string // that of the last request
	}{
		"none":                     {[]string{frame("x:1")}, "none"},
		"one":                      {[]string{frame("id: 1")}, `["1"]`},
		"of an earlier connection": {[]string{frame("id: 1"), frame("x:1"), ":\n\n"}, `["1"]`},
		"without data":             {[]string{"id: 1\n\n"}, `["1"]`},
		"of half a frame":          {[]string{frame("id: 1") + "id: 2\ndata: {}\n"}, `["1"]`},
		"taken back":               {[]string{frame("id: 1"), frame("id")}, "none"},
		"taken back at once":       {[]string{frame("id: 1") + frame("id:")}, "none"},
		"in any script":            {[]string{frame("id: …é")}, `["…é"]`},
		"with NUL":                 {[]string{frame("id: 1") + frame("id: 2\x00")}, `["1"]`},
		"with what breaks headers": {[]string{frame("id: 1") + frame("id: 2\x01")}, "none"},
		"with DEL":                 {[]string{frame("id: 1\x7f")}, "none"},
		"with a tab":               {[]string{frame("id: 1\t2")}, `["1\t2"]`},
		"as long as may be":        {[]string{frame("id: " + long)}, `["` + long + `"]`},
		"longer":                   {[]string{frame("id: 1") + frame("id: x"+long)}, `["1"]`},
	} {
		var got []asked
		var all []http.HandlerFunc
		for _, s := range c.streams {
			all = append(all, streams(s))
		}
		tailing(t, 5, nil, append(all, looked(&got, answers(204)))...)
		if len(got) != 1 || got[0].LastID != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// TestInterruptions cuts connections in every way but a good one: the tail comes back with the last id, and reads on.
func TestInterruptions(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	one := says("1", "a")
	for name, answer := range map[string]string{
		"no length":                  head + "\r\n" + one,
		"HTTP/1.0":                   strings.Replace(head, "1.1", "1.0", 1) + "\r\n" + one,
		"half a frame":               head + "\r\n" + one + "id: 2\nda",
		"a length that is not true":  head + "Content-Length: 10000\r\n\r\n" + one,
		"no last chunk":              head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one),
		"in a chunk":                 head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "80\r\nid: 2",
		"in a chunk's length":        head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "8",
		"a length that is no number": head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "x\r\n",
	} {
		var got []asked
		a := tailing(t, 5, nil, raw(answer), looked(&got, streams(says("2", "b"))), answers(204))
		if told := strings.Join(a.got, ", "); told != "open ctx, up true, 1 a, again, up true, 2 b, again, close ended" || got[0].LastID != `["1"]` {
			t.Errorf("%s: %s; %+v", name, told, got)
		}
	}
}

// TestNoAnswers says of answers that are none what they are, and nothing of what is in them, and asks again soon.
func TestNoAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, complain string }{
		"nothing":         {"", "EOF"},
		"half of it":      {"HTTP/1.1 200 OK\r\nX-S3cr3t: s3c", "unexpected EOF"},
		"another":         {"\x15\x03\x01 s3cr3t\r\n\r\n", "its answer is no HTTP"},
		"no headers":      {"HTTP/1.1 200 OK\r\ns3cr3t\r\n\r\n", "its answer is no HTTP"},
		"too many":        {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: s3cr3t\r\n", 11<<20/11) + "\r\n", "its answer is no HTTP"},
		"a strange coder": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: s3cr3t\r\n\r\n", "its answer is no HTTP"},
	} {
		a := tailing(t, 2, nil, raw(c.answer))
		if log := a.log.String(); !strings.Contains(log, c.complain) || strings.Contains(log, "s3cr3t") || strings.Count(log, "\n") != 1 {
			t.Errorf("%s: %s", name, log)
		}
		if a.waited[0] < firstPause || a.waited[0] >= 2*firstPause || len(a.frames) > 0 {
			t.Errorf("%s: waited %s, read %d frames", name, a.waited, len(a.frames))
		}
	}
}

// TestEndlessHead has the head of an answer come a byte at a time, without an end: it is waited for, and no longer than it may be.
func TestEndlessHead(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err = conn.Read(make([]byte, 1<<10)); err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
		}
		for ; err == nil; _, err = conn.Write([]byte("x")) { // until nobody listens any more
			runtime.Gosched()
		}
		_ = conn.Close()
	}()
	a := &audience{}
	tail := newTail(TailSettings{Name: "support", URL: "http://" + listener.Addr().String()}, a)
	transport := tail.client.Transport.(*http.Transport)
	if transport.ResponseHeaderTimeout != headerTimeout {
		t.Errorf("a head is waited for %s", transport.ResponseHeaderTimeout)
	}
	transport.ResponseHeaderTimeout, transport.MaxResponseHeaderBytes = 50*time.Millisecond, 1<<40
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	a.stop = stop
	tail.Run(ctx, "", a.heard)
	<-left
	_ = listener.Close()
	transport.CloseIdleConnections()
	if log := a.log.String(); !strings.Contains(log, "timeout awaiting response headers") {
		t.Error(log)
	}
}

// raw answers with bytes, and closes the connection.
func raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}

// TestHealthyConnections come back soon though they brought no frame: some proxies cut each connection after a while.
func TestHealthyConnections(t *testing.T) {
	for _, c := range []struct {
		lasts time.Duration
		want  []time.Duration
	}{
		{healthy - time.Second, []time.Duration{firstPause, 2 * firstPause, 4 * firstPause}},
		{healthy, []time.Duration{firstPause, firstPause, firstPause}},
	} {
		a := &audience{limit: 2, lasts: c.lasts}
		a.listen(t, nil, streams(": still here\n\n"))
		for i, want := range c.want {
			if got := a.waited[i]; got < want || got > want*3/2 {
				t.Errorf("after connections of %s, pause %d lasts %s, not %s", c.lasts, i+1, got, want)
			}
		}
	}
}

// TestRetryAfter reads both of its forms.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for asked, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-7": 0, "x": 0, "7.5": 0, "99999999999999999999": time.Hour,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:04:00 GMT": 0, "Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
	} {
		if got := retryAfter(asked, now); got != want {
			t.Errorf("%q: %s, want %s", asked, got, want)
		}
	}
}

// TestUnknownSession makes no source down: the agent answers, and the name may be any that a request had. A tail of one stream has no
// other that could be meant.
func TestUnknownSession(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		perSession bool
		want       string
	}{
		"a session's, not found": {404, true, "open ctx, close stopped"},
		"a session's, failing":   {500, true, "open ctx, up false, close stopped"},
		"the only one":           {404, false, "open ctx, up false, close stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			a := tailing(t, 0, func(s *TailSettings) {
				if c.perSession {
					s.URL, s.Session = strings.Replace(s.URL, "ctx", "{session}", 1), "{session}"
				}
			}, answers(c.status))
			if got := strings.Join(a.got, ", "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
