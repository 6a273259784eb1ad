package stream

import "sync"

// scratchPool holds buffers for selected frames. A subscriber holds one only while it writes, so that
// an idle subscriber needs no buffer.
var scratchPool = sync.Pool{New: func() any { b := make([]byte, 0, scratchSize); return &b }}

const scratchSize = 16 << 10

// takeScratch returns a buffer for selected frames, or nil if there is no memory for it. The caller must call
// release when it no longer uses the buffer.
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

// withProcessor waits until one of the hub's processors is free, and then calls work, which must not block.
func (h *Hub) withProcessor(work func()) {
	h.processors <- struct{}{}
	defer func() { <-h.processors }()
	work()
}
