package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// TestCells counts what terminals make of characters.
func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain": 5, "naïve": 5, "nai\u0308ve": 5, "日本語": 6, "ｗｉｄｅ": 8, "한글": 4, "\u1112\u1161\u11ab": 2, "שלום": 4, "🔥": 2, "a\u0301\u0302": 1, "█░▏": 3,
	} {
		if got := Cells(text); got != want {
			t.Errorf("%q takes %d, want %d", text, got, want)
		}
		for columns := range want + 3 {
			if got := Head(text, columns); Cells(got) > columns || !strings.HasPrefix(text, got) || columns >= want && got != text {
				t.Errorf("%d columns of %q are %q", columns, text, got)
			}
			if got := Padded(text, columns+1); Cells(got) != columns+1 {
				t.Errorf("%q padded to %d is %q", text, columns+1, got)
			}
		}
	}
}

// TestPrintable leaves nothing that steers a terminal or turns its text around, and cuts no character in half.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mred\x07": "\uFFFD[31mred\uFFFD", "a\u202eb\u2066c\u200fd": "a\uFFFDb\uFFFDc\uFFFDd", "two\nlines\r": "two\uFFFDlines\uFFFD",
		"\u009b31m": "\uFFFD31m", "👩\u200d🚒": "👩\uFFFD🚒", "bad\xffutf8": "bad\uFFFDutf8", "no\u00a0break\u3000": "no break ", "שלום": "שלום", "日本": "日本",
		strings.Repeat("日", 40): strings.Repeat("日", 33) + "…",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestColors reads the environment variables of users where the output is no terminal.
func TestColors(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "CLICOLOR_FORCE=1": true, "CLICOLOR_FORCE=0": false, "CLICOLOR_FORCE=1 NO_COLOR=1": false, "CLICOLOR_FORCE=1 TERM=dumb": true, "CLICOLOR=1": false,
	} {
		if s := Of(&bytes.Buffer{}, environment(env)); s.Color != want || s.Folds || s.Width != Unfolded {
			t.Errorf("with %q it is %+v", env, s)
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
