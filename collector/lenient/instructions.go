package lenient

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Members of messages in every protocol. A message may name its role in its author.
var (
	roleMembers    = []string{"role"}
	authorMembers  = []string{"author"}
	contentMembers = []string{"content", "contents", "text", "parts", "blocks", "message"}
)

// IsInstruction reports whether an object is a message that instructs models. It must have content. An object
// without content may be about a person who is a developer by profession.
func IsInstruction(i *event.Instructions, v strictjson.Value) bool {
	instructs, content := false, false
	for name, value := range v.Members() {
		switch text := name.Text(); {
		case MatchesAny(text, roleMembers):
			instructs = instructs || isInstructionRole(i, value)
		case MatchesAny(text, contentMembers):
			content = true
		case MatchesAny(text, authorMembers):
			for name, role := range value.Members() {
				instructs = instructs || MatchesAny(name.Text(), roleMembers) && isInstructionRole(i, role)
			}
		}
	}
	return instructs && content
}

// isInstructionRole reports whether a role may be that of an instruction. It also returns true for a role that
// is neither a string nor null.
func isInstructionRole(i *event.Instructions, role strictjson.Value) bool {
	return role.Kind() > strictjson.Null && role.Kind() != strictjson.String || MatchesAny(role.Text(), i.Roles)
}

// ContainsInstruction reports whether a value contains instructions at any depth.
func ContainsInstruction(i *event.Instructions, v strictjson.Value) bool {
	for name, value := range v.Members() {
		if MatchesAny(name.Text(), i.Skipped) {
			continue
		}
		if MatchesAny(name.Text(), i.Members) || IsInstruction(i, value) || ContainsInstruction(i, value) {
			return true
		}
	}
	for element := range v.Elements() {
		if IsInstruction(i, element) || ContainsInstruction(i, element) {
			return true
		}
	}
	return false
}
