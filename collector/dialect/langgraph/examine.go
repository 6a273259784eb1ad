package langgraph

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// findings says what a value contains at any depth.
type findings struct {
	internal   bool // a message that is internal or was withheld, or data of an internal node; what is beside it may be internal too
	instructs  bool // a message that instructs a model, a prompt, or the removal of a withheld message; what is beside it may leave
	prompts    bool // the texts that a completion model gets
	hasThought bool // a model's thought
	doubtful   bool // a message or call that may be from an unreadable frame, or arguments that may belong to a withheld call
}

func (f *findings) add(other findings) {
	f.internal, f.instructs, f.prompts = f.internal || other.internal, f.instructs || other.instructs, f.prompts || other.prompts
	f.hasThought, f.doubtful = f.hasThought || other.hasThought, f.doubtful || other.doubtful
}

// maxScan limits the depth to which values are searched for messages. Deeper values count as internal.
const maxScan = 100

// examine returns what a value contains, and records its messages.
func (d *decoder) examine(v strictjson.Value, at place, depth int) (found findings) {
	if depth > maxScan {
		return findings{internal: v.Kind() >= strictjson.Array}
	}
	if _, isBeside := d.beside[v]; isBeside || at < inBody && isPair(v) && d.repeatsUnnamed(v) {
		return findings{internal: true}
	}
	var is traits
	if v.Kind() == strictjson.Object && (at != inState || depth > 0 || mayBeLoneMessage(v)) { // the members of a state have names of the application
		is, found = d.examineObject(v, at)
	}
	found.instructs = found.instructs || v.Kind() == strictjson.Array && at < inBody && isInstructionPair(v)
	isWithin := d.inResponse
	d.inResponse = isWithin || is.isFromModel(v)
	defer func() { d.inResponse = isWithin }()
	for name, member := range v.Members() {
		if d.isCutCall(member) {
			continue
		}
		if at == inState && name.Is(activeAgentKey) && isInternalScope(member) {
			d.cuts = append(d.cuts, member)
			continue
		}
		if to := d.placeOfMember(v, is, at, name, member); !d.cutSend(member, to) {
			part := d.examinePart(member, to, depth+1)
			d.hasOutput = d.hasOutput || v == d.eventData && part.internal && !name.Is("input")
			found.add(part)
		}
	}
	for element := range v.Elements() {
		if !d.isCutCall(element) && !d.cutSend(element, at.ofElement()) {
			found.add(d.examinePart(element, at.ofElement(), depth+1))
		}
	}
	return found
}

// mayBeLoneMessage reports whether a state may be a message. A graph that is written as a function returns what it likes.
func mayBeLoneMessage(state strictjson.Value) bool {
	return state.Get("content").Exists() && state.First("id", "type", "role").Exists() || lenient.IsInstruction(&instructions, state)
}

// Members that examineObject looks for.
var (
	messageMembers = []string{"content", "content_blocks", "tool_calls", "tool_call_id"}
	// savedMembers contain the members of a message that LangChain has serialized: kwargs beside its class, or
	// data beside its type. Source: langchain_core/load/serializable.py, messages_to_dict and their JavaScript
	// counterparts.
	savedMembers = []string{"kwargs", "data"}
	typeMembers  = []string{"type", "role"}
	nameMembers  = []string{"name"}
	idMembers    = []string{"id", "tool_call_id", "interrupt_id"}
	scopeMembers = []string{"langgraph_node", "lc_agent_name", "langgraph_checkpoint_ns", "checkpoint_ns", "langgraph_path", "ns"}
	refMembers   = []string{"message_id", "messageId", "parent_message_id", "parentMessageId"} // name the message to which an object belongs
	// An object with callMembers is a model's message, and one with resultMembers is the result of a call, whatever its type.
	callMembers, resultMembers = []string{"tool_calls"}, []string{"tool_call_id"}
	// A call has argumentMembers, an interrupt questionMembers, and what is sent to a node sendMembers. Source:
	// langgraph/types.py, Interrupt and Send; langgraph_api/serde.py, default.
	argumentMembers, questionMembers, sendMembers = []string{"args"}, []string{"value"}, []string{"arg", "args"}
	// thoughtMembers hold thoughts. Source: langchain_core/messages/content.py, langchain_deepseek,
	// langchain_openai and langchain_aws, chat_models.
	thoughtMembers = []string{"thinking", "reasoning", "reasoning_content", "reasoningContent", "redacted_thinking", "thought", "adk_thought"}

	// memberPrefilter rules out most names of members. shapePrefilter rules out most names that are not in shapeMembers.
	memberPrefilter = lenient.NewPrefilter(&event.Table{
		Labels: shapeMembers, Envelopes: slices.Concat(typeMembers, nameMembers, idMembers, scopeMembers, refMembers, promptMembers), DeepMembers: thoughtMembers,
	})
	shapePrefilter = lenient.NewPrefilter(&event.Table{Labels: shapeMembers})
	shapeMembers   = slices.Concat(messageMembers, savedMembers, argumentMembers, questionMembers, sendMembers)
)

