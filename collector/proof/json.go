package proof

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Limits of the search through an answer's JSON.
const (
	maxLevels   = 4
	maxElements = 64
)

// document reads a text that is a JSON object, and reports whether it is one.
func (r *reader) document(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' || !bytes.Contains(bytes.ToLower(text), []byte("confidence")) {
		return false
	}
	var doc strictjson.Doc
	if doc.Parse(text, maxDepth) != nil {
		return false
	}
	r.readObject(doc.Root(), "", maxLevels)
	return true
}

// readObject reads the confidences of an object and of the objects in it. If it has a proof layer, it
// reads only that.
func (r *reader) readObject(v strictjson.Value, scope string, levels int) {
	var inner strictjson.Doc
	if layer := layerOf(v, &inner); layer.Exists() {
		r.readLayer(layer)
		return
	}
	for name, value := range v.Members() {
		switch isMember := confidenceMembers[memberName(name)]; {
		case isMember:
			for _, c := range readConfidence(value, ignore) {
				if c.Scope == "" {
					c.Scope = scope
				}
				c.Origin = r.origin
				r.addConfidence(c)
			}
		case levels == 0:
		case value.Kind() == strictjson.Object:
			r.readObject(value, "", levels-1)
		case value.Kind() == strictjson.Array:
			r.elements(value, levels-1)
		}
	}
}

// elements reads the objects of a list that name their subject. Objects without a subject are
// detections, words or rows of data.
func (r *reader) elements(list strictjson.Value, levels int) {
	n := 0
	for element := range list.Elements() {
		if n++; n > maxElements {
			return
		}
		for _, name := range subjects {
			if about := element.Get(name); about.Kind() == strictjson.String {
				r.readObject(element, field(about), levels)
				break
			}
		}
	}
}

var (
	confidenceMembers   = setOf("members")
	subjects            = words("subjects")
	sampleIntroductions = words("samples")
)

// memberName returns a name in lower case and without punctuation.
func memberName(name strictjson.Value) string {
	const longest = 24
	if len(name.Text()) > longest {
		return ""
	}
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name.String()))
}

// readConfidence reads a number, a text, or an object that maps topics to them. It calls refuse with
// the reason for each value that it cannot read.
func readConfidence(v strictjson.Value, refuse func(event.Unreadable)) (all []event.Confidence) {
	switch v.Kind() {
	case strictjson.Number:
		value, ok := v.Float()
		if ok && value > minPercentage {
			value, ok = toRatio(strconv.FormatFloat(value, 'f', -1, 64), "%", measure{}) // as sent, it may have an exponent
		}
		if !ok || value < 0 || value > 1 {
			refuse(event.UnreadableScale)
			return nil
		}
		return []event.Confidence{{Value: value, Known: true}}
	case strictjson.String:
		c, why := readText(readField(v))
		if why != "" {
			refuse(why)
			return nil
		}
		return []event.Confidence{c}
	case strictjson.Object:
		return readTopics(v, refuse)
	case strictjson.None, strictjson.Null:
	default:
		refuse(event.UnreadableType)
	}
	return nil
}

func ignore(event.Unreadable) {}

// readText reads the whole of a string as one statement.
func readText(s string) (event.Confidence, event.Unreadable) {
	low := lowerCase(s)
	st, ok := readStatement(low, measure{})
	if !ok || strings.TrimLeft(low[st.size:], closing+".") != "" {
		if value, isNumber := parseNumber(low); isNumber && strings.Trim(low, "-+.,0123456789e") == "" {
			if value == 0 || value == 1 {
				return event.Confidence{Value: value, Known: true}, ""
			}
			return event.Confidence{}, event.UnreadableScale
		}
		return event.Confidence{}, event.UnreadableWords
	}
	return st.confidence(""), ""
}

// readTopics reads an object: {"score": 0.9, "level": "high"} is one confidence, {"timber": 0.95,
// "trails": "90%"} one for each topic.
func readTopics(v strictjson.Value, refuse func(event.Unreadable)) (all []event.Confidence) {
	if value := v.First("score", "value"); value.Exists() {
		all = readConfidence(value, refuse)
		if words := v.First("level", "label"); len(all) == 1 && words.Kind() == strictjson.String {
			all[0].Label = clean(lowerCase(readField(words)))
		}
		return all
	}
	for name, value := range v.Members() {
		if len(all) >= maxElements {
			break
		}
		if value.Kind() == strictjson.Object && !value.First("score", "value").Exists() {
			refuse(event.UnreadableType)
			continue
		}
		for _, c := range readConfidence(value, refuse) {
			if topic := field(name); strings.EqualFold(topic, "overall") {
				c.Overall = true
			} else {
				c.Scope = topic
			}
			all = append(all, c)
		}
	}
	return all
}

// isIllustration reports whether the line above a block of JSON introduces an example.
func isIllustration(above []byte) bool {
	return containsAny(strings.ToLower(string(above[:min(len(above), valueWindow)])), sampleIntroductions...)
}
