package lenient

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestInvisibleBeforeJSON has strings with JSON behind characters that other readers may skip.
func TestInvisibleBeforeJSON(t *testing.T) {
	table := &event.Table{Discriminators: []string{"kind"}, DeepStrings: []string{"metadata"}}
	for _, before := range []string{"", " ", "\ufeff", "\v", "\u00a0", "\u200b\ufeff"} {
		text := string(strictjson.AppendQuoted(nil, []byte(before+`{"kind":"internal"}`)))
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`{"metadata":{"a":`+text+`}}`), 8); err != nil {
			t.Fatal(err)
		}
		if !HasInternalDiscriminator(table, doc.Root()) {
			t.Errorf("the string %s does not count as internal", text)
		}
		if !HasEncodedInternal(table, doc.Root()) {
			t.Errorf("HasEncodedInternal finds nothing in the string %s", text)
		}
	}
}
