package metrics

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the documentation's tables")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
