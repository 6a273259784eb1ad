package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// rootAgentOf returns the operation of a speaker if it is the root agent of a run that is itself a graph
// of agents: the first one that speaks directly below the run. It is the root as long as control leaves
// it only by transfers and calls. If anything else speaks beside it, a workflow is put above both.
// decided is false if the rule does not apply to the frame.
func (r *openRun) rootAgentOf(b *event.Batch) (op *Operation, decided bool) {
	key := agentKey{b.Agent, b.Branch}
	known := r.agents[key]
	switch {
	case b.MayBeRoot && !r.rootDecided && r.Root.Name == "" && !r.Root.spoke && r.Root.openChildren == 0:
		r.rootDecided, r.rootIsFirst = true, true
		r.Agent, r.Root.Name, r.Root.Kind = b.Agent, b.Agent, InvokeAgent
		r.nameRoot()
		r.speakAsRoot(key)
		return r.Root, true
	case !r.rootIsFirst:
		return nil, false
	case known == r.Root:
		return known, true
	case b.MayBeRoot && b.Agent == r.Root.Name && r.current == r.Root: // control came back
		r.speakAsRoot(key)
		return r.Root, true
	case b.MayBeRoot && known == nil && r.handoffTargets[b.Agent] == nil && r.hasRoom(InvokeWorkflow):
		r.rootIsFirst = false
		r.raiseRoot()
	case b.Branch == "" && r.handoffTargets[b.Agent] == nil && known == nil:
		return r.speaksItself(b), true
	}
	return nil, false
}

// speakAsRoot makes the root agent the speaker in a branch.
func (r *openRun) speakAsRoot(key agentKey) {
	r.Root.spoke = true
	put(&r.agents, key, r.Root)
	put(&r.agentByBranch, key.branch, r.Root)
	r.pendingReplies.removeAgent(r.Root)
}

// speaksItself returns the operation of a frame of the run itself. If the run works itself, it is no
// longer represented by its first agent.
func (r *openRun) speaksItself(b *event.Batch) *Operation {
	works := slices.ContainsFunc(b.Events, func(e event.Event) bool {
		return e.Kind == event.KindModelStarted || e.Kind == event.KindModelEnded || e.Kind == event.KindToolStarted
	})
	if !works || !r.hasRoom(InvokeWorkflow) {
		return nil
	}
	r.rootIsFirst = false
	if r.raiseRoot(); b.Agent == "" {
		return nil
	}
	r.Agent, r.Root.Name, r.Root.Kind = b.Agent, b.Agent, InvokeAgent
	r.nameRoot()
	return r.Root
}
