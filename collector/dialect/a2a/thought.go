package a2a

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// marksThought says whether metadata has what it is of for a model's thought: whatever is set there and is not false.
func marksThought(metadata strictjson.Value) bool {
	_, is := markOf(metadata)
	return is
}

func markOf(metadata strictjson.Value) (name strictjson.Value, is bool) {
	for name, value := range metadata.Members() {
		on, isBool := value.Bool()
		if (on || !isBool && value.Kind() > strictjson.Null) && isOne(name.Text(), "adk_thought", "thought") {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

// addThought states that there is a thought in a frame of which none was stated: in what was known before, or among the words of
// somebody else.
func addThought(frame strictjson.Value, b *event.Batch) {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindThought {
			return
		}
	}
	if mark, is := findMark(frame); is {
		b.Add(event.KindThought).Text = mark.Text() // what it says is stated where it is an agent's, and new
	}
}

func findMark(v strictjson.Value) (mark strictjson.Value, is bool) {
	for name, value := range v.Members() {
		if string(name.Text()) == "data" { // nobody judges what tools were given and gave back
			continue
		}
		if isOne(name.Text(), "metadata") {
			if mark, is = markOf(value); is {
				return mark, true
			}
		}
		if mark, is = findMark(value); is {
			return mark, true
		}
	}
	for element := range v.Elements() {
		if mark, is = findMark(element); is {
			return mark, true
		}
	}
	return mark, false
}

// isOne says whether a member's name is one of those given as the most generous of readers might take it: of compatibility forms
// the plain ones, in any case, without blanks, controls and whatever else is not ASCII.
func isOne(name []byte, names ...string) bool {
	plain := true
	for _, c := range name {
		plain = plain && c > ' ' && c < 0x7f
	}
	if !plain {
		name = []byte(strings.Map(func(r rune) rune {
			switch {
			case r == 'ı': // the upper case of both is I
				return 'i'
			case r <= ' ' || r >= 0x7f:
				return -1
			}
			return r
		}, string(norm.NFKD.Bytes(name))))
	}
	for _, n := range names {
		if strings.EqualFold(n, string(name)) {
			return true
		}
	}
	return false
}
