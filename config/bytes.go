package config

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Bytes is a number of bytes, written as a whole number or with one of the units B, KiB, MiB and GiB.
type Bytes int64

const (
	kibibyte Bytes = 1 << 10
	mebibyte Bytes = 1 << 20
	gibibyte Bytes = 1 << 30
)

// From the largest, so that String finds the shortest exact form.
var units = []struct {
	name string
	size Bytes
}{{"GiB", gibibyte}, {"MiB", mebibyte}, {"KiB", kibibyte}, {"B", 1}}

// maxBytesText keeps exact arithmetic cheap; no size below 2^63 needs more digits.
const maxBytesText = 64

// ParseBytes reads a size such as "8MiB", "1.5KiB" or "512". It refuses what is negative, too large for an int64, not
// a whole number of bytes, or in a unit that String does not print.
func ParseBytes(text string) (Bytes, error) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	number, unit := text[:digits], strings.TrimLeft(text[digits:], " ")
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%.60q is negative", text)
	}
	size, known := unitSize(unit)
	if digits > 0 && !known {
		return 0, fmt.Errorf("%.60q has the unknown unit %.60q", text, unit)
	}
	exact, ok := new(big.Rat).SetString(number)
	if !ok || digits > maxBytesText {
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

// String prints b exactly, in the largest unit that needs no fraction.
func (b Bytes) String() string {
	for _, unit := range units {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.name
		}
	}
	return "0B"
}

// MarshalText is String: a configuration that is printed reads back to the same number.
func (b Bytes) MarshalText() ([]byte, error) {
	return []byte(b.String()), nil
}
