package jetstream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/test/loopback"
)

// newCluster starts a JetStream cluster of three servers.
func newCluster(t testing.TB) []*server {
	t.Helper()
	program(t)
	addresses := []string{loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t)}
	routes := "nats://" + strings.Join(addresses, ", nats://")
	var servers []*server
	for i, address := range addresses {
		servers = append(servers, newServer(t, fmt.Sprintf(
			"server_name: n%d\ncluster { name: c, listen: %s, routes: [%s], no_advertise: true }", i, address, routes)))
	}
	return servers
}

// TestCluster kills three servers one after another, including the stream's leader. Meanwhile two sidecars publish the
// same frames. Readers must get each frame once and in order, without a gap.
func TestCluster(t *testing.T) {
	servers := newCluster(t)
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.url())
	}
	change := func(set *Settings) { set.URLs, set.Limits.Replicas = urls, 3 }
	one, seen := servers[0].open(change)
	other, seenByOther := servers[0].open(change)
	connection, err := nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	jet, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	checkFacts(t, jet)

	sessions := []string{"c1", "c2", "c3"}
	readers := map[string][]*reader{"": {attach(t, one, ""), attach(t, other, "")}}
	for _, session := range sessions {
		readers[session] = []*reader{attach(t, one, "", session), attach(t, other, "", session)}
	}
	const rounds, each = 2, 60
	want := map[string][]string{}
	for round := range rounds {
		for i := range each {
			if i == each/3 {
				victim := servers[round]
				if round == 0 {
					victim = leader(t, jet, servers)
				}
				victim.kill()
			}
			for _, session := range sessions {
				n := round*each + i
				e := heardFrame(session, fmt.Sprint(n), fmt.Sprint(session, "-", n))
				one.Publish(e)
				other.Publish(e)
				want[session] = append(want[session], string(e.Data))
			}
			time.Sleep(2 * time.Millisecond) // the pace of an agent's stream
		}
		until(t, "all is published", func() bool { return one.QueuedBytes()+other.QueuedBytes() == 0 })
		for _, s := range servers {
			if s.process == nil {
				s.start()
			}
		}
		until(t, "all three are there again", func() bool { return current(jet, 3) })
	}
	for _, session := range sessions {
		for _, r := range readers[session] {
			r.wants(want[session]...)
		}
	}
	for _, r := range readers[""] {
		bySession := map[string][]string{}
		for _, frame := range r.read(rounds * each * len(sessions)) {
			session, _, _ := strings.Cut(frame, "-")
			bySession[session] = append(bySession[session], frame)
		}
		for _, session := range sessions {
			if fmt.Sprint(bySession[session]) != fmt.Sprint(want[session]) {
				t.Errorf("of all, %s: %q", session, bySession[session])
			}
		}
	}
	t.Logf("one %v, the other %v", seen.events, seenByOther.events)
	if published := seen.count("published") + seenByOther.count("published"); published > rounds*each*len(sessions) {
		t.Errorf("%d frames were published", published)
	}
}

// leader returns the server that leads the stream.
func leader(t testing.TB, jet jetstream.JetStream, servers []*server) *server {
	t.Helper()
	s, err := jet.Stream(t.Context(), "DELEGRAPH")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscanf(s.CachedInfo().Cluster.Leader, "n%d", &n); err != nil {
		t.Fatal(err)
	}
	return servers[n]
}

// current reports whether the given number of servers has the whole stream.
func current(jet jetstream.JetStream, want int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := jet.Stream(ctx, "DELEGRAPH")
	if err != nil || s.CachedInfo().Cluster == nil || s.CachedInfo().Cluster.Leader == "" {
		return false
	}
	n := 1
	for _, replica := range s.CachedInfo().Cluster.Replicas {
		if replica.Current && !replica.Offline {
			n++
		}
	}
	return n == want
}
