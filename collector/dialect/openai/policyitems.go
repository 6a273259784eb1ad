package openai

import (
	"maps"

	"github.com/delegraph/delegraph/collector/event"
)

// The types of items show which facts the items state.
var (
	typeOfCall   = event.Rule{Fact: event.KindToolStarted, Required: true}
	typeOfResult = event.Rule{Fact: event.KindToolEnded, Required: true}
	// typeOfEndedCall is of a call that the server has executed.
	typeOfEndedCall = event.Rule{Fact: event.KindToolStarted, Required: true, String: &event.Rule{Fact: event.KindToolEnded}}
	typeOfQuestion  = event.Rule{Fact: event.KindInputRequested, Required: true}
	typeOfAnswer    = event.Rule{Fact: event.KindInputAnswered, Required: true}
)

const approvalRequest, approvalResponse = "mcp_approval_request", "mcp_approval_response"

// typesOfItems returns the rules for the types of items that state facts. ofServer is the rule for a call that the server executes.
func typesOfItems(ofServer *event.Rule) rules {
	all := rules{approvalRequest: &typeOfQuestion, approvalResponse: &typeOfAnswer, hostedCall: ofServer, "tool_search_output": &typeOfResult}
	for kind := range serverTools {
		all[kind] = ofServer
	}
	for kind := range clientTools { // the SDK for JavaScript says "result"
		all[kind], all[kind+"_output"], all[kind+"_result"] = &typeOfCall, &typeOfResult, &typeOfResult
	}
	return all
}

// withType returns the rule for an item with the given rules for its type and its other members.
func withType(ofType *event.Rule, others rules) *event.Rule {
	all := maps.Clone(others)
	if all["type"] = ofType; ofType == &typeOfResult {
		all["name"] = &event.Rule{Fact: event.KindToolEnded, Form: event.FormTool}
	}
	return members(all)
}

// withReasoning adds the rule for reasoning items to those of other types.
func withReasoning(byType rules) rules {
	all := maps.Clone(byType)
	all["reasoning"] = &publicReasoning
	return all
}

// runItemRule returns the rule for an event with an item of the Agents SDK, which shows which call the item is about. The item and the
// object from which the SDK made it have the given members too.
func runItemRule(own rules) *event.Rule {
	call := rules{"call_id": &id, "callId": &id, "name": &toolName, "status": &status, "error": &toolError, "arguments": &emptyText, "input": &emptyText}
	maps.Copy(call, own)
	serverCall := rules{
		"id": &id, "name": &toolName, "status": &status, "error": &toolError, "arguments": &emptyText,
		"providerData": members(rules{"name": &toolName, "error": &toolError}),
	}
	byType := rules{}
	for kind, ofKind := range typesOfItems(&typeOfEndedCall) {
		all := call
		switch {
		case kind == approvalRequest:
			all = rules{"id": &scalar, "name": &toolName, "arguments": &emptyText}
		case kind == approvalResponse:
			all = rules{"approval_request_id": &scalar}
		case serverTools[kind] != "", kind == hostedCall:
			all = serverCall
		}
		byType[kind] = withType(ofKind, all)
	}
	item := rules{"type": &scalar, "agent": &agentName, "agent_name": &agentName, "raw_item": {ByType: byType}, "rawItem": {ByType: byType}}
	maps.Copy(item, own)
	return members(rules{"type": &scalar, "name": &scalar, "agent": &agentName, "agent_name": &agentName, "item": members(item)})
}

// answerItemRule is runItemRule for an item with an answer that no response has shown.
func answerItemRule() *event.Rule {
	rule, message := runItemRule(nil), rules{"message": &publicItem}
	item := rule.Members["item"]
	item.ByType = message // an application may forward the object from which the SDK made the item
	for _, name := range []string{"raw_item", "rawItem"} {
		item.Members[name] = &event.Rule{ByType: message}
	}
	return rule
}

// itemRule returns the rule for an item of a response. part is the rule for each of its parts, ofServer for the type of a call that the
// server executes.
func itemRule(part, ofServer *event.Rule) event.Rule {
	all := rules{
		"id": &id, "type": &scalar, "status": &status, "role": &assistant, "execution": {Form: event.FormEnum, AllowedValues: []string{"server", "client"}},
		"call_id": &id, "name": &toolName, "server_label": &scalar, "arguments": &emptyText, "input": &emptyText, "error": &toolError,
		"content": {Elements: part}, "summary": &noList, "agent": agentOfItem,
	}
	byType := rules{}
	for kind, ofKind := range typesOfItems(ofServer) {
		byType[kind] = withType(ofKind, all)
	}
	byType["shell_call_output"], byType[agentCall] = &publicShellOutput, publicAgentCall
	return event.Rule{Members: all, ByType: byType}
}

// partRule returns the rule for a part of a message. said is the rule for its text.
func partRule(said *event.Rule) event.Rule {
	return event.Rule{AllowedTypes: []string{"output_text", "refusal"}, Members: rules{
		"type": &scalar, "text": said, "refusal": said, "annotations": &noList,
	}}
}
