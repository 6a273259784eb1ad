package openai

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// marks hold what the objects around a text say about its message. Such an object is a frame, a choice, a delta, a message, an event, or
// an item or its part.
type marks struct {
	hasRole   bool
	instructs bool       // a role is that of an instruction, or unreadable
	kind      event.Kind // of the text, by its role
	thinks    bool       // the text is a thought
	answers   bool       // the text is not a thought; thinks takes precedence
	shows     bool       // there is a thought besides the text
	foreign   bool       // a message is not an assistant's
}

// Members that mark a message, and their values for a thought and for an answer. gpt-oss models state a channel, and some servers
// pass it on, Groq only beside pieces of reasoning. OpenAI and Qwen state a phase, Zhipu and others a type. Any other channel or phase
// may be that of a thought, such as Qwen's "think", and so may any other type of a choice. Other objects have types of the protocol, so
// only otherTypes are marks. See also reasoningMembers.
//
// Source: tests/models/cassettes/test_groq of pydantic-ai, for Groq.
var (
	roleMembers    = []string{"role"}
	authorMembers  = []string{"author"}
	channelMembers = []string{"channel", "phase"}
	typeMembers    = []string{"type"}
	thoughtMembers = []string{"thought"}
	markMembers    = slices.Concat(roleMembers, authorMembers, channelMembers, typeMembers, thoughtMembers, reasoningMembers, []string{"adk_thought"})

	otherTypes     = []string{"analysis", "thinking", "reasoning", "reasoning_item", "final", "final_answer", "commentary", "answer", "text"} // not those of choices
	answerChannels = []string{"final", "final_answer", "commentary", "answer", "text", "text_delta", "output_text", "content", "message", "response", "refusal"}
)

var markNames = func() (p lenient.Prefilter) {
	p.Add(markMembers)
	return p
}()

// marksOf returns what objects say about the message that they contain or that they add to.
func marksOf(levels ...strictjson.Value) marks {
	m := marks{kind: event.KindText}
	for _, v := range levels {
		m.read(v, false)
	}
	return m
}

// choiceMarks is marksOf for a choice and the objects in it. If they have no text, a mark beside a piece of a thought is that of the piece:
// Groq sends the answer after it without a mark.
func choiceMarks(levels ...strictjson.Value) marks {
	m, withText := marks{kind: event.KindText}, slices.ContainsFunc(levels, hasText)
	for _, v := range levels {
		own := marks{kind: event.KindText}
		if own.read(v, true); !withText && len(thoughtOf(v).Text()) > 0 {
			own.thinks = false
		}
		m.add(own)
	}
	return m
}

func (m *marks) read(v strictjson.Value, ofChoice bool) {
	for name, value := range v.Members() {
		if text := name.Text(); markNames.MayMatch(text) || lenient.NamesThoughtMarker(text) {
			m.readMember(name, value, ofChoice)
		}
	}
	for element := range v.Elements() {
		m.read(element, ofChoice)
	}
}

func (m *marks) readMember(name, value strictjson.Value, ofChoice bool) {
	switch text := name.Text(); {
	case lenient.MatchesAny(text, roleMembers):
		m.readRole(value)
	case lenient.MatchesAny(text, authorMembers):
		for name, role := range value.Members() {
			if lenient.MatchesAny(name.Text(), roleMembers) {
				m.readRole(role)
			}
		}
	case lenient.MatchesAny(text, channelMembers):
		m.readChannel(value)
	case lenient.MatchesAny(text, typeMembers):
		if ofChoice || lenient.MatchesAny(value.Text(), otherTypes) {
			m.readChannel(value)
		}
	case lenient.IsThoughtMarker(name, value):
		m.thinks = true
	case lenient.MatchesAny(text, thoughtMembers):
		m.answers = m.answers || value.Kind() == strictjson.Bool
		m.shows = m.shows || value.Kind() != strictjson.Number && !isBlank(value)
	case lenient.MatchesAny(text, reasoningMembers):
		m.shows = m.shows || !isBlank(value)
	}
}

func (m *marks) readChannel(v strictjson.Value) {
	isAnswer := lenient.MatchesAny(v.Text(), answerChannels)
	m.answers = m.answers || isAnswer
	m.thinks = m.thinks || !isAnswer && !isBlank(v)
}

