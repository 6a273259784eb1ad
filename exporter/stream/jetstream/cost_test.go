//go:build unix

package jetstream

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// costStand is a publisher and a gateway with one or three NATS servers.
type costStand struct {
	*testing.B
	servers            []*server
	leader             int
	urls               []string
	publisher, gateway *Store
	set                Settings // of the publisher
	seen               *tally
	published          int
}

func newCostStand(b *testing.B, replicas int) *costStand {
	s := &costStand{B: b, seen: &tally{}}
	if replicas == 1 {
		s.servers = []*server{newServer(b, "")}
	} else {
		s.servers = newCluster(b)
	}
	for _, each := range s.servers {
		s.urls = append(s.urls, each.url())
	}
	set := s.servers[0].settings(s.seen)
	set.URLs, set.Limits.Replicas, set.MaxFeeds = s.urls, replicas, 10_000
	set.Limits.MaxBytes, set.Limits.MaxMessagesPerSubject = 1<<30-1, 1000
	set.Ring, set.QueueBytes, set.Logger = replay.Settings{Frames: 10_000, Bytes: 2 << 20, Age: time.Hour}, 64<<20, slog.New(slog.DiscardHandler)
	s.set, s.publisher = set, s.reach(set)
	set.Publish, set.Observer = false, &tally{}
	s.gateway = s.reach(set)
	if replicas > 1 {
		c, err := nats.Connect(strings.Join(s.urls, ","))
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		jet, err := jetstream.New(c)
		if err != nil {
			b.Fatal(err)
		}
		until(b, "all three have the stream", func() bool { return current(jet, 3) })
		s.leader = slices.Index(s.servers, leader(b, jet, s.servers))
	}
	return s
}

func (s *costStand) reach(set Settings) *Store {
	store, err := Open(set)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = store.Close(s.Context()) })
	until(s, "the stream is reached", func() bool { return store.Ready() == nil })
	return store
}

func (s *costStand) attach(session string) stream.Attachment {
	place, refused := s.gateway.Attach(s.Context(), stream.Request{Query: replay.Query{Sessions: []string{session}}})
	if refused != stream.NotRefused {
		s.Fatal(refused)
	}
	return place
}

// publish publishes frames of 612 bytes to sessions in turn, one per interval, or as fast as possible if the interval
// is 0.
func (s *costStand) publish(kind string, sessions, frames int, every time.Duration) {
	paced := time.NewTicker(max(every, time.Microsecond))
	defer paced.Stop()
	data := make([]byte, 612)
	for i := range frames {
		if every > 0 {
			<-paced.C
		}
		s.published++
		s.publisher.Publish(replay.Entry{
			Source: "s", Session: fmt.Sprint(kind, i%sessions), Run: "r", Data: data, Stream: tailed, EventID: fmt.Append(nil, s.published),
		})
	}
	until(s, "all is published", func() bool { return s.seen.count("published") == s.published })
}

// tick waits like publish, to measure the cost of waiting itself.
func tick(n int, every time.Duration) {
	if every == 0 {
		return
	}
	paced := time.NewTicker(every)
	defer paced.Stop()
	for range n {
		<-paced.C
	}
}

// spent holds the CPU time of this process, of the stream's leader, and of the other servers.
type spent struct{ ours, leader, others time.Duration }

func (s *costStand) spent() (t spent) {
	t.ours = process()
	for i, each := range s.servers {
		if i == s.leader {
			t.leader = each.busy()
		} else {
			t.others += each.busy()
		}
	}
	return t
}

func (t spent) all() time.Duration { return t.leader + t.others }

func (t spent) plus(o spent) spent {
	return spent{t.ours + o.ours, t.leader + o.leader, t.others + o.others}
}

func (t spent) minus(o spent) spent {
	return spent{t.ours - o.ours, t.leader - o.leader, t.others - o.others}
}

func (s *costStand) during(do func()) spent {
	before := s.spent()
	do()
	return s.spent().minus(before)
}

// memory returns the memory of this process, without garbage, and of all servers together.
func (s *costStand) memory() (ours, theirs float64) {
	runtime.GC()
	debug.FreeOSMemory()
	ours = residentOf(s, os.Getpid())
	for _, each := range s.servers {
		theirs += residentOf(s, each.process.Process.Pid)
	}
	return ours, theirs
}

func residentOf(b testing.TB, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("this system does not report the memory of a process")
	}
	var kib int
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return float64(kib << 10)
}

