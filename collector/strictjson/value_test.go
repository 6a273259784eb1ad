package strictjson

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t testing.TB, input string) Value {
	t.Helper()
	d := new(Doc)
	if err := d.Parse([]byte(input), 128); err != nil {
		t.Fatalf("Parse(%q): %v", input, err)
	}
	return d.Root()
}

const event = `{"content":{"parts":[{"text":"Let me\nweigh"},{"functionCall":{"name":"transfer_to_agent","args":{}}}]},
	"invocationId":"e-1","invocation_id":"e-2","finishReason":null,"finish_reason":"STOP","p\u0061rtial":true,"timestamp":1767081391.059711,"empty":""}`

// TestWalk checks the members and elements of an event.
func TestWalk(t *testing.T) {
	root := parse(t, event)
	parts := slices.Collect(root.Get("content").Get("parts").Elements())
	if len(parts) != 2 || root.Get("content").Get("parts").Len() != 2 {
		t.Fatalf("there are %d parts, want 2", len(parts))
	}
	if got := parts[0].Get("text").String(); got != "Let me\nweigh" {
		t.Errorf("the text is %q", got)
	}
	if !parts[1].Get("functionCall").Get("name").Is("transfer_to_agent") {
		t.Error("the name of the call is not transfer_to_agent")
	}
	if args := parts[1].Get("functionCall").Get("args"); args.Kind() != Object || args.Len() != 0 || string(args.Raw()) != "{}" {
		t.Errorf("the arguments are %s, want {}", args.Raw())
	}
	if partial, ok := root.Get("partial").Bool(); !partial || !ok {
		t.Error("a name with an escape is not found")
	}
	var names []string
	for name, value := range root.Members() {
		names = append(names, name.String())
		if name.Kind() != String || !value.Exists() || value != root.Get(name.String()) {
			t.Errorf("Get(%s) is not the member's value %s", name.Raw(), value.Raw())
		}
	}
	want := []string{"content", "invocationId", "invocation_id", "finishReason", "finish_reason", "partial", "timestamp", "empty"}
	if diff := cmp.Diff(want, names); diff != "" || root.Len() != len(want) {
		t.Errorf("Len() = %d, want %d; the names differ (-want +got):\n%s", root.Len(), len(want), diff)
	}
	for range root.Members() {
		break
	}
	for range root.Get("content").Get("parts").Elements() {
		break
	}
}

// TestFirst checks that First returns the first member that exists and is not null.
func TestFirst(t *testing.T) {
	root := parse(t, event)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"invocationId", "invocation_id"}, "e-1"},
		{[]string{"invocation_id", "invocationId"}, "e-2"},
		{[]string{"finishReason", "finish_reason"}, "STOP"}, // null is skipped
		{[]string{"missing", "finish_reason"}, "STOP"},
	} {
		if got := root.First(c.names...).String(); got != c.want {
			t.Errorf("First(%q) = %q, want %q", c.names, got, c.want)
		}
	}
	for _, names := range [][]string{nil, {"missing"}, {"finishReason"}, {"finishReason", "missing"}} {
		if root.First(names...).Exists() {
			t.Errorf("First(%q) exists", names)
		}
	}
	if !root.First("missing", "empty").Is("") {
		t.Error("First() skips an empty string")
	}
}

