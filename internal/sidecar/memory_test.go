package sidecar

import (
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
)

// TestSubscribersLeaveRoom checks that readers of the external stream take no memory that observation needs.
func TestSubscribersLeaveRoom(t *testing.T) {
	const limit, piece = 64 << 20, 28 << 10
	m := newMemory(config.Limits{Memory: limit}, 17<<20, 0)
	for _, account := range []*budget.Account{m.subscribers, m.decodings} {
		for account.Reserve(piece) {
		}
	}
	for name, account := range map[string]*budget.Account{"the observation": m.observe, "the requests": m.requests, "the runs": m.runs} {
		for range limit / 64 / piece {
			if !account.Reserve(piece) {
				t.Errorf("beside as many readers as fit in, there is no room for %s", name)
				break
			}
		}
	}
}

// TestSubscribersHaveRoom checks that telemetry does not keep all readers out of the external stream.
func TestSubscribersHaveRoom(t *testing.T) {
	m := newMemory(config.Limits{Memory: 64 << 20}, 17<<20, 0)
	for _, account := range []*budget.Account{m.runs, m.spans, m.replay} {
		for account.Reserve(1 << 10) {
		}
	}
	for i := range 50 {
		if !m.subscribers.Reserve(stream.SubscriberSize) {
			t.Fatalf("beside as much telemetry as fits in, there is no room for reader %d", i)
		}
	}
}
