package wire

import "time"

// maxTogether is the time within which frames arrive that a server has written together. A read may end between them, but the next one
// follows at once.
const maxTogether = 2 * time.Millisecond

// ArriveTogether reports whether the server may have written two frames together. It returns false for frames without a time of receipt.
func ArriveTogether(first, last time.Time) bool {
	return !first.IsZero() && !last.IsZero() && last.Sub(first) < maxTogether
}
