package a2a

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The names by which a thought is known, and by which its mark may stand around it. Agno says of what category a message is: an answer
// is "content", a thought "reasoning".
var (
	marks, metadata = []string{"adk_thought", "adk:thought", "thought"}, []string{"metadata"}
	categories      = []string{"agno_content_category"}
	thoughtKinds    = []string{"thought", "thinking", "reasoning"}
)

// marksThought says whether a part, or what parts are of, says in its metadata or itself that it is a model's thought: whatever is set there
// and is not false.
func marksThought(v strictjson.Value) bool {
	_, inside := markIn(v.Get("metadata"))
	_, outside := markOf(v)
	return inside || outside
}

// hidesMark reports whether a part has a mark in its metadata that does not leave with the part, such as one in a vendor's object.
func hidesMark(v strictjson.Value) bool {
	meta := v.Get("metadata")
	_, marked := markIn(meta)
	name, _ := markOf(meta)
	return marked && !generous.Among(name.Text(), marks)
}

// markIn looks for a mark in metadata, and in the objects in it.
func markIn(meta strictjson.Value) (name strictjson.Value, is bool) {
	if name, is = markOf(meta); is {
		return name, true
	}
	for _, value := range meta.Members() {
		if name, is = markOf(value); is {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

func markOf(v strictjson.Value) (name strictjson.Value, is bool) {
	for name, value := range v.Members() {
		if generous.Among(name.Text(), categories) && value.Kind() > strictjson.Null && !value.Is("content") {
			return name, true
		}
		if generous.Among(name.Text(), partKinds) && generous.Among(value.Text(), thoughtKinds) {
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
	if mark, is := findMark(frame, true); is {
		b.AddText(event.KindThought, mark) // what it says is stated where it is an agent's, and new
	}
}

// findMark looks for a mark in metadata at any depth and, as long as own is set, in what has the metadata.
func findMark(v strictjson.Value, own bool) (mark strictjson.Value, is bool) {
	if own {
		if mark, is = markOf(v); is {
			return mark, true
		}
	}
	for name, value := range v.Members() {
		if string(name.Text()) == "data" { // nobody judges what tools were given and gave back
			continue
		}
		inside := generous.Among(name.Text(), metadata)
		if inside {
			if mark, is = markIn(value); is {
				return mark, true
			}
		}
		if mark, is = findMark(value, own && !inside); is {
			return mark, true
		}
	}
	for element := range v.Elements() {
		if mark, is = findMark(element, own); is {
			return mark, true
		}
	}
	return mark, false
}