// traits are what the names and values of an object's members say about it.
type traits struct {
	isMessage, isResponse, isResult, isCall, isQuestion, isSend bool

	isOfUser      bool // a user's message
	isInstruction bool // it has the type, role or class of a message that instructs a model
	isPrompt      bool // it has the type or class of a prompt
	isLabeled     bool // it has an internal type or name
	isInterface   bool // an element of a user interface
	isSaved       bool // it has the class of a model's message
	isScoped      bool // it names an internal node, agent or namespace, or belongs to a withheld message
	isWithheld    bool // it has the id of something that was withheld
	isShared      bool // it has the id of something that other streams withhold too
}

// examineObject returns what the members of an object say about it, and records the object if it is a message or a result.
func (d *decoder) examineObject(v strictjson.Value, at place) (is traits, found findings) {
	if at < inBody && d.withheldCalls.unnamed.Len() > 0 {
		d.clearResult(v)
	}
	for name, value := range v.Members() {
		text := name.Text()
		if !memberPrefilter.MayMatch(text) {
			continue
		}
		if shapePrefilter.MayMatch(text) {
			is.addName(text, value)
		}
		switch {
		case lenient.MatchesAny(text, typeMembers):
			is.addType(value)
			found.hasThought = found.hasThought || isThoughtType(value)
		case lenient.MatchesAny(text, nameMembers):
			is.isLabeled = is.isLabeled || lenient.ContainsInternal(value)
		case lenient.MatchesAny(text, idMembers):
			is.addID(&d.withheld, value)
			found.hasThought = found.hasThought || mayName(&d.thoughts, value)
		case lenient.MatchesAny(text, scopeMembers):
			is.isScoped = is.isScoped || isInternalScope(value)
		case lenient.MatchesAny(text, refMembers):
			is.isScoped = is.isScoped || mayName(&d.withheld, value)
			if at != inData {
				d.noteReference(v, value)
			}
		case lenient.MatchesAny(text, thoughtMembers):
			found.hasThought = found.hasThought || holdsThought(value)
		case lenient.MatchesAny(text, promptMembers):
			found.prompts = found.prompts || at != inData && bytes.IndexByte(value.Raw(), '"') >= 0
		}
	}
	d.conclude(is, v, at, &found)
	return is, found
}

// isFromModel reports whether an object is a message of a model.
func (is *traits) isFromModel(v strictjson.Value) bool {
	return is.isMessage && (is.isResponse || is.isSaved) && !is.isResult && !isToolResult(v)
}

// modelClasses are LangChain's classes of a model's messages.
var modelClasses = []string{"AIMessage", "AIMessageChunk"}

