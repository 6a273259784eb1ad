package replay

import "sync/atomic"

// Budget bounds the bytes of several Rings together. While they hold more, each Ring may hold only an equal
// share. A Ring applies its share at its next Publish or Stats.
type Budget struct {
	bytes       int64
	held, rings atomic.Int64
}

// NewBudget returns a Budget of the given number of bytes.
func NewBudget(bytes int) *Budget { return &Budget{bytes: int64(bytes)} }

// Share returns how many bytes the ring may hold when the Budget is used up. It shrinks as rings are added.
func (r *Ring) Share() int {
	b := r.settings.Budget
	if b == nil {
		return r.settings.Bytes
	}
	return min(r.settings.Bytes, int(b.bytes/max(b.rings.Load(), 1)))
}

// sharedLimit returns how many bytes the ring may hold now: fewer than its settings allow if the Budget is used up.
func (r *Ring) sharedLimit() int {
	if b := r.settings.Budget; b != nil && b.held.Load() > b.bytes {
		return r.Share()
	}
	return r.settings.Bytes
}

// currentLimit returns how many bytes the ring may hold now: sharedLimit, or fewer if the memory of the process is
// used up.
func (r *Ring) currentLimit() int {
	limit := r.sharedLimit()
	if r.settings.Memory == nil {
		return limit
	}
	remaining := max(0, r.view.Load().bytes+r.settings.Memory.Remaining())
	if r.settings.Budget != nil {
		remaining = max(remaining, r.Share())
	}
	return min(limit, remaining)
}

// ReleaseBudget returns the ring's bytes to its Budget. The ring can still be read and published
// to, but no longer counts.
func (r *Ring) ReleaseBudget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.budgetReleased {
		return
	}
	r.budgetReleased = true
	held := r.view.Load().bytes
	r.settings.Memory.Release(held)
	if b := r.settings.Budget; b != nil {
		b.held.Add(-int64(held))
		b.rings.Add(-1)
	}
}

// setView makes next the current view. The caller holds the lock.
func (r *Ring) setView(next *view) {
	if change := next.bytes - r.view.Load().bytes; !r.budgetReleased {
		if b := r.settings.Budget; b != nil {
			b.held.Add(int64(change))
		}
		r.settings.Memory.Charge(change)
	}
	r.view.Store(next)
}
