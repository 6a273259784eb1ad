package budget

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// smallWork is the memory in bytes up to which work needs no turn.
	smallWork = 1 << 20
	// mediumWork and largeWork are the memory in bytes that one turn of each kind may take. Only rare frames of more
	// than 8 MiB need more than largeWork.
	mediumWork = 8 << 20
	largeWork  = 80 << 20
)

// Turns limits how much memory the decoding of large frames takes at the same time. Medium frames do not wait for
// large ones. A turn lasts only while the frame is processed: its holder must not wait for the network. A nil
// *Turns limits nothing.
type Turns struct {
	account       *Account
	medium, large chan struct{} // one element for each turn
}

// NewTurns returns turns whose memory is charged to an account. Together they take about limit bytes, but one turn
// of each kind is always possible.
func NewTurns(account *Account, limit int64) *Turns {
	turns := func(size int64) chan struct{} { return make(chan struct{}, max(1, limit/2/size)) }
	return &Turns{account: account, medium: turns(mediumWork), large: turns(largeWork)}
}

// Turn is the permission for one piece of work and its memory. The zero value is no turn.
type Turn struct {
	turns *Turns
	slots chan struct{} // of Turns; nil if the work is small
	size  int
}

// Take waits for a turn for work that takes size bytes, and charges them to the account until End is called.
func (t *Turns) Take(size int) Turn {
	if t == nil {
		return Turn{}
	}
	turn := Turn{turns: t, size: size}
	switch {
	case size > mediumWork:
		turn.slots = t.large
	case size > smallWork:
		turn.slots = t.medium
	}
	if turn.slots != nil {
		turn.slots <- struct{}{}
	}
	t.account.Charge(size)
	if size > mediumWork && !fitsRuntime(size, debug.SetMemoryLimit(-1)) {
		runtime.GC()
	}
	return turn
}

// fitsRuntime reports whether size more bytes fit below the memory limit of the Go runtime without a garbage
// collection. The runtime does not look ahead: a single large allocation can exceed the limit before it collects.
func fitsRuntime(size int, limit int64) bool {
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(sample)
	inUse := sample[0].Value.Uint64() - sample[1].Value.Uint64() - sample[2].Value.Uint64()
	return int64(inUse) <= limit-int64(size) //nolint:gosec // no process has 8 EiB
}

// End ends the turn. It does nothing if the turn has ended already.
func (t *Turn) End() {
	if t.turns != nil {
		t.turns.account.Release(t.size)
	}
	if t.slots != nil {
		<-t.slots
	}
	*t = Turn{}
}