// BenchmarkPublish measures the cost of an event in the publishing sidecar and in NATS, without readers. Paced, each event wakes
// idle processes. Busy, a hundred sidecars each have one event in flight over their own connection, so that no process sleeps. An
// operation is an event.
func BenchmarkPublish(b *testing.B) {
	const sidecars = 100
	for _, replicas := range []int{1, 3} {
		b.Run(fmt.Sprintf("paced/%d servers", replicas), func(b *testing.B) {
			s := newCostStand(b, replicas)
			s.publish("c", 256, 256, 0) // then the last sequence of each subject is known
			waited := s.during(func() { tick(b.N, time.Millisecond) })
			s.report(s.during(func() { s.publish("c", 256, b.N, time.Millisecond) }).minus(waited), b.N, replicas)
		})
		b.Run(fmt.Sprintf("busy/%d servers", replicas), func(b *testing.B) {
			s := newCostStand(b, replicas)
			all, each := []*Store{}, (b.N+sidecars-1)/sidecars
			for range sidecars {
				all = append(all, s.reach(s.set))
			}
			data := make([]byte, 612)
			round := func(n, first int) {
				for i, store := range all {
					for k := range n {
						s.published++
						store.Publish(replay.Entry{Source: "s", Session: fmt.Sprint("c", i), Run: "r", Data: data, Stream: tailed, EventID: fmt.Append(nil, first+k)})
					}
				}
				until(s, "all is published", func() bool { return s.seen.count("published") == s.published })
			}
			round(1, 0)
			s.report(s.during(func() { round(each, 1) }), each*sidecars, replicas)
		})
	}
}

func (s *costStand) report(cost spent, events, replicas int) {
	s.ReportMetric(0, "ns/op")
	s.ReportMetric(float64(cost.ours)/float64(events), "cpu-ns/event")
	s.ReportMetric(float64(cost.leader)/float64(events), "leader-cpu-ns/event")
	s.ReportMetric(float64(cost.others)/float64(events)/max(1, float64(replicas-1)), "follower-cpu-ns/event")
}

// BenchmarkFeeds measures what feeds cost the gateway and NATS while they are opened and while they are idle. It also
// measures the cost of an event that goes through a feed. The cost of events without readers is measured alternately
// and subtracted. An operation is an event.
func BenchmarkFeeds(b *testing.B) {
	for _, c := range []struct{ replicas, feeds int }{{1, 100}, {1, 1000}, {3, 1000}} {
		b.Run(fmt.Sprintf("%d of %d servers", c.feeds, c.replicas), func(b *testing.B) { benchmarkFeeds(b, c.replicas, c.feeds) })
	}
}

func benchmarkFeeds(b *testing.B, replicas, feeds int) {
	s, quiet := newCostStand(b, replicas), 4*feeds
	b.ReportMetric(0, "ns/op")
	_, empty := s.memory()
	s.publish("quiet", quiet, quiet, 0)
	s.publish("loud", feeds, feeds, 0)
	ours, held := s.memory()
	b.ReportMetric((held-empty)/float64(replicas*(quiet+feeds)), "nats-B/session")
	opening := s.during(func() {
		for i := range feeds {
			b.Cleanup(s.attach(fmt.Sprint("loud", i)).Release)
		}
		until(b, "all feeds bring what comes", func() bool { return s.live() == feeds })
	})
	oursOpen, heldOpen := s.memory()
	b.ReportMetric(float64(opening.ours)/float64(feeds), "cpu-ns/feed")
	b.ReportMetric(float64(opening.all())/float64(feeds), "nats-cpu-ns/feed")
	b.ReportMetric((oursOpen-ours)/float64(feeds), "B/feed")
	b.ReportMetric((heldOpen-held)/float64(feeds), "nats-B/feed")
	info, err := s.publisher.connection.jet.Stream(b.Context(), "DELEGRAPH")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.CachedInfo().State.Bytes)/float64(info.CachedInfo().State.Msgs), "stored-B/event")
	const turns = 4
	each := (b.N + turns - 1) / turns
	for name, every := range map[string]time.Duration{"paced-": time.Millisecond, "busy-": 0} {
		var extra spent
		for range turns {
			unread := s.during(func() { s.publish("quiet", quiet, each, every) })
			extra = extra.plus(s.during(func() {
				has := s.gateway.Stats().Frames
				s.publish("loud", feeds, each, every)
				until(b, "the feeds have all", func() bool { return s.gateway.Stats().Frames == has+each })
			}).minus(unread))
		}
		events := float64(turns * each)
		b.ReportMetric(float64(extra.ours)/events, name+"cpu-ns/event")
		b.ReportMetric(float64(extra.all())/events, name+"nats-cpu-ns/event")
	}
}

// live returns the number of feeds that have caught up.
func (s *costStand) live() (n int) {
	feeds := s.gateway.feeds
	feeds.mu.Lock()
	defer feeds.mu.Unlock()
	for _, same := range feeds.open {
		for _, open := range same {
			if open.caughtUp.Load() {
				n++
			}
		}
	}
	return n
}

// BenchmarkConnections measures the memory that NATS needs for an idle connection. An operation is a connection.
func BenchmarkConnections(b *testing.B) {
	s := newCostStand(b, 1)
	_, before := s.memory()
	for range b.N {
		c, err := nats.Connect(s.urls[0])
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
	}
	_, after := s.memory()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric((after-before)/float64(b.N), "nats-B/connection")
}
