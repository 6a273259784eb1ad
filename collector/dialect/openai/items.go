package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is a call without a result so far.
type call struct {
	id, tool string
	asked    bool   // a person was asked to allow it
	agent    string // that made it, or ""
	unnamed  bool   // its start was reported without an agent
	response int    // see response.number
	shown    bool   // an item shows it, so another one shows its end
	earlier  bool   // a later response of the agent has begun, so it has ended
	hosted   bool   // the server executes it
}

// maxCalls limits the open calls. Results of further calls are reported without their names.
const maxCalls = 128

type calls []call

func (c *calls) begin(begun call) {
	if len(*c) < maxCalls && begun.id != "" && c.indexOf(begun.id) < 0 {
		*c = append(*c, begun)
	}
}

// followCalls finds the starts of responses that are unknown: the model was asked after a call without a visible result.
func (d *decoder) followCalls(b *event.Batch) {
	if !d.singleRun || d.sdk.on {
		return
	}
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case event.KindToolStarted:
			d.unanswered.Add(e.CallID)
		case event.KindToolEnded:
			d.unanswered.Remove(e.CallID)
		case event.KindModelStarted:
			e.Uncertain = d.unanswered.Len() > 0
			d.unanswered = wire.Set[string]{}
		}
	}
}

func (c *calls) indexOf(id string) int {
	return slices.IndexFunc(*c, func(open call) bool { return open.id == id })
}

// find returns the index of the call with an id or, without an id, of the oldest call that matches, or -1.
func (c *calls) find(id string, matches func(call) bool) int {
	if id == "" {
		return slices.IndexFunc(*c, matches)
	}
	return c.indexOf(id)
}

// end removes and returns the call that find finds. It returns the zero call if there is none.
func (c *calls) end(id string, matches func(call) bool) (ended call) {
	if i := c.find(id, matches); i >= 0 {
		ended = (*c)[i]
		*c = slices.Delete(*c, i, i+1)
	}
	return ended
}

// serverTools are the tools that the server executes while it responds, by the type of their items.
//
// Source: openai/types/responses/response_output_item.py of openai 3.54.
var serverTools = map[string]string{
	"web_search_call": "web_search", "file_search_call": "file_search", "code_interpreter_call": "code_interpreter",
	"image_generation_call": "image_generation", "mcp_call": "mcp",
}

// clientTools maps the types of calls to their tools. An item with the result follows, unless the client
// executes the call. "" means that the item names the tool.
var clientTools = map[string]string{
	"function_call": "", "custom_tool_call": "", "computer_call": "computer", "local_shell_call": "local_shell",
	"shell_call": "shell", "apply_patch_call": "apply_patch", "tool_search_call": "tool_search", "program": "program",
	agentCall: "",
}

// agentCall is the type of a call by which agents of a response work together. It has its tool in `action`.
const agentCall = "multi_agent_call"

// isClientCall reports whether an item is a call that the client or the Agents SDK may have to execute.
func isClientCall(item strictjson.Value) bool {
	kind := item.Get("type").String()
	_, is := clientTools[kind]
	return is && kind != agentCall && !item.Get("execution").Is("server")
}

// otherItems are the known types of items from which nothing is reported.
var otherItems = []string{
	"additional_tools", agentMessage, "compaction", "mcp_list_tools", approvalResponse,
}

// itemAdded reads the start of an item. A tool of the server starts with it. The arguments of other calls
// follow later.
func (d *decoder) itemAdded(v strictjson.Value, b *event.Batch) {
	item := v.Get("item")
	d.setItemType(item, b)
	if kind, tool := d.serverCall(item); kind != "" {
		d.serverToolStarted(tool, item, b)
	} else if _, client := clientTools[item.Get("type").String()]; client {
		d.sdk.added = call{tool: d.name(item.Get("name")), agent: b.Agent}
	}
}

// itemDone reports a whole item.
func (d *decoder) itemDone(v strictjson.Value, b *event.Batch) {
	item := v.Get("item")
	d.setItemType(item, b)
	known := d.response.item(d.at)
	known.text = known.text || d.itemKind(item, d.at) != event.KindText
	d.reportItem(item, known, b)
	d.response.hasItems, known.whole = true, true
	if d.isSubagent() && item.Get("type").Is("message") && item.Get("phase").Is("final_answer") {
		b.Add(event.KindFinal) // the end of the response is the root's
	}
	d.markDone()
}

