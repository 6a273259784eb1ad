package a2a

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestStatements finds what an event of the ADK states beside its content, as its servers write it: objects as JSON in a string too.
func TestStatements(t *testing.T) {
	const layer = `{"confidence":0.92}`
	for metadata, want := range map[string]string{
		`{"proof_layer":` + layer + `}`:                                                          layer,
		`{"adk_custom_metadata":{"proof_layer":` + layer + `}}`:                                  layer,
		`{"adk_custom_metadata":"{\"proofLayer\":{\"confidence\":0.92}}"}`:                       layer,
		`{"proofLayer":` + layer + `,"adk_custom_metadata":{"proof_layer":{}}}`:                  layer,
		`{"adk_grounding_metadata":{"groundingChunks":[]},"adk_citation_metadata":"{\"a\":[]}"}`: `{"groundingChunks":[]}{"a":[]}`,
		`{"adk_custom_metadata":"no JSON"}`:                                                      "",
		`{"adk_author":"a"}`:                                                                     "",
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(metadata), 32); err != nil {
			t.Fatal(err)
		}
		s := readRemarks(doc.Root()).statements(new(event.Batch))
		got := ""
		for _, v := range []strictjson.Value{s.Layer, s.Grounding, s.Citations} {
			if v.Exists() {
				got += string(v.Raw())
			}
		}
		if got != want {
			t.Errorf("%s states %s", metadata, got)
		}
	}
}
