package format

import (
	"encoding/json"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestUnsafeCharacters checks that the characters that some readers of SSE take for line ends are escaped, and that the private
// characters for halves of surrogate pairs do not leave: in Go strings and in JSON from the wire.
func TestUnsafeCharacters(t *testing.T) {
	const text = "a\u0085b\u2028c\u2029d\u0085e\U0010d83df\U0010d83d\U0010de00"
	const want = `0"a\u0085b\u2028c\u2029d\u0085e` + "\ufffd" + `f😀"`
	for _, v := range []any{text, json.RawMessage(`"` + text + `"`)} {
		var o output
		o.add(0)
		o.add(v)
		if got := o.json.String(); got != want || o.frameEnds[1] != len(got) {
			t.Errorf("add wrote %s, want %s", got, want)
		}
	}
}

// TestHalfInTextFile checks that a text file of an A2A artifact has U+FFFD for a half of a surrogate pair.
func TestHalfInTextFile(t *testing.T) {
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`"x\ud83d"`), 1); err != nil {
		t.Fatal(err)
	}
	part := a2aVersion{}.part(&event.Piece{Kind: event.PieceText, Value: doc.Root()})
	if got, _ := decodeBase64([]byte(*part.Raw)); string(got) != "x\ufffd" {
		t.Errorf("the file has %q", got)
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
