package spans

import (
	"math/bits"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// split searches a batch that was rejected as malformed for the spans that cause it. It tries
// halves until the rejected spans are found. The number of attempts is bounded. Only the delivering
// goroutine uses it.
type split struct {
	left     int  // remaining spans of the rejected batch, at the front of the queue; 0 if there is none
	attempts int  // remaining attempts
	accepted bool // some of its spans were accepted
	futile   bool // no span of the previous rejected batch was accepted: the backend may reject every span
}

// attemptsPerSpan returns the number of attempts that suffice to find one malformed span in a batch of n: two for
// each halving.
func attemptsPerSpan(n int) int { return 2*bits.Len(uint(n)) + 1 }

// maxMalformed is the number of malformed spans in a batch that are always found. If there are more, well-formed spans
// may be dropped too.
const maxMalformed = 16

// reject records that the oldest n spans were rejected as malformed. It returns how many of them to
// try next. It returns 0 to drop the rest of the batch, if only one span or no attempt is left.
func (s *split) reject(n int) (next int) {
	if s.left == 0 {
		s.left, s.attempts, s.accepted = n, maxMalformed*attemptsPerSpan(n), false
		if s.futile {
			s.attempts = attemptsPerSpan(n)
		}
	}
	if s.attempts--; n == 1 || s.attempts <= 0 {
		return 0
	}
	return n / 2
}

// settle records that the oldest n spans have left the queue. It reports whether they were the
// last of a rejected batch.
func (s *split) settle(n int, outcome otlp.Outcome) (over bool) {
	if outcome == otlp.Delivered {
		s.accepted, s.futile = true, false
	}
	if over = s.left > 0 && s.left <= n; over {
		s.futile = !s.accepted
	}
	s.left = max(0, s.left-n)
	return over
}
