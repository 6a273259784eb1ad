package generous

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Messages returns the list of messages in a frame, which does not exist where there is none. It is not ok if a reader might find messages
// in another place, or in what is no list: then nobody can say which of them may leave.
func Messages(m *event.Messages, frame strictjson.Value) (list strictjson.Value, ok bool) {
	for name, value := range frame.Members() {
		switch {
		case !Among(name.Text(), []string{m.Member}) || value.Kind() == strictjson.Null:
		case !name.Is(m.Member) || value.Kind() != strictjson.Array:
			return strictjson.Value{}, false
		default:
			list = value
		}
	}
	return list, true
}

// IsInner reports whether a message is for no reader outside: it is for models only, calls itself internal, or does not say whose it is in
// a way that all readers understand alike.
func IsInner(t *event.Table, m *event.Messages, message strictjson.Value) bool {
	role := message.Get(m.Role)
	if role.Kind() != strictjson.String || Among(role.Text(), m.Inner) || Internal(role.Text()) || NamesInternal(t, message) {
		return true
	}
	for name, value := range message.Members() {
		text := name.Text()
		switch {
		case !name.Is(m.Role) && Among(text, []string{m.Role}):
			return true
		case Among(text, t.Labels) && HoldsInternal(value):
			return true
		case Among(text, m.Parts) && isPartInner(t, value):
			return true
		}
	}
	return false
}

// isPartInner reports whether a part of a message calls itself internal, at any depth of a list of parts. An object in its place is what an
// application has made up, of which only its own members count.
func isPartInner(t *event.Table, parts strictjson.Value) bool {
	within := event.Table{Discriminators: t.Discriminators, Envelopes: t.Envelopes, Deep: parts.Kind() == strictjson.Array}
	if NamesInternal(&within, parts) {
		return true
	}
	for part := range parts.Elements() {
		for name, value := range part.Members() {
			if Among(name.Text(), t.Labels) && HoldsInternal(value) {
				return true
			}
		}
	}
	return false
}
