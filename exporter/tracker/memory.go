package tracker

// What an open run is charged in bytes, with its indexes and with names of a usual length. Measured with
// runs of thousands of operations whose names and ids are all new.
const (
	runSize       = 1 << 10
	operationSize = 1 << 10
	factSize      = 256 // also for an entry of an index that is not about an operation
)

// smallRun is the size in bytes up to which a run may use all memory of open runs. Larger ones leave half
// of it to others.
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