func (m *marks) readRole(role strictjson.Value) {
	m.hasRole = m.hasRole || len(role.Text()) > 0
	m.instructs = m.instructs || wire.IsInstruction(role)
	switch {
	case lenient.MatchesAny(role.Text(), toolRoles):
		m.kind = event.KindToolEnded
	case !isAssistant(role) && m.kind != event.KindToolEnded: // of two roles, only a tool's can be excluded
		m.kind = event.KindOther
	}
}

// toolRoles are the roles of messages with a tool's result, compared leniently.
var toolRoles = []string{"tool", "function"}

// isAssistant reports whether a role is the assistant's, or absent.
func isAssistant(role strictjson.Value) bool {
	return role.Kind() <= strictjson.Null || role.Is("assistant") || role.Is("")
}

// isBlank reports whether a value is absent, null, false, or an empty string, list or object.
func isBlank(v strictjson.Value) bool {
	switch v.Kind() {
	case strictjson.String:
		return len(v.Text()) == 0
	case strictjson.Object, strictjson.Array:
		return v.Len() == 0
	}
	yes, _ := v.Bool()
	return !yes && v.Kind() != strictjson.Number
}

// isReadable reports whether a value is absent, null or an object.
func isReadable(v strictjson.Value) bool {
	return v.Kind() <= strictjson.Null || v.Kind() == strictjson.Object
}

// nature is what all marks of a message together say about its text.
type nature struct {
	kind    event.Kind // of the text, by the message's type or role
	thinks  bool       // the text is a thought
	foreign bool       // see marks
}

// answer is the nature of a message without marks.
var answer = nature{kind: event.KindText}

func (n nature) textKind() event.Kind {
	if n.thinks {
		return event.KindThought
	}
	return n.kind
}

// add adds what another object says about the same message.
func (m *marks) add(other marks) {
	m.hasRole, m.instructs, m.foreign = m.hasRole || other.hasRole, m.instructs || other.instructs, m.foreign || other.foreign
	m.thinks, m.answers, m.shows = m.thinks || other.thinks, m.answers || other.answers, m.shows || other.shows
	if other.kind != event.KindText {
		m.kind = other.kind
	}
}

// updated returns the nature with further marks of the message.
func (n nature) updated(m marks) nature {
	switch {
	case m.thinks:
		n.thinks = true
	case m.answers:
		n.thinks = false
	}
	if m.hasRole || m.kind != event.KindText {
		n.kind = m.kind
	}
	n.foreign = n.foreign || m.foreign
	return n
}

// markText records what a chunk says about a message, and returns the kind of the chunk's text. A mark deeper within the choice (Gemini)
// applies to the text of the chunk. If the chunk has no text, the mark applies to the whole message. The text of a
// choice that is not recorded may be a thought.
func (c *choice) markText(v strictjson.Value, m marks) event.Kind {
	isDeep := lenient.ContainsThoughtMarker(v)
	m.thinks = m.thinks || isDeep && !hasText(v) && !hasText(v.Get("delta")) && !hasText(v.Get("message"))
	kind := answer.updated(m).textKind()
	switch {
	case c == nil && kind == event.KindText:
		kind = event.KindThought
	case c != nil:
		c.nature = c.nature.updated(m)
		kind = c.nature.textKind()
	}
	if isDeep {
		return event.KindThought
	}
	return kind
}

// hasText reports whether an object of a chunk has text, in any form.
func hasText(v strictjson.Value) bool {
	return !isBlank(v.Get("content")) || !isBlank(v.Get("refusal")) || !isBlank(v.Get("audio")) || !isBlank(v.Get("text"))
}

// hasDeeperThought reports whether a part of the content, a field of the model's provider, or one of several messages is a thought. The
// message as a whole need not be one.
func hasDeeperThought(levels ...strictjson.Value) bool {
	var m marks
	for _, v := range levels {
		m.read(v.Get("provider_specific_fields"), false)
		m.read(v.Get("content"), false)
		for message := range v.Elements() {
			m.read(message, false)
		}
	}
	return m.shows || m.thinks
}

// markTexts reports whether the objects have text. If the text is no answer, markTexts sets its kind.
func markTexts(kind event.Kind, b *event.Batch, objects ...strictjson.Value) (any bool) {
	for _, v := range objects {
		if !hasText(v) {
			continue
		}
		any = true
		if kind != event.KindText {
			b.SetTextKind(v, kind)
		}
	}
	return any
}
