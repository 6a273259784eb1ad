package wire

import (
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// InstructionRoles are the roles of messages that instruct a model, compared leniently.
var InstructionRoles = []string{"system", "developer"}

// IsInstruction reports whether a message with a role may be an instruction. It also returns true if the role is marked
// as internal or is not a string.
func IsInstruction(role strictjson.Value) bool {
	return role.Kind() > strictjson.Null && role.Kind() != strictjson.String || lenient.MatchesAny(role.Text(), InstructionRoles) || lenient.IsInternal(role.Text())
}
