package looopy

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// question is an open request for input: its id, and the task that asked.
type question struct{ input, task string }

// inputTool is the tool with which a model asks for input. Its call does not start, and its result is
// the answer.
const inputTool = "request_input"

func (d *decoder) toolInputRequired(t *task, fr frame, b *event.Batch) {
	id, tool := d.member(fr, "toolCallId"), d.member(fr, "toolName")
	t.pendingCalls = max(t.pendingCalls-1, 0)
	if t.call(id) != nil || tool != inputTool {
		b.Add(event.KindToolPaused).CallID = id
		t.forget(id) // it replaces tool-complete
	}
	d.requestInput(t, id, fr, b)
}

func (d *decoder) inputRequired(t *task, fr frame, b *event.Batch) {
	d.requestInput(t, d.name(fr.metadata.Get("toolCall").Get("id").Text()), fr, b)
}

func (d *decoder) requestInput(t *task, call string, fr frame, b *event.Batch) {
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input, e.Routing = dialect.Name(fr.data.Get("inputId").String()), inputKind(fr.data), event.RoutedToAgent
	// By the protocol's default, an agent further up may answer.
	if user, _ := fr.data.Get("requireUser").Bool(); user {
		e.Routing = event.RoutedToUser
	}
	e.ExpiresIn = dialect.Duration(fr.metadata.Get("timeout"), time.Second)
	e.SetQuestion(event.Question{Prompt: fr.data.Get("prompt").String(), Options: fr.data.Get("options"), Schema: fr.data.Get("schema")})
	d.rememberQuestion(t, call, e.CallID)
}

func inputKind(data strictjson.Value) event.InputKind {
	switch kind := data.Get("inputType").String(); kind {
	case "confirmation", "clarification", "selection", "data":
		return event.InputKind(kind)
	case "tool-execution":
		return event.InputTool
	}
	if data.Get("schema").Kind() == strictjson.Object {
		return event.InputData
	}
	return event.InputClarification
}

// authRequired reports a request for credentials, which always goes to the user.
func (d *decoder) authRequired(t *task, fr frame, b *event.Batch) {
	call := cmp.Or(d.member(fr, "toolCallId"), d.name(fr.metadata.Get("toolCallId").Text()))
	if call != "" {
		b.Add(event.KindToolPaused).CallID = call
	}
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input, e.Routing = dialect.Name(fr.data.Get("authId").String()), event.InputCredential, event.RoutedToUser
	e.ExpiresIn = dialect.Duration(fr.metadata.Get("expiresIn"), time.Second)
	e.SetQuestion(event.Question{Prompt: fr.data.Get("prompt").String()}) // without the URLs and keys of the login
	d.rememberQuestion(t, call, e.CallID)
}

func (d *decoder) inputReceived(_ *task, fr frame, b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = dialect.Name(fr.data.Get("inputId").String())
}

func (d *decoder) authCompleted(_ *task, fr frame, b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = dialect.Name(fr.data.Get("authId").String())
}

// rememberQuestion records which input a call waits for: today's servers report the answer only by
// continuing the call.
func (d *decoder) rememberQuestion(t *task, call, input string) {
	if call != "" && input != "" {
		d.questions.Add(call, question{input: input, task: t.id})
	}
}

// resume reports whether a call that continues was waiting for input, and reports that input as
// answered. A resumed turn has a new task, which repeats the waiting call before its own task-created.
// After that event, a call of the new task is another call, even with the same id.
func (d *decoder) resume(t *task, call string, b *event.Batch) bool {
	q, waits := d.questions.Get(call)
	if !waits || q.task != t.id && t.started {
		return false
	}
	d.questions.Remove(call)
	b.Add(event.KindInputAnswered).CallID = q.input
	return true
}