// TestKinds checks the results of each method on a value of each kind.
func TestKinds(t *testing.T) {
	root := parse(t, `{"null":null,"bool":false,"number":-1.5,"string":"x","array":[7],"object":{"x":0}}`)
	type results struct {
		Kind                 Kind
		Exists, IsX, HasX    bool
		Len, Walked          int
		Raw, String          string
		NoText               bool
		Bool, BoolOK         bool
		Float                float64
		FloatOK              bool
		Int                  int64
		IntOK                bool
		Appended             string
		FirstX, MissingChain bool
	}
	call := func(v Value) results {
		a := results{Kind: v.Kind(), Exists: v.Exists(), IsX: v.Is("x"), HasX: v.Get("x").Exists(), Len: v.Len(), Raw: string(v.Raw()),
			String: v.String(), NoText: v.Text() == nil, Appended: string(v.AppendText([]byte("+"))), FirstX: v.First("y", "x").Exists(),
			MissingChain: v.Get("y").First("z").Get("x").Exists()}
		for range v.Members() {
			a.Walked++
		}
		for range v.Elements() {
			a.Walked++
		}
		a.Bool, a.BoolOK = v.Bool()
		a.Float, a.FloatOK = v.Float()
		a.Int, a.IntOK = v.Int()
		return a
	}
	for name, want := range map[string]results{
		"missing": {NoText: true, Appended: "+"},
		"null":    {Kind: Null, Exists: true, Raw: "null", NoText: true, Appended: "+"},
		"bool":    {Kind: Bool, Exists: true, Raw: "false", NoText: true, Appended: "+", BoolOK: true},
		"number":  {Kind: Number, Exists: true, Raw: "-1.5", NoText: true, Appended: "+", Float: -1.5, FloatOK: true},
		"string":  {Kind: String, Exists: true, Raw: `"x"`, String: "x", Appended: "+x", IsX: true},
		"array":   {Kind: Array, Exists: true, Raw: "[7]", NoText: true, Appended: "+", Len: 1, Walked: 1},
		"object":  {Kind: Object, Exists: true, Raw: `{"x":0}`, NoText: true, Appended: "+", Len: 1, Walked: 1, HasX: true, FirstX: true},
	} {
		if diff := cmp.Diff(want, call(root.Get(name))); diff != "" {
			t.Errorf("%s: the results differ (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(results{NoText: true, Appended: "+"}, call(Value{})); diff != "" {
		t.Errorf("the results of the zero Value differ (-want +got):\n%s", diff)
	}
}

// TestText checks texts with and without escapes.
func TestText(t *testing.T) {
	for sent, want := range map[string]string{
		``: "", `plain`: "plain", `é😀`: "é😀", `\"\\\/\b\f\n\r\t`: "\"\\/\b\f\n\r\t", `a\u0041b`: "aAb", `\u00E9\u20ac`: "é€",
		`\ud83d\ude00!`: "😀!", `\\u0041`: `\u0041`, `\uffff\ufffd\u0000`: "\uffff\ufffd\x00", `é\né\n`: "é\né\n",
	} {
		v := parse(t, `["`+sent+`"]`)
		for v = range v.Elements() {
		}
		if string(v.Text()) != want || v.String() != want || string(v.AppendText([]byte("+"))) != "+"+want || v.Text() == nil {
			t.Errorf("%q: Text() = %q, String() = %q, want %q", sent, v.Text(), v.String(), want)
		}
		if !v.Is(want) {
			t.Errorf("Is(%q) = false for %q", want, sent)
		}
		for _, other := range []string{want + "x", "x" + want, strings.ToUpper(want) + ".", sent + "y", want + "\x00"} {
			if v.Is(other) {
				t.Errorf("Is(%q) = true for %q", other, sent)
			}
		}
		if want != "" && (v.Is(want[:len(want)-1]) || v.Is(want[1:]) || v.Is("")) {
			t.Errorf("Is() = true for a part of %q", sent)
		}
	}
}

// TestHalves checks texts of strings with halves of surrogate pairs.
func TestHalves(t *testing.T) {
	for sent, want := range map[string]struct{ text, shown, quoted string }{
		`\ud83d`:                     {"\U0010d83d", "\ufffd", `"\ud83d"`},
		`\uDE00`:                     {"\U0010de00", "\ufffd", `"\ude00"`},
		`a\ud83d\n\u2028b`:           {"a\U0010d83d\n\u2028b", "a\ufffd\n\u2028b", `"a\ud83d\n\u2028b"`},
		`\ude00\ud83d`:               {"\U0010de00\U0010d83d", "\ufffd\ufffd", `"\ude00\ud83d"`},
		`\ud83d\ud83d\ude00`:         {"\U0010d83d😀", "\ufffd😀", `"\ud83d😀"`},
		`\ufffd`:                     {"\ufffd", "\ufffd", "\"\ufffd\""},
		"\U0010d83d":                 {"\U0010d83d", "\U0010d83d", "\"\U0010d83d\""},
		"\U0010d83d" + `\n\u0041`:    {"\U0010d83d\nA", "\U0010d83d\nA", "\"\U0010d83d" + `\nA"`},
		`\udbff\udfff\udc00\u00e9\"`: {"\U0010ffff\U0010dc00é\"", "\U0010ffff\ufffdé\"", "\"\U0010ffff" + `\udc00é\""`},
	} {
		v := parse(t, `"`+sent+`"`)
		if v.String() != want.text || string(v.Text()) != want.text || !v.Is(want.text) || v.Is(want.shown) && want.text != want.shown {
			t.Errorf("the text of %s is %+q, want %+q, and Is(it) is %t", sent, v.Text(), want.text, v.Is(want.text))
		}
		if got := string(v.AppendText(nil)); got != want.shown {
			t.Errorf("AppendText() = %+q for %s, want %+q", got, sent, want.shown)
		}
		if got := string(v.AppendQuoted(nil)); got != want.quoted {
			t.Errorf("AppendQuoted() = %s for %s, want %s", got, sent, want.quoted)
		}
	}
	if got := string(parse(t, "1").AppendQuoted(nil)); got != `""` {
		t.Errorf("AppendQuoted() = %s for a number", got)
	}
}

// TestMakeReadable checks that halves in joined texts become the characters that they make.
func TestMakeReadable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "é😀\U0010d7ff\U0010e000": "é😀\U0010d7ff\U0010e000", "a\U0010d83d\U0010de00b": "a😀b", "\U0010d83d\U0010d83d\U0010de00": "\ufffd😀",
		"\U0010de00\U0010d83d": "\ufffd\ufffd", "x\U0010d83d": "x\ufffd", "\U0010d83d\u00e9": "\ufffdé", "\U0010d83d\U0010d7ff": "\ufffd\U0010d7ff",
	} {
		if got := string(MakeReadable([]byte(text))); got != want {
			t.Errorf("MakeReadable(%+q) = %+q, want %+q", text, got, want)
		}
	}
}