// setItemType sets the batch's type for an item that is no answer, and reports an unknown type of item.
func (d *decoder) setItemType(item strictjson.Value, b *event.Batch) {
	kind := item.Get("type").String()
	switch {
	case isHiddenItem(item):
		b.Internal = true
	case d.itemKind(item, d.at) == event.KindThought:
		b.Type = withThoughts(b.Type)
	case marksOf(item).kind != event.KindText:
		b.Type = typeForeign
	case !isKnownItem(kind):
		b.UnknownKind = dialect.UnknownKind([]byte("item." + kind))
	}
}

func isKnownItem(kind string) bool {
	_, client := clientTools[kind]
	return client || serverTools[kind] != "" || isOutput(kind) || slices.Contains(otherItems, kind) ||
		kind == "message" || kind == "reasoning" || kind == approvalRequest
}

func isOutput(kind string) bool {
	return strings.HasSuffix(kind, "_call_output") || kind == "tool_search_output" || kind == "program_output"
}

// isResult reports whether an item has the result of a call, as the API or the Agents SDK for JavaScript names it.
func isResult(item strictjson.Value) bool {
	kind := item.Get("type").String()
	return isOutput(kind) || strings.HasSuffix(kind, "_call_result")
}

// itemState says which texts of an item were reported. Later events repeat them.
type itemState struct {
	texts    int      // whole texts that the ends of their parts will repeat
	text     bool     // a whole text was reported
	thoughts bool     // a whole thought was reported
	whole    bool     // the whole item was shown
	agents   []string // that the item names
}

// item returns the state of the item that an event is part of. If there are maxItems others, it forgets
// them.
func (r *response) item(at place) *itemState {
	key := at.name()
	if !r.shared && len(at.keys) > 0 && isNumber(at.keys[0]) { // of a shared response, several have the same number
		key = at.keys[0]
	}
	if r.states == nil {
		r.states = make(map[string]*itemState)
	}
	if r.states[key] == nil {
		if len(r.states) >= maxItems {
			clear(r.states)
		}
		r.states[key] = new(itemState)
	}
	return r.states[key]
}

// maxItems limits the items that are remembered of a response.
const maxItems = 256

func (d *decoder) reportItem(item strictjson.Value, known *itemState, b *event.Batch) {
	kind := item.Get("type").String()
	own, client := clientTools[kind]
	switch {
	case kind == "message":
		d.reportMessage(item, known, b)
	case kind == "reasoning":
		d.reportReasoning(item, known, b)
	case serverTools[kind] != "":
		d.serverToolEnded(item, b)
	case client:
		d.callDone(own, item, b)
	case isOutput(kind):
		d.callEnded(item, item.First("output", "result", "tools"), b)
	case kind == approvalRequest:
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.name(item.Get("id")), event.InputConfirmation
	}
}

// reportMessage reports the text of a message unless it was reported.
func (d *decoder) reportMessage(item strictjson.Value, known *itemState, b *event.Batch) {
	if known.text {
		return
	}
	for part := range item.Get("content").Elements() {
		reportPart(part, b)
	}
}

// reportReasoning reports the thoughts of an item, a summary and the reasoning itself, unless they were
// reported.
//
// Source: openai/types/responses/response_reasoning_item.py of openai 3.54.
func (d *decoder) reportReasoning(item strictjson.Value, known *itemState, b *event.Batch) {
	if known.thoughts {
		return
	}
	for _, list := range []strictjson.Value{item.Get("summary"), item.Get("content")} {
		for part := range list.Elements() {
			b.AddText(event.KindThought, part.Get("text"))
		}
	}
}

// callID returns the ID of a call, as the API or the Agents SDK for JavaScript names it.
func callID(item strictjson.Value) strictjson.Value { return item.First("call_id", "callId") }

// approvalOf returns the ID of the approval request that an item answers. The Agents SDK for JavaScript has it in `providerData`.
func approvalOf(item strictjson.Value) strictjson.Value {
	return cmp.Or(item.Get("approval_request_id"), item.Get("providerData").Get("approval_request_id"))
}

func (d *decoder) itemID(item strictjson.Value) string {
	if id := d.name(item.Get("id")); !isFake(id) {
		return id
	}
	return ""
}

