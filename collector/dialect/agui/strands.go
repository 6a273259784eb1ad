package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Strands' adapter names the step of a node TYPE:NODE. What else it says of nodes is in custom events.
//
// Source: _multiagent_step_name, _multiagent_handoff_value and what follows in ag_ui_strands/agent.py of ag-ui-strands 1.0.2.
const (
	agentNode  = "agent"      // an agent
	groupNode  = "multiagent" // a graph or swarm within the graph
	nodeEvents = "multiagent" // prefix of the names of custom events
	nodeStatus = "MultiAgentNodeStatus"
)

// nodeOf returns the type and the node that the name of a step states. isNode is false if the step is of another framework.
func nodeOf(step string) (kind, node string, isNode bool) {
	kind, node, isNode = strings.Cut(step, ":")
	return kind, node, isNode && lenient.MatchesAny([]byte(kind), []string{agentNode, groupNode})
}

// isOfInternalNode reports whether a custom event has what an internal node says: why it hands over, what it asks, how it ends.
func isOfInternalNode(custom strictjson.Value) bool {
	if !lenient.HasPrefix(custom.Get("name").Text(), nodeEvents) {
		return false
	}
	value := custom.Get("value")
	for node := range value.Get("from_nodes").Elements() {
		if lenient.IsInternal(node.Text()) {
			return true
		}
	}
	return lenient.IsInternal(value.Get("node_id").Text())
}

// isOfOpenNode reports whether a custom event names the node that it is of, and that one has an open step and is ordinary. An internal node
// may run beside it.
func (d *decoder) isOfOpenNode(custom strictjson.Value) bool {
	of := d.name(custom.Get("value").Get("node_id"))
	return lenient.HasPrefix(custom.Get("name").Text(), nodeEvents) && slices.ContainsFunc(d.steps.open, func(open step) bool {
		_, node, isNode := nodeOf(open.name)
		return isNode && node == of && !open.isInternal
	})
}

// noteNodeQuestions remembers the questions of an ordinary node. The end of the run does not say which node asks them.
func (d *decoder) noteNodeQuestions(custom strictjson.Value) {
	for question := range elementsOf(custom.Get("value").Get("interrupts")) {
		d.questions.ordinary.Add(d.name(question.Get("id")))
	}
}

// noteNode reads how a node ends: the end of its step does not say so.
func (d *decoder) noteNode(custom strictjson.Value) {
	value := custom.Get("value")
	if !custom.Get("name").Is(nodeStatus) || !value.Get("status").Is("failed") {
		return
	}
	failed := d.name(value.Get("node_id"))
	d.steps.failedInternally = d.steps.failedInternally || lenient.IsInternal([]byte(failed))
	for i := range d.steps.open {
		open := &d.steps.open[i]
		if _, node, isNode := nodeOf(open.name); isNode && node == failed {
			open.hasFailed = true
		}
	}
}