// TestAppendToText checks that Text and Raw share the input's memory, but that an append does not write into
// it.
func TestAppendToText(t *testing.T) {
	input := []byte(`["a","b"]`)
	var d Doc
	if err := d.Parse(input, 1); err != nil {
		t.Fatal(err)
	}
	for v := range d.Root().Elements() {
		_ = append(v.Text(), '!')
		_ = append(v.Raw(), '!')
		if &v.Text()[0] != &v.Raw()[1] {
			t.Error("a text without an escape was copied")
		}
	}
	if string(input) != `["a","b"]` {
		t.Errorf("the input became %s", input)
	}
}

// TestInt checks that Int reads a number exactly or not at all.
func TestInt(t *testing.T) {
	zeros := strings.Repeat("0", 400)
	for number, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "0e9": 0, "0.000e-5": 0, "0e999999999999999999999": 0, "7": 7, "-7": -7, "1.0": 1, "1e3": 1000, "1.5e1": 15,
		"12.50e2": 1250, "1E+2": 100, "100e-2": 1, "-1000.00e-3": -1, "0.001e3": 1, "0.0010e4": 10, "123456789012345678": 123456789012345678,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9.223372036854775807e18": math.MaxInt64,
		"-922337203685477580.8e1": math.MinInt64, "92233720368547758070e-1": math.MaxInt64, "1" + zeros + "e-400": 1, "0." + zeros + "1e401": 1,
		"1e18": 1e18, "1." + zeros: 1, "-20e-1": -2, "1e000000000000000000003": 1000, "1e-0": 1,
	} {
		if got, ok := parse(t, number).Int(); got != want || !ok {
			t.Errorf("Int() of %s = %d, %t, want %d", number, got, ok, want)
		}
	}
	for _, number := range []string{
		"0.1", "1.5", "-0.5", "1e-1", "15e-1", "9223372036854775808", "-9223372036854775809", "1e19", "10e18", "-1e19", "9223372036854775807.5",
		"1e999999999999999999999", "1e-999999999999999999999", "18446744073709551616", "18446744073709551617", "1" + zeros, "0." + zeros + "1",
		"1e18446744073709551616", "99999999999999999999", "1e-18446744073709551616", "1.0000000000000000000000001", "922337203685477580.9e1",
	} {
		if got, ok := parse(t, number).Int(); ok || got != 0 {
			t.Errorf("Int() of %s = %d, %t, want false", number, got, ok)
		}
	}
}

