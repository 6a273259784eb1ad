package agui

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withholdAtEnd withholds the result of a run or subagent if it is marked internal, contains instructions for models,
// or repeats or names something withheld. Of an outcome it withholds only such parts, because a client needs the questions. The
// rest of the frame leaves, because a client must learn of the end. Other frames have no result, so a result that is
// marked internal withholds the whole frame.
func (d *decoder) withholdAtEnd(k *kind, v strictjson.Value, b *event.Batch) {
	ends := k.name == typeRunFinished || k.name == typeSubagentFinished
	for name, value := range v.Members() {
		text := name.Text()
		isResult, isOutcome := lenient.MatchesAny(text, resultMembers), lenient.MatchesAny(text, outcomeMembers)
		switch {
		case isResult && !ends:
			b.Internal = b.Internal || lenient.HasInternalDiscriminator(&table, value)
		case isResult && (lenient.HasInternalDiscriminator(&table, value) || isInstruction(v) || d.containsWithheld(value, anywhere) || d.answers.mayBeIn(value) || d.hasQuestion(value)),
			mustLeave(k) && !isOutcome && !slices.ContainsFunc(ownEndMembers, name.Is) && d.namesWithheld(value):
			b.Cut(value)
			if isResult && k.name == typeSubagentFinished {
				d.hideAnswerOf(d.name(v.Get(k.idMember)))
			}
		case ends && isOutcome:
			current, legacy := questionLists(v)
			for _, questions := range [...]strictjson.Value{current, legacy} {
				for question := range elementsOf(questions) {
					cutMethodOutput(question, b.Cut)
				}
			}
			for message := range d.withheldIn(value, anywhere) {
				b.Cut(message)
			}
			for name, part := range value.Members() {
				if !slices.ContainsFunc(ownOutcomeMembers, name.Is) && d.namesWithheld(part) {
					b.Cut(part)
				}
			}
		}
	}
}

// mustLeave reports whether a client needs a frame although a part of it names something withheld.
func mustLeave(k *kind) bool {
	switch k.name {
	case typeRunStarted, typeRunFinished, typeRunError, typeSubagentFinished, typeSubagentError:
		return true
	}
	return false
}

var (
	resultMembers = []string{"result"}
	// ownEndMembers hold the IDs of a frame that mustLeave, and what is searched elsewhere.
	ownEndMembers = []string{"type", "threadId", "runId", "parentRunId", "subagentRunId", "input", "message", "error", "code"}
	// ownOutcomeMembers hold the questions of an outcome, and IDs.
	ownOutcomeMembers = []string{"type", "interrupts", "interruptIds", "pendingToolCallIds"}
)

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

// withheldIn yields the parts of a value that are withheld messages or objects, at any depth, or strings of JSON with such ones.
func (d *decoder) withheldIn(v strictjson.Value, at position) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) {
		yieldMessages(v, at, d.isWithheldObject, func(part, _ strictjson.Value) bool { return yield(part) })
	}
}

// yieldMessages yields the outermost objects in a value that are messages of a kind, each with the part of the value to withhold. For a
// message in a string of JSON, that is the string. A string that is not strict JSON is such a message if it may call itself internal.
func yieldMessages(v strictjson.Value, at position, isOne func(v strictjson.Value, listed bool) bool, yield func(part, message strictjson.Value) bool) (more bool) {
	if isOne(v, at == inList) {
		return yield(v, v)
	}
	if at != inWords && v.Kind() == strictjson.String {
		inner := decoded(v)
		if inner.Kind() == strictjson.String {
			return !mayEncodeInternal(inner.Text()) || yield(v, inner)
		}
		return yieldMessages(inner, at, isOne, func(_, message strictjson.Value) bool { return yield(v, message) })
	}
	for name, value := range v.Members() {
		if !yieldMessages(value, at.inside(name.Text()), isOne, yield) {
			return false
		}
	}
	for element := range v.Elements() {
		if !yieldMessages(element, at, isOne, yield) {
			return false
		}
	}
	return true
}

// containsWithheld reports whether a value contains a message that is withheld, at any depth.
func (d *decoder) containsWithheld(v strictjson.Value, at position) bool {
	for range d.withheldIn(v, at) {
		return true
	}
	return false
}

// isWithheldObject reports whether a value is a message that is withheld, or an object that names an internal agent. Applications choose the
// value, so an object counts as a message only in a list of messages or with the members of one.
func (d *decoder) isWithheldObject(v strictjson.Value, listed bool) bool {
	switch {
	case v.Kind() != strictjson.Object:
		return false
	case namesInternalAgent(v):
		return true
	}
	isMessage, instructs, hasRole := listed, isInstruction(v), listed
	for name, value := range v.Members() {
		text := name.Text()
		hasRole = hasRole || lenient.MatchesAny(text, roleMembers)
		isMessage = isMessage || lenient.MatchesAny(text, contentMembers)
		// LangChain's messages have their role in their type.
		instructs = instructs || lenient.MatchesAny(text, table.Discriminators) && lenient.MatchesAny(value.Text(), wire.InstructionRoles)
	}
	return isMessage && (instructs || callsItselfInternal(v) || d.repeatsWithheld(v) || hasRole && d.withheld.overflowed)
}

// isInternalIn reports whether a value is a message that calls itself internal. Prompts are none: agents keep them in their state.
func isInternalIn(v strictjson.Value, listed bool) bool {
	return isMessageIn(v, listed) && callsItselfInternal(v)
}

