package langgraph

import (
	"regexp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Members with which a frame says that it is internal: an event of the application at any depth; a question in each object within it, except a
// schema, which may name any type; any other frame itself, in its message, or in the metadata beside it.
//
// Source: langgraph/types.py, Interrupt (response_schema); langchain/agents/middleware/human_in_the_loop.py, ReviewConfig (args_schema).
var (
	customNames   = event.Table{Discriminators: []string{"type", "kind"}, NameMembers: []string{"event"}, DeepEnvelopes: true}
	questionNames = event.Table{Discriminators: customNames.Discriminators, NameMembers: customNames.NameMembers}
	frameNames    = event.Table{Discriminators: customNames.Discriminators, NameMembers: customNames.NameMembers, Envelopes: []string{"metadata", "payload"}}
	schemaMembers = []string{"schema", "args_schema", "response_schema"}
)

// printedInternal matches a member of a printed question, or an attribute of a printed object, that says that it is internal. It is for texts
// after lenient.Text.
var printedInternal = regexp.MustCompile(`\b(type|kind|event)(['"]:|=)['"]internal`)

// check decides whether a frame is internal, which parts of it are cut, and which of its texts are thoughts.
func (d *decoder) check(mode string, namespace []byte, v strictjson.Value, b *event.Batch) {
	d.beginExamination(mode, v)
	d.shareWithheld()
	known := d.ofRun.len()
	isInternal := namesInternal(mode, v) || d.isOfWithheldTask(mode, namespace, v)
	if isInternal {
		d.withholdItems(mode, v)
	}
	found := d.examine(v, places[mode], 0)
	if d.ofRun.len() > known {
		d.keepWithheld()
	}
	b.HasThoughts = found.hasThought
	b.Internal = isInternal || found.hidden || showsPrompt(mode, v, found)
	for _, part := range d.cuts {
		b.Cut(part)
	}
	d.hideFailures(b)
	d.listResults(b)
	d.listThoughts(mode, v, b)
}

// namesInternal reports whether a frame says that it is internal, apart from its questions and from messages that can be cut. The application
// chooses the names of the members in a state.
func namesInternal(mode string, v strictjson.Value) bool {
	_, hasParts := places[mode]
	switch {
	case lenient.IsInternal([]byte(mode)):
		return true
	case hasParts:
		return false
	case mode == modeCustom:
		return lenient.HasInternalDiscriminator(&customNames, v)
	case mode == modeMessagesMetadata:
		for _, entry := range v.Members() {
			if lenient.HasInternalDiscriminator(&frameNames, entry) {
				return true
			}
		}
	case mode == modeEvents && (isCustomEvent(v) && (hasInternalName(v) || lenient.HasInternalDiscriminator(&customNames, v.Get("data"))) || printsInternalQuestion(v.Get("data").Get("error"))):
		return true
	}
	return lenient.HasInternalDiscriminator(&frameNames, v)
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
