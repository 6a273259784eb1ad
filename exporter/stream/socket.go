package stream

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// connection is the connection of one subscriber. A write may block until its deadline.
type connection interface {
	io.Writer
	SetWriteDeadline(time.Time) error
	Flush() error
}

// response is a connection that stays with net/http: HTTP/2, or with TLS.
type response struct {
	http.ResponseWriter
	*http.ResponseController
}

// socket is a hijacked HTTP/1 connection without TLS. Writers can write to it without a goroutine.
type socket struct {
	net.Conn
	tryWrite   func([]byte) int // writes what the socket takes at once; nil if each write may block
	clientGone chan struct{}    // closed once the client has left or sent too much
}

// tryWriter is a connection other than TCP that can write without blocking.
type tryWriter interface {
	TryWrite([]byte) int // returns the number of bytes that it wrote, 0 on an error
}

// hijack returns the connection of a request and the head of the response. The caller must write the head, and
// close the socket.
func hijack(w http.ResponseWriter, r *http.Request) (*socket, []byte, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	s := &socket{Conn: conn, clientGone: make(chan struct{})}
	switch c := conn.(type) {
	case tryWriter:
		s.tryWrite = c.TryWrite
	case syscall.Conn:
		s.tryWrite = newTryWrite(c)
	}
	return s, responseHead(r, w.Header()), nil
}

// responseHead returns the head of a response whose body lasts until the connection ends.
func responseHead(r *http.Request, header http.Header) []byte {
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("Connection", "close")
	head := bytes.NewBufferString("HTTP/1.1 200 OK\r\n")
	if !r.ProtoAtLeast(1, 1) {
		head = bytes.NewBufferString("HTTP/1.0 200 OK\r\n")
	}
	_ = header.Write(head) // a buffer does not fail
	head.WriteString("\r\n")
	return head.Bytes()
}

// Flush does nothing: a write goes to the socket at once.
func (s *socket) Flush() error { return nil }

// maxIgnored is the number of bytes that a client may send after its request.
const maxIgnored = 64 << 10

// discardInput reads and discards what the client sends until it leaves, and then closes clientGone. It
// disconnects a client that sends more than maxIgnored bytes.
func (s *socket) discardInput() {
	defer close(s.clientGone)
	var ignored [64]byte
	for total := 0; total <= maxIgnored; {
		n, err := s.Read(ignored[:])
		if err != nil {
			return
		}
		total += n
	}
	_ = s.Close() // an error changes nothing
}

// sockets holds the open sockets of a hub.
type sockets struct {
	mu     sync.Mutex
	open   map[*socket]struct{}
	closed bool
}

func (s *sockets) add(added *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[added] = struct{}{}
	if s.closed {
		_ = added.Close()
	}
}

func (s *sockets) remove(left *socket) {
	_ = left.Close() // the client may have closed it
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, left)
}

// close closes all sockets, also those that are added later.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for open := range s.open {
		_ = open.Close() // the client may have closed it
	}
}
