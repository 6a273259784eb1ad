// Package component tells tests how to go on without a component that they need.
package component

import (
	"os"
	"testing"
)

// Missing skips a test whose component is not installed. With DELEGRAPH_REQUIRE=all it fails the test.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatal(why)
	}
	t.Skip(why)
}
