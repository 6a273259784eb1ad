package recent

import "testing"

// FuzzParseCursor checks that a parsed cursor, printed and parsed again, is the same.
func FuzzParseCursor(f *testing.F) {
	for _, text := range []string{
		"", "open-1", "ended-18446744073709551615", "ended-0", "open--1", "open-+1", "ended-18446744073709551616", "x-1",
		"started-1767355200000000-3", "started--5-3", "started-open-3", "duration-open-3", "duration-unknown-4", "tokens-007-1", "tokens--9223372036854775808-1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, by := range append(Sorts(), SortDefault) {
			c, err := ParseCursor(text, by)
			if err != nil {
				continue
			}
			if again, err := ParseCursor(c.String(), by); err != nil || again != c || c.String() != text {
				t.Errorf("%q is %+v, printed as %q, which is %+v, %v", text, c, c, again, err)
			}
		}
	})
}
