package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// thought says whether any reader might take an object for a thought.
func thought(v strictjson.Value, rule *event.Rule) bool {
	for name, sign := range v.Members() {
		if signs(name, sign, rule.Thought) {
			return true
		}
		if len(rule.Signed) == 0 || sign.Kind() != strictjson.Object || !generous.Among(name.Text(), rule.Signed) {
			continue
		}
		for name, sign := range sign.Members() {
			if signs(name, sign, rule.Thought) {
				return true
			}
		}
	}
	return false
}

// plainSigns mark a thought among members that have text, whatever the protocol: an agent may have set them where it knows of none.
var plainSigns = []string{"thought", "adk_thought"}

// saysThought reports whether an object with text has a member that marks it as a thought although its protocol has no such member. Text
// in such a member may be a thought beside the object's own text.
func saysThought(v strictjson.Value, rule *event.Rule) bool {
	if len(rule.Thought) > 0 {
		return false // the protocol has a sign of its own
	}
	for name, sign := range v.Members() {
		if !generous.Among(name.Text(), plainSigns) || !isTrue(sign) {
			continue
		}
		for _, member := range rule.Members {
			if member.Fact == event.KindText {
				return true
			}
		}
	}
	return false
}

func isTrue(v strictjson.Value) bool {
	if v.Kind() == strictjson.Number {
		n, whole := v.Int()
		return !whole || n != 0
	}
	on, _ := v.Bool()
	return on || generous.Among(v.Text(), []string{"true", "yes", "1"})
}

// signs says whether any reader might take a member for the sign of a thought: it has the name, and is neither false nor null.
func signs(name, sign strictjson.Value, thought []string) bool {
	yes, isBool := sign.Bool()
	return (yes || !isBool && sign.Kind() != strictjson.Null) && generous.Among(name.Text(), thought)
}
