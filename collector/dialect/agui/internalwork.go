package agui

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isInternalWork reports whether a frame begins something in the work of an agent or a step that is internal. The frame itself need not
// say so.
func (d *decoder) isInternalWork(k *kind, this key, v strictjson.Value) bool {
	begins, owner := k.begins || k.chunk && !d.isKnown(this), d.owner(v)
	switch {
	case k.entity == entityStep: // other steps may run beside an internal one
		return begins && d.isInternalStep(v)
	case k.entity == entitySubagent:
		owner = d.name(v.Get("parentSubagentRunId"))
	case k.state, k.entity == entityActivity, k.name == typeCustom:
		isElsewhere := v.Get("name").Is(onInterrupt) && d.isAskedElsewhere(v) || d.isOfOpenNode(v)
		return d.isInternalEvent || d.isInOpenWork(v) && !isElsewhere
	case !k.isWork(), d.isOfSecondStart(k, v):
		return false
	case d.isInternalEvent && !d.isKnown(this), begins && k.name != typeTextStart && d.mayBeDelegated(v):
		return true
	}
	return begins && d.worksInternally(owner)
}

// isInternalPiece reports whether a frame is of an internal agent or step, but a piece of something that began outside. Such a piece is
// withheld alone; ends always leave, because the protocol requires them.
func (d *decoder) isInternalPiece(k *kind, v strictjson.Value) bool {
	owner := d.owner(v)
	switch {
	case !k.isWork(), k.isEnd(), d.filtered:
		return false
	case k.name != typeToolResult && d.hasTransferred(owner), d.isDelegatedPiece(k, v):
		return true
	}
	_, isInStep := d.steps.areInternal(owner)
	return isInStep || d.isInternalEvent
}

// isDelegatedPiece reports whether a frame has words that may be of an internal agent to which an open call delegates, in a message or
// thought that need not be. Adapters may go on in one that the agent began that delegates. Arguments are of the agent that began the call.
func (d *decoder) isDelegatedPiece(k *kind, v strictjson.Value) bool {
	switch k.name {
	case typeTextContent, typeTextChunk:
		m := d.messageOf(v)
		return (m == nil && k.chunk || m != nil && !m.isNamed) && d.mayBeDelegated(v)
	case typeReasoningMessageContent, typeReasoningMessageChunk, typeThinkingTextContent:
		return d.mayBeDelegated(v)
	}
	return false
}

// workMembers name an agent, a node, and the nodes around a node in the metadata of LangChain's events.
var workMembers = []string{"lc_agent_name", "langgraph_node", "langgraph_checkpoint_ns"}

// isOfInternalWork reports whether an event of LangChain is of an internal agent or node: it names one, or is of a graph within, or of the
// only agent with its name to which an open call delegates, and that call was withheld.
func (d *decoder) isOfInternalWork(event strictjson.Value) bool {
	metadata := event.Get("metadata")
	for _, member := range workMembers {
		for name := range bytes.SplitSeq(metadata.Get(member).Text(), []byte("|")) {
			if lenient.IsInternal(name) {
				return true
			}
		}
	}
	if at, known := d.calls.delegateNamed(d.name(metadata.Get("lc_agent_name"))); known && d.starts.withheld.Contains(key{entity: entityCall, id: at.within}) {
		return true
	}
	namespace := metadata.Get("langgraph_checkpoint_ns").String()
	return d.isInternalGraph(namespace[:max(0, strings.LastIndexByte(namespace, '|'))])
}

// noteInternalWork notes that a withheld frame begins a message, a thought or a subagent. A withheld call may be of an ordinary agent, and
// a step counts while it is open and at its end.
func (d *decoder) noteInternalWork(k *kind) {
	if (k.begins || k.chunk) && k.entity != entityCall && k.entity != entityStep {
		d.steps.workedInternally = true
	}
}

