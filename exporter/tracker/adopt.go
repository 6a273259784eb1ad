package tracker

import "github.com/delegraph/delegraph/collector/event"

// announce notifies the observers of a run's start, unless it has done so. From then on the run can no
// longer become an agent of another run.
func (r *openRun) announce() {
	if !r.isAnnounced {
		r.isAnnounced = true
		r.tracker.notify(func(o Observer) { o.RunStarted(&r.Run) })
	}
}

// adopt makes another run of the stream an agent of this run. It does nothing if observers have been
// notified of that run. If this run has no room, it counts a loss.
func (r *openRun) adopt(e *event.Event, caller *Operation) {
	state := r.tracker.streams[r.stream]
	child := state.runByID(e.ID)
	switch {
	case child == nil || child == r || child.isAnnounced || e.ID == "":
		return
	case len(r.Operations)+len(child.Operations) > r.tracker.settings.MaxOperations, child.Root.height >= maxDepth,
		len(r.aliases)+len(child.aliases) >= r.tracker.settings.MaxOperations:
		r.tracker.losses.CountEvicted(LostOrphan)
		return
	}
	r.charged, child.charged = r.charged+child.charged, 0
	r.tracker.discard(child)
	state.setRun(r, e.ID)
	r.aliases = append(append(r.aliases, e.ID), child.aliases...)
	for _, alias := range child.aliases {
		state.setRun(r, alias)
	}
	parent := caller.firstOpen()
	if call := r.calls[e.CallID]; call != nil && call.open {
		parent = call
	}
	parent = r.limitDepth(parent, child.Root.height)
	r.adoptAgent(child.Root, parent, e)
	r.adoptOperations(child)
	r.adoptFacts(child)
	parent.extendAround(child.Root)
}

// discard removes a run without notifying the observers.
func (t *Tracker) discard(child *openRun) {
	child.release()
	t.open.Remove(child)
	t.removeRun(child)
}

// adoptAgent makes the child's root operation an agent of this run.
func (r *openRun) adoptAgent(root, parent *Operation, e *event.Event) {
	if e.Name != "" {
		root.Name, root.Agent = e.Name, e.Name
	}
	root.Branch, root.spoke = e.ID, true
	root.attach(parent)
	root.updateHeights()
	r.indexInvocation(root)
	put(&r.agentByBranch, e.ID, root)
}

func (r *openRun) adoptOperations(child *openRun) {
	child.compact()
	r.hasForgotten = r.hasForgotten || child.hasForgotten
	for _, op := range child.Operations {
		r.setOrdinal(op)
		op.repliesDue = 0 // they were expected in the other run
		if op.Kind == ExecuteTool && op.Branch == "" {
			op.Branch = child.Root.Branch
		}
		if op.Kind == ExecuteTool && op.CallID == "" && op.open {
			r.callsWithoutID.add(op)
		}
		r.renumber(op)
	}
	r.Operations = append(r.Operations, child.Operations...)
	r.ended, r.endedEarlier = append(child.ended, r.ended...), r.endedEarlier+len(child.ended)
	r.endedKept += child.endedKept
	r.outcomesPending += child.outcomesPending
	child.Root.endStated = child.endStated
	addMissing(&r.agents, child.agents)
	addMissing(&r.agentByBranch, child.agentByBranch)
	for id, op := range child.calls {
		if r.calls[id] == nil {
			r.indexCall(op)
		}
	}
	for at, op := range child.shadowedCalls {
		put(&r.shadowedCalls, callKey{op.Branch, at.id}, op)
	}
	addMissing(&r.partialResponses, child.partialResponses)
	addMissing(&r.awaitingUsage, child.awaitingUsage)
	child.Root.node.lane = child.Root.Branch
	if r.Root.node.lastBelow.Frame == 0 {
		r.Root.node.lastBelow = child.Root.node.lastBelow
	}
	r.endIfDone(child.Root)
}

// renumber gives an adopted operation a number of its own among the operations of this run that have the
// same name and branch, or the same call id.
func (r *openRun) renumber(op *Operation) {
	switch {
	case op.Kind.Invokes() && r.agents[agentKey{op.Name, op.Branch}] == op: // adoptAgent has numbered it
	case op.Kind.Invokes():
		r.indexInvocation(op)
	case op.CallID != "":
		if r.countCallUse(op); r.calls[op.CallID] != nil {
			r.indexCall(op)
		}
	}
}

func (r *openRun) adoptFacts(child *openRun) {
	r.Events, r.Internal, r.ParseErrors = r.Events+child.Events, r.Internal+child.Internal, r.ParseErrors+child.ParseErrors
	r.Usage = r.Usage.Add(child.Usage)
	for id, at := range child.artifactIndex {
		if at += len(r.Artifacts); at < r.tracker.settings.MaxFacts {
			put(&r.artifactIndex, id, at)
		}
	}
	r.Transfers = appendBounded(r, event.KindTransfer.String(), r.Transfers, child.Transfers)
	r.Confidence = appendBounded(r, event.KindConfidence.String(), r.Confidence, child.Confidence)
	r.Citations = appendBounded(r, event.KindCitation.String(), r.Citations, child.Citations)
	r.Reasoning = appendBounded(r, event.KindReasoning.String(), r.Reasoning, child.Reasoning)
	r.Thoughts = appendBounded(r, event.KindThought.String(), r.Thoughts, child.Thoughts)
	r.Links = appendBounded(r, LostLink, r.Links, child.Links)
	r.UnattributedUsage = appendBounded(r, event.KindUsage.String(), r.UnattributedUsage, child.UnattributedUsage)
	r.Artifacts = appendBounded(r, event.KindArtifact.String(), r.Artifacts, child.Artifacts)
	for agent, n := range child.UnratedAnswers {
		r.addUnrated(agent, n)
	}
	r.lastText.finalSeen = r.lastText.finalSeen || child.lastText.finalSeen
	r.Inputs = appendBounded(r, LostInput, r.Inputs, child.Inputs)
	addMissing(&r.inputs, child.inputs)
	for _, in := range child.Inputs {
		r.rememberQuestion(in.ID)
	}
	if r.FirstText.Frame == 0 {
		r.FirstText = child.FirstText
	}
}

// appendBounded appends facts up to the limit, and counts the rest as evicted.
func appendBounded[T any](r *openRun, kind string, to, from []T) []T {
	room := max(r.tracker.settings.MaxFacts-len(to), 0)
	for range len(from) - room {
		r.tracker.losses.CountEvicted(kind)
	}
	return append(to, from[:min(room, len(from))]...)
}

// addMissing adds the entries whose keys are not in the map.
func addMissing[K comparable, V any](to *map[K]V, from map[K]V) {
	for k, v := range from {
		if _, there := (*to)[k]; !there {
			put(to, k, v)
		}
	}
}
