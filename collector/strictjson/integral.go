package strictjson

import (
	"bytes"
	"math"
)

// integral returns the value of a JSON number without its sign, if it is a whole number that fits an
// int64 together with the sign.
func integral(number []byte, negative bool) (i int64, ok bool) {
	mantissa, exponent := number, int64(0)
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		mantissa, exponent = number[:e], readExponent(number[e+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	fraction = bytes.TrimRight(fraction, "0")
	if len(fraction) == 0 {
		trimmed := bytes.TrimRight(whole, "0")
		exponent += int64(len(whole) - len(trimmed))
		whole = trimmed
	}
	exponent -= int64(len(fraction))

	var magnitude uint64
	var fits bool
	for _, part := range [][]byte{whole, fraction} {
		for _, c := range part {
			magnitude, fits = shift(magnitude, c-'0')
			if !fits {
				return 0, false
			}
		}
	}
	if magnitude == 0 {
		return 0, true
	}
	for ; exponent > 0; exponent-- {
		if magnitude, fits = shift(magnitude, 0); !fits {
			return 0, false
		}
	}
	if exponent < 0 || magnitude == 1<<63 && !negative {
		return 0, false
	}
	if negative {
		magnitude = -magnitude
	}
	return int64(magnitude), true
}

// shift appends a decimal digit. It returns false if the result exceeds 1<<63.
func shift(magnitude uint64, digit byte) (uint64, bool) {
	if magnitude > 1<<63/10 {
		return 0, false
	}
	magnitude = 10*magnitude + uint64(digit)
	return magnitude, magnitude <= 1<<63
}

// readExponent returns an exponent. It saturates far above the number of digits that an input can have,
// so that it cannot overflow.
func readExponent(digits []byte) int64 {
	negative := digits[0] == '-'
	exponent := int64(0)
	for _, c := range digits {
		if c >= '0' && exponent < math.MaxInt64/100 {
			exponent = 10*exponent + int64(c-'0')
		}
	}
	if negative {
		return -exponent
	}
	return exponent
}
