package strictjson

import (
	"bytes"
	"errors"
	"io"
	"testing"

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
		`{"_":0,"` + "\x7f" + `":1,"b":2,"b":3}`, "\"\xed\xa0\x80\"", `"\ud800"`, `[[[[]]]]`, "\ufeff{}", `{}{}`, `1e999`,
	} {
		f.Add([]byte(seed))
	}
}

// FuzzAgainstJSONText demands that we accept exactly what jsontext accepts with
// its defaults (no duplicate names, valid UTF-8), but for the two rules that only
// we have, and that we read the same from it.
func FuzzAgainstJSONText(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Doc
		err := d.Parse(data, 100)
		valid := jsontext.Value(data).IsValid()
		var refusal *Error
		switch {
		case err == nil && !valid:
			t.Fatalf("jsontext refuses %q", data)
		case err == nil:
			sameTokens(t, d.Root(), data)
		case !errors.As(err, &refusal):
			t.Fatalf("%v is not an *Error", err)
		case refusal.Offset < 0 || refusal.Offset > len(data):
			t.Fatalf("offset %d of %d", refusal.Offset, len(data))
		case refusal.Reason == Depth || refusal.Reason == FoldedName:
			checkOwnRule(t, refusal, data)
		case valid:
			t.Fatalf("jsontext accepts %q: %v", data, err)
		}
		if err != nil && d.Root().Exists() {
			t.Fatal("a refused input has a root")
		}
	})
}

// checkOwnRule looks at the place of an error that jsontext cannot judge.
func checkOwnRule(t *testing.T, refusal *Error, data []byte) {
	at := data[refusal.Offset]
	if refusal.Reason == FoldedName && at != '"' || refusal.Reason == Depth && at != '[' && at != '{' {
		t.Fatalf("%v of %q", refusal, data)
	}
}

// sameTokens walks the value beside jsontext's decoder.
func sameTokens(t *testing.T, root Value, data []byte) {
	decoder := jsontext.NewDecoder(bytes.NewReader(data))
	next := func(kind jsontext.Kind) string {
		token, err := decoder.ReadToken()
		if err != nil || token.Kind() != kind {
			t.Fatalf("token %v (%v), want %v, of %q", token, err, kind, data)
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
				t.Fatalf("number %s, want %s", v.Raw(), got)
			}
		case String:
			if got := next('"'); got != v.String() || !v.Is(got) {
				t.Fatalf("string %q, want %q", v.String(), got)
			}
		case Array:
			next('[')
			count := 0
			for element := range v.Elements() {
				walk(element)
				count++
			}
			next(']')
			sameLength(t, v, count)
		case Object:
			next('{')
			count := 0
			for name, value := range v.Members() {
				if value != v.Get(name.String()) {
					t.Fatalf("Get(%q) finds another value", name.String())
				}
				walk(name)
				walk(value)
				count++
			}
			next('}')
			sameLength(t, v, count)
		default:
			t.Fatalf("kind %d in %q", v.Kind(), data)
		}
	}
	walk(root)
	if _, err := decoder.ReadToken(); err != io.EOF {
		t.Fatalf("more tokens than values in %q: %v", data, err)
	}
}

func sameLength(t *testing.T, v Value, count int) {
	if v.Len() != count {
		t.Fatalf("Len() = %d, walked %d in %q", v.Len(), count, v.Raw())
	}
}

// FuzzNoPanic asks every value of every input for everything.
func FuzzNoPanic(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Doc
		_ = d.Parse(data, 10)
		var ask func(Value)
		ask = func(v Value) {
			if i, ok := v.Int(); ok {
				if f, ok := v.Float(); !ok || f != float64(i) {
					t.Fatalf("Float() of %q = %g, Int() = %d", v.Raw(), f, i)
				}
			}
			v.Bool()
			if text := v.Text(); text != nil && (!v.Is(string(text)) || v.Is(string(text)+"x") || string(v.AppendText(nil)) != string(text)) {
				t.Fatalf("%q does not agree with itself", v.Raw())
			}
			v.Get(string(data)).First("", "a").Raw()
			for name, value := range v.Members() {
				ask(name)
				ask(value)
			}
			for element := range v.Elements() {
				ask(element)
			}
			if v.Exists() {
				var again Doc
				if err := again.Parse(v.Raw(), 10); err != nil || len(v.Raw()) == 0 {
					t.Fatalf("Raw() = %q: %v", v.Raw(), err)
				}
			}
		}
		ask(d.Root())
		d.Reset()
		ask(d.Root())
	})
}
