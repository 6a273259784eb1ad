package langgraph

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxInputs limits the questions of a frame.
const maxInputs = 64

// readInterrupts reads the questions for which a run waits.
//
// Source: langgraph/types.py, Interrupt.
func (d *decoder) readInterrupts(sc *scope, list strictjson.Value, b *event.Batch) {
	for i, v := range questionsIn(list) {
		if i >= maxInputs {
			b.InputAuthors = append(b.InputAuthors, wire.UnknownAuthor)
			return
		}
		id := d.name(v.First("id", "interrupt_id"))
		d.setInputAuthors(sc, v, id, b)
		if id != "" && !d.seen.add(seenInterrupt, id) || !sc.speaker().claim(b) {
			continue
		}
		d.pauseCalls(v.Get("value"), b)
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, event.InputClarification
		if requests, _ := approvals(v.Get("value")); requests.Exists() {
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
	question := "input " + cmp.Or(id, contentKey(v))
	if sc.above != nil {
		d.authors.Add(question, sc.speaker().agent)
	}
	names := d.authors.Of(question)
	if len(names) == 0 {
		names = []string{sc.speaker().agent}
	}
	b.InputAuthors = append(b.InputAuthors, names...)
}

// readBreakpoint reads an empty list of interrupts: the run waits before or after a node, without a
// question.
func (d *decoder) readBreakpoint(sc *scope, list strictjson.Value, b *event.Batch) {
	if list.Kind() == strictjson.Array && list.Len() == 0 && sc.above == nil && sc.speaker().claim(b) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.run, event.InputConfirmation
	}
}

// approvals returns the requests and their configurations in the value of an interrupt with which
// LangChain's middleware asks for a decision about tool calls.
//
// Source: langchain/agents/middleware/human_in_the_loop.py, HITLRequest.
func approvals(value strictjson.Value) (requests, configs strictjson.Value) {
	requests, configs = value.Get("action_requests"), value.Get("review_configs")
	if requests.Kind() != strictjson.Array {
		return strictjson.Value{}, strictjson.Value{}
	}
	return requests, configs
}

// pauseCalls reports the calls that wait for a decision. A request names only the tool, so the calls of
// a tool are reported only if all of them wait.
func (d *decoder) pauseCalls(value strictjson.Value, b *event.Batch) {
	requests, _ := approvals(value)
	asked := map[string]int{}
	for request := range requests.Elements() {
		if len(asked) < maxInputs {
			asked[d.name(request.Get("name"))]++
		}
	}
	open := map[string]int{}
	for _, c := range d.calls {
		open[c.tool]++
	}
	for _, c := range d.calls {
		if asked[c.tool] > 0 && asked[c.tool] == open[c.tool] {
			b.Add(event.KindToolPaused).CallID = c.id
		}
	}
}

// questionOf returns the question in the value of an interrupt. The agent's code chooses the value: a
// text, an object that contains one, or a request for a decision.
func questionOf(value strictjson.Value) (q event.Question) {
	requests, configs := approvals(value)
	for request := range requests.Elements() {
		q.Prompt = request.Get("description").String()
		break
	}
	for config := range configs.Elements() {
		q.Options = config.Get("allowed_decisions")
		break
	}
	if requests.Exists() {
		return q
	}
	if value.Kind() == strictjson.Object {
		q.Options, q.Schema = value.Get("options"), value.Get("schema")
		value = value.First("question", "prompt", "message", "description")
	}
	q.Prompt = value.String()
	return q
}
