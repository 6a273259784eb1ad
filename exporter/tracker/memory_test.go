package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestRunsKeepToTheMemory checks that large runs take at most half of the memory of open runs, plus the size of a small
// run each. A small run must still have room beside them, and the losses must be counted.
func TestRunsKeepToTheMemory(t *testing.T) {
	const limit, streams = 1 << 20, 10
	memory := budget.New(limit)
	s := watch(func(s *tracker.Settings) {
		s.MaxOperations, s.MaxFacts, s.RunMemory = 100_000, 100_000, memory.Account("runs", 1, 1)
	})
	var large []*event.Stream
	for range streams {
		large = append(large, proxied())
	}
	for i := range 1000 {
		for _, stream := range large {
			id := fmt.Sprint(i)
			s.feed(stream, says("app", calls(id, "tool")), says("a"+id))
		}
	}
	if used := memory.Usage()[0].Bytes; used > limit/2+streams*(64<<10) {
		t.Errorf("%d of %d bytes are charged for large runs", used, limit)
	}
	if n, shed := count(s.lost, "evicted execute_tool"), memory.Usage()[0].Shed; n < 5000 || int(shed) < n {
		t.Errorf("%d lost calls are counted, and %d refusals", n, shed)
	}
	small := proxied()
	s.feed(small, says("app", calls("1", "tool")), says("app", returns("1", "tool"))).end(small, event.EndOfStream)
	if got := s.runs[0]; len(got.Operations) != 2 {
		t.Errorf("a small run has %d operations, want 2", len(got.Operations))
	}
	for _, stream := range large {
		s.end(stream, event.EndOfStream)
	}
	if used := memory.Usage()[0].Bytes; used != 0 {
		t.Errorf("%d bytes are charged after the last run", used)
	}
}

// TestEndedOperationsLeaveTheMemory checks that a run whose operations end gets room for new ones, and only its report loses the old
// ones.
func TestEndedOperationsLeaveTheMemory(t *testing.T) {
	memory := budget.New(256 << 10)
	s, stream := watch(func(s *tracker.Settings) {
		s.MaxOperations, s.RunMemory = 100_000, memory.Account("runs", 1, 1)
	}), proxied()
	for i := range 5000 {
		id := fmt.Sprint(i)
		s.feed(stream, says("app", calls(id, "tool")), says("app", returns(id, "tool")))
	}
	s.end(stream, event.EndOfStream)
	if n := count(s.told, "execute_tool tool"); n != 5000 {
		t.Errorf("observers were told of %d calls, want 5000", n)
	}
	if n := count(s.lost, "evicted report"); n == 0 || n != len(s.lost) {
		t.Errorf("%d of %d losses are of the report only", n, len(s.lost))
	}
}
