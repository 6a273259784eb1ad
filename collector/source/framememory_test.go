package source

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

const (
	stalledFrame = 2 << 20
	stalledLimit = 8 << 20
)

// stalled opens streams with one large frame each, whose clients take only the first byte.
func stalled(ctx context.Context, memory *FrameMemory, streams int, disconnected *atomic.Int32) {
	large := `data: {"author":"a","invocationId":"e-1","n":"` + strings.Repeat("x", stalledFrame) + `"}` + "\n\n"
	for range streams {
		r := relayWithin(strings.NewReader(large), false, 2*stalledFrame)
		gone := make(chan struct{})
		r.memory = memory.share(ctx, 2*stalledFrame, func() { disconnected.Add(1); close(gone) })
		go func() {
			_, _ = r.Read(make([]byte, 1))
			select { // the client does not read
			case <-gone:
			case <-ctx.Done():
			}
			_ = r.Close()
		}()
	}
}

// TestStalledStreamsKeepToTheMemory checks that large frames of clients that do not read take at most their part of the
// budget, plus one frame. Small frames must still get memory. Stalled streams must be disconnected only while others
// wait.
func TestStalledStreamsKeepToTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := budget.New(4 * stalledLimit)
		memory := NewFrameMemory(whole.Account("relays", 1, 1))
		whole.Account("others", 1, 1).Charge(2 * stalledLimit)
		const streams, bound = 20, stalledLimit + 2*stalledFrame + 20*smallFrame
		var disconnected atomic.Int32
		ctx, end := context.WithCancel(t.Context())
		defer end()
		stalled(ctx, memory, streams, &disconnected)
		for range 10 {
			synctest.Wait()
			if used := whole.Usage()[0].Bytes; used > bound {
				t.Errorf("%d bytes are held for %d stalled clients, want at most %d", used, streams, bound)
			}
			if large := memory.used[len(tiers)-1]; large > stalledLimit+4*stalledFrame {
				t.Errorf("%d bytes are held for large frames, want at most %d", large, stalledLimit+4*stalledFrame)
			}
			time.Sleep(maxStall / 10)
		}
		if n := disconnected.Load(); n != 0 {
			t.Errorf("%d streams were disconnected early", n)
		}
		small := memory.share(t.Context(), 2*stalledFrame, nil)
		small.await(smallFrame / 2) // does not wait for the stalled streams
		small.hold(0)

		time.Sleep(time.Duration(streams) * 2 * maxWait)
		synctest.Wait()
		left := len(memory.holders)
		if left == 0 || int(disconnected.Load()) != streams-left {
			t.Errorf("%d of %d streams were disconnected, and %d hold memory; want all but those that fit", disconnected.Load(), streams, left)
		}
	})
}

// TestStalledStreamsOrder checks which streams are disconnected: first those whose clients have stalled, then those
// whose agents have stalled, and within each kind the one that stalled first. Streams that made progress or wait for
// memory must stay, and no more streams than necessary are disconnected.
func TestStalledStreamsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 32 << 10
		memory := NewFrameMemory(budget.New(5*size).Account("relays", 1, 1))
		var gone []string
		open := func(name string, next streamState) *frameShare {
			s := memory.share(t.Context(), size, func() { gone = append(gone, name) })
			s.hold(size)
			s.enter(next, 0)
			time.Sleep(maxStall / 10) // the next stream stalls later
			return s
		}
		shares := map[string]*frameShare{}
		for _, c := range []struct {
			name string
			next streamState
		}{{"agent", readingAgent}, {"works", working}, {"client", writingClient}, {"later client", writingClient}} {
			shares[c.name] = open(c.name, c.next)
		}
		over := open("over", working)
		memory.mayExceed = over // it exceeds the limits
		over.hold(2 * size)
		more := memory.share(t.Context(), size, func() { gone = append(gone, "more") })
		admit := func(want string) {
			t.Helper()
			time.Sleep(memoryPoll)
			_, admitted := memory.admit(more, size)
			if got := strings.Join(gone, ", "); got != want || admitted {
				t.Errorf("disconnected %q, admitted %v, want %q and false", got, admitted, want)
			}
		}
		admit("")
		time.Sleep(maxStall)
		admit("client") // releases what exceeds the budget
		admit("client")
		time.Sleep(maxWait)
		admit("client, later client") // also releases what is requested
		admit("client, later client")
		shares["client"].hold(0)
		over.hold(4 * size)
		admit("client, later client, agent")
		shares["later client"].hold(0)
		shares["agent"].hold(0)
		over.hold(6 * size)
		admit("client, later client, agent")
	})
}

