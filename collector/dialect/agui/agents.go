package agui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// agent is one that works in a run, in a step or outside of any. The run's own has no branch, and the protocol never names it.
type agent struct{ name, step, branch, within, parent string }

// subAgent is the name of an agent that is known only by its id, and user that of the human, which no agent has.
const (
	subAgent = "subagent"
	user     = "user"
)

// put says whose frame it is.
func (a agent) put(b *event.Batch) {
	b.Agent, b.Step, b.Branch, b.Within, b.Parent = a.name, a.step, a.branch, a.within, a.parent
}

// agentOf returns the agent that a frame belongs to.
func agentOf(b *event.Batch) agent { return agent{b.Agent, b.Step, b.Branch, b.Within, b.Parent} }

// own is the run's own agent, in no step.
func (d *decoder) own() agent { return agent{name: d.self} }

// maxOpen bounds each of the subagents of a run, its open steps and its open calls. Beyond it a frame is judged by itself.
const maxOpen = 256

// agents are a run's subagents by their ids, also those that have ended: their last frames may come late.
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

// of is the subagent of an id. Some producers only mark its frames, and never say that it begins.
func (a *agents) of(id string) agent {
	known, is := (*a)[id]
	if !is {
		known = agent{name: subAgent, branch: id}
		a.add(id, known)
	}
	return known
}

// step is a named part of the work of a run or of a subagent.
type step struct {
	owner, name string
	id, parent  string // where the producer says how steps are nested
	agent       agent
}

// steps are those that are open, and how many there were.
type steps struct {
	open  []step
	begun int
}

