package dialect

import (
	"strings"
	"testing"
	"unsafe"

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

// TestName bounds a name, and makes sure that one that is cut does not hold on to all that it was cut from.
func TestName(t *testing.T) {
	long := strings.Repeat("x", MaxName-1) + "é" + strings.Repeat("x", 1<<20)
	for text, want := range map[string]string{"a": "a", "\xff": "\uFFFD", long: long[:MaxName-1], long[:MaxName-1] + "x": long[:MaxName-1] + "x"} {
		if got := Name(text); got != want {
			t.Errorf("%.20q… is %q", text, got)
		}
	}
	if unsafe.StringData(Name(long)) == unsafe.StringData(long) {
		t.Error("a name holds on to the text that it was cut from")
	}
}
