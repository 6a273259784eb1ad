package adk

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestStatements finds what an event states beside its content: a proof layer in the event or in its custom metadata, and sources.
func TestStatements(t *testing.T) {
	const layer = `{"confidence":0.92}`
	for frame, want := range map[string]string{
		by(`"proof_layer":` + layer):                            layer,
		by(`"proofLayer":` + layer + `,"proof_layer":{}`):       layer,
		by(`"customMetadata":{"proof_layer":` + layer + `}`):    layer,
		by(`"custom_metadata":{"proofLayer":` + layer + `}`):    layer,
		by(`"groundingMetadata":{"groundingChunks":[]}`):        `{"groundingChunks":[]}`,
		by(`"citation_metadata":{"citations":[]},` + parts(hi)): `{"citations":[]}`,
		by(parts(hi)): "",
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(frame), 32); err != nil {
			t.Fatal(err)
		}
		s := readMembers(doc.Root()).statements()
		got := ""
		for _, v := range []strictjson.Value{s.Layer, s.Grounding, s.Citations} {
			if v.Exists() {
				got += string(v.Raw())
			}
		}
		if got != want || (want == "") != (s == event.Statements{}) {
			t.Errorf("%s states %s", frame, got)
		}
	}
}

// TestStatementsOfTwoFrames reads the sources of an event once where the server sends it in two frames, each with all of them.
func TestStatementsOfTwoFrames(t *testing.T) {
	const sources = `"id":"x","groundingMetadata":{"groundingChunks":[]}`
	d := Dialect{}.New(&event.Stream{})
	for _, c := range []struct {
		frame string
		says  bool
	}{
		{by(sources + "," + parts(hi)), true},
		{by(sources + "," + written), false},
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(c.frame), 32); err != nil {
			t.Fatal(err)
		}
		b := &event.Batch{}
		d.Decode(dialect.Frame{JSON: doc.Root()}, b)
		if says := b.Statements.Grounding.Exists(); says != c.says {
			t.Errorf("%s: says sources %t, want %t", c.frame, says, c.says)
		}
	}
}
