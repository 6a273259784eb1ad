package source_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/source"
)

// FuzzVerbatim holds what a client gets of any answer through a proxy with relay: verbatim against what it gets through
// httputil.ReverseProxy: status lines, headers, informational answers, the body, trailers, what follows an upgrade, and whether the
// answer is whole.
func FuzzVerbatim(f *testing.F) {
	for _, answer := range verbatimSeeds() {
		for request := range verbatimRequests {
			f.Add([]byte(answer), uint8(request), uint16(0))
		}
		f.Add([]byte(answer), uint8(0), uint16(1))
		f.Add([]byte(answer), uint8(1), uint16(len(answer)/2))
	}
	stand := newVerbatimStand(f)
	f.Fuzz(func(t *testing.T, answer []byte, request uint8, cut uint16) {
		stand.compare(t, answer, verbatimRequests[int(request)%len(verbatimRequests)], int(cut))
	})
}

// verbatimRequests are what the client asks; the answer is the input.
var verbatimRequests = []string{
	"POST /run_sse HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(request)) + "\r\n%s\r\n" + request,
	"GET /events HTTP/1.1\r\nAccept: text/event-stream\r\n%s\r\n",
	"GET /page HTTP/1.1\r\n%s\r\n",
	"HEAD /page HTTP/1.1\r\n%s\r\n",
	"GET /page HTTP/1.1\r\nTE: trailers\r\nAccept-Encoding: gzip\r\n%s\r\n",
	"GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n%s\r\n",
	"POST /run_sse HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n%s\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(request), request),
}

// verbatimSeeds are answers of every form that HTTP/1 has, and some that it has not.
func verbatimSeeds() (seeds []string) {
	chunked := func(parts ...string) (body string) {
		for _, part := range parts {
			body += fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
		}
		return body
	}
	event := fmt.Sprintf(frame, 1)
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a=b\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\n",
		"HTTP/1.1 404 Nowhere\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nVia: 1.1 x\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n",
		"HTTP/1.1 299 \r\nx-lower: \x80\r\nX-Empty:\r\nContent-Type: \r\n",
	} {
		seeds = append(seeds,
			head+"\r\n"+event, head+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(event))+event, head+"Content-Length: 4096\r\n\r\n"+event,
			head+"Transfer-Encoding: chunked\r\n\r\n"+chunked(event, event)+"0\r\n\r\n",
			head+"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"+chunked(event[:20], event[20:])+"0\r\nX-Sum: 1\r\nX-Late: 2\r\n\r\n",
			head+"Transfer-Encoding: chunked\r\n\r\n"+chunked(event), head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		)
	}
	const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
	return append(seeds, "", "x", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
		upgrade+"websocket\r\n\r\n\x81\x01a", upgrade+"WebSocket\r\nContent-Type: text/event-stream\r\n\r\n"+event, upgrade+"h2c\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", strings.Repeat("HTTP/1.1 103 x\r\n\r\n", 8),
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00cut",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 000 x\r\n\r\n", "HTTP/1.1 999 x\r\n\r\n")
}

// verbatimStand is an agent that answers with the bytes it is given, behind the proxy and behind a plain one. All connections are in
// memory, so that a million inputs take minutes.
type verbatimStand struct {
	answer      atomic.Pointer[verbatimAnswer]
	ours, plain pipes // to the proxies
	seen        *seen
	wait        func() // until no answer is observed any more, and no connection of ours is open
	close       func() // closes the plain proxy's connections
}

type verbatimAnswer struct {
	bytes []byte
	cut   int // where the agent pauses between two writes
}

func newVerbatimStand(f *testing.F) *verbatimStand {
	log.SetOutput(io.Discard) // net/http says there what follows an answer
	f.Cleanup(func() { log.SetOutput(os.Stderr) })
	s := &verbatimStand{seen: &seen{}}
	var open sync.WaitGroup
	ours := newProxy(f, s.seen, "http://agent", source.ProxySettings{})
	ours.Dial(func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		open.Go(func() { s.serve(there) })
		return here, nil
	})
	dialed := make(chan net.Conn, 100)
	between := http.DefaultTransport.(*http.Transport).Clone()
	between.DisableCompression, between.MaxIdleConnsPerHost = true, -1
	between.DialContext = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go s.serve(there)
		dialed <- here
		return here, nil
	}
	target := &url.URL{Scheme: "http", Host: "agent"}
	plain := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		Transport:     between,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set(plainError, "1")
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	s.ours = frontPipes(f, ours)
	s.plain = frontPipes(f, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { plain.ServeHTTP(untyped{w}, r) }))
	s.wait = func() { ours.Wait(); ours.CloseIdle(); open.Wait() }
	s.close = func() { // ReverseProxy leaves a connection open if an agent switches protocols unasked
		for len(dialed) > 0 {
			(<-dialed).Close()
		}
	}
	return s
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	net.Listener // of which nothing is used
	waiting      chan net.Conn
	closed       chan struct{}
}

func frontPipes(f *testing.F, h http.Handler) pipes {
	p := pipes{waiting: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(p) }()
	f.Cleanup(func() { server.Close() })
	return p
}

