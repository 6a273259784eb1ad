package langgraph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// agentNodes are the nodes of LangChain's agents. hooks are suffixes of nodes that their middleware adds.
//
// Source: langchain/agents/factory.py and langchain/dist/agents/ReactAgent.js, langgraph/prebuilt/chat_agent_executor.py.
var (
	agentNodes = []string{"model", "agent", "model_request", toolNode, "generate_structured_response", "pre_model_hook", "post_model_hook"}
	modelNodes = agentNodes[:3] // return only the model's response
	hooks      = []string{".before_agent", ".before_model", ".after_model", ".after_agent"}
)

// nameAgent sets the name of the agent in a graph, and returns the agent's graph. The name is from a message, or its metadata,
// of a node or a task in the given graph. Without stream_subgraphs, the graph of an agent that a node of the run's own graph
// invokes has no frames. Then the message is of the graph in that node.
func (d *decoder) nameAgent(sc *scope, node string, named strictjson.Value) *scope {
	name := d.name(named)
	switch isOwn := isAgentNode(node); {
	case sc.above != nil || name == "":
	case isOwn:
		sc.isAssumed = false
	case node == "":
		sc.isAssumed = sc.isAssumed || sc.agent == ""
	case name != sc.agent:
		sc = d.graphIn(node, name)
	}
	d.setAgent(sc, named)
	return sc
}

// beginAgentNode makes the agent of a graph the speaker of the frame that shows the beginning of one of its nodes. So the agent, and its first
// chat, begin with that frame, and an agent that fails or answers without a model is known. The run's own agent is only named by it.
func (d *decoder) beginAgentNode(sc *scope, node string, b *event.Batch) {
	if sc.agent == "" || !isAgentNode(node) || sc.above == nil && (sc.began || sc.spoke || sc.isAssumed) {
		return
	}
	if !sc.speaker().speak(b) {
		return
	}
	if sc.began = true; sc.above != nil && precedesResponse(node) {
		b.Add(event.KindIteration)
	}
}

// precedesResponse reports whether an agent asks its model in one of its nodes, or mostly after it. A hook may end the agent instead.
func precedesResponse(node string) bool {
	return slices.Contains(modelNodes, node) || node == "pre_model_hook" || slices.ContainsFunc(hooks[:2], func(suffix string) bool { return strings.HasSuffix(node, suffix) })
}

// beginNamed reads the beginning of a node in an event. The event of a graph has the graph's agent, but the place of the node around it.
func (d *decoder) beginNamed(sc *scope, v strictjson.Value, b *event.Batch) {
	metadata, node := v.Get("metadata"), v.Get("name").String()
	if at := d.graphOf(metadata, sc); isAgentNode(node) && (at.above != nil || v.Get("parent_ids").Len() == 1) {
		d.beginAgentNode(d.scopeAt(metadata, sc), node, b)
	}
}

// graphIn returns the graph of an agent in a node or a task. If an update named the agent first, which names no task, that graph is
// also that of the node's later tasks, until control is transferred to the node again. If the node is an agent of another name, the
// agent works within it.
func (d *decoder) graphIn(task, agent string) *scope {
	node, id, isTask := strings.Cut(task, ":")
	last := node
	if n := d.targets[targetKey("", node)]; n > 1 {
		last += ":" + strconv.Itoa(n)
	}
	if known := d.scopes[last]; known != nil && known.agent == agent {
		return known
	}
	if !isTask {
		if shown := d.runningIn(node, agent); shown != nil {
			return shown
		}
		_, id, isTask = strings.Cut(last, ":")
		task = last
	}
	sc := d.scopeOf([]byte(task))
	if sc.fallback == "" || sc.fallback == agent || strings.Contains(agent, "|") || isCounter([]byte(agent)) {
		return sc
	}
	within := task + "|" + agent
	if isTask {
		within += ":" + id // distinguishes it from the agent in another task of the node
	}
	return d.scopeOf([]byte(within))
}

// runningIn returns the only graph in a node of the run's own graph that has shown frames and has not returned, and whose agent is, or
// may be, the given one. Otherwise, it returns nil.
func (d *decoder) runningIn(node, agent string) (found *scope) {
	for _, sc := range d.scopes {
		switch {
		case !sc.isShownIn(node) || sc.ended || sc.agent != "" && sc.agent != agent:
		case found != nil:
			return nil
		default:
			found = sc
		}
	}
	return found
}

// taskOf returns the task of a node of the run's own graph that ran alone before a state, if its graph shows its frames, else the node.
func (d *decoder) taskOf(node string) string {
	for up := d.last; up != nil; up = up.above {
		if up.isShownIn(node) {
			return up.branch
		}
	}
	return node
}

// isShownIn reports whether a graph runs in a node of the run's own graph and has shown frames.
func (sc *scope) isShownIn(node string) bool {
	return sc.isShown && sc.above != nil && sc.above.above == nil && sc.node == node && sc.task != ""
}

// nameByResponse sets the name of the agent in a subgraph whose metadata has its caller's name. A response of its model has its own name,
// the pieces of the response had none.
func (d *decoder) nameByResponse(sc *scope, task string, response strictjson.Value) {
	if node, _, _ := strings.Cut(task, ":"); sc.inherited && slices.Contains(modelNodes, node) {
		d.setAgent(sc, response.Get("name"))
	}
}

func isAgentNode(task string) bool {
	node, _, _ := strings.Cut(task, ":")
	return slices.Contains(agentNodes, node) || isHook(node)
}

func isHook(node string) bool {
	return slices.ContainsFunc(hooks, func(suffix string) bool { return strings.HasSuffix(node, suffix) })
}
