package dialect

import (
	"testing"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestSaysError reads the convention by which a tool's response says that it failed.
func TestSaysError(t *testing.T) {
	for response, want := range map[string]bool{
		`{"error":"x"}`: true, `{"error":true}`: true, `{"error":7}`: true, `{"error":1e999}`: true, `{"error":{"code":1}}`: true, `{"error":["x"]}`: true,
		`{"error":""}`: false, `{"error":false}`: false, `{"error":0}`: false, `{"error":{}}`: false, `{"error":[]}`: false, `{"error":null}`: false,
		`{}`: false, `[]`: false, `null`: false, `"error"`: false, `{"Error":"x"}`: false, `{"result":{"error":"x"}}`: false,
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(response), 8); err != nil {
			t.Fatal(err)
		}
		if got := SaysError(doc.Root()); got != want {
			t.Errorf("%s: %t", response, got)
		}
	}
}
