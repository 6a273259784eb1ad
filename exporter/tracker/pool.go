package tracker

// pool keeps values of ended operations for the next ones, because most operations are short.
type pool[T any] struct{ free []*T }

// maxPooled bounds a pool.
const maxPooled = 64

// take returns a zero value.
func (p *pool[T]) take() *T {
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	v := p.free[last]
	p.free = p.free[:last]
	return v
}

// put takes back a value that nothing refers to any more.
func (p *pool[T]) put(v *T) {
	if len(p.free) < maxPooled {
		var zero T
		*v = zero
		p.free = append(p.free, v)
	}
}

// newNode returns a pooled copy of n.
func (t *Tracker) newNode(n node) *node {
	pooled := t.nodes.take()
	*pooled = n
	return pooled
}

// dropOpenState drops the bookkeeping of an ended operation.
func (t *Tracker) dropOpenState(op *Operation) {
	if op.node != nil {
		t.nodes.put(op.node)
	}
	t.openStates.put(op.openState)
	op.openState = nil
}
