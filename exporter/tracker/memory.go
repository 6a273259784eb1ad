package tracker

// Sizes in bytes that an open run is charged for itself and its parts. They include the entries of indexes and
// names of a usual length. They were measured with runs of thousands of operations with different names and ids.
const (
	runSize       = 1 << 10
	operationSize = 1 << 10
	factSize      = 256 // also charged for an index entry that belongs to no operation
)

// smallRun is the size in bytes below which a run may use all memory of open runs. A larger one may not use
// the last half of it.
const smallRun = 64 << 10

// reserve charges a run for more memory, and reports whether there was room.
func (r *openRun) reserve(size int) bool {
	memory := r.tracker.settings.RunMemory
	if r.charged >= smallRun && memory.Remaining() < memory.Limit()/2 {
		memory.CountShed()
		return false
	}
	if !memory.Reserve(size) {
		return false
	}
	r.charged += size
	return true
}

// reserveEntry reserves memory for one more entry of an index that has n entries. An index does not shrink:
// most is the largest number of entries that it has had.
func (r *openRun) reserveEntry(n int, most *int) bool {
	if n < *most {
		return true
	}
	if n >= r.tracker.settings.MaxOperations || !r.reserve(factSize) {
		return false
	}
	*most = n + 1
	return true
}

// charge charges a run for memory that it needs in any case. A negative size releases memory.
func (r *openRun) charge(size int) {
	r.tracker.settings.RunMemory.Charge(size)
	r.charged += size
}

// release releases all memory of a run.
func (r *openRun) release() { r.charge(-r.charged) }