// TestFloat checks that Float rejects numbers out of range.
func TestFloat(t *testing.T) {
	for number, want := range map[string]float64{
		"0": 0, "1767081391.059711": 1767081391.059711, "-1e-3": -0.001, "1e308": 1e308, "1.7976931348623157e308": math.MaxFloat64,
		"5e-324": math.SmallestNonzeroFloat64, "1e-999999": 0, "1E2": 100, "0." + strings.Repeat("0", 400) + "1e401": 1,
	} {
		if got, ok := parse(t, number).Float(); got != want || !ok {
			t.Errorf("Float() of %s = %g, %t, want %g", number, got, ok, want)
		}
	}
	if got, ok := parse(t, "-0").Float(); !ok || !math.Signbit(got) {
		t.Errorf("Float() of -0 = %g, %t", got, ok)
	}
	for _, number := range []string{"1e309", "-1e309", "1e999999999999999999999", "1.7976931348623159e308", strings.Repeat("9", 400)} {
		if got, ok := parse(t, number).Float(); ok || got != 0 {
			t.Errorf("Float() of %s = %g, %t, want false", number, got, ok)
		}
	}
}

func TestAccessorsDoNotAllocate(t *testing.T) {
	root := parse(t, event)
	text := make([]byte, 0, 64)
	sum := 0
	for name, access := range map[string]func(){
		"Get":        func() { root.Get("content").Get("parts") },
		"First":      func() { root.First("missing", "finishReason", "finish_reason") },
		"Is":         func() { root.Get("finish_reason").Is("STOP") },
		"Text":       func() { sum += len(root.Get("invocationId").Text()) },
		"Float":      func() { root.Get("timestamp").Float() },
		"Int":        func() { root.Get("timestamp").Int() },
		"AppendText": func() { text = root.Get("finish_reason").AppendText(text[:0]) },
		"Members and Elements": func() {
			for name := range root.Members() {
				sum += len(name.Raw())
				for part := range root.Get("content").Get("parts").Elements() {
					sum += part.Len()
					if part.Get("text").Is("Let me\nweigh") {
						sum++
					}
				}
			}
		},
	} {
		if n := testing.AllocsPerRun(100, access); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
}

// TestEscaped checks which values are strings with escapes.
func TestEscaped(t *testing.T) {
	for input, want := range map[string]bool{`"a"`: false, `"\u0061"`: true, `"ä"`: false, `1`: false, `["\n"]`: false} {
		if got := parse(t, input).Escaped(); got != want {
			t.Errorf("Escaped() of %s = %t, want %t", input, got, want)
		}
	}
	if (Value{}).Escaped() {
		t.Error("Escaped() = true for a missing value")
	}
}

// TestContains checks which values belong to a document.
func TestContains(t *testing.T) {
	var d, other Doc
	for _, doc := range []*Doc{&d, &other} {
		if err := doc.Parse([]byte(`{"a":[1]}`), 8); err != nil {
			t.Fatal(err)
		}
	}
	if v := d.Root().Get("a"); !d.Contains(v) || other.Contains(v) || d.Contains(Value{}) {
		t.Error("Contains() is wrong for a value of this or of another document")
	}
}
