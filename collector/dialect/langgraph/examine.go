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

// examination is the state of the examination of a frame.
type examination struct {
	thoughts wire.Set[string]   // messages that are thoughts as a whole, by ID, of all frames
	withheld wire.Set[string]   // IDs of withheld messages, of their calls, and of withheld tasks, of all frames
	ofRun    *withheldItems     // those of all streams of the run; nil while the run is unknown
	lastRun  *withheldItems     // those of the thread's last run while the run is unknown, which may be that one; else nil
	given    seenSet            // messages that withheld nodes and tasks got, of all frames
	messages []strictjson.Value // of the frame
	marked   []strictjson.Value // messages of the frame in which every text is a thought, and blocks with a thought
	cuts     []strictjson.Value // parts that do not leave with the frame

	toolInput  strictjson.Value // of an event of a tool
	toolOutput strictjson.Value // of an event of a tool, if it is neither a message nor a Command
}

func (e *examination) beginExamination(mode string, v strictjson.Value) {
	*e = examination{thoughts: e.thoughts, withheld: e.withheld, ofRun: e.ofRun, lastRun: e.lastRun, given: e.given, messages: e.messages[:0], marked: e.marked[:0], cuts: e.cuts[:0]}
	if mode != modeEvents || !isToolEvent(v) {
		return
	}
	data := v.Get("data")
	e.toolInput = data.Get("input")
	if output := data.Get("output"); !writesState(output) {
		e.toolOutput = output
	}
}

// findings says what a value contains at any depth.
type findings struct {
	hidden     bool // what does not leave: a message that instructs a model, a prompt, or an internal message or question
	prompts    bool // the texts that a completion model gets
	hasThought bool // a model's thought
}

func (f *findings) add(other findings) {
	f.hidden, f.prompts, f.hasThought = f.hidden || other.hidden, f.prompts || other.prompts, f.hasThought || other.hasThought
}

// maxScan limits the depth to which values are searched for messages. Deeper values do not leave.
const maxScan = 100

// examine returns what a value contains, and records its messages.
func (e *examination) examine(v strictjson.Value, at place, depth int) (found findings) {
	if depth > maxScan {
		return findings{hidden: v.Kind() >= strictjson.Array}
	}
	var is traits
	if v.Kind() == strictjson.Object && (at != inState || depth > 0 || mayBeLoneMessage(v)) { // the members of a state have names of the application
		is, found = e.examineObject(v, at)
	}
	found.hidden = found.hidden || at < inBody && isInstructionPair(v)
	for name, member := range v.Members() {
		found.add(e.examinePart(member, e.placeOfMember(v, is, at, name, member), depth+1))
	}
	for element := range v.Elements() {
		found.add(e.examinePart(element, at.ofElement(), depth+1))
	}
	return found
}

