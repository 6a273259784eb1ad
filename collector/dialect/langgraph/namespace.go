package langgraph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Event names. The frames of a subgraph append its namespace after a bar: updates|tools:UUID.
const (
	modeMetadata         = "metadata"
	modeValues           = "values"
	modeUpdates          = "updates"
	modeMessages         = "messages" // requested as messages-tuple
	modeMessagesPartial  = "messages/partial"
	modeMessagesComplete = "messages/complete"
	modeMessagesMetadata = "messages/metadata"
	modeEvents           = "events"
	modeTasks            = "tasks"
	modeCheckpoints      = "checkpoints"
	modeCheckpoint       = "checkpoints of a state" // not on the wire: see isCheckpointID
	modeDebug            = "debug"
	modeCustom           = "custom"
	modeFeedback         = "feedback"
	modeStateUpdate      = "state_update"
	modeError            = "error"
	modeEnd              = "end" // of servers before 0.2
)

// scope is a graph of a run: the run's own graph, whose namespace is empty, or a subgraph. A subgraph is
// an agent if the stream names that agent.
type scope struct {
	namespace  string
	above      *scope // nil for the run's own graph
	node       string // in which the subgraph runs
	task       string // the id of that node's task, which distinguishes parallel ones
	branch     string // "" for the run's own graph
	agent      string // "" if unknown
	isAssumed  bool   // the agent's name is from a message of an unknown node, so another agent may have written it
	inherited  bool   // the metadata of its frames has the name of the agent around it
	stated     string // the name of the agent that its last task states, which may be that of a graph around it
	fallback   string // the agent's name if no message or metadata names it, or ""
	call       string // the tool call in which the subgraph works, or ""
	mayBeRoot  bool   // see event.Batch
	isParallel bool   // see event.Batch
	spoke      bool   // a model's message in it or in one of its subgraphs was read
	isShown    bool   // a frame of the graph itself was read
	showsSteps bool   // its frames show when its nodes begin, at least of a step after one that has written something
	showsTasks bool   // they show each step
	calls      bool   // a task of it has called others, as functions of LangGraph do
	ended      bool   // the end of its step was reported, or its task has returned
	hasFailed  bool   // it has ended with the exception of a task
	answered   bool   // its last response has no calls
	asked      bool   // its model was asked, and has not answered
	began      bool   // a frame has shown the beginning of a node of its agent
	isFurther  bool   // its task has run other graphs before, which may have ended or not
	follows    string // the branch of the last of them that was seen, or ""
	isBeside   bool   // it may have begun with tasks that have returned
	handedOver bool   // its agent has transferred control since it began or last returned, so it has ended

	around *event.Around // see placeAround

	lastReturned string // the node that has returned last

	returned map[string]int // how often each of at most maxScopes nodes has returned, as shown by the stream

	// A first state may repeat messages of earlier runs, so its messages are not reported.
	hasValues, hasCheckpoint bool   // the first state of the mode was seen
	loaded                   string // the ID of the first checkpoint, which may be that of the run that this one resumes
}

// maxScopes limits the graphs of a run. Frames of further ones are decoded as those of the graph
// above.
const maxScopes = 256

// scopeOf returns the graph of a namespace such as tools:UUID|model:UUID.
func (d *decoder) scopeOf(namespace []byte) *scope {
	if sc := d.scopes[string(namespace)]; sc != nil {
		return sc
	}
	if d.scopes == nil {
		d.scopes = map[string]*scope{"": {fallback: d.configured}}
	}
	if len(namespace) == 0 || len(namespace) > maxNamespace {
		return d.scopes[""]
	}
	outer, own := splitGraph(namespace)
	sc := &scope{namespace: string(namespace), above: d.graphAt(outer)}
	if len(d.scopes) >= maxScopes {
		return sc.above
	}
	segment, _, isFurther := strings.Cut(string(own), "|")
	node, task, _ := strings.Cut(segment, ":")
	sc.isFurther = isFurther
	sc.node, sc.task, sc.branch = dialect.Name(node), dialect.Name(task), dialect.Name(string(own))
	sc.follows = d.lastInTask(sc)
	isTarget := d.targets[targetKey(sc.above.branch, sc.node)] > 0
	if isTarget {
		sc.fallback = sc.node
	}
	sc.isBeside = d.mayBeBeside(sc, isTarget)
	d.scopes[sc.namespace] = sc
	d.bindCall(sc)
	return sc
}

