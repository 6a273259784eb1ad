package agui

import (
	"iter"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var (
	roleMembers   = []string{"role"}
	rolePrefilter = lenient.NewPrefilter(&event.Table{Labels: roleMembers})

	otherRoles = []string{"user", "tool", "activity"} // of messages that are neither instructions nor answers nor thoughts
)

// roles yields the roles that a frame or message states. A role in its metadata is not its own.
func roles(v strictjson.Value) iter.Seq2[strictjson.Value, bool] {
	return func(yield func(role strictjson.Value, own bool) bool) {
		for m := range wire.WithMetadata(v) {
			text := m.Name.Text()
			if rolePrefilter.MayMatch(text) && lenient.MatchesAny(text, roleMembers) && m.Value.Kind() > strictjson.Null && !yield(m.Value, !m.InMetadata) {
				return
			}
		}
	}
}

// isInstruction reports whether a role of a frame or message is that of an instruction for a model, calls itself
// internal, or is unreadable.
func isInstruction(v strictjson.Value) bool {
	for role := range roles(v) {
		if wire.IsInstruction(role) {
			return true
		}
	}
	return false
}

// isAnswerRole reports whether a message with a role can be an answer. With an unknown role it cannot, except for a role
// in metadata, where agents use names of their own.
func isAnswerRole(role strictjson.Value, own bool) bool {
	return strings.TrimSpace(role.String()) == "assistant" || !own && !lenient.MatchesAny(role.Text(), otherRoles)
}

// statesThought reports whether the role or a mark of a frame or message says that it is a model's thought. A mark counts at
// any depth, and one that an agent may have from another protocol counts in the metadata.
func statesThought(v strictjson.Value) bool {
	for role := range roles(v) {
		if isThoughtRole(role.Text()) {
			return true
		}
	}
	return lenient.ContainsThoughtMarker(v) || wire.HasThoughtMetadata(v, metadataMembers)
}

// hasEncrypted reports whether a frame contains encrypted reasoning.
func hasEncrypted(v strictjson.Value) bool {
	return hasMember(v, func(name, value strictjson.Value) bool {
		return value.Kind() > strictjson.Null && lenient.MatchesAny(name.Text(), encryptedMembers)
	})
}

// encryptedMembers hold the encrypted reasoning of a message or call.
var encryptedMembers = []string{"encryptedValue", "encrypted_value"}

// hasMember reports whether a frame or message, or its metadata, has a member for which is returns true.
func hasMember(v strictjson.Value, is func(name, value strictjson.Value) bool) bool {
	for m := range wire.WithMetadata(v) {
		if is(m.Name, m.Value) {
			return true
		}
	}
	return false
}

// isMarkedInternal reports whether a frame or message names an internal event in its metadata, as other protocols do, or is made of an
// internal event of the agent's framework. lenient.CheckNames finds a type or kind in the metadata.
func isMarkedInternal(v strictjson.Value) bool {
	for name, value := range v.Members() {
		text := name.Text()
		switch {
		case !markPrefilter.MayMatch(text):
		case lenient.MatchesAny(text, metadataMembers) && namesInternalEvent(value),
			lenient.MatchesAny(text, table.InternalMembers) && lenient.HasInternalDiscriminator(&frameworkTable, value):
			return true
		}
	}
	return false
}

// frameworkTable says where the event of the agent's framework calls itself internal. LangChain's have a name in "event", and in "data" what an
// application made the event of.
var frameworkTable = event.Table{
	Discriminators: table.Discriminators,
	NameMembers:    eventMembers,
	Envelopes:      slices.Concat([]string{"data"}, table.Envelopes),
}

func namesInternalEvent(metadata strictjson.Value) bool {
	for name, value := range metadata.Members() {
		if lenient.MatchesAny(name.Text(), eventMembers) && lenient.ContainsInternal(value) {
			return true
		}
	}
	return false
}

var (
	metadataMembers = []string{"metadata"}
	markPrefilter   = lenient.NewPrefilter(&event.Table{Labels: slices.Concat(metadataMembers, table.InternalMembers)})
)

var eventMembers = []string{"event"}

func isThoughtRole(role []byte) bool {
	return lenient.HasPrefix(role, "reasoning") || lenient.HasPrefix(role, "thinking") || lenient.HasPrefix(role, "thought")
}
