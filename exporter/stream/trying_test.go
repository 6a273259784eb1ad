package stream

import (
	"net"
	"sync"
)

// reader is the client's end of a pipe whose other end can write without waiting.
type reader struct {
	net.Conn
	mu   sync.Mutex
	room int // bytes that a Read which has begun takes; 0 if none has, or if a write has begun for it
}

func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	r.room = len(p)
	r.mu.Unlock()
	n, err := r.Conn.Read(p)
	r.mu.Lock()
	r.room = 0
	r.mu.Unlock()
	return n, err
}

// trying is the server's end of the pipe.
type trying struct {
	net.Conn
	client *reader
}

// TryWrite writes what fits into the Read in which the client waits.
func (t trying) TryWrite(p []byte) int {
	t.client.mu.Lock()
	room := t.client.room
	t.client.room = 0
	t.client.mu.Unlock()
	if room == 0 {
		return 0
	}
	n, _ := t.Write(p[:min(room, len(p))])
	return n
}
