package tracker

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Content is what an operation was given and what it gave back. It is kept only where the settings say so, and only until the
// operation has ended.
type Content struct {
	Arguments []byte // of a tool call: JSON
	Result    []byte // of a tool call: JSON
	Said      []Part // of a model's response
	Truncated bool   // something is missing

	held    int  // bytes counted against Settings.MaxContentHeld
	preview bool // Said comes from partial frames, which a whole one repeats
}

// Part is one piece of a model's response: text, a thought or a tool call.
type Part struct {
	Kind         event.Kind
	Text         []byte
	CallID, Name string
	Arguments    []byte // JSON
}

// partCost is what a part counts besides its bytes, so that empty ones are bounded too.
const partCost = 64

// room makes place for so many more bytes of an operation's content, and says how many of them it may have.
func (r *openRun) room(op *Operation, wanted int) int {
	limits := &r.tracker.settings
	d := op.details()
	if d.Content == nil {
		d.Content = &Content{}
	}
	c := d.Content
	given := min(wanted, limits.MaxContent-c.held)
	if free := max(limits.MaxContentHeld-r.tracker.held, 0); free < given {
		r.tracker.losses.Evicted(LostContent)
		given = free
	}
	if given < wanted {
		c.Truncated = true
	}
	if given > 0 && !limits.Memory.Reserve(given) {
		r.tracker.losses.Evicted(LostContent)
		given, c.Truncated = 0, true
	}
	c.held += given
	r.tracker.held += given
	return given
}

// release lets the content of an ended operation go.
func (r *openRun) release(op *Operation) {
	if c := op.Details.OrNone().Content; c != nil {
		r.tracker.held -= c.held
		r.tracker.settings.Memory.Release(c.held)
		op.Details.Content = nil
	}
}

// keepsContent says whether the settings have content kept.
func (r *openRun) keepsContent() bool { return r.tracker.settings.MaxContent > 0 }

// given keeps a call's arguments, and gave its result.
func (r *openRun) given(op *Operation, e *event.Event) {
	if r.keepsContent() && e.Payload().Exists() {
		room := r.room(op, len(e.Payload().Raw()))
		op.Details.Content.Arguments = appendCut(nil, e.Payload(), room)
	}
}

func (r *openRun) gave(op *Operation, e *event.Event) {
	if r.keepsContent() && e.Payload().Exists() {
		room := r.room(op, len(e.Payload().Raw()))
		op.Details.Content.Result = appendCut(nil, e.Payload(), room)
	}
}

// say keeps what a model's response says: that of the speaker's response which the frame shows or ends.
func (r *openRun) say(e *event.Event, b *event.Batch, agent *Operation) {
	if !r.keepsContent() {
		return
	}
	op := r.response(agent)
	if op == nil {
		return
	}
	if c := op.Details.OrNone().Content; c != nil && c.preview && !b.Partial {
		r.release(op)
	}
	switch e.Kind {
	case event.KindText, event.KindThought:
		r.sayText(op, e)
	case event.KindToolStarted:
		r.sayCall(op, e)
	}
	op.Details.Content.preview = b.Partial
}

// response is the chat that a frame's text belongs to; nil where the stream shows none.
func (r *openRun) response(agent *Operation) *Operation {
	if op := r.partial[agent]; op != nil {
		return op
	}
	if op := r.settling[agent]; op != nil {
		return op
	}
	for _, op := range r.ended {
		if op.Kind == Chat {
			return op
		}
	}
	return nil
}

func (r *openRun) sayText(op *Operation, e *event.Event) {
	if c := op.Details.OrNone().Content; c != nil {
		if n := len(c.Said); n > 0 && c.Said[n-1].Kind == e.Kind { // the next piece of the same text
			last := &c.Said[n-1]
			last.Text = append(last.Text, cutText(e.Text(), r.room(op, len(e.Text())))...)
			return
		}
	}
	if room := r.room(op, partCost+len(e.Text())) - partCost; room >= 0 {
		c := op.Details.Content
		c.Said = append(c.Said, Part{Kind: e.Kind, Text: bytes.Clone(cutText(e.Text(), room))})
	}
}

