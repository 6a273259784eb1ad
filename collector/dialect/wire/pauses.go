package wire

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// PausesCall reports whether a function call is one of the ADK's requests that pause another call.
func PausesCall(name string) bool {
	return name == "adk_request_confirmation" || name == "adk_request_credential"
}

// PublicPause is the rule for the arguments of a request that pauses a call, under the policy public. Only the ID of that call leaves:
// without it, the call's first response looks like a result. The rest includes the call's arguments and secrets.
var PublicPause = event.Rule{Members: map[string]*event.Rule{
	"functionCallId": &pausedID, "function_call_id": &pausedID, "originalFunctionCall": &pausedCall, "original_function_call": &pausedCall,
}}

var (
	pausedID   = event.Rule{Form: event.FormID}
	pausedCall = event.Rule{Members: map[string]*event.Rule{"id": &pausedID}}
)

// maxPauses bounds the paused calls that are remembered.
const maxPauses = 256

// Pauses holds the calls that wait for a confirmation or a credential and have no response yet. The ADK sends the request first. Then
// it sends a response to the call that only says that the call waits. The zero value holds no calls.
type Pauses struct{ calls map[string]string } // by the ID of the request

// Ask adds the call that a request pauses, and returns its ID, or "".
func (p *Pauses) Ask(request, name string, args strictjson.Value) string {
	id := args.First("originalFunctionCall", "original_function_call").Get("id")
	if name == "adk_request_credential" {
		id = args.First("functionCallId", "function_call_id")
	}
	call := dialect.Name(id.String())
	if !PausesCall(name) || call == "" || len(p.calls) >= maxPauses {
		return ""
	}
	if p.calls == nil {
		p.calls = make(map[string]string)
	}
	p.calls[request] = call
	return call
}

// Answer forgets a request: the next response to the call is its result.
func (p *Pauses) Answer(request string) { delete(p.calls, request) }

// Take reports whether a response to a call only says that the call waits, and forgets the call.
func (p *Pauses) Take(call string) bool {
	for request, paused := range p.calls {
		if paused == call {
			delete(p.calls, request)
			return true
		}
	}
	return false
}

// IsCallPiece reports whether a call of an ADK agent's model has only a piece of the arguments. The first piece has the tool's name, the
// others do not. Python's servers before 2.0, and JavaScript's, give each piece a new ID. The whole call follows.
//
// Source: google/adk/utils/streaming_utils.py of google-adk 1.38.
func IsCallPiece(call strictjson.Value) bool {
	return len(lenient.Text(call.Get("name").Text())) == 0 || call.First("partialArgs", "partial_args").Exists() || MayBeTrue(call.First("willContinue", "will_continue"))
}

// RequestsIn returns the requests by which the actions of an event pause calls: for confirmations and for credentials, by the ID of the
// call.
func RequestsIn(actions strictjson.Value) [2]strictjson.Value {
	return [...]strictjson.Value{
		actions.First("requestedToolConfirmations", "requested_tool_confirmations"), actions.First("requestedAuthConfigs", "requested_auth_configs"),
	}
}
