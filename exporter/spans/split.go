package spans

import (
	"math/bits"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// split searches a batch that was refused as malformed for the spans at fault: halves of it are tried until those that are refused
// alone are found. The attempts are bounded. It is of the delivering goroutine alone.
type split struct {
	left     int  // of the refused batch, the oldest spans in the queue; 0: no batch was refused
	attempts int  // that may still be made
	accepted bool // some spans of it were
	futile   bool // nothing was accepted of the batch before, so that all spans may be refused
}

// perSpan is the number of attempts that find one span in a batch of n, which is at each halving one for either half.
func perSpan(n int) int { return 2*bits.Len(uint(n)) + 1 }

// splitSpans is how many malformed spans of one batch are found for certain.
const splitSpans = 16

// refused notes that a batch, of the oldest n spans, was refused as malformed. It returns how many spans to try next, or 0 where the
// search is over: all that is left of the batch is then rejected.
func (s *split) refused(n int) (next int) {
	if s.left == 0 {
		s.left, s.attempts, s.accepted = n, splitSpans*perSpan(n), false
		if s.futile {
			s.attempts = perSpan(n)
		}
	}
	if s.attempts--; n == 1 || s.attempts <= 0 {
		return 0
	}
	return n / 2
}

// settled notes that the oldest n spans are out of the queue. It reports whether they were the last of a refused batch.
func (s *split) settled(n int, outcome otlp.Outcome) (over bool) {
	if outcome == otlp.Delivered {
		s.accepted, s.futile = true, false
	}
	if over = s.left > 0 && s.left <= n; over {
		s.futile = !s.accepted
	}
	s.left = max(0, s.left-n)
	return over
}