func (r *openRun) sayCall(op *Operation, e *event.Event) {
	own := partCost + len(e.Name) + len(e.CallID)
	room := r.room(op, own+len(e.Payload().Raw())) - own
	if room >= 0 {
		c := op.Details.Content
		c.Said = append(c.Said, Part{Kind: e.Kind, CallID: e.CallID, Name: e.Name, Arguments: appendCut(nil, e.Payload(), room)})
	}
}

// cutText is the beginning of a text, in whole characters.
func cutText(text []byte, room int) []byte {
	if len(text) <= room {
		return text
	}
	for room > 0 && text[room]&0xC0 == 0x80 {
		room--
	}
	return text[:room]
}

// appendCut appends a value as JSON of at most room bytes: what does not fit loses the ends of its strings and the last of its
// members; nothing is appended where not even an empty value fits.
func appendCut(dst []byte, v strictjson.Value, room int) []byte {
	raw := v.Raw()
	if len(raw) <= room {
		return append(dst, raw...)
	}
	if room < len(`""`) {
		return dst
	}
	switch v.Kind() {
	case strictjson.String:
		return appendCutString(dst, raw, room)
	case strictjson.Object:
		return appendCutObject(dst, v, room)
	case strictjson.Array:
		return appendCutArray(dst, v, room)
	}
	return dst
}

// appendCutString keeps the beginning of a string as it was sent, and no half of an escape or of a character.
func appendCutString(dst, raw []byte, room int) []byte {
	last := 1
	for i := 1; i < len(raw)-1 && i <= room-1; {
		last = i
		switch {
		case raw[i] == '\\' && raw[i+1] == 'u' && i+6 < len(raw) && raw[i+6] == '\\' && raw[i+7] == 'u' && isHighSurrogate(raw[i+2:i+6]):
			i += 12
		case raw[i] == '\\' && raw[i+1] == 'u':
			i += 6
		case raw[i] == '\\':
			i += 2
		default:
			for i++; raw[i]&0xC0 == 0x80; {
				i++
			}
		}
	}
	dst = append(dst, raw[:last]...)
	return append(dst, '"')
}

func isHighSurrogate(hex []byte) bool {
	return (hex[0] == 'd' || hex[0] == 'D') && bytes.IndexByte([]byte("89abAB"), hex[1]) >= 0
}

func appendCutObject(dst []byte, v strictjson.Value, room int) []byte {
	start := len(dst)
	dst = append(dst, '{')
	for name, member := range v.Members() {
		before := len(dst)
		if before-start > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, name.Raw()...), ':')
		named := len(dst)
		if dst = appendCut(dst, member, room-(named-start)-1); len(dst) == named {
			dst = dst[:before]
			break
		}
	}
	return append(dst, '}')
}

func appendCutArray(dst []byte, v strictjson.Value, room int) []byte {
	start := len(dst)
	dst = append(dst, '[')
	for element := range v.Elements() {
		before := len(dst)
		if before-start > 1 {
			dst = append(dst, ',')
		}
		separated := len(dst)
		if dst = appendCut(dst, element, room-(separated-start)-1); len(dst) == separated {
			dst = dst[:before]
			break
		}
	}
	return append(dst, ']')
}

// Question is what was asked. It is content, and kept as that is.
type Question struct {
	Prompt  string
	Options []byte // JSON, or nil
	Schema  []byte // JSON, or nil
}

// questionOf returns what an event asks, if content is kept and the run's own operation has room for all of it.
func (r *openRun) questionOf(e *event.Event) *Question {
	asked := e.Question()
	size := len(asked.Prompt) + len(asked.Options.Raw()) + len(asked.Schema.Raw())
	if !r.keepsContent() || size == 0 || r.room(r.Root, size) < size {
		return nil
	}
	return &Question{asked.Prompt, bytes.Clone(asked.Options.Raw()), bytes.Clone(asked.Schema.Raw())}
}

// forgetQuestions lets go of what was asked.
func (r *openRun) forgetQuestions() {
	for _, in := range r.Inputs {
		in.Question = nil
	}
}
