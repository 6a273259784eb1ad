package tracker

import "github.com/delegraph/delegraph/collector/event"

// request is what an agent reports about its request to a model.
type request struct {
	event.Loop
	model string
}

// noteIteration records the state of an agent's loop. A request belongs to the agent's next
// response.
func (r *openRun) noteIteration(e *event.Event, agent *Operation) {
	d := agent.details()
	if e.Loop.Iteration.Known {
		d.Loop.Iteration = e.Loop.Iteration
	}
	if e.Loop.Messages.Known {
		d.Loop.Messages = e.Loop.Messages
	}
	if e.Loop.Tools.Known {
		d.Loop.Tools = e.Loop.Tools
	}
	if e.CallsModel && agent.open {
		agent.request = &request{e.Loop, e.Model}
	}
}

// keepRequest moves what the agent reported about its request to the response that begins.
func (r *openRun) keepRequest(response, agent *Operation) {
	if asked := agent.request; asked != nil {
		agent.request = nil
		d := response.details()
		d.Loop, d.RequestModel = asked.Loop, asked.model
	}
}

// keepIterations records the number of loop rounds that the protocol reports at the end.
func (op *Operation) keepIterations(e *event.Event) {
	if e.Iterations.Known {
		op.details().ReportedIterations = e.Iterations
	}
}
