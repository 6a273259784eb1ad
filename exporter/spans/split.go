package spans

import (
	"math/bits"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// split searches a batch that was rejected as malformed for the spans that cause it. It tries
// halves until the rejected spans are found. The number of attempts is bounded. Only the delivering
// goroutine uses it.
type split struct {
	size           int  // spans of the rejected batch
	left           int  // its spans that are not settled yet, at the front of the queue; 0 if there is no rejected batch
	rejectionsLeft int  // rejections after which the rest is dropped
	accepted       bool // some of its spans were accepted
	isFutile       bool // no span of the previous rejected batch was accepted: the backend may reject every span
}

// attemptsPerSpan returns the number of attempts that suffice to find one malformed span in a batch of n: two for
// each halving.
func attemptsPerSpan(n int) int { return 2*bits.Len(uint(n)) + 1 }

// maxMalformed is the number of malformed spans in a batch that are always found, unless the search seems futile.
// If there are more, well-formed spans may be dropped too.
const maxMalformed = 16

// reject records that the oldest n spans were rejected as malformed. It returns how many of them to try next.
// It returns 0 if they must be dropped: a single span, or all that are left after the last attempt.
func (s *split) reject(n int) (next int) {
	if s.left == 0 {
		s.size, s.left, s.rejectionsLeft, s.accepted = n, n, maxMalformed*attemptsPerSpan(n), false
		if s.isFutile {
			s.rejectionsLeft = attemptsPerSpan(n)
		}
	}
	if s.rejectionsLeft--; n == 1 || s.rejectionsLeft <= 0 {
		return 0
	}
	return n / 2
}

// settle records that the oldest n spans have left the queue. It reports whether they were the
// last of a rejected batch.
func (s *split) settle(n int, outcome otlp.Outcome) (over bool) {
	if outcome == otlp.Delivered {
		if s.isFutile && s.left > 0 {
			s.rejectionsLeft += (maxMalformed - 1) * attemptsPerSpan(s.left)
		}
		s.accepted, s.isFutile = true, false
	}
	if over = s.left > 0 && s.left <= n; over && s.size > 1 { // one span says nothing of others
		s.isFutile = !s.accepted
	}
	s.left = max(0, s.left-n)
	return over
}
