package main

import (
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/config"
)

// memory is the budget of a process, and the accounts of its queues and buffers. What waits in queues is telemetry, which is dropped
// when three quarters of the budget are used; it cannot take the place of the replay buffer, nor the buffer all of the telemetry's.
// The buffer shrinks when nine tenths are used, as by frames of the agent's on their way to slow clients, which are never dropped.
type memory struct {
	*budget.Budget
	observe, spans, content, replay, relay, fixed *budget.Account
}

func newMemory(c config.Config) *memory {
	limit := int64(c.Limits.Memory)
	if limit == 0 {
		limit = budget.Default()
	}
	b := budget.New(limit)
	m := &memory{
		Budget:  b,
		observe: b.Account("observe_queues", 0.25, 0.75),
		spans:   b.Account("span_queue", 0.25, 0.75),
		content: b.Account("content", 0.25, 0.75),
		replay:  b.Account("replay", 0.5, 0.9),
		relay:   b.Account("relays", 1, 1),
		fixed:   b.Account("log_and_ended_runs", 1, 1),
	}
	m.fixed.Hold(int(c.Limits.LogQueue + c.Runs.MaxEndedSize)) // small, and bounded by themselves
	return m
}
