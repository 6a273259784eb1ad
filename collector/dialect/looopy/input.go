package looopy

import (
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// question is what a call waits for, and the task that asked.
type question struct{ input, task string }

// requestInput is the tool by which a model asks for input. It never runs: its call does not begin, and what comes as its result
// is an answer.
const requestInput = "request_input"

func (d *decoder) toolInputRequired(t *task, fr frame, b *event.Batch) {
	id, tool := d.member(fr, "toolCallId"), d.member(fr, "toolName")
	t.called = max(t.called-1, 0)
	if t.call(id) != nil || tool != requestInput {
		b.Add(event.KindToolPaused).CallID = id
		t.forget(id) // it stands in the place of tool-complete
	}
	d.request(t, id, fr, b)
}

func (d *decoder) inputRequired(t *task, fr frame, b *event.Batch) {
	d.request(t, d.name(fr.metadata.Get("toolCall").Get("id").Text()), fr, b)
}

func (d *decoder) request(t *task, call string, fr frame, b *event.Batch) {
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input, e.Routing = dialect.Name(fr.data.Get("inputId").String()), inputKind(fr.data), event.RoutedToAgent
	// Without a word, an agent further up may answer: the protocol's own default.
	if user, _ := fr.data.Get("requireUser").Bool(); user {
		e.Routing = event.RoutedToUser
	}
	e.Expires = dialect.Duration(fr.metadata.Get("timeout"), time.Second)
	e.SetQuestion(event.Question{Prompt: fr.data.Get("prompt").String(), Options: fr.data.Get("options"), Schema: fr.data.Get("schema")})
	d.ask(t, call, e.CallID)
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

// authRequired always goes to the user.
func (d *decoder) authRequired(t *task, fr frame, b *event.Batch) {
	call := d.member(fr, "toolCallId")
	if call == "" {
		call = d.name(fr.metadata.Get("toolCallId").Text())
	}
	if call != "" {
		b.Add(event.KindToolPaused).CallID = call
	}
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input, e.Routing = dialect.Name(fr.data.Get("authId").String()), event.InputCredential, event.RoutedToUser
	e.Expires = dialect.Duration(fr.metadata.Get("expiresIn"), time.Second)
	e.SetQuestion(event.Question{Prompt: fr.data.Get("prompt").String()}) // beside it stand the addresses and keys of a login
	d.ask(t, call, e.CallID)
}

func (d *decoder) inputReceived(_ *task, fr frame, b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = dialect.Name(fr.data.Get("inputId").String())
}

func (d *decoder) authCompleted(_ *task, fr frame, b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = dialect.Name(fr.data.Get("authId").String())
}

// ask remembers what a call waits for: today's servers say that it was answered only by going on with the call.
func (d *decoder) ask(t *task, call, input string) {
	if call != "" && input != "" {
		d.asked.Add(call, question{input: input, task: t.id})
	}
}

// resume says whether a call that goes on had waited for input. It goes on in its own task, or in another one, of a turn that
// resumes: before the beginning of that. After its beginning a task's calls are new ones, whatever their ids.
func (d *decoder) resume(t *task, call string, b *event.Batch) bool {
	q, waits := d.asked.Get(call)
	if !waits || q.task != t.id && t.begun {
		return false
	}
	d.asked.Remove(call)
	b.Add(event.KindInputAnswered).CallID = q.input
	return true
}
