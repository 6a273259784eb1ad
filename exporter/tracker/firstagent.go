package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// rootAgentOf decides whether a frame's speaker is the root agent. It is for protocols whose run is a
// graph of agents and has no name (Batch.MayBeRoot). The root is the first agent that speaks directly
// below the run, as long as control leaves it only by transfers and calls. If another agent speaks
// directly below the run, a workflow is put above both agents. op is the speaker's operation, or nil for
// the run itself. decided is false if this rule does not apply to the frame.
func (r *openRun) rootAgentOf(b *event.Batch) (op *Operation, decided bool) {
	key := agentKey{b.Agent, b.Branch}
	known := r.agents[key]
	switch {
	case known == nil && r.isWrittenByNode(b):
		return nil, true
	case r.hasAddedRoot && r.Root.Kind == InvokeWorkflow && !b.MayBeRoot && known == nil && isOfRun(b) && b.Agent != r.Root.Name && r.silentTargets[b.Agent] == nil:
		return r.operationOfRun(b), true
	case b.MayBeRoot && !r.rootDecided && r.rootHasNoName(b) && !r.Root.spoke && !r.hasWork:
		r.rootDecided, r.rootIsFirst = true, true
		r.firstCause, _ = r.afterTask(b.Branch, r.Root.node.lastInLane, false)
		r.Agent, r.Root.Name, r.Root.Kind = b.Agent, b.Agent, InvokeAgent
		r.nameRoot()
		r.speakAsRoot(key)
		return r.Root, true
	case r.rootIsFirst && r.isBesideFirst(b) && r.hasRoom(InvokeWorkflow):
		r.addRootAboveFirst()
	case !r.rootIsFirst, b.EnclosingCall != "" && known == nil:
		return nil, false
	case b.MayBeRoot && known.startsAgain(b) && r.hasRoom(InvokeWorkflow):
		r.addRootAboveFirst()
	case known == r.Root:
		return known, true
	case b.MayBeRoot && !b.IsParallel && b.Agent == r.Root.Name && r.current == r.Root: // control came back
		r.speakAsRoot(key)
		return r.Root, true
	case b.MayBeRoot && known == nil && r.silentTargets[b.Agent] == nil && r.hasRoom(InvokeWorkflow):
		r.addRootAboveFirst()
	case b.Branch == "" && r.silentTargets[b.Agent] == nil && known == nil:
		return r.operationOfRun(b), true
	}
	return nil, false
}

// isBesideFirst reports whether a speaker, or the outermost agent or step around it, is directly below the run and is not the first agent.
func (r *openRun) isBesideFirst(b *event.Batch) bool {
	at := event.Around{Agent: b.Agent, Step: b.Step, Branch: b.Branch, EnclosingCall: b.EnclosingCall, Above: b.Around}
	for at.Above != nil {
		at = *at.Above
	}
	if r.rootLane == "" || at.Branch == "" || b.InUnknownCall || b.Around == nil && b.ParentBranch != "" {
		return false
	}
	isFirst := at.Step == "" && at.Agent == r.Root.Name
	return !isFirst && at.EnclosingCall == "" && r.agentByBranch[at.Branch] == nil && r.silentTargets[at.Agent] == nil
}

// isOfRun reports whether a frame is of the run itself, and not of something within it.
func isOfRun(b *event.Batch) bool {
	return b.Branch == "" && b.ParentBranch == "" && b.EnclosingCall == "" && b.Step == ""
}

// isWrittenByNode reports whether a frame has a text that no model wrote. Such a text is of the run itself once agents are known in it: the
// code of a node may write it in the name of an agent that has ended, or in a name that no agent has.
func (r *openRun) isWrittenByNode(b *event.Batch) bool {
	return (r.rootIsFirst || r.hasAddedRoot) && b.MayBeRoot && b.Sent == nil && isOfRun(b) && b.Agent != r.Root.Name && r.silentTargets[b.Agent] == nil &&
		b.Has(event.KindText) && !b.Has(event.KindAgentStarted) && !slices.ContainsFunc(b.Events, isWork)
}

