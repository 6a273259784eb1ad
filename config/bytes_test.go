package config

import (
	"math"
	"strings"
	"testing"
)

// TestParseBytes checks valid sizes and the errors of invalid ones.
func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1": 1, "512": 512, "512B": 512, "64KiB": 64 << 10, "8MiB": 8 << 20, "8 MiB": 8 << 20, "1GiB": 1 << 30,
		"1.5KiB": 1536, "0.5MiB": 1 << 19, "1.0": 1, "007": 7, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, int64(got), err, int64(want))
		}
	}
	for text, want := range map[string]string{
		"":                            `"" is not a size`,
		"MiB":                         `"MiB" is not a size`,
		".":                           `"." is not a size`,
		"1.2.3":                       `"1.2.3" is not a size`,
		"+1":                          `"+1" is not a size`,
		" 1":                          `" 1" is not a size`,
		"-1":                          `"-1" is negative`,
		"-8MiB":                       `"-8MiB" is negative`,
		"1.5":                         `"1.5" is not a whole number of bytes`,
		"0.3KiB":                      `"0.3KiB" is not a whole number of bytes`,
		"8MB":                         `"8MB" has the unknown unit "MB"`,
		"8mib":                        `"8mib" has the unknown unit "mib"`,
		"1e3":                         `"1e3" has the unknown unit "e3"`,
		"1_000":                       `"1_000" has the unknown unit "_000"`,
		"9223372036854775808":         `"9223372036854775808" is too large`,
		"8589934592GiB":               `"8589934592GiB" is too large`,
		strings.Repeat("0", 64) + "1": `"` + strings.Repeat("0", 60) + `" is not a size`,
	} {
		if got, err := ParseBytes(text); err == nil || err.Error() != want {
			t.Errorf("ParseBytes(%q) = %v, %v; want the error %s", text, got, err, want)
		}
	}
}

// TestBytesString checks that a size is printed with the largest unit that divides it.
func TestBytesString(t *testing.T) {
	for size, want := range map[Bytes]string{
		0: "0B", 1: "1B", 1000: "1000B", 1024: "1KiB", 1025: "1025B", 8 << 20: "8MiB", 1 << 30: "1GiB", 1 << 40: "1024GiB",
		math.MaxInt64: "9223372036854775807B", -1024: "-1KiB",
	} {
		if got := size.String(); got != want {
			t.Errorf("Bytes(%d).String() = %q; want %q", int64(size), got, want)
		}
	}
}

// FuzzParseBytes checks that a parsed size is not negative and parses back from its text.
func FuzzParseBytes(f *testing.F) {
	for _, text := range []string{"0", "8MiB", "1.5KiB", "-1", "1e9", "8MB", "9223372036854775807B", "."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := ParseBytes(text)
		if err != nil {
			return
		}
		if size < 0 {
			t.Errorf("ParseBytes(%q) = %d, want no negative size", text, int64(size))
		}
		if again, err := ParseBytes(size.String()); err != nil || again != size {
			t.Errorf("%q is printed as %q, which parses to %d, %v", text, size, int64(again), err)
		}
	})
}