// TestSlowStreams checks that streams that move a few bytes now and then count as stalled. Streams that move enough
// bytes, or that wait for processors, must not.
func TestSlowStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, seconds = 512 << 10, 10
		memory := NewFrameMemory(budget.New(1<<20).Account("relays", 1, 1))
		var gone sync.Map
		var streams sync.WaitGroup
		for name, c := range map[string]struct {
			state   streamState
			moved   int // bytes a second
			working time.Duration
		}{
			"slow client": {writingClient, 6000, 0}, "slow agent": {readingAgent, 6000, 0},
			"client": {writingClient, 128 << 10, 0}, "agent": {readingAgent, 128 << 10, 0},
			"busy": {writingClient, 0, time.Second - time.Millisecond},
		} {
			s := memory.share(t.Context(), size, func() { gone.Store(name, true) })
			streams.Go(func() {
				s.hold(size)
				for range seconds {
					s.enter(c.state, 0)
					time.Sleep(time.Second - c.working)
					s.enter(working, c.moved)
					time.Sleep(c.working)
				}
			})
		}
		for range seconds {
			time.Sleep(time.Second - time.Millisecond)
			memory.share(t.Context(), size, nil).hold(size) // exceeds the budget
		}
		streams.Wait()
		var names []string
		for name := range gone.Range {
			names = append(names, name.(string))
		}
		slices.Sort(names)
		if got := strings.Join(names, ", "); got != "slow agent, slow client" {
			t.Errorf("disconnected: %s; want slow agent, slow client", got)
		}
	})
}

// TestFramesOfOtherSizes checks that many stalled frames of one size never delay smaller frames, even if other accounts
// hold memory.
func TestFramesOfOtherSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 64 << 20
		whole := budget.New(limit)
		memory := NewFrameMemory(whole.Account("relays", 1, 1))
		whole.Account("others", 1, 1).Charge(limit / 5)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for _, size := range []int{4 << 20, smallFrame, 250 << 10} {
			for range 2 * limit / size {
				s := memory.share(ctx, size, func() {})
				go s.await(size)
			}
			synctest.Wait()
			small := memory.share(ctx, size, func() {})
			if _, admitted := memory.admit(small, size/5); !admitted {
				t.Errorf("frames of %d bytes hold all memory: %v of %v", size, memory.used, limit)
			}
			small.hold(0)
		}
		if used := whole.Usage()[0].Bytes; used > limit*4/5 {
			t.Errorf("%d bytes are used", used)
		}
	})
}

// TestSmallerFramesComeFirst checks that memory for which smaller frames wait is not given to larger ones.
func TestSmallerFramesComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 64 << 20
		whole := budget.New(limit)
		memory := NewFrameMemory(whole.Account("relays", 1, 1))
		other := whole.Account("other", 1, 1)
		memory.mayExceed = memory.share(t.Context(), 0, nil) // no other stream may exceed the limits
		other.Charge(limit + 1)
		small, large := memory.share(t.Context(), 0, nil), memory.share(t.Context(), 0, nil)
		memory.admit(large, 2<<20)
		memory.admit(small, 128<<10)
		other.Release(100 << 10)
		if _, admitted := memory.admit(large, 2<<20); admitted {
			t.Error("a large frame gets the memory for which a small one waits")
		}
		other.Release(100 << 10)
		if _, admitted := memory.admit(small, 128<<10); !admitted {
			t.Error("a small frame gets no memory")
		}
		other.Release(limit / 2)
		if _, admitted := memory.admit(large, 2<<20); !admitted {
			t.Error("a large frame gets no memory although none other waits")
		}
	})
}

// TestOthersShrinkFirst checks that no stream is disconnected for memory that another account can release.
func TestOthersShrinkFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 32 << 10
		whole := budget.New(4 * size)
		memory, replay := NewFrameMemory(whole.Account("relays", 1, 1)), whole.Account("replay", 1, 1)
		replay.Charge(3 * size)
		memory.ShrinkFirst(func() { replay.Release(size) })
		s := memory.share(t.Context(), size, func() { t.Error("the stream is disconnected") })
		s.hold(size)
		s.enter(writingClient, 0)
		time.Sleep(maxStall)
		memory.share(t.Context(), size, nil).hold(size)
		if used := whole.Usage()[1].Bytes; used != 2*size {
			t.Errorf("the other account has %d bytes, want %d", used, 2*size)
		}
	})
}

// TestSmallFramesKeepToTheMemory checks that streams whose small frames together exceed the budget are disconnected once they have stalled.
func TestSmallFramesKeepToTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size, streams = 8 << 20, 64 << 10, 300
		whole := budget.New(limit)
		memory := NewFrameMemory(whole.Account("relays", 1, 1))
		for range streams {
			var s *frameShare
			s = memory.share(t.Context(), size, func() { go s.hold(0) })
			s.hold(size)
			s.enter(writingClient, 0)
		}
		time.Sleep(maxStall + time.Second)
		memory.share(t.Context(), size, nil).hold(1) // another stream makes progress
		synctest.Wait()
		if used := whole.Usage()[0].Bytes; used > limit {
			t.Errorf("%d bytes are held, the limit is %d", used, limit)
		}
		if kept := len(memory.holders); kept < limit/size-1 {
			t.Errorf("only %d streams are left", kept)
		}
	})
}