// writerOf returns the step in which code wrote a text in the name of no known agent, or nil for the run itself. isNone is false if the
// agent is known.
func (r *openRun) writerOf(b *event.Batch) (step *Operation, isNone bool) {
	if !b.IsWritten || r.agents[agentKey{b.Agent, b.Branch}] != nil || r.silentTargets[b.Agent] != nil || b.Agent == r.Root.Name {
		return nil, false
	}
	if at := r.agentByBranch[b.Branch]; at != nil && at.open && at.Kind == InvokeNode {
		return at, true
	}
	return nil, true
}

// isWork reports whether an event shows that an agent calls a model or a tool.
func isWork(e event.Event) bool {
	switch e.Kind {
	case event.KindModelStarted, event.KindModelEnded, event.KindToolStarted:
		return true
	}
	return false
}

// rootHasNoName reports whether the root has no name, or one that a frame replaces.
func (r *openRun) rootHasNoName(b *event.Batch) bool {
	return r.Root.Name == "" || r.Root.Name == b.Renames
}

// speakAsRoot makes the root agent the speaker in a branch. If the run has no room for the branch, the agent leaves its oldest one.
func (r *openRun) speakAsRoot(key agentKey) {
	if r.Root.spoke, r.rootLane = true, key.branch; r.agents[key] == r.Root {
		return
	}
	if n := len(r.rootKeys); n > 0 && (n >= r.tracker.settings.MaxOperations || !r.reserve(factSize)) {
		removeEntry(r.agents, r.rootKeys[0], r.Root)
		removeEntry(r.agentByBranch, r.rootKeys[0].branch, r.Root)
		r.rootKeys = r.rootKeys[1:]
	}
	r.rootKeys = append(r.rootKeys, key)
	put(&r.agents, key, r.Root)
	if key.branch != "" {
		put(&r.agentByBranch, key.branch, r.Root)
	}
}

// addRootAboveFirst puts a workflow above the first agent. From then on, the agent's frames are in the lane of its branch, and no longer in
// the run's lane. The agent has begun with its cause and not with the run, unless it is the only one that is known.
func (r *openRun) addRootAboveFirst() {
	first := r.Root
	r.rootIsFirst = false
	if r.addRoot(); r.rootLane == "" {
		return
	}
	if r.firstCause.Frame > 0 {
		first.startAt(r.firstCause)
		first.firstTime = r.firstCause.At
		first.node.cause = r.firstCause
	}
	first.node.lane, r.Root.node.lastInLane = r.rootLane, r.lastWithoutSpeaker
	if failed, isFailed := r.unrecovered[""]; isFailed {
		delete(r.unrecovered, "")
		r.unrecovered[r.rootLane] = failed
	}
}

// separateFirst puts a workflow above the first agent, because an error shows that something else has failed.
func (r *openRun) separateFirst() {
	if !r.rootIsFirst || !r.hasRoom(InvokeWorkflow) {
		return
	}
	r.addRootAboveFirst()
}

// firstHasFailed reports whether the root is the first agent, and the protocol has stated that this agent has failed. If the run goes on,
// something above the agent has handled the failure, so the agent is not the root.
func (r *openRun) firstHasFailed() bool {
	return r.rootIsFirst && r.Root.statedFailure != event.NoFailure && r.Root.hasFailed()
}

// operationOfRun returns the operation of a frame of the run itself, or nil. If the frame shows that the
// run itself calls models or tools, or answers after the failure of the first agent or in its place, that agent is not the root. A new root is then put
// above that agent, unless there is one: an agent if the frame names it, otherwise a workflow.
func (r *openRun) operationOfRun(b *event.Batch) *Operation {
	works := slices.ContainsFunc(b.Events, func(e event.Event) bool {
		return isWork(e) || e.Kind == event.KindText && (r.firstHasFailed() || r.rootIsFirst && r.Root.debt == owesReply)
	})
	if !works || b.AgentUnknown || r.rootIsFirst && !r.hasRoom(InvokeWorkflow) {
		return nil
	}
	if r.rootIsFirst {
		r.addRootAboveFirst()
	}
	if b.Agent == "" {
		return nil
	}
	r.Agent, r.Root.Name, r.Root.Kind = b.Agent, b.Agent, InvokeAgent
	r.nameRoot()
	return r.Root
}
