package langgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// openMessage opens a message under an id. The first piece of a message may have the id of the model's server, and further
// pieces that of LangChain's run. So an open message of the same task of which only the server's id is known is the same
// message.
//
// Source: langchain_core/language_models/chat_models.py and langchain_openai, response.created.
func (d *decoder) openMessage(id string, m *message) *message {
	for _, other := range d.open {
		if m.isInStepOf(other) && other.task == m.task && other.hasOnlyID() {
			m = other
			m.marked = m.marked || d.thoughts.MayContain(id)
			break
		}
	}
	if d.open == nil {
		d.open = make(map[string]*message)
	}
	m.ids = append(m.ids, id)
	d.open[id] = m
	return m
}

// hasOnlyID reports whether only the id that the model's server gave a message is known of it.
func (m *message) hasOnlyID() bool {
	return !m.abandoned && !slices.ContainsFunc(m.ids, isRunID) && m.text.Len() == 0 && m.textLength == 0 && len(m.calls) == 0
}

// freeResponse returns the value of event.Batch.Response for a new message: one that no incomplete message of the graph has.
// Incomplete messages are parallel or were cut off. Those that an earlier attempt of the run left open do not count.
func (d *decoder) freeResponse(m *message, id string) string {
	var taken []string
	for _, other := range d.open {
		if other.scope == m.scope && !other.abandoned {
			taken = append(taken, other.by.Response)
		}
	}
	for _, free := range []string{"", m.task} {
		if !slices.Contains(taken, free) {
			return free
		}
	}
	return id
}

// isInStepOf reports whether two messages are known to be of the same step of a graph.
func (m *message) isInStepOf(other *message) bool {
	return other.scope == m.scope && other.step == m.step && m.step != "" && m.task != ""
}

// readGrown reads a model's message with all its text so far. No frame is marked as the last, but the one
// with a finish reason has everything except the usage.
func (d *decoder) readGrown(sc *scope, v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("id"))
	if d.repeats(id, v, b) {
		return
	}
	m := d.begin(id, sc, strictjson.Value{}, b)
	if !m.claim(b) {
		return
	}
	m.readResponse(d, v)
	m.usage = readUsage(v.Get("usage_metadata"))
	m.start(d, b)
	m.addGrowth(v, b)
	d.noteThoughts(m)
	if m.finish == "" {
		return
	}
	m.reportText(v, false, b)
	d.endModel(m, true, b)
	d.startCalls(m, v, b)
}

// repeats reports whether a message, or a piece of one, must be skipped. If the message ended without its usage and v has
// it, the usage is reported.
func (d *decoder) repeats(id string, v strictjson.Value, b *event.Batch) bool {
	if !d.seen.mustSkip(seenMessage, id) {
		return false
	}
	used := readUsage(v.Get("usage_metadata"))
	if by, awaited := d.unmetered[id]; awaited && used != (event.Usage{}) && by.speak(b) {
		delete(d.unmetered, id)
		b.Add(event.KindUsage).Usage = used
	}
	return true
}

// addGrowth reports the thoughts that earlier frames did not contain, and the text unless the message has finished: then its
// whole text is reported.
func (m *message) addGrowth(v strictjson.Value, b *event.Batch) {
	text, thought := 0, 0
	m.marked = m.marked || isMarked(v)
	for part := range contentOf(v, m.marked) {
		all := part.text.AppendText(nil)
		kind, at, before := event.KindText, &text, m.textLength
		if part.thought {
			kind, at, before = event.KindThought, &thought, m.thoughtLength
		}
		from := min(max(before-*at, 0), len(all))
		if *at += len(all); len(all) > from && (part.thought || m.finish == "") {
			b.Add(kind).SetText([]byte(strings.ToValidUTF8(string(all[from:]), "")))
		}
	}
	m.textLength, m.thoughtLength = max(m.textLength, text), max(m.thoughtLength, thought)
	dropEmpty(b)
	b.NameTexts(m.ids[0])
}

// dropEmpty turns texts and thoughts without a valid character into KindOther.
func dropEmpty(b *event.Batch) {
	for i := len(b.Events) - 1; i >= 0; i-- {
		if e := &b.Events[i]; (e.Kind == event.KindText || e.Kind == event.KindThought) && len(e.Text()) == 0 {
			e.Kind = event.KindOther
		}
	}
}

