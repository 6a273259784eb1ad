package openai

import (
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// failure replaces an error of the server. OpenAI's clients raise an exception with its message.
const failure = `{"error":{"message":"the run failed","type":"server_error","param":null,"code":null}}`

// chosenMembers contain what users and applications choose.
var chosenMembers = []string{"instructions", "tools", "metadata", "variables", "attributes"}

var table = event.Table{
	Discriminators: []string{"type", "kind"},
	// No frame of the protocol has the member "event", but other protocols name their events in it.
	Labels:        []string{"event", "object"},
	DeepEnvelopes: true,
	// The type of an error may be "internal_server_error" (LiteLLM) or "InternalServerError" (vLLM). A schema may describe the member "type",
	// and so may what the SDK parsed with it.
	OpaqueMembers: append([]string{"arguments", "input", "output", "error", "schema", "parsed", "parsed_arguments", "env"}, chosenMembers...),
	FreeMembers:   []string{"tools", "schema", "model_settings", "modelSettings", "variables", "metadata", "attributes", "parsed", "parsed_arguments", "env"},
	// The output of a response has items. The output of an item is the result of a tool, whose members the tool chooses.
	OwnEnvelopes: map[string][]string{"response": {"output"}},
	Events:       eventNames,
	KeptEvents:   eventNames, // OpenAI's client for JavaScript raises an exception for "error"
	// An instruction may be in any object, except where users choose the members' names. vLLM's input_messages hold the text of the prompt.
	Instructions: &event.Instructions{Roles: wire.InstructionRoles, Members: []string{"input_messages"}, Skipped: chosenMembers},
	FailureData:  failure,
	OversizeData: `{"error":{"message":"` + event.OversizeMessage + `","type":"server_error","param":null,"code":null}}`,
	Types:        types,
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// eventNames are the SSE event names of the protocol. Each is the type of its frame.
var eventNames = append(slices.Collect(maps.Keys(types)), "message", typeError)

// wrapped returns the type of an event in an envelope of the Agents SDK.
func wrapped(envelope, name string) string { return envelope + " " + name }

// runItemName is the member that holds the name of a run_item_stream_event.
var runItemName = []string{"name"}

// unbegun is the type of a part of an item whose start is not in the stream. It is unknown what the item is, and whether its start left.
var unbegun = event.Type{Client: true, AnyFact: true}

type rules = map[string]*event.Rule

var types = func() map[string]event.Type {
	all := map[string]event.Type{
		typeChunk:                 {Client: true, Words: &chunkWords, Public: chunkRule(event.Rule{Elements: choiceRule("other")})},
		typeFailedChunk:           {Client: true, Words: &chunkWords, Public: chunkRule(event.Rule{Elements: choiceRule("error")})},
		typeTrailer:               {Client: true, Words: &chunkWords, Public: chunkRule(noList)}, // else a role in it would begin a completion
		typeResults:               {Client: true, Words: &chunkWords},
		typeDone:                  {Text: true, Client: true, Public: &event.Rule{AllowedValues: []string{typeDone}, Form: event.FormEnum}},
		typeServerError:           {Client: true, Public: &event.Rule{Fact: event.KindError, Replacement: failure}},
		typeAgentUpdated:          {Client: true, Public: members(rules{"type": &scalar, "new_agent": &scalar, "agent": &scalar, "agent_name": &scalar})},
		typeAgentObject:           {Client: true, Public: members(rules{"type": &scalar, "new_agent": agentObject, "agent": agentObject})},
		typeHandedOver:            {Client: true, Public: members(rules{"type": &scalar, "new_agent": &target, "agent": &target, "agent_name": &target})},
		typeRunItem:               {Client: true, Labels: runItemName, Words: &itemWords, Public: runItemRule(nil)},
		withAnswer(typeRunItem):   {Client: true, Labels: runItemName, Words: &itemWords, Public: answerItemRule(), Answer: true},
		typeFailedItem:            {Client: true, Labels: runItemName, Words: &itemWords, Public: runItemRule(rules{"output": {Replacement: `"` + toolFailed + `"`}})},
		typeRefusedItem:           {Client: true, Labels: runItemName, Words: &itemWords, Public: runItemRule(rules{"output": {Replacement: `"` + toolRejected + `"`}})},
		withThoughts(typeRunItem): {Client: true, Labels: runItemName, Words: &event.Words{Members: map[string]event.Kind{"item": event.KindThought}}, Public: runItemRule(nil)},
		typeUnbegun:               unbegun,
		typeRaw:                   {},                            // the wrapped event is unknown
		typeModel:                 {Client: true, AnyFact: true}, // texts and items in other words, or a chunk

		wrapped(typeRaw, typeUnbegun): unbegun, wrapped(typeModel, typeUnbegun): unbegun,
	}
	for name, public := range responseRules() {
		t := event.Type{Client: true, Public: public, Words: wordsOf(strings.TrimSuffix(strings.TrimSuffix(name, answerSuffix), itemsSuffix)), Shows: shownBy(name), Answer: strings.HasSuffix(name, answerSuffix)}
		all[name] = t
		t.Public = nil
		if public != nil {
			t.Public = members(rules{"type": &scalar, "data": public})
		}
		all[wrapped(typeRaw, name)] = t
		if public != nil {
			t.Public = members(rules{"type": &scalar, "data": members(rules{"type": &scalar, "event": public})})
		}
		all[wrapped(typeModel, name)] = t
	}
	return all
}()

// shownBy returns the kind to which an event about a call belongs, or nil for other events.
func shownBy(name string) []event.Kind {
	switch {
	case slices.Contains(callData, name), slices.Contains(callProgress, name):
		return []event.Kind{event.KindToolStarted}
	case slices.Contains(resultData, name):
		return []event.Kind{event.KindToolEnded}
	case slices.Contains(callEnds, name):
		return []event.Kind{event.KindToolStarted, event.KindToolEnded}
	}
	return nil
}

// responseTypes are the types of the events that contain a response.
var responseTypes = []string{typeCreated, typeQueued, typeInProgress, typeCompleted, typeIncomplete, typeFailed}

// wordsOf returns where an event has texts that its rule for the public leaves out.
func wordsOf(name string) *event.Words {
	if slices.Contains(responseTypes, strings.TrimSuffix(name, thoughtsSuffix)) {
		return &responseWords
	}
	switch name {
	case typePartAdded, typePartDone:
		return &partWords
	case typeItemAdded, typeItemDone, typeForeign:
		return &itemWords
	case "response.audio.transcript.delta":
		return &event.Words{Containers: []string{"data", "event"}, Members: map[string]event.Kind{"delta": event.KindText}}
	}
	return nil
}

// withThoughts returns the type of an event with a reasoning item.
func withThoughts(name string) string { return name + thoughtsSuffix }

// withAnswer returns the type of an event that repeats an answer. Its text counts as an answer although earlier
// events have reported it.
func withAnswer(name string) string { return name + answerSuffix }

const (
	thoughtsSuffix = " with thoughts"
	answerSuffix   = " of an answer"
	itemsSuffix    = " of items" // a response that has no answer, but repeats calls
)

// responseRules returns the rules for the events of a response.
func responseRules() map[string]*event.Rule {
	all := map[string]*event.Rule{
		typeItemAdded: part(rules{"item": &begunItem}), typeItemDone: part(rules{"item": &publicItem}),
		withThoughts(typeItemAdded): part(rules{"item": &publicReasoning}), withThoughts(typeItemDone): part(rules{"item": &publicReasoning}),
		typePartAdded: part(rules{"part": &begunPart}), typePartDone: part(rules{"part": &publicPart}),
		typeTextDelta: part(rules{"delta": &text}), typeRefusalDelta: part(rules{"delta": &text}),
		typeTextDone: part(rules{"text": &text}), typeRefusalDone: part(rules{"refusal": &text}),
		typeAnnotation: nil, typeAnnotation2: nil, typeForeign: nil, typeKeepAlive: members(rules{"type": &scalar, "sequence_number": &number}),
		typeError: members(rules{"type": &scalar, "sequence_number": &number, "code": &noText, "param": &noText, "message": {Fact: event.KindError, Replacement: `"the run failed"`}}),
	}
	for _, name := range responseTypes {
		all[name] = members(rules{"type": &scalar, "sequence_number": &number, "response": &publicResponse, "agent": agentOfItem})
		all[withThoughts(name)] = all[name]
		all[withAnswer(name)] = members(rules{"type": &scalar, "sequence_number": &number, "response": &publicAnswer, "agent": agentOfItem})
		for _, repeats := range []string{withThoughts(name) + answerSuffix, name + itemsSuffix, withThoughts(name) + itemsSuffix} {
			all[repeats] = all[withAnswer(name)]
		}
	}
	all[withAnswer(typePartDone)], all[withAnswer(typeItemDone)] = all[typePartDone], all[typeItemDone]
	for _, name := range thoughtDeltas {
		all[name] = part(rules{"type": &thoughtEvent, "summary_index": &number, "delta": &thoughtPiece})
	}
	for _, name := range thoughtsDone {
		all[name] = part(rules{"type": &thoughtEvent, "summary_index": &number, "text": &thought})
	}
	for _, name := range thoughtParts {
		all[name] = part(rules{"type": &thoughtEvent, "summary_index": &number, "part": members(rules{"type": &scalar, "text": &thought})})
	}
	for _, name := range toolLists {
		all[name] = part(nil)
	}
	for _, name := range callProgress {
		all[name] = part(rules{"type": &typeOfCall})
	}
	for _, name := range callEnds {
		all[name] = part(rules{"type": &typeOfEndedCall})
	}
	for _, name := range slices.Concat(callData, resultData, responseData) {
		all[name] = nil // arguments, results, images and audio
	}
	return all
}

func members(m rules) *event.Rule { return &event.Rule{Members: m} }

// part returns the rule for an event about an item. Its members are those that locate the item, and own.
func part(own rules) *event.Rule {
	all := rules{"type": &scalar, "sequence_number": &number, "output_index": &number, "content_index": &number, "item_id": &id, "agent": agentOfItem}
	maps.Copy(all, own)
	return members(all)
}

var (
	scalar   = event.Rule{}
	id       = event.Rule{Form: event.FormID}
	toolName = event.Rule{Fact: event.KindToolStarted, Form: event.FormTool}
	number   = event.Rule{Form: event.FormEnum}
	text     = event.Rule{Fact: event.KindText, Form: event.FormText}
	thought  = event.Rule{Fact: event.KindThought, Form: event.FormText}
	// thoughtEvent is the type of an event about a thought. Even without a text, it leaves only where thoughts may.
	thoughtEvent = event.Rule{Fact: event.KindThought, Required: true}
	// thoughtPiece may be an object: before openai 1.92, the type of the member was "object".
	thoughtPiece = event.Rule{Fact: event.KindThought, String: &thought, Members: rules{"text": &thought}}
	noText       = event.Rule{Replacement: "null"}
	emptyText    = event.Rule{Replacement: `""`}
	toolError    = event.Rule{Replacement: `"the tool failed"`}
	stopped      = event.Rule{Fact: event.KindError, Replacement: `"the run failed"`, AllowedValues: []string{""}} // why Groq stopped an answer
	noList       = event.Rule{Replacement: "[]"}
	assistant    = event.Rule{Form: event.FormEnum, AllowedValues: []string{"assistant"}}
	status       = event.Rule{Form: event.FormEnum, AllowedValues: []string{"queued", "in_progress", "searching", "interpreting", "generating", "calling", "completed", "incomplete", "failed", "cancelled"}}

	agentObject    = members(rules{"name": &scalar})
	agentOfItem    = members(rules{"agent_name": &scalar})
	agentName      = event.Rule{String: &scalar, Members: agentObject.Members}
	target         = event.Rule{String: &targetName, Members: rules{"name": &targetName}}
	targetName     = event.Rule{Fact: event.KindTransfer}
	publicResponse = responseRule(&noList)
	// publicAnswer shows the items again, because OpenAI's clients take the final answer and the calls from them.
	publicAnswer = responseRule(&event.Rule{
		Fallback: "[]", Elements: &event.Rule{ByType: withReasoning(publicItem.ByType), Members: publicItem.Members},
	})

	// publicItem shows that an item exists, and the text of an answer.
	publicItem = itemRule(&publicPart, &typeOfEndedCall)
	// begunItem is publicItem for the first event of an item. LiteLLM writes the whole text in it, but clients add the pieces that follow.
	begunItem = itemRule(&begunPart, &typeOfCall)
	// publicShellOutput shows which commands of a shell timed out.
	publicShellOutput = event.Rule{Members: rules{
		"id": &id, "type": &typeOfResult, "status": &status, "call_id": &id, "agent": agentOfItem,
		"output": {Elements: members(rules{"stdout": &emptyText, "stderr": &emptyText, "outcome": members(rules{"type": {Form: event.FormEnum, AllowedValues: []string{"timeout", "exit"}}})})},
	}}
	publicAgentCall = members(rules{"id": &id, "type": &typeOfCall, "call_id": &id, "action": &toolName, "arguments": &emptyText, "agent": agentOfItem})
	// publicReasoning shows reasoning items only where thoughts are shown.
	publicReasoning = event.Rule{Members: rules{
		"id": &id, "type": {Fact: event.KindThought, Required: true}, "status": &status, "agent": agentOfItem,
		"summary": {Elements: members(rules{"type": &scalar, "text": &thought})}, "content": {Elements: members(rules{"type": &scalar, "text": &thought})},
	}}
	publicPart = partRule(&repeatedText)
	begunPart  = partRule(&emptyText)
	// repeatedText leaves only if it is an answer.
	repeatedText = event.Rule{Fact: event.KindText, Form: event.FormText, Fallback: `""`}

	// chunkWords finds texts and calls beside those that the decoder reads.
	chunkWords = event.Words{
		Containers: []string{"choices", "delta", "message", "messages", "content", "audio", "executed_tools"},
		Members: map[string]event.Kind{
			"content": event.KindText, "refusal": event.KindText, "transcript": event.KindText, "text": event.KindText,
			"tool_calls": event.KindToolStarted, "function_call": event.KindToolStarted, "context": event.KindToolEnded, // of Azure's search
			// Of executed_tools, which Groq calls itself. Source: groq/types/chat/chat_completion_chunk.py of groq.
			"arguments": event.KindToolStarted, "output": event.KindToolEnded, "search_results": event.KindToolEnded, "code_results": event.KindToolEnded, "browser_results": event.KindToolEnded,
		},
		RoleMember: "role", UserRoles: []string{"user"}, RoleKinds: map[string]event.Kind{"tool": event.KindToolEnded, "function": event.KindToolEnded},
	}
	// reasoningMembers contain thoughts besides the text. They may be in any object that may have marks. Most are used by one server each,
	// reasoning_text and reasoning_opaque by Copilot, reasoning_items by LiteLLM for models of the Responses API.
	reasoningMembers = []string{
		"reasoning_content", "reasoning", "reasoning_text", "reasoning_opaque", "reasoning_details", "reasoning_items", "reasoning_summary", "reasoning_steps", "encrypted_reasoning",
		"thinking", "thinking_blocks", "thinking_content", "thoughts", "thought_content", "chain_of_thought", "cot", "analysis",
	}
	// OpenAI's clients and the AI SDK need these objects in each chunk of a call. They join the arguments of all chunks.
	calledFunction = calledRule("arguments", `""`)
	calledCustom   = calledRule("input", `""`)
	calledBefore   = calledRule("arguments", `" "`) // the API's form before tool_calls; the openai package of JavaScript takes an empty text for none

	// itemWords finds the texts of items that only the client gets.
	itemWords = event.Words{
		Containers: []string{"item", "raw_item", "rawItem", "providerData", "content", "data", "event"},
		Members:    itemMembers(map[string]event.Kind{"output": event.KindToolEnded}),
		RoleMember: "role", UserRoles: []string{"user"}, TypeKinds: thoughtTypes,
	}
	// responseWords finds the texts of the items that the end of a response repeats, and of vLLM's messages.
	responseWords = event.Words{
		Containers: []string{"response", "output", "output_messages", "content", "data", "event"},
		Members:    itemMembers(responseMembers),
		RoleMember: "role", UserRoles: []string{"user"}, RoleKinds: map[string]event.Kind{"tool": event.KindToolEnded}, MetadataMembers: authorMembers, RoleInMetadata: true,
		TypeKinds: itemTypes, TypedMembers: []string{"output", "tools"},
	}
	// responseMembers also has the names of thoughts, except that of a setting.
	responseMembers = func() map[string]event.Kind {
		all := map[string]event.Kind{"recipient": event.KindToolStarted}
		for _, name := range reasoningMembers {
			if name != "reasoning" {
				all[name] = event.KindThought
			}
		}
		return all
	}()
	// partWords finds the thoughts in parts of items.
	partWords    = event.Words{Containers: []string{"part", "data", "event"}, TypeKinds: thoughtTypes}
	thoughtTypes = map[string]event.Kind{"raw_message_tokens": event.KindThought, "reasoning_text": event.KindThought, "summary_text": event.KindThought, "reasoning": event.KindThought, "thinking": event.KindThought}
	// itemTypes also has the types of items with results of calls. Their outputs are texts, or have parts with texts.
	itemTypes = func() map[string]event.Kind {
		all := maps.Clone(thoughtTypes)
		for kind := range clientTools {
			all[kind+"_output"] = event.KindToolEnded
		}
		all["tool_search_output"] = event.KindToolEnded
		return all
	}()
)

// calledRule returns the rule for what a chunk says of a call, whose arguments are in the given member.
func calledRule(arguments, replacement string) *event.Rule {
	return &event.Rule{Fallback: "{}", Members: rules{"name": &toolName, arguments: {Fact: event.KindToolStarted, Replacement: replacement}}}
}

// responseRule returns the rule for a response whose output has the given rule.
func responseRule(output *event.Rule) event.Rule {
	return event.Rule{Members: rules{
		"id": &scalar, "object": &scalar, "created_at": &number, "completed_at": &number, "status": &status, "model": &scalar,
		"conversation":       members(rules{"id": &scalar}),
		"incomplete_details": members(rules{"reason": {Form: event.FormEnum, AllowedValues: []string{"max_output_tokens", contentFilter}}}),
		"error":              {Fact: event.KindError, Replacement: `{"code":"server_error","message":"the run failed"}`},
		"output":             output,
	}}
}

// choiceRule returns the rule for a choice. Instead of a finish reason of a server's own, the public gets the given one.
func choiceRule(otherReason string) *event.Rule {
	return members(rules{
		"index":         &number,
		"finish_reason": {Form: event.FormEnum, AllowedValues: finishReasons, Fallback: `"` + otherReason + `"`},
		"delta": {Fallback: "{}", Members: rules{
			"role": &assistant, "content": &text, "refusal": &text, "reasoning_content": &thought, "reasoning": &thought,
			"tool_calls":    {Elements: members(rules{"index": &number, "id": &id, "type": &scalar, "function": calledFunction, "custom": calledCustom})},
			"function_call": calledBefore,
		}},
	})
}

// finishReasons are those that several servers send.
var finishReasons = []string{"stop", "length", "tool_calls", "function_call", contentFilter, "error", "abort", "cancelled", "timeout"}

// chunkRule returns the rule for a chunk whose choices have the given rule.
func chunkRule(choices event.Rule) *event.Rule {
	return members(rules{"id": &scalar, "object": &scalar, "created": &number, "model": &scalar, "choices": &choices, "x_groq": members(rules{"error": &stopped})})
}

// itemMembers returns the members of items that hold texts, arguments and results, and those in more.
//
// Source: openai/types/responses/response_output_item.py of openai 3.54.
func itemMembers(more map[string]event.Kind) map[string]event.Kind {
	all := map[string]event.Kind{"text": event.KindText, "refusal": event.KindText, "summary": event.KindThought}
	for _, name := range []string{"arguments", "input", "code", "action", "actions", "operation", "queries"} {
		all[name] = event.KindToolStarted
	}
	for _, name := range []string{"outputs", "results", "result"} {
		all[name] = event.KindToolEnded
	}
	maps.Copy(all, more)
	return all
}
