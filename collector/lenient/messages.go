package lenient

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Messages returns the list of messages in a frame. The list does not exist if the frame has none. ok
// is false if a lenient reader might find messages in another member, or in a value that is not a list.
// It is then unknown which messages may leave.
func Messages(m *event.Messages, frame strictjson.Value) (list strictjson.Value, ok bool) {
	for name, value := range frame.Members() {
		switch {
		case !MatchesAny(name.Text(), []string{m.ListMember}) || value.Kind() == strictjson.Null:
		case !name.Is(m.ListMember) || value.Kind() != strictjson.Array:
			return strictjson.Value{}, false
		default:
			list = value
		}
	}
	return list, true
}

// IsInternalMessage reports whether a message must be withheld: it is for models only, calls itself
// internal, or has a role that readers may understand differently.
func IsInternalMessage(t *event.Table, m *event.Messages, message strictjson.Value) bool {
	role := message.Get(m.RoleMember)
	if role.Kind() != strictjson.String && (role.Exists() || !m.RoleOptional) || MatchesAny(role.Text(), m.InternalRoles) || IsInternal(role.Text()) || HasInternalDiscriminator(t, message) {
		return true
	}
	for name, value := range message.Members() {
		text := name.Text()
		switch {
		case !name.Is(m.RoleMember) && MatchesAny(text, []string{m.RoleMember}):
			return true
		case MatchesAny(text, t.Labels) && ContainsInternal(value):
			return true
		case MatchesAny(text, m.PartMembers) && isPartInternal(t, value):
			return true
		}
	}
	return false
}

// isPartInternal reports whether a part of a message calls itself internal, at any depth of a list of
// parts. If parts is an object, the application chose its form, and only its own members count.
func isPartInternal(t *event.Table, parts strictjson.Value) bool {
	within := event.Table{Discriminators: t.Discriminators, Envelopes: t.Envelopes, DeepEnvelopes: parts.Kind() == strictjson.Array}
	if HasInternalDiscriminator(&within, parts) {
		return true
	}
	for part := range parts.Elements() {
		for name, value := range part.Members() {
			if MatchesAny(name.Text(), t.Labels) && ContainsInternal(value) {
				return true
			}
		}
	}
	return false
}
