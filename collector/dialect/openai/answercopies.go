package openai

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// textMembers hold the texts of answers, and the results of tools.
var textMembers = []string{"text", "output", "refusal"}

// keepTexts remembers the texts of a frame that is withheld while an internal agent works in a call. The agent's caller may get them as the
// result of the call.
func (t *turns) keepTexts(v strictjson.Value) {
	if slices.ContainsFunc(t.all, func(one turn) bool { return one.internal && len(one.calls) > 0 }) {
		t.addTexts(v)
	}
}

func (t *turns) addTexts(v strictjson.Value) {
	for name, value := range v.Members() {
		if text := bytes.TrimSpace(value.Text()); len(text) > 0 && lenient.MatchesAny(name.Text(), textMembers) {
			t.texts.Add(wire.Hash(string(text)))
		}
		t.addTexts(value)
	}
	for element := range v.Elements() {
		t.addTexts(element)
	}
}

// isCopy reports whether the result of a call repeats a text of an internal agent that may have worked in the call. isWhole says that it is
// the text of an open response.
func (d *decoder) isCopy(call string, output strictjson.Value, isWhole bool) bool {
	t := &d.turns
	worked := slices.ContainsFunc(t.all, func(one turn) bool { return one.internal && slices.Contains(one.calls, call) })
	return worked && (isWhole || t.texts.MayContain(wire.Hash(string(bytes.TrimSpace(output.Text())))))
}
