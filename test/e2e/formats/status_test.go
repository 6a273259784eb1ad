package formats_test

import (
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestFormatsSayHowRunsEnded checks that agui and a2a report the end of each run as all other outputs do.
func TestFormatsSayHowRunsEnded(t *testing.T) {
	everyCapture(t, func(name, file string) { harness.CheckRunEnds(t, name, file) })
}
