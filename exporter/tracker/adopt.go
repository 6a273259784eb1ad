package tracker

import (
	"github.com/delegraph/delegraph/collector/event"
)

// announce tells of a run's beginning, once it is known to be a run and no agent of another.
func (r *openRun) announce() {
	if !r.announced {
		r.announced = true
		r.tracker.each(func(o Observer) { o.RunStarted(&r.Run) })
	}
}

// adopt makes another run of the stream, of which nothing was told yet, an agent of this one.
func (r *openRun) adopt(e *event.Event, caller *Operation) {
	state := r.tracker.streams[r.stream]
	child := state.run(e.ID)
	switch {
	case child == nil || child == r || child.announced || e.ID == "":
		return
	case len(r.Operations)+len(child.Operations) > r.tracker.settings.MaxOperations, child.Root.height >= maxDepth,
		len(r.aliases)+len(child.aliases) >= r.tracker.settings.MaxOperations:
		r.tracker.losses.Evicted(LostOrphan)
		return
	}
	r.tracker.disown(child, state)
	state.name(r, e.ID)
	r.aliases = append(append(r.aliases, e.ID), child.aliases...)
	for _, alias := range child.aliases {
		state.name(r, alias)
	}
	parent := caller.firstOpen()
	if call := r.calls[e.CallID]; call != nil && e.CallID != "" && call.open {
		parent = call
	}
	parent = r.fitBelow(parent, child.Root.height)
	r.takeAgent(child.Root, parent, e)
	r.takeOperations(child)
	r.takeFacts(child)
	parent.hold(child.Root)
}

// disown lets a run go without a word.
func (t *Tracker) disown(child *openRun, state *streamState) {
	child.Status = adopted // before the list of open runs drops it
	t.open.Remove(child)
	t.leave(child)
	t.gone.Remove(place{child.stream, child.ID})
}

// adopted is the status of what was a run.
const adopted Status = "adopted"

// takeAgent makes the child's own operation an agent of this run.
func (r *openRun) takeAgent(root, parent *Operation, e *event.Event) {
	if e.Name != "" {
		root.Name, root.Agent = e.Name, e.Name
	}
	root.Branch, root.spoke = e.ID, true
	root.join(parent)
	root.raise()
	r.number(root)
	put(&r.agents, speaker{root.Name, e.ID}, root)
	put(&r.places, e.ID, root)
}

func (r *openRun) takeOperations(child *openRun) {
	child.compact()
	for _, op := range child.Operations {
		count := &r.count[op.Kind.order()]
		op.ordinal = *count
		*count++
		op.owing = 0 // replies were expected in the other run
		if op.Kind == ExecuteTool && op.Branch == "" {
			op.Branch = child.Root.Branch
		}
		if op.Kind == ExecuteTool && op.CallID == "" && op.open {
			r.unnamed.add(op)
		}
		r.rename(op)
	}
	r.Operations = append(r.Operations, child.Operations...)
	r.ended = append(child.ended, r.ended...)
	r.kept += child.kept
	r.awaiting += child.awaiting
	r.forgot = r.forgot || child.forgot
	child.Root.over = child.over
	missing(&r.agents, child.agents)
	missing(&r.places, child.places)
	for id, op := range child.calls {
		if r.calls[id] == nil {
			r.keepCall(op)
		}
	}
	for at, op := range child.elsewhere {
		put(&r.elsewhere, callKey{op.Branch, at.id}, op)
	}
	missing(&r.partial, child.partial)
	missing(&r.settling, child.settling)
	missing(&r.asking, child.asking)
	child.Root.node.lane = child.Root.Branch
	if r.Root.node.below.Frame == 0 {
		r.Root.node.below = child.Root.node.below
	}
	r.endOver(child.Root)
}

// rename tells an operation from one of this run that has the same name and place, or the same call id, by a number that none
// has yet.
func (r *openRun) rename(op *Operation) {
	key := speaker{op.Name, op.Branch}
	switch {
	case op.Kind.Invokes() && r.agents[key] == op: // numbered before
	case op.Kind.Invokes():
		r.number(op)
		put(&r.agents, key, op)
	case op.Kind == ExecuteTool && r.calls[op.CallID] != nil:
		op.repeat = uint32(op.ordinal)
		r.keepCall(op)
	case r.forgot:
		op.repeat = uint32(op.ordinal)
	}
}

func (r *openRun) takeFacts(child *openRun) {
	r.Events, r.Internal, r.ParseErrors = r.Events+child.Events, r.Internal+child.Internal, r.ParseErrors+child.ParseErrors
	r.Usage = r.Usage.Add(child.Usage)
	for id, at := range child.artifacts {
		if at += len(r.Artifacts); at < r.tracker.settings.MaxFacts {
			put(&r.artifacts, id, at)
		}
	}
	r.Transfers = joined(r, event.KindTransfer.String(), r.Transfers, child.Transfers)
	r.Confidence = joined(r, event.KindConfidence.String(), r.Confidence, child.Confidence)
	r.Citations = joined(r, event.KindCitation.String(), r.Citations, child.Citations)
	r.Reasoning = joined(r, event.KindReasoning.String(), r.Reasoning, child.Reasoning)
	r.Thoughts = joined(r, event.KindThought.String(), r.Thoughts, child.Thoughts)
	r.Links = joined(r, LostLink, r.Links, child.Links)
	r.Metered = joined(r, event.KindUsage.String(), r.Metered, child.Metered)
	r.Artifacts = joined(r, event.KindArtifact.String(), r.Artifacts, child.Artifacts)
	r.Inputs = joined(r, LostInput, r.Inputs, child.Inputs)
	missing(&r.inputs, child.inputs)
	for _, in := range child.Inputs {
		r.ask(in.ID)
	}
	if r.FirstText.Frame == 0 {
		r.FirstText = child.FirstText
	}
}

// joined appends facts as far as there is room.
func joined[T any](r *openRun, kind string, to, from []T) []T {
	room := max(r.tracker.settings.MaxFacts-len(to), 0)
	for range len(from) - room {
		r.tracker.losses.Evicted(kind)
	}
	return append(to, from[:min(room, len(from))]...)
}

// missing adds what is not there.
func missing[K comparable, V any](to *map[K]V, from map[K]V) {
	for k, v := range from {
		if _, there := (*to)[k]; !there {
			put(to, k, v)
		}
	}
}
