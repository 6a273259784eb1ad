package harness

import (
	"flag"
	"testing"
)

var slow = flag.Bool("slow", false, "also run the tests of .ci/slow, of programs that take minutes to install or to run")

// Slow skips a test that .ci/slow runs, unless the flag -slow is set. Installed programs make no difference, so that
// the other tests take as long on every machine.
func Slow(t *testing.T) {
	t.Helper()
	if !*slow {
		t.Skip("slow: .ci/slow runs it, or go test -slow")
	}
}
