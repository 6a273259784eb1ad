package source

import (
	"cmp"
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

const (
	// smallFrame is the size in bytes up to which a stream waits only for the memory that its frame needs so far. For a
	// larger frame, it waits once, for as much memory as any frame may need.
	smallFrame = 1 << 20

	// copies is the number of copies of a frame in memory: one as it was read, and one as the client gets it.
	copies = 2

	// maxStall is how long a frame may stay in memory without progress while more memory is used than allowed.
	maxStall = 2 * time.Second

	// maxWait is how long a frame may stay in memory without progress while other streams wait for memory and no limit
	// is exceeded.
	maxWait = 10 * time.Second

	// minProgress is how many bytes the agent must send, or the client must take, to count as progress. Otherwise a
	// client that takes a few bytes now and then would keep its memory forever.
	minProgress = 64 << 10

	// memoryPoll is how often a waiting stream checks for memory that other accounts have released.
	memoryPoll = 50 * time.Millisecond
)

// tiers limit the memory of large frames. All frames over a size together may take only a part of the memory that
// other accounts leave. The rest stays free for smaller frames, so that large frames never delay streams with only
// small ones.
var tiers = [...]struct {
	over int     // bytes of all copies of a frame
	part float64 // of the memory that other accounts leave
}{{copies * 64 << 10, 0.8}, {copies * 256 << 10, 0.6}, {copies * smallFrame, 0.4}}

// FrameMemory shares memory for frames among the filtered streams of a process. A filtered frame is in memory as a
// whole, and stays there while the client does not read. If there is no memory left for a frame of its size, its
// stream waits, and the proxy does not read from its agent. One stream at a time may exceed the limits. Otherwise
// frames that have been read in part could wait for each other forever.
//
// A stream that makes no progress is disconnected after one of two times:
//   - maxStall, if more memory is used than the budget allows, or if other streams wait and the frames of a tier exceed
//     their limit
//   - maxWait, if other streams wait and no limit is exceeded
type FrameMemory struct {
	account *budget.Account // nil means no bound

	shrink func() // releases memory of other accounts; may be nil

	mu        sync.Mutex
	held      int                 // bytes of all frames
	used      [len(tiers)]int     // for each tier, bytes of all frames over its size
	wanted    [len(tiers) + 1]int // bytes that streams wait for, by level: see the function level
	leaving   int                 // bytes of the streams that are being disconnected
	changed   chan struct{}       // closed and replaced when a stream releases memory
	checked   time.Time           // the time of the last search for stalled streams
	holders   []*frameShare       // streams that hold memory
	mayExceed *frameShare         // the stream that may exceed the limits, or nil
}

// NewFrameMemory returns a FrameMemory that charges an account.
func NewFrameMemory(account *budget.Account) *FrameMemory {
	return &FrameMemory{account: account, changed: make(chan struct{})}
}

// frameShare is the memory that one stream holds. A nil frameShare is not bounded.
type frameShare struct {
	memory     *FrameMemory
	frameLimit int // bytes
	done       <-chan struct{}
	disconnect func()
	conn       *net.TCPConn // to the client; nil if it is not known

	bytes    atomic.Int64 // memory that the stream holds; changed only under the lock of memory
	progress atomic.Int64 // time of the last progress, moved forward by the time in the state working since then; Unix time in nanoseconds
	state    atomic.Int32 // a streamState
	entered  int64        // when enter was last called while memory was held; only for the stream's goroutine
	moved    int          // bytes that were sent or taken since progress; only for the stream's goroutine
	wanted   int          // bytes that the stream waits for; guarded by the lock of memory
	level    int          // the index of the wanted bytes in FrameMemory.wanted
	leaving  bool         // the stream is being disconnected; guarded by the lock of memory
}

// share returns the share of a stream. disconnect ends the stream; it must not block or use the FrameMemory.
func (m *FrameMemory) share(ctx context.Context, frameLimit int, disconnect func()) *frameShare {
	if m == nil {
		return nil
	}
	return &frameShare{memory: m, frameLimit: frameLimit, done: ctx.Done(), disconnect: disconnect, conn: clientConn(ctx)}
}

// streamState says whether a stream waits for its agent or its client.
type streamState = int32

const (
	working streamState = iota // it waits for neither agent nor client, only for memory and processors
	readingAgent
	writingClient
)

// enter records what the stream does next, and how many bytes the agent has sent or the client has taken since
// the last call.
func (s *frameShare) enter(next streamState, moved int) {
	if s == nil {
		return
	}
	before := s.state.Swap(next)
	if s.bytes.Load() == 0 {
		return
	}
	now := time.Now().UnixNano()
	if before == working { // the agent and the client did not cause this delay
		s.progress.Store(min(now, s.progress.Load()+now-s.entered))
	}
	s.entered = now
	if s.moved += moved; s.moved >= minProgress {
		s.moved = 0
		s.progress.Store(now)
	}
}

// hold records how many bytes the stream holds. It does not wait, because the bytes are already in memory. If all
// streams together then exceed the budget, hold disconnects stalled streams.
func (s *frameShare) hold(n int) {
	if s == nil || int(s.bytes.Load()) == n {
		return
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.set(s, n)
	s.memory.disconnectStalled()
}

// await waits until the stream may hold the copies of a frame of n bytes, and records them. For a frame over
// smallFrame it waits for the largest size that a frame may have: otherwise frames that have been read in part
// could fill the memory. It returns early if the stream ends.
func (s *frameShare) await(n int) {
	if s == nil {
		return
	}
	if n > smallFrame {
		n = max(n, s.frameLimit)
	}
	n *= copies
	if n <= int(s.bytes.Load()) {
		return
	}
	for {
		changed, admitted := s.memory.admit(s, n)
		if admitted {
			return
		}
		select {
		case <-changed:
		case <-time.After(memoryPoll):
		case <-s.done:
		}
		if isClosed(s.done) {
			s.memory.stopWaiting(s)
			return
		}
	}
}

// admit records that a stream holds n bytes, if there is room for them. Otherwise it disconnects stalled streams and
// returns a channel that is closed when a stream releases memory.
func (m *FrameMemory) admit(s *frameShare, n int) (changed <-chan struct{}, admitted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.want(s, 0, 0)
	if m.allows(s, n) {
		m.set(s, n)
		return nil, true
	}
	m.want(s, n-int(s.bytes.Load()), level(n))
	m.disconnectStalled()
	return m.changed, false
}

// want records that a stream waits for n bytes; 0 means that it does not wait. The caller holds the lock.
func (m *FrameMemory) want(s *frameShare, n, level int) {
	m.wanted[s.level] -= s.wanted
	m.wanted[level] += n
	s.wanted, s.level = n, level
}

// wantedBelow returns the bytes that streams wait for at levels below a number.
func (m *FrameMemory) wantedBelow(level int) (n int) {
	for _, wanted := range m.wanted[:level] {
		n += wanted
	}
	return n
}

// level returns the number of tiers that a frame of n bytes is in. The smallest frames have level 0.
func level(n int) (l int) {
	for i := range tiers {
		if inTier(i, n) > 0 {
			l++
		}
	}
	return l
}

// allows reports whether a stream may hold n bytes: there is room for them, or no other stream exceeds the limits. In
// the second case the stream takes the place of the one that may exceed them.
func (m *FrameMemory) allows(s *frameShare, n int) bool {
	before := int(s.bytes.Load())
	room := m.account.Remaining() - m.wantedBelow(level(n)) // smaller frames come first
	for i := range tiers {
		if more := inTier(i, n) - inTier(i, before); more > 0 {
			// The frame enters the tier with all its bytes, so the tier needs room for more bytes, not only for the n-before new ones.
			room = min(room, m.limit(i)-m.used[i]+n-before-more)
		}
	}
	switch {
	case room >= n-before:
	case room >= 0 || m.mayExceed == nil: // if room is not negative, the previous stream is within the limits again
		m.mayExceed = s
	default:
		return m.mayExceed == s
	}
	return true
}

// ShrinkFirst sets a function that releases memory of other accounts. It is called before streams are
// disconnected because too much memory is used. It must not block or use the FrameMemory. Call ShrinkFirst
// before there are streams.
func (m *FrameMemory) ShrinkFirst(shrink func()) { m.shrink = shrink }

// limit returns how many bytes the frames of a tier may take together.
func (m *FrameMemory) limit(tier int) int {
	available := float64(m.account.Remaining()) + float64(m.held)
	return int(tiers[tier].part * available)
}

// excess returns the bytes that are used beyond the budget.
func (m *FrameMemory) excess() int { return max(-m.account.Remaining(), 0) }

// tierExcess returns the most bytes by which the frames of any tier exceed its limit. They can exceed it if other
// accounts have taken more since the frames were admitted.
func (m *FrameMemory) tierExcess() (over int) {
	for i := range tiers {
		over = max(over, m.used[i]-m.limit(i))
	}
	return over
}

// disconnectStalled disconnects stalled streams until the memory that they release is enough for what
// exceeds the budget and for the streams that wait. The caller holds the lock.
func (m *FrameMemory) disconnectStalled() {
	now := time.Now()
	wanted := m.wantedBelow(len(m.wanted))
	if wanted+m.excess() <= m.leaving || now.Sub(m.checked) < memoryPoll {
		return
	}
	m.checked = now
	if m.shrink != nil && m.excess() > m.leaving {
		m.shrink()
	}
	over := m.excess()
	if wanted > 0 {
		over = max(over, m.tierExcess())
	}
	m.disconnect(over-m.leaving, now.Add(-maxStall))
	m.disconnect(wanted+m.excess()-m.leaving, now.Add(-maxWait))
}

// disconnect disconnects streams that have made no progress since a time, until the disconnected ones hold the missing
// bytes. The caller holds the lock.
func (m *FrameMemory) disconnect(missing int, since time.Time) {
	for _, s := range m.stalled(since.UnixNano()) {
		if missing <= 0 {
			return
		}
		missing -= int(s.bytes.Load())
		m.leaving += int(s.bytes.Load())
		s.leaving = true
		m.account.CountShed()
		s.disconnect()
	}
}

// stalled returns the streams that have made no progress since a time, in the order in which to disconnect them. First
// come streams whose clients do not read, then those whose agents have not finished a frame. Of each kind, the stream
// that stalled first comes first.
func (m *FrameMemory) stalled(since int64) []*frameShare {
	var clients, agents []*frameShare
	for _, s := range m.holders {
		if s.wanted > 0 || s.leaving || s.progress.Load() >= since {
			continue
		}
		switch s.state.Load() {
		case writingClient:
			clients = append(clients, s)
		case readingAgent:
			agents = append(agents, s)
		}
	}
	earlier := func(a, b *frameShare) int { return cmp.Compare(a.progress.Load(), b.progress.Load()) }
	slices.SortFunc(clients, earlier)
	slices.SortFunc(agents, earlier)
	return append(clients, agents...)
}

// stopWaiting records that a stream no longer waits.
func (m *FrameMemory) stopWaiting(s *frameShare) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.want(s, 0, 0)
}

// set records that a stream holds n bytes. The caller holds the lock.
func (m *FrameMemory) set(s *frameShare, n int) {
	before := int(s.bytes.Swap(int64(n)))
	m.account.Charge(n - before)
	m.held += n - before
	for i := range tiers {
		m.used[i] += inTier(i, n) - inTier(i, before)
	}
	if s.leaving {
		m.leaving += n - before
	}
	s.progress.Store(time.Now().UnixNano())
	switch {
	case before == 0 && n > 0:
		m.holders = append(m.holders, s)
		limitUnsent(s.conn)
	case n == 0:
		m.holders = slices.DeleteFunc(m.holders, func(h *frameShare) bool { return h == s })
		if m.mayExceed == s {
			m.mayExceed = nil
		}
	}
	if n < before {
		close(m.changed)
		m.changed = make(chan struct{})
	}
}

// inTier returns how many bytes of a frame of n bytes count in a tier: all or none.
func inTier(i, n int) int {
	if n <= tiers[i].over {
		return 0
	}
	return n
}
