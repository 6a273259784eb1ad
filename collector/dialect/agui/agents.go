package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// agent is an agent that works in a run. The run's own agent has no branch, and the protocol never names it.
type agent struct {
	name   string
	step   string // the step in which it works, or ""
	branch string
	within string // the call in which it works, or ""
	parent string // branch of the agent for which it works, or ""

	unknown bool // the stream does not say which agent it is
	isLate  bool // its call's arguments became known late, so it may have begun before its first frame
}

const (
	subAgent = "subagent" // the name of an agent of which only the id is known
	user     = "user"     // the name of the human user, which an agent must not have
)

// apply makes the agent the speaker of a batch.
func (a agent) apply(b *event.Batch) {
	b.Agent, b.Step, b.Branch, b.EnclosingCall, b.ParentBranch, b.AgentUnknown = a.name, a.step, a.branch, a.within, a.parent, a.unknown
	b.MayBeBeside = a.isLate
}

// agentOf returns the speaker of a batch.
func agentOf(b *event.Batch) agent {
	return agent{b.Agent, b.Step, b.Branch, b.EnclosingCall, b.ParentBranch, b.AgentUnknown, b.MayBeBeside}
}

// ownAgent returns the run's own agent, outside of steps.
func (d *decoder) ownAgent() agent { return agent{name: d.ownName} }

// maxOpen limits the subagents of a run, its open steps and its open calls. Each has this limit. Frames beyond
// the limit are decoded without that context.
const maxOpen = 256

// agents maps ids to a run's subagents. Ended subagents stay, because their last frames may come
// late.
type agents map[string]agent

func (a agents) known(id string) bool {
	_, known := a[id]
	return known
}

func (a *agents) add(id string, added agent) {
	if *a == nil {
		*a = make(agents)
	}
	if len(*a) < maxOpen {
		(*a)[id] = added
	}
}

// byID returns the subagent with an id. It adds an unknown one: some producers only mark the frames
// of a subagent and never say that it starts.
func (a *agents) byID(id string) agent {
	known, is := (*a)[id]
	if !is {
		known = agent{name: subAgent, branch: id}
		a.add(id, known)
	}
	return known
}

// step is a named part of the work of a run or a subagent.
type step struct {
	owner, name string
	id, parent  string // set if the producer says how steps are nested
	agent       agent
	hasFailed   bool
	hasStarted  bool   // it was reported
	task        string // of LangGraph, or ""
	taskRun     string // the run of LangChain in which the task works, or ""
}

// steps holds the open steps, and the number of steps that were started.
type steps struct {
	open    []step
	left    map[string]step // by task: steps that are not current, while their tasks may go on
	within  map[string]int  // the number of open steps by their parent
	started int
	isOver  bool // LangGraph's graph has ended: tasks that have not wait for an answer
}

// index returns the index of an owner's open step with a name and an id. If no step has the id, it returns the
// index of the last step with the name, or -1. The protocol lets an owner use a name only once
// at a time, so of two open steps with the same name the inner one is meant.
func (s *steps) index(owner, name, id string) int {
	last := -1
	for i, open := range s.open {
		switch {
		case open.owner != owner || open.name != name:
		case id != "" && open.id == id:
			return i
		default:
			last = i
		}
	}
	return last
}

// byID returns the open step with an id, or nil.
func (s *steps) byID(id string) *step {
	if i := slices.IndexFunc(s.open, func(open step) bool { return open.id == id }); i >= 0 && id != "" {
		return &s.open[i]
	}
	return nil
}

// current returns the agent of the innermost open step of an owner. It returns none if steps run side by side.
func (s *steps) current(owner string) (agent, bool) {
	found, any := agent{}, false
	for i := range s.open {
		open := &s.open[i]
		if open.owner != owner || s.isAround(open) {
			continue
		}
		if any {
			return agent{}, false
		}
		found, any = open.agent, true
	}
	return found, any
}

// begin adds an open step. It returns nil if there is no room.
func (s *steps) begin(begun step) *step {
	if len(s.open) >= maxOpen {
		return nil
	}
	s.open = append(s.open, begun)
	if s.within == nil {
		s.within = make(map[string]int)
	}
	s.within[begun.parent]++
	return &s.open[len(s.open)-1]
}

// end removes an open step.
func (s *steps) end(i int) {
	parent := s.open[i].parent
	if s.within[parent]--; s.within[parent] == 0 {
		delete(s.within, parent)
	}
	s.open = slices.Delete(s.open, i, i+1)
}

