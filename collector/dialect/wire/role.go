package wire

import (
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// InstructionRoles are the roles of messages that instruct a model, compared leniently.
var InstructionRoles = []string{"system", "developer"}

// IsInstruction reports whether a role is that of an instruction, calls itself internal, or is unreadable.
func IsInstruction(role strictjson.Value) bool {
	return role.Kind() > strictjson.Null && role.Kind() != strictjson.String || lenient.MatchesAny(role.Text(), InstructionRoles) || lenient.IsInternal(role.Text())
}
