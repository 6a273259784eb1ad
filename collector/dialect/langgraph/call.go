package langgraph

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is a tool call without a result so far.
type call struct {
	id, tool  string
	scope     *scope
	by        speaker
	target    string // the subagent that a deep agent's call names, or ""
	abandoned bool   // an earlier attempt of the run left it open
	earlier   bool   // it began before the run
	bound     bool   // the graph that works within the call is known
	paused    bool   // it waits for an answer

	returned bool      // a node has returned its message, see announcement
	received time.Time // when it began

	failed         bool   // its tool has raised an exception; see readToolError
	failedIn, code string // the namespace of the tool's task, and the exception's class
}

// calls holds the open calls, in the order in which they started.
type calls []*call

// maxOpenCalls limits the open calls of a run.
const maxOpenCalls = 256

func (c calls) byID(id string) *call {
	if i := slices.IndexFunc(c, func(open *call) bool { return open.id == id }); i >= 0 && id != "" {
		return c[i]
	}
	return nil
}

// in returns the call of a graph with an ID, else one of another graph with the ID. Parallel graphs may have calls with the same numbered ID, so
// a call with such an ID only counts if one of the graphs is within the other.
func (c calls) in(sc *scope, id string) *call {
	if i := slices.IndexFunc(c, func(open *call) bool { return open.id == id && open.scope == sc }); i >= 0 && id != "" {
		return c[i]
	}
	if !numberedID.MatchString(id) {
		return c.byID(id)
	}
	if i := slices.IndexFunc(c, func(open *call) bool { return open.id == id && (open.scope.isIn(sc) || sc.isIn(open.scope)) }); i >= 0 {
		return c[i]
	}
	return nil
}

// only returns the call that matches, or nil unless exactly one does.
func (c calls) only(matches func(*call) bool) (found *call) {
	for _, open := range c {
		switch {
		case !matches(open):
		case found != nil:
			return nil
		default:
			found = open
		}
	}
	return found
}

func (c *calls) end(ended *call) {
	*c = slices.DeleteFunc(*c, func(open *call) bool { return open == ended })
}

// taskTool is the tool with which an agent of LangChain's deepagents library calls a subagent.
// refusals are prefixes of its results: they say that no subagent worked. NAME stands for the
// subagent.
//
// Source: deepagents/middleware/subagents.py of deepagents 0.7, langgraph/prebuilt/tool_node.py of
// langgraph-prebuilt 1.1.
const taskTool = "task"

var refusals = []string{
	"We cannot invoke subagent NAME because it does not exist",
	"Error: invoked agent of type NAME, the only allowed types are",
	"You are a subagent and cannot delegate to another subagent.",
	"Error invoking tool 'task' with kwargs",
	"Error: task is not a valid tool",
}

// toolOf returns the tool of a call, in LangChain's form or OpenAI's.
func toolOf(c strictjson.Value) strictjson.Value {
	if function := c.Get("function"); function.Kind() == strictjson.Object {
		return function.Get("name")
	}
	return c.First("name", "action")
}

// subagentMember is the argument of a call that names the subagent.
//
// Source: deepagents/middleware/subagents.py, TaskToolSchema.
const subagentMember = "subagent_type"

// numberedID matches IDs of calls with a small number, such as functions.search:0 or call_0. Some models' servers only count
// calls, so a later call may have the same ID. Other IDs are unique.
var numberedID = regexp.MustCompile(`(^|[^0-9A-Za-z])[0-9]{1,6}$`)

// startCall reports a call of a new message.
func (d *decoder) startCall(id, tool string, args strictjson.Value, m *message, b *event.Batch) {
	if numberedID.MatchString(id) {
		d.seen.forget(seenResult, id)
	}
	known := d.calls.in(m.scope, id)
	if isBeside := known != nil && numberedID.MatchString(id) && known.scope != m.scope; id == "" || known != nil && !isBeside || d.seen.mustSkip(seenResult, id) {
		return
	}
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name, e.TurnMayEnd = id, tool, strings.HasPrefix(tool, handoffTool)
	e.SetPayload(args)
	m.scope.answered = false
	begun := &call{id: id, tool: tool, scope: m.scope, by: m.by, returned: m.returned, received: b.Received}
	begun.by.Response = ""
	if target := d.name(args.Get(subagentMember)); tool == taskTool && target != user {
		begun.target = target
	}
	if len(d.calls) < maxOpenCalls {
		d.calls = append(d.calls, begun)
	}
}

