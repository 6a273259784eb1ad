package tracker

import "github.com/delegraph/delegraph/collector/event"

// task is what is known of a task of an agent; see event.Task.
type task struct {
	last     Timestamp // the last frame that shows it or ends a response of it
	answered bool      // that frame has a model's response
}

// noteTasks records a frame of the tasks that it shows.
func (r *openRun) noteTasks(b *event.Batch) {
	r.noteTask(b.Task.ID, false)
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == event.KindModelEnded {
			r.noteTask(e.Task.ID, true)
		}
	}
}

func (r *openRun) noteTask(id string, answered bool) {
	if id == "" {
		return
	}
	if _, isKnown := r.tasks[id]; !isKnown && !r.reserveEntry(len(r.tasks), &r.mostTasks) {
		r.hasLostTasks = true
		return
	}
	put(&r.tasks, id, task{r.now, answered})
}

// causeOfResponse returns the frame after which an agent can ask a model for a response. It is the last one of the response's task, because
// other tasks of the agent may work at the same time, else one from before the task's step. delayUnknown reports whether it asked at an
// unknown time after that frame: a task may ask a model several times at once.
func (r *openRun) causeOfResponse(e *event.Event, b *event.Batch, agent *Operation) (cause Timestamp, delayUnknown bool) {
	cause, delayUnknown = agent.causeOfChat(b)
	cause, delayUnknown = r.afterTask(b.Branch, cause, delayUnknown)
	at, isKnown := r.tasks[e.Task.ID]
	switch {
	case isKnown:
		if begun := agent.Started.At; !delayUnknown && !r.mayLackCause(cause) && cause.Frame > 0 && cause.At.Before(begun) {
			agent.startAt(cause) // a task begins later than its agent
		}
		return at.last, at.answered
	case e.Task.Unknown, e.Task.ID != "" && r.hasLostTasks:
		return cause, true
	case e.Task.Step != "" && agent.node != nil && agent.node.lane == b.Branch:
		agent.enterStep(e.Task.Step)
		return agent.node.stepCause, agent.node.stepDelayUnknown
	}
	return cause, delayUnknown
}

// causeOfAgent returns the frame after which an agent begins below an operation: the last one that shows the task that runs the agent, if no
// other cause is later. delayUnknown reports whether the agent begins at an unknown time after that frame. If the order of agents in a call is
// unknown, the call has run others before.
func (r *openRun) causeOfAgent(b *event.Batch, above *Operation) (cause Timestamp, delayUnknown bool) {
	cause = above.causeOf(b.Branch)
	isLater := b.OrderUnknown && (above.node == nil || above.spokeAfter(cause)) || b.MayBeBeside || r.agentByBranch[b.Follows] != nil
	return r.afterTask(b.Branch, cause, isLater || above.hasUnknownDelay(cause))
}

// afterTask returns the last frame that shows a task, if that is later than a cause, else the cause. delayUnknown reports whether what the task
// begins, begins at an unknown time after the frame.
func (r *openRun) afterTask(id string, cause Timestamp, isUnknown bool) (latest Timestamp, delayUnknown bool) {
	if at := r.tasks[id]; at.last.Frame > cause.Frame {
		return at.last, at.answered
	}
	return cause, isUnknown
}

// enterStep records after what a step of an agent began, at the first frame of the step. Other lanes may have work of the step or of
// earlier ones.
func (op *Operation) enterStep(step string) {
	if n := op.node; n != nil && n.step != step {
		n.step, n.stepCause = step, latest(n.cause, n.lastInLane)
		n.stepDelayUnknown = op.spokeAfter(n.stepCause) || op.hasUnknownDelay(n.stepCause)
	}
}
