package proof

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestEscapedWords shows that a tool's response states what it states however its letters are sent.
func TestEscapedWords(t *testing.T) {
	for _, result := range []string{
		`Confidence: 92%`, `CON\u0066IDENCE: 92%`, `\u0043onfidence: 92%`, `Plots seen.\n**Confidence:** 92%`, `Confidenc\u0065: 92%`,
		`\u0043\u004f\u004e\u0046\u0049\u0044\u0045\u004e\u0043\u0045: 92%`,
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`{"result":"`+result+`"}`), maxDepth); err != nil {
			t.Fatal(err)
		}
		var b event.Batch
		b.Add(event.KindToolEnded).SetPayload(doc.Root())
		Annotate(&b, roomy)
		if len(b.Events) != 2 || b.Events[1].Kind != event.KindConfidence || b.Events[1].Confidence.Value != 0.92 {
			t.Errorf("%s states %+v", result, b.Events[1:])
		}
	}
}
