package jetstream

import (
	"errors"

	"github.com/delegraph/delegraph/collector/recovery"
)

var errPanicked = errors.New("a panic occurred; the log says where")

// panicToError calls f and returns a panic in it as an error, so that it is retried like other failures.
func panicToError(panics *recovery.Recorder, f func() error) (err error) {
	defer panics.Recover(recovery.Stream, func() { err = errPanicked })
	return f()
}
