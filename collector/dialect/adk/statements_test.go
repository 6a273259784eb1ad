package adk

import (
	"testing"

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