// readWork notes whether LangChain's event in a frame is of an internal agent or node. It then remembers the message of a model that the
// event has: a piece of it may come in a message with another ID, and a snapshot has it without a name.
func (d *decoder) readWork(v strictjson.Value) {
	event := v.First("rawEvent", "event")
	d.isInternalEvent = d.isOfInternalWork(event)
	if metadata := event.Get("metadata"); lenient.HasMember(metadata, workMembers) {
		d.steps.workedInternally = d.isInternalEvent
	}
	d.readQuestions(event)
	d.readToolEnd(event)
	data := event.Get("data")
	for _, call := range d.callsIn(data.Get("output")) {
		d.learnTarget(call)
	}
	for _, message := range [...]strictjson.Value{data.Get("chunk"), data.Get("output")} {
		if id := d.name(message.Get("id")); id != "" && !d.knownToClient.Contains(id) && d.isInternalEvent {
			d.withheld.add(messageKey(id))
			d.withholdCallsIn(message)
		}
	}
}

// isInternalStep reports whether a step starts that stands for an internal node of Strands. A step with an internal name of its own is
// withheld anyway, because the table's Labels have the name.
func (d *decoder) isInternalStep(start strictjson.Value) bool {
	_, node, isNode := nodeOf(d.name(start.Get("stepName")))
	return isNode && lenient.IsInternal([]byte(node))
}

// worksInternally reports whether a step of an owner is open that is internal, or an internal agent has taken over.
func (d *decoder) worksInternally(owner string) bool {
	return d.isInStep(owner) || d.hasTransferred(owner)
}

// isInStep reports whether a step of an owner is open that is internal, or may be.
func (d *decoder) isInStep(owner string) bool {
	isOpen, _ := d.steps.areInternal(owner)
	return isOpen || d.steps.missedInternal
}

// hasTransferred reports whether an owner is the run itself, and an internal agent has taken over, or may have. The name in the
// configuration is not the stream's.
func (d *decoder) hasTransferred(owner string) bool {
	return owner == "" && (d.ownName != d.configured && lenient.IsInternal([]byte(d.ownName)) || d.missedTransfer || d.mayHaveTransferred())
}

// isInternalWorkOpen reports whether an internal agent or step, or a call that was withheld, may go on.
func (d *decoder) isInternalWorkOpen() bool {
	isStep := slices.ContainsFunc(d.steps.open, func(open step) bool { return open.isInternal })
	return isStep || d.worksInternally("") || d.mayQuoteOpen()
}

// mayHaveTransferred reports whether an unreadable frame may have been the result of a transfer to an internal agent. Until the result,
// the agent that transfers speaks.
//
// Source: _postprocess_handle_function_calls_async in flows/llm_flows/base_llm_flow.py of google-adk, which runs the other agent after it sent the response.
func (d *decoder) mayHaveTransferred() bool {
	return slices.ContainsFunc(d.calls, func(open call) bool {
		return open.mayBeOver && open.tool == wire.TransferTool && lenient.IsInternal([]byte(open.target))
	})
}

// hideInternalDelegate hides the answer of the agent that a call names, if it is internal.
func (d *decoder) hideInternalDelegate(c *call) {
	if c.delegatesInternally() || isInternalTool(c.tool) {
		d.hideAnswer(c.id)
	}
}

// hideNamedDelegates is hideInternalDelegate for the calls in a frame of messages, of a state or of an application, at any depth. Frameworks
// keep a call in different shapes.
func (d *decoder) hideNamedDelegates(v strictjson.Value) {
	anyObject(v, func(one strictjson.Value) bool {
		d.learnTarget(one)
		if id, isInternal := d.listedDelegate(one); isInternal {
			d.hideAnswer(id)
		} else if isInternalTool(d.listedTool(one)) {
			d.hideAnswer(d.memberOf(one, ownIDs))
		}
		return false
	})
}

// listedDelegate returns the ID of a call in a list, and whether it makes an internal agent work.
func (d *decoder) listedDelegate(one strictjson.Value) (id string, isInternal bool) {
	tool := d.listedTool(one)
	if delegates[tool].argument == "" {
		return "", false
	}
	for _, args := range argTexts(one) {
		c := call{tool: tool}
		if c.setTarget(parseArgs(args)); !c.hasArgs {
			c.mayBeInternal = mayEncodeInternal(args)
		}
		isInternal = isInternal || c.delegatesInternally()
	}
	return d.memberOf(one, ownIDs), isInternal
}

// listedTool returns the function of a call in a list.
func (d *decoder) listedTool(one strictjson.Value) string {
	return cmp.Or(d.name(one.Get("function").Get("name")), d.name(one.Get("name")))
}
