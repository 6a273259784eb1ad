package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is one of a tool that has no result yet.
type call struct {
	id, tool string
	by       agent
	to       agent  // which works within the call; its name is empty if there is none
	args     []byte // of a delegation, as far as they have come
}

// delegate is a function by which an agent has another one work within the call.
type delegate struct {
	argument string   // names the other agent
	refusals []string // how results begin that say that no agent worked; NAME stands for the other agent's name
}

// delegates maps the names of functions to what is known of them: those of Agno's teams and of LangChain's deep agents.
//
// Source: agno/team/_default_tools.py of agno 2 and 3, deepagents/middleware/subagents.py of deepagents 0.7 and of 1.14 for JavaScript,
// langgraph/prebuilt/tool_node.py of langgraph-prebuilt 1.1.
var delegates = map[string]delegate{
	"delegate_task_to_member": {"member_id", []string{"Member with ID NAME not found in the team"}},
	"task": {"subagent_type", []string{
		"We cannot invoke subagent NAME because it does not exist",
		"Error: invoked agent of type NAME, the only allowed types are",
		"Error: Error: invoked agent of type NAME, the only allowed types are",
		"You are a subagent and cannot delegate to another subagent.",
		"Error invoking tool 'task' with kwargs", // the arguments do not fit
		"Error: task is not a valid tool",
	}},
}

// maxArgs bounds the arguments that are kept of a delegation, and their depth; of longer ones nobody knows whom they name.
const (
	maxArgs      = 16 << 10
	maxArgsDepth = 32
)

// add keeps a piece of the arguments of a delegation.
func (c *call) add(piece strictjson.Value) {
	if c.tool == wire.TransferTool || delegates[c.tool].argument != "" {
		c.args = append(c.args, piece.Text()[:min(len(piece.Text()), maxArgs+1-len(c.args))]...)
	}
}

// target is the agent that a delegation names, or "".
func (c *call) target() string {
	var doc strictjson.Doc
	if len(c.args) == 0 || len(c.args) > maxArgs || doc.Parse(c.args, maxArgsDepth) != nil {
		return ""
	}
	named := wire.TransferTarget(doc.Root())
	if argument := delegates[c.tool].argument; argument != "" {
		named = doc.Root().Get(argument)
	}
	if name := dialect.Name(named.String()); name != user {
		return name
	}
	return ""
}

// isRefused reports whether a result says that a delegation reached no agent.
func (c *call) isRefused(content strictjson.Value) bool {
	target := c.target()
	return target != "" && slices.ContainsFunc(delegates[c.tool].refusals, func(refusal string) bool {
		return strings.HasPrefix(content.String(), strings.Replace(refusal, "NAME", target, 1))
	})
}

// calls are those that are open, in the order in which they began.
type calls []call

func (c calls) named(id string) *call {
	if i := slices.IndexFunc(c, func(open call) bool { return open.id == id }); i >= 0 && id != "" {
		return &c[i]
	}
	return nil
}

// delegated returns the agent of a name that works within an open call, if it is the only one.
func (c calls) delegated(name string) (only agent, known bool) {
	for i := range c {
		if c[i].to.name == name {
			if known {
				return agent{}, false
			}
			only, known = c[i].to, true
		}
	}
	return only, known
}

func (c *calls) begin(begun call) {
	if len(*c) < maxOpen && begun.id != "" && c.named(begun.id) == nil {
		*c = append(*c, begun)
	}
}

// end removes a call, and returns it as it was known.
func (c *calls) end(id string) (ended call) {
	*c = slices.DeleteFunc(*c, func(open call) bool {
		if open.id == id {
			ended = open
		}
		return open.id == id
	})
	return ended
}

