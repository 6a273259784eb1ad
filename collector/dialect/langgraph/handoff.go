package langgraph

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// handoffState is the state of transfers between agents.
type handoffState struct {
	active    string // the agent that the state or update being read names as active, or ""
	isLast    bool   // the message being read is the last of its list
	returning string // the agent that gives control back with the next result, or ""
	last      *scope // the graph whose model spoke last
	offers    []offer
	targets   map[string]int // how often control was transferred to each of at most maxScopes nodes, which are therefore agents; see targetKey
	passedTo  []string       // targets of the transfers in the last state of the run's own graph, at most two
}

// targetKey identifies a node of a graph by the graph's branch.
func targetKey(branch, node string) string { return branch + "|" + node }

// offer is a transfer in an event of a tool that runs beside others. If several of them transfer control, LangGraph may run the
// target of only one. So the transfer is reported when its target starts.
//
// Source: langgraph/pregel/_runner.py: the first ParentCommand ends the other tasks.
type offer struct {
	to, call string
	by       speaker
}

// Keys and texts that the libraries for transfers write into states and messages.
//
// Source: handoff.py of langgraph-swarm 0.1.0 and of langgraph-supervisor 0.0.31.
const (
	activeAgentKey = "active_agent"
	destinationKey = "__handoff_destination"
	handoffBackKey = "__is_handoff_back"
	transferred    = "Successfully transferred to "
	returnTool     = "transfer_back_to_" // followed by toolForm of the agent
	handoffTool    = "transfer_to_"      // of the tools' default names; in some stream modes their results are missing
)

// handoffTarget returns the agent to which a tool's result transfers control, or "". The result of a
// supervisor names the agent in its metadata. The result of a swarm has only a text, so the state must
// name the agent too.
//
// The public's stream has no text, but it names the agent only where there is a transfer; see publicTarget. The result is then the
// last message, because the tool of a swarm adds it to all others.
func (d *decoder) handoffTarget(result strictjson.Value) string {
	if to := result.Get("response_metadata").Get(destinationKey); to.Kind() == strictjson.String {
		return d.name(to)
	}
	if content := result.Get("content"); content.Is(transferred+d.active) || d.isLast && content.Is("") && !result.Get("additional_kwargs").Exists() {
		return d.active
	}
	return ""
}

func (d *decoder) transfer(to, id string, b *event.Batch) {
	if to == "" || to == user || to == b.Agent {
		return
	}
	isBeside := func(c *call) bool { return c.by.Branch == b.Branch }
	if b.Type != modeEvents || len(d.offers) == 0 && !slices.ContainsFunc(d.calls, isBeside) {
		d.handOver(to, id, b)
	} else if len(d.offers) < maxOpenCalls {
		d.offers = append(d.offers, offer{to, id, speakerOf(b)})
	}
}

// handOver reports a transfer to a new invocation of a node in the graph around the speaker's.
func (d *decoder) handOver(to, call string, b *event.Batch) {
	if d.targets == nil {
		d.targets = make(map[string]int)
	}
	if key := targetKey(b.ParentBranch, to); d.targets[key] > 0 || len(d.targets) < maxScopes {
		d.targets[key]++
	}
	d.addTransfer(to, call, b)
}

func (d *decoder) addTransfer(to, call string, b *event.Batch) {
	e := b.Add(event.KindTransfer)
	e.Name, e.CallID = to, call
	for _, sc := range d.scopes {
		sc.handedOver = sc.handedOver || sc.above != nil && sc.branch == b.Branch && sc.above.branch == b.ParentBranch
	}
	if b.Type == modeValues && b.ParentBranch == "" && len(d.passedTo) < 2 {
		d.passedTo = append(d.passedTo, to)
	}
}

// readNodeStart reports the last transfer to a node that starts.
func (d *decoder) readNodeStart(node string, b *event.Batch) {
	isTo := func(o offer) bool { return o.to == node }
	for _, o := range slices.Backward(d.offers) {
		if isTo(o) && o.by.claim(b) {
			d.handOver(o.to, o.call, b)
			break
		}
	}
	d.offers = slices.DeleteFunc(d.offers, isTo)
}

// takeTarget returns the node, or its task, whose work the next state in the mode values has: the target of the only transfer in the
// last one. If there is none, or several, it returns "".
func (d *decoder) takeTarget() (node string) {
	if len(d.passedTo) == 1 {
		node = d.taskOf(d.passedTo[0])
	}
	d.passedTo = nil
	return node
}

// isHandoffBack reports whether a message returns control to a supervisor. The code of a node writes such
// a message, not a model or a tool.
func isHandoffBack(m strictjson.Value) bool {
	flag, _ := m.Get("response_metadata").Get(handoffBackKey).Bool()
	return flag
}

// readHandoffBack reads one of the two messages that return control: the agent's call, or its result.
func (d *decoder) readHandoffBack(sc *scope, m strictjson.Value, b *event.Batch) {
	if m.Get("type").Is("ai") {
		d.returning = d.name(m.Get("name"))
		return
	}
	id := d.name(m.Get("tool_call_id"))
	if d.returning == "" || d.seen.mustSkip(seenResult, id) {
		return
	}
	to := d.agentOfReturn(m.Get("name").String())
	if to == "" { // later states repeat the message when other agents have spoken
		d.seen.add(seenResult, id)
		d.returning = ""
		return
	}
	by := sc.speakerNamed(d.returning)
	for up := d.last; up != nil && up != sc; up = up.above {
		if up.name() == d.returning {
			by = up.speaker()
		}
	}
	claimed := by.claim(b)
	if isWithin := by.Branch != "" && b.ParentBranch == by.Branch; !claimed && !isWithin {
		return
	}
	d.seen.add(seenResult, id)
	d.returning = ""
	if claimed && to != b.Agent {
		d.addTransfer(to, id, b)
	}
}

// agentOfReturn returns the only known agent to which a tool returns control, or "". The text of the tool's result has the
// agent's exact name, but a filtered stream lacks the text.
func (d *decoder) agentOfReturn(tool string) (found string) {
	for _, sc := range d.scopes {
		switch {
		case sc.agent == "" || sc.agent == found || tool != returnTool+toolForm(sc.agent):
		case found != "":
			return ""
		default:
			found = sc.agent
		}
	}
	return found
}

// toolForm returns the form of an agent's name in the names of tools.
//
// Source: langgraph_supervisor/handoff.py, _normalize_agent_name.
func toolForm(agent string) string {
	return strings.ToLower(strings.Join(strings.Fields(agent), "_"))
}
