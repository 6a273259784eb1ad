package a2a

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestStatements checks the proof layer and sources in the metadata of an ADK event, also as JSON in strings.
func TestStatements(t *testing.T) {
	const layer = `{"confidence":0.92}`
	for metadata, want := range map[string]string{
		`{"proof_layer":` + layer + `}`:                                                          layer,
		`{"adk_custom_metadata":{"proof_layer":` + layer + `}}`:                                  layer,
		`{"adk_custom_metadata":"{\"proofLayer\":{\"confidence\":0.92}}"}`:                       layer,
		`{"proofLayer":` + layer + `,"adk_custom_metadata":{"proof_layer":{}}}`:                  layer,
		`{"adk_grounding_metadata":{"groundingChunks":[]},"adk_citation_metadata":"{\"a\":[]}"}`: `{"groundingChunks":[]}{"a":[]}`,
		`{"adk_custom_metadata":"a text"}`:                                                       "",
		`{"adk_author":"a"}`:                                                                     "",
	} {
		s := readADKMetadata(value(t, metadata)).statements(new(event.Batch))
		got := ""
		for _, v := range []strictjson.Value{s.Layer, s.Grounding, s.Citations} {
			if v.Exists() {
				got += string(v.Raw())
			}
		}
		if got != want {
			t.Errorf("the metadata %s has the statements %s, want %s", metadata, got, want)
		}
	}
}
