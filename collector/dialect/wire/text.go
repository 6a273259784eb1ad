package wire

import (
	"math"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// NameCache interns the strings that a stream repeats, so that equal strings share memory. The zero
// value is ready to use.
type NameCache struct{ known map[string]string }

// MaxCachedNames bounds the strings that a NameCache holds. Further strings are allocated for each
// frame.
const MaxCachedNames = 1024

// Name returns a string from the wire as a name, as dialect.Name does.
func (n *NameCache) Name(v strictjson.Value) string { return n.Truncate(v.Text(), dialect.MaxName) }

// Truncate returns a text as valid UTF-8 of at most limit bytes.
func (n *NameCache) Truncate(text []byte, limit int) string {
	if known, ok := n.known[string(text)]; ok && len(known) <= limit {
		return known
	}
	s := event.LimitText(string(text), limit)
	if len(n.known) < MaxCachedNames && len(s) == len(text) {
		if n.known == nil {
			n.known = make(map[string]string)
		}
		n.known[s] = s
	}
	return s
}

// Len returns the number of cached strings.
func (n *NameCache) Len() int { return len(n.known) }

// MaxAnswers bounds the inputs that one request can answer.
const MaxAnswers = 128

// AddAnswer records that a request answers the input with this id, unless the id is empty.
func AddAnswer(id *event.Identity, input strictjson.Value) {
	if s := input.String(); s != "" && len(id.Answers) < MaxAnswers {
		id.Answers = append(id.Answers, dialect.Name(s))
	}
}

// millisecondsFrom is the smallest number taken for milliseconds: the year 1973. As seconds, it would
// be the year 5138.
const millisecondsFrom = 1e11

// Time returns a time that is given as for NumberTime or as text in the format of RFC 3339, or the zero time.
func Time(v strictjson.Value) time.Time {
	switch v.Kind() {
	case strictjson.Number:
		return NumberTime(v)
	case strictjson.String:
		return dialect.TextTime(v)
	}
	return time.Time{}
}

// NumberTime returns a time that is given as a number of seconds or milliseconds since 1970, or the zero time.
func NumberTime(v strictjson.Value) time.Time {
	n, ok := v.Float()
	if !ok || math.Abs(n) > 1e15 {
		return time.Time{}
	}
	if math.Abs(n) < millisecondsFrom {
		n *= 1000
	}
	// A float64 of seconds is precise to about a microsecond.
	return dialect.Time(time.UnixMicro(int64(math.Round(n * 1000))))
}

// Base64Digits counts the digits and the padding of base64 in any alphabet, with or without line breaks.
func Base64Digits(text []byte) (digits, padding int64) {
	for _, c := range text {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		switch {
		case letter || digit || c == '+' || c == '/' || c == '-' || c == '_':
			digits++
		case c == '=':
			padding++
		}
	}
	return digits, padding
}

// Base64Length returns the decoded length of base64 in bytes.
func Base64Length(text []byte) int64 {
	digits, _ := Base64Digits(text)
	return digits * 6 / 8
}
