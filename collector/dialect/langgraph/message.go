package langgraph

import (
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// message is a model's message that arrives in pieces.
type message struct {
	ids           []string // the first is that of the whole message; see openMessage
	scope         *scope
	by            speaker
	mode          string // the mode whose pieces are read, because other modes repeat them
	started       bool   // its start was reported
	abandoned     bool   // an earlier attempt of the run left it unfinished
	returned      bool   // see announcement
	marked        bool   // every text in it is a thought
	step, task    string // of the node that made it, or "" if the server's metadata has none
	at            event.Task
	model, finish string
	usage         event.Usage
	text          dialect.TextTail // of pieces that do not repeat earlier text
	textLength    int              // bytes of text so far
	thoughtLength int
	calls         []partialCall
}

// partialCall is a tool call whose arguments arrive in pieces.
type partialCall struct {
	id, tool, index string
	args            []byte
	tooLong         bool
}

// Limits of the messages that arrive in pieces.
const (
	maxOpen      = 64       // messages at once
	maxCalls     = 64       // calls of a message
	maxArguments = 16 << 10 // bytes of a call's arguments
	maxArgsDepth = 32
)

// tuple returns the message and the metadata of a frame of the mode messages-tuple.
func tuple(v strictjson.Value) (message, metadata strictjson.Value) {
	n := 0
	for element := range v.Elements() {
		switch n++; n {
		case 1:
			message = element
		case 2:
			metadata = element
		default:
			return strictjson.Value{}, strictjson.Value{}
		}
	}
	return message, metadata
}

func (d *decoder) readTuple(sc *scope, v strictjson.Value, b *event.Batch) {
	m, metadata := tuple(v)
	at := d.scopeAt(metadata, sc)
	d.readMessage(at, m, metadata, b)
	d.noteTaskStep(at, metadata, b)
}

// readMessagesMetadata reads the metadata of messages that follow. It comes with the first piece of a message, so nothing begins with it.
func (d *decoder) readMessagesMetadata(sc *scope, v strictjson.Value, b *event.Batch) {
	b.Partial = true
	for id, entry := range v.Members() {
		metadata := entry.Get("metadata")
		if d.announced == nil || len(d.announced) >= maxOpen {
			d.announced = make(map[string]announcement)
		}
		next := d.readAnnouncement(d.scopeAt(metadata, sc), metadata)
		d.announced[d.name(id)] = next
		d.noteThought(d.name(id), next.marked)
	}
}

// announcement is what a stream says about a message before it sends the message.
type announcement struct {
	scope  *scope
	model  string // the requested one
	marked bool   // the message is a thought

	step, task string // see message
	isCalled   bool   // another task has called the task
	returned   bool   // a node has returned the message, and it comes late if a model wrote it
}

// readAnnouncement reads the metadata of a message. That of a model's run describes the model. Otherwise, the server has found the message in
// what a node has returned.
//
// Source: langchain_core/language_models/chat_models.py, _get_ls_params; langgraph/pregel/_messages.py, on_chain_end.
func (d *decoder) readAnnouncement(sc *scope, metadata strictjson.Value) announcement {
	_, task := splitLast(metadata.Get("langgraph_checkpoint_ns").Text())
	return announcement{
		sc, d.name(metadata.Get("ls_model_name")), marksThought(metadata),
		dialect.Name(string(metadata.Get("langgraph_step").Raw())), dialect.Name(string(task)), callerOf(metadata.Get("langgraph_path")).Exists(),
		metadata.Get("langgraph_node").Exists() && !metadata.First("ls_model_type", "ls_provider", "ls_model_name").Exists(),
	}
}

// noteThought records the id of a message if marked says that it is a thought. States repeat its text without
// the mark.
func (d *decoder) noteThought(id string, marked bool) {
	if marked && id != "" {
		d.thoughts.Add(id)
	}
}

// noteThoughts is noteThought for all ids of a message.
func (d *decoder) noteThoughts(m *message) {
	for _, id := range m.ids {
		d.noteThought(id, m.marked)
	}
}

// announcementOf returns the announcement of a message, or makes one from the metadata that came with it.
func (d *decoder) announcementOf(id string, sc *scope, metadata strictjson.Value) announcement {
	if known, is := d.announced[id]; is {
		return known
	}
	next := d.readAnnouncement(sc, metadata)
	next.marked = next.marked || d.thoughts.MayContain(id)
	return next
}

// readPartial reads unfinished messages. Each frame repeats the text of earlier frames, even in an AIMessageChunk, as graphs in
// JavaScript send it.
func (d *decoder) readPartial(sc *scope, v strictjson.Value, b *event.Batch) {
	for m := range v.Elements() {
		if kind := m.Get("type"); kind.Is("ai") || kind.Is("AIMessageChunk") {
			d.readGrown(sc, m, b)
		} else {
			d.readMessage(sc, m, strictjson.Value{}, b)
		}
	}
}

func (d *decoder) readComplete(sc *scope, v strictjson.Value, b *event.Batch) {
	for m := range v.Elements() {
		d.readMessage(sc, m, strictjson.Value{}, b)
	}
}

// readMessage reads a message, or a piece of one.
//
// Source: langchain_core/messages.
func (d *decoder) readMessage(sc *scope, m, metadata strictjson.Value, b *event.Batch) {
	kind := m.Get("type").String()
	if (kind == "ai" || kind == "tool") && isHandoffBack(m) {
		d.readHandoffBack(sc, m, b)
		return
	}
	switch kind {
	case "ai":
		d.readWhole(sc, m, metadata, b)
	case "AIMessageChunk":
		d.readChunk(sc, m, metadata, b)
	case "tool", "ToolMessageChunk":
		d.readResult(sc, m, b)
	}
}

// begin returns the open message with an id, and opens it if necessary. It returns nil if the id must be skipped, or if
// too many messages are open.
func (d *decoder) begin(id string, sc *scope, metadata strictjson.Value, b *event.Batch) *message {
	m := d.open[id]
	if m != nil || id == "" || len(d.open) >= maxOpen || d.seen.mustSkip(seenMessage, id) {
		return m
	}
	at := d.announcementOf(id, sc, metadata)
	m = &message{scope: at.scope, by: at.scope.speaker(), model: at.model, marked: at.marked, step: at.step, task: at.task, at: d.taskOfResponse(id, at, d.node, b)}
	m.by.Response = d.freeResponse(m, id)
	return d.openMessage(id, m)
}

// isFromModel reports whether a model, and not the code of a node, wrote a complete message. A model's message has the id of the
// model's run, or it states the model, the finish reason or the usage.
func isFromModel(m strictjson.Value) bool {
	response := m.Get("response_metadata")
	return isRunID(m.Get("id").String()) || modelOf(response).Exists() || finishOf(response).Exists() || readUsage(m.Get("usage_metadata")) != (event.Usage{})
}

// isRunID reports whether an id is that of a model's run. Some models' servers have ids of their own.
//
// Source: langchain_core/language_models/chat_models.py, LC_ID_PREFIX.
func isRunID(id string) bool {
	return strings.HasPrefix(id, "lc_run-") || strings.HasPrefix(id, "run-") && !writtenID.MatchString(id)
}

// writtenID matches IDs that LangGraph.js gives to messages that a node or a tool has written.
//
// Source: langgraph/src/pregel/messages.ts, StreamMessagesHandler._emit.
var writtenID = regexp.MustCompile(`^run-[-0-9a-f]{36}-(out|tool)-`)

// readChunk reads a piece of a model's message.
func (d *decoder) readChunk(sc *scope, v, metadata strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("id"))
	if d.open[id] == nil && d.repeats(id, v, b) {
		return
	}
	m := d.begin(id, sc, metadata, b)
	if !m.claim(b) {
		return
	}
	m.readResponse(d, v)
	m.marked = m.marked || isMarked(v)
	d.noteThoughts(m)
	m.usage = m.usage.Add(readUsage(v.Get("usage_metadata")))
	for piece := range v.Get("tool_call_chunks").Elements() {
		m.addCallPiece(d, piece)
	}
	m.start(d, b)
	last := v.Get("chunk_position").Is("last")
	ends := last || m.finish != "" && !v.Get("chunk_position").Exists()
	if ends && m.text.Len() == 0 { // the frame has the whole text
		m.reportText(v, true, b)
	} else {
		m.addPieces(v, ends, b)
	}
	if ends {
		d.finish(m, !last, b)
	}
}

