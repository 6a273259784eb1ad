package adk

import (
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isFunction reports whether an event is from a function in a JavaScript workflow: it is the function's failure,
// output or question.
func (f *frame) isFunction() bool {
	return isTrue(f.nodeError) || f.isNodeOutput() || f.isNodeQuestion()
}

// isNodeOutput reports whether an event has an output that is not a model's.
func (f *frame) isNodeOutput() bool {
	return f.output.Exists() && !isTrue(f.nodeInfo.First("messageAsOutput", "message_as_output")) && !f.hasModelData()
}

// isWorkflowOutput reports whether an event is the output of a JavaScript workflow without a graph. Its author is the workflow. Only this
// output has no path; those of graphs are events of their nodes.
//
// Source: dist/esm/workflow/run_node_as_invocation.js of @google/adk 2.0.
func (f *frame) isWorkflowOutput() bool {
	return f.isNodeOutput() && !f.nodeInfo.Exists() && !f.branch.Exists() && !f.hasError()
}

// showsStepOutput reports whether the content of an event is the output of a function within a JavaScript workflow,
// which may be no more than the input of the next step. JavaScript's servers send each output as content too. They mark
// only an output that a function passes on as that of the workflow.
//
// Source: dist/esm/workflow/nodes/function_node.js and node_runner.js of @google/adk 2.0.
func (f *frame) showsStepOutput() bool {
	root, _, isStep := strings.Cut(f.nodeInfo.Get("path").String(), ".")
	if !isStep || strings.ContainsAny(root, "@/") || !f.isNodeOutput() { // Python's paths have run numbers
		return false
	}
	for of := range f.nodeInfo.First("outputFor", "output_for").Elements() {
		if of.Is(root) {
			return false
		}
	}
	return true
}

// isNodeQuestion reports whether an event is the question of a function. Only such a call has the ID of the interrupt
// in its arguments. An agent's call of the tool of the same name does not.
//
// Source: dist/esm/workflow/utils/hitl_utils.js of @google/adk 2.0.
func (f *frame) isNodeQuestion() bool {
	if !f.nodeInfo.Exists() || f.hasModelData() {
		return false
	}
	for part := range f.content.Get("parts").Elements() {
		call := part.First("functionCall", "function_call")
		if id := call.Get("id"); call.Get("name").Is("adk_request_input") && len(id.Text()) > 0 && call.Get("args").Get("interruptId").Is(id.String()) {
			return true
		}
	}
	return false
}

// isPauseRecord reports whether an event only says that the node at its path waits, as a JavaScript workflow does when
// a step of it asks. The node's author has not spoken.
func (f *frame) isPauseRecord() bool {
	return f.hasAgentState() && f.longRunning.Len() > 0 && !f.content.Exists() && !f.hasModelData()
}

// hasAgentState reports whether an event has state of its author. A container in Python stores there which agent it runs
// next. A node in JavaScript stores its input there if it waits.
func (f *frame) hasAgentState() bool {
	return f.actionsValue.First("agentState", "agent_state").Kind() == strictjson.Object
}

// isCheckpoint reports whether an event only stores how far its author has come, as Python's agents and workflows do if the app is
// resumable. It is no answer.
func (f *frame) isCheckpoint() bool {
	return (f.hasAgentState() || f.actions.endsAgent) && f.longRunning.Len() == 0 &&
		!f.content.Exists() && !f.output.Exists() && !f.hasModelData() && !f.hasError()
}

// readWorkflowRecord reports whether an event is a record of a resumable workflow in Python: a checkpoint, or the output of a step that
// ran in an earlier request. It remembers the workflow's name, because the checkpoint at its end looks like that of an agent. The author of
// a record is the workflow, which is not an agent. The step of a stored output has not run again.
//
// Source: google/adk/workflow/_workflow.py of google-adk 2.13.
func (d *decoder) readWorkflowRecord(fr *frame) bool {
	switch {
	case fr.isStoredOutput():
		d.workflows.Add(d.name(fr.author))
		return true
	case !fr.isCheckpoint() || !fr.nodeInfo.Get("path").Is(""):
		return false
	case fr.hasNodeStates():
		d.workflows.Add(d.name(fr.author))
		return true
	}
	return d.workflows.Contains(d.name(fr.author)) // the end of the workflow
}

// isStoredOutput reports whether an event is the stored output of a workflow's step. An output of a step that has run names the nodes
// whose output it is.
//
// Source: google/adk/workflow/_node_runner.py of google-adk 2.0 and 2.13, _enrich_event.
func (f *frame) isStoredOutput() bool {
	root, _, isBelow := strings.Cut(f.nodeInfo.Get("path").String(), "/")
	return isBelow && strings.Contains(root, "@") && f.output.Exists() && f.nodeInfo.First("outputFor", "output_for").Len() == 0 &&
		!f.content.Exists() && !f.hasModelData() && !f.hasError()
}

// hasNodeStates reports whether an event has the states of a workflow's nodes.
func (f *frame) hasNodeStates() bool {
	state := f.actionsValue.First("agentState", "agent_state")
	return state.Len() == 1 && state.Get("nodes").Kind() == strictjson.Object
}

// hasModelData reports whether an event has data of a model besides its content.
func (f *frame) hasModelData() bool {
	return f.usageMetadata.Exists() || f.finishReason.Exists() || f.model.Exists()
}

// isRelayed reports whether the event passes on what a remote agent sent over A2A, and no model of this server
// answered.
//
// Source: google/adk/a2a/agent/_remote_a2a_agent.py of google-adk 2.13.
func (f *frame) isRelayed() bool { return f.remote.exists && !f.hasModelData() }

// noteOrder sets OrderUnknown if an event is older than the last error without a branch: the agents may have run in parallel. JavaScript's
// parallel agent leaves out the branch of such an error, and the other agents go on.
func (d *decoder) noteOrder(fr *frame, isUser bool, b *event.Batch) {
	switch {
	case !isUser && b.Branch == "" && fr.reportsFailure() && !fr.nodeInfo.Exists():
		d.lastUnbranchedError = b.Time
	case !b.Time.IsZero() && b.Time.Before(d.lastUnbranchedError):
		b.OrderUnknown = true
	}
}
