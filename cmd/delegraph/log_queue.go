package main

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// logQueue writes log lines on without ever waiting for whoever reads them: a pipe that nobody reads is soon full, and the next
// line would hold up the stream of which it tells.
type logQueue struct {
	out   io.Writer
	limit int

	mu      sync.Mutex
	waiting bytes.Buffer
	dropped uint64
	closed  bool

	more chan struct{} // has room for one: there is something to write, or the end
	done chan struct{}
}

// newLogQueue keeps at most limit bytes of what is not written yet.
func newLogQueue(out io.Writer, limit int) *logQueue {
	q := &logQueue{out: out, limit: limit, more: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

// Write takes a line, or drops it where too much waits. It never fails: there is nobody to tell.
func (q *logQueue) Write(line []byte) (int, error) {
	if !q.take(line) {
		q.drop(1)
	}
	q.wake()
	return len(line), nil
}

func (q *logQueue) take(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.waiting.Len()+len(line) > q.limit {
		return false
	}
	q.waiting.Write(line)
	return true
}

func (q *logQueue) drop(lines int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(lines)
}

// wake has the writer look again.
func (q *logQueue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// run writes what waits, until it is closed and nothing does.
func (q *logQueue) run() {
	defer close(q.done)
	var lines bytes.Buffer
	for range q.more {
		q.mu.Lock()
		lines, q.waiting = q.waiting, lines
		closed := q.closed
		q.mu.Unlock()
		if _, err := lines.WriteTo(q.out); err != nil { // a full disk may have room for the next
			q.drop(bytes.Count(lines.Bytes(), []byte("\n")))
			lines.Reset()
		}
		if closed {
			return
		}
	}
}

// lost is how many lines were dropped.
func (q *logQueue) lost() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// close writes what waits, for as long as it may take.
func (q *logQueue) close(within time.Duration) {
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
