package source

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

const (
	// smallFrame is the size in bytes up to which a frame may use the whole budget. Larger ones leave a
	// part of it to the others.
	smallFrame = 1 << 20

	// maxStall is how long a large frame may stay in memory without progress while another stream waits
	// for its memory.
	maxStall = 10 * time.Second

	// memoryPoll is how often a waiting stream checks for memory that other accounts have released.
	memoryPoll = 50 * time.Millisecond
)

// FrameMemory shares memory for large frames among the filtered streams of a process. A filtered frame is
// in memory as a whole, and stays there if the client does not read. If there is no memory left, the agent
// of a stream that needs more is not read for a while. One such stream at a time may exceed the budget, so
// that frames that are being read cannot block each other. If a stream has made no progress for maxStall
// and others wait, it is disconnected.
type FrameMemory struct {
	account    *budget.Account // nil means no bound
	largeLimit int             // bytes of all frames over smallFrame together
	maxStall   time.Duration

	mu      sync.Mutex
	large   int           // bytes of frames over smallFrame
	changed chan struct{} // closed and replaced when a stream releases memory
	holders []*frameShare // streams that hold memory
	extra   *frameShare   // the stream that may exceed the budget, or nil
	leaving *frameShare   // the stream that is being disconnected, or nil
}

// NewFrameMemory returns the memory that an account pays for. All frames over 1 MiB together may take
// largeLimit bytes.
func NewFrameMemory(account *budget.Account, largeLimit int) *FrameMemory {
	return &FrameMemory{account: account, largeLimit: largeLimit, maxStall: maxStall, changed: make(chan struct{})}
}

// frameShare is the memory that one stream holds. A nil frameShare is not bounded.
type frameShare struct {
	memory     *FrameMemory
	frameLimit int // bytes
	done       <-chan struct{}
	disconnect func()

	bytes    atomic.Int64 // changed only under the lock of memory
	progress atomic.Int64 // when the agent or the client last took part, in nanoseconds of the Unix time
	state    atomic.Int32 // a streamState
	waiting  bool         // for memory; guarded by the lock of memory
}

// share returns the share of a stream. disconnect ends the stream; it must not block or use the FrameMemory.
func (m *FrameMemory) share(ctx context.Context, frameLimit int, disconnect func()) *frameShare {
	if m == nil {
		return nil
	}
	return &frameShare{memory: m, frameLimit: frameLimit, done: ctx.Done(), disconnect: disconnect}
}

// streamState says whether a stream waits for its agent or its client.
type streamState = int32

const (
	working streamState = iota // it waits only for memory and processors
	readingAgent
	writingClient
)

// enter records that the agent sent bytes or the client took some, and what the stream does next.
func (s *frameShare) enter(next streamState) {
	if s == nil {
		return
	}
	s.state.Store(next)
	if s.bytes.Load() > 0 {
		s.progress.Store(time.Now().UnixNano())
	}
}

// hold records how many bytes the stream holds. It does not wait: the bytes are already in memory.
func (s *frameShare) hold(n int) {
	if s == nil || int(s.bytes.Load()) == n {
		return
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.set(s, n)
}

// await waits until the stream may hold n bytes, and records them. For a frame over smallFrame it waits
// for as much as any frame may need, so that frames that have been read in part do not fill the memory. It
// returns early if the stream ends.
func (s *frameShare) await(n int) {
	if s == nil {
		return
	}
	if n > smallFrame {
		n = max(n, s.frameLimit)
	}
	if n <= int(s.bytes.Load()) {
		return
	}
	for {
		changed, admitted := s.memory.admit(s, n)
		if admitted {
			return
		}
		poll := time.NewTimer(memoryPoll)
		select {
		case <-changed:
		case <-poll.C:
		case <-s.done:
		}
		poll.Stop()
		if isClosed(s.done) {
			s.memory.leave(s)
			return
		}
	}
}

// admit lets a stream hold n bytes if there is room. Otherwise it disconnects a stalled stream and returns
// a channel that is closed when a stream releases memory.
func (m *FrameMemory) admit(s *frameShare, n int) (changed <-chan struct{}, admitted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.waiting = !m.fits(s, n); !s.waiting {
		m.set(s, n)
		return nil, true
	}
	m.disconnectStalled(time.Now())
	return m.changed, false
}

// fits reports whether a stream may hold n bytes: if there is room for them, or if it is the only stream
// to exceed the budget.
func (m *FrameMemory) fits(s *frameShare, n int) bool {
	before := int(s.bytes.Load())
	room := m.account.Remaining()
	if n > smallFrame {
		room = min(room, m.largeLimit-m.large+largeBytes(before)-before)
	}
	switch {
	case room >= n-before:
	case room >= 0 || m.extra == nil:
		m.extra = s
	default:
		return m.extra == s
	}
	return true
}

// disconnectStalled disconnects the stream that has made no progress for the longest time, if that is
// long enough. A stream whose client does not read is chosen before one whose agent has not finished its
// frame. The memory of one must be free before the next is disconnected.
func (m *FrameMemory) disconnectStalled(now time.Time) {
	if m.leaving != nil {
		return
	}
	for _, state := range []streamState{readingAgent, writingClient} {
		since := now.Add(-m.maxStall).UnixNano()
		for _, s := range m.holders {
			if at := s.progress.Load(); !s.waiting && s.state.Load() == state && at < since {
				since, m.leaving = at, s
			}
		}
	}
	if m.leaving != nil {
		m.account.CountShed()
		m.leaving.disconnect()
	}
}

// leave records that a stream no longer waits.
func (m *FrameMemory) leave(s *frameShare) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.waiting = false
}

// set records that a stream holds n bytes. The caller holds the lock.
func (m *FrameMemory) set(s *frameShare, n int) {
	before := int(s.bytes.Swap(int64(n)))
	m.account.Charge(n - before)
	m.large += largeBytes(n) - largeBytes(before)
	s.progress.Store(time.Now().UnixNano())
	switch {
	case before == 0 && n > 0:
		m.holders = append(m.holders, s)
	case n == 0:
		m.holders = slices.DeleteFunc(m.holders, func(h *frameShare) bool { return h == s })
		if m.extra == s {
			m.extra = nil
		}
		if m.leaving == s {
			m.leaving = nil
		}
	}
	if n < before {
		close(m.changed)
		m.changed = make(chan struct{})
	}
}

// largeBytes returns n if a frame of n bytes is large, or 0.
func largeBytes(n int) int {
	if n <= smallFrame {
		return 0
	}
	return n
}

// updateMemory records the memory that the stream holds if it is large.
func (r *filteredBody) updateMemory() {
	held := r.memorySize()
	if held < maxRelayBuffer {
		held = 0
	}
	r.memory.hold(held)
}

// memorySize returns the bytes that the stream holds.
func (r *filteredBody) memorySize() int {
	held := cap(r.out) + r.decoding.MemorySize()
	if r.block != nil {
		held += cap(r.block.bytes)
	}
	return held
}

// beforeGrow waits until the stream may hold a larger buffer, or two if it is open.
func (r *filteredBody) beforeGrow(size int) {
	if r.block != nil {
		size *= 2
	}
	r.memory.await(cap(r.out) + size)
}

// maxRelayBuffer is the size in bytes up to which the buffer of one frame is reused for the next.
const maxRelayBuffer = 64 << 10
