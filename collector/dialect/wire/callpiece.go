package wire

import "github.com/delegraph/delegraph/collector/strictjson"

// IsCallPiece reports whether a call of an ADK agent's model is only a piece, whose arguments are not complete. Only the first piece has
// the name. Python's servers before 2.0, and JavaScript's, give each piece a new ID. The whole call follows.
//
// Source: google/adk/utils/streaming_utils.py of google-adk 1.38.
func IsCallPiece(call strictjson.Value) bool {
	return len(call.Get("name").Text()) == 0 || call.First("partialArgs", "partial_args").Exists() || MayBeTrue(call.First("willContinue", "will_continue"))
}

// CallRoleOf returns the role of a call of an ADK agent's model.
func CallRoleOf(call strictjson.Value) CallRole {
	if len(call.Get("name").Text()) == 0 {
		return CallContinues
	}
	return CallBegins
}
