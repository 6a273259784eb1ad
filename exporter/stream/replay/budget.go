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
	room := r.settings.Bytes
	if b := r.settings.Budget; b != nil && b.held.Load() > b.bytes {
		room = r.Part()
	}
	if r.settings.Memory == nil {
		return room
	}
	return min(room, max(0, r.view.Load().bytes+r.settings.Memory.Left()))
}

// Leave gives back what a Ring takes of its Budget. It may be read and published to as before, but counts for nobody.
func (r *Ring) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return
	}
	r.left = true
	held := r.view.Load().bytes
	r.settings.Memory.Release(held)
	if b := r.settings.Budget; b != nil {
		b.held.Add(-int64(held))
		b.rings.Add(-1)
	}
}

// show has everybody see another view from now on. The caller holds the lock.
func (r *Ring) show(next *view) {
	if more := next.bytes - r.view.Load().bytes; !r.left {
		if b := r.settings.Budget; b != nil {
			b.held.Add(int64(more))
		}
		r.settings.Memory.Hold(more)
	}
	r.view.Store(next)
}