func (p pipes) Addr() net.Addr { return new(net.TCPAddr) }

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.waiting:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// ask returns all that comes in answer to a request.
func (p pipes) ask(t *testing.T, request string) []byte {
	t.Helper()
	conn, there := net.Pipe()
	defer conn.Close()
	p.waiting <- there
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a proxy that hangs
	connection := "Host: agent\r\nConnection: close\r\n"
	if strings.Contains(request, "Upgrade:") {
		connection = "Host: agent\r\nConnection: Upgrade, close\r\n"
	}
	_, _ = fmt.Fprintf(conn, request, connection)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %d bytes: %v", len(answer), err)
	}
	return answer
}

// plainError marks an answer that is the plain proxy's own.
const plainError = "X-Plain-Error"

const (
	badGateway = "HTTP/1.1 502 Bad Gateway\n"
	brokenOff  = "broken off"
)

// untyped keeps the server from guessing a type for an answer that has none.
type untyped struct{ http.ResponseWriter }

func (w untyped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w untyped) WriteHeader(status int) {
	if _, named := w.Header()["Content-Type"]; !named && status >= http.StatusOK {
		w.Header()["Content-Type"] = nil
	}
	w.ResponseWriter.WriteHeader(status)
}

// serve answers one request and closes the connection.
func (s *verbatimStand) serve(conn net.Conn) {
	defer conn.Close()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	answer := s.answer.Load()
	_, _ = conn.Write(answer.bytes[:answer.cut])
	_, _ = conn.Write(answer.bytes[answer.cut:])
}

// compare sends a request through both proxies to the agent, which gives the same answer to each.
func (s *verbatimStand) compare(t *testing.T, answer []byte, request string, cut int) {
	s.answer.Store(&verbatimAnswer{answer, cut % (len(answer) + 1)})
	defer s.close()
	dated := bytes.Contains(bytes.ToLower(answer), []byte("date:"))
	want, got := readable(s.plain.ask(t, request), request, dated), readable(s.ours.ask(t, request), request, dated)
	s.wait()
	before, _, failed := strings.Cut(want, badGateway)
	if failed = failed && strings.Contains(want, plainError); !failed {
		before, failed = strings.CutSuffix(want, brokenOff) // as where its answer has a status that cannot be written
		failed = failed && got != want
	}
	switch says502 := strings.Contains(got, "\n\ndelegraph: ") || strings.HasPrefix(request, "HEAD"); {
	case failed && (!says502 || !strings.HasPrefix(got, before+badGateway)):
		t.Errorf("to %q the agent says %q\nours:\n%s\nplain, which fails:\n%s", request, answer, got, want)
	case !failed && got != want:
		t.Errorf("to %q the agent says %q\nours:\n%s\nplain:\n%s", request, answer, got, want)
	}
	s.seen.locked(func() {
		if len(s.seen.panics) > 0 {
			t.Errorf("panics: %v", s.seen.panics)
		}
		s.seen.streams, s.seen.ends, s.seen.rejected, s.seen.unread = nil, nil, nil, nil
		s.seen.log.Reset()
	})
}

// readable returns an answer without what differs from one time to the next: the server's own date, the order of announced trailers,
// how a body was cut into chunks, how an empty one is framed, and the head of an answer that broke off before its body. The last two
// depend on whether ReverseProxy's first flush, in a goroutine of its own, comes before the end.
func readable(answer []byte, request string, dated bool) string {
	var all strings.Builder
	for {
		head, rest, whole := strings.Cut(string(answer), "\r\n\r\n")
		if !whole {
			return all.String() + string(answer) + brokenOff
		}
		status, _, _ := strings.Cut(head, "\r\n")
		if informational := strings.HasPrefix(status, "HTTP/1.1 1") && !strings.HasPrefix(status, "HTTP/1.1 101 "); !informational {
			body, whole := readBody(head, rest, strings.HasPrefix(request, "HEAD "))
			if !whole && body == "" {
				return all.String() + brokenOff
			}
			if body == "" {
				head = emptyFraming.Replace(head)
			}
			return all.String() + normalized(head, dated) + body + fmt.Sprintf("\nwhole: %t", whole)
		}
		all.WriteString(normalized(head, dated))
		answer = []byte(rest)
	}
}

func normalized(head string, dated bool) string {
	var lines []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if names, trailer := strings.CutPrefix(line, "Trailer: "); trailer {
			each := strings.Split(names, ", ")
			slices.Sort(each)
			line = "Trailer: " + strings.Join(each, ", ")
		}
		if dated || !strings.HasPrefix(line, "Date: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n\n"
}

// emptyFraming removes how an empty body is framed, which depends on whether its head was flushed before its end.
var emptyFraming = strings.NewReplacer("\r\nContent-Length: 0", "", "\r\nTransfer-Encoding: chunked", "")

var lengthLine = regexp.MustCompile(`\r\nContent-Length: (\d+)`)

// readBody returns a body in one piece, with its trailers, and reports whether it came to its end.
func readBody(head, rest string, asksForHead bool) (body string, whole bool) {
	if strings.Contains(head, "\r\nTransfer-Encoding: chunked") && !asksForHead {
		in := bufio.NewReader(strings.NewReader(rest))
		content, err := io.ReadAll(httputil.NewChunkedReader(in))
		trailers, _ := io.ReadAll(in)
		return string(content) + strings.TrimPrefix(string(trailers), "\r\n"), err == nil
	}
	bodiless := asksForHead || strings.HasPrefix(head, "HTTP/1.1 304 ")
	if length := lengthLine.FindStringSubmatch(head); length != nil && !bodiless {
		return rest, length[1] == strconv.Itoa(len(rest))
	}
	return rest, true
}
