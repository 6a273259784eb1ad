package openai

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// chat is the state of the current chat completion.
type chat struct {
	started    bool
	internal   bool // one of its chunks was withheld, so the rest is too
	seen       bool // its beginning was seen
	unreadable int  // decoder.unreadable at that time
	finished   bool // its end was reported, and only usage may follow
	ended      bool // the end of its run was reported
	begunAt    int  // the frame at which it began
	id         string
	repeated   bool // several chunks have the ID, so another ID means another completion
	model      string
	usage      event.Usage // so far
	reported   event.Usage // the part of it that was reported
	failure    event.Failure
	code       string // of the failure
	choices    []*choice

	chunkError string // the code of an error next to the choices of the current chunk (OpenRouter)
	hasFault   bool   // a chunk had such an error
	fault      string // the last such code
	stopped    bool   // an error of the server ended it
}

// choice is one of the answers of a chat completion. Its pieces arrive in order, but between those of other
// choices.
type choice struct {
	index  int64
	name   string // see event.Event.Message
	done   bool
	reason string // why it finished, as on the wire
	code   string // of the error with which it finished
	nature nature // of its text
	text   dialect.TextTail
	call   *chatCall // the open call: a model sends one after the other
}

// chatCall is a call whose arguments arrive in pieces.
type chatCall struct {
	index    int64
	id, name string
	namedAt  int // the last frame with a name of it
	args     []byte
}

// Limits of a chat completion. Calls with longer arguments are reported without them.
const (
	maxChoices = 32
	maxArgs    = 16 << 10 // bytes
)

// chunk reads a chunk of a chat completion, which is a run.
//
// Source: openai/types/chat/chat_completion_chunk.py of openai 3.54, and groq/types/chat/chat_completion_chunk.py, XGroq.error, of groq.
func (d *decoder) chunk(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	id, m, calls := d.name(v.Get("id")), marksOf(v), callsOf(v)
	b.Internal = m.instructs || wire.IsFiltered(b, prefilter) || d.isWithheldCall(calls)
	m.shows = m.shows || hasDeeperThought(v)
	if d.inResults = d.areResults(v); d.inResults {
		d.chunkResults(id, v, m, b)
	} else {
		d.selectChat(id, v, b)
		d.addChunk(id, v, m, b)
	}
	d.recordCalls(calls, b.Internal)
}

// addChunk adds a chunk to the current completion.
func (d *decoder) addChunk(id string, v strictjson.Value, m marks, b *event.Batch) {
	if d.ended && v.Get("choices").Len() == 0 && v.Get("usage").Kind() == strictjson.Object { // after [DONE]
		d.withholdChunk(id, v, b)
		d.chat.readUsage(v)
		d.reportUsage(b)
		return
	}
	if id == "" && v.Get("choices").Len() == 0 && m == marksOf() { // Azure's first chunk: the next one has the ID
		defer func() { b.Partial = len(b.Events) == 0 }() // the model was asked before it
		if !d.begun || d.ended {
			d.withholdChunk(id, v, b)
			return
		}
	}
	d.begin(id, "", b)
	c := &d.chat
	switch {
	case c.finished && addsNothing(v):
		b.Type = typeTrailer
	case isFailure(v):
		b.Type = typeFailedChunk
	}
	c.repeated = c.repeated || c.started && id != "" && id == c.id
	if model := d.name(v.Get("model")); model != "" {
		c.model = model
	}
	isLost := d.withholdChunk(id, v, b)
	if !c.started {
		c.started, c.begunAt, c.id = true, d.frames, id
		d.nameResponse()
		b.Add(event.KindModelStarted).Model = c.model
	}
	d.addChoices(v, m, b)
	if c.stopped {
		d.finishChat(b)
	}
	if b.Internal && !isLost { // a choice may be an instruction
		d.withholdChat(id)
	}
	c.readUsage(v)
	d.reportUsage(b)
	d.endFinished(b)
}

// withholdChunk withholds a chunk that belongs to a withheld completion. It reports whether it withholds the chunk because the beginning of
// the completion may have been in an unreadable frame.
func (d *decoder) withholdChunk(id string, v strictjson.Value, b *event.Batch) (isLost bool) {
	c := &d.chat
	if !c.started && d.unreadable == 0 || namesRole(v) {
		c.seen, c.unreadable = true, d.unreadable
	}
	isSeen := c.seen && (c.unreadable == d.unreadable || id != "" && id == c.id)
	isWithheld := id != "" && d.items.withheld.Contains(chatID+id) || d.items.withheld.IsFull() && !isSeen
	if b.Internal = b.Internal || c.internal || isWithheld; b.Internal {
		d.withholdChat(id)
		return false
	}
	b.Internal = d.unreadable > 0 && !isSeen
	return b.Internal
}

