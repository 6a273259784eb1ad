package spans

// growAfter is the number of delivered batches after which a size that was too large is tried again.
const growAfter = 16

// adaptiveSize adapts the size of a batch to the backend. Only the delivering goroutine uses it.
type adaptiveSize struct {
	most    int // by the settings
	next    int // maximum size of the next attempt
	refused int // size of the last batch that was too large; 0 if it may be tried again
	since   int // batches settled since then
}

// refuse records that a batch of n was too large.
func (s *adaptiveSize) refuse(n int) { s.next, s.refused, s.since = n/2, n, 0 }

// grow doubles the size after a batch was settled. A size that was too large is not tried again at once, because
// most backends have a fixed limit.
func (s *adaptiveSize) grow() {
	if s.since++; s.since >= growAfter {
		s.refused = 0
	}
	if next := min(2*s.next, s.most); s.refused == 0 || next < s.refused {
		s.next = next
	}
}

// reset returns to the largest size that may be accepted.
func (s *adaptiveSize) reset() {
	if s.next = s.most; s.refused > 0 {
		s.next = s.refused / 2
	}
}
