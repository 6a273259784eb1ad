package stream

import "sync"

// scratchPool holds buffers for selected frames. A subscriber holds one only while it writes, so that
// an idle subscriber needs no buffer.
var scratchPool = sync.Pool{New: func() any { b := make([]byte, 0, scratchSize); return &b }}

const scratchSize = 16 << 10

// takeScratch returns a buffer for selected frames and a function that returns it. The buffer is nil if there is
// no memory for it.
func (h *Hub) takeScratch() (scratch []byte, release func()) {
	if !h.settings.Memory.Reserve(scratchSize) {
		return nil, func() {}
	}
	pooled := scratchPool.Get().(*[]byte)
	return *pooled, func() {
		scratchPool.Put(pooled)
		h.settings.Memory.Release(scratchSize)
	}
}

// withProcessor calls work, which serves subscribers, once one of the hub's processors is free. work must not
// block.
func (h *Hub) withProcessor(work func()) {
	h.processors <- struct{}{}
	defer func() { <-h.processors }()
	work()
}