// callsItselfInternal reports whether a message calls itself internal.
func callsItselfInternal(v strictjson.Value) bool {
	return isMarkedMessage(v) || lenient.IsInternalMessage(&table, &valueRule, v)
}

// isSigned reports whether an object has a member that only messages have, or LangChain's type of one.
func isSigned(v strictjson.Value) bool {
	return lenient.HasMember(v, signs) || lenient.MatchesAny(v.Get("type").Text(), messageTypes)
}

var (
	signs        = slices.Concat(roleMembers, callLists)
	messageTypes = []string{
		"human", "ai", "tool", "function", "system", "developer", "chat", "user", "assistant",
		"HumanMessage", "AIMessage", "AIMessageChunk", "ToolMessage", "FunctionMessage", "SystemMessage", "ChatMessage",
	}
)

// isMessageIn reports whether a value counts as a message (see isWithheldObject).
func isMessageIn(v strictjson.Value, listed bool) bool {
	return v.Kind() == strictjson.Object && (listed || lenient.HasMember(v, contentMembers))
}

// hasInternalMessage reports whether a value has a message that calls itself internal, at any depth.
func hasInternalMessage(v strictjson.Value) bool {
	return !yieldMessages(v, anywhere, isInternalIn, func(_, _ strictjson.Value) bool { return false })
}

// cutInternal withholds the messages in a state that call themselves internal, and messages and calls with pieces that were withheld alone.
func (d *decoder) cutInternal(state strictjson.Value, b *event.Batch) {
	isOne := func(v strictjson.Value, listed bool) bool {
		return isInternalIn(v, listed) || d.repeatsText(v) || len(d.pieces.withheld) > 0 && d.pieces.areInOne(d.memberOf(v, ownIDs), v)
	}
	yieldMessages(state, anywhere, isOne, func(part, _ strictjson.Value) bool {
		b.Cut(part)
		return true
	})
}

// valueRule is conversationRule for a message in an application's value, which may have no role.
var valueRule = func() event.Messages {
	rule := conversationRule
	rule.RoleOptional = true
	return rule
}()

var (
	listMembers    = []string{"messages"}
	contentMembers = []string{"content"}
)

// nestsWithheld reports whether a member of a message or an activity contains a message that is withheld.
func (d *decoder) nestsWithheld(outer strictjson.Value) bool {
	for name, value := range outer.Members() {
		if d.containsWithheld(value, positionIn(outer, name.Text())) {
			return true
		}
	}
	return false
}

// cutNested withholds the messages and objects in the content of an activity that may not leave: that of a frame, or of a message
// in a snapshot. It returns true if nothing would remain of the content, because a reader requires one.
func (d *decoder) cutNested(activity strictjson.Value, idMember string, b *event.Batch) (whole bool) {
	id, cut := d.name(activity.Get(idMember)), false
	for name, value := range activity.Members() {
		if lenient.MatchesAny(name.Text(), table.InternalMembers) {
			continue // no reader gets it
		}
		at := positionIn(activity, name.Text())
		parts := slices.Collect(d.withheldIn(value, at))
		if at != inWords && name.Is("content") {
			parts = append(parts, d.activityData.copiesIn(value)...)
		}
		for _, part := range parts {
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

// mayInstruct reports whether a change of an activity may add a message that is withheld, or may change one that the
// reader does not have.
func (d *decoder) mayInstruct(id string, patch strictjson.Value) bool {
	if d.cutActivities.MayContain(id) || d.activityShapes.makesInternal(patch, d.withholdListed, id) || patchContains(patch, d.isWithheldObject) || len(d.activityData.copiesIn(patch)) > 0 {
		return true
	}
	for c := range changesOf(patch, nil) {
		member := []byte(c.member())
		isCopied := !c.value.Exists() && lenient.MatchesAny(member, copiedMembers)
		if isCopied || mayMakeMessage(member, c.value, d.isWithheldObject) {
			return true
		}
	}
	return false
}

// mayMakeMessage reports whether a change of a member may make the object that contains it a message of a kind. The change does not show
// the other members, so the object counts as a message, or as the metadata of one.
func mayMakeMessage(member []byte, value strictjson.Value, isOne func(v strictjson.Value, listed bool) bool) bool {
	if !value.Exists() || !changePrefilter.MayMatch(member) {
		return false
	}
	encoded, err := json.Marshal(map[string]any{"content": "", "toolCalls": []any{}, string(member): json.RawMessage(value.Raw())})
	var doc strictjson.Doc
	return err != nil || doc.Parse(encoded, maxChangeDepth) != nil || isOne(doc.Root(), false)
}

// maxChangeDepth bounds the levels of nesting in a member that a change sets. Deeper ones are withheld.
const maxChangeDepth = 128

var (
	metadataMembers = []string{"metadata"}

	// changePrefilter finds the members of a message that say whether it is withheld.
	changePrefilter = lenient.NewPrefilter(&event.Table{Labels: slices.Concat(
		roleMembers, metadataMembers, table.Discriminators, table.Labels, ownIDs, callIDs, callLists, subagentIDs, agentMembers, toolMembers,
	)})

	// copiedMembers say that an object is withheld if they have a value that is not known.
	copiedMembers = slices.Concat(roleMembers, agentMembers, toolMembers)
)