// ending is the place of the step that an end is of, or -1: the one of its id, else the last of its name. The protocol lets an owner
// use a name once at a time, so that of two the inner must be meant.
func (s *steps) ending(owner, name, id string) int {
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

// named is the open step of an id.
func (s *steps) named(id string) *step {
	if i := slices.IndexFunc(s.open, func(open step) bool { return open.id == id }); i >= 0 && id != "" {
		return &s.open[i]
	}
	return nil
}

// speaking is the step that an owner's frames are of: the only one that is open and has none within it. Of steps side by side
// nobody knows which.
func (s *steps) speaking(owner string) (agent, bool) {
	found, any := agent{}, false
	for _, open := range s.open {
		if open.owner != owner || open.id != "" && slices.ContainsFunc(s.open, func(o step) bool { return o.parent == open.id }) {
			continue
		}
		if any {
			return agent{}, false
		}
		found, any = open.agent, true
	}
	return found, any
}

// owner is the id of the subagent, or of the nested run, that a frame is of; "" for the run itself.
func (d *decoder) owner(v strictjson.Value) string {
	if tag := v.Get("subagentRunId"); len(tag.Text()) > 0 {
		return d.name(tag)
	}
	if n := len(d.nested); n > 0 {
		return d.nested[n-1]
	}
	return ""
}

// speaker is who a frame is of, where nothing else says it: the agent within a call that LangChain's event names, the step at hand, else
// the subagent.
func (d *decoder) speaker(v strictjson.Value) agent {
	if name := v.Get("rawEvent").Get("metadata").Get("lc_agent_name"); name.Exists() {
		if at, known := d.calls.delegated(d.name(name)); known {
			return at
		}
	}
	owner := d.owner(v)
	if at, in := d.steps.speaking(owner); in {
		return at
	}
	return d.agentFor(owner)
}

// agentFor is the subagent of an id, or the run's own agent for "".
func (d *decoder) agentFor(owner string) agent {
	if owner != "" {
		return d.agents.of(owner)
	}
	return d.own()
}

// stepStarted begins a step. Frameworks send one for each node of their graphs, so that it is no agent unless its producer says so.
func (d *decoder) stepStarted(v strictjson.Value, b *event.Batch) {
	owner, name := d.owner(v), d.name(v.Get("stepName"))
	if name == "" || name == user {
		return
	}
	nesting := attribution(v)
	begun := step{owner: owner, name: name, id: d.name(nesting.Get("step_id")), parent: d.name(nesting.Get("parent_step_id"))}
	if same := d.steps.named(begun.id); same != nil && same.owner == owner && same.name == name {
		same.agent.put(b)
		return
	}
	d.steps.begun++
	begun.agent = agent{name: name, branch: place(name, d.steps.begun), parent: owner}
	if as, is := agentStep(name, nesting); is {
		begun.agent.name = as
	} else {
		begun.agent.name, begun.agent.step = d.agentFor(owner).name, name
	}
	if above := d.steps.named(begun.parent); above != nil {
		begun.agent.parent = above.agent.branch
	}
	if len(d.steps.open) < maxOpen {
		d.steps.open = append(d.steps.open, begun)
	}
	begun.agent.put(b)
	b.Add(event.KindAgentStarted)
}

func (d *decoder) stepFinished(v strictjson.Value, b *event.Batch) {
	i := d.steps.ending(d.owner(v), d.name(v.Get("stepName")), d.name(attribution(v).Get("step_id")))
	if i < 0 {
		return
	}
	d.steps.open[i].agent.put(b)
	b.Add(event.KindAgentEnded)
	d.steps.open = slices.Delete(d.steps.open, i, i+1)
}

// stepOf returns the last open step of a name, or nil.
func (s *steps) stepOf(owner, name string) *step {
	if i := s.ending(owner, name, ""); i >= 0 {
		return &s.open[i]
	}
	return nil
}

// agentSpoke takes a step for an agent once Microsoft's framework says that an agent of that name answered.
func (d *decoder) agentSpoke(v strictjson.Value, b *event.Batch) {
	output := v.Get("value")
	if !v.Get("name").Is("workflow_output") || !output.Get("type").Is("agent_response_update") {
		return
	}
	author := d.name(output.Get("author_name"))
	if at := d.steps.stepOf(d.owner(v), author); at != nil {
		at.agent.name, at.agent.step = author, ""
		at.agent.put(b)
	}
}

// agentStep returns the agent that a step is: of CrewAI's boundaries one is an agent, and Strands has its kind of node in a step's name.
func agentStep(name string, attribution strictjson.Value) (agent string, is bool) {
	if attribution.Get("boundary").Is("agent") {
		return name, true
	}
	agent, is = strings.CutPrefix(name, "agent:")
	return agent, is && agent != "" && agent != user
}

// attribution is what CrewAI's adapter says of where a step stands among the others.
func attribution(v strictjson.Value) strictjson.Value { return v.Get("rawEvent").Get("attribution") }

// place tells the steps of a name apart by their number in the run.
func place(name string, number int) string {
	end := "#" + strconv.Itoa(number)
	return event.Bounded(name, dialect.MaxName-len(end)) + end
}

// subagentStarted begins a subagent: within the call that started it, else for the subagent that did, else for the step at hand.
func (d *decoder) subagentStarted(v strictjson.Value, b *event.Batch) {
	id, name := d.name(v.Get("subagentRunId")), d.name(v.Get("name"))
	if id == "" {
		return
	}
	if name == "" || name == user {
		name = subAgent
	}
	begun := agent{name: name, branch: id, within: d.name(v.Get("parentToolCallId")), parent: d.name(v.Get("parentSubagentRunId"))}
	if at, in := d.steps.speaking(begun.parent); in {
		begun.parent = at.branch
	}
	d.agents.add(id, begun)
	begun.put(b)
	b.Add(event.KindAgentStarted)
}

// subagentFinished ends a subagent, unless it waits for somebody: then it is a later run that goes on with it.
func (d *decoder) subagentFinished(v strictjson.Value, b *event.Batch) {
	if !v.Get("outcome").Get("type").Is("suspended") {
		d.endSubagent(v, event.NoFailure, "", b)
	}
}

func (d *decoder) subagentError(v strictjson.Value, b *event.Batch) {
	d.endSubagent(v, event.AgentError, errorCode(v), b)
}

func (d *decoder) endSubagent(v strictjson.Value, failure event.Failure, code string, b *event.Batch) {
	id := d.name(v.Get("subagentRunId"))
	if id == "" {
		return
	}
	d.agents.of(id).put(b)
	e := b.Add(event.KindAgentEnded)
	e.Error, e.Code = failure, code
}
