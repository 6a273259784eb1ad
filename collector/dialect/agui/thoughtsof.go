package agui

import (
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isThoughtMessage reports whether a message of a list is a model's thought and names no agent.
func isThoughtMessage(message strictjson.Value) bool {
	return isThoughtRole(message.Get("role").Text()) && len(message.Get("name").Text()) == 0
}

// withholdThoughts adds to the withheld messages of a list the thoughts that belong to them. Adapters send a thought as a
// message of its own, before the message of the model, and do not name the agent. If no message follows, the thought is of the agent
// before it. A thought that left before remains.
//
// Source: adk_events_to_messages in ag_ui_adk/event_translator.py of ag-ui-adk 0.11, langchain_messages_to_agui in
// ag_ui_langgraph/utils.py of ag-ui-langgraph 0.0.47.
func (d *decoder) withholdThoughts(messages strictjson.Value, withheld []strictjson.Value, b *event.Batch) []strictjson.Value {
	are := make(map[strictjson.Value]bool, len(withheld))
	for _, one := range withheld {
		are[one] = true
	}
	var thoughts []strictjson.Value // since the last message of another role
	isHidden := false               // the last message of an assistant is withheld
	end := func() {
		for _, one := range thoughts {
			switch {
			case are[one]:
			case isHidden && !d.wasShown(one):
				withheld = append(withheld, one)
				d.rememberListed(one, true, b)
			case !d.startWithheld && !d.filtered:
				d.knownToClient.Add(d.memberOf(one, ownIDs))
			}
		}
		thoughts = nil
	}
	for one := range messages.Elements() {
		switch {
		case isThoughtMessage(one):
			thoughts = append(thoughts, one)
			continue
		case one.Get("role").Is("assistant"):
			isHidden = are[one]
		}
		end()
	}
	end()
	return withheld
}

// isThoughtOf reports whether the ID of a thought says that it is of a withheld message: the ID is that of the message with a word, as
// in ID-reasoning or ID-reasoning-0.
func (d *decoder) isThoughtOf(id string, message strictjson.Value) bool {
	if !isThoughtMessage(message) || d.knownToClient.Contains(id) {
		return false
	}
	for _, word := range [...]string{"-reasoning", "-thinking", "-thought"} {
		if at := strings.LastIndex(id, word); at > 0 && d.withheld.keys.Contains(messageKey(id[:at])) {
			return true
		}
	}
	return false
}