// addPieces reports the pieces of the thoughts and of the text. If the message ends, finish reports its last piece of text within
// the whole text.
func (m *message) addPieces(v strictjson.Value, ends bool, b *event.Batch) {
	for part := range contentOf(v, m.marked) {
		switch {
		case part.thought:
			b.AddText(event.KindThought, part.text)
			continue
		case !ends:
			b.AddText(event.KindText, part.text)
		}
		m.text.Add(part.text.Text())
	}
	b.NameTexts(m.ids[0])
}

// claim makes the message's agent the speaker of the batch. It returns false if the message must not be
// read from this frame: if it is nil, if the frame's mode only repeats it, or if the batch has another speaker.
func (m *message) claim(b *event.Batch) bool {
	if m == nil || m.mode != "" && m.mode != b.Type || !m.by.claim(b) {
		return false
	}
	m.mode = b.Type
	return true
}

// start marks the batch as a piece of a response. At the first piece, it reports that the response has started.
func (m *message) start(d *decoder, b *event.Batch) {
	if !m.started {
		d.endAbandoned(m.scope, b)
	}
	b.Partial, d.last = true, m.scope
	m.scope.noteSpeech()
	if !m.started {
		m.started = true
		e := b.Add(event.KindModelStarted)
		e.Task, e.Asked = m.at, askedAt(m.ids[0])
	}
}

