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

// These tests check the HTTP behavior that WHATWG HTML 9.2.3 requires of browsers, with one exception. A browser stops after any status but
// 200, and its user can load the page again. A tail has no user, so it stops only after 204.

// TestStatuses checks that a stream is read only with status 200.
func TestStatuses(t *testing.T) {
	for _, status := range []int{
		200, 201, 202, 203, 204, 205, 206, 210, 226, 299, 300, 304, 305, 306, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 415, 421,
		422, 425, 429, 431, 451, 499, 500, 501, 502, 503, 504, 511, 599, 999,
	} {
		a := runTail(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, says("1", "a"))
		})
		if got := len(a.frames) > 0; got != (status == 200) {
			t.Errorf("a stream with status %d is read: %t", status, got)
		}
		if again := len(a.waited) > 0; again == (status == 204) {
			t.Errorf("after %d the tail retries: %t; it reports %s", status, again, strings.Join(a.got, ", "))
		}
	}
}

// TestEarlyHints checks that a stream is read after an informational answer.
func TestEarlyHints(t *testing.T) {
	a := runTail(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		streams(says("1", "a"))(w, r)
	})
	if len(a.frames) != 1 {
		t.Errorf("the tail reports %v", a.got)
	}
}

// TestContentTypes checks that text/event-stream is read with any parameters. They are ignored, because the encoding is always UTF-8.
func TestContentTypes(t *testing.T) {
	for kind, read := range map[string]bool{
		"text/event-stream": true, "text/event-stream;": true, "text/event-stream;charset=UTF-8": true, "Text/Event-Stream": true,
		"text/event-stream ; charset=windows-1251": true, `text/event-stream; charset="x"; boundary=y`: true, "text/event-stream;x": true,
		"text/event-stream; charset=utf-8; charset=utf-8": true,
		"": false, "text/x-bogus": false, "text/event-streams": false, "text/event": false, "text/plain": false, "application/json": false,
		"text/plain; text/event-stream": false, "application/x-ndjson": false, "text event-stream": false,
	} {
		a := runTail(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = []string{kind} // even an empty one, for which net/http would otherwise guess a type
			_, _ = io.WriteString(w, says("1", "é"))
		})
		if got := len(a.frames) == 1; got != read {
			t.Errorf("a stream of the type %q is read: %t, want %t; the tail reports %s", kind, got, read, a.got)
		}
	}
}

// TestUnexpectedEncoding checks that an answer in an encoding that the tail does not accept is rejected.
func TestUnexpectedEncoding(t *testing.T) {
	a := runTail(t, 0, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		streams(says("1", "a"))(w, r)
	})
	if got := strings.Join(a.got, ", "); got != "open ctx, up false, close stopped" {
		t.Errorf("the tail reports %s", got)
	}
}

// tailRequest holds the parts of a request that tests compare.
type tailRequest struct{ Method, URI, LastID, Authorization, Accept, CacheControl string }

// recordRequests records each request before next answers it.
func recordRequests(all *[]tailRequest, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		last := "none"
		if ids := h.Values("Last-Event-ID"); len(ids) > 0 {
			last = fmt.Sprintf("%q", ids)
		}
		*all = append(*all, tailRequest{r.Method, r.RequestURI, last, h.Get("Authorization"), h.Get("Accept"), h.Get("Cache-Control")})
		next(w, r)
	}
}

// TestRedirects checks that redirects are followed with the same method and headers, and that the next attempt starts at the first URL.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var got []tailRequest
		runTail(t, 5, func(s *TailSettings) {
			s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "token", nil }}
		}, recordRequests(&got, streams(says("7", "a"))), recordRequests(&got, answers(status, "Location", "../there?x=1")), recordRequests(&got, streams(says("8", "b"))), recordRequests(&got, answers(204)))
		request := tailRequest{"GET", "/events/ctx", "none", "token", "text/event-stream", "no-cache"}
		want := []tailRequest{request, request, request, request}
		want[1].LastID, want[2].LastID, want[2].URI, want[3].LastID = `["7"]`, `["7"]`, "/there?x=1", `["8"]`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d, the requests differ (-want +got):\n%s", status, diff)
		}
	}
}