// serverCall returns the type and the tool of a call that the server executes, or "" for another item. The Agents SDK for JavaScript
// has the type in `name`, and the item of the response in `providerData`.
//
// Source: packages/agents-core/src/types/protocol.ts, HostedToolCallItem, of @openai/agents 0.17.
func (d *decoder) serverCall(item strictjson.Value) (kind, tool string) {
	kind, name := item.Get("type").String(), item.Get("name")
	if kind == hostedCall {
		kind, name = name.String(), item.Get("providerData").Get("name")
	}
	if serverTools[kind] == "" {
		return "", ""
	}
	return kind, cmp.Or(d.name(name), serverTools[kind])
}

const hostedCall = "hosted_tool_call"

func (d *decoder) serverToolStarted(tool string, item strictjson.Value, b *event.Batch) {
	started := call{id: d.itemID(item), tool: tool}
	d.questionAnswered(item, b) // the approval precedes the call
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = started.id, started.tool
	if len(d.serverCalls) < maxCalls {
		d.serverCalls = append(d.serverCalls, started)
	}
}

// questionAnswered reports the answer to the approval request that an item names, if any.
func (d *decoder) questionAnswered(item strictjson.Value, b *event.Batch) {
	if id := d.name(item.Get("approval_request_id")); id != "" {
		b.Add(event.KindInputAnswered).CallID = id
	}
}

// serverToolEnded ends a call that the server has executed.
func (d *decoder) serverToolEnded(item strictjson.Value, b *event.Batch) {
	_, tool := d.serverCall(item)
	id, isOfTool := d.itemID(item), func(open call) bool { return open.tool == tool }
	if d.serverCalls.find(id, isOfTool) < 0 {
		d.serverToolStarted(tool, item, b)
	}
	if goesOn(item) {
		return
	}
	ended := d.serverCalls.end(id, isOfTool)
	if isCut(item) {
		return
	}
	failure, code := outcomeOf(item, item.Get("output"), ended.tool)
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name, e.TurnMayEnd = id, ended.tool, true
	e.Error, e.Code = failure, code
	e.SetPayload(item.First("output", "outputs", "results"))
}

// callDone reports a whole call, which the client or the Agents SDK executes next.
func (d *decoder) callDone(tool string, item strictjson.Value, b *event.Batch) {
	tool = cmp.Or(tool, d.name(item.First("name", "action")))
	d.response.hasCalls = d.response.hasCalls || isClientCall(item)
	d.beginCall(call{id: d.name(cmp.Or(callID(item), item.Get("id"))), tool: tool, hosted: !isClientCall(item)}, item.First("arguments", "input", "action", "operation", "code"), b)
}

func (d *decoder) beginCall(begun call, args strictjson.Value, b *event.Batch) {
	d.sdk.added = call{}
	if begun.id != "" && d.calls.indexOf(begun.id) >= 0 {
		return // repeated
	}
	begun.agent, begun.unnamed, begun.response = b.Agent, b.Agent == "", d.response.number
	d.sdk.agents.activate(b.Agent)
	d.calls.begin(begun)
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = begun.id, begun.tool
	if args = b.Embedded(args); args.Exists() {
		e.SetPayload(args)
	}
}

// callEnded reports the result of a call. item is the item with the result. output is the result as the API or the Agents SDK names it.
func (d *decoder) callEnded(item, output strictjson.Value, b *event.Batch) {
	if goesOn(item) {
		return
	}
	id := d.name(callID(item))
	own := toolOfOutput(item)
	ended := d.calls.end(id, func(open call) bool { return !d.sdk.isHandoff(open) && (own == "" || own == open.tool) })
	tool := cmp.Or(ended.tool, d.name(item.First("name", "action")), own)
	if isCut(item) {
		return
	}
	failure, code := outcomeOf(item, output, tool)
	if ended.asked {
		b.Add(event.KindInputAnswered).CallID = ended.id
	}
	if ended == (call{}) && isRejection(output) {
		return // it is of an earlier stream, and did not run in this one
	}
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = cmp.Or(id, ended.id), tool
	e.Error, e.Code = failure, code
	e.SetPayload(output)
}

// goesOn reports whether another item will have the result of a call.
func goesOn(item strictjson.Value) bool { return item.Get("status").Is("in_progress") }

// isCut reports whether an item with the result of a call is not whole, and no other one will be.
func isCut(item strictjson.Value) bool { return item.Get("status").Is("incomplete") }