// readResponse reads the model and the finish reason from a piece.
func (m *message) readResponse(d *decoder, v strictjson.Value) {
	response := v.Get("response_metadata")
	if model := modelOf(response); model.Exists() {
		m.model = d.name(model)
	}
	if finish := finishOf(response); finish.Exists() {
		m.finish = d.name(finish)
	}
}

// addCallPiece adds a piece of a call. A piece with an id starts a call. One without continues the last call with its index or, if it has no
// index, the last call.
func (m *message) addCallPiece(d *decoder, piece strictjson.Value) {
	id, index := d.name(piece.Get("id")), string(indexOf(piece))
	at := m.lastCall(index)
	if id != "" && (at == nil || at.id != id) {
		if len(m.calls) >= maxCalls {
			return
		}
		m.calls = append(m.calls, partialCall{id: id, index: index})
		at = &m.calls[len(m.calls)-1]
	}
	if at == nil {
		return
	}
	if tool := d.name(piece.Get("name")); at.tool == "" {
		at.tool = tool
	}
	if at.tooLong = at.tooLong || len(at.args)+len(piece.Get("args").Text()) > maxArguments; !at.tooLong {
		at.args = append(at.args, piece.Get("args").Text()...)
	}
}

// indexOf returns the index of a piece, or nothing.
func indexOf(piece strictjson.Value) []byte {
	if index := piece.Get("index"); index.Kind() > strictjson.Null {
		return index.Raw()
	}
	return nil
}

// lastCall returns the call with an index, or the last call if the index is "". It returns nil if there is none.
func (m *message) lastCall(index string) *partialCall {
	for i := range slices.Backward(m.calls) {
		if index == "" || m.calls[i].index == index {
			return &m.calls[i]
		}
	}
	return nil
}

// finish reports a message whose last piece has arrived. mayGrow says that the usage may follow.
func (d *decoder) finish(m *message, mayGrow bool, b *event.Batch) {
	m.text.Report(b)
	b.NameTexts(m.ids[0])
	d.endModel(m, mayGrow, b)
	for _, c := range m.calls {
		var doc strictjson.Doc
		var args strictjson.Value
		if !c.tooLong && doc.Parse(c.args, maxArgsDepth, strictjson.Everywhere) == nil {
			args = doc.Root()
		}
		d.startCall(c.id, c.tool, args, m, b)
	}
	if len(m.calls) == 0 && !m.lostCalls() {
		m.scope.answered = true
		b.Add(event.KindFinal)
	}
}

// endModel reports the end of a model's response, and returns the event.
func (d *decoder) endModel(m *message, mayGrow bool, b *event.Batch) *event.Event {
	for _, id := range m.ids {
		d.seen.add(seenMessage, id)
		d.reported.add(id, d.run)
		delete(d.open, id)
		delete(d.announced, id)
	}
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.Usage, e.Task, e.Asked = m.model, m.finish, m.usage, m.at, askedAt(m.ids[0])
	e.Error, e.Code = wire.FinishFailure(m.finish)
	e.Uncertain = m.returned
	if e.UsageIncomplete = mayGrow && m.usage == (event.Usage{}); e.UsageIncomplete && len(d.unmetered) < maxOpen {
		if d.unmetered == nil {
			d.unmetered = make(map[string]speaker)
		}
		d.unmetered[m.ids[0]] = m.by
	}
	b.Partial = false
	return e
}
