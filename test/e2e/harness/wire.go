package harness

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// Wire is a TCP proxy between readers and the external stream. It can cut connections in the middle of a frame.
type Wire struct {
	upstream string
	listener net.Listener
	work     sync.WaitGroup
	over     chan struct{} // closed when the test ends

	mu     sync.Mutex
	ends   map[net.Conn]bool // both ends of each connection
	reset  bool              // whether cut connections get a reset instead of an end
	torn   chan struct{}     // closed by the next cut; nil if none is due
	whole  chan struct{}     // closed while connections are accepted
	passed bytes.Buffer      // everything that was sent to readers
}

// NewWire starts a proxy of the upstream host and port.
func NewWire(t *testing.T, upstream string) *Wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{upstream: upstream, listener: listener, over: make(chan struct{}), ends: map[net.Conn]bool{}, whole: make(chan struct{})}
	close(w.whole)
	w.work.Go(func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			w.work.Go(func() { w.connect(conn) })
		}
	})
	t.Cleanup(func() {
		close(w.over)
		listener.Close()
		w.mu.Lock()
		w.closeAll()
		w.mu.Unlock()
		w.work.Wait()
	})
	return w
}

// URL returns the URL for readers.
func (w *Wire) URL() string { return "http://" + w.listener.Addr().String() }

// Cut cuts every connection within the next frame, by an end or by a reset, and accepts no connection until Restore.
// The channel is closed once all connections are cut.
func (w *Wire) Cut(reset bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.torn, w.reset = make(chan struct{}), reset
	return w.torn
}

// Restore accepts connections again.
func (w *Wire) Restore() { close(w.whole) }

func (w *Wire) connect(reader net.Conn) {
	defer reader.Close()
	server := w.dial(reader)
	if server == nil {
		return
	}
	defer server.Close()
	w.work.Go(func() {
		_, _ = io.Copy(server, reader)
		server.Close() // the reader has left
	})
	chunk := make([]byte, 64<<10)
	for {
		n, err := server.Read(chunk)
		if n > 0 && !w.pass(reader, chunk[:n]) || err != nil {
			return
		}
	}
}

// dial connects a reader with upstream once connections are accepted. It returns nil if the test ends before or nothing listens.
func (w *Wire) dial(reader net.Conn) net.Conn {
	for {
		w.mu.Lock()
		whole := w.whole
		w.mu.Unlock()
		select {
		case <-whole:
		case <-w.over:
			return nil
		}
		server, err := net.Dial("tcp", w.upstream)
		if err != nil {
			return nil
		}
		if w.add(whole, reader, server) {
			return server
		}
		server.Close()
	}
}

// add adds the ends of a connection unless all connections were cut since the reader was accepted, or the test has ended.
func (w *Wire) add(whole chan struct{}, ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.over:
		return false
	default:
	}
	if w.whole != whole {
		return false
	}
	for _, end := range ends {
		w.ends[end] = true
	}
	return true
}

// pass sends a chunk to a reader. If a cut is due, it sends the chunk up to the data of its last frame and cuts. It reports whether
// the reader may get more.
func (w *Wire) pass(reader net.Conn, chunk []byte) bool {
	begun := []byte("data: {")
	w.mu.Lock()
	defer w.mu.Unlock()
	tearing := false
	if at := bytes.LastIndex(chunk, begun); w.torn != nil && at >= 0 {
		tearing, chunk = true, chunk[:at]
	}
	w.passed.Write(chunk)
	_, err := reader.Write(chunk)
	if tearing {
		w.whole = make(chan struct{})
		w.closeAll()
		close(w.torn)
		w.torn = nil
	}
	return err == nil && !tearing
}

// closeAll closes every connection. The caller holds the lock.
func (w *Wire) closeAll() {
	for end := range w.ends {
		if w.reset {
			_ = end.(*net.TCPConn).SetLinger(0)
		}
		end.Close()
	}
	clear(w.ends)
}

// Sent reports whether a text was sent to a reader.
func (w *Wire) Sent(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.passed.Bytes(), []byte(text))
}
