package jetstream

import (
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a NATS server in its own process, whose storage survives restarts.
type server struct {
	testing.TB
	dir, config string
	address     string
	process     *exec.Cmd
	log         *bytes.Buffer
}

// program returns the path of nats-server. Without it the test is skipped.
func program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("nats-server")
	if err != nil {
		cache, _ := os.UserCacheDir()
		path = filepath.Join(cmp.Or(os.Getenv("DELEGRAPH_NATS"), filepath.Join(cache, "delegraph", "nats")), "bin", "nats-server")
		if _, err = os.Stat(path); err != nil {
			if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
				t.Fatal("nats-server is not installed: run .ci/install/nats")
			}
			t.Skip("nats-server is not installed: run .ci/install/nats")
		}
	}
	return path
}

// newServer starts a server with additional configuration.
func newServer(t testing.TB, more string) *server {
	t.Helper()
	s := &server{TB: t, dir: t.TempDir(), address: loopback.FreeAddress(t)}
	s.config = filepath.Join(s.dir, "nats.conf")
	text := fmt.Sprintf("listen: %s\njetstream { store_dir: %q, max_mem: 64MB, max_file: 1GB }\n%s\n", s.address, s.dir, more)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) url() string { return "nats://" + s.address }

// start starts the server and returns once it accepts connections.
func (s *server) start() {
	s.Helper()
	s.log = &bytes.Buffer{}
	s.process = subprocess.Command(program(s), "-c", s.config)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	for range 1000 {
		if c, err := net.Dial("tcp", s.address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatalf("nats-server does not answer: %s", s.log)
}

// kill ends the process like a crash.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// raw returns a direct connection to the server.
func (s *server) raw() *nats.Conn {
	s.Helper()
	c, err := nats.Connect(s.url(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// tally is an Observer that counts.
type tally struct {
	mu     sync.Mutex
	events map[string]int
}

func (t *tally) CountPublished()                     { t.note("published") }
func (t *tally) CountRepeated()                      { t.note("repeated") }
func (t *tally) CountDropped(d Drop)                 { t.note("dropped " + string(d)) }
func (t *tally) CountRetry()                         { t.note("retried") }
func (t *tally) CountFeedRetry()                     { t.note("feed retried") }
func (t *tally) CountFeedGap(r replay.GapReason)     { t.note("gap " + string(r)) }
func (t *tally) CountDroppedFeedFrame(d replay.Drop) { t.note("frame dropped " + string(d)) }

func (t *tally) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.events == nil {
		t.events = map[string]int{}
	}
	t.events[what]++
}

func (t *tally) count(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[what]
}

// settings returns the settings of a sidecar that manages the stream.
func (s *server) settings(observer Observer) Settings {
	return Settings{
		URLs: []string{s.url()}, Stream: "DELEGRAPH", ManageStream: true, Publish: true,
		Limits:     Limits{Replicas: 1, MaxAge: time.Hour, MaxBytes: 256 << 20, MaxMessagesPerSubject: 10_000, MaxMessageBytes: 1 << 20, DuplicateWindow: 2 * time.Minute},
		QueueBytes: 16 << 20, MaxFeeds: 100, FeedBytes: 64 << 20, Ring: replay.Settings{Frames: 10_000, Bytes: 4 << 20, Age: time.Hour},
		Observer: observer, Logger: slog.New(slog.DiscardHandler),
	}
}

// open opens a store and returns once it has reached the stream.
func (s *server) open(change func(*Settings)) (*Store, *tally) {
	s.Helper()
	seen := &tally{}
	set := s.settings(seen)
	if change != nil {
		change(&set)
	}
	store, err := Open(set)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = store.Close(s.Context()) })
	until(s, "the stream is reached", func() bool { return store.Ready() == nil })
	return store, seen
}

// storedStream returns the stream in NATS.
func (s *server) storedStream() jetstream.Stream {
	s.Helper()
	jet, err := jetstream.New(s.raw())
	if err != nil {
		s.Fatal(err)
	}
	kept, err := jet.Stream(s.Context(), "DELEGRAPH")
	if err != nil {
		s.Fatal(err)
	}
	return kept
}

// patient limits waits that fail only if something never happens. It is long enough for a busy machine.
const patient = time.Minute

// until waits for a condition that depends on another process or the network.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patient, what)
		}
	}
}
