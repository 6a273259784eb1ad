package strictjson

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// rejectedCase is an input and its error with a maximum depth of 3.
type rejectedCase struct {
	input  string
	reason Reason
	offset int
}

// TestRejected checks the reason and the offset of each error.
func TestRejected(t *testing.T) {
	for group, cases := range map[string][]rejectedCase{
		"empty": {
			{"", Syntax, 0}, {" \n", Syntax, 2},
		},
		"structure": {
			{"[", Syntax, 1}, {"]", Syntax, 0}, {"{", Syntax, 1}, {"}", Syntax, 0}, {"[1", Syntax, 2},
			{"[1,", Syntax, 3}, {"[1,]", Syntax, 3}, {"[,1]", Syntax, 1}, {"[1 2]", Syntax, 3}, {"[1}", Syntax, 2},
			{`{"a"}`, Syntax, 4}, {`{"a":}`, Syntax, 5}, {`{"a":1`, Syntax, 6}, {`{"a":1,}`, Syntax, 7},
			{`{,"a":1}`, Syntax, 1}, {`{"a" 1}`, Syntax, 5}, {`{"a":1 "b":2}`, Syntax, 7}, {`{"a"::1}`, Syntax, 5},
			{`{a:1}`, Syntax, 1}, {`{1:1}`, Syntax, 1}, {`{null:1}`, Syntax, 1}, {`{'a':1}`, Syntax, 1}, {`{"a":1]`, Syntax, 6},
			{`["a":1]`, Syntax, 4}, {"/**/1", Syntax, 0}, {"[1/**/]", Syntax, 2}, {"#", Syntax, 0}, {"[[1]", Syntax, 4},
		},
		"literals": {
			{"nul", Syntax, 3}, {"nulL", Syntax, 3}, {"True", Syntax, 0}, {"t", Syntax, 1}, {"falſe", Syntax, 3},
			{"NaN", Syntax, 0}, {"Infinity", Syntax, 0}, {"-Infinity", Syntax, 1}, {"undefined", Syntax, 0},
			{"nullx", TrailingData, 4}, {"truefalse", TrailingData, 4},
		},
		"numbers": {
			{"-", Syntax, 1}, {"+1", Syntax, 0}, {".5", Syntax, 0}, {"1.", Syntax, 2}, {"1.e1", Syntax, 2}, {"1e", Syntax, 2},
			{"1e+", Syntax, 3}, {"1E-x", Syntax, 3}, {"--1", Syntax, 1}, {"[01]", Syntax, 2}, {"[-01]", Syntax, 3}, {"[1_0]", Syntax, 2},
			{"[0x1]", Syntax, 2}, {"[1.2.3]", Syntax, 4}, {"[1e1.5]", Syntax, 4}, {"01", TrailingData, 1}, {"１", Syntax, 0}, {"[1e5e]", Syntax, 4},
		},
		"whitespace": {
			{"\u00a01", Syntax, 0}, {"[\v1]", Syntax, 1}, {"[\f1]", Syntax, 1}, {"1\u2028", TrailingData, 1}, {"[1\u0085]", Syntax, 2},
		},
		"byte order mark and NUL": {
			{"\ufeff1", Syntax, 0}, {"\x00", Syntax, 0}, {"\x001", Syntax, 0}, {"[\x00]", Syntax, 1}, {"{\"a\"\x00:1}", Syntax, 4},
			{"[1\x00", Syntax, 2}, {"1\x00", TrailingData, 1}, {"1\ufeff", TrailingData, 1}, {`["` + "\x00" + `"]`, Syntax, 2}, {"-\x00", Syntax, 1},
		},
		"trailing data": {
			{"1 2", TrailingData, 2}, {"{}{}", TrailingData, 2}, {"{}\n{}", TrailingData, 3}, {"[]]", TrailingData, 2},
			{`"a""b"`, TrailingData, 3}, {"{},", TrailingData, 2}, {"null\xff", TrailingData, 4},
		},
		"strings": {
			{`"`, Syntax, 1}, {`"a`, Syntax, 2}, {`"abcdefgh`, Syntax, 9}, {`"abcdefghi`, Syntax, 10}, {`'a'`, Syntax, 0},
			{"\"\t\"", Syntax, 1}, {"\"\n\"", Syntax, 1}, {"\"abcdefg\x1f\"", Syntax, 8}, {"\"abcdefgh\x1f\"", Syntax, 9},
			{`{"a` + "\n" + `":1}`, Syntax, 3}, {`{"a`, Syntax, 3},
		},
		"escapes": {
			{`"\`, Syntax, 1}, {`"\"`, Syntax, 3}, {`"\x41"`, Syntax, 1}, {`"\'"`, Syntax, 1}, {`"\0"`, Syntax, 1}, {`"\N"`, Syntax, 1},
			{`"\U0041"`, Syntax, 1}, {`"\u"`, Syntax, 1}, {`"\u004"`, Syntax, 1}, {`"\u00g1"`, Syntax, 1}, {`"\u+041"`, Syntax, 1},
			{`"ab\u12`, Syntax, 3}, {"\"\\\n\"", Syntax, 1}, {"\"\\\xff\"", Syntax, 1}, {`{"\q":1}`, Syntax, 2},
		},
		"surrogates": {
			{`{"\ud800":1}`, InvalidUTF8, 2}, {`{"\uDFFF":1}`, InvalidUTF8, 2}, {`{"a\ud83d\u0041":1}`, InvalidUTF8, 3}, {`{"\ud83d\ud83d\ude00":1}`, InvalidUTF8, 2},
			{`{"\ude00\ud83d":1}`, InvalidUTF8, 2}, {`{"\ud83dA":1}`, InvalidUTF8, 2}, {`{"\ud83d\n":1}`, InvalidUTF8, 2}, {`{"\ud83d\ude0":1}`, InvalidUTF8, 2},
			{`{"\ud83d\\ude00":1}`, InvalidUTF8, 2}, {`{"\ud83d.ude00":1}`, InvalidUTF8, 2}, {`{"\ud83d\nde00":1}`, InvalidUTF8, 2}, {`[{"a":{"\udc00":1}}]`, InvalidUTF8, 8},
			{`"\ud83d\ude0"`, Syntax, 7}, {`"\ud83"`, Syntax, 1}, {"\"\xed\xa0\xbd\xed\xb8\x80\"", InvalidUTF8, 1},
		},
		"UTF-8": {
			{"\"\xff\"", InvalidUTF8, 1}, {"\"\x80\"", InvalidUTF8, 1}, {"\"é\xa9\"", InvalidUTF8, 3}, {"\"\xc3\"", InvalidUTF8, 1},
			{"\"\xc1\xa9\"", InvalidUTF8, 1}, {"\"\xc0\x80\"", InvalidUTF8, 1}, {"\"\xe0\x81\xa9\"", InvalidUTF8, 1}, {"\"\xf0\x80\x81\xa9\"", InvalidUTF8, 1},
			{"\"\xf4\x90\x80\x80\"", InvalidUTF8, 1}, {"\"\xf8\x88\x80\x80\x80\"", InvalidUTF8, 1}, {"\"\xe2\x82", InvalidUTF8, 1},
			{"\"abcdefg\xed\xa0\x80\"", InvalidUTF8, 8}, {"{\"\xff\":1}", InvalidUTF8, 2}, {"[\xff]", Syntax, 1}, {"\"\xef\xbf\"", InvalidUTF8, 1},
		},
		"duplicate names": {
			{`{"kind":1,"kind":2}`, DuplicateName, 10}, {`{"kind":1,"k\u0069nd":2}`, DuplicateName, 10}, {`{"\u006bind":1, "kind":2}`, DuplicateName, 16},
			{`{"":1,"":2}`, DuplicateName, 6}, {`[0,{"a":{"b":1,"b":2}}]`, DuplicateName, 15}, {`{"a":{"b":1},"a":2}`, DuplicateName, 13},
			{`{"a":1,"b":2,"c":3,"b":4}`, DuplicateName, 19}, {`{"😀":1,"\ud83d\ude00":2}`, DuplicateName, 10}, {`{"\u0000":1,"\u0000":2}`, DuplicateName, 12},
			{`{"conversation_id":1,"conversation_id":2}`, DuplicateName, 21}, {`{"a/b":1,"a\/b":2}`, DuplicateName, 9},
		},
		"folded names": {
			{`{"kind":1,"KIND":2}`, FoldedName, 10}, {`{"kind":1,"` + "\u212a" + `ind":2}`, FoldedName, 10}, {`{"kind":1,"\u212aind":2}`, FoldedName, 10},
			{`{"\u212aind":1,"kind":2}`, FoldedName, 15}, {`{"\u004bind":1,"kind":2}`, FoldedName, 15}, {`{"status":1,"ſtatuſ":2}`, FoldedName, 12},
			{`{"é":1,"É":2}`, FoldedName, 8}, {`{"Σ":1,"ς":2}`, FoldedName, 8}, {`{"invocationId":1,"invocationID":2}`, FoldedName, 18},
			{`[{"x":{"A":1,"a":1}}]`, FoldedName, 13}, {`{"ǅ":1,"ǆ":2}`, FoldedName, 8},
		},
		"depth": {
			{"[[[[", Depth, 3}, {"[[[[]]]]", Depth, 3}, {`{"a":[{"b":{}}]}`, Depth, 11}, {`[[],[[[]]]]`, Depth, 6}, {`[[[{`, Depth, 3},
		},
		"several errors": {
			{`{"a":1,"a":nul}`, DuplicateName, 7}, {`{"a":nul,"a":1}`, Syntax, 8}, {`{"a":1,"A":1,"a":1}`, FoldedName, 7},
			{`[[[["` + "\xff" + `"]]]]`, Depth, 3}, {`["` + "\xff" + `",[[[]]]]`, InvalidUTF8, 2},
		},
	} {
		t.Run(group, func(t *testing.T) {
			var d Doc
			for _, c := range cases {
				err := d.Parse([]byte(c.input), 3)
				var e *Error
				if !errors.As(err, &e) || *e != (Error{c.reason, c.offset}) {
					t.Errorf("Parse(%q) = %v, want %s at byte %d", c.input, err, c.reason, c.offset)
				}
				if d.Root().Exists() {
					t.Errorf("Parse(%q) left a root", c.input)
				}
			}
		})
	}
}

// TestAccepted checks valid documents.
func TestAccepted(t *testing.T) {
	var d Doc
	for _, input := range []string{
		"0", "-0", "0.0", "-0.0e-0", "1e5", "1E+5", "1e-05", "10", "-9.99", "1e999999", strings.Repeat("9", 500), "0." + strings.Repeat("0", 500) + "1",
		"null", "true", "false", `""`, `"a"`, " \t\r\n0 \t\r\n", "[]", "{}", "[ ]", "{ }", " [ 1 , [ ] ] ", ` { "a" : { } , "b" : 1 } `,
		`"\"\\\/\b\f\n\r\t\u0000\uFFFF\u00e9"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\ud83d"`, `["\uDE00","\ude00\ud83d"]`, `{"a":"\ud83d.\ude00"}`, `"\udbff\udfff"`, `"\ufeff"`, "\"\ufeff\"", "\"\ufffd\"", `"\uFFFD"`,
		"\"\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"", `"abcdefgh"`, `"abcdefghi\n"`, `"\\"`, `"\\\""`, "\"\u2028\"",
		`{"":{"":{"":0}}}`, `[[[]],{"a":[1]}]`, `{"a":1,"b":{"a":1,"A ":2}}`, `[{"a":1},{"a":1}]`, `{"a":1,"ab":2,"abc":3}`,
		`{"a_":1,"a\u007f":2,"a` + "\x7f" + `\u0000":3}`, `{"ß":1,"ss":2,"SS ":3}`, `{"İ":1,"i":2,"ı":3}`, `{"é":1,"e\u0301":2}`, `{"а":1,"a":2}`,
		`{"a":1,"a\u0000":2,"\u0000a":3,"aaaaaaaa":4,"aaaaaaaa\u0000":5}`,
	} {
		if err := d.Parse([]byte(input), 3); err != nil {
			t.Errorf("Parse(%q) = %v", input, err)
		}
		if got, want := string(d.Root().Raw()), strings.Trim(input, " \t\r\n"); got != want {
			t.Errorf("Parse(%q).Root().Raw() = %q, want %q", input, got, want)
		}
	}
}

// TestDepth checks the limit on nesting.
func TestDepth(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth))
	}
	var d Doc
	for _, c := range []struct{ allowed, depth, rejectedAt int }{
		{math.MinInt, 0, 0}, {-1, 1, 0}, {0, 1, 0}, {0, 2, 0}, {1, 1, -1}, {1, 2, 1}, {128, 128, -1}, {128, 129, 128},
		{10_000, 10_000, -1}, {math.MaxInt, 10_000, -1}, {math.MaxInt, 1_000_000, 10_000},
	} {
		input := nested(c.depth)
		if c.depth == 0 {
			input = []byte("[]")
		}
		err := d.Parse(input, c.allowed)
		if c.rejectedAt < 0 && err == nil {
			continue
		}
		if e, ok := err.(*Error); !ok || *e != (Error{Depth, c.rejectedAt}) {
			t.Errorf("Parse() = %v at depth %d of %d, want an error at byte %d", err, c.depth, c.allowed, c.rejectedAt)
		}
	}
	if err := d.Parse([]byte("7"), 0); err != nil {
		t.Errorf("Parse(7) = %v at depth 0, want no error", err)
	}
}

// TestErrorDoesNotQuote checks that an error does not contain any of the input.
func TestErrorDoesNotQuote(t *testing.T) {
	err := new(Doc).Parse([]byte(`{"secret":1,"secret":"canary"}`), 3)
	if got, want := fmt.Sprint(err), "strictjson: duplicate_name at byte 12"; got != want {
		t.Errorf("the error is %q, want %q", got, want)
	}
}

// TestSpecial checks that special finds each byte that ends a plain string, at each position of a word.
func TestSpecial(t *testing.T) {
	for place := range 8 {
		for b := range 256 {
			for _, rest := range []byte(" !#[]az~\x7f") {
				for _, after := range []byte("\"\\ !\x00\x80\xff") {
					word := bytes.Repeat([]byte{rest}, place)
					word = append(append(word, byte(b)), bytes.Repeat([]byte{after}, 7-place)...)
					found := bits.TrailingZeros64(special(binary.LittleEndian.Uint64(word))) / 8
					want := slices.IndexFunc(word, func(b byte) bool { return b < ' ' || b == '"' || b == '\\' || b >= 0x80 })
					if want < 0 {
						want = 8
					}
					if found != want {
						t.Fatalf("special(%q) finds byte %d, want %d", word, found, want)
					}
				}
			}
		}
	}
}

// TestEndOfInput checks each kind of string end near the end of the input, where fewer than eight bytes
// remain.
func TestEndOfInput(t *testing.T) {
	var d Doc
	for length := range 40 {
		for _, last := range []string{"", "z", `\n`, "é", "😀", `\u00e9`} {
			text := strings.Repeat("x", length) + last
			for _, input := range []string{`"` + text + `"`, `{"` + text + `":0}`, `{"` + text + `":0,"yyyyyyyyyyyy":0}`} {
				if err := d.Parse([]byte(input), 1); err != nil {
					t.Errorf("Parse(%q) = %v", input, err)
				}
			}
			for _, bad := range []string{"\xff", "\x01", `\q`, `\ud80`, `\`} {
				if d.Parse([]byte(`["`+text+bad+`"]`), 1) == nil || d.Parse([]byte(`{"`+text+bad+`":0}`), 1) == nil {
					t.Errorf("Parse() accepts %q after %q", bad, text)
				}
			}
			repeated := fmt.Sprintf(`{%q:0,%q:0}`, "p"+strings.Repeat("x", length), "P"+strings.Repeat("X", length))
			if err := d.Parse([]byte(repeated), 1); err == nil || err.(*Error).Reason != FoldedName {
				t.Errorf("Parse(%q) = %v, want %s", repeated, err, FoldedName)
			}
		}
	}
}

// TestReuse checks that a Doc parses like a new one after any input.
func TestReuse(t *testing.T) {
	var d Doc
	if d.Root().Exists() {
		t.Error("the zero Doc has a root")
	}
	inputs := []string{`{"a":[1,2,{"b":"c"}]}`, `[`, `"x"`, `{"a":1,"a":2}`, `[[],[]]`}
	for _, input := range append(inputs, inputs...) {
		fresh := new(Doc)
		if got, want := fmt.Sprint(d.Parse([]byte(input), 9)), fmt.Sprint(fresh.Parse([]byte(input), 9)); got != want {
			t.Errorf("Parse(%q) = %s, want %s", input, got, want)
		}
		if !slices.Equal(d.nodes, fresh.nodes) {
			t.Errorf("Parse(%q) of a used Doc gives another index than of a new one", input)
		}
	}
	d.Reset()
	if d.Root().Exists() || d.data != nil {
		t.Error("Reset kept the value")
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	docs, _ := corpus()
	for name, input := range map[string][]byte{
		"text": docs[0], "names": []byte(`{"KIND":1,"\u0061":2,"é":3,"_":4,"` + "\x7f" + `":5}`),
		"table": []byte(`{` + strings.Join(manyNames(100), ",") + `}`),
	} {
		var d Doc
		if n := testing.AllocsPerRun(100, func() {
			if err := d.Parse(input, 128); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: Parse allocates %v times, want 0", name, n)
		}
	}
}

func manyNames(n int) (members []string) {
	for i := range n {
		members = append(members, fmt.Sprintf(`"name %d":%d`, i, i))
	}
	return members
}
