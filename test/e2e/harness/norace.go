//go:build !race

package harness

// RaceDetector reports whether the race detector watches the test.
const RaceDetector = false
