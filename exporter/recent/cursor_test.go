package recent

import "testing"

// FuzzParseCursor checks that a parsed cursor, printed and parsed again, is the same.
func FuzzParseCursor(f *testing.F) {
	for _, text := range []string{"", "open-1", "ended-18446744073709551615", "ended-0", "open--1", "open-+1", "ended-18446744073709551616", "x-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		if again, err := ParseCursor(c.String()); err != nil || again != c {
			t.Errorf("%q is %+v, printed as %q, which is %+v, %v", text, c, c, again, err)
		}
	})
}
