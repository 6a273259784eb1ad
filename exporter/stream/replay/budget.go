package replay

import "sync/atomic"

// Budget bounds the bytes of many Rings together. While they hold more, each that is published to, or asked for its Stats, keeps no more
// than an equal part.
type Budget struct {
	bytes       int64
	held, rings atomic.Int64
}

// NewBudget makes a Budget of so many bytes.
func NewBudget(bytes int) *Budget { return &Budget{bytes: int64(bytes)} }

// Part is how many bytes the ring may hold whatever others do, while no more of them come.
func (r *Ring) Part() int {
	b := r.settings.Budget
	if b == nil {
		return r.settings.Bytes
	}
	return min(r.settings.Bytes, int(b.bytes/max(b.rings.Load(), 1)))
}

// room is how many bytes the ring may hold now. The newest two frames stay in any case.
func (r *Ring) room() int {
	if b := r.settings.Budget; b == nil || b.held.Load() <= b.bytes {
		return r.settings.Bytes
	}
	return r.Part()
}

// Leave gives back what a Ring takes of its Budget. It may be read and published to as before, but counts for nobody.
func (r *Ring) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.settings.Budget; b != nil && !r.left {
		r.left = true
		b.held.Add(-int64(r.view.Load().bytes))
		b.rings.Add(-1)
	}
}

// show has everybody see another view from now on. The caller holds the lock.
func (r *Ring) show(next *view) {
	if b := r.settings.Budget; b != nil && !r.left {
		b.held.Add(int64(next.bytes - r.view.Load().bytes))
	}
	r.view.Store(next)
}
