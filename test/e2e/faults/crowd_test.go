//go:build linux

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestFaultCrowd opens 10,000 streams at once through a plain proxy and through both relays: first silent ones, then streams that
// send. No stream is lost, and memory and goroutines are a small multiple of a plain proxy's.
func TestFaultCrowd(t *testing.T) {
	if !*slowFaults {
		t.Skip("10,000 connections, three times over, take a minute: give -faults")
	}
	if harness.RaceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	const most = 4
	clients := min(10_000, (descriptors(t)-200)/2) // a proxy uses two for each
	address := loopback.FreeAddress(t)
	agent := startFakeAgent(t, address, allowFiles)
	floor := measureCrowd(t, agent, clients, func(proxy string) (*harness.Command, func() int) {
		started := startPlain(t, proxy, address, allowFiles)
		return started, func() int { return plainGoroutines(t, proxy) }
	})
	t.Logf("%d clients; plain: %s", clients, floor)
	for _, relay := range []string{"verbatim", "filtered"} {
		t.Run(relay, func(t *testing.T) {
			var service *harness.Instance
			got := measureCrowd(t, agent, clients, func(proxy string) (*harness.Command, func() int) {
				admin := loopback.FreeAddress(t)
				configured := fmt.Sprintf("stream: {listen: %q}\nsources:\n  - {name: runs, relay: %s, proxy: {listen: %q, upstream: \"http://%s\"}}\n", loopback.FreeAddress(t), relay, proxy, address)
				service = harness.StartReady(t, harness.ServeCommand(t, configured, admin, nil, allowFiles), admin)
				return service.Command, func() int { return int(service.Count(t, "go_goroutines")) }
			})
			t.Logf("%s: %s; %.1f, %.1f and %.1f times a plain proxy", relay, got, float64(got.idle)/float64(floor.idle), float64(got.peak)/float64(floor.peak),
				float64(got.goroutines)/float64(floor.goroutines))
			if got.idle > most*floor.idle || got.peak > most*floor.peak || got.goroutines > 2*floor.goroutines {
				t.Errorf("%s, and a plain proxy %s", got, floor)
			}
			if relay == "verbatim" && got.sum != floor.sum {
				t.Error("the clients' bytes are not those of a plain proxy")
			}
			harness.AwaitWithin(t, 5*time.Minute, func(ctx context.Context) error { // the clients have everything; the observers may be behind
				ended, err := service.Metric(ctx, "delegraph_runs_ended_total", "source", "runs")
				if err == nil && ended != float64(clients) {
					err = fmt.Errorf("%v runs ended of %d", ended, clients)
				}
				return err
			})
			t.Logf("%v runs completed, %v bytes unobserved", service.Count(t, "delegraph_runs_ended_total", "status", "completed"), service.Count(t, "delegraph_source_unobserved_bytes_total"))
		})
	}
}

// allowFiles raises the limit of open files in the shell.
const allowFiles = "ulimit -n $(ulimit -H -n);"

func descriptors(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(min(limit.Max, 1<<20))
}

// crowd is what a proxy used for many clients.
type crowd struct {
	idle, peak int // resident bytes, while the streams are silent and at the peak
	goroutines int
	sum        [sha256.Size]byte // of the bytes that each client got
}

func (c crowd) String() string {
	return fmt.Sprintf("%d MiB resident while idle, %d at most, %d goroutines", c.idle>>20, c.peak>>20, c.goroutines)
}

// measureCrowd opens a run for each client through a proxy, measures, and then has every client read the same stream.
func measureCrowd(t *testing.T, agent *fakeAgent, clients int, front func(proxy string) (*harness.Command, func() int)) (c crowd) {
	t.Helper()
	const frames = 30
	proxy := loopback.FreeAddress(t)
	started, goroutines := front(proxy)
	agent.say(t, fakeagent.CallFrame)
	var got atomic.Int64 // frames
	var all, opening sync.WaitGroup
	sums := make([][sha256.Size]byte, clients)
	room := make(chan struct{}, 100)
	for i := range clients {
		room <- struct{}{}
		opening.Add(1)
		all.Go(func() {
			opened := sync.OnceFunc(func() { <-room; opening.Done() })
			defer opened()
			sum, err := readCrowd(t.Context(), proxy, func(n int) { got.Add(int64(n)); opened() })
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			sums[i] = sum
		})
	}
	opening.Wait()
	c.goroutines, c.idle = goroutines(), residentMemory(t, started.Process.Pid)
	for range frames {
		agent.say(t, fakeagent.ResponseFrame)
	}
	agent.say(t, fakeagent.FinalFrame)
	harness.AwaitWithin(t, time.Minute, func(context.Context) error {
		if n := got.Load(); n != int64(clients*(frames+2)) {
			return fmt.Errorf("%d frames of %d", n, clients*(frames+2))
		}
		return nil
	})
	agent.end(t)
	all.Wait()
	c.peak, c.sum = peakMemory(t, started.Process.Pid), sums[0]
	for i, sum := range sums {
		if sum != c.sum {
			t.Fatalf("client %d got other bytes than the first", i)
		}
	}
	return c
}

// readCrowd reads a run to its end and reports the number of frames of each piece.
func readCrowd(ctx context.Context, proxy string, heard func(frames int)) (sum [sha256.Size]byte, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy)
	if err != nil {
		return sum, err
	}
	defer conn.Close()
	body := adkserver.RunRequest("u", "s", "x", true)
	if _, err = fmt.Fprintf(conn, "POST /run_sse HTTP/1.1\r\nHost: agent\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body); err != nil {
		return sum, err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		return sum, err
	}
	defer resp.Body.Close()
	hash, piece, ended := sha256.New(), make([]byte, 1<<10), byte(0)
	for {
		n, err := resp.Body.Read(piece)
		if n > 0 {
			hash.Write(piece[:n])
			frames := bytes.Count(piece[:n], []byte("\n\n"))
			if ended == '\n' && piece[0] == '\n' {
				frames++
			}
			ended = piece[n-1]
			heard(frames)
		}
		if err == io.EOF {
			return [sha256.Size]byte(hash.Sum(nil)), nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// residentMemory returns the resident memory of a process in bytes.
func residentMemory(t *testing.T, pid int) int {
	t.Helper()
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
