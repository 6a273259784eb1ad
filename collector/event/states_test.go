package event_test

import (
	"strconv"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestStates checks that the states that were used last are kept.
func TestStates(t *testing.T) {
	var s event.States
	get := func(key string) (found any) {
		s.Update(key, func(state any) any { found = state; return state })
		return found
	}
	for i := range 4 * event.MaxStates {
		s.Update(strconv.Itoa(i), func(any) any { return i })
		get("0")
	}
	if get("0") != 0 || get("1") != nil || get(strconv.Itoa(3*event.MaxStates)) != 3*event.MaxStates {
		t.Error("the wrong states are kept")
	}
	s.Update("0", func(any) any { return nil })
	if get("0") != nil {
		t.Error("a removed state is kept")
	}
	(*event.States)(nil).Update("0", func(any) any { t.Error("a stream without states uses them"); return nil })
}
