package faults_test

import (
	"flag"
	"time"
)

// slowFaults adds the faults that take minutes because they wait for a kernel timeout.
var slowFaults = flag.Bool("faults", false, "run the faults that take minutes too")

// soak is the minimum duration of TestSoak.
var soak = flag.Duration("soak", 3*time.Second, "minimum duration of TestSoak")
