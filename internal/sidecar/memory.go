package sidecar

import (
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
)

// memory is the memory budget of the process with the accounts of its queues and buffers. Queues hold telemetry, which is dropped when
// three quarters of the budget are used. Queues cannot use up the share of the replay buffer, nor the buffer theirs. The replay buffer
// shrinks when nine tenths are used. Frames on their way to slow clients of the agent are never dropped: if there is no room, their agents
// are read more slowly.
type memory struct {
	*budget.Budget
	observe, requests, spans, content, replay, decodings, subscribers, fixed *budget.Account

	turns     *budget.Turns
	frames    *source.FrameMemory
	observers *source.ObserverSlots
}

const defaultBudget config.Bytes = 400 << 20

// subscribersShare is the share of the budget that subscribers and what is copied for them may take.
const subscribersShare = 0.75

// budgetOfSubscribers returns the budget in which all allowed subscribers have room.
func budgetOfSubscribers(s config.Stream) config.Bytes {
	return config.Bytes(float64(s.MaxSubscribers) * stream.SubscriberSize / subscribersShare)
}

// newMemory divides the budget. fixed is the size, in bytes, of buffers that have limits of their own and cannot be dropped from.
// unlimited is the budget if neither the configuration nor the system limits the process's memory.
func newMemory(c config.Limits, fixed, unlimited config.Bytes) *memory {
	limit := int64(c.Memory)
	if limit == 0 {
		limit = budget.Default(int64(unlimited))
	}
	b := budget.New(limit)
	m := &memory{
		Budget:    b,
		observe:   b.Account("observe_queues", 0.25, 0.75),
		requests:  b.Account("requests", 0.125, 0.75),
		spans:     b.Account("span_queue", 0.25, 0.75),
		content:   b.Account("content", 0.25, 0.75),
		replay:    b.Account("replay", 0.5, 0.9),
		decodings: b.Account("decodings", 0.25, 0.9), subscribers: b.Account("subscribers", subscribersShare, 0.9),
		turns:     budget.NewTurns(b.Account("large_frames", 1, 1), limit/4),
		frames:    source.NewFrameMemory(b.Account("relays", 1, 1), int(limit)),
		observers: source.NewObserverSlots(),
		fixed:     b.Account("log_and_ended_runs", 1, 1),
	}
	m.fixed.Charge(int(fixed))
	return m
}
