package langgraph

import (
	"regexp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Members with which an event of the application, a question or an error says that it is internal: of an event at any depth, of a question
// in each object within it, except a schema, which may name any type. Messages and what else LangGraph sends have none.
//
// Source: langgraph/types.py, Interrupt (response_schema); langchain/agents/middleware/human_in_the_loop.py, ReviewConfig (args_schema).
var (
	customNames   = event.Table{Discriminators: []string{"type", "kind"}, NameMembers: []string{"event"}, DeepEnvelopes: true}
	questionNames = event.Table{Discriminators: customNames.Discriminators, NameMembers: customNames.NameMembers}
	errorNames    = event.Table{Discriminators: customNames.Discriminators}
	schemaMembers = []string{"schema", "args_schema", "response_schema"}
)

// printedInternal matches a member of a printed question, or an attribute of a printed object, that says that it is internal. It is for texts
// after lenient.Text.
var printedInternal = regexp.MustCompile(`\b(type|kind|event)(['"]:|=)['"]internal`)

// check decides whether a frame is internal, which parts of it are cut, and which of its texts are thoughts.
func (d *decoder) check(mode string, v strictjson.Value, b *event.Batch) {
	d.beginExamination(mode, v)
	found := d.examine(v, places[mode], 0)
	b.HasThoughts = found.hasThought
	b.Internal = found.hidden || showsPrompt(mode, v, found) || namesInternal(mode, v)
	for _, part := range d.cuts {
		b.Cut(part)
	}
	d.hideFailures(b)
	d.listResults(b)
	d.listThoughts(mode, v, b)
}

// namesInternal reports whether a frame says that it is internal, apart from its questions.
func namesInternal(mode string, v strictjson.Value) bool {
	switch mode {
	case modeCustom:
		return lenient.HasInternalDiscriminator(&customNames, v)
	case modeError:
		return lenient.HasInternalDiscriminator(&errorNames, v)
	case modeEvents:
		return isCustomEvent(v) && (hasInternalName(v) || lenient.HasInternalDiscriminator(&customNames, v.Get("data"))) || printsInternalQuestion(v.Get("data").Get("error"))
	}
	return false
}

func isCustomEvent(v strictjson.Value) bool {
	return lenient.HasPrefix(v.Get("event").Text(), "on_custom_event")
}

func hasInternalName(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), nameMembers) && lenient.ContainsInternal(value) {
			return true
		}
	}
	return false
}

// printsInternalQuestion reports whether the exception with which a question leaves a tool contains a question that says that it is internal.
func printsInternalQuestion(exception strictjson.Value) bool {
	if !isInterrupt(exception) {
		return false
	}
	return printedInternal.Match(lenient.Text(exception.Get("message").Text())) || printedInternal.Match(lenient.Text(exception.Text()))
}

// listResults lists the messages of a frame that are results of tools but do not have the type of roleKinds.
func (d *decoder) listResults(b *event.Batch) {
	for _, m := range d.messages {
		isResult := isToolResult(m) || m.Get("tool_call_id").Exists() && !m.First("type", "role").Exists()
		if isResult && !m.Get("type").Is("tool") {
			b.SetTextKind(m, event.KindToolEnded)
		}
	}
}

// listThoughts lists the messages of a frame in which every text is a thought, as stated by the message, by its metadata or
// by another frame.
func (d *decoder) listThoughts(mode string, v strictjson.Value, b *event.Batch) {
	if message, metadata := tuple(v); mode == modeMessages && marksThought(metadata) {
		d.marked = append(d.marked, message)
		b.HasThoughts = true
	}
	for _, message := range d.marked {
		b.SetTextKind(message, event.KindThought)
	}
}