// isAround reports whether an open step is stated to be around other open steps.
func (s *steps) isAround(open *step) bool { return open.id != "" && s.within[open.id] > 0 }

// owner returns the id of the subagent or nested run that a frame belongs to, or "" for the run
// itself.
func (d *decoder) owner(v strictjson.Value) string {
	if tag := v.Get("subagentRunId"); len(tag.Text()) > 0 {
		return d.name(tag)
	}
	if n := len(d.nestedRuns); n > 0 {
		return d.nestedRuns[n-1]
	}
	return ""
}

// speaker returns the agent that a frame belongs to, unless the frame's message or call has another one. It is
// the delegate that LangChain's event names, else the agent of the current step, else the subagent.
func (d *decoder) speaker(v strictjson.Value) agent {
	if name := v.Get("rawEvent").Get("metadata").Get("lc_agent_name"); name.Exists() {
		if at, known := d.calls.delegateNamed(d.name(name)); known {
			return at
		}
	}
	owner := d.owner(v)
	if at, in := d.steps.current(owner); in {
		return at
	}
	return d.agentFor(owner)
}

// branchOf returns the branch of the subagent or nested run with an id. The delegate of a call has that of the call.
func (d *decoder) branchOf(id string) string {
	if known, is := d.agents[id]; is {
		return known.branch
	}
	return id
}

// agentFor returns the subagent with an id, or the run's own agent for "".
func (d *decoder) agentFor(owner string) agent {
	if owner != "" {
		return d.agents.byID(owner)
	}
	return d.ownAgent()
}

// stepStarted starts a step. Frameworks send a step for each node of their graphs, so a step is not
// an agent unless its producer says so.
func (d *decoder) stepStarted(v strictjson.Value, b *event.Batch) {
	owner, name := d.owner(v), d.name(v.Get("stepName"))
	if name == "" || name == user {
		return
	}
	nesting := attribution(v)
	id := d.name(nesting.Get("step_id"))
	if same := d.steps.byID(id); same != nil && same.owner == owner && same.name == name {
		same.agent.apply(b)
		return
	}
	begun := d.newStep(owner, name)
	begun.id, begun.parent = id, d.name(nesting.Get("parent_step_id"))
	if as, is := agentStep(name, nesting); is {
		begun.agent.name, begun.agent.step = as, ""
	}
	if above := d.steps.byID(begun.parent); above != nil {
		begun.agent.parent = above.agent.branch
	}
	begun.hasStarted = !d.steps.mayGoOn(&begun)
	d.steps.begin(begun)
	if begun.hasStarted {
		begun.agent.apply(b)
		b.Add(event.KindAgentStarted)
	}
}

func (d *decoder) stepFinished(v strictjson.Value, b *event.Batch) {
	i := d.steps.index(d.owner(v), d.name(v.Get("stepName")), d.name(attribution(v).Get("step_id")))
	if i < 0 {
		return
	}
	if d.steps.open[i].task != "" {
		if b.AgentWaits = d.steps.isOver; b.AgentWaits {
			d.steps.open[i].agent.apply(b)
		}
		d.steps.leave(i)
		return
	}
	d.endStep(i, b)
}

// endStep reports the end of an open step.
func (d *decoder) endStep(i int, b *event.Batch) {
	d.steps.open[i].agent.apply(b)
	d.reportUnended(b)
	if end := b.Add(event.KindAgentEnded); d.steps.open[i].hasFailed {
		end.Error = event.AgentError
	}
	d.steps.end(i)
}

// markStepAgent turns an open step into an agent when Microsoft's framework says that an agent with
// the step's name answered.
func (d *decoder) markStepAgent(v strictjson.Value, b *event.Batch) {
	output := v.Get("value")
	if !v.Get("name").Is("workflow_output") || !output.Get("type").Is("agent_response_update") {
		return
	}
	author := d.name(output.Get("author_name"))
	if i := d.steps.index(d.owner(v), author, ""); i >= 0 {
		at := &d.steps.open[i].agent
		at.name, at.step = author, ""
		at.apply(b)
	}
}

