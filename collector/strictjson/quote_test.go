package strictjson_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestAppendQuoted checks escapes and invalid UTF-8.
func TestAppendQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `""`,
		"plain":                     `"plain"`,
		"a\"b\\c":                   `"a\"b\\c"`,
		"\b\f\n\r\t\x00\x1f\x7f":    `"\b\f\n\r\t\u0000\u001f` + "\x7f" + `"`,
		"é 日本 🙂":                    `"é 日本 🙂"`,
		"a\u0085b\u2028c\u2029d":    `"a\u0085b\u2028c\u2029d"`,
		"bad \xff and cut \xe2\x80": "\"bad \uFFFD and cut \uFFFD\uFFFD\"",
		"a literal \uFFFD":          "\"a literal \uFFFD\"",
	} {
		if got := string(strictjson.AppendQuoted([]byte("+"), text)); got != "+"+want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", text, got, want)
		}
		if got := string(strictjson.AppendQuoted(nil, []byte(text))); got != want {
			t.Errorf("AppendQuoted([]byte(%q)) = %s, want %s", text, got, want)
		}
	}
}

// FuzzAppendQuoted compares with jsontext.
func FuzzAppendQuoted(f *testing.F) {
	f.Add("a\"\\\n\u2028\xff")
	unescape := strings.NewReplacer(`\\`, `\\`, `\u0085`, "\u0085", `\u2028`, "\u2028", `\u2029`, "\u2029")
	f.Fuzz(func(t *testing.T, text string) {
		want, _ := jsontext.AppendQuote(nil, text)
		if got := unescape.Replace(string(strictjson.AppendQuoted(nil, text))); got != string(want) {
			t.Errorf("AppendQuoted(%q) = %s, want %s", text, got, want)
		}
	})
}

func BenchmarkAppendQuoted(b *testing.B) {
	text := []byte(strings.Repeat("The weather in Zürich is \"fine\".\n", 8))
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst = strictjson.AppendQuoted(dst[:0], text)
	}
}

// BenchmarkAppendQuotedLibrary is the baseline for BenchmarkAppendQuoted.
func BenchmarkAppendQuotedLibrary(b *testing.B) {
	text := []byte(strings.Repeat("The weather in Zürich is \"fine\".\n", 8))
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst, _ = jsontext.AppendQuote(dst[:0], text)
	}
}
