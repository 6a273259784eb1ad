package wire

import (
	"math"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Names holds the strings that a stream repeats, so that only the first of equal ones takes memory. The zero value is ready to use.
type Names struct{ known map[string]string }

// MaxNames bounds the strings that Names holds; further ones are made anew for each frame.
const MaxNames = 1024

// Of returns a string of the wire as a name (see dialect.Name).
func (n *Names) Of(v strictjson.Value) string { return n.Cut(v.Text(), dialect.MaxName) }

// Cut returns a text as valid UTF-8 of at most most bytes.
func (n *Names) Cut(text []byte, most int) string {
	if known, ok := n.known[string(text)]; ok && len(known) <= most {
		return known
	}
	s := event.Bounded(string(text), most)
	if len(n.known) < MaxNames && len(s) == len(text) {
		if n.known == nil {
			n.known = make(map[string]string)
		}
		n.known[s] = s
	}
	return s
}

// Len returns how many strings are held.
func (n *Names) Len() int { return len(n.known) }

// MaxAnswers bounds the inputs that a request is believed to answer.
const MaxAnswers = 128

// AddAnswer notes that a request answers the input of an id; an empty id is none.
func AddAnswer(id *event.Identity, input strictjson.Value) {
	if s := input.String(); s != "" && len(id.Answers) < MaxAnswers {
		id.Answers = append(id.Answers, dialect.Name(s))
	}
}

// millisecondsFrom separates seconds from milliseconds: as seconds it is the year 5138, as milliseconds 1973.
const millisecondsFrom = 1e11

// NumberTime returns a time that the wire reports as a number of seconds or of milliseconds, or the zero time.
func NumberTime(v strictjson.Value) time.Time {
	n, ok := v.Float()
	if !ok || math.Abs(n) > 1e15 {
		return time.Time{}
	}
	if math.Abs(n) < millisecondsFrom {
		n *= 1000
	}
	// A float of seconds holds microseconds and no more.
	return dialect.Time(time.UnixMicro(int64(math.Round(n * 1000))))
}

// Base64Digits counts the digits and the padding of base64, of any alphabet and with or without line breaks.
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

// Base64Length returns how many bytes a text in base64 encodes.
func Base64Length(text []byte) int64 {
	digits, _ := Base64Digits(text)
	return digits * 6 / 8
}