// agentStep returns the agent that a step stands for. CrewAI marks such a step with the boundary
// "agent". Of Strands, a graph or swarm is none.
func agentStep(name string, attribution strictjson.Value) (agent string, is bool) {
	if attribution.Get("boundary").Is("agent") {
		return name, true
	}
	kind, agent, is := nodeOf(name)
	return agent, is && kind == agentNode && agent != "" && agent != user
}

// Strands' adapter names the step of a node TYPE:NODE.
//
// Source: _multiagent_step_name in ag_ui_strands/agent.py of ag-ui-strands 1.0.2.
const (
	agentNode = "agent"      // an agent
	groupNode = "multiagent" // a graph or swarm within the graph
)

// nodeOf returns the type and the node that the name of a step states. isNode is false if the step is of another framework.
func nodeOf(step string) (kind, node string, isNode bool) {
	kind, node, isNode = strings.Cut(step, ":")
	return kind, node, isNode && lenient.MatchesAny([]byte(kind), []string{agentNode, groupNode})
}

// noteNode reads from an event of Strands which node has failed: the end of its step does not say so.
func (d *decoder) noteNode(custom strictjson.Value) {
	value := custom.Get("value")
	if !custom.Get("name").Is("MultiAgentNodeStatus") || !value.Get("status").Is("failed") {
		return
	}
	failed := d.name(value.Get("node_id"))
	for i := range d.steps.open {
		open := &d.steps.open[i]
		if _, node, isNode := nodeOf(open.name); isNode && node == failed {
			open.hasFailed = true
		}
	}
}

// attribution returns the place of a step in the tree of steps, as CrewAI's adapter states it.
func attribution(v strictjson.Value) strictjson.Value { return v.Get("rawEvent").Get("attribution") }

// subagentStarted starts a subagent. It may be the delegate of an open call. Otherwise it works within the call and below
// the subagent that the frame names. If that subagent, or the run, has a current step, it works below the step.
func (d *decoder) subagentStarted(v strictjson.Value, b *event.Batch) {
	id, name, around := d.name(v.Get("subagentRunId")), d.name(v.Get("name")), d.name(v.Get("parentSubagentRunId"))
	begun := agent{name: name, branch: id, within: d.name(v.Get("parentToolCallId")), parent: d.branchOf(around)}
	if name == "" || name == user {
		begun.name = subAgent
	}
	if open := d.calls.find(begun.within, d.owner(v)); open != nil && open.namesAgent() && !open.hasArgs {
		open.announced = true
	}
	known := d.delegateOf(begun.within, begun.name)
	if known != nil {
		begun = known.delegate
	}
	if id == "" {
		return
	}
	if known != nil {
		known.announced = true
	} else if at, in := d.steps.current(around); in {
		begun.parent = at.branch
	}
	d.agents.add(id, begun)
	begun.apply(b)
	b.Add(event.KindAgentStarted)
}

// delegateOf returns the open call whose delegate is the subagent with a name, or nil. within is the call that started
// the subagent. If it is "", the subagent must be the only delegate with its name.
func (d *decoder) delegateOf(within, name string) (found *call) {
	for i := range d.calls {
		open := &d.calls[i]
		if open.announced || open.delegate.name == "" || within != "" && open.id != within || !lenient.MatchesAny([]byte(name), []string{open.delegate.name}) {
			continue
		}
		if found != nil {
			return nil
		}
		found = open
	}
	return found
}

// within returns the only subagent with a name that was announced within a call.
func (a agents) within(call, name string) (only agent, known bool) {
	count := 0
	for _, one := range a {
		if one.within == call && lenient.MatchesAny([]byte(name), []string{one.name}) {
			only, count = one, count+1
		}
	}
	if count != 1 {
		return agent{}, false
	}
	return only, true
}

// subagentFinished ends a subagent, unless it is suspended: then a later run continues it.
func (d *decoder) subagentFinished(v strictjson.Value, b *event.Batch) {
	if id := d.name(v.Get("subagentRunId")); id != "" {
		d.agents.byID(id).apply(b)
		d.reportUnended(b)
		end := outcomeOf(v)
		b.AgentWaits = end == outcomeInterrupted
		end.endAgent(b)
	}
}

func (d *decoder) subagentError(v strictjson.Value, b *event.Batch) {
	if id := d.name(v.Get("subagentRunId")); id != "" {
		d.agents.byID(id).apply(b)
		d.reportUnended(b)
		e := b.Add(event.KindAgentEnded)
		e.Error, e.Code = event.AgentError, errorCode(v)
	}
}
