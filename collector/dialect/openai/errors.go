package openai

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// statusText matches a failed request to a model as OpenAI's own client prints it.
//
// Source: openai/_base_client.py, _make_status_error_from_response, of openai 3.54.
var statusText = regexp.MustCompile(`^Error code: ([1-5][0-9]{2})\b`)

// errorOf returns the error of a frame, or a value that does not exist. The error is the member error: the object that OpenAI, vLLM and
// LiteLLM send, or the text of an application. In older versions of vLLM and in Mistral it is the frame itself, and so it is in a frame
// that an application sends under the event name "error".
//
// Source: vllm/entrypoints/openai/protocol.py, ErrorResponse, of vllm 0.9.
func errorOf(f dialect.Frame) strictjson.Value {
	v := f.JSON
	e, named := v.Get("error"), v.Get("type")
	switch {
	case v.Get("choices").Len() > 0:
	case e.Len() > 0, len(e.Text()) > 0:
		if !named.Exists() || named.Is(typeError) {
			return e
		}
	case (v.Get("object").Is(typeError) || string(f.Event) == typeError) && isPlainError(v):
		return v
	}
	return strictjson.Value{}
}

// errorMembers are the members of an error. A frame with any other may have text of the agent.
var errorMembers = []string{"object", "message", "detail", "type", "param", "code", "status", "raw_status_code"}

// isPlainError reports whether a frame is an error with a text, and nothing else.
func isPlainError(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if !slices.ContainsFunc(errorMembers, name.Is) || value.Kind() >= strictjson.Array {
			return false
		}
	}
	_, isOther := types[v.Get("type").String()]
	return !isOther && len(v.First("message", "detail").Text()) > 0
}

// errorName matches the names of an exception's class and of an API's type of error.
var errorName = regexp.MustCompile(`^[A-Za-z_]*([Ee]rror|Exception)$`)

// listError accepts the type of a plain error if it names an error: such a type is no name of a frame, even if it begins with "internal",
// as vLLM's InternalServerError does.
func listError(v strictjson.Value, b *event.Batch) {
	object := v.Get("object")
	if isPlainError(v) && (!object.Exists() || object.Is(typeError)) && errorName.Match(v.Get("type").Text()) {
		b.Names = event.NamesListed
	}
}

// fail ends the run with an error of the server. The model's answer fails too if one is open, or if the error
// is that of a request to the model. If the run has ended, the error is of another one in which an answer is open. A run that has ended
// stays as it is.
func (d *decoder) fail(v strictjson.Value, b *event.Batch) {
	if d.ended && !d.restoreRun((*runState).isAnswering, b) {
		return // an error alone does not start another run
	}
	code, ofModel := errorCode(v)
	isTripped := isTripwire(v, code)
	run := d.joined
	if b.StreamError {
		run = "" // the response may not exist
	}
	if d.begin(run, "", b); d.sdk.on {
		b.Agent = d.speaker()
		if d.sdk.agents.areParallel() {
			d.failOne(code, isTripped, b)
			return
		}
	}
	isOne := d.selectOnly()
	d.setFailed(isOne, b)
	if !isTripped && (isOne || ofModel || d.chat.started && !d.chat.finished) {
		e := b.Add(event.KindModelEnded)
		e.Model, e.Error, e.Code, e.Usage = d.model(), event.ModelError, code, d.chat.unreported()
	}
	d.response.open, d.failed, d.chat.ended = false, true, false
	e := b.Add(event.KindError)
	hasAnswered := d.sdk.on && !isOne && len(d.sdk.agents.active) == 0 // a guardrail or a hook of the run has failed
	// The tracker ends the only open response as failed, unless the error is elsewhere. A tripwire is no fault of the response.
	e.Error, e.Code, e.Elsewhere = event.AgentError, code, isTripped && isOne || b.Agent == "" && (hasAnswered || d.sdk.agents.beside)
	if d.singleRun {
		d.others = nil // they are parts of the run
	}
	d.end(event.AgentError, code, b)
}

