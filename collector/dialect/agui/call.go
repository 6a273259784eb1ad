package agui

import (
	"bytes"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is a tool call that has no result yet.
type call struct {
	id, tool  string
	owner     string // the owner of its start; parallel agents may use the same ids
	caller    agent
	delegate  agent     // the agent that works within the call; the zero agent if there is none
	announced bool      // the delegate is a subagent with an id
	turn      int       // see turn
	received  time.Time // when its first event arrived
	argsEnded bool      // its arguments have ended
	workEnded bool      // the delegate has ended, and the result is still to come
	args      []byte    // arguments received so far, if they are read
	hasArgs   bool      // a transfer's or delegation's arguments are known as a whole
	isListed  bool      // a snapshot has its result, which was withheld or not reported
	unstated  bool      // no event has reported it yet, see decoder.wholeCalls
	target    string    // the agent that the arguments of a transfer or delegation name, or ""
}

// Limits of the arguments of a call. Arguments beyond them are not read.
const (
	maxArgs      = 16 << 10 // in bytes
	maxArgsDepth = 32       // in levels of nesting
)

// appendArgs keeps a piece of the arguments of a transfer or delegation, and of a call that is not reported yet.
func (c *call) appendArgs(piece []byte) {
	if len(piece) > 0 && len(c.args) <= maxArgs && (c.unstated || c.namesAgent()) {
		c.args = append(c.args, piece[:min(len(piece), maxArgs+1-len(c.args))]...)
		c.readTarget()
	}
}

// namesAgent reports whether the call is a transfer or delegation.
func (c *call) namesAgent() bool {
	return c.tool == wire.TransferTool || delegates[c.tool].argument != ""
}

// arguments returns the arguments, or a value that does not exist if they are not whole.
func (c *call) arguments() strictjson.Value {
	if len(c.args) > maxArgs {
		return strictjson.Value{}
	}
	return parseArgs(c.args)
}

// state reports that the call has started.
func (c *call) state(b *event.Batch) {
	c.unstated = false
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = c.id, c.tool
	if args := c.arguments(); args.Exists() {
		e.SetPayload(args)
	}
	if !c.namesAgent() {
		c.args = nil
	}
}

// readTarget reads from the arguments which agent a transfer or delegation names. Frames ask for it more often than the
// arguments change.
func (c *call) readTarget() {
	if !c.namesAgent() {
		return
	}
	var args strictjson.Value
	if bytes.HasSuffix(bytes.TrimSpace(c.args), []byte("}")) {
		args = c.arguments()
	}
	c.setTarget(args)
}

// setTarget sets the agent that the arguments of a transfer or delegation name. They do not exist if they are not whole.
func (c *call) setTarget(args strictjson.Value) {
	if c.hasArgs = args.Exists(); !c.hasArgs {
		return
	}
	named := wire.TransferTarget(args)
	if argument := delegates[c.tool].argument; argument != "" {
		named = args.Get(argument)
	}
	if c.target = dialect.Name(named.String()); c.target == user {
		c.target = ""
	}
}

// calls holds the open calls, in the order in which they started.
type calls []call

// find returns an owner's open call with an id. If there is none, it returns the first call with the id, because later frames of a
// call need not name its owner.
func (c calls) find(id, owner string) (found *call) {
	for i := range c {
		switch open := &c[i]; {
		case id == "" || open.id != id:
		case open.owner == owner:
			return open
		case found == nil:
			found = open
		}
	}
	return found
}

// delegateNamed returns the agent with a name that works within an open call, if there is exactly
// one.
func (c calls) delegateNamed(name string) (only agent, known bool) {
	for i := range c {
		if c[i].delegate.name == name && name != "" {
			if known {
				return agent{}, false
			}
			only, known = c[i].delegate, true
		}
	}
	return only, known
}

// begin adds a call unless it is known, or has no id. It returns the call, or nil if it was not added.
func (c *calls) begin(begun call) *call {
	if known := c.find(begun.id, begun.owner); len(*c) >= maxOpen || begun.id == "" || known != nil && known.owner == begun.owner {
		return nil
	}
	*c = append(*c, begun)
	return &(*c)[len(*c)-1]
}

// end removes a call and returns it. It returns the zero call if the call is unknown.
func (c *calls) end(id, owner string) (ended call) {
	if open := c.find(id, owner); open != nil {
		ended = *open
		*c = slices.DeleteFunc(*c, func(other call) bool { return other.id == id && other.owner == ended.owner })
	}
	return ended
}

// toolStart starts a call.
func (d *decoder) toolStart(v strictjson.Value, b *event.Batch) {
	begun := call{id: d.name(v.Get("toolCallId")), tool: d.name(v.Get("toolCallName")), owner: d.owner(v), turn: d.turnOf(d.name(v.Get("parentMessageId")))}
	begun.caller, begun.received = d.callerOf(v, begun.turn), b.Received
	begun.caller.apply(b)
	open := d.calls.begin(begun)
	delete(d.answeredBySnapshot, begun.id)
	if open == nil {
		known := d.calls.find(begun.id, begun.owner)
		if known == nil || !known.unstated {
			begun.state(b)
		}
		if known != nil && known.namesAgent() {
			known.args = nil // the arguments are repeated too
		}
		return
	}
	if open.unstated = d.wholeCalls; !open.unstated {
		open.state(b)
	}
	open.appendArgs(v.Get("delta").Text()) // only chunks have a delta here
	if open.unstated && b.Type == typeToolChunk {
		open.state(b) // nothing says where the arguments of chunks end
	}
}

// toolArgs reads a piece of a call's arguments.
func (d *decoder) toolArgs(v strictjson.Value, b *event.Batch) {
	if open := d.callOf(v); open != nil {
		open.caller.apply(b)
		d.addArgs(open, v.Get("delta"), b)
	}
}

// addArgs adds a piece to a call's arguments. If the piece completes them, the delegate starts to work. Agno sends
// TOOL_CALL_END only when the delegate has finished.
func (d *decoder) addArgs(open *call, piece strictjson.Value, b *event.Batch) {
	open.appendArgs(piece.Text())
	if len(piece.Text()) > 0 {
		b.ArgumentsOf = open.id
	}
	if bytes.HasSuffix(bytes.TrimSpace(piece.Text()), []byte("}")) {
		d.startDelegate(open, b)
	}
}

// toolEnd handles the end of a call's arguments. The call goes on until its result.
func (d *decoder) toolEnd(v strictjson.Value, b *event.Batch) {
	open := d.calls.find(d.name(v.Get("toolCallId")), d.owner(v))
	if open == nil {
		return
	}
	open.caller.apply(b)
	if open.unstated {
		open.state(b)
	}
	d.startDelegate(open, b)
	open.argsEnded, open.workEnded = true, delegates[open.tool].endsLate
}

// reportUnended reports the calls of the batch's agent whose arguments have not ended, because its work has. An agent without a
// branch may have made them under the name of a message.
func (d *decoder) reportUnended(b *event.Batch) {
	for _, open := range slices.Backward(d.calls) {
		if open.unstated && open.caller.branch == b.Branch && len(b.Events) == 0 {
			open.caller.apply(b)
			break
		}
	}
	by := agentOf(b)
	for i := range d.calls {
		if open := &d.calls[i]; open.unstated && open.caller == by {
			open.state(b)
		}
	}
}

// reportAllUnended is reportUnended for the end of the run, which ends the calls of all agents. A batch has one speaker. If calls
// of several agents are reported, it has none.
func (d *decoder) reportAllUnended(b *event.Batch) {
	d.reportUnended(b)
	for i := range d.calls {
		if open := &d.calls[i]; open.unstated && !slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.IsText() }) {
			agent{}.apply(b)
			open.state(b)
		}
	}
}

