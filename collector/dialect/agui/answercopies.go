package agui

import (
	"iter"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// answersIn yields the texts in a state that are the answer of an internal delegate, and the results in it that repeat one. Other messages
// in it may quote one, as the text of an ordinary agent may.
func (d *decoder) answersIn(v strictjson.Value) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) { d.yieldAnswers(v, yield) }
}

func (d *decoder) yieldAnswers(v strictjson.Value, yield func(strictjson.Value) bool) (more bool) {
	switch {
	case d.answers.hashes.Len() == 0:
		return true
	case v.Kind() == strictjson.String:
		return !d.answers.areIn(v) || yield(v)
	case isSigned(v):
		return !isResult(v) || !d.answers.mayBeIn(v.Get("content")) || yield(v)
	}
	for _, member := range v.Members() {
		if !d.yieldAnswers(member, yield) {
			return false
		}
	}
	for element := range v.Elements() {
		if !d.yieldAnswers(element, yield) {
			return false
		}
	}
	return true
}

// hasAnswer reports whether a JSON Patch sets the answer of an internal delegate, as answersIn finds it.
func (d *decoder) hasAnswer(patch strictjson.Value) bool {
	for c := range changesOf(patch, nil) {
		for range d.answersIn(c.value) {
			return true
		}
	}
	return false
}
