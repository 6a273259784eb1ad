package metrics

import "sync"

// unknownKinds reports each kind unknown to a dialect once, up to a maximum number of kinds.
type unknownKinds struct {
	report func(source, dialect, name string)
	limit  int // kinds

	mu   sync.Mutex
	seen map[[2]string]struct{} // dialect and name
}

func (u *unknownKinds) see(source, dialect, name string) {
	if u.report != nil && u.isNew([2]string{dialect, name}) {
		u.report(source, dialect, name)
	}
}

func (u *unknownKinds) isNew(kind [2]string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, seen := u.seen[kind]; seen || len(u.seen) >= u.limit {
		return false
	}
	u.seen[kind] = struct{}{}
	return true
}