// toolChunk starts a call or continues its arguments. A chunk without an id continues the previous
// call.
func (d *decoder) toolChunk(v strictjson.Value, b *event.Batch) {
	id, owner := d.name(v.Get("toolCallId")), d.owner(v)
	if known := d.callOf(v); id == "" || known != nil && (known.owner == owner || owner == "") {
		b.Type = typeToolArgs
		d.toolArgs(v, b)
		return
	}
	d.messages.closeChunked(owner, false)
	d.toolStart(v, b)
}

// toolResult ends a call in the name of the agent that made it.
func (d *decoder) toolResult(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("toolCallId"))
	if d.answeredBySnapshot[id] {
		return
	}
	ended := d.calls.end(id, d.owner(v))
	if ended.caller != (agent{}) {
		ended.caller.apply(b)
	}
	e := addResult(&ended, id, v, b)
	d.addTransfer(&ended, e.Error != event.NoFailure, b)
}

// addTransfer reports a transfer that did not fail. If the run's own agent made it, the target becomes the run's own agent.
func (d *decoder) addTransfer(ended *call, failed bool, b *event.Batch) {
	if failed || ended.target == "" || ended.tool != wire.TransferTool {
		return
	}
	e := b.Add(event.KindTransfer)
	e.Name, e.ID, e.CallID = ended.target, ended.id, ended.id
	if !ended.caller.unknown && ended.caller.parent == "" && !d.agents.known(ended.caller.branch) {
		d.transferredBy, d.hasTransferred, d.ownName = d.ownName, true, ended.target
	}
}

// addSnapshotResult ends the call of a result in a snapshot, if the call is open. Some integrations send results nowhere
// else. A repeated result counts once. A batch has one speaker, so a snapshot ends the calls of one agent only.
func (d *decoder) addSnapshotResult(message strictjson.Value, b *event.Batch) {
	open := d.calls.find(d.name(message.Get("toolCallId")), "")
	if open == nil || !message.Get("role").Is("tool") {
		return
	}
	if len(b.Events) > 0 && open.caller != agentOf(b) {
		open.isListed = true
		return
	}
	ended := d.calls.end(open.id, open.owner)
	if d.answeredBySnapshot == nil {
		d.answeredBySnapshot = make(map[string]bool)
	}
	if len(d.answeredBySnapshot) < maxOpen {
		d.answeredBySnapshot[ended.id] = true
	}
	ended.caller.apply(b)
	e := addResult(&ended, ended.id, message, b)
	d.addTransfer(&ended, e.Error != event.NoFailure, b)
}

// addResult reports the result of a call, which is in an event or in a message of a snapshot. Only a message has a member for an error, so
// most tools report theirs in the JSON of their result.
func addResult(ended *call, id string, v strictjson.Value, b *event.Batch) *event.Event {
	if ended.unstated {
		ended.state(b)
	}
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = id, ended.tool
	e.AgentNotFound = ended.isRefused(v.Get("content"))
	e.SetPayload(b.Embedded(v.Get("content")))
	if e.AgentNotFound || wire.HasError(v) || wire.HasError(e.Payload()) {
		e.Error, e.Code = event.ToolError, wire.MostSpecific(wire.ErrorCode(v.Get("error")), wire.ResponseCode(e.Payload()))
	}
	e.TurnMayEnd = true // the protocol shows no model response to wait for
	// Mastra's adapter sends a call only when its tool has ended, with the result.
	e.StartUnknown = wire.ArriveTogether(ended.received, b.Received)
	return e
}
