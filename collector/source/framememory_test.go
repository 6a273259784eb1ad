package source

import (
	"context"
	"strings"
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

// TestStalledStreamsKeepToTheMemory checks that the large frames of clients that do not read take no more than their part of the budget
// and one frame, that small frames still get memory, and that stalled streams are disconnected only while others wait.
func TestStalledStreamsKeepToTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := budget.New(4 * stalledLimit)
		memory := NewFrameMemory(whole.Account("relays", 1, 1), stalledLimit)
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
			if memory.large > stalledLimit+2*stalledFrame {
				t.Errorf("%d bytes are held for large frames, want at most %d", memory.large, stalledLimit+2*stalledFrame)
			}
			time.Sleep(maxStall / 10)
		}
		if n := disconnected.Load(); n != 0 {
			t.Errorf("%d streams were disconnected early", n)
		}
		small := memory.share(t.Context(), 2*stalledFrame, nil)
		small.await(smallFrame / 2) // does not wait for the stalled streams
		small.hold(0)

		time.Sleep(time.Duration(streams) * 2 * maxStall)
		synctest.Wait()
		left := len(memory.holders)
		if left == 0 || int(disconnected.Load()) != streams-left {
			t.Errorf("%d of %d streams were disconnected, and %d hold memory; want all but those that fit", disconnected.Load(), streams, left)
		}
	})
}

// TestStalledStreamsOrder checks which stream is disconnected: the one whose client has stood still for the longest time, then the one whose
// agent has; none that made progress, or that itself waits; and only one until its memory is free.
func TestStalledStreamsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = smallFrame / 2
		memory := NewFrameMemory(budget.New(4*size).Account("relays", 1, 1), 4*size)
		var gone []string
		open := func(name string, next streamState) *frameShare {
			s := memory.share(t.Context(), size, func() { gone = append(gone, name) })
			s.hold(size)
			s.enter(next)
			time.Sleep(time.Second) // the next stream stalls later
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
		memory.extra = over // it exceeds the budget
		more := memory.share(t.Context(), size, func() { gone = append(gone, "more") })
		admit := func(want string) {
			t.Helper()
			_, admitted := memory.admit(more, size)
			if got := strings.Join(gone, ", "); got != want || admitted {
				t.Errorf("disconnected %q, admitted %v, want %q and false", got, admitted, want)
			}
		}
		admit("")
		time.Sleep(maxStall)
		admit("client")
		admit("client")
		shares["client"].hold(0)
		over.hold(2 * size)
		admit("client, later client")
		shares["later client"].hold(0)
		over.hold(3 * size)
		admit("client, later client, agent")
		shares["agent"].hold(0)
		over.hold(4 * size)
		admit("client, later client, agent")
	})
}