// namesRole reports whether a chunk begins a message.
func namesRole(chunk strictjson.Value) bool {
	for one := range chunk.Get("choices").Elements() {
		if len(one.Get("delta").Get("role").Text()) > 0 {
			return true
		}
	}
	return false
}

// withholdChat records that the current completion is withheld. id is the ID in its last chunk.
func (d *decoder) withholdChat(id string) {
	if d.chat.internal = true; id != "" {
		d.items.withheld.Add(chatID + id)
	}
}

// addChoices adds the choices of a chunk to the current completion.
func (d *decoder) addChoices(v strictjson.Value, m marks, b *event.Batch) {
	c, finishes := &d.chat, false
	for one := range v.Get("choices").Elements() {
		finishes = finishes || finishReason(one).Exists()
		if none := one.Get("finish_reason"); none.Kind() == strictjson.String && !finishReason(one).Exists() {
			b.Substitute(none, "null") // clients that check only for null would stop
		}
	}
	if c.chunkError, _ = errorCode(v.Get("error")); !isBlank(v.Get("error")) {
		c.hasFault, c.fault = true, c.chunkError
	}
	if fault := v.Get("x_groq").Get("error"); !isBlank(fault) {
		c.stopped = true
		c.chunkError, _ = errorCode(fault)
	}
	for one := range v.Get("choices").Elements() {
		d.choice(c.choiceAt(indexOf(one)), one, m, !finishes, b)
	}
	if v.Get("choices").Len() == 0 && m != marksOf() {
		d.choice(c.choiceAt(0), strictjson.Value{}, m, true, b)
	}
}

// choice reads a piece of an answer. c is nil if the answer has too many choices. m holds the marks of the chunk's message. If partial is
// set, the piece is reported. A chunk that finishes a choice reports the whole text instead.
func (d *decoder) choice(c *choice, v strictjson.Value, m marks, partial bool, b *event.Batch) {
	delta, message := v.Get("delta"), v.Get("message")
	m.add(choiceMarks(v, delta, message))
	b.Internal = b.Internal || m.instructs || !isReadable(v) || !isReadable(delta) || !isReadable(message)
	kind := c.markText(v, m)
	texts := markTexts(kind, b, b.JSON, v, delta, message)
	shows := m.shows || hasDeeperThought(v, delta, message, v.Get("messages"))
	b.HasThoughts = b.HasThoughts || shows || kind == event.KindThought && (texts || m.thinks)
	if c == nil || d.inResults { // the result of a call is no part of an answer
		return
	}
	addThoughts(delta, b)
	switch kind {
	case event.KindThought:
		addThought(delta.Get("content"), b)
	case event.KindText:
		d.addContent(c, delta, partial, b)
		if text := v.Get("text"); !text.Is(delta.Get("content").String()) { // Together repeats the piece
			d.addPiece(c, text, partial, b) // of the API for completions without messages
		}
	}
	b.NameTexts(c.name)
	d.addCallPieces(c, delta, b)
	if reason := finishReason(v); reason.Exists() {
		d.finishChoice(c, reason, b)
	}
}

// addThoughts reports a model's reasoning. OpenAI's own API does not show it. vLLM, DeepSeek and LiteLLM
// send it as reasoning_content. OpenRouter and newer versions of vLLM send it as reasoning. Most servers
// repeat it in a list, and some send only the list. Mistral sends it in the content.
//
// Source: vllm/entrypoints/openai/protocol.py, DeltaMessage; litellm/types/utils.py, Delta, of litellm 1.106;
// mistralai/models/thinkchunk.py of mistralai 1.9; OpenRouter's documentation of reasoning_details.
func addThoughts(delta strictjson.Value, b *event.Batch) {
	if b.AddText(event.KindThought, thoughtOf(delta)) != nil {
		return
	}
	list := cmp.Or(delta.First("thinking_blocks", "reasoning_details"), delta.Get("provider_specific_fields").Get("thinking_blocks"))
	for _, pieces := range []strictjson.Value{list, delta.Get("content")} {
		for piece := range pieces.Elements() {
			if kind := piece.Get("type").String(); kind == "thinking" || strings.HasPrefix(kind, "reasoning.") {
				addThought(piece.First("thinking", "text", "summary"), b)
			}
		}
	}
}

// thoughtOf returns the piece of a thought that most servers send beside the content.
func thoughtOf(delta strictjson.Value) strictjson.Value {
	return delta.First("reasoning_content", "reasoning", "reasoning_text")
}

// addThought reports a thought, or the parts of one.
func addThought(v strictjson.Value, b *event.Batch) {
	b.AddText(event.KindThought, v)
	for part := range v.Elements() {
		b.AddText(event.KindThought, part.Get("text"))
	}
}

