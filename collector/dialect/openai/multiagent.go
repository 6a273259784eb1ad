package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// rootAgent is the agent that receives the request, in each response with several agents. So it gets the configured name, if there is
// one. The names of the others show where they are in the tree, such as "/root/reviewer/tester".
//
// Source: openai/types/beta/beta_response_stream_event.py and beta_response_output_item.py of openai 3.54, and
// https://developers.openai.com/api/docs/guides/responses-multi-agent.
const rootAgent = "/root"

// agentMessage is the type of an item with a message between agents. It usually is encrypted.
const agentMessage = "agent_message"

// agentNamesOf returns the names of the agents of events and items, and what messages between agents have in the given members. It compares
// members leniently. A server may send only the name of an agent.
func agentNamesOf(ofMessage []string, levels ...strictjson.Value) (names []strictjson.Value) {
	for _, v := range levels {
		isMessage := v.Get("type").Is(agentMessage)
		for member, value := range v.Members() {
			switch {
			case lenient.MatchesAny(member.Text(), []string{"agent"}):
				if value.Kind() == strictjson.String {
					names = append(names, value)
				}
				for member, name := range value.Members() {
					if lenient.MatchesAny(member.Text(), []string{"agent_name"}) {
						names = append(names, name)
					}
				}
			case isMessage && lenient.MatchesAny(member.Text(), ofMessage):
				names = append(names, value)
			}
		}
	}
	return names
}

// agentsOf returns the agents of events and items. The name of an agent that is not known is "".
func (d *decoder) agentsOf(levels ...strictjson.Value) (agents []string) {
	for _, name := range agentNamesOf([]string{"author"}, levels...) {
		agent := d.name(name)
		if agent == rootAgent {
			agent = cmp.Or(d.agent, rootAgent)
		}
		agents = append(agents, agent)
	}
	return agents
}

// readAgents reads the agents that an event and the objects around it name.
func (d *decoder) readAgents(v strictjson.Value, b *event.Batch) (agents []string) {
	agents = d.agentsOf(v.Get("item"), v)
	b.AddAuthors(b.JSON, agents...)
	output := v.Get("response").Get("output")
	named := d.response.namesAgents
	for item := range output.Elements() {
		named = named || len(agentNamesOf(nil, item)) > 0
	}
	for item := range output.Elements() {
		switch authors := d.agentsOf(item); {
		case len(authors) > 0:
			b.AddAuthors(item, authors...)
		case named:
			b.AddAuthors(item, "")
		}
	}
	return agents
}

// readItemAgent finds the agent of the item that an event is part of. Only the item's first event need name it.
func (d *decoder) readItemAgent(agents []string, b *event.Batch) {
	d.response.namesAgents = d.response.namesAgents || len(agents) > 0
	if !d.response.namesAgents {
		return
	}
	known := d.response.item(d.at)
	known.addAgents(agents)
	if agents = known.agents; len(agents) == 0 {
		agents = []string{""}
	}
	d.itemAgent = &agents[0]
	b.AddAuthors(b.JSON, agents...)
}

// maxItemAgents limits the agents of an item. One that names more is of an agent that is not known.
const maxItemAgents = 8

func (i *itemState) addAgents(agents []string) {
	all := slices.Clone(i.agents) // batches keep the slice
	for _, agent := range agents {
		if !slices.Contains(all, agent) {
			all = append(all, agent)
		}
	}
	if i.agents = all; len(all) > maxItemAgents {
		i.agents = []string{""}
	}
}

// isSubagent reports whether the current event is part of an item of an agent other than the root.
func (d *decoder) isSubagent() bool {
	return d.itemAgent != nil && *d.itemAgent != cmp.Or(d.agent, rootAgent)
}

// setSpeaker sets the agent of a batch: that of the item, if the response names agents, else the root.
func (d *decoder) setSpeaker(b *event.Batch) {
	if b.Agent = d.agent; d.response.namesAgents {
		b.Agent = cmp.Or(d.agent, rootAgent)
	}
	if !d.isSubagent() {
		return
	}
	b.Agent, b.Branch = *d.itemAgent, *d.itemAgent
	if b.AgentUnknown = b.Agent == ""; b.AgentUnknown {
		return
	}
	if b.Around = aroundAgent(b.Agent); b.Around != nil {
		b.ParentBranch = b.Around.Branch
	}
}

// aroundAgent returns the agents between the root and an agent, or nil if there are none.
func aroundAgent(name string) *event.Around {
	above := name[:max(strings.LastIndexByte(name, '/'), 0)]
	if !strings.HasPrefix(above, rootAgent+"/") {
		return nil
	}
	return &event.Around{Agent: above, Branch: above, Above: aroundAgent(above)}
}