// scopeAt returns the graph that LangGraph's metadata names, and records the name of its agent. Without a
// namespace in the metadata, it is the given graph.
//
// Source: langgraph/pregel/_algo.py (langgraph_checkpoint_ns), langchain/agents/factory.py
// (lc_agent_name).
func (d *decoder) scopeAt(metadata strictjson.Value, given *scope) *scope {
	_, task := splitLast(metadata.Get("langgraph_checkpoint_ns").Text())
	sc, named := d.graphOf(metadata, given), metadata.Get("lc_agent_name")
	if sc.inherits(d.name(named)) {
		sc.inherited = true
		return sc
	}
	return d.nameAgent(sc, string(task), named)
}

// inherits reports whether the name that metadata gives the agent of a graph is that of the agent around it. A graph that is a node gets the
// metadata of its caller, and the name in it replaces its own.
//
// Source: langchain_core/runnables/config.py, ensure_config and merge_configs.
func (sc *scope) inherits(agent string) bool {
	if sc.above == nil || sc.node == toolNode || agent == "" {
		return false
	}
	for up := sc.above; up != nil; up = up.above {
		if name := up.name(); name != "" {
			return name == agent
		}
	}
	return false
}

// graphOf is scopeAt without the agent's name.
func (d *decoder) graphOf(metadata strictjson.Value, given *scope) *scope {
	if d.run == "" { // a stream that was joined in the middle of a run
		d.run = d.name(metadata.Get("run_id"))
	}
	if len(metadata.Get("langgraph_checkpoint_ns").Text()) > 0 {
		outer, _ := splitLast(d.placeIn(metadata))
		caller := callerOf(metadata.Get("langgraph_path"))
		isCalled := caller.Exists()
		for ; caller.Exists(); caller = callerOf(caller) {
			outer, _ = splitLast(outer)
		}
		sc := d.graphAt(outer)
		sc.calls = sc.calls || isCalled
		return sc
	}
	return given
}

// callerOf returns the path of what calls a function of LangGraph (`@task`), or a value that does not exist. The function runs
// in its caller's graph, but its namespace is within that of its caller.
//
// Source: langgraph/pregel/_messages.py, graph_namespace.
func callerOf(path strictjson.Value) strictjson.Value {
	parts := elementsOf(path)
	if len(parts) != 4 || !parts[0].Is("__pregel_push") {
		return strictjson.Value{}
	}
	if isCall, _ := parts[3].Bool(); !isCall {
		return strictjson.Value{}
	}
	return parts[1]
}

// setAgent sets the name of a graph's agent, once.
func (d *decoder) setAgent(sc *scope, named strictjson.Value) {
	name := d.name(named)
	if name == "" || name == user || sc.agent != "" {
		return
	}
	sc.agent = name
	d.bindCall(sc)
	sc.mayBeRoot = sc.above != nil && sc.above.above == nil && sc.above.agent == "" && !sc.above.spoke && sc.call == "" && sc.node != toolNode && !sc.spoke
	sc.isParallel = sc.mayBeRoot && (d.isAgentBeside(sc) || d.hasWorkBeside(sc) || d.showsReturns && !d.hasMissed && d.countSiblings(sc) > sc.above.returned[sc.node])
}

// mayBeBeside reports whether a new graph may have begun with tasks that have returned, because nothing shows its beginning: neither steps, nor
// a call or a transfer (isTarget), unless a task of its own node has returned.
func (d *decoder) mayBeBeside(sc *scope, isTarget bool) bool {
	returned := sc.above.lastReturned
	isShown := sc.above.showsSteps || isTarget || sc.node == toolNode
	return returned != "" && (!isShown || !sc.above.showsSteps && returned == sc.node && d.countSiblings(sc) > 0)
}

// countSiblings returns how many other tasks of the same node run graphs. A task may run several, one after the other.
func (d *decoder) countSiblings(sc *scope) int {
	tasks := map[string]struct{}{}
	for _, other := range d.scopes {
		if other.above == sc.above && other.node == sc.node && other.task != sc.task {
			tasks[other.task] = struct{}{}
		}
	}
	return len(tasks)
}