func (d *decoder) addContent(c *choice, delta strictjson.Value, partial bool, b *event.Batch) {
	content := delta.Get("content")
	d.addPiece(c, content, partial, b)
	for part := range content.Elements() { // Mistral
		if part.Get("type").Is("text") {
			d.addPiece(c, part.Get("text"), partial, b)
		}
	}
	d.addPiece(c, delta.Get("refusal"), partial, b)
}

func (d *decoder) addPiece(c *choice, piece strictjson.Value, partial bool, b *event.Batch) {
	c.text.Add(piece.Text())
	if partial && b.AddText(event.KindText, piece) != nil {
		b.Partial = true
	}
}

// addCallPieces reads pieces of calls. The first piece of a call has its id and name. If it may have been in
// an unreadable frame, the call's other pieces are withheld.
func (d *decoder) addCallPieces(c *choice, delta strictjson.Value, b *event.Batch) {
	for piece := range delta.Get("tool_calls").Elements() {
		index, _ := piece.Get("index").Int()
		function := piece.Get("function")
		if piece.Get("custom").Kind() == strictjson.Object {
			function = piece.Get("custom")
		}
		d.addCallPiece(c, index, piece.Get("id"), function, b)
	}
	if function := delta.Get("function_call"); function.Kind() == strictjson.Object { // the API's form before tool_calls
		d.addCallPiece(c, 0, strictjson.Value{}, function, b)
	}
}

func (d *decoder) addCallPiece(c *choice, index int64, stated, function strictjson.Value, b *event.Batch) {
	id, name := d.name(stated), d.name(function.Get("name"))
	isWhole := stated.Is("") && function.Get("arguments").Exists() // the filter may have removed the arguments
	open := c.call
	if open == nil || open.index != index || open.isOther(id, name, isWhole, d.frames) {
		if id == "" && name == "" {
			b.Internal = b.Internal || d.unreadable > 0
			return
		}
		d.reportCall(c, b)
		open = &chatCall{index: index}
		c.call = open
	}
	if open.id = cmp.Or(open.id, id); name != open.name { // llama.cpp repeated the name with each piece, others send it in pieces
		open.name = dialect.Name(open.name + name)
	}
	if name != "" {
		open.namedAt = d.frames
	}
	args := function.First("arguments", "input").Text()
	open.args = append(open.args, args[:min(len(args), maxArgs+1-len(open.args))]...)
}

// isOther reports whether a piece with the same index is of another call. Such a piece has a name, and one of these holds: its ID is
// another one, the same frame has already named this call, or its name differs and this call has arguments. Some servers send empty
// IDs, and the same index for all calls (Gemini). Others send a new ID in each piece of a call (vLLM, LiteLLM).
//
// Source: pull request 23522 of vllm-project/vllm, 28223 of BerriAI/litellm.
func (c *chatCall) isOther(id, name string, isWhole bool, frame int) bool {
	switch sameID := id != "" && id == c.id; {
	case name == "":
		return false
	case id != "" && c.id != "" && !sameID:
		return true
	case c.name == "":
		return false
	default:
		return c.namedAt == frame && !sameID || name != c.name && (isWhole || len(c.args) > 0)
	}
}

func (c *chat) choiceAt(index int64) *choice {
	if i := slices.IndexFunc(c.choices, func(known *choice) bool { return known.index == index }); i >= 0 {
		return c.choices[i]
	}
	if len(c.choices) >= maxChoices {
		return nil
	}
	begun := &choice{index: index, name: dialect.Name(strconv.FormatInt(index, 10) + " " + c.id), nature: answer}
	c.choices = append(c.choices, begun)
	return begun
}

// reportCall reports the last call of a choice, whose arguments are complete.
func (d *decoder) reportCall(c *choice, b *event.Batch) {
	open := c.call
	if c.call = nil; open == nil {
		return
	}
	d.calls.begin(call{id: open.id, tool: open.name})
	d.response.hasCalls = true
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name, e.ReusesID = open.id, open.name, d.callIDs.Contains(d.run+" "+open.id)
	if open.id != "" {
		d.callIDs.Add(d.run + " " + open.id)
	}
	var doc strictjson.Doc
	if len(open.args) <= maxArgs && doc.Parse(open.args, maxArgsDepth, strictjson.Everywhere) == nil {
		e.SetPayload(doc.Root())
	}
}

const maxArgsDepth = 32

// indexOf returns the number of a choice, which may be a text.
func indexOf(choice strictjson.Value) int64 {
	index := choice.Get("index")
	n, isNumber := index.Int()
	if !isNumber {
		n, _ = strconv.ParseInt(index.String(), 10, 64)
	}
	return n
}
