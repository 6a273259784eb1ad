package exporter

import (
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// RecoverPanics returns an observer that recovers and records panics of o as those of a component.
// A panic costs only the notification in which it happened. Without a recorder it returns o.
func RecoverPanics(panics *recovery.Recorder, c recovery.Component, o tracker.Observer) tracker.Observer {
	if panics == nil {
		return o
	}
	return guard{o, panics, c}
}

type guard struct {
	observer  tracker.Observer
	panics    *recovery.Recorder
	component recovery.Component
}

func (g guard) RunStarted(r *tracker.Run) {
	defer g.panics.Recover(g.component, nil)
	g.observer.RunStarted(r)
}

func (g guard) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	defer g.panics.Recover(g.component, nil)
	g.observer.OperationEnded(r, op)
}

func (g guard) RunEnded(r *tracker.Run) {
	defer g.panics.Recover(g.component, nil)
	g.observer.RunEnded(r)
}
