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
	return recoveringObserver{o, panics, c}
}

type recoveringObserver struct {
	observer  tracker.Observer
	panics    *recovery.Recorder
	component recovery.Component
}

func (o recoveringObserver) RunStarted(r *tracker.Run) {
	defer o.panics.Recover(o.component, nil)
	o.observer.RunStarted(r)
}

func (o recoveringObserver) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	defer o.panics.Recover(o.component, nil)
	o.observer.OperationEnded(r, op)
}

func (o recoveringObserver) RunEnded(r *tracker.Run) {
	defer o.panics.Recover(o.component, nil)
	o.observer.RunEnded(r)
}
