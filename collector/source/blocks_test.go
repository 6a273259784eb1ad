package source

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestCutBlocks checks which blocks of an unconfirmed stream pass if their end is missing, or if they are too long. The judgment is that
// of a whole frame.
func TestCutBlocks(t *testing.T) {
	const secret = "s3cret"
	filler := strings.Repeat("x", 2*relayLimit)
	for name, c := range map[string]struct {
		block  string // without the rest that follows
		passes bool
	}{
		"text":                         {"data: s3cret", true},
		"other JSON":                   {`data: {"type":"x","text":"s3cret internal"`, true},
		"other escapes":                {`data: {"type":"x","text":"s3cret\n\\internal"`, true},
		"other array":                  {`data: ["x","s3cret"`, true},
		"JSON-RPC of another server":   {`data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"s3cret"`, true},
		"name":                         {"event: internal_x\ndata: s3cret", false},
		"name after a mark":            {"\ufeffevent: internal_x\ndata: s3cret", false},
		"type":                         {`data: {"type":"internal_x","text":"s3cret"`, false},
		"type after a mark":            {"\ufeff" + `data: {"type":"internal_x","text":"s3cret"`, false},
		"type, several lines":          {"data: {\ndata: \"type\":\ndata: \"internal_x\",\"text\":\"s3cret\"", false},
		"type, CR":                     {"data: {\rdata: \"type\":\"internal_x\",\"text\":\"s3cret\"", false},
		"type in a list":               {`data: [{"type":"internal_x","text":"s3cret"`, false},
		"type with a blank":            {`data: {"type":" internal_x","text":"s3cret"`, false},
		"type with an escape":          {`data: {"type":"\u0069nternal_x","text":"s3cret"`, false},
		"type with an escaped tab":     {`data: {"type":"\tinternal_x","text":"s3cret"`, false},
		"type in full width":           {`data: {"type":"ｉｎｔｅｒｎａｌ","text":"s3cret"`, false},
		"type in a line break":         {"data: {\"text\":\"s3cret\",\"type\":\"\ndata: internal_x", false},
		"type that clients do not get": {`data: {"type":"RAW","event":{"prompt":"s3cret"`, false},
		"agent's frame":                {`data: {"type":"RUN_ERROR","message":"m","code":"c"}` + "\ndata: s3cret", true}, // no JSON
		"surely an agent's":            {`data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"s3cret`, false},
	} {
		for form, sent := range map[string]string{"cut off": c.block, "at a line end": c.block + "\n", "too long": c.block + filler + "\n\n"} {
			got, err := io.ReadAll(relay(strings.NewReader(sent), true))
			if passes := strings.Contains(string(got), secret); err != nil || passes != c.passes || passes && string(got) != sent {
				t.Errorf("%s, %s: the client gets %.200q, %v", name, form, got, err)
			}
		}
	}
}

// TestUnendedFirstFrame checks that the filter gets an agent's frame without a blank line, even if it is the first of the stream.
func TestUnendedFirstFrame(t *testing.T) {
	for sent, want := range map[string]string{yes: yes, no: ""} {
		if got, err := io.ReadAll(relay(strings.NewReader(strings.TrimSuffix(sent, "\n")), true)); err != nil || string(got) != want {
			t.Errorf("after %q the client gets %q, %v, want %q", sent, got, err, want)
		}
	}
}

// TestLongBlockEnds checks that a block over the limit ends at its blank line, wherever the limit is in it.
func TestLongBlockEnds(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		const next = "event: internal_x\ndata: s3cret\n\ndata: 1\n\n"
		for _, before := range []string{"", "id: 7\n\n"} {
			for size := relayLimit - 60; size < relayLimit+20; size++ {
				filler := strings.Repeat("x", size)
				open := before + "data: " + filler + end + "data: y" + end + end
				internal := before + "event: internal_x" + end + "data: " + filler + end + "data: s3cret" + end + end
				for _, body := range []func(string) io.Reader{
					func(s string) io.Reader { return strings.NewReader(s) },
					func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
				} {
					if got, err := io.ReadAll(relay(body(open+next), true)); err != nil || !strings.HasSuffix(string(got), "data: 1\n\n") || !strings.HasPrefix(string(got), strings.TrimSuffix(open, "\n")) || strings.Contains(string(got), "s3cret") {
						t.Fatalf("%d bytes with %q after %q: the client gets …%q of %d, %v", size, end, before, got[max(0, len(got)-80):], len(got), err)
					}
					if got, err := io.ReadAll(relay(body(internal+next), true)); err != nil || !strings.HasSuffix(string(got), "data: 1\n\n") || strings.Contains(string(got), "s3cret") {
						t.Fatalf("internal, %d bytes with %q after %q: the client gets %q, %v", size, end, before, got, err)
					}
				}
			}
		}
	}
}