// isTripwire reports whether an error is that of a guardrail of the Agents SDK, which ends a run. A model that answers at the time has not
// failed. Applications send the name of the exception or its text.
//
// Source: agents/exceptions.py of openai-agents 0.24; runner/guardrails.mjs and utils/toolGuardrails.mjs of @openai/agents-core 0.17.
func isTripwire(v strictjson.Value, code string) bool {
	text := cmp.Or(v.First("message", "detail"), v).Text()
	return strings.HasSuffix(code, "GuardrailTripwireTriggered") || tripwireText.Match(text[:min(len(text), maxErrorText)])
}

var tripwireText = regexp.MustCompile(`^(Guardrail|Tool (input|output) guardrail) \w+ triggered tripwire$|^(Input|Output|Tool input|Tool output) guardrail triggered[:.]`)

// setFailed sets the agent of an error in a run of the Agents SDK. An error names no agent. If one response is open and one agent at work, it
// is of these.
func (d *decoder) setFailed(isOne bool, b *event.Batch) {
	agent := b.Agent
	if d.setAuthor(b); d.sdk.on && isOne && b.Agent == "" && agent != "" {
		b.Agent, b.Sent = agent, &event.Sent{Response: d.responseName, IsOpen: true}
	}
}

// failOne reports an error of one of several runs of the Agents SDK that an application passes on at once. The others go on.
func (d *decoder) failOne(code string, isTripped bool, b *event.Batch) {
	s := &d.sdk
	isOfAgent := func(r *response) bool { return r.open && r.author != "" && r.author == b.Agent && !r.shared }
	if isOfAgent(&d.response) || d.restoreAnswer(isOfAgent) {
		if !isTripped {
			e := b.Add(event.KindModelEnded)
			e.Model, e.Error, e.Code = d.model(), event.ModelError, code
		}
		d.response.open = false
	}
	e := b.Add(event.KindError)
	e.Error, e.Code, e.Elsewhere = event.AgentError, code, b.Agent == ""
	s.failed, s.failure = true, code
	if s.agents.finish(b.Agent); b.Agent == "" {
		s.unknown++
	}
}

// endAfterErrors ends a run in which agents beside each other have failed, or of which the last response has failed. It returns false if
// all others have finished, so that the run ends as usual. Else the order of errors and answers says how the run has ended.
func (d *decoder) endAfterErrors(b *event.Batch) bool {
	s := &d.sdk
	active := s.agents.active
	if s.unknown == 1 && len(active) == 1 { // it is the one that has failed
		b.Agent = active[0]
		e := b.Add(event.KindAgentEnded)
		e.Error, e.Code = event.AgentError, s.failure
	}
	d.ended = s.failed && len(active) > s.unknown || s.last.failed
	return d.ended
}

// model returns the name of the model that answers, or "".
func (d *decoder) model() string {
	if d.response.open {
		return d.response.model
	}
	return d.chat.model
}

// errorCode returns the most specific code of an error, and whether the error is a failed request to a
// model. OpenAI and vLLM send the class in `type`. LiteLLM sends the HTTP status in `code`, and the name of
// an exception in the message.
//
// Source: openai/types/shared/error_object.py of openai 3.54, vllm/entrypoints/openai/serving_engine.py,
// litellm/proxy/_types.py, ProxyException.
func errorCode(v strictjson.Value) (code string, ofModel bool) {
	if v.Kind() == strictjson.String {
		if found := statusText.FindSubmatch(v.Text()[:min(len(v.Text()), maxErrorText)]); found != nil {
			return string(found[1]), true
		}
		return wire.ErrorCode(v), false
	}
	status := ""
	for _, member := range []strictjson.Value{v.Get("code"), v.Get("type")} {
		switch code := wire.Code(member); {
		case code == "", code == "None", code == typeError:
		case code[0] >= '0' && code[0] <= '9':
			status = code
		default:
			return code, false
		}
	}
	if code = wire.TextCode(v.First("message", "detail").Text()); code == "" {
		code = status
	}
	return code, false
}

// maxErrorText is how many bytes of an error's text are searched for a code.
const maxErrorText = 256
