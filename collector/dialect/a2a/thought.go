package a2a

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The names by which a thought is known, and by which its mark may stand around it. Agno says of what category a message is: an answer
// is "content", a thought "reasoning".
var (
	marks, metadata = []string{"adk_thought", "thought"}, []string{"metadata"}
	categories      = []string{"agno_content_category"}
)

// marksThought says whether metadata has what it is of for a model's thought: whatever is set there and is not false.
func marksThought(metadata strictjson.Value) bool {
	_, is := markOf(metadata)
	return is
}

func markOf(metadata strictjson.Value) (name strictjson.Value, is bool) {
	for name, value := range metadata.Members() {
		if generous.Among(name.Text(), categories) && value.Kind() > strictjson.Null && !value.Is("content") {
			return name, true
		}
		on, isBool := value.Bool()
		if (on || !isBool && value.Kind() > strictjson.Null) && generous.Among(name.Text(), marks) {
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
		b.AddText(event.KindThought, mark) // what it says is stated where it is an agent's, and new
	}
}

func findMark(v strictjson.Value) (mark strictjson.Value, is bool) {
	for name, value := range v.Members() {
		if string(name.Text()) == "data" { // nobody judges what tools were given and gave back
			continue
		}
		if generous.Among(name.Text(), metadata) {
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