// addName adds what the name of a member says.
func (is *traits) addName(name []byte, value strictjson.Value) {
	is.isMessage = is.isMessage || lenient.MatchesAny(name, messageMembers) || lenient.MatchesAny(name, savedMembers) && lenient.HasMember(value, messageMembers)
	is.isResponse = is.isResponse || lenient.MatchesAny(name, callMembers)
	is.isResult = is.isResult || lenient.MatchesAny(name, resultMembers)
	is.isCall = is.isCall || lenient.MatchesAny(name, argumentMembers)
	is.isQuestion = is.isQuestion || lenient.MatchesAny(name, questionMembers)
	is.isSend = is.isSend || lenient.MatchesAny(name, sendMembers)
}

// addType adds what a type or a role says.
func (is *traits) addType(v strictjson.Value) {
	is.isInstruction = is.isInstruction || isInstruction(v) || namesInstruction(v)
	is.isPrompt = is.isPrompt || isPromptType(v)
	is.isLabeled = is.isLabeled || lenient.ContainsInternal(v)
	is.isResponse = is.isResponse || lenient.MatchesAny(v.Text(), responseTypes)
	is.isOfUser = is.isOfUser || lenient.MatchesAny(v.Text(), userTypes)
	is.isInterface = is.isInterface || lenient.MatchesAny(v.Text(), interfaceTypes)
}

// addID adds what an id, or the path of a class, says.
func (is *traits) addID(withheld *wire.SharedSet, id strictjson.Value) {
	is.isInstruction = is.isInstruction || namesInstruction(id)
	is.isPrompt = is.isPrompt || namesPrompt(id)
	is.isSaved = is.isSaved || slices.ContainsFunc(elementsOf(id), func(part strictjson.Value) bool { return lenient.MatchesAny(part.Text(), modelClasses) })
	if mayName(withheld, id) {
		is.isWithheld, is.isShared = true, is.isShared || withheld.IsShared(dialect.Name(string(id.Text())))
	}
}

// conclude adds to the findings what an object is, and records its ids. In the data of tools, only a withheld object counts.
func (d *decoder) conclude(is traits, v strictjson.Value, at place, found *findings) {
	if is.isMessage && (mayName(&d.thoughts, v.Get("id")) || isMarked(v)) {
		d.marked = append(d.marked, v)
	}
	if is.isMessage {
		d.messages = append(d.messages, v)
		d.markBlocks(v, found)
		if d.beganBefore() {
			d.noteGraphOfCalls(v)
		}
	}
	if at == inData {
		found.internal = is.isWithheld && (is.isMessage || is.isCall || is.isQuestion)
		return
	}
	if is.isResult || is.isMessage && isToolResult(v) {
		d.withheldCalls.end(d, v)
		is.isWithheld = d.withheldCalls.endUnnamed(d, v) || is.isWithheld
	}
	found.internal, found.instructs = is.isScoped || at == inQuestions && lenient.HasInternalDiscriminator(&questionNames, v), at < inBody && (is.isPrompt || is.instructs(v))
	switch {
	case found.instructs:
		d.withholdMessage(v, true)
	case !is.isMessage && is.isInterface:
		d.checkInterface(is, v, found)
	case !is.isMessage:
		found.internal = found.internal || is.isWithheld && (is.isCall || is.isQuestion) || is.isQuestion && d.repeatsUnnamed(v) || is.isSend && namesScope(v, sendTargets)
		if found.doubtful = is.isCall && d.mayBeWithheldCall(v); is.isCall && !d.inResponse && asksInternal(v) { // withholdRepeats has cut those in a model's message
			found.internal = true
			d.withholdCallID(d.name(v.First("call_id", "id")))
		}
	case is.isWithheld && !is.isLabeled && v.Get("type").Is("remove"): // RemoveMessage, which has only the ID
		found.instructs = true
	case is.isLabeled || is.isWithheld:
		found.internal = true
		d.withholdMessage(v, is.isLabeled || is.isShared)
	case d.repeatsUnnamed(v) || d.repeatsReused(v):
		found.internal = true
	case d.shown.isFromMissed(v, is.isResponse, is.isResult), is.isResult && isToolResult(v) && d.isOfUnseenCall(v):
		found.doubtful = true
	default:
		d.reuseCalls(v)
		d.pieces.answered.Add(d.name(v.Get("tool_call_id")))
		d.shown.noteMessage(v)
		ids := d.withholdInternalCalls(v)
		if is.isFromModel(v) && !d.inResponse { // else the message around it was scanned
			d.withholdRepeats(v, ids)
		}
	}
}