// TestInvalidRedirects checks that redirects that cannot be followed end the attempt.
func TestInvalidRedirects(t *testing.T) {
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		header   int
		complain string
	}{
		"empty location":    {answers(301, "Location", ""), 1, "it answered 301"},
		"no location":       {answers(307), 1, "it answered 307"},
		"to itself":         {answers(302, "Location", "/events/ctx"), 10, "redirected 10 times"},
		"invalid location":  {answers(308, "Location", "http://s3cr3t:%zz/"), 1, "its answer is not HTTP"},
		"to another scheme": {answers(301, "Location", "ftp://127.0.0.1/s3cr3t"), 1, "redirected to another host"},
	} {
		var got []tailRequest
		a := runTail(t, 0, nil, recordRequests(&got, c.answer))
		if len(got) != c.header {
			t.Errorf("%s: the tail sends %d requests", name, len(got))
		}
		if log := a.log.String(); !strings.Contains(log, c.complain) || strings.Contains(log, "s3cr3t") {
			t.Errorf("%s: the log is %s", name, log)
		}
	}
}

// TestRedirectToOtherHost checks that a redirect to another host or port is not followed.
func TestRedirectToOtherHost(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host gets a request with %v", r.Header)
	}))
	defer there.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		a := runTail(t, 0, nil, answers(status, "Location", there.URL))
		if !strings.Contains(a.log.String(), "redirected to another host") {
			t.Errorf("the log is %s", a.log.String())
		}
	}
}

// TestSameHost checks which redirects stay on the host. A test server on one port cannot send all of them.
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
			t.Errorf("a redirect from %s to %s gives the error %v", c.from, c.to, err)
		}
	}
}

// TestLastEventID checks that a tail reconnects with the last id of all connections if it is valid in a header.
func TestLastEventID(t *testing.T) {
	frame := func(fields string) string { return fields + "\ndata: {}\n\n" }
	long := strings.Repeat("x", 1<<10)
	for name, c := range map[string]struct {
		streams []string
		want    string // the header of the last request
	}{
		"none":                     {[]string{frame("x:1")}, "none"},
		"one":                      {[]string{frame("id: 1")}, `["1"]`},
		"of an earlier connection": {[]string{frame("id: 1"), frame("x:1"), ":\n\n"}, `["1"]`},
		"without data":             {[]string{"id: 1\n\n"}, `["1"]`},
		"of an incomplete frame":   {[]string{frame("id: 1") + "id: 2\ndata: {}\n"}, `["1"]`},
		"reset later":              {[]string{frame("id: 1"), frame("id")}, "none"},
		"reset at once":            {[]string{frame("id: 1") + frame("id:")}, "none"},
		"not ASCII":                {[]string{frame("id: …é")}, `["…é"]`},
		"with NUL":                 {[]string{frame("id: 1") + frame("id: 2\x00")}, `["1"]`},
		"with a control character": {[]string{frame("id: 1") + frame("id: 2\x01")}, "none"},
		"with DEL":                 {[]string{frame("id: 1\x7f")}, "none"},
		"with a tab":               {[]string{frame("id: 1\t2")}, `["1\t2"]`},
		"of maximum length":        {[]string{frame("id: " + long)}, `["` + long + `"]`},
		"too long":                 {[]string{frame("id: 1") + frame("id: x"+long)}, `["1"]`},
	} {
		var got []tailRequest
		var all []http.HandlerFunc
		for _, s := range c.streams {
			all = append(all, streams(s))
		}
		runTail(t, 5, nil, append(all, recordRequests(&got, answers(204)))...)
		if len(got) != 1 || got[0].LastID != c.want {
			t.Errorf("%s: the requests are %+v, want the id %s", name, got, c.want)
		}
	}
}

// TestInterruptions checks that, after any kind of interruption, the tail reconnects with the last id and continues.
func TestInterruptions(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	one := says("1", "a")
	for name, answer := range map[string]string{
		"no length":           head + "\r\n" + one,
		"HTTP/1.0":            strings.Replace(head, "1.1", "1.0", 1) + "\r\n" + one,
		"an incomplete frame": head + "\r\n" + one + "id: 2\nda",
		"a wrong length":      head + "Content-Length: 10000\r\n\r\n" + one,
		"no last chunk":       head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one),
		"in a chunk":          head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "80\r\nid: 2",
		"in a chunk's length": head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "8",
		"an invalid length":   head + "Transfer-Encoding: chunked\r\n\r\n" + chunk(one) + "x\r\n",
	} {
		var got []tailRequest
		a := runTail(t, 5, nil, raw(answer), recordRequests(&got, streams(says("2", "b"))), answers(204))
		if reported := strings.Join(a.got, ", "); reported != "open ctx, up true, 1 a, again, up true, 2 b, again, close ended" || got[0].LastID != `["1"]` {
			t.Errorf("%s: the tail reports %s and requests %+v", name, reported, got)
		}
	}
}

