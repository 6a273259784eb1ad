package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// TestDisplayWidth checks the display width of texts, and that Truncate and Pad respect it.
func TestDisplayWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain": 5, "naïve": 5, "nai\u0308ve": 5, "日本語": 6, "ｗｉｄｅ": 8, "한글": 4, "\u1112\u1161\u11ab": 2, "שלום": 4, "🔥": 2, "a\u0301\u0302": 1, "█░▏": 3,
	} {
		if got := DisplayWidth(text); got != want {
			t.Errorf("DisplayWidth(%q) = %d, want %d", text, got, want)
		}
		for columns := range want + 3 {
			if got := Truncate(text, columns); DisplayWidth(got) > columns || !strings.HasPrefix(text, got) || columns >= want && got != text {
				t.Errorf("Truncate(%q, %d) = %q", text, columns, got)
			}
			if got := Pad(text, columns+1); DisplayWidth(got) != columns+1 {
				t.Errorf("Pad(%q, %d) = %q", text, columns+1, got)
			}
		}
	}
}

// TestPrintable checks that Printable replaces control characters and changes of direction, and cuts a text between characters.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mred\x07": "\uFFFD[31mred\uFFFD", "a\u202eb\u2066c\u200fd": "a\uFFFDb\uFFFDc\uFFFDd", "two\nlines\r": "two\uFFFDlines\uFFFD",
		"\u009b31m": "\uFFFD31m", "👩\u200d🚒": "👩\uFFFD🚒", "bad\xffutf8": "bad\uFFFDutf8", "no\u00a0break\u3000": "no break ", "שלום": "שלום", "日本": "日本",
		strings.Repeat("日", 40): strings.Repeat("日", 33) + "…",
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestColors checks the environment variables for colors if the output is not a terminal.
func TestColors(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "CLICOLOR_FORCE=1": true, "CLICOLOR_FORCE=0": false, "CLICOLOR_FORCE=1 NO_COLOR=1": false, "CLICOLOR_FORCE=1 TERM=dumb": true, "CLICOLOR=1": false,
	} {
		if s := NewScreen(&bytes.Buffer{}, environment(env)); s.Color != want || s.Wraps || s.Width != DefaultWidth {
			t.Errorf("with the environment %q, NewScreen() = %+v, want colors: %t", env, s, want)
		}
	}
}

func environment(pairs string) func(string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(pairs) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
