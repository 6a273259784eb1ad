package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// mayBeAround reports whether internal work that counts may be within a task, a node, a run or a graph's next step.
func (s *internalState) mayBeAround(place string, counts func(work) bool) bool {
	return s.aroundWork(counts).mayBe(place)
}

func anyWork(work) bool { return true }

// mayBeAroundTask reports whether internal work may be within a task of a graph, or the task may have called it.
func (s *internalState) mayBeAroundTask(graph []byte, id string) bool {
	return s.mayBeAround(id, anyWork) || s.mayBeAround(calledPrefix+string(graph), anyWork)
}

// aroundWork finds the places around internal work that counts, as long as the work does not change.
type aroundWork struct {
	state  *internalState
	counts func(work) bool
	asked  int                 // how often mayBe was called
	places map[uint64]struct{} // all of them; nil until manyPlaces were asked for
	isAny  bool                // any place may be around
}

// manyPlaces is the number of places from which on it takes less time to collect all around the work.
const manyPlaces = 16

func (s *internalState) aroundWork(counts func(work) bool) *aroundWork {
	return &aroundWork{state: s, counts: counts}
}

// mayBe reports whether work that counts may be within a place.
func (a *aroundWork) mayBe(place string) bool {
	hash, isFull := wire.Hash(place), len(a.state.working) >= wire.MaxSet
	if a.asked++; isFull || a.asked < manyPlaces {
		return isFull || a.find(func(w work) bool { return w.isAnywhere() || slices.Contains(w.around, hash) })
	}
	if a.places == nil {
		a.places = make(map[uint64]struct{})
		a.isAny = a.find(func(w work) bool {
			for _, around := range w.around {
				a.places[around] = struct{}{}
			}
			return w.isAnywhere()
		})
	}
	_, is := a.places[hash]
	return is || a.isAny
}

func (a *aroundWork) find(matches func(work) bool) bool {
	for _, w := range a.state.working {
		if a.counts(w) && matches(w) {
			return true
		}
	}
	return false
}