// readWhole reads a complete message, which a model or the code of a node wrote.
func (d *decoder) readWhole(sc *scope, v, metadata strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("id"))
	if d.repeatsModel || d.reported.isEarlier(id, d.run) {
		d.remember(sc, []strictjson.Value{v}, b)
		return
	}
	d.nameByResponse(sc, d.node, v)
	if d.repeats(id, v, b) {
		return
	}
	m := d.open[id]
	inPieces := m != nil
	byModel := inPieces || isFromModel(v) && !d.isCached
	if !inPieces {
		at := d.announcementOf(id, sc, metadata)
		name, task := v.Get("name"), cmp.Or(at.task, d.node)
		if !byModel && d.isCutShort(task, name) { // the code of the node answers for its agent
			name = strictjson.Value{}
		}
		at.scope = d.nameAgent(at.scope, task, name)
		m = &message{ids: []string{id}, scope: at.scope, by: at.scope.speakerNamed(d.name(name)), model: at.model, marked: at.marked, returned: byModel && at.returned, task: at.task, at: d.taskOfResponse(id, at, d.node, b)}
		if m.by.IsWritten = !byModel && !isAgentNode(task) && len(name.Text()) > 0; byModel {
			m.by.Response = d.freeResponse(m, id)
		}
	}
	d.noteThought(id, m.marked || isMarked(v))
	if !m.by.speak(b) {
		return
	}
	if !byModel && m.scope != sc && m.scope.isShown {
		d.endWithoutResult(m.scope, "", b)
	}
	if !m.by.IsWritten || m.scope.isShown {
		m.scope.noteSpeech()
	}
	if d.last = m.scope; !inPieces && byModel {
		d.endAbandoned(m.scope, b)
	}
	m.reportText(v, m.textLength == 0 && m.text.Len() == 0, b)
	if m.readResponse(d, v); byModel {
		if used := readUsage(v.Get("usage_metadata")); used != (event.Usage{}) {
			m.usage = used
		}
		d.endModel(m, false, b)
	}
	d.seen.add(seenMessage, id)
	delete(d.announced, id)
	d.startCalls(m, v, b)
}

// speakerNamed returns the speaker of a message in a graph. The message has the given name, or "". LangChain's
// agents name themselves in their messages.
func (sc *scope) speakerNamed(name string) speaker {
	s := sc.speaker()
	if name == "" || name == user {
		return s
	}
	if name != s.Agent {
		s.Renames = ""
	}
	s.Agent, s.Step = name, ""
	return s
}

// reportText reports a message's whole text, and its thoughts if they were not reported in pieces.
func (m *message) reportText(v strictjson.Value, thoughts bool, b *event.Batch) {
	var text []byte
	for part := range contentOf(v, m.marked) {
		switch {
		case !part.thought:
			text = part.text.AppendText(text)
		case thoughts:
			b.AddText(event.KindThought, part.text)
		}
	}
	if len(text) > 0 {
		b.Add(event.KindText).SetText(text)
	}
	b.NameTexts(m.ids[0])
}

// startCalls reports the calls of a message. A message without calls is final.
func (d *decoder) startCalls(m *message, v strictjson.Value, b *event.Batch) {
	calls := v.Get("tool_calls")
	for c := range calls.Elements() {
		d.startCall(d.name(c.Get("id")), d.name(c.Get("name")), c.Get("args"), m, b)
	}
	if calls.Len() == 0 && (v.Get("invalid_tool_calls").Len() > 0 || !m.lostCalls()) {
		m.scope.answered = true
		b.Add(event.KindFinal)
	}
}

// callReasons are the finish reasons of responses with calls.
var callReasons = []string{"tool_calls", "tool_call", "tool_use", "function_call"}

// lostCalls reports whether a message without calls had some, which a filter has withheld: its finish reason says so.
func (m *message) lostCalls() bool { return slices.Contains(callReasons, strings.ToLower(m.finish)) }

// Members of a message's response_metadata that hold the model and the finish reason. Models' servers name them differently.
var (
	modelMembers  = []string{"model_name", "model", "model_id"}
	finishMembers = []string{"finish_reason", "stop_reason", "done_reason", "stopReason", "finishReason"}
	// finalStates are the states of a response in OpenAI's Responses API, which gives a reason only for an incomplete one.
	finalStates = []string{"completed", "incomplete"}
)

// modelOf returns the name of the model. It does not exist if the server gives none.
func modelOf(response strictjson.Value) strictjson.Value {
	return textOf(response.First(modelMembers...))
}

// finishOf returns the reason why a response ended, or its final state. Neither exists in the pieces before the last.
func finishOf(response strictjson.Value) strictjson.Value {
	for _, name := range finishMembers {
		if finish := wire.FinishReason(response.Get(name)); finish.Exists() {
			return finish
		}
	}
	if finish := wire.FinishReason(response.Get("incomplete_details").Get("reason")); finish.Exists() {
		return finish
	}
	if state := response.Get("status"); slices.ContainsFunc(finalStates, state.Is) {
		return state
	}
	return strictjson.Value{}
}

// textOf returns a value that is a text, or one that does not exist.
func textOf(v strictjson.Value) strictjson.Value {
	if isText(v) {
		return v
	}
	return strictjson.Value{}
}

// readUsage reads LangChain's usage. Its counts include those of cached and reasoning tokens.
//
// Source: langchain_core/messages/ai.py, UsageMetadata.
func readUsage(v strictjson.Value) event.Usage {
	return wire.WithTotal(event.Usage{
		Input: dialect.Count(v.Get("input_tokens")), Output: dialect.Count(v.Get("output_tokens")),
		CacheRead: dialect.Count(v.Get("input_token_details").Get("cache_read")),
		Reasoning: dialect.Count(v.Get("output_token_details").Get("reasoning")),
	}, dialect.Count(v.Get("total_tokens")))
}