// TestInvalidAnswers checks that invalid answers are logged without their content and retried soon.
func TestInvalidAnswers(t *testing.T) {
	for name, c := range map[string]struct{ answer, complain string }{
		"empty":          {"", "EOF"},
		"incomplete":     {"HTTP/1.1 200 OK\r\nX-S3cr3t: s3c", "unexpected EOF"},
		"not HTTP":       {"\x15\x03\x01 s3cr3t\r\n\r\n", "its answer is not HTTP"},
		"no headers":     {"HTTP/1.1 200 OK\r\ns3cr3t\r\n\r\n", "its answer is not HTTP"},
		"long headers":   {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: s3cr3t\r\n", 2<<20/11) + "\r\n", "its answer is not HTTP"},
		"unknown coding": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: s3cr3t\r\n\r\n", "its answer is not HTTP"},
	} {
		a := runTail(t, 2, nil, raw(c.answer))
		if log := a.log.String(); !strings.Contains(log, c.complain) || strings.Contains(log, "s3cr3t") || strings.Count(log, "\n") != 1 {
			t.Errorf("%s: the log is %s", name, log)
		}
		if a.waited[0] < minPause || a.waited[0] >= 2*minPause || len(a.frames) > 0 {
			t.Errorf("%s: the tail waits %s and reads %d frames", name, a.waited, len(a.frames))
		}
	}
}

// TestEndlessHeader checks that headerTimeout limits the time for an answer's header.
func TestEndlessHeader(t *testing.T) {
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
		for ; err == nil; _, err = conn.Write([]byte("x")) { // until the connection is closed
			runtime.Gosched()
		}
		_ = conn.Close()
	}()
	a := &tailRecorder{}
	tail := newTail(TailSettings{Name: "support", URL: "http://" + listener.Addr().String()}, a)
	transport := tail.client.Transport.(*http.Transport)
	if transport.ResponseHeaderTimeout != headerTimeout {
		t.Errorf("ResponseHeaderTimeout = %s, want headerTimeout", transport.ResponseHeaderTimeout)
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
		t.Errorf("the log is %s", log)
	}
}

// raw returns a handler that sends bytes and closes the connection.
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

// TestHealthyConnections checks that the pause is short after a long connection, even without a frame, because some proxies close each
// connection after a while.
func TestHealthyConnections(t *testing.T) {
	for _, c := range []struct {
		lasts time.Duration
		want  []time.Duration
	}{
		{healthyAfter - time.Second, []time.Duration{minPause, 2 * minPause, 4 * minPause}},
		{healthyAfter, []time.Duration{minPause, minPause, minPause}},
	} {
		a := &tailRecorder{limit: 2, lasts: c.lasts}
		a.listen(t, nil, streams(": still here\n\n"))
		for i, want := range c.want {
			if got := a.waited[i]; got < want || got > want*3/2 {
				t.Errorf("after connections of %s, pause %d lasts %s, want %s", c.lasts, i+1, got, want)
			}
		}
	}
}

// TestRetryAfter checks both forms of the header.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-7": 0, "x": 0, "7.5": 0, "99999999999999999999": time.Hour,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:04:00 GMT": 0, "Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("Retry-After %q is read as %s, want %s", header, got, want)
		}
	}
}

// TestUnknownSession checks that status 404 for a session does not report the source as down, because any client can name a session that does
// not exist. For a tail with one stream, it does.
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
			a := runTail(t, 0, func(s *TailSettings) {
				if c.perSession {
					s.URL, s.SessionPlaceholder = strings.Replace(s.URL, "ctx", "{session}", 1), "{session}"
				}
			}, answers(c.status))
			if got := strings.Join(a.got, ", "); got != c.want {
				t.Errorf("the tail reports %s, want %s", got, c.want)
			}
		})
	}
}
