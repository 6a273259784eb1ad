package event

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestQuestion holds a question to what it may consist of, and to its batch.
func TestQuestion(t *testing.T) {
	var theirs strictjson.Doc
	data := []byte(`{"options":["a","b"],"schema":{"type":"string","secret":"s"},"none":[],"text":"x"}`)
	if err := theirs.Parse(data, 8); err != nil {
		t.Fatal(err)
	}
	v := theirs.Root()
	var b Batch
	for _, c := range []struct {
		name            string
		input           InputKind
		question        Question
		options, schema string
	}{
		{"whole", InputSelection, Question{"Which?", v.Get("options"), v.Get("schema")}, `["a","b"]`, `{"type":"string","secret":"s"}`},
		{"of other types", InputData, Question{"Which?", v.Get("schema"), v.Get("options")}, "", ""},
		{"empty", InputData, Question{"Which?", v.Get("none"), v.Get("text")}, "", ""},
		{"a credential", InputCredential, Question{"Log in.", v.Get("options"), v.Get("schema")}, "", ""},
	} {
		e := b.Add(KindInputRequested)
		e.Input = c.input
		e.SetQuestion(c.question)
		got := e.Question()
		if got.Prompt != c.question.Prompt || string(got.Options.Raw()) != c.options || string(got.Schema.Raw()) != c.schema {
			t.Errorf("%s: %q, %s, %s", c.name, got.Prompt, got.Options.Raw(), got.Schema.Raw())
		}
	}
	clear(data)
	if got := b.Events[0].Question(); string(got.Options.Raw()) != `["a","b"]` {
		t.Errorf("the options are not the batch's own: %q", got.Options.Raw())
	}
	long := b.Add(KindInputRequested)
	long.SetQuestion(Question{Prompt: strings.Repeat("\u00e9", MaxPrompt)})
	if got := long.Question().Prompt; len(got) > MaxPrompt || !utf8.ValidString(got) {
		t.Errorf("a prompt of %d bytes", len(got))
	}
	none := b.Add(KindInputRequested)
	none.SetQuestion(Question{})
	if none.question != nil || none.Question() != (Question{}) {
		t.Error("a question was made of nothing")
	}
}
