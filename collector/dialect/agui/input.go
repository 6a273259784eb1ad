package agui

import (
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxPending limits the calls that a run can leave to its client, and the questions that it can
// ask.
const maxPending = 16

// reportPendingCalls reports the calls that an ended run left to its client: those that the run names
// or, if it names none, those without a result. The client's next request brings the results.
func (d *decoder) reportPendingCalls(pending strictjson.Value, b *event.Batch) {
	n := 0
	add := func(id string) {
		if n++; id != "" && n <= maxPending {
			b.Add(event.KindToolPaused).CallID = id
		}
	}
	for id := range pending.Elements() {
		add(d.name(id))
	}
	if pending.Len() == 0 {
		for _, open := range d.calls {
			if !open.isListed {
				add(open.id)
			}
		}
	}
}

// requestInputs reports the inputs that an ended run waits for. If it names no interrupts, any later run of the
// session answers it.
func (d *decoder) requestInputs(end strictjson.Value, b *event.Batch) {
	n := 0
	for v := range interrupts(end) {
		if n++; n > maxPending {
			break
		}
		if call := d.name(v.Get("toolCallId")); call != "" {
			b.Add(event.KindToolPaused).CallID = call
		}
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.name(v.Get("id")), inputOf(v)
		e.ExpiresIn = remaining(v.Get("expiresAt"), b)
		if !d.isWithheldQuestion(v) {
			e.SetQuestion(event.Question{Prompt: v.Get("message").String(), Schema: v.Get("responseSchema")})
		}
	}
	if n == 0 {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.run, event.InputClarification
	}
}

// outcomeMembers are the members of the run's last event that contain its questions.
var outcomeMembers = []string{"outcome", "interrupt"}

// cutQuestions withholds the questions at the end of a run that are internal or about a withheld call. It returns true if no other would
// remain, so that the outcome must be removed: a reader waits for an answer if it gets one.
func (d *decoder) cutQuestions(end strictjson.Value, b *event.Batch) (removesAll bool) {
	current, legacy := questionLists(end)
	hasCut, hasOther := false, false
	for _, questions := range [...]strictjson.Value{current, legacy} {
		for v := range elementsOf(questions) {
			if d.isWithheldQuestion(v) {
				b.Cut(v)
				hasCut = true
			} else {
				hasOther = true
			}
		}
	}
	return hasCut && !hasOther
}

// isWithheldQuestion reports whether a question is marked internal, or is about a withheld call.
func (d *decoder) isWithheldQuestion(v strictjson.Value) bool {
	return d.mayBeWithheldID(entityCall, d.memberOf(v, callIDs)) || isMarkedInternal(v) || lenient.HasInternalDiscriminator(&questionTable, v) || lenient.HasEncodedInternal(&questionTable, v)
}

// questionTable says where a question calls itself internal. Adapters put what the application asks, such as the value of on_interrupt,
// into its metadata.
var questionTable = event.Table{
	Discriminators: table.Discriminators,
	NameMembers:    eventMembers,
	Envelopes:      table.Envelopes,
	DeepMembers:    append([]string{"metadata"}, table.DeepMembers...),
	OpaqueMembers:  table.OpaqueMembers,
}

// hideArguments replaces the messages of questions about tool calls. Pydantic AI writes the arguments into them.
//
// Source: pydantic_ai/ui/ag_ui/_interrupt.py of pydantic-ai 2.
func hideArguments(questions strictjson.Value, b *event.Batch) {
	for v := range elementsOf(questions) {
		if asksAboutCall(v) {
			b.Substitute(v.Get("message"), `"Approve the tool call?"`)
		}
	}
}

// asksAboutCall reports whether a question names a call or says that it is about one.
func asksAboutCall(question strictjson.Value) bool {
	for name, value := range question.Members() {
		text := name.Text()
		if lenient.MatchesAny(text, callIDs) && value.Kind() > strictjson.Null || lenient.MatchesAny(text, reasonMembers) && lenient.MatchesAny(value.Text(), callReasons) {
			return true
		}
	}
	return false
}

var (
	reasonMembers = []string{"reason"}
	callReasons   = []string{"tool_call"}
)

// remaining returns how long a question is open, from the time it was asked.
func remaining(until strictjson.Value, b *event.Batch) event.Duration {
	at := dialect.TextTime(until)
	now := b.Time
	if now.IsZero() {
		now = b.Received
	}
	if at.IsZero() || now.IsZero() || at.Before(now) || at.Sub(now) > maxExpiry {
		return event.Duration{}
	}
	return event.Duration{D: at.Sub(now), Known: true}
}

// maxExpiry bounds how long a question can be open. Longer durations are ignored.
const maxExpiry = 30 * 24 * time.Hour

// inputOf returns the kind of input that an interrupt asks for, by its reason. With a reason of the framework's own, an
// interrupt with a response schema asks for data.
func inputOf(v strictjson.Value) event.InputKind {
	switch reason := v.Get("reason"); {
	case reason.Is("tool_call"), reason.Is("confirmation"), reason.Is("human_approval"):
		return event.InputConfirmation
	case reason.Is("input_required"), v.Get("responseSchema").Kind() == strictjson.Object:
		return event.InputData
	}
	return event.InputClarification
}

// onInterrupt is the name of the custom event with which adapters of LangGraph, CrewAI and Mastra
// still ask by default. The run then ends as if it had completed.
const onInterrupt = "on_interrupt"

// manualState is the name of the custom event with which an application of LangGraph sets the state. The adapter passes it on, and then a
// STATE_SNAPSHOT.
//
// Source: ag_ui_langgraph/types.py of ag-ui-langgraph 0.0.47.
const manualState = "manually_emit_state"

// custom reads custom events that say how a run ends, that a step is an agent or that it failed.
func (d *decoder) custom(v strictjson.Value, b *event.Batch) {
	if v.Get("name").Is(onInterrupt) {
		b.Type = typeInterrupt
		d.interrupted, d.interruptPrompt = true, ""
		if !b.Internal && !d.filtered {
			d.interruptPrompt = promptOf(b.Embedded(v.Get("value")))
		}
	}
	d.noteNode(v)
	d.markStepAgent(v, b)
}

// requestLegacyInput reports the question of an on_interrupt event. Its answer names no question.
func (d *decoder) requestLegacyInput(b *event.Batch) {
	if d.interrupted {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = onInterrupt, event.InputClarification
		e.SetQuestion(event.Question{Prompt: d.interruptPrompt})
	}
}

// promptOf returns the question of an on_interrupt event. The agent's code chooses the value: a
// text, or an object that contains one.
func promptOf(value strictjson.Value) string {
	if value.Kind() == strictjson.Object {
		value = value.First("question", "prompt", "message")
	}
	return event.LimitText(value.String(), event.MaxPrompt)
}
