package event

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestQuestion checks that a question keeps only valid parts and that its batch owns them.
func TestQuestion(t *testing.T) {
	var doc strictjson.Doc
	data := []byte(`{"options":["a","b"],"schema":{"type":"string","secret":"s"},"none":[],"text":"x"}`)
	if err := doc.Parse(data, 8); err != nil {
		t.Fatal(err)
	}
	v := doc.Root()
	var b Batch
	for _, c := range []struct {
		name            string
		input           InputKind
		question        Question
		options, schema string
	}{
		{"complete", InputSelection, Question{"Which?", v.Get("options"), v.Get("schema")}, `["a","b"]`, `{"type":"string","secret":"s"}`},
		{"of other types", InputData, Question{"Which?", v.Get("schema"), v.Get("options")}, "", ""},
		{"empty", InputData, Question{"Which?", v.Get("none"), v.Get("text")}, "", ""},
		{"a credential", InputCredential, Question{"Log in.", v.Get("options"), v.Get("schema")}, "", ""},
	} {
		e := b.Add(KindInputRequested)
		e.Input = c.input
		e.SetQuestion(c.question)
		got := e.Question()
		if got.Prompt != c.question.Prompt || string(got.Options.Raw()) != c.options || string(got.Schema.Raw()) != c.schema {
			t.Errorf("%s: Question() has the prompt %q, options %s and schema %s; want %q, %s and %s", c.name, got.Prompt, got.Options.Raw(), got.Schema.Raw(), c.question.Prompt, c.options, c.schema)
		}
	}
	clear(data)
	if got := b.Events[0].Question(); string(got.Options.Raw()) != `["a","b"]` {
		t.Errorf("after the input is overwritten, the options are %q", got.Options.Raw())
	}
	long := b.Add(KindInputRequested)
	long.SetQuestion(Question{Prompt: strings.Repeat("\u00e9", MaxPrompt)})
	if got := long.Question().Prompt; len(got) > MaxPrompt || !utf8.ValidString(got) {
		t.Errorf("the prompt has %d bytes, want at most MaxPrompt", len(got))
	}
	none := b.Add(KindInputRequested)
	none.SetQuestion(Question{})
	if none.question != nil || none.Question() != (Question{}) {
		t.Error("a question without content is not empty")
	}
}
