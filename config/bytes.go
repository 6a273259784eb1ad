package config

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Bytes is a number of bytes. Its text form is a whole number, or a number with the unit B, KiB, MiB or GiB.
type Bytes int64

const (
	kibibyte Bytes = 1 << 10
	mebibyte Bytes = 1 << 20
	gibibyte Bytes = 1 << 30
)

// units lists the largest unit first, so that String finds the shortest exact form.
var units = []struct {
	name string
	size Bytes
}{{"GiB", gibibyte}, {"MiB", mebibyte}, {"KiB", kibibyte}, {"B", 1}}

// maxBytesText is the number of digits that ParseBytes accepts. It keeps exact arithmetic cheap; no size
// below 2^63 needs more.
const maxBytesText = 64

// ParseBytes parses a size such as "8MiB", "1.5KiB" or "512". It refuses sizes that are negative, too large
// for an int64 or not a whole number of bytes, and units that String does not print.
func ParseBytes(text string) (Bytes, error) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	number, unit := text[:digits], strings.TrimLeft(text[digits:], " ")
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%.60q is negative", text)
	case digits > maxBytesText:
		return 0, fmt.Errorf("%.60q is not a size", text)
	}
	size, known := unitSize(unit)
	if digits > 0 && !known {
		return 0, fmt.Errorf("%.60q has the unknown unit %.60q", text, unit)
	}
	exact, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("%.60q is not a size", text)
	}
	exact.Mul(exact, new(big.Rat).SetInt64(int64(size)))
	if !exact.IsInt() {
		return 0, fmt.Errorf("%.60q is not a whole number of bytes", text)
	}
	if !exact.Num().IsInt64() {
		return 0, fmt.Errorf("%.60q is too large", text)
	}
	return Bytes(exact.Num().Int64()), nil
}

func unitSize(name string) (Bytes, bool) {
	for _, unit := range units {
		if unit.name == name {
			return unit.size, true
		}
	}
	return 1, name == ""
}

// String returns the exact size in the largest unit that needs no fraction.
func (b Bytes) String() string {
	for _, unit := range units {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.name
		}
	}
	return "0B"
}

// MarshalText returns String, so that a printed configuration parses to the same number.
func (b Bytes) MarshalText() ([]byte, error) {
	return []byte(b.String()), nil
}
