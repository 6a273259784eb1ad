package adk

import (
	"strconv"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestStatements checks that a proof layer is read from an event or its custom metadata, and sources from
// its metadata.
func TestStatements(t *testing.T) {
	const layer = `{"confidence":0.92}`
	for sent, want := range map[string]string{
		by(`"proof_layer":` + layer):                                                             layer,
		by(`"proofLayer":` + layer + `,"proof_layer":{}`):                                        layer,
		by(`"customMetadata":{"proof_layer":` + layer + `}`):                                     layer,
		by(`"custom_metadata":{"proofLayer":` + layer + `}`):                                     layer,
		by(`"customMetadata":[{"key":"proofLayer","stringValue":` + strconv.Quote(layer) + `}]`): layer,
		by(`"groundingMetadata":{"groundingChunks":[]}`):                                         `{"groundingChunks":[]}`,
		by(`"citation_metadata":{"citations":[]},` + parts(hi)):                                  `{"citations":[]}`,
		by(parts(hi)): "",
	} {
		var fr frame
		fr.read(value(t, sent))
		s := fr.statements(new(event.Batch))
		got := ""
		for _, v := range []strictjson.Value{s.Layer, s.Grounding, s.Citations} {
			if v.Exists() {
				got += string(v.Raw())
			}
		}
		if got != want || (want == "") != (s == event.Statements{}) {
			t.Errorf("statements() of %s = %s, want %s", sent, got, want)
		}
	}
}

// TestStatementsOfTwoFrames checks that the sources of an event are read once if two frames repeat them.
func TestStatementsOfTwoFrames(t *testing.T) {
	const sources = `"id":"x","groundingMetadata":{"groundingChunks":[]}`
	d := Dialect{}.New(&event.Stream{})
	for _, c := range []struct {
		frame      string
		hasSources bool
	}{
		{by(sources + "," + parts(hi)), true},
		{by(sources + "," + written), false},
	} {
		b := &event.Batch{Table: &table}
		d.Decode(dialect.Frame{JSON: value(t, c.frame)}, b)
		if got := b.Statements.Grounding.Exists(); got != c.hasSources {
			t.Errorf("sources are read from %s: %t, want %t", c.frame, got, c.hasSources)
		}
	}
}
