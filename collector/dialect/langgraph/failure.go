package langgraph

import (
	"cmp"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// origin says where in a run an exception was raised first.
type origin struct {
	namespace string // of the node or the task
	isOfCall  bool   // a call failed with it
}

// noteOrigin records where an exception was raised. Inner graphs report it before outer ones.
func (d *decoder) noteOrigin(namespace string, isOfCall bool, exception strictjson.Value) {
	key := exceptionKey(exception)
	if _, isKnown := d.origins[key]; isKnown || key == 0 || len(d.origins) >= maxOpen {
		return
	}
	if d.origins == nil {
		d.origins = make(map[uint64]origin)
	}
	d.origins[key] = origin{namespace, isOfCall}
}

// modelFailure matches the beginning of an answer that LangChain's middleware writes if each attempt to ask a model has failed. The text
// of the exception follows.
//
// Source: langchain/agents/middleware/model_retry.py and langchain/dist/agents/middleware/modelRetry.js, on failure "continue".
var modelFailure = regexp.MustCompile(`^Model call failed after [0-9]+ attempts? with `)

// hideFailures replaces the answers in a frame that have the text of an exception, because the policy public does not show errors.
func (d *decoder) hideFailures(b *event.Batch) {
	for _, m := range d.messages {
		if content := m.Get("content"); !isFromModel(m) && modelFailure.Match(appendTexts(nil, content)) {
			b.Substitute(content, `""`)
		}
	}
}

// exceptionKey returns a hash of an exception's class and message. It returns 0 for a printed exception.
func exceptionKey(v strictjson.Value) uint64 {
	if v.Get("error").Kind() != strictjson.String {
		return 0
	}
	return maphash.Bytes(seed, v.Get("error").Text()) ^ 3*maphash.Bytes(seed, v.Get("message").Text())
}

// exceptionCode returns the class of an exception: of an object, or of one that is printed as ValueError('text').
//
// Source: langgraph_api/serde.py, default; langgraph/pregel/debug.py.
func exceptionCode(v strictjson.Value) string {
	if class := v.Get("error"); class.Kind() == strictjson.String {
		return wire.Code(class)
	}
	class, _, _ := strings.Cut(v.String(), "(")
	return wire.TextCode([]byte(class + ":"))
}

// readToolError reads an exception that left a tool. If middleware runs the tool again, the call may still succeed. So the failure is
// reported when nothing more can run the tool: at the end of its node, when a tool around it fails, or with the error of the run.
//
// Source: langchain/agents/middleware/tool_retry.py.
func (d *decoder) readToolError(at *scope, v strictjson.Value, b *event.Batch) {
	data, namespace := v.Get("data"), dialect.Name(string(d.placeIn(v.Get("metadata"))))
	exception, id, tool := data.Get("error"), d.name(data.Get("tool_call_id")), d.name(v.Get("name"))
	c := d.calls.in(at, id)
	if c == nil {
		c = d.calls.only(func(c *call) bool { return c.scope == at && c.tool == tool })
	}
	switch {
	case isInterrupt(exception):
		if c == nil { // a run that resumes waits again, and the stream does not show the call's beginning
			c = &call{by: at.speaker()}
		}
		d.pauseCall(c, cmp.Or(exception.Get("message").String(), exception.String()), b)
	case c != nil:
		c.failed, c.failedIn, c.code = true, namespace, exceptionCode(exception)
		d.noteOrigin(namespace, true, exception)
	}
	if namespace != "" {
		d.failCallsIn(b, func(c *call) bool { return strings.HasPrefix(c.failedIn, namespace+"|") })
		endNoTurn(b)
	}
}

// failCallsIn reports the matching calls whose tools have failed, and reports whether there are any.
func (d *decoder) failCallsIn(b *event.Batch, matches func(*call) bool) (found bool) {
	for _, c := range slices.Clone(d.calls) {
		if c.failed && matches(c) {
			d.failCall(c, event.ToolError, c.code, b)
			found = true
		}
	}
	return found
}

// endNoTurn says that no agent's turn ends with the calls that a frame ends, because their exceptions have ended the agents' graphs.
func endNoTurn(b *event.Batch) {
	for i := range b.Events {
		b.Events[i].TurnMayEnd = false
	}
}

// endNodeCalls reports the failed calls that a node left without a result.
func (d *decoder) endNodeCalls(namespace string, b *event.Batch) {
	if namespace != "" {
		d.failCallsIn(b, func(c *call) bool {
			return c.failedIn == namespace || strings.HasPrefix(c.failedIn, namespace+"|")
		})
	}
}

// failOpen reports the calls that the error of the run ended. If a response is open, it also reports
// whether something else may have raised the exception, and whether that is, or may be, beside the agent that spoke last.
func (d *decoder) failOpen(exception strictjson.Value, code string, b *event.Batch) (elsewhere, beside bool) {
	defer endNoTurn(b)
	hasFailed := d.failCallsIn(b, func(*call) bool { return true })
	from, isKnown := d.origins[exceptionKey(exception)]
	switch showsTools := d.running != nil || len(d.taskCall) > 0; { // events and tasks show each exception of a tool
	case hasFailed, from.isOfCall:
	case isKnown && isToolTask(from.namespace), !isKnown && !showsTools:
		d.failInnermostCall(from.namespace, code, b)
	}
	if isKnown {
		outer, _ := splitLast([]byte(from.namespace))
		if failed := d.scopes[string(outer)]; failed != nil && failed.hasFailed {
			return true, false
		}
		return len(d.open) > 0 && !d.hasOpenIn(from.namespace), d.isBesideSpeaker(from.namespace)
	}
	for _, m := range d.open {
		elsewhere = elsewhere || !d.isAlone(m.scope, m.task, nil)
	}
	elsewhere = elsewhere || len(d.open) == 0 && !hasFailed && d.isSpeakerInDoubt()
	for namespace := range d.running {
		beside = beside || !hasFailed && d.isBesideSpeaker(namespace)
	}
	return elsewhere, beside
}

// isBesideSpeaker reports whether a task is neither around nor within the graph that spoke last.
func (d *decoder) isBesideSpeaker(task string) bool {
	return d.last != nil && !isWithinGraph(task, d.last.namespace) && !isWithinGraph(d.last.namespace, task)
}

// isSpeakerInDoubt reports whether the error of the run may not be that of the agent that spoke last.
func (d *decoder) isSpeakerInDoubt() bool {
	at := d.last
	return at != nil && at.above != nil && slices.ContainsFunc(d.calls, func(c *call) bool {
		return !c.earlier && !c.abandoned && !at.isWithin(c) && !c.scope.isIn(at)
	})
}

// isIn reports whether a graph is another one or works within it.
func (sc *scope) isIn(other *scope) bool {
	for up := sc; up != nil; up = up.above {
		if up == other {
			return true
		}
	}
	return false
}

// isAlone reports whether only the given task of a graph can have raised the error of the run. LangChain's agents run one node at a
// time. Of other graphs, only events show which nodes run, and only for the run's own graph. An open call may have raised the error
// too, unless it is executed or the task works within it.
func (d *decoder) isAlone(sc *scope, task string, executed *call) bool {
	for _, c := range d.calls {
		if c != executed && !c.earlier && !c.abandoned && !sc.isWithin(c) {
			return false
		}
	}
	for ; sc.above != nil; sc, task = sc.above, sc.branch {
		if !isAgentNode(task) {
			return false
		}
	}
	return len(d.running) == 1 || len(d.running) == 0 && isAgentNode(task)
}

// isWithin reports whether a graph works within a call.
func (sc *scope) isWithin(c *call) bool {
	for up := sc; up != nil; up = up.above {
		if up.call == c.id {
			return true
		}
	}
	return false
}

func isToolTask(namespace string) bool {
	_, last := splitLast([]byte(namespace))
	return strings.HasPrefix(string(last), toolNode+":")
}

// hasOpenIn reports whether an open response is, or may be, of a task or of what works within it.
func (d *decoder) hasOpenIn(namespace string) bool {
	for _, m := range d.open {
		if m.task == "" || strings.HasPrefix(joinNamespace(m.scope, m.task)+"|", namespace+"|") {
			return true
		}
	}
	return false
}

// joinNamespace returns the namespace of a task in a graph.
func joinNamespace(sc *scope, task string) string {
	return strings.TrimPrefix(sc.namespace+"|"+task, "|")
}

// fail ends a subgraph because one of its tasks has raised an exception. Its caller may catch the exception, so the run may go on.
//
// Source: langgraph/pregel/_runner.py, PregelRunner.tick.
func (sc *scope) fail(code string, b *event.Batch) {
	if sc.above == nil || !sc.spoke && sc.agent == "" || sc.ended || !sc.speaker().claim(b) {
		return
	}
	sc.ended, sc.hasFailed = true, true
	e := b.Add(event.KindAgentEnded)
	e.Error, e.Code = event.AgentError, code
}

// isCutShort reports whether an agent in a node or a task of the run's own graph has failed, or has not answered although its model was
// asked. If the task is "", it is an agent in any node, or in a graph that has shown only its first state.
func (d *decoder) isCutShort(task string, agent strictjson.Value) bool {
	node, id, _ := strings.Cut(task, ":")
	for _, sc := range d.scopes {
		isIn := sc.above != nil && sc.above.above == nil && (task == "" || sc.node == node) && (id == "" || sc.task == id)
		if isIn && (sc.hasFailed || sc.asked) && agent.Is(sc.agent) {
			return true
		}
	}
	return task == "" && d.hasSilent
}

// failIn ends the agent that has not given its final answer in a task that has failed. If there are several, it is unknown which of them
// has raised the exception, and which was cut short.
func (d *decoder) failIn(above *scope, node, task, code string, b *event.Batch) {
	var failed *scope
	for _, sc := range d.scopes {
		if sc.above != above || sc.node != node || sc.task != task || sc.ended || sc.answered || !sc.spoke {
			continue
		}
		if failed != nil {
			return
		}
		failed = sc
	}
	if failed != nil {
		failed.fail(code, b)
	}
}

// startAgain reports that a subgraph that has failed runs again, because its node is retried.
func (sc *scope) startAgain(b *event.Batch) {
	if sc.hasFailed && sc.speaker().claim(b) {
		sc.ended, sc.hasFailed = false, false
		b.Add(event.KindAgentStarted)
	}
}
