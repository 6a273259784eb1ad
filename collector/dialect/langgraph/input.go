package langgraph

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxInputs limits the questions of a frame.
const maxInputs = 64

// readInterrupts reads the questions for which a run waits. executed is the call that asks, or nil if that is unknown.
//
// Source: langgraph/types.py, Interrupt.
func (d *decoder) readInterrupts(sc *scope, executed *call, list strictjson.Value, b *event.Batch) {
	hasPaused := false
	for i, v := range questionsIn(list) {
		if i >= maxInputs {
			b.InputAuthors = append(b.InputAuthors, wire.UnknownAuthor)
			break
		}
		id := d.name(v.First("id", "interrupt_id"))
		d.setInputAuthors(sc, v, id, b)
		if id != "" && !d.seen.add(seenInterrupt, id) {
			continue
		}
		if !hasPaused {
			hasPaused = true
			d.pauseCalls(sc, executed, list, b)
		}
		if !sc.speaker().speak(b) {
			continue
		}
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, event.InputClarification
		if _, isApproval := approvals(v.Get("value")); isApproval {
			e.Input = event.InputConfirmation
		}
		e.SetQuestion(questionOf(v.Get("value")))
	}
}

// setInputAuthors sets the authors of a question: the agents of the subgraphs that have asked it so far, else the agent of
// the graph that asks.
func (d *decoder) setInputAuthors(sc *scope, v strictjson.Value, id string, b *event.Batch) {
	if namespace := namespaceOf(v); len(namespace) > 0 {
		sc = d.scopeOf(namespace)
	}
	question := "input " + cmp.Or(id, strconv.FormatUint(wire.ExactHash(v.Get("value")), 36))
	if sc.above != nil {
		d.authors.Add(question, sc.author())
	}
	names := d.authors.Of(question)
	if len(names) == 0 {
		names = []string{sc.author()}
	}
	b.InputAuthors = append(b.InputAuthors, names...)
}

// questionsIn returns the questions of a list, or a single one.
func questionsIn(list strictjson.Value) []strictjson.Value {
	if list.Kind() == strictjson.Object {
		return []strictjson.Value{list}
	}
	return elementsOf(list)
}

// namespaceOf returns the namespace of the graph that asks a question, or none. Only servers before LangGraph 0.6 send it.
//
// Source: langgraph/types.py, Interrupt.ns.
func namespaceOf(question strictjson.Value) []byte {
	var segments [][]byte
	for segment := range question.Get("ns").Elements() {
		segments = append(segments, segment.Text())
	}
	return bytes.Join(segments, []byte("|"))
}

// hasQuestions reports whether a saved state has a task with a question.
func hasQuestions(checkpoint strictjson.Value) bool {
	return slices.ContainsFunc(elementsOf(checkpoint.Get("tasks")), func(task strictjson.Value) bool { return task.Get("interrupts").Len() > 0 })
}

// readBreakpoint reads an empty list of interrupts: the run waits before or after a node, without a
// question.
func (d *decoder) readBreakpoint(sc *scope, list strictjson.Value, b *event.Batch) {
	if list.Kind() == strictjson.Array && list.Len() == 0 && sc.above == nil && sc.speaker().claim(b) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.run, event.InputConfirmation
	}
}

// approval is a request for a decision about a tool call.
type approval struct{ tool, description, decisions strictjson.Value }

// approvals returns the requests for decisions about tool calls in the value of an interrupt, and reports whether the value
// has the form of such requests.
//
// Source: langchain/agents/middleware/human_in_the_loop.py, HITLRequest; langgraph/prebuilt/interrupt.py, HumanInterrupt, alone or
// in a list.
func approvals(value strictjson.Value) (all []approval, isApproval bool) {
	requests := value.Get("action_requests")
	decisions := elementsOf(value.Get("review_configs"))
	for i, request := range elementsOf(requests) {
		next := approval{tool: request.Get("name"), description: request.Get("description")}
		if i < len(decisions) {
			next.decisions = decisions[i].Get("allowed_decisions")
		}
		all = append(all, next)
	}
	for _, one := range append(elementsOf(value), value) {
		if request := one.Get("action_request"); request.Kind() == strictjson.Object {
			all = append(all, approval{tool: request.Get("action"), description: one.Get("description")})
		}
	}
	return all, len(all) > 0 || requests.Kind() == strictjson.Array
}

// pauseCalls reports the calls that wait for answers to the questions of a graph: the one that asks (executed) or, if that is unknown, those
// of the graph and of the graphs within it. A request for a decision names only the tool, so the calls of a tool are reported only if all of
// them wait. Any other question is of the only open call.
func (d *decoder) pauseCalls(sc *scope, executed *call, questions strictjson.Value, b *event.Batch) {
	if executed != nil {
		executed.pause(b)
		return
	}
	asked, open := map[string]int{}, map[string]int{}
	isOther := false
	for i, v := range questionsIn(questions) {
		requests, isApproval := approvals(v.Get("value"))
		for _, request := range requests {
			if len(asked) < maxInputs {
				asked[d.name(request.tool)]++
			}
		}
		if isOther = isOther || !isApproval; i >= maxInputs {
			break
		}
	}
	isWithin := func(c *call) bool { return c.scope.isIn(sc) && !c.abandoned }
	for _, c := range d.calls {
		if isWithin(c) {
			open[c.tool]++
		}
	}
	only := d.calls.only(isWithin)
	for _, c := range d.calls {
		if isWithin(c) && (asked[c.tool] > 0 && asked[c.tool] == open[c.tool] || isOther && c == only) {
			c.pause(b)
		}
	}
}

// pause reports once that a call waits.
func (c *call) pause(b *event.Batch) {
	if !c.paused && c.by.speak(b) {
		c.paused = true
		b.Add(event.KindToolPaused).CallID = c.id
	}
}

// questionOf returns the question in the value of an interrupt. The agent's code chooses the value: a
// text, an object that contains one, or a request for a decision.
func questionOf(value strictjson.Value) (q event.Question) {
	if requests, isApproval := approvals(value); isApproval {
		if len(requests) > 0 {
			q.Prompt, q.Options = requests[0].description.String(), requests[0].decisions
		}
		return q
	}
	if value.Kind() == strictjson.Object {
		q.Options, q.Schema = value.Get("options"), value.Get("schema")
		value = value.First("question", "prompt", "message", "description")
	}
	q.Prompt = value.String()
	return q
}