// examinePart examines a part of a value. If the frame can leave without the part, it is cut.
func (e *examination) examinePart(v strictjson.Value, at place, depth int) findings {
	found := e.examine(v, at, depth)
	if at == inPart && found.hidden {
		e.cuts = append(e.cuts, v)
		found.hidden = false
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
	markMembers  = []string{"kind", "event"} // with typeMembers, they may say that a message is internal
	nameMembers  = []string{"name"}
	idMembers    = []string{"id"}
	// An object with callMembers is a model's message, and one with resultMembers is the result of a call, whatever its type.
	callMembers, resultMembers = []string{"tool_calls"}, []string{"tool_call_id"}
	// ownMembers are members of messages in other data. An object without them, such as a file of deepagents, may have content of its own.
	ownMembers = slices.Concat(words.Anywhere, idMembers)
	// thoughtMembers hold thoughts. Source: langchain_core/messages/content.py, langchain_deepseek,
	// langchain_openai and langchain_aws, chat_models.
	thoughtMembers = []string{"thinking", "reasoning", "reasoning_content", "reasoningContent", "redacted_thinking", "thought", "adk_thought"}

	// memberPrefilter rules out most names of members.
	memberPrefilter = lenient.NewPrefilter(&event.Table{
		Labels: slices.Concat(messageMembers, savedMembers, typeMembers, markMembers, idMembers, thoughtMembers, promptMembers),
	})
)

// traits are what the names and values of an object's members say about it.
type traits struct {
	isMessage, isResponse, isResult bool

	isOfUser      bool // a user's message
	isInstruction bool // it has the type, role or class of a message that instructs a model
	isInternal    bool // it has an internal type, role, kind or event
	isWithheld    bool // it has the ID of something withheld, or is the result of a withheld call
	isPrompt      bool // it has the type or class of a prompt
}

// examineObject returns what the members of an object say about it, and records the object if it is a message.
func (e *examination) examineObject(v strictjson.Value, at place) (is traits, found findings) {
	for name, value := range v.Members() {
		text := name.Text()
		if !memberPrefilter.MayMatch(text) {
			continue
		}
		is.addName(text, value)
		switch {
		case lenient.MatchesAny(text, typeMembers):
			is.addType(value)
			found.hasThought = found.hasThought || isThoughtType(value)
		case lenient.MatchesAny(text, markMembers):
			is.isInternal = is.isInternal || lenient.ContainsInternal(value)
		case lenient.MatchesAny(text, resultMembers):
			is.isWithheld = is.isWithheld || e.isWithheld(value)
		case lenient.MatchesAny(text, idMembers):
			is.addClass(value)
			is.isWithheld = is.isWithheld || e.isWithheld(value)
			found.hasThought = found.hasThought || e.isThought(value)
		case lenient.MatchesAny(text, thoughtMembers):
			found.hasThought = found.hasThought || holdsThought(value)
		case lenient.MatchesAny(text, promptMembers):
			found.prompts = found.prompts || at != inData && bytes.IndexByte(value.Raw(), '"') >= 0
		}
	}
	if is.isMessage && at != inData && (at != elsewhere || lenient.HasMember(v, ownMembers)) {
		e.messages = append(e.messages, v)
	}
	if is.isMessage {
		found.hasThought = e.markThoughts(v) || found.hasThought
	}
	switch {
	case at == inData:
	case is.isMessage && is.isInternal, is.isWithheld && (is.isMessage || len(toolOf(v).Text()) > 0):
		e.withhold(v)
		found.hidden = true
	case is.isMessage && e.hasWithheld():
		e.beginCalls(v)
	}
	isInternal := at == inQuestions && lenient.HasInternalDiscriminator(&questionNames, v)
	found.hidden = found.hidden || isInternal || at < inBody && (is.isPrompt || is.instructs(v))
	return is, found
}

// addName adds what the name of a member says.
func (is *traits) addName(name []byte, value strictjson.Value) {
	is.isMessage = is.isMessage || lenient.MatchesAny(name, messageMembers) || lenient.MatchesAny(name, savedMembers) && lenient.HasMember(value, messageMembers)
	is.isResponse = is.isResponse || lenient.MatchesAny(name, callMembers)
	is.isResult = is.isResult || lenient.MatchesAny(name, resultMembers)
}

// addType adds what a type or a role says.
func (is *traits) addType(v strictjson.Value) {
	is.isInstruction = is.isInstruction || isInstruction(v) || namesInstruction(v)
	is.isInternal = is.isInternal || lenient.ContainsInternal(v)
	is.isPrompt = is.isPrompt || isPromptType(v)
	is.isResponse = is.isResponse || lenient.MatchesAny(v.Text(), responseTypes)
	is.isOfUser = is.isOfUser || lenient.MatchesAny(v.Text(), userTypes)
}

// addClass adds what the path of a class says. It is in the member of other objects that holds their ID.
func (is *traits) addClass(id strictjson.Value) {
	is.isInstruction = is.isInstruction || namesInstruction(id)
	is.isPrompt = is.isPrompt || namesPrompt(id)
}

// isThought reports whether the message with an ID is or may be a thought as a whole.
func (e *examination) isThought(id strictjson.Value) bool {
	return id.Kind() == strictjson.String && e.thoughts.MayContain(dialect.Name(string(id.Text())))
}

// markThoughts records a message in which every text is a thought, and the blocks of a message that are thoughts, and reports whether there are
// such blocks. Some readers do not recognize a thought by the type of its block.
func (e *examination) markThoughts(message strictjson.Value) (hasBlock bool) {
	if e.isThought(message.Get("id")) || isMarked(message) {
		e.marked = append(e.marked, message)
	}
	for _, content := range []strictjson.Value{message.Get("content"), message.Get("content_blocks")} {
		for _, block := range append(elementsOf(content), content) {
			if !isThoughtBlock(block) {
				continue
			}
			hasBlock = true
			if kind := block.Get("type"); kind.Is("text") || !kind.Exists() { // else the type says so
				e.marked = append(e.marked, block)
			}
		}
	}
	return hasBlock
}

// holdsThought reports whether the value of one of thoughtMembers is not empty.
func holdsThought(v strictjson.Value) bool {
	on, isBool := v.Bool()
	return v.Kind() > strictjson.Null && (on || !isBool) && len(v.Raw()) > len(`""`)
}

// responseTypes are the types and roles of the messages that models and tools write. resultTypes are those of the results of tools.
var (
	responseTypes = append([]string{"ai", "assistant", "AIMessage", "AIMessageChunk", "chat", "ChatMessage", "ChatMessageChunk"}, resultTypes...)
	resultTypes   = []string{"tool", "ToolMessage", "ToolMessageChunk", "function", "FunctionMessage", "FunctionMessageChunk"}
)

func isToolResult(message strictjson.Value) bool {
	return lenient.MatchesAny(message.First("type", "role").Text(), resultTypes)
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
	if n := v.Len(); v.Kind() != strictjson.Array || n != 2 && n != 3 {
		return false
	}
	parts := elementsOf(v)
	return isInstruction(parts[0]) && parts[1].Kind() != strictjson.Object && (len(parts) == 2 || parts[2].Kind() == strictjson.Object)
}
