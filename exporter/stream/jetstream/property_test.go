package jetstream

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// quiet is a stream.Observer that does nothing.
type quiet struct{}

func (quiet) SetSubscribers(int)                                  {}
func (quiet) CountSent(int)                                       {}
func (quiet) CountDropped(replay.Drop)                            {}
func (quiet) CountDisconnect(stream.Disconnect)                   {}
func (quiet) CountRefusal(stream.Refusal, stream.RefusalResponse) {}
func (quiet) CountResume(stream.ResumeOutcome)                    {}

// site is a store served over HTTP.
type site struct {
	store  stream.Store
	server *httptest.Server
}

func newSite(t *testing.T, store stream.Store) *site {
	t.Helper()
	hub, err := stream.New(stream.Settings{
		Store: store, Observer: quiet{}, MaxSubscribers: 100, MaxSubscribersPerToken: 100,
		Heartbeat: time.Second, WriteDeadline: 5 * time.Second, MaxLifetime: time.Hour, RecheckInterval: time.Hour,
		Authorize: func(r *http.Request) (stream.Grant, error) {
			var g stream.Grant
			if sessions := r.Header.Get("Authorization"); sessions != "" {
				g.Sessions = strings.Split(sessions, ",")
			}
			return g, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &site{store: store, server: httptest.NewServer(hub.Handler())}
}

// earlierStore is a store that requests earlier frames for most readers, which must not get them.
type earlierStore struct{ stream.Store }

func (s earlierStore) Attach(ctx context.Context, r stream.Request) (stream.Attachment, stream.Refusal) {
	r.Earlier = rand.IntN(3) > 0
	return s.Store.Attach(ctx, r)
}

func (s *site) close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// world records everything that was published to a stream.
type world struct {
	*testing.T
	random  *rand.Rand
	sites   []*site
	restart func() // one of the sites, and maybe the stream
	settled func() bool
	limit   int // frames of a session that may be evicted already; 0: none ever is

	entries []replay.Entry
	base    int // the first entry that the stream may hold
}

// visitor keeps reconnecting with its last id, to any of the sites.
type visitor struct {
	path, token string
	wants       func(replay.Entry) bool
	everything  bool // reads all sessions

	progress
	at *visit
}

// progress records how far a visitor has read.
type progress struct {
	next    int             // the last entry read; -1: none yet
	since   int             // if none was read: the entries published when it first connected
	gap     bool            // a gap precedes the next entry
	missing map[string]bool // subjects with missing frames whose gap was not reported yet
	last    string          // the id to resume after
}

type visit struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	read bytes.Buffer
}

func (v *visit) so() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.read.String()
}

// TestProperty publishes, connects, disconnects, cuts connections at any byte, restarts and evicts in random order. It
// uses a store in memory, and two stores on one NATS. A visitor that reconnects to any of them must get each frame once
// and in order, or a gap.
func TestProperty(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("memory ", seed), func(t *testing.T) { inMemory(t, seed).wander() })
		t.Run(fmt.Sprint("jetstream ", seed), func(t *testing.T) { inJetStream(t, seed).wander() })
	}
}

func inMemory(t *testing.T, seed uint64) *world {
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 3)), settled: func() bool { return true }}
	frames := 1_000_000
	if seed%2 == 0 {
		w.limit = 1 + w.random.IntN(20)
		frames = w.limit
	}
	begin := func() *site {
		store, err := stream.NewMemory(replay.Settings{Frames: frames, Bytes: 64 << 20, Age: time.Hour}, func(replay.Drop) {})
		if err != nil {
			t.Fatal(err)
		}
		return newSite(t, store)
	}
	w.sites = []*site{begin()}
	w.restart = func() {
		w.sites[0].close()
		w.sites[0], w.base = begin(), len(w.entries)
	}
	t.Cleanup(func() { w.sites[0].close() })
	return w
}

