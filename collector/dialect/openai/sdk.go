package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// sdk is the state of a run of the Agents SDK. The run has no id, and each of its turns has a response. The
// application chooses whether its events contain objects or only names.
//
// Source: agents/stream_events.py, run_internal/streaming.py and items.py of openai-agents 0.24; packages/agents-core/src/events.ts and
// items.ts of @openai/agents 0.17.
type sdk struct {
	on          bool // the run is one of the SDK
	wrapped     bool // the application sends events of the SDK, not only those of responses; only they name agents
	agents      agents
	handoff     string           // the id of the call that transfers control next, or ""
	handoffDone string           // the id of the call that transferred control
	handsOff    bool             // an item says that control is transferred
	handoffBy   string           // the agent that handoff, handoffDone and handsOff are about, or ""
	added       call             // the last one of which only the beginning was seen; it may transfer control
	responses   bool             // the application sends events of responses
	answered    bool             // a response has ended, so the items of messages repeat what responses show
	others      []otherAnswer    // the other open responses
	last        lastAnswer       // the response that ended last
	announced   string           // the agent that got control with an item; the event that it begins follows
	lastBy      string           // the agent of the last whole frame, or the one that got control with it
	left        wire.Set[string] // the keys of the items of the last response that another agent's beginning has ended
	leftBy      string           // the agent of that response
	messages    wire.Set[string] // the keys of messages that are not the first of a response of which only parts are shown
	failure     string           // the code of the last error of one of several agents
	failed      bool             // there was such an error
	nameless    namelessItems
	unknown     int // the number of such errors whose agent is not known
}

// handoffTool is the prefix of the functions that transfer control.
//
// Source: agents/handoffs/__init__.py, Handoff.default_tool_name, of openai-agents 0.24.
const handoffTool = "transfer_to_"

func (s *sdk) isHandoff(c call) bool {
	return s.handoff == c.id || s.handoff == "" && strings.HasPrefix(c.tool, handoffTool)
}

// nameOf returns the name of an agent, which is an object or only its name. It returns no name for an object that an application has
// printed as a text, because the text contains the agent's instructions.
func nameOf(v strictjson.Value) strictjson.Value {
	switch {
	case v.Kind() == strictjson.Object:
		return v.Get("name")
	case lenient.IsPrintedObject(v.Text()):
		return strictjson.Value{}
	}
	return v
}

// newAgent returns the agent that has control now, as the SDK for Python or JavaScript names it.
func newAgent(v strictjson.Value) strictjson.Value {
	return v.First("new_agent", "agent", "agent_name", "agentName")
}

// readItemsAgent returns the agent of an item, which the item or its event names.
func (d *decoder) readItemsAgent(item, v strictjson.Value) string {
	return cmp.Or(d.name(nameOf(item.First("agent", "source_agent", "sourceAgent", "agent_name", "agentName"))), d.name(nameOf(v.First("agent", "agent_name", "agentName"))))
}

// readEventAgent reads the agent that the application names in an event of the Agents SDK or in the objects in it.
func (d *decoder) readEventAgent(levels ...strictjson.Value) {
	for _, v := range levels {
		d.eventAgent = cmp.Or(d.eventAgent, d.name(nameOf(v.First("agent_name", "agentName"))))
	}
}

// user is the author of the user's messages. No agent may have this name.
const user = "user"

// agentUpdated reports the agent that has control now: the first one of a run, or the target of a handoff. An application may pass on
// several runs on one stream. So only a handoff is a transfer.
func (d *decoder) agentUpdated(v strictjson.Value, b *event.Batch) {
	d.beginSDK(b)
	next := newAgent(v)
	if next.Kind() == strictjson.Object {
		b.Type = typeAgentObject
	}
	name := d.name(nameOf(next))
	by, isHandoff := d.handedOverBy(name)
	if isHandoff || name != "" && name == d.sdk.announced {
		b.Type = typeHandedOver
	}
	from, left, again := b.Agent, false, d.sdk.agents.hasFinished(name)
	if name != d.sdk.agents.current {
		left = d.leaveImplied(b)
		from = b.Agent
	}
	defer func() { d.sdk.announced = "" }()
	switch {
	case name == "" || name == user:
		return
	case isHandoff:
		b.Agent = by
		d.transfer(name, b)
	default:
		if name != d.sdk.agents.current {
			d.forgetResponse()
		}
		if name != d.sdk.announced {
			d.sdk.agents.beginAgain(name)
		}
		d.sdk.agents.announced.Add(name)
		d.speak(name, b)
		d.sdk.agents.activate(name)
		switch {
		case left:
			b.Agent = from // whose response has ended; the other one begins with its own first event
		case again:
			b.Add(event.KindAgentStarted)
		}
	}
}

// beginSDK begins a run of the Agents SDK, unless one has begun.
func (d *decoder) beginSDK(b *event.Batch) {
	if d.ended {
		d.resetRun()
		b.Run, b.Session, b.Agent = "", "", ""
	}
	d.sdk.on, d.sdk.wrapped = true, true
	d.begin("", "", b)
	b.Agent = d.speaker()
}

// forgetResponse prepares for an answer of another model. A model of another provider sends no events of the Responses API, so only
// items show its texts and calls.
func (d *decoder) forgetResponse() {
	if !d.response.open {
		d.sdk.responses, d.sdk.answered, d.response.ended, d.response.hasItems = false, false, false, false
	}
}

