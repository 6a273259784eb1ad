package sidecar

import (
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
)

// memory is the memory budget of the process with the accounts of its queues and buffers. An account has two
// limits: the part of the budget that it may use, and the part that all accounts together may use before it
// gets no more. Thus queues leave room for the replay buffer, and the replay buffer leaves room for queues.
//   - When two thirds of the budget are used, new subscribers are refused and connected ones wait for memory. The rest is for
//
// telemetry. A twentieth of the budget is reserved for subscribers.
//   - Decodings for other formats shrink then too. A twenty-fifth is always theirs, so that full replay buffers do not cost readers the
//     state of their decoders.
//   - Queues and open runs hold telemetry. It is dropped when three quarters of the budget are used.
//   - The replay buffer shrinks when nine tenths are used.
//   - An open request to an agent takes memory in any case. Open requests to agents are never refused. They are charged for up to
//
// three quarters of the budget, so that telemetry is dropped before the process runs out of memory. The last quarter is for
// frames.
//   - Large request headers are refused when they take an eighth of the budget.
//   - Frames on the way to clients of the agents are never dropped. If there is no room for a large frame, the
//     proxy does not read from its agent for a while (source.FrameMemory).
type memory struct {
	*budget.Budget
	observe, headers, requests, spans, runs, content, replay, decodings, subscribers, fixed *budget.Account

	streams   *budget.Account // nil if the budget is no share of a memory limit of the process
	turns     *budget.Turns
	frames    *source.FrameMemory
	observers *source.ObserverSlots
}

const defaultBudget config.Bytes = 400 << 20

// subscribersShare is the share of the budget that subscribers and the frames copied for them may take. They get no more
// when all accounts together use subscribersTotal, except for the first ones, which get subscribersGuaranteed: telemetry must not keep all
// readers out.
const (
	subscribersShare = 0.6
	subscribersTotal = 0.66

	subscribersGuaranteed = 0.05
	decodingsGuaranteed   = 0.04
)

// budgetOfSubscribers returns the budget in which all allowed subscribers have room.
func budgetOfSubscribers(s config.Stream) config.Bytes {
	return config.Bytes(float64(s.MaxSubscribers) * stream.SubscriberSize / subscribersShare)
}

// newMemory divides the budget. The argument fixed is the size, in bytes, of buffers that have their own limits
// and do not shrink. The argument unlimited is the budget if neither the configuration nor the system limits the
// process's memory.
func newMemory(c config.Limits, fixed, unlimited config.Bytes) *memory {
	limit, limited := int64(c.Memory), false
	if limit == 0 {
		limit, limited = budget.Default(int64(unlimited))
	}
	b := budget.New(limit)
	m := &memory{
		Budget:      b,
		observe:     b.Account("observe_queues", 0.25, 0.75),
		headers:     b.Account("headers", 0.125, 1),
		requests:    b.Account("requests", 0.125, 0.75),
		spans:       b.Account("span_queue", 0.25, 0.75),
		runs:        b.Account("runs", 0.25, 0.75),
		content:     b.Account("content", 0.25, 0.75),
		replay:      b.Account("replay", 0.5, 0.9),
		decodings:   b.Account("decodings", 0.25, subscribersTotal).Guarantee(decodingsGuaranteed),
		subscribers: b.Account("subscribers", subscribersShare, subscribersTotal).Guarantee(subscribersGuaranteed),
		turns:       budget.NewTurns(b.Account("large_frames", 1, 1), limit/4),
		frames:      source.NewFrameMemory(b.Account("relays", 1, 1)),
		observers:   source.NewObserverSlots(),
		fixed:       b.Account("log_and_ended_runs", 1, 1),
	}
	m.fixed.Charge(int(fixed))
	if streams := b.Account("streams", 0.75, 1); limited {
		m.streams = streams
	}
	return m
}
