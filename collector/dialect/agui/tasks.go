package agui

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// LangGraph's adapter has one current step per owner: that of the node with the last event. So the step of a node that works beside
// others ends and begins often. LangChain's events, which the adapter sends too, say which task of the graph is meant and when it ends.
//
// Source: _handle_stream_events in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.

// noteTask reads from LangChain's event of which task the current step of its node is. It ends the step with the task.
func (d *decoder) noteTask(v strictjson.Value, b *event.Batch) {
	raw := v.Get("event")
	if parents := raw.Get("parent_ids"); raw.Get("event").Is("on_chain_end") && parents.Kind() == strictjson.Array && parents.Len() == 0 {
		d.steps.isOver = true
	}
	metadata := raw.Get("metadata")
	node, task := d.name(metadata.Get("langgraph_node")), d.task(metadata)
	if node == "" || node == user || task == "" {
		return
	}
	ofNode := raw.Get("name").Is(node)
	begins := ofNode && raw.Get("event").Is("on_chain_start")
	at := d.stepOf(task, node, d.owner(v), begins)
	if at == nil {
		return
	}
	d.speaker(v).apply(b)
	if !at.hasStarted {
		at.hasStarted = true
		at.agent.apply(b)
		b.Add(event.KindAgentStarted)
	}
	run := d.name(raw.Get("run_id"))
	switch {
	case begins && !isWithin(raw, at.taskRun): // a retry has another run
		at.taskRun = run
	case !raw.Get("event").Is("on_chain_end"):
	case ofNode && run == at.taskRun:
		d.endStep(d.steps.index(at.owner, node, ""), b)
	default:
		d.endWithRun(raw, b)
	}
}

// endWithRun ends a subagent with its run in LangChain: SUBAGENT_FINISHED may come only at the end of all.
func (d *decoder) endWithRun(raw strictjson.Value, b *event.Batch) {
	over, isKnown := d.agents[d.name(raw.Get("metadata").Get("langgraph_checkpoint_ns"))]
	if isKnown && raw.Get("name").Is(over.name) && len(b.Events) == 0 {
		over.apply(b)
		d.reportUnended(b)
		b.Add(event.KindAgentEnded)
	}
}

// stepOf returns the open step of a task: the one that was left, else the one that has begun last, or nil. A step that begins has no
// frame of its own if the step before it has the same name.
func (d *decoder) stepOf(task, node, owner string, begins bool) *step {
	left, wasLeft := d.steps.left[task]
	i := d.steps.index(owner, node, "")
	switch {
	case i >= 0 && d.steps.open[i].task == task:
		return &d.steps.open[i]
	case i >= 0 && d.steps.open[i].task == "" && !wasLeft:
		d.steps.open[i].task = task
		return &d.steps.open[i]
	case !wasLeft && !begins:
		return nil
	case !wasLeft:
		left = d.newStep(owner, node)
		left.task = task
	}
	if i >= 0 {
		d.steps.leave(i)
	}
	delete(d.steps.left, task)
	return d.steps.begin(left)
}

// leave closes an open step of which the task, if it has one, may go on.
func (s *steps) leave(i int) {
	if s.left == nil {
		s.left = make(map[string]step)
	}
	if len(s.left) < maxOpen && s.open[i].task != "" {
		s.left[s.open[i].task] = s.open[i]
	}
	s.end(i)
}

// mayGoOn reports whether a step that begins may be one that was left.
func (s *steps) mayGoOn(begun *step) bool {
	for _, left := range s.left {
		if left.owner == begun.owner && left.name == begun.name {
			return true
		}
	}
	return false
}

// newStep returns a step that begins now.
func (d *decoder) newStep(owner, name string) step {
	d.steps.started++
	branch := wire.NumberedBranch(name, int64(d.steps.started))
	return step{owner: owner, name: name, agent: agent{name: d.agentFor(owner).name, step: name, branch: branch, parent: d.branchOf(owner)}}
}

// task returns the ID of the task in LangChain's metadata: the last part of its namespace.
func (d *decoder) task(metadata strictjson.Value) string {
	namespace := metadata.Get("langgraph_checkpoint_ns").Text()
	return d.names.Truncate(namespace[bytes.LastIndexByte(namespace, '|')+1:], dialect.MaxName)
}

// isWithin reports whether a LangChain event is of a run within another one.
func isWithin(raw strictjson.Value, run string) bool {
	for parent := range raw.Get("parent_ids").Elements() {
		if run != "" && parent.Is(run) {
			return true
		}
	}
	return false
}
