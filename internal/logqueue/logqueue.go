// Package logqueue provides a writer for log lines that never blocks.
package logqueue

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// Queue is a writer that never blocks: it writes in a goroutine, and drops lines if too many wait. A blocking write to a full pipe would
// delay an agent's stream.
type Queue struct {
	out   io.Writer
	limit int

	mu      sync.Mutex
	waiting bytes.Buffer
	dropped uint64
	closed  bool

	more chan struct{} // of capacity 1: something was queued, or the queue was closed
	done chan struct{}
}

// New returns a queue of at most limit bytes that writes to out.
func New(out io.Writer, limit int) *Queue {
	q := &Queue{out: out, limit: limit, more: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Write queues a line, or drops it if the queue is full. It never fails.
func (q *Queue) Write(line []byte) (int, error) {
	if !q.enqueue(line) {
		q.drop(1)
	}
	q.wake()
	return len(line), nil
}

func (q *Queue) enqueue(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.waiting.Len()+len(line) > q.limit {
		return false
	}
	q.waiting.Write(line)
	return true
}

func (q *Queue) drop(lines int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(lines)
}

// wake makes run look at the queue again.
func (q *Queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// run writes what is queued until the queue is closed and empty.
func (q *Queue) run() {
	defer close(q.done)
	var lines bytes.Buffer
	for range q.more {
		q.mu.Lock()
		lines, q.waiting = q.waiting, lines
		closed := q.closed
		q.mu.Unlock()
		if _, err := lines.WriteTo(q.out); err != nil { // a full disk may have room for the next lines
			q.drop(bytes.Count(lines.Bytes(), []byte("\n")))
			lines.Reset()
		}
		if closed {
			return
		}
	}
}

// DroppedLines returns the number of lines that were dropped.
func (q *Queue) DroppedLines() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Close writes what is queued. It gives up after the given time.
func (q *Queue) Close(within time.Duration) {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-q.done:
	case <-timer.C:
	}
}
