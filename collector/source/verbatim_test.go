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

// FuzzVerbatim checks that a client gets the same answer through a verbatim proxy as through httputil.ReverseProxy. It
// compares status lines, headers, informational answers, body, trailers, the data after an upgrade, and whether the
// answer is complete.
func FuzzVerbatim(f *testing.F) {
	for _, answer := range verbatimSeeds() {
		for request := range verbatimRequests {
			f.Add([]byte(answer), uint8(request), uint16(0))
		}
		f.Add([]byte(answer), uint8(0), uint16(1))
		f.Add([]byte(answer), uint8(1), uint16(len(answer)/2))
	}
	stand := newVerbatimRig(f)
	f.Fuzz(func(t *testing.T, answer []byte, request uint8, cut uint16) {
		stand.compare(t, answer, verbatimRequests[int(request)%len(verbatimRequests)], int(cut))
	})
}

// verbatimRequests lists the requests. The agent's answer is the fuzz input.
var verbatimRequests = []string{
	"POST /run_sse HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(request)) + "\r\n%s\r\n" + request,
	"GET /events HTTP/1.1\r\nAccept: text/event-stream\r\n%s\r\n",
	"GET /page HTTP/1.1\r\n%s\r\n",
	"HEAD /page HTTP/1.1\r\n%s\r\n",
	"GET /page HTTP/1.1\r\nTE: trailers\r\nAccept-Encoding: gzip\r\n%s\r\n",
	"GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n%s\r\n",
	"POST /run_sse HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n%s\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(request), request),
}

// verbatimSeeds returns answers in each form of HTTP/1, and some invalid ones.
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

// verbatimRig is an agent that answers with given bytes, behind our proxy and a plain one. All connections are in memory, so that a million
// inputs take minutes.
type verbatimRig struct {
	answer      atomic.Pointer[verbatimAnswer]
	ours, plain pipes // to the proxies
	recorder    *proxyRecorder
	wait        func() // waits until all answers are observed and our connections are closed
	close       func() // closes the plain proxy's connections
}

type verbatimAnswer struct {
	bytes []byte
	cut   int // offset at which the agent pauses between two writes
}

func newVerbatimRig(f *testing.F) *verbatimRig {
	log.SetOutput(io.Discard) // net/http logs data after an answer
	f.Cleanup(func() { log.SetOutput(os.Stderr) })
	s := &verbatimRig{recorder: &proxyRecorder{}}
	var open sync.WaitGroup
	ours := newProxy(f, s.recorder, "http://agent", source.ProxySettings{})
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
	s.close = func() { // ReverseProxy leaves a connection open if an agent switches protocols without a request
		for len(dialed) > 0 {
			(<-dialed).Close()
		}
	}
	return s
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	net.Listener // not used
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

// ask returns all bytes of the answer to a request.
func (p pipes) ask(t *testing.T, request string) []byte {
	t.Helper()
	conn, there := net.Pipe()
	defer conn.Close()
	p.waiting <- there
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // in case a proxy hangs
	connection := "Host: agent\r\nConnection: close\r\n"
	if strings.Contains(request, "Upgrade:") {
		connection = "Host: agent\r\nConnection: Upgrade, close\r\n"
	}
	_, _ = fmt.Fprintf(conn, request, connection)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("reading the answer fails after %d bytes: %v", len(answer), err)
	}
	return answer
}

// plainError marks an error answer of the plain proxy itself.
const plainError = "X-Plain-Error"

const (
	badGateway = "HTTP/1.1 502 Bad Gateway\n"
	brokenOff  = "broken off"
)

// untyped keeps the server from guessing a missing Content-Type.
type untyped struct{ http.ResponseWriter }

func (w untyped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w untyped) WriteHeader(status int) {
	if _, named := w.Header()["Content-Type"]; !named && status >= http.StatusOK {
		w.Header()["Content-Type"] = nil
	}
	w.ResponseWriter.WriteHeader(status)
}

// serve answers one request and closes the connection.
func (s *verbatimRig) serve(conn net.Conn) {
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
func (s *verbatimRig) compare(t *testing.T, answer []byte, request string, cut int) {
	s.answer.Store(&verbatimAnswer{answer, cut % (len(answer) + 1)})
	defer s.close()
	dated := bytes.Contains(bytes.ToLower(answer), []byte("date:"))
	want, got := normalize(s.plain.ask(t, request), request, dated), normalize(s.ours.ask(t, request), request, dated)
	s.wait()
	before, _, failed := strings.Cut(want, badGateway)
	if failed = failed && strings.Contains(want, plainError); !failed {
		before, failed = strings.CutSuffix(want, brokenOff) // for example because the status cannot be written
		failed = failed && got != want
	}
	switch says502 := strings.Contains(got, "\n\ndelegraph: ") || strings.HasPrefix(request, "HEAD"); {
	case failed && (!says502 || !strings.HasPrefix(got, before+badGateway)):
		t.Errorf("after the request %q and the agent's answer %q, our client gets\n%s\nand that of the plain proxy, which fails,\n%s", request, answer, got, want)
	case !failed && got != want:
		t.Errorf("after the request %q and the agent's answer %q, our client gets\n%s\nand that of the plain proxy\n%s", request, answer, got, want)
	}
	s.recorder.locked(func() {
		if len(s.recorder.panics) > 0 {
			t.Errorf("there are panics in %v", s.recorder.panics)
		}
		s.recorder.streams, s.recorder.ends, s.recorder.rejected, s.recorder.unread = nil, nil, nil, nil
		s.recorder.log.Reset()
	})
}

// normalize removes details from an answer that vary:
//   - the server's own date
//   - the order of announced trailers
//   - the chunks of a body
//   - the framing of an empty body
//   - the header of an answer that ends before its body
//
// The last two depend on whether ReverseProxy's first flush comes before the end. It runs in another goroutine.
func normalize(answer []byte, request string, dated bool) string {
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
			return all.String() + normalizeHeader(head, dated) + body + fmt.Sprintf("\nwhole: %t", whole)
		}
		all.WriteString(normalizeHeader(head, dated))
		answer = []byte(rest)
	}
}

func normalizeHeader(head string, dated bool) string {
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

// emptyFraming removes the framing of an empty body, which depends on whether the header was flushed before the end.
var emptyFraming = strings.NewReplacer("\r\nContent-Length: 0", "", "\r\nTransfer-Encoding: chunked", "")

var lengthLine = regexp.MustCompile(`\r\nContent-Length: (\d+)`)

// readBody returns a body without chunks, with its trailers, and reports whether it is complete.
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
