package event_test

import (
	"strconv"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// sized is a state of a given size in bytes.
type sized int

func (s sized) Size() int { return int(s) }

// TestStates checks that the states that were used last are kept, up to a number and up to a size.
func TestStates(t *testing.T) {
	for _, c := range []struct{ size, kept int }{{1, event.MaxStates}, {event.MaxStatesSize/10 - 10, 10}} {
		var s event.States
		get := func(key int) (found event.KeptState) {
			s.Update(strconv.Itoa(key), func(state event.KeptState) event.KeptState { found = state; return state })
			return found
		}
		last := 2 * c.kept
		for i := range last + 1 {
			s.Update(strconv.Itoa(i), func(event.KeptState) event.KeptState { return sized(c.size) })
			get(0)
		}
		if oldest := last - c.kept + 2; get(0) == nil || get(1) != nil || get(oldest-1) != nil || get(oldest) == nil || get(last) == nil {
			t.Errorf("of states with %d bytes the wrong ones are kept", c.size)
		}
		s.Update("0", func(event.KeptState) event.KeptState { return nil })
		if get(0) != nil {
			t.Error("a removed state is kept")
		}
		if s.Update("large", func(event.KeptState) event.KeptState { return sized(event.MaxStatesSize) }); get(last) != nil {
			t.Error("a state that takes all the room leaves others")
		}
	}
	(*event.States)(nil).Update("0", func(event.KeptState) event.KeptState { t.Error("a stream without states uses them"); return nil })
}
