package loopback_test

import (
	"net"
	"testing"

	"github.com/delegraph/delegraph/test/loopback"
)

// TestFreeAddress requests more addresses than a block has.
func TestFreeAddress(t *testing.T) {
	given := map[string]bool{}
	for range 150 {
		address := loopback.FreeAddress(t)
		if given[address] {
			t.Fatalf("FreeAddress returned %s twice", address)
		}
		given[address] = true
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatalf("FreeAddress returned an address that is taken: %v", err)
		}
		l.Close()
	}
}