func inJetStream(t *testing.T, seed uint64) *world {
	s := newServer(t, "")
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 3))}
	perSubject := int64(1_000_000)
	if seed%2 == 0 {
		w.limit = 1 + w.random.IntN(10)
		perSubject = int64(w.limit)
	}
	stores := make([]*Store, 2)
	begin := func(i int) *site {
		stores[i], _ = s.open(func(set *Settings) { set.Limits.MaxMessagesPerSubject = perSubject })
		return newSite(t, earlierStore{stores[i]})
	}
	w.sites = []*site{begin(0), begin(1)}
	jet, err := jetstream.New(s.raw())
	if err != nil {
		t.Fatal(err)
	}
	w.restart = func() {
		switch i := w.random.IntN(2); w.random.IntN(5) {
		case 0:
			s.kill()
			s.start()
		case 1:
			until(t, "the stream is deleted", func() bool { return jet.DeleteStream(t.Context(), "DELEGRAPH") == nil })
			for _, store := range stores { // as each store does with its next request; earlier readers are then disconnected
				until(t, "the stream is made anew", func() bool { _, err := store.connection.refresh(t.Context()); return err == nil })
			}
			w.base = len(w.entries)
		default:
			w.sites[i].close()
			_ = stores[i].Close(t.Context())
			w.sites[i] = begin(i)
		}
	}
	w.settled = func() bool { return stores[0].QueuedBytes()+stores[1].QueuedBytes() == 0 }
	t.Cleanup(func() {
		for _, at := range w.sites {
			at.close()
		}
	})
	return w
}

func (w *world) wander() {
	in := func(sessions ...string) func(replay.Entry) bool {
		return func(e replay.Entry) bool {
			return strings.Contains(strings.Join(sessions, ","), e.Session) && e.Session != ""
		}
	}
	all := func(replay.Entry) bool { return true }
	visitors := []*visitor{
		{path: "/events", wants: all, everything: true}, {path: "/events", wants: all, everything: true},
		{path: "/events/c1", wants: in("c1")}, {path: "/events/c1", wants: in("c1")},
		{path: "/events", token: "c2,c3", wants: in("c2", "c3")},
		{path: "/events/c1", token: "c2", wants: func(replay.Entry) bool { return false }},
		{path: "/events?source=a&kind=text", everything: true, wants: func(e replay.Entry) bool { return e.Source == "a" && e.Kinds == replay.KindsOf(event.KindText) }},
	}
	for range 150 {
		v := visitors[w.random.IntN(len(visitors))]
		switch op := w.random.IntN(100); {
		case op < 45:
			w.publish(1 + w.random.IntN(6))
		case op < 70 && v.at == nil:
			w.come(v)
		case op < 85 && v.at != nil:
			w.cut(v)
		case op < 96 && v.at != nil:
			w.catchUp(v)
		case op >= 96:
			for _, v := range visitors {
				if v.at != nil {
					w.cut(v)
				}
			}
			w.restart()
		}
	}
	for _, v := range visitors {
		if v.at == nil {
			w.come(v)
		}
		w.catchUp(v)
		w.cut(v)
	}
}

func (w *world) publish(n int) {
	for range n {
		e := replay.Entry{
			Source: []string{"a", "b"}[w.random.IntN(2)], Run: "r", Session: []string{"c1", "c2", "c3", ""}[w.random.IntN(4)],
			Kinds: replay.KindsOf([]event.Kind{event.KindText, event.KindFinal}[w.random.IntN(2)]), Data: []byte(strconv.Itoa(len(w.entries))),
		}
		w.entries = append(w.entries, e)
		w.sites[w.random.IntN(len(w.sites))].store.Publish(e)
		until(w, "it is published", w.settled) // otherwise another site might publish first
	}
}