// runItem reads an item that the run made from a response. If the application sends the response too, the
// item's calls and texts were reported with it.
func (d *decoder) runItem(v strictjson.Value, b *event.Batch) {
	d.beginSDK(b)
	d.response.besides = d.response.open
	item := v.Get("item")
	raw := item
	if said := item.First("raw_item", "rawItem"); said.Kind() > strictjson.Null {
		raw = said // without it, the application may have sent only the item's type, a string
	}
	id := d.name(callID(raw))
	at := place{source: ofItem}
	if id != "" {
		at.source = ofCall
	}
	at.addItem(raw)
	d.itemAuthor(d.readItemsAgent(item, v), id, at, b)
	m := marksOf(v, item)
	m.add(itemMarks(raw))
	isLost := isResult(raw) && d.isLost(at) // only an item with a result continues another one
	if d.begunResponses == 0 && !isResult(raw) && !v.Get("name").Is(toolApproval) {
		d.addSeen(at) // no response has shown it
	}
	isHidden := m.instructs || raw.Kind() != strictjson.String && isHiddenItem(raw)
	repeatsWithheld := d.isWithheld(at) || len(at.keys) == 0 && (d.response.internal || d.repeatsNameless(v, item, raw, b.Agent))
	if b.Internal = isHidden || isLost || wire.IsFiltered(b, prefilter) || repeatsWithheld; b.Internal {
		d.withholdItem(at, callID(raw))
	} else {
		d.addSeen(at)
	}
	if raw.Get("type").Is("message") {
		d.forgetCalls(at)
	}
	if raw != item || len(at.keys) > 0 || m.thinks || m.hasRole || !strings.HasSuffix(item.Get("type").String(), "_item") {
		d.markItem(at, m) // the filter lets out only the SDK's own object, which does not mark any text
	}
	kind := d.itemKind(raw, at)
	if b.HasThoughts = m.shows; kind == event.KindThought || m.thinks {
		b.Type = withThoughts(typeRunItem)
	}
	switch name := v.Get("name"); {
	case name.Is("tool_called"):
		d.runCall(id, raw, b)
	case name.Is("tool_output"):
		d.runOutput(id, cmp.Or(item.Get("output"), raw.Get("output")), raw, b)
	case name.Is(toolApproval), name.Is("mcp_approval_requested"):
		if id != "" || !d.response.showedItems() {
			d.approvalRequested(cmp.Or(id, d.itemID(raw)), b)
		}
	case name.Is(approvalResponse):
		d.questionAnswered(raw, b)
	case name.Is("handoff_requested"):
		d.sdk.handoff, d.sdk.handsOff, d.sdk.handoffBy = id, true, b.Agent
		d.runCall(id, raw, b)
	case name.Is("handoff_occured"), name.Is("handoff_occurred"): //nolint:misspell // as the SDK spells it
		d.handoffOccurred(id, d.name(nameOf(item.First("target_agent", "targetAgent"))), raw, b)
	case name.Is("message_output_created"):
		if of := item.Get("type"); !d.sdk.answered && !d.isDone(at) && (of.Is("message_output_item") || of.Is("message")) {
			d.reportMessage(raw, &itemState{text: kind != event.KindText || m.thinks}, b)
			if d.sdk.messages.Contains(at.name()) {
				b.NameTexts(at.name())
			}
		}
		if kind == event.KindText && !m.thinks {
			b.Type = withAnswer(typeRunItem)
		}
		d.endImplied(b, true)
	}
}

// toolApproval is the name of an item of the SDK for JavaScript that is about a call that another item has shown.
const toolApproval = "tool_approval_requested"

// runOutput reports the result of a call.
func (d *decoder) runOutput(id string, output, raw strictjson.Value, b *event.Batch) {
	if d.endImplied(b, false) {
		d.sdk.agents.activate(b.Agent) // it goes on
	}
	if id != "" || len(d.calls) > 0 {
		d.callEnded(raw, output, b)
	}
	d.sdk.agents.callEnded(id)
	hasFailed := slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Error != event.NoFailure })
	switch {
	case b.Type != typeRunItem:
	case isRejection(output):
		b.Type = typeRefusedItem
	case hasFailed:
		b.Type = typeFailedItem
	}
}

// runCall reports a call that the run or the server executes, unless a response has shown it.
func (d *decoder) runCall(id string, raw strictjson.Value, b *event.Batch) {
	if kind, _ := d.serverCall(raw); kind != "" && !d.sdk.answered && !d.response.hasItems {
		d.serverToolEnded(raw, b)
		return
	}
	i := d.calls.indexOf(id)
	if tool, client := clientTools[raw.Get("type").String()]; i < 0 && client && id != "" && !d.response.showedItems() {
		d.callDone(tool, raw, b)
		i = d.calls.indexOf(id)
	}
	if i >= 0 {
		d.calls[i].shown = true
	}
}

// approvalRequested reports that a person must allow a call. The call's result is the answer.
func (d *decoder) approvalRequested(id string, b *event.Batch) {
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = id, event.InputConfirmation
	if i := d.calls.indexOf(id); i >= 0 {
		d.calls[i].asked = true
		b.Add(event.KindToolPaused).CallID = id
	}
}

// handoffOccurred ends the call that transfers control. An event with the new agent follows.
func (d *decoder) handoffOccurred(id, target string, raw strictjson.Value, b *event.Batch) {
	d.sdk.handoffBy = b.Agent
	d.endImplied(b, false)
	if ended := d.calls.end(id, d.sdk.isHandoff); ended != (call{}) || id != "" {
		id = cmp.Or(id, ended.id)
		e := b.Add(event.KindToolEnded)
		e.CallID, e.Name, e.TurnMayEnd = id, cmp.Or(ended.tool, d.name(raw.Get("name"))), true
		d.sdk.handoffDone = id
	}
	d.sdk.handsOff = true
	if target != "" && target != user {
		d.transfer(target, b)
		d.sdk.announced = target
	}
}