// TestLongComment checks that a comment over the limit does not let the event after it pass unfiltered.
func TestLongComment(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		for _, before := range []string{"", "\ufeff", "id: 7\n\n", ": c\r\n", ": c\r"} {
			for size := relayLimit - 30; size < relayLimit+30; size++ {
				comment := before + ":" + strings.Repeat("x", size) + end
				sent := comment + "event: internal_x\ndata: s3cret\n\ndata: 1\n\n"
				for _, body := range []io.Reader{strings.NewReader(sent), iotest.OneByteReader(strings.NewReader(sent))} {
					got, err := io.ReadAll(relay(body, true))
					if err != nil || !strings.HasPrefix(string(got), strings.TrimSuffix(comment, "\n")) || !strings.HasSuffix(string(got), "data: 1\n\n") || strings.Contains(string(got), "s3cret") {
						t.Fatalf("%d bytes with %q after %q: the client gets …%q of %d, %v", size, end, before, got[max(0, len(got)-80):], len(got), err)
					}
				}
			}
		}
	}
}

// TestManyEmptyBlocks checks that many blocks without data, which together are over the limit, do not count as one long block.
func TestManyEmptyBlocks(t *testing.T) {
	for total := relayLimit - 20; total < relayLimit+20; total++ {
		many := strings.Repeat("event: ping\n\n", 60)
		sent := "event: " + strings.Repeat("x", total-len(many)-len("event: \n\n")) + "\n\n" + many
		got, err := io.ReadAll(relay(iotest.OneByteReader(strings.NewReader(sent+"event: internal_x\ndata: s3cret\n\ndata: 1\n\n")), true))
		if err != nil || strings.Contains(string(got), "s3cret") || !strings.HasSuffix(string(got), "data: 1\n\n") {
			t.Errorf("after %d bytes the client gets …%q, %v", total, got[max(0, len(got)-60):], err)
		}
	}
}

// TestWholeBeginning checks that a block that a broken connection cuts after whole JSON does not count as a frame: it may go on.
func TestWholeBeginning(t *testing.T) {
	broken := errors.New("broken")
	for _, open := range []bool{false, true} {
		got, err := io.ReadAll(relay(io.MultiReader(strings.NewReader(yes+strings.TrimSuffix(yes, "\n")), iotest.ErrReader(broken)), open))
		if !errors.Is(err, broken) || string(got) != yes {
			t.Errorf("open %t: the client gets %.200q, %v", open, got, err)
		}
	}
}

// TestCompleteJSON checks how JSON is completed that was cut off anywhere.
func TestCompleteJSON(t *testing.T) {
	for data, want := range map[string]string{
		``:                           ``,
		`text`:                       `text`,
		`{`:                          `{}`,
		` {"a`:                       ` {}`,
		`{"a":`:                      `{}`,
		`{"a":1`:                     `{}`, // more digits may follow
		`{"a":1,`:                    `{"a":1}`,
		`{"a":1,"b":"te`:             `{"a":1,"b":"te"}`,
		`{"a" : "te\`:                `{"a" : "te"}`,
		`{"a":"te\\`:                 `{"a":"te\\"}`,
		`{"a":"te\u00e`:              `{"a":"te"}`,
		`{"a":"te\u00e4`:             `{"a":"te\u00e4"}`,
		"{\"a\":\"te\xe2\x82":        `{"a":"te"}`,
		"{\"a\":\"te\xe2\x82\xac":    "{\"a\":\"te\xe2\x82\xac\"}",
		`{"a":"}]\"`:                 `{"a":"}]\""}`,
		`[{"a":[1,{"b":true}],"c":[`: `[{"a":[1,{"b":true}],"c":[]}]`,
		`["a","b`:                    `["a","b"]`,
		`{"a":1}`:                    `{"a":1}`,
		`{"a":1} x`:                  `{"a":1} x`,
		`]`:                          `]`,
		`{}}`:                        `{}}`,
	} {
		if got := string(completeJSON([]byte(data))); got != want {
			t.Errorf("completeJSON(%s) = %s, want %s", data, got, want)
		}
	}
}
