package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// place says what a value is a part of. From inBody on, models, users and tools wrote the value, so nothing in it is an instruction.
type place uint8

const (
	elsewhere   place = iota
	inNodes           // an object whose members are what nodes have returned
	inState           // a state, a node's update of one, or a list of these
	inMessages        // a list of messages, or an Overwrite with one
	inPart            // a member of a state, or a message: the smallest part that a frame can leave without
	inQuestions       // a list of questions, or a part of one that is neither arguments nor a schema
	inKwargs          // the member of a message to which LangChain's models add their own data
	inBody            // the content of a message
	inData            // the arguments or the result of a tool, or the structured output of a model
)

// places maps a mode whose frames can leave without a part to the place of its data.
var places = map[string]place{modeValues: inState, modeUpdates: inNodes, modeMessagesPartial: inMessages, modeMessagesComplete: inMessages}

// ofElement returns the place of an element of a list.
func (p place) ofElement() place {
	switch p {
	case inMessages:
		return inPart
	case inState, inQuestions, inBody, inData:
		return p
	}
	return elsewhere
}

// Members of messages and calls whose values models, users and tools write.
var (
	bodyMembers   = []string{"content", "content_blocks"}
	resultBody    = []string{"content", "content_blocks", "artifact"}
	kwargsMembers = []string{"additional_kwargs"}
	parsedMembers = []string{"parsed"} // langchain_openai/chat_models/base.py
	callArguments = []string{"args", "arguments", "input"}
	// argumentMembers are those of callArguments that LangChain's calls have. callTypes are the types of other calls.
	argumentMembers = callArguments[:1]
	callTypes       = []string{"tool_use", "tool_call", "tool_call_chunk", "function_call"}
	// questionLists are the members that list the questions of a task, a state or an update. Those of a state and an update are interruptKeys.
	questionLists = []string{"interrupts", interruptKey}
	interruptKeys = questionLists[1:]
)

// placeOfMember returns the place of a member of an object.
func (e *examination) placeOfMember(v strictjson.Value, is traits, at place, name, value strictjson.Value) place {
	isSpoken := is.isMessage && !is.isInstruction && (is.isResponse || is.isOfUser)
	switch text := name.Text(); {
	case at == inData, value == e.toolOutput, v == e.toolInput && !isInjected(name, value):
		return inData
	case at == inNodes && !lenient.MatchesAny(text, interruptKeys):
		return inState
	case isSpoken && is.isResult && lenient.MatchesAny(text, resultBody), at == inKwargs && lenient.MatchesAny(text, parsedMembers), isArgument(v, text):
		return inData
	case isSpoken && lenient.MatchesAny(text, bodyMembers), at == inBody:
		return inBody
	case isSpoken && lenient.MatchesAny(text, kwargsMembers):
		return inKwargs
	case at == inState && name.Is("messages") && (value.Kind() == strictjson.Array || overwriteContent(value).Exists()), at == inMessages && value == overwriteContent(v):
		return inMessages
	case at == inState && !lenient.MatchesAny(text, interruptKeys):
		return inPart
	case lenient.MatchesAny(text, questionLists), at == inQuestions && !lenient.MatchesAny(text, schemaMembers):
		return inQuestions
	}
	return elsewhere
}

// isArgument reports whether a member of an object has the arguments of a call. A call names a tool, and in the form of a
// model's server it also has a type.
func isArgument(v strictjson.Value, name []byte) bool {
	return lenient.MatchesAny(name, callArguments) && len(toolOf(v).Text()) > 0 &&
		(lenient.MatchesAny(name, argumentMembers) || lenient.MatchesAny(v.Get("type").Text(), callTypes))
}

func isToolEvent(v strictjson.Value) bool {
	return lenient.HasPrefix(v.Get("event").Text(), "on_tool_")
}

// isInjected reports whether an argument of a tool is from the graph and not from the model: the graph's state, or what
// contains it. The messages of a state are complete, those that a model writes as an argument are not.
//
// Source: langgraph/prebuilt/tool_node.py, InjectedState and ToolRuntime.
func isInjected(name, value strictjson.Value) bool {
	return name.Is("state") || name.Is("runtime") || slices.ContainsFunc(elementsOf(value.Get("messages")), func(message strictjson.Value) bool {
		return message.First("additional_kwargs", "kwargs").Kind() == strictjson.Object
	})
}

// writesState reports whether the output of a tool contains a message or a Command.
func writesState(output strictjson.Value) bool {
	for _, one := range append(elementsOf(output), output) {
		isMessage := one.Get("content").Exists() && one.Get("id").Exists()
		if isMessage || one.Get("tool_call_id").Exists() || one.Get("update").Exists() {
			return true
		}
	}
	return false
}
