package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// wholeTexts holds the texts of withheld messages. Messages of CrewAI's state have no IDs, so lists have them under new ones.
//
// Source: litellm_messages_to_ag_ui_messages in ag_ui_crewai/sdk.py of ag-ui-crewai 1.0.
type wholeTexts struct {
	byMessage map[key]digest
	byText    map[digest]key
}

// minRepeated is the least size of a text that counts as a repetition, in bytes without white space. A shorter one is said often.
const minRepeated = 12

// set remembers the text of a withheld message as it is now.
func (t *wholeTexts) set(message key, text digest) {
	before, known := t.byMessage[message]
	switch {
	case text == unknownText, !known && len(t.byMessage) >= wire.MaxSet:
		return
	case t.byMessage == nil:
		t.byMessage, t.byText = make(map[key]digest), make(map[digest]key)
	case t.byText[before] == message:
		delete(t.byText, before)
	}
	t.byMessage[message] = text
	if _, isOther := t.byText[text]; !isOther {
		t.byText[text] = message
	}
}

// repeatsText reports whether a message of a list or state has the text of a withheld message, and names no agent. A message that left,
// or that the client sent, or that has a text that left, does not count.
func (d *decoder) repeatsText(message strictjson.Value) bool {
	if len(d.wholeTexts.byText) == 0 || !isAssistants(message) || len(message.Get("name").Text()) > 0 {
		return false
	}
	return !d.knownToClient.Contains(d.memberOf(message, ownIDs)) && d.isRepeated(contentOf(message))
}

// isRepeated reports whether a text is that of a withheld message, and of no message that left.
func (d *decoder) isRepeated(content []byte) bool {
	text := digestOf(content)
	_, isWithheld := d.wholeTexts.byText[text]
	return isWithheld && text.size >= minRepeated && !d.pieces.haveLeft(text)
}

// patchRepeatsText reports whether a patch of a state brings the text of a withheld message, alone or in a message.
func (d *decoder) patchRepeatsText(patch strictjson.Value) bool {
	if len(d.wholeTexts.byText) == 0 {
		return false
	}
	for op := range patch.Elements() {
		if d.isRepeated(op.Get("value").Text()) {
			return true
		}
	}
	repeats := func(v strictjson.Value, _ bool) bool { return d.repeatsText(v) }
	return !yieldMessages(patch, anywhere, repeats, func(_, _ strictjson.Value) bool { return false })
}

// assistantTypes are LangChain's types of messages of a model.
var assistantTypes = []string{"assistant", "ai", "AIMessage", "AIMessageChunk"}

// isAssistants reports whether a message of a list is a model's. LangChain's messages have their role in their type.
func isAssistants(message strictjson.Value) bool {
	return slices.ContainsFunc(assistantTypes, message.First("role", "type").Is)
}

// contentOf returns the text of a message of a list, which may be in parts.
func contentOf(message strictjson.Value) (text []byte) {
	for name, content := range message.Members() {
		if !lenient.MatchesAny(name.Text(), contentMembers) {
			continue
		}
		text = append(text, content.Text()...)
		for part := range content.Elements() {
			text = append(text, part.Get("text").Text()...)
		}
	}
	return text
}

// cutMethodOutput withholds the result of an internal method from a question of CrewAI. The question itself leaves, because a person has
// to answer it.
//
// Source: build_agui_interrupt in ag_ui_crewai/_hitl.py of ag-ui-crewai 1.0.
func cutMethodOutput(question strictjson.Value, cut func(strictjson.Value)) {
	if crew := question.Get("metadata").Get("crewai"); lenient.IsInternal(crew.Get("methodName").Text()) && crew.Get("output").Exists() {
		cut(crew.Get("output"))
	}
}