// cutSend cuts what is sent to an internal node, and reports whether v is that. What is sent to other nodes beside it may leave.
func (d *decoder) cutSend(v strictjson.Value, at place) bool {
	if at == inData || !v.Get("node").Exists() || !lenient.HasMember(v, sendMembers) || !namesScope(v, sendTargets) {
		return false
	}
	d.withholdNew(v, 0)
	d.cutCall(v)
	return true
}

// sendTargets name the node to which a value is sent.
var sendTargets = []string{"node"}

// markBlocks records the blocks of a message that are thoughts. Some readers do not recognize a thought by the type of its block.
func (d *decoder) markBlocks(message strictjson.Value, found *findings) {
	for _, content := range []strictjson.Value{message.Get("content"), message.Get("content_blocks")} {
		for _, block := range append(elementsOf(content), content) {
			if isThoughtBlock(block) {
				found.hasThought = true
				d.markText(block)
			}
		}
	}
}

// markText records that the text of a block is a thought, unless its type says so.
func (d *decoder) markText(block strictjson.Value) {
	if kind := block.Get("type"); kind.Is("text") || !kind.Exists() {
		d.marked = append(d.marked, block)
	}
}

// holdsThought reports whether the value of one of thoughtMembers is not empty.
func holdsThought(v strictjson.Value) bool {
	on, isBool := v.Bool()
	return v.Kind() > strictjson.Null && (on || !isBool) && len(v.Raw()) > len(`""`)
}

// isInternalScope reports whether a node, an agent, a namespace or a path of nodes is internal.
func isInternalScope(v strictjson.Value) bool {
	for name, member := range v.Members() {
		if isInternalNode(name.Text()) || isInternalScope(member) {
			return true
		}
	}
	return slices.ContainsFunc(elementsOf(v), isInternalScope) || anySegment(v.Text(), isInternalNode)
}

// instructionRoles are the types and roles of messages that instruct a model.
var instructionRoles = []string{"system", "developer", "SystemMessage", "SystemMessageChunk", "DeveloperMessage", "DeveloperMessageChunk"}

func isInstruction(role strictjson.Value) bool {
	return lenient.MatchesAny(role.Text(), instructionRoles)
}

// instructions are messages that instruct a model in the forms of other frameworks.
var instructions = event.Instructions{Roles: instructionRoles}

// instructs reports whether an object is a message that instructs a model. Such a message of LangChain has a type or a class, and
// content. Other frameworks have other members for the content.
func (is *traits) instructs(v strictjson.Value) bool {
	return is.isInstruction && (is.isMessage || lenient.HasMember(v, otherContent)) || lenient.IsInstruction(&instructions, v)
}

// otherContent are the members that hold the content of a message of other frameworks.
var otherContent = []string{"parts", "text", "blocks"}

// namesInstruction reports whether the path of a class, or a list of types, contains that of an instruction.
func namesInstruction(names strictjson.Value) bool {
	return names.Kind() == strictjson.Array && slices.ContainsFunc(elementsOf(names), isInstruction)
}

// isInstructionPair reports whether v is a message that instructs a model in LangChain's other form: a list
// of the role, the text and, optionally, an object with more members.
func isInstructionPair(v strictjson.Value) bool {
	if n := v.Len(); n != 2 && n != 3 {
		return false
	}
	parts := elementsOf(v)
	return isInstruction(parts[0]) && parts[1].Kind() != strictjson.Object && (len(parts) == 2 || parts[2].Kind() == strictjson.Object)
}
