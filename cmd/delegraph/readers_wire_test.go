package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// wire is what lies between readers and the external stream: it can be torn in the middle of a frame.
type wire struct {
	upstream string
	listener net.Listener
	work     sync.WaitGroup
	over     chan struct{} // closed when the test is over

	mu     sync.Mutex
	ends   map[net.Conn]bool // of all connections, and the listener's side of those that wait
	reset  bool              // whether readers meet an error, and not an end
	torn   chan struct{}     // to be closed by tearing; nil: nothing is to be torn
	whole  chan struct{}     // closed while connections are let through
	passed bytes.Buffer      // to readers
}

func newWire(t *testing.T, upstream string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{upstream: upstream, listener: listener, over: make(chan struct{}), ends: map[net.Conn]bool{}, whole: make(chan struct{})}
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
		w.cut()
		w.mu.Unlock()
		w.work.Wait()
	})
	return w
}

func (w *wire) url() string { return "http://" + w.listener.Addr().String() }

// tear cuts every connection within the next frame, by an end or by a reset, and lets none through before mend. It returns
// what is closed when that has happened.
func (w *wire) tear(reset bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.torn, w.reset = make(chan struct{}), reset
	return w.torn
}

func (w *wire) mend() { close(w.whole) }

func (w *wire) connect(reader net.Conn) {
	defer reader.Close()
	w.mu.Lock()
	whole := w.whole
	w.mu.Unlock()
	select {
	case <-whole:
	case <-w.over:
		return
	}
	server, err := net.Dial("tcp", w.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	w.mu.Lock()
	w.ends[reader], w.ends[server] = true, true
	w.mu.Unlock()
	w.work.Go(func() {
		_, _ = io.Copy(server, reader)
		server.Close() // a reader that has left asks for nothing more
	})
	chunk := make([]byte, 64<<10)
	for {
		n, err := server.Read(chunk)
		if n > 0 && !w.pass(reader, chunk[:n]) || err != nil {
			return
		}
	}
}

// pass gives a chunk to a reader, or, where the wire is to be torn, what of it is before its last frame
// id, and the first byte of the data.
func (w *wire) pass(reader net.Conn, chunk []byte) bool {
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
		w.cut()
		close(w.torn)
		w.torn = nil
	}
	return err == nil && !tearing
}

// cut closes every connection. Its caller holds the lock.
func (w *wire) cut() {
	for end := range w.ends {
		if w.reset {
			_ = end.(*net.TCPConn).SetLinger(0)
		}
		end.Close()
	}
	clear(w.ends)
}

// carried says whether a text has gone to a reader.
func (w *wire) carried(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.passed.Bytes(), []byte(text))
}
