package replay

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestConcurrent publishes at full speed while readers read, fall behind and resume, also with a ring that evicts
// often. Each reader must get every frame, or a gap first.
func TestConcurrent(t *testing.T) {
	frames := 60_000
	if testing.Short() {
		frames = 20_000
	}
	for name, s := range map[string]Settings{
		"all is held":  {Frames: frames, Bytes: 1 << 30, Age: time.Hour},
		"turns over":   {Frames: 500, Bytes: 1 << 20, Age: time.Hour},
		"of few bytes": {Frames: frames, Bytes: 10_000, Age: time.Hour},
		"expires":      {Frames: frames, Bytes: 1 << 20, Age: 2 * time.Millisecond, Now: time.Now},
	} {
		t.Run(name, func(t *testing.T) { testConcurrent(t, s, frames, name == "all is held") })
	}
}

const concurrentSessions = 4

func testConcurrent(t *testing.T, s Settings, frames int, whole bool) {
	r, _ := newRing(t, s)
	sessions := differentShards(concurrentSessions)
	start := r.Head()
	var readers sync.WaitGroup
	done, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range 8 {
		f := &follower{ring: r, cursor: start, step: 1, seen: 0}
		if i >= 4 {
			f.step, f.offset = concurrentSessions, i-4
			f.selection = NewSelection(Query{Sessions: sessions[i-4 : i-3]})
		}
		readers.Go(func() {
			if err := f.follow(done, frames); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
			if whole && (f.lost > 0 || f.frames != frames/f.step) {
				t.Errorf("reader %d: %d frames, fell behind %d times", i, f.frames, f.lost)
			}
		})
	}
	readers.Go(func() { // scrapes evict frames too
		for done.Err() == nil && r.Head().sequence < uint64(frames) {
			r.Stats()
		}
	})
	for i := range frames {
		publish(t, r, Entry{Session: sessions[i%concurrentSessions], Data: fmt.Append(nil, i)})
	}
	for range concurrentSessions { // so that every session gets an end, even if its last frames expire at once
		publish(t, r, Entry{Session: sessions[0], Data: []byte("end")}, Entry{Session: sessions[1], Data: []byte("end")},
			Entry{Session: sessions[2], Data: []byte("end")}, Entry{Session: sessions[3], Data: []byte("end")})
	}
	readers.Wait()
}

// follower reads to the end. It expects the frames whose number is offset modulo step.
type follower struct {
	ring         *Ring
	selection    *Selection
	cursor       Cursor
	step, offset int
	seen         uint64 // the last sequence
	frames, lost int
	scratch      [4096]byte
}

func (f *follower) follow(done context.Context, total int) error {
	for {
		b := f.ring.Read(f.cursor, f.selection, f.scratch[:0])
		if b.Lost {
			f.lost++
			cursor, gap := f.ring.Resume(f.ring.ID(f.cursor))
			if gap == nil || gap.Reason != GapEvicted || cursor.sequence < f.cursor.sequence {
				return fmt.Errorf("after %d: gap %+v at %d", f.cursor.sequence, gap, cursor.sequence)
			}
			f.cursor, f.seen = cursor, cursor.sequence
			if cursor.sequence >= uint64(total) {
				return nil
			}
			continue
		}
		if end, err := f.take(b); end || err != nil {
			return err
		}
		f.cursor = b.Next
		if b.Wait == nil {
			continue
		}
		select {
		case <-b.Wait:
		case <-done.Done():
			return done.Err()
		}
	}
}

// take checks that the frames have the next numbers, with none missing.
func (f *follower) take(b Batch) (end bool, err error) {
	for block := range bytes.SplitSeq(bytes.TrimSuffix(b.Bytes, []byte("\n\n")), []byte("\n\n")) {
		if len(block) == 0 {
			continue
		}
		id, data, _ := bytes.Cut(block, []byte("\ndata: "))
		if string(data) == "end" {
			return true, nil
		}
		sequence, err := strconv.ParseUint(string(bytes.TrimPrefix(id, []byte("id: e-"))), 10, 64)
		if err != nil {
			return false, err
		}
		number, err := strconv.Atoi(string(data))
		if err != nil || uint64(number)+1 != sequence || number%f.step != f.offset {
			return false, fmt.Errorf("frame %q: %v", block, err)
		}
		if sequence <= f.seen || sequence > f.seen+uint64(f.step) {
			return false, fmt.Errorf("frame %d after %d", sequence, f.seen)
		}
		f.seen = sequence
		f.frames++
	}
	return false, nil
}

// TestNotifier notifies and waits concurrently, and checks that no waiter misses the last change.
func TestNotifier(t *testing.T) {
	const rounds, waiters = 20_000, 4
	var b notifier
	var value atomic.Int64
	var all sync.WaitGroup
	for range waiters {
		all.Go(func() {
			for value.Load() < rounds {
				wait := b.wait()
				if value.Load() < rounds {
					<-wait
				}
			}
		})
	}
	for range rounds {
		value.Add(1)
		b.notify()
	}
	all.Wait()
}
