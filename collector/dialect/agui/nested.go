package agui

import (
	"bytes"
	"iter"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// cutResult withholds the result of a run or subagent if it is marked internal or contains instructions for models, and such messages in an
// outcome. The rest of the frame leaves, because a client must learn of the end. Other frames have no result, so a result that is
// marked internal withholds the whole frame.
func (d *decoder) cutResult(k *kind, v strictjson.Value, b *event.Batch) {
	ends := k.name == typeRunFinished || k.name == typeSubagentFinished
	for name, value := range v.Members() {
		text := name.Text()
		isResult := lenient.MatchesAny(text, resultMembers)
		switch {
		case isResult && !ends:
			b.Internal = b.Internal || lenient.HasInternalDiscriminator(&table, value)
		case isResult && (b.Internal || d.filtered || lenient.HasInternalDiscriminator(&table, value) || isInstruction(v)):
			d.noteListed(value, false)
			b.Cut(value)
		case isResult && containsWithheld(value, anywhere):
			b.Cut(value)
		case isResult:
			d.noteListed(value, true)
		case ends && lenient.MatchesAny(text, outcomeMembers):
			for message := range withheldIn(value, anywhere) {
				b.Cut(message)
			}
		}
	}
}

var resultMembers = []string{"result"}

// position says where a value of an application is.
type position uint8

const (
	anywhere position = iota
	inList            // it is a list of messages, or in one
	inWords           // it is what somebody said, or the arguments of a call
)

// positionIn returns the position of a member of a message or an activity.
func positionIn(outer strictjson.Value, member []byte) position {
	at := anywhere
	if role := outer.Get("role"); role.Exists() && !role.Is("activity") {
		at = inWords
	}
	return at.inside(member)
}

// inside returns the position of a member of a value.
func (p position) inside(member []byte) position {
	switch {
	case lenient.MatchesAny(member, listMembers):
		return inList
	case p == inWords, p == inList && lenient.MatchesAny(member, conversationRule.PartMembers):
		return inWords
	}
	return anywhere
}

// withheldIn yields the parts of a value that are withheld messages, at any depth, or strings of JSON with such ones. A string that is not
// strict JSON is one if it may call itself internal.
func withheldIn(v strictjson.Value, at position) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) { yieldWithheld(v, at, yield) }
}

func yieldWithheld(v strictjson.Value, at position, yield func(part strictjson.Value) bool) (more bool) {
	if isWithheldMessage(v, at == inList) {
		return yield(v)
	}
	if at != inWords && v.Kind() == strictjson.String {
		inner := decoded(v)
		if inner.Kind() == strictjson.String {
			return !mayEncodeInternal(inner.Text()) || yield(v)
		}
		return yieldWithheld(inner, at, func(strictjson.Value) bool { return yield(v) })
	}
	for name, value := range v.Members() {
		if !lenient.MatchesAny(name.Text(), argumentMembers) && !yieldWithheld(value, at.inside(name.Text()), yield) {
			return false
		}
	}
	for element := range v.Elements() {
		if !yieldWithheld(element, at, yield) {
			return false
		}
	}
	return true
}

// containsWithheld reports whether a value contains a message that is withheld, at any depth.
func containsWithheld(v strictjson.Value, at position) bool {
	for range withheldIn(v, at) {
		return true
	}
	return false
}

// isWithheldMessage reports whether a value is a message that instructs a model or calls itself internal. Applications choose the
// value, so an object counts as a message only in a list of messages or if it has content.
func isWithheldMessage(v strictjson.Value, listed bool) bool {
	if v.Kind() != strictjson.Object || !listed && !lenient.HasMember(v, contentMembers) {
		return false
	}
	for name, value := range v.Members() { // LangChain's messages have their role in their type
		if lenient.MatchesAny(name.Text(), table.Discriminators) && lenient.MatchesAny(value.Text(), wire.InstructionRoles) {
			return true
		}
	}
	return isInstruction(v) || isMarkedMessage(v) || lenient.IsInternalMessage(&table, &valueRule, v)
}

// valueRule is conversationRule for a message in an application's value, which may have no role.
var valueRule = func() event.Messages {
	rule := conversationRule
	rule.RoleOptional = true
	return rule
}()

// nestsWithheld reports whether a member of a message or an activity contains a message that is withheld.
func nestsWithheld(outer strictjson.Value) bool {
	for name, value := range outer.Members() {
		if containsWithheld(value, positionIn(outer, name.Text())) {
			return true
		}
	}
	return false
}

// cutNested withholds the messages in the content of an activity that may not leave: that of a frame, or of a message
// in a snapshot. It returns true if nothing would remain of the content, because a reader requires one.
func (d *decoder) cutNested(activity strictjson.Value, idMember string, b *event.Batch) (whole bool) {
	id, cut := d.name(activity.Get(idMember)), false
	for name, value := range activity.Members() {
		if lenient.MatchesAny(name.Text(), table.InternalMembers) {
			continue // no reader gets it
		}
		for part := range withheldIn(value, positionIn(activity, name.Text())) {
			b.Cut(part)
			cut, whole = true, whole || part == value
		}
	}
	if replaces, stated := activity.Get("replace").Bool(); cut {
		d.cutActivities.Add(id)
	} else if replaces || !stated { // otherwise the reader keeps what it has
		d.cutActivities.Remove(id)
	}
	return whole
}

// encodesInternal reports whether a string in the application's value of a frame is JSON that calls itself internal. Mastra sends its
// questions as such strings.
//
// Source: src/mastra.ts of @ag-ui/mastra.
func encodesInternal(frameType string, v strictjson.Value) bool {
	switch frameType {
	case typeCustom:
		return lenient.HasEncodedInternal(&table, v.Get("value"))
	case typeActivitySnapshot:
		return lenient.HasEncodedInternal(&table, v.Get("content"))
	case typeActivityDelta:
		return lenient.HasEncodedInternal(&table, v.Get("patch"))
	}
	return false
}

// decoded returns the object or list in a string, or v itself.
func decoded(v strictjson.Value) strictjson.Value {
	for v.Kind() == strictjson.String {
		var doc strictjson.Doc
		text := bytes.TrimSpace(v.Text())
		if len(text) == 0 || bytes.IndexByte([]byte(`{["`), text[0]) < 0 || doc.Parse(text, lenient.MaxEncodedDepth, strictjson.Everywhere) != nil {
			return v
		}
		v = doc.Root()
	}
	return v
}

// mayEncodeInternal reports whether a text looks like JSON, is not strict JSON, and may have a name that begins with "internal". Other
// readers accept more, such as NaN.
func mayEncodeInternal(text []byte) bool {
	start := bytes.TrimLeft(text, "[ \t\r\n")
	return len(start) > 0 && start[0] == '{' && bytes.Contains(lenient.Text(text), []byte(`"internal`))
}
