package strictjson

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func addSeeds(f *testing.F) {
	docs, _ := corpus()
	for _, doc := range docs[:20] {
		f.Add(doc)
	}
	for _, seed := range []string{
		event, ` [1, -2.50e+3, true, false, null, "a\u00e9\ud83d\ude00\n", {"k\u0069nd":{}}] `, `{"kind":1,"k\u0069nd":2}`, `{"kind":1,"` + "\u212a" + `ind":2}`,
		`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"n":14,"o":15,"p":16,"q":17,"r":18,"s":19}`,
		`{"_":0,"` + "\x7f" + `":1,"b":2,"b":3}`, "\"\xed\xa0\x80\"", `"\ud800"`, `["\ud83d\\","\uDE00\ud83d\ude00"]`, `{"\ud800":"\ud800"}`, `[[[[]]]]`, "\ufeff{}", `{}{}`, `1e999`,
	} {
		f.Add([]byte(seed))
	}
}

// FuzzAgainstJSONText checks that Parse accepts and reads the same values as jsontext, which by default
// also rejects duplicate names and invalid UTF-8. There are three exceptions: the two rules that only this
// package has, and the halves of surrogate pairs, which the comparison replaces except in names.
func FuzzAgainstJSONText(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Doc
		err := d.Parse(data, 100)
		valid := jsontext.Value(data).IsValid()
		if err == nil && !valid {
			data = replaceHalves(data, d.Root())
			valid = jsontext.Value(data).IsValid()
		}
		var rejection *Error
		switch {
		case err == nil && !valid:
			t.Fatalf("Parse(%q) = nil, but jsontext rejects it", data)
		case err == nil:
			compareTokens(t, d.Root(), data)
		case !errors.As(err, &rejection):
			t.Fatalf("Parse(%q) = %v, want an *Error", data, err)
		case rejection.Offset < 0 || rejection.Offset > len(data):
			t.Fatalf("the error's offset is %d in %d bytes", rejection.Offset, len(data))
		case rejection.Reason == Depth || rejection.Reason == FoldedName:
			checkOwnRule(t, rejection, data)
		case valid:
			t.Fatalf("Parse(%q) = %v, but jsontext accepts it", data, err)
		}
		if err != nil && d.Root().Exists() {
			t.Fatal("the Doc has a root after an error")
		}
	})
}

// checkOwnRule checks the offset of an error that jsontext does not report.
func checkOwnRule(t *testing.T, rejection *Error, data []byte) {
	at := data[rejection.Offset]
	if rejection.Reason == FoldedName && at != '"' || rejection.Reason == Depth && at != '[' && at != '{' {
		t.Fatalf("Parse(%q) = %v, which is not the position of a name or a container", data, rejection)
	}
}

// compareTokens compares a value with the tokens of jsontext's decoder.
func compareTokens(t *testing.T, root Value, data []byte) {
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	next := func(kind jsontext.Kind) string {
		token, err := decoder.ReadToken()
		if err != nil || token.Kind() != kind {
			t.Fatalf("jsontext reads the token %v (%v) of %q, want %v", token, err, data, kind)
		}
		return token.String()
	}
	var walk func(Value)
	walk = func(v Value) {
		switch v.Kind() {
		case Null:
			next('n')
		case Bool:
			kind := jsontext.Kind('f')
			if value, ok := v.Bool(); value && ok {
				kind = 't'
			}
			next(kind)
		case Number:
			if got := next('0'); got != string(v.Raw()) {
				t.Fatalf("Raw() = %s, want %s", v.Raw(), got)
			}
		case String:
			if got := next('"'); got != string(v.AppendText(nil)) || !v.Is(v.String()) {
				t.Fatalf("AppendText() = %q, want %q, and Is(String()) is %t", v.AppendText(nil), got, v.Is(v.String()))
			}
		case Array:
			next('[')
			count := 0
			for element := range v.Elements() {
				walk(element)
				count++
			}
			next(']')
			checkLength(t, v, count)
		case Object:
			next('{')
			count := 0
			for name, value := range v.Members() {
				if value != v.Get(name.String()) {
					t.Fatalf("Get(%q) is not the member's value", name.String())
				}
				walk(name)
				walk(value)
				count++
			}
			next('}')
			checkLength(t, v, count)
		default:
			t.Fatalf("Kind() = %d in %q", v.Kind(), data)
		}
	}
	walk(root)
	if _, err := decoder.ReadToken(); err != io.EOF {
		t.Fatalf("jsontext reads more tokens of %q than there are values: %v", data, err)
	}
}

// halfEscapes finds the escapes in a string: of pairs, of halves, and others.
var halfEscapes = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.`)

// replaceHalves returns a copy of data in which the halves of surrogate pairs in strings, but not in names, are replaced.
func replaceHalves(data []byte, v Value) []byte {
	data = bytes.Clone(data)
	var replace func(Value)
	replace = func(v Value) {
		if v.Kind() == String {
			copy(data[v.node().start:], halfEscapes.ReplaceAllFunc(v.Raw(), func(escape []byte) []byte {
				if len(escape) == len(`\ud800`) {
					return []byte(`\ufffd`)
				}
				return escape
			}))
		}
		for _, value := range v.Members() {
			replace(value)
		}
		for element := range v.Elements() {
			replace(element)
		}
	}
	replace(v)
	return data
}

func checkLength(t *testing.T, v Value, count int) {
	if v.Len() != count {
		t.Fatalf("Len() = %d with %d elements or members in %q", v.Len(), count, v.Raw())
	}
}

// FuzzNoPanic calls each method on each value of an input, and checks that the results agree.
func FuzzNoPanic(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Doc
		_ = d.Parse(data, 10)
		var check func(Value)
		check = func(v Value) {
			if i, ok := v.Int(); ok {
				if f, ok := v.Float(); !ok || f != float64(i) {
					t.Fatalf("Float() of %q = %g, Int() = %d", v.Raw(), f, i)
				}
			}
			v.Bool()
			if text := v.Text(); text != nil && (!v.Is(string(text)) || v.Is(string(text)+"x") || !utf8.Valid(text)) {
				t.Fatalf("Text and Is of %q do not agree", v.Raw())
			}
			if text := v.Text(); text != nil && !parse(t, string(v.AppendQuoted(nil))).Is(string(text)) {
				t.Fatalf("AppendQuoted() of %q is %s", v.Raw(), v.AppendQuoted(nil))
			}
			v.Get(string(data)).First("", "a").Raw()
			for name, value := range v.Members() {
				check(name)
				check(value)
			}
			for element := range v.Elements() {
				check(element)
			}
			if v.Exists() {
				var again Doc
				if err := again.Parse(v.Raw(), 10); err != nil || len(v.Raw()) == 0 {
					t.Fatalf("Raw() = %q, which does not parse: %v", v.Raw(), err)
				}
			}
		}
		check(d.Root())
		d.Reset()
		check(d.Root())
	})
}
