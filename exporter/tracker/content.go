package tracker

import (
	"bytes"
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Content is the input and output of an operation. It is kept only if the settings ask for it, and
// only until the observers have seen the operation end.
type Content struct {
	Arguments []byte        // of a tool call: JSON
	Result    []byte        // of a tool call: JSON
	Output    []MessagePart // of a model's response
	Truncated bool          // something was cut or left out

	size        int  // bytes charged to Settings.MaxContentTotal
	fromPartial bool // Output comes from partial frames, which a whole frame will repeat
}

// MessagePart is one part of a model's response: text, a thought or a tool call.
type MessagePart struct {
	Kind         event.Kind
	Text         []byte
	CallID, Name string
	Arguments    []byte // JSON
}

// partCost is the size charged for a part in addition to its bytes, which bounds the number of
// empty parts.
const partCost = 64

// reserveContent reserves memory for an operation's content, and returns how many of the wanted
// bytes it may use.
func (r *openRun) reserveContent(op *Operation, wanted int) int {
	limits := &r.tracker.settings
	d := op.details()
	if d.Content == nil {
		d.Content = &Content{}
	}
	c := d.Content
	granted := max(min(wanted, limits.MaxContent-c.size), 0) // a reload may have lowered the limit below the size
	if free := max(limits.MaxContentTotal-r.tracker.contentBytes, 0); free < granted {
		r.tracker.losses.CountEvicted(LostContent)
		granted = free
	}
	if granted < wanted {
		c.Truncated = true
	}
	if granted > 0 && !limits.Memory.Reserve(granted) {
		r.tracker.losses.CountEvicted(LostContent)
		granted, c.Truncated = 0, true
	}
	c.size += granted
	r.tracker.contentBytes += granted
	return granted
}

// releaseContent drops an operation's content.
func (r *openRun) releaseContent(op *Operation) {
	if c := op.Details.OrZero().Content; c != nil {
		r.tracker.contentBytes -= c.size
		r.tracker.settings.Memory.Release(c.size)
		op.Details.Content = nil
	}
}

func (r *openRun) keepsContent() bool { return r.tracker.settings.MaxContent > 0 }

// keepPayload keeps the arguments or the result of a call.
func (r *openRun) keepPayload(op *Operation, e *event.Event) {
	if !r.keepsContent() || !e.Payload().Exists() {
		return
	}
	room := r.reserveContent(op, len(e.Payload().Raw()))
	to := &op.Details.Content.Arguments
	if e.Kind == event.KindToolEnded {
		to = &op.Details.Content.Result
	}
	*to = appendCut(nil, e.Payload(), room)
}

// keepOutput adds a text, a thought or a call to the output of the model response that the frame belongs to.
func (r *openRun) keepOutput(e *event.Event, b *event.Batch, agent *Operation) {
	if !r.keepsContent() {
		return
	}
	op := r.chatOf(agent, b.Response)
	if op == nil {
		return
	}
	if c := op.Details.OrZero().Content; c != nil && c.fromPartial && !b.Partial {
		r.releaseContent(op)
	}
	switch e.Kind {
	case event.KindText, event.KindThought:
		r.keepText(op, e)
	case event.KindToolStarted:
		r.keepToolCall(op, e)
	}
	op.Details.Content.fromPartial = b.Partial
}

// chatOf returns the model response that a frame's text belongs to, or nil.
func (r *openRun) chatOf(agent *Operation, response string) *Operation {
	key := responseKey{agent, response}
	return cmp.Or(r.partialResponses[key], r.awaitingUsage[key], r.endedResponse)
}

func (r *openRun) keepText(op *Operation, e *event.Event) {
	if c := op.Details.OrZero().Content; c != nil {
		if n := len(c.Output); n > 0 && c.Output[n-1].Kind == e.Kind { // the next piece of the same text
			last := &c.Output[n-1]
			last.Text = append(last.Text, cutText(e.Text(), r.reserveContent(op, len(e.Text())))...)
			return
		}
	}
	if room := r.reserveContent(op, partCost+len(e.Text())) - partCost; room >= 0 {
		c := op.Details.Content
		c.Output = append(c.Output, MessagePart{Kind: e.Kind, Text: bytes.Clone(cutText(e.Text(), room))})
	}
}

func (r *openRun) keepToolCall(op *Operation, e *event.Event) {
	own := partCost + len(e.Name) + len(e.CallID)
	room := r.reserveContent(op, own+len(e.Payload().Raw())) - own
	if room >= 0 {
		c := op.Details.Content
		c.Output = append(c.Output, MessagePart{Kind: e.Kind, CallID: e.CallID, Name: e.Name, Arguments: appendCut(nil, e.Payload(), room)})
	}
}

// cutText returns the beginning of a text, at most room bytes, without splitting a character.
func cutText(text []byte, room int) []byte {
	if len(text) <= room {
		return text
	}
	for room > 0 && text[room]&0xC0 == 0x80 {
		room--
	}
	return text[:room]
}

// appendCut appends a value as valid JSON of at most room bytes, by cutting strings and leaving out
// the last members. It appends nothing if not even an empty value fits.
func appendCut(dst []byte, v strictjson.Value, room int) []byte {
	raw := v.Raw()
	if len(raw) <= room {
		return append(dst, raw...)
	}
	if room < len(`""`) {
		return dst
	}
	start := len(dst)
	switch v.Kind() {
	case strictjson.String:
		return appendCutString(dst, raw, room)
	case strictjson.Object:
		dst = append(dst, '{')
		for name, member := range v.Members() {
			if !appendCutMember(&dst, start, name, member, room) {
				break
			}
		}
		return append(dst, '}')
	case strictjson.Array:
		dst = append(dst, '[')
		for element := range v.Elements() {
			if !appendCutMember(&dst, start, strictjson.Value{}, element, room) {
				break
			}
		}
		return append(dst, ']')
	}
	return dst
}

// appendCutString appends the beginning of a string, without splitting an escape sequence or a
// character.
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

// appendCutMember appends a member of the object or array that begins at start. An element of an array has
// no name. It appends nothing and returns false if the member does not fit.
func appendCutMember(dst *[]byte, start int, name, v strictjson.Value, room int) bool {
	before := len(*dst)
	if before-start > 1 {
		*dst = append(*dst, ',')
	}
	if name.Exists() {
		*dst = append(append(*dst, name.Raw()...), ':')
	}
	at := len(*dst)
	if *dst = appendCut(*dst, v, room-(at-start)-1); len(*dst) == at {
		*dst = (*dst)[:before]
		return false
	}
	return true
}

// Question is what an input request asks. It is content, and kept under the same conditions.
type Question struct {
	Prompt  string
	Options []byte // JSON, or nil
	Schema  []byte // JSON, or nil
}

// questionOf returns the question of an event, or nil if content is not kept or the root operation
// has no room for all of it.
func (r *openRun) questionOf(e *event.Event) *Question {
	asked := e.Question()
	size := len(asked.Prompt) + len(asked.Options.Raw()) + len(asked.Schema.Raw())
	if !r.keepsContent() || size == 0 || r.reserveContent(r.Root, size) < size {
		return nil
	}
	return &Question{asked.Prompt, bytes.Clone(asked.Options.Raw()), bytes.Clone(asked.Schema.Raw())}
}

// forgetQuestions drops all questions.
func (r *openRun) forgetQuestions() {
	for _, in := range r.Inputs {
		in.Question = nil
	}
}