// toolStart begins a call, of the message that it is part of, where that says whose it is and the call does not.
func (d *decoder) toolStart(v strictjson.Value, b *event.Batch) {
	begun := call{id: d.name(v.Get("toolCallId")), tool: d.name(v.Get("toolCallName")), by: d.speaker(v)}
	if parent := d.messages.named(d.name(v.Get("parentMessageId"))); parent != nil && d.owner(v) == "" {
		begun.by = parent.by
	}
	begun.by.put(b)
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = begun.id, begun.tool
	begun.add(v.Get("delta")) // of a chunk
	d.calls.begin(begun)
}

// toolArgs takes arguments of a call.
func (d *decoder) toolArgs(v strictjson.Value, b *event.Batch) {
	if open := d.calls.named(d.name(v.Get("toolCallId"))); open != nil {
		open.by.put(b)
		open.add(v.Get("delta"))
	}
}

// toolEnd takes the word that the arguments of a call are whole. Only a result ends it. A member of a team begins its task; that it works is
// all that is stated, since its end has no word of its own but the result.
func (d *decoder) toolEnd(v strictjson.Value, b *event.Batch) {
	open := d.calls.named(d.name(v.Get("toolCallId")))
	if open == nil {
		return
	}
	open.by.put(b)
	if member := open.target(); member != "" && delegates[open.tool].argument != "" {
		open.to = agent{name: member, branch: open.id, within: open.id, parent: open.by.branch}
		open.to.put(b)
	}
}

// toolChunk begins a call, or brings more of its arguments. A chunk without an id does so for the call before it.
func (d *decoder) toolChunk(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("toolCallId"))
	if id == "" || d.calls.named(id) != nil {
		b.Type = typeToolArgs
		d.toolArgs(v, b)
		return
	}
	d.messages.close(d.owner(v), false)
	d.toolStart(v, b)
}

// toolResult ends a call, in the name of the agent that made it. That a tool failed no producer says in a way of the protocol's.
func (d *decoder) toolResult(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("toolCallId"))
	if d.answered[id] {
		return
	}
	ended := d.calls.end(id)
	if ended.by != (agent{}) {
		ended.by.put(b)
	}
	e := addResult(&ended, id, v, b)
	d.handOver(&ended, wire.SaysError(e.Payload()), b)
}

// handOver states a transfer that has not failed. From then on the agent that control went to speaks for the run.
func (d *decoder) handOver(ended *call, failed bool, b *event.Batch) {
	target := ended.target()
	if failed || target == "" || ended.tool != wire.TransferTool {
		return
	}
	e := b.Add(event.KindTransfer)
	e.Name, e.ID, e.CallID = target, ended.id, ended.id
	if ended.by.parent == "" && !d.agents.known(ended.by.branch) {
		d.self = target
	}
}

// resultIn ends a call whose result is a message of a snapshot: some integrations send it nowhere else. Only an open call ends, so that a
// result which was sent before, or which a later snapshot repeats, counts once. A frame speaks for one agent, so that it ends the calls of
// one.
func (d *decoder) resultIn(message strictjson.Value, b *event.Batch) {
	open := d.calls.named(d.name(message.Get("toolCallId")))
	if open == nil || !message.Get("role").Is("tool") {
		return
	}
	if len(b.Events) > 0 && open.by != agentOf(b) {
		return
	}
	ended := d.calls.end(open.id)
	if d.answered == nil {
		d.answered = make(map[string]bool)
	}
	if len(d.answered) < maxOpen {
		d.answered[ended.id] = true
	}
	ended.by.put(b)
	e := addResult(&ended, ended.id, message, b)
	if wire.SaysError(message) {
		e.Error, e.Code = event.ToolError, wire.ErrorCode(message.Get("error"))
	}
	d.handOver(&ended, e.Error != event.NoFailure || wire.SaysError(e.Payload()), b)
}

func addResult(ended *call, id string, v strictjson.Value, b *event.Batch) *event.Event {
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = id, ended.tool
	if e.NoAgent = ended.isRefused(v.Get("content")); e.NoAgent {
		e.Error = event.ToolError
	}
	e.SetPayload(b.Embedded(v.Get("content")))
	e.Settled = true // the wire shows no response of a model that could be owed
	return e
}