// readResult reads a tool's result.
//
// Source: langchain_core/messages/tool.py, ToolMessage.
func (d *decoder) readResult(sc *scope, v strictjson.Value, b *event.Batch) {
	id, message := d.name(v.Get("tool_call_id")), d.name(v.Get("id"))
	ended := d.calls.in(sc, id)
	if isOpen := ended != nil && ended.scope == sc; !isOpen && d.seen.mustSkip(seenResult, id) || d.seen.contains(seenMessage, message) {
		return
	}
	if d.reported.isEarlier(message, d.run) {
		d.remember(sc, []strictjson.Value{v}, b)
		return
	}
	by := sc.speaker()
	switch {
	case ended != nil:
		by = ended.by
	case sc.above == nil: // an earlier run made the call: a message of its agent may follow and name it
		by.Agent = sc.agent
	}
	if !by.speak(b) {
		return
	}
	d.calls.end(ended)
	d.seen.add(seenResult, id)
	d.seen.add(seenMessage, message)
	d.reported.add(message, d.run)
	content := v.Get("content")
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = id, d.name(v.Get("name"))
	if e.Name == "" && ended != nil {
		e.Name = ended.tool
	}
	e.StartUnknown = ended.isReturnedWith(b)
	e.TurnMayEnd = true // a graph may end with a tool
	e.AgentNotFound = ended != nil && ended.isRefused(content)
	if v.Get("status").Is("error") || e.AgentNotFound {
		e.Error, e.Code = event.ToolError, wire.TextCode(content.Text())
		if e.Code == "" && ended != nil {
			e.Code = ended.code
		}
	}
	e.SetPayload(b.Embedded(content))
	if e.Error == event.NoFailure {
		d.transfer(d.handoffTarget(v), id, b)
	}
}

// isReturnedWith reports whether a node may have returned a call together with the result that a batch brings. Then the call began before
// its message came.
func (c *call) isReturnedWith(b *event.Batch) bool {
	return c != nil && c.returned && wire.ArriveTogether(c.received, b.Received)
}

// isRefused reports whether a result says that a call reached no subagent.
func (c *call) isRefused(content strictjson.Value) bool {
	return c.target != "" && slices.ContainsFunc(refusals, func(refusal string) bool {
		return strings.HasPrefix(content.String(), strings.Replace(refusal, "NAME", c.target, 1))
	})
}

// failCall reports a call that failed without a result.
func (d *decoder) failCall(c *call, failure event.Failure, code string, b *event.Batch) {
	if c != nil && c.by.claim(b) {
		d.endCall(c, failure, code, b)
	}
}

func (d *decoder) endCall(c *call, failure event.Failure, code string, b *event.Batch) {
	d.calls.end(c)
	d.seen.add(seenResult, c.id)
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name, e.Error, e.Code, e.TurnMayEnd = c.id, c.tool, failure, code, true
}

// forwardTool is the default name of the tool with which langgraph-supervisor returns the message of an agent as its answer.
//
// Source: langgraph_supervisor/handoff.py, create_forward_message_tool.
const forwardTool = "forward_message"

// endWithoutResult reports the end of the only open call in a graph, of the given tool or, if that is "", of any. With
// several open calls and no tool, only a call of forwardTool counts, if there is exactly one. The tool has returned a command to the graph
// above, which may contain an answer in place of a result. Callers also use it when only the graph above has received an answer in the
// agent's name: a tool's command wrote it.
func (d *decoder) endWithoutResult(sc *scope, tool string, b *event.Batch) {
	only := func(tool string) *call {
		return d.calls.only(func(c *call) bool {
			return c.scope == sc && (tool == "" || c.tool == tool) && !c.abandoned && !c.earlier
		})
	}
	c := cmp.Or(only(tool), only(cmp.Or(tool, forwardTool)))
	if c != nil && (c.by.claim(b) || c.by.Branch == b.Branch) { // the answer may name the agent first
		d.endCall(c, event.NoFailure, "", b)
	}
}

// printedID matches the ID in an interrupt that is printed as Interrupt(value='text', id='0…').
var printedID = regexp.MustCompile(`, id='([0-9a-f]{32})'`)

// pauseCall reports that a call, which may have no ID, waits for an answer. The question is printed, its value first.
func (d *decoder) pauseCall(c *call, question string, b *event.Batch) {
	if !c.by.claim(b) {
		return
	}
	if c.id != "" {
		c.pause(b)
	}
	id := c.id
	if found := printedID.FindAllStringSubmatch(question, -1); len(found) > 0 {
		id = found[len(found)-1][1]
	}
	if d.seen.add(seenInterrupt, id) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, event.InputClarification
	}
}

// failInnermostCall reports the call that the error of the run ended. A tool's exception that no node handles ends every call around
// it, but a batch has only one speaker. task is the namespace of the task that raised the error, or "" if it is unknown. If several
// calls are possible, none is reported.
func (d *decoder) failInnermostCall(task, code string, b *event.Batch) {
	if len(d.open) > 0 || code == recursionError {
		return
	}
	graph, _ := splitLast([]byte(task))
	d.failCall(d.calls.only(func(c *call) bool {
		if task != "" {
			return c.scope.namespace == string(graph)
		}
		return d.isAlone(c.scope, toolNode, c)
	}), event.ToolError, code, b)
}
