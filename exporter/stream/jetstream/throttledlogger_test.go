package jetstream

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/test/loopback"
)

// diary is a log that tests can read while it is written.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(line []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(line)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// openUnready opens a store that may never be ready.
func (s *server) openUnready(change func(*Settings)) (*Store, *diary) {
	s.Helper()
	log := &diary{}
	set := s.settings(&tally{})
	set.Logger = slog.New(slog.NewTextHandler(log, nil))
	if change != nil {
		change(&set)
	}
	store, err := Open(set)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = store.Close(s.Context()) })
	return store, log
}

// createStream creates a stream. A server under load may fail to create its storage at first.
func createStream(t *testing.T, jet jetstream.JetStream, of jetstream.StreamConfig) (made jetstream.Stream) {
	t.Helper()
	until(t, "the stream "+of.Name+" is made", func() bool {
		var err error
		if made, err = jet.CreateStream(t.Context(), of); err != nil {
			t.Log(err)
		}
		return err == nil
	})
	return made
}

// TestSomebodyElsesStream checks that a stream of another application is left unchanged, with all its messages.
func TestSomebodyElsesStream(t *testing.T) {
	s := newServer(t, "")
	jet, err := jetstream.New(s.raw())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of  jetstream.StreamConfig
		say string
	}{
		"orders":   {jetstream.StreamConfig{Subjects: []string{"orders.>"}}, "set another name"},
		"interest": {jetstream.StreamConfig{Subjects: []string{prefix + ">"}, Retention: jetstream.InterestPolicy}, "retention"},
		"silent":   {jetstream.StreamConfig{Subjects: []string{prefix + ">"}, NoAck: true}, "no_ack"},
		"full":     {jetstream.StreamConfig{Subjects: []string{prefix + ">"}, Discard: jetstream.DiscardNew}, "discard old"},
	} {
		t.Run(name, func(t *testing.T) {
			c.of.Name = name
			theirs := createStream(t, jet, c.of)
			defer func() { _ = jet.DeleteStream(t.Context(), name) }()
			before := fmt.Sprint(theirs.CachedInfo().Config)
			for _, manage := range []bool{true, false} {
				store, _ := s.openUnready(func(set *Settings) { set.Stream, set.ManageStream = name, manage })
				until(t, "it is looked at", func() bool { return store.connection.lastFailure() != nil })
				if why := store.Ready(); why == nil || !strings.Contains(why.Error(), c.say) {
					t.Errorf("manage %v: %v", manage, why)
				}
			}
			now, err := theirs.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if after := fmt.Sprint(now.Config); after != before {
				t.Errorf("the stream was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// TestSaysWhy checks the log for many errors of NATS. Each error must be logged once, with advice and without session
// names.
func TestSaysWhy(t *testing.T) {
	folder := t.TempDir()
	key := func(name, seed string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(seed+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	narrow, wide := key("narrow", nkeySeed), key("wide", otherSeed)
	s := newServer(t, fmt.Sprintf(`authorization { users: [
		{ nkey: %s, permissions: { publish: ["$JS.API.STREAM.INFO.>"], subscribe: ["_INBOX.>"] } }
		{ nkey: %s } ] }`, nkeyUser, otherUser))
	_, _ = s.open(func(set *Settings) { set.NKeyFile = wide })
	says := func(log *diary, want string) {
		t.Helper()
		until(t, "the log says "+want, func() bool { return strings.Contains(log.String(), want) })
	}

	seen := &tally{}
	gateway, log := s.openUnready(func(set *Settings) { set.NKeyFile, set.Publish, set.Observer = narrow, false, seen })
	until(t, "the stream is reached", func() bool { return gateway.Ready() == nil })
	if _, refused := gateway.Attach(t.Context(), stream.Request{Query: replay.Query{Sessions: []string{"c1"}}}); refused != stream.NotRefused {
		t.Fatal(refused)
	}
	says(log, "this user may not publish to $JS.API.CONSUMER.CREATE.DELEGRAPH.>; grant the permissions")

	sidecar, log := s.openUnready(func(set *Settings) { set.NKeyFile, set.ManageStream = narrow, false })
	for i := range 3 {
		sidecar.Publish(heardFrame(fmt.Sprint("secret", i), "1", "a"))
	}
	says(log, "this user may not publish to delegraph.v1.>; grant the permissions")
	says(log, "frames cannot be published")
	for _, of := range []string{subjectToken("secret0"), subjectToken("support")} {
		if strings.Contains(log.String(), of) {
			t.Errorf("the log contains %s of a subject:\n%s", of, log)
		}
	}
	if n := strings.Count(log.String(), "not allowed"); n != 1 {
		t.Errorf("%d lines about one missing permission", n)
	}

	_, log = s.openUnready(func(set *Settings) { set.NKeyFile = narrow })
	says(log, "this user may not publish to $JS.API.STREAM.UPDATE.DELEGRAPH; grant")

	until(t, "the feed is tried again", func() bool { return seen.count("feed retried") > 0 })

	sidecar, log = s.openUnready(func(set *Settings) { set.NKeyFile, set.Limits.MaxMessageBytes = wide, 4<<20 })
	until(t, "the stream is reached", func() bool { return sidecar.Ready() == nil })
	sidecar.Publish(heardFrame("c1", "1", strings.Repeat("x", 2<<20))) // the servers accept 1 MiB by default
	says(log, "check max_message (4194304 here; the stream may have another limit) and the servers' max_payload (1048576)")

	_, log = s.openUnready(nil)
	says(log, "no connection to "+s.url())
	says(log, "check credentials_file or nkey_file")

	_, log = s.openUnready(func(set *Settings) { set.URLs = []string{strings.Replace(s.url(), "nats:", "tls:", 1)} })
	says(log, "use nats:// in its URL")

	_, log = s.openUnready(func(set *Settings) {
		set.URLs = []string{"nats://" + loopback.FreeAddress(t)}
	})
	says(log, "connection refused")

	_, log = s.openUnready(func(set *Settings) { set.NKeyFile, set.Stream, set.Publish = wide, "ELSEWHERE", false })
	says(log, "a sidecar with manage: true creates the stream")
}

// TestTroubles checks that a repeated failure is logged only at intervals, and that the memory for failures is bounded.
func TestTroubles(t *testing.T) {
	log := &diary{}
	told := newThrottledLogger(slog.New(slog.NewTextHandler(log, nil)))
	lines := func() int { return strings.Count(log.String(), "\n") }
	for range 3 {
		told.warn("it fails", errTooLarge)
	}
	if lines() != 1 {
		t.Errorf("the same failure is logged %d times", lines())
	}
	for i := range 2 * maxRemembered {
		told.warn("it fails", fmt.Errorf("port %d", i))
	}
	if lines() != maxRemembered {
		t.Errorf("%d lines about different errors", lines())
	}
	for text := range told.loggedAt {
		told.loggedAt[text] = time.Now().Add(-repeatInterval)
	}
	told.warn("it fails", errTooLarge)
	if lines() != maxRemembered+1 {
		t.Error("a lasting failure is never logged again")
	}
	told.reset()
	told.warn("it fails", errTooLarge)
	if lines() != maxRemembered+2 {
		t.Error("a failure that occurs again after reset is not logged")
	}
}

// TestConsumers checks that new and existing streams allow more consumers than the server's default, and that the log explains the
// problem if the account allows too few.
func TestConsumers(t *testing.T) {
	s := newServer(t, `no_auth_user: b
		accounts {
			SMALL: { jetstream: { max_file: 512MB, max_consumers: 2 }, users: [ { user: a, password: a } ] }
			LARGE: { jetstream: enabled, users: [ { user: b, password: b } ] }
		}`)
	jet, err := jetstream.New(s.raw())
	if err != nil {
		t.Fatal(err)
	}
	createStream(t, jet, jetstream.StreamConfig{Name: "DELEGRAPH", Subjects: []string{prefix + ">"}})
	for _, name := range []string{"DELEGRAPH", "ANEW"} {
		if name == "ANEW" {
			if err := jet.DeleteStream(t.Context(), "DELEGRAPH"); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = s.open(func(set *Settings) { set.Stream = name })
		made, err := jet.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if n := made.CachedInfo().Config.MaxConsumers; n != maxConsumers {
			t.Errorf("%s may have %d consumers", name, n)
		}
	}

	small, log := s.openUnready(func(set *Settings) {
		set.URLs = []string{strings.Replace(s.url(), "nats://", "nats://a:a@", 1)}
	})
	until(t, "the stream of the small account is made", func() bool { return small.Ready() == nil })
	for i := range 3 {
		if _, refused := small.Attach(t.Context(), stream.Request{Query: replay.Query{Sessions: []string{fmt.Sprint("c", i)}}}); refused != stream.NotRefused {
			t.Fatal(refused)
		}
	}
	until(t, "the log says what to raise", func() bool { return strings.Contains(log.String(), "raise max_consumers") })
}

// TestTooLittleStorage checks the advice for a server with less storage than the stream requires.
func TestTooLittleStorage(t *testing.T) {
	s := newServer(t, "") // with 1 GB
	store, log := s.openUnready(func(set *Settings) { set.Limits.MaxBytes = 2 << 30 })
	until(t, "it is looked at", func() bool { return store.connection.lastFailure() != nil })
	if said := log.String(); !strings.Contains(said, "max_bytes 2147483648") || !strings.Contains(said, "lower max_bytes or add storage") {
		t.Error(said)
	}
}