func (w *world) come(v *visitor) {
	ctx, cancel := context.WithCancel(w.Context())
	v.at = &visit{cancel: cancel, done: make(chan struct{})}
	at := w.sites[w.random.IntN(len(w.sites))]
	var answer *http.Response
	until(w, "there is an answer", func() bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.server.URL+v.path, nil)
		if err != nil {
			w.Fatal(err)
		}
		r.Header.Set("Authorization", v.token)
		r.Header.Set("Last-Event-ID", v.last)
		if answer, err = http.DefaultTransport.RoundTrip(r); err != nil {
			w.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			_ = answer.Body.Close()
		}
		return answer.StatusCode == http.StatusOK
	})
	if v.last == "" {
		v.next, v.since, v.missing = -1, len(w.entries), map[string]bool{}
	}
	go func(at *visit) {
		defer close(at.done)
		defer answer.Body.Close()
		buf := make([]byte, 4096)
		for {
			n, err := answer.Body.Read(buf)
			at.mu.Lock()
			at.read.Write(buf[:n])
			at.mu.Unlock()
			if err != nil {
				return
			}
		}
	}(v.at)
}

// follow compares received frames with the published ones, and returns how far it got.
func (w *world) follow(v *visitor, read string) progress {
	r := sse.NewReader(strings.NewReader(read), 0)
	had := v.progress
	had.missing = maps.Clone(had.missing)
	for {
		f, err := r.Next()
		if err != nil {
			if id := r.LastEventID(); id != "" {
				had.last = id
			}
			return had
		}
		if string(f.Event) == "delegraph.gap" {
			had.gap = true
			switch data := string(f.Data); {
			case strings.Contains(data, `"restarted"`):
				had.next, had.since, had.missing = -1, w.base, map[string]bool{}
			case w.limit == 0:
				w.Fatalf("%s after %q: no frame is missing, but the visitor gets the gap %s", v.path, v.last, data)
			}
			continue
		}
		n, err := strconv.Atoi(string(f.Data))
		if err != nil {
			w.Fatal(err)
		}
		if had.next < 0 {
			had.next = min(n, had.since)
			if had.gap { // the gap covers everything before
				had.next = n
			}
		}
		if n < had.next || !v.wants(w.entries[n]) {
			w.Fatalf("%s after %q: got frame %d, want %d", v.path, v.last, n, had.next)
		}
		for ; had.next < n; had.next++ {
			if v.wants(w.entries[had.next]) {
				had.missing[w.subject(had.next)] = true
			}
		}
		// Some stores detect a loss only with the next frame of the same source and session, and report the gap there.
		if had.next++; had.gap {
			delete(had.missing, w.subject(n))
			if v.everything || len(w.sites) == 1 {
				clear(had.missing)
			}
		}
		if had.gap = false; had.missing[w.subject(n)] || v.everything && len(had.missing) > 0 {
			w.Fatalf("%s after %q: got frame %d without a gap for the missing ones before it:\n%s", v.path, v.last, n, read)
		}
	}
}

func (w *world) subject(n int) string { return w.entries[n].Source + "." + w.entries[n].Session }

// cut ends a connection at a random byte.
func (w *world) cut(v *visitor) {
	v.at.cancel()
	<-v.at.done
	read := v.at.so()
	had := w.follow(v, read[:w.random.IntN(len(read)+1)])
	if v.at = nil; had.last != "" { // otherwise the client does not know that it was connected
		v.progress = had
	}
}

// catchUp waits until a visitor has every frame or is disconnected.
func (w *world) catchUp(v *visitor) {
	w.Helper()
	newest := len(w.entries) - 1
	oldest := max(w.base, v.next)
	if v.next < 0 {
		oldest = max(w.base, v.since)
	}
	if w.limit > 0 && len(w.sites) == 1 { // of all sessions together
		oldest = max(oldest, len(w.entries)-w.limit)
	}
	for newest >= oldest && !v.wants(w.entries[newest]) {
		newest--
	}
	if newest < oldest {
		return
	}
	over := false
	until(w, fmt.Sprintf("%s behind %q has entry %d", v.path, v.last, newest), func() bool {
		select {
		case <-v.at.done:
			over = true
		default:
		}
		return over || w.follow(v, v.at.so()).next > newest
	})
	if over {
		w.cut(v)
	}
}