// isAgentBeside reports whether the task of a graph runs another one with the same agent, or another node does.
func (d *decoder) isAgentBeside(sc *scope) bool {
	for _, other := range d.scopes {
		if other != sc && other.agent == sc.agent && (other.isInTaskOf(sc) || other.above == sc.above && other.node != sc.node) {
			return true
		}
	}
	return false
}

// isInTaskOf reports whether a graph runs in the same task as another one.
func (sc *scope) isInTaskOf(other *scope) bool {
	return sc.above == other.above && sc.node == other.node && sc.task == other.task && sc.task != ""
}

// lastInTask returns the branch of the last graph that the task of a further graph has run before, or "".
func (d *decoder) lastInTask(sc *scope) (branch string) {
	if !sc.isFurther {
		return ""
	}
	for _, other := range d.scopes {
		isLater := cmp.Or(cmp.Compare(len(other.branch), len(branch)), strings.Compare(other.branch, branch)) > 0
		if other.isInTaskOf(sc) && isLater {
			branch = other.branch
		}
	}
	return branch
}

// user is the name of the human, which no agent may have.
const user = "user"

// bindCall finds the call in which a subgraph works: the one that its task executes, else that of another graph of its task, else the
// only possible open call of the graph above. A call that names another subagent is impossible.
func (d *decoder) bindCall(sc *scope) {
	if sc.above == nil || sc.call != "" {
		return
	}
	found := cmp.Or(d.calls.in(sc.above, d.taskCall[sc.task]), d.resumedCalls[sc.task], d.callBeside(sc))
	if found == nil {
		found = d.calls.only(func(c *call) bool {
			return c.scope == sc.above && !c.bound && (sc.agent == "" || c.target == "" || c.target == sc.agent)
		})
	}
	if found == nil || sc.node != toolNode && found.target == "" {
		return
	}
	sc.call, found.bound = found.id, true
	if sc.agent == "" {
		sc.agent = found.target
	}
}

// callBeside returns the call in which another graph of the same task works, or nil.
func (d *decoder) callBeside(sc *scope) *call {
	for _, other := range d.scopes {
		if other.isInTaskOf(sc) && other.call != "" {
			return d.calls.in(sc.above, other.call)
		}
	}
	return nil
}

// toolNode is the node that executes tools in LangChain's agents.
const toolNode = "tools"

// endNode counts a node's update, and ends the node's step.
func (d *decoder) endNode(above *scope, node, task string, b *event.Batch) {
	if above.returned == nil || len(above.returned) >= maxScopes {
		above.returned = make(map[string]int)
	}
	above.returned[node]++
	above.lastReturned = node
	if above.above == nil {
		maps.DeleteFunc(d.idle, func(at string, _ struct{}) bool {
			sc := d.scopes[at]
			return sc.node == node && (task == "" || sc.task == task)
		})
	}
	d.endStep(above, node, task, b)
	d.endInvocations(above, node, task)
}

// endStep ends the step of a node. If the node has several open steps, or runs several calls, only the task's id says which step
// ended. Without an id, none ends. If the task has run several graphs, it is unknown when each of them ended.
func (d *decoder) endStep(above *scope, node, task string, b *event.Batch) {
	if task == "" && node == toolNode && slices.ContainsFunc(d.calls, func(c *call) bool { return c.scope == above }) {
		return // each call has a task of its own
	}
	var graphs []*scope
	for _, sc := range d.scopes {
		if sc.above != above || sc.node != node || sc.ended || sc.call != "" || task != "" && sc.task != task {
			continue
		}
		if len(graphs) > 0 && !sc.isInTaskOf(graphs[0]) {
			return
		}
		graphs = append(graphs, sc)
	}
	if len(graphs) != 1 {
		for _, sc := range graphs {
			sc.ended, sc.handedOver = true, false
		}
		return
	}
	found := graphs[0]
	isReported := !hasSpeaker(b) && (found.spoke || found.began) && !found.handedOver && !found.asked
	found.handedOver = false
	if found.ended = isReported || found.task != ""; !isReported { // without a task, it is also the graph of later ones
		return
	}
	found.speaker().apply(b)
	b.Add(event.KindAgentEnded)
}
