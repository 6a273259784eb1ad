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
)

// diary is a log that is read while it is written.
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

// createStream makes a stream. A server under load may fail to create its store at first.
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

// TestSomebodyElsesStream names a stream that is not ours: it is left as it is, with all that it holds.
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
		"orders":   {jetstream.StreamConfig{Subjects: []string{"orders.>"}}, "somebody else's"},
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
				store, _ := s.openUnready(func(set *Settings) { set.Stream, set.Manage = name, manage })
				until(t, "it is looked at", func() bool { return store.connection.why() != nil })
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

// TestSaysWhy has NATS refuse what Delegraph wants in many ways. The log says each, once and with what to do, and no name of a session.
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
	if _, refused := gateway.Attach(t.Context(), replay.Query{Sessions: []string{"c1"}}, ""); refused != stream.NotRefused {
		t.Fatal(refused)
	}
	says(log, "this user may not publish to $JS.API.CONSUMER.CREATE.DELEGRAPH.>: give it the rights")

	sidecar, log := s.openUnready(func(set *Settings) { set.NKeyFile, set.Manage = narrow, false })
	for i := range 3 {
		sidecar.Publish(heardFrame(fmt.Sprint("secret", i), "1", "a"))
	}
	says(log, "this user may not publish to delegraph.v1.>: give it the rights")
	says(log, "frames cannot be published")
	for _, of := range []string{token("secret0"), token("support")} {
		if strings.Contains(log.String(), of) {
			t.Errorf("the log has %s of a subject:\n%s", of, log)
		}
	}
	if n := strings.Count(log.String(), "not allowed"); n != 1 {
		t.Errorf("%d lines of one thing that is not allowed", n)
	}

	_, log = s.openUnready(func(set *Settings) { set.NKeyFile = narrow })
	says(log, "this user may not publish to $JS.API.STREAM.UPDATE.DELEGRAPH: give it")

	until(t, "the feed is tried again", func() bool { return seen.count("feed retried") > 0 })

	sidecar, log = s.openUnready(func(set *Settings) { set.NKeyFile, set.Limits.Message = wide, 4<<20 })
	until(t, "the stream is reached", func() bool { return sidecar.Ready() == nil })
	sidecar.Publish(heardFrame("c1", "1", strings.Repeat("x", 2<<20))) // the servers take 1 MiB unless told otherwise
	says(log, "look at max_message (4194304 here; the stream may have another), and at the servers' max_payload (1048576)")

	_, log = s.openUnready(nil)
	says(log, "no connection to "+s.url())
	says(log, "look at credentials_file or nkey_file")

	_, log = s.openUnready(func(set *Settings) { set.URLs = []string{strings.Replace(s.url(), "nats:", "tls:", 1)} })
	says(log, "use nats:// for it")

	_, log = s.openUnready(func(set *Settings) {
		set.URLs = []string{fmt.Sprintf("nats://127.0.0.1:%d", freePorts(t, 1)[0])}
	})
	says(log, "connection refused")

	_, log = s.openUnready(func(set *Settings) { set.NKeyFile, set.Stream, set.Publish = wide, "ELSEWHERE", false })
	says(log, "a sidecar with manage: true makes the stream")
}

// TestTroubles says what is the same once in a while, and never more than so much.
func TestTroubles(t *testing.T) {
	log := &diary{}
	told := newTroubles(slog.New(slog.NewTextHandler(log, nil)))
	lines := func() int { return strings.Count(log.String(), "\n") }
	for range 3 {
		told.say("it fails", errTooLarge)
	}
	if lines() != 1 {
		t.Errorf("the same is said %d times", lines())
	}
	for i := range 2 * maxSaid {
		told.say("it fails", fmt.Errorf("port %d", i))
	}
	if lines() != maxSaid {
		t.Errorf("%d lines of ever different errors", lines())
	}
	for text := range told.said {
		told.said[text] = time.Now().Add(-saidAgain)
	}
	told.say("it fails", errTooLarge)
	if lines() != maxSaid+1 {
		t.Error("what goes on is never said again")
	}
	told.over()
	told.say("it fails", errTooLarge)
	if lines() != maxSaid+2 {
		t.Error("what begins anew is not said")
	}
}

// TestConsumers makes a stream that may have more consumers than servers allow by themselves, also one that was there before, and one
// of an account that may have few, where the log says what holds readers up.
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
		if _, refused := small.Attach(t.Context(), replay.Query{Sessions: []string{fmt.Sprint("c", i)}}, ""); refused != stream.NotRefused {
			t.Fatal(refused)
		}
	}
	until(t, "the log says what to raise", func() bool { return strings.Contains(log.String(), "raise max_consumers") })
}

// TestTooLittleStorage says what to do where the server has less room than the stream wants.
func TestTooLittleStorage(t *testing.T) {
	s := newServer(t, "") // with 1 GB
	store, log := s.openUnready(func(set *Settings) { set.Limits.Bytes = 2 << 30 })
	until(t, "it is looked at", func() bool { return store.connection.why() != nil })
	if said := log.String(); !strings.Contains(said, "max_bytes 2147483648") || !strings.Contains(said, "lower it, or give them more") {
		t.Error(said)
	}
}
