package format

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestLineEnds checks that the characters that some readers of SSE take for line ends are escaped.
func TestLineEnds(t *testing.T) {
	var o output
	o.add("a\u0085b\u2028c\u2029d\u0085")
	if got, want := o.json.String(), `"a\u0085b\u2028c\u2029d\u0085"`; got != want {
		t.Errorf("add wrote %s, want %s", got, want)
	}
}

// TestEmptyPayloads leaves out payloads that the filter may have put in place of others.
func TestEmptyPayloads(t *testing.T) {
	for data, want := range map[string]string{`{}`: "", `""`: "", `[]`: "", `null`: "", `0`: "0", `false`: "false", `{"a":1}`: `{"a":1}`, `"x"`: `"x"`, `[0]`: "[0]"} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(data), 9); err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if e.SetPayload(doc.Root()); string(payload(&e)) != want {
			t.Errorf("the payload %s is written as %s, want %s", data, payload(&e), want)
		}
	}
}
