package wire

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// minEventID is the length of the shortest ID of an event. Other objects may have a shorter ID by chance.
const minEventID = 8

// CutCall withholds the parts of a call or a result that are or quote an answer that was withheld, or that are a withheld event. A model has
// written the arguments of a call, unless ADK itself makes the call. isWithheld reports whether an ID is that of a withheld event: tools that
// search an agent's memory return whole events without their marks. Unlike in actions, a text counts only if few others have it, because a
// tool may return a short one by chance.
//
// Sources: google/adk/tools/load_memory_tool.py and flows/llm_flows/functions.py of google-adk 2.13.
func (w *WithheldValues) CutCall(b *event.Batch, call strictjson.Value, isWithheld func(id string) bool) {
	if w.IsEmpty() {
		return
	}
	w.cutTelling(b, call.Get("response"), isWithheld)
	w.cutTelling(b, call.Get("output"), isWithheld)
	if !bytes.HasPrefix(call.Get("name").Text(), []byte("adk_")) {
		return
	}
	for name, value := range call.Get("args").Members() {
		if !name.Is("originalFunctionCall") && !name.Is("original_function_call") { // a model's
			w.cutTelling(b, value, isWithheld)
		}
	}
}

// cutTelling withholds the parts of a value for CutCall.
func (w *WithheldValues) cutTelling(b *event.Batch, v strictjson.Value, isWithheld func(id string) bool) {
	cutEmbedded(b, v, func(v strictjson.Value) {
		id := v.Get("id").String()
		key, isScalar := valueKey(hashValue(b, v)), v.Kind() != strictjson.Object && v.Kind() != strictjson.Array
		switch {
		case w.shown.Contains(key):
		case len(id) >= minEventID && isWithheld(id),
			isTelling(v) && w.values.MayContain(key),
			isScalar && w.texts.MayBeInLong(v):
			b.Cut(v)
		default:
			for _, member := range v.Members() {
				w.cutTelling(b, member, isWithheld)
			}
			for element := range v.Elements() {
				w.cutTelling(b, element, isWithheld)
			}
		}
	})
}

// isTelling reports whether few other values are equal to a value by chance.
func isTelling(v strictjson.Value) bool {
	return isTellingLine(string(appendStrings(nil, v, maxWithheldLine)))
}

// IsAnswer reports whether texts are, in one or together, an answer that was withheld. isRelated is as in MayBeIn.
func (w *WithheldValues) IsAnswer(b *event.Batch, texts []strictjson.Value, isRelated bool) bool {
	for _, text := range texts {
		if w.MayBeIn(b, text, isRelated) {
			return true
		}
	}
	return len(texts) > 1 && (isRelated || isTellingText(joined(texts))) && w.values.MayContain(valueKey(hashText(joined(texts))))
}

// IsTellingAnswer reports whether texts are, in one or together, an answer that was withheld and that few others give by chance.
func (w *WithheldValues) IsTellingAnswer(b *event.Batch, texts []strictjson.Value) bool {
	isAnswer := func(texts []strictjson.Value) bool {
		return isTellingText(joined(texts)) && w.values.MayContain(valueKey(HashAnswer(b, texts)))
	}
	for i := range texts {
		if isAnswer(texts[i : i+1]) {
			return true
		}
	}
	return len(texts) > 1 && isAnswer(texts)
}

func isTellingText(text []byte) bool {
	return isTellingLine(string(appendWords(nil, text, maxWithheldLine)))
}
