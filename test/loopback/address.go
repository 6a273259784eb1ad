// Package loopback gives tests addresses of this machine.
package loopback

import (
	"fmt"
	"net"
	"sync"
	"testing"
)

// A program that a test starts, kills and starts again needs an address that stays free in between. A port that the
// kernel chose is not enough: after it is closed, the kernel may give it to any other connection of the machine. So
// addresses come from blocks of ports below the range that the kernel uses: 32768 and up on Linux, 49152 and up
// elsewhere. Each process has its own blocks.
const (
	firstPort = 20000
	lastPort  = 32000
	blockSize = 100
)

// blocks holds the ports that this process may give out.
var blocks struct {
	sync.Mutex
	owned     []net.Listener // listens at the first port of each block, so that no other process takes the block
	next, end int            // the ports of the last block that are left
}

// FreeAddress returns an address on loopback where nothing listens. No other test gets the same address.
func FreeAddress(t testing.TB) string {
	t.Helper()
	blocks.Lock()
	defer blocks.Unlock()
	for {
		if blocks.next == blocks.end {
			claimBlock(t)
		}
		address := at(blocks.next)
		blocks.next++
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}

// claimBlock claims the first block that no other process has. The kernel frees it when the process ends.
func claimBlock(t testing.TB) {
	t.Helper()
	for port := firstPort; port < lastPort; port += blockSize {
		if l, err := net.Listen("tcp", at(port)); err == nil {
			blocks.owned = append(blocks.owned, l)
			blocks.next, blocks.end = port+1, port+blockSize
			return
		}
	}
	t.Fatalf("no block of ports between %d and %d is free", firstPort, lastPort)
}

func at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Listen listens at a port of loopback that the kernel chooses.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
