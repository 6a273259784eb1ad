package readers_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjetstream "github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// The shards before and after one is added.
var oneShard, twoShards = []string{"north"}, []string{"north", "south"}

// shardFleet is two NATS clusters, a gateway for each, and two sidecars that tail the same sessions.
type shardFleet struct {
	t                  *testing.T
	folder, agent      string
	replicas           int
	maxAge             string
	moving, staying    []string // sessions
	nats               map[string][]*member
	urls               map[string][]string
	listen             map[string]string // of the gateways
	gateways, sidecars []*member
	admins             []string
}

// newShardFleet prepares clusters with this number of servers. Half of the sessions move when the second shard is added.
func newShardFleet(t *testing.T, agent string, replicas int, maxAge string) *shardFleet {
	t.Helper()
	f := &shardFleet{
		t: t, folder: t.TempDir(), agent: agent, replicas: replicas, maxAge: maxAge,
		nats: map[string][]*member{}, urls: map[string][]string{}, listen: map[string]string{},
	}
	for i := 0; len(f.moving) < 3 || len(f.staying) < 3; i++ {
		session := fmt.Sprint("c", i)
		if of := &f.staying; len(*of) < 3 && jetstream.Owner(twoShards, session) == "north" {
			*of = append(*of, session)
		} else if of := &f.moving; len(*of) < 3 && jetstream.Owner(twoShards, session) == "south" {
			*of = append(*of, session)
		}
	}
	for _, name := range twoShards {
		f.addCluster(name)
		f.listen[name] = loopback.FreeAddress(t)
	}
	for _, name := range twoShards {
		admin := loopback.FreeAddress(t)
		f.admins = append(f.admins, "http://"+admin)
		f.gateways = append(f.gateways, f.member("gateway-"+name, "delegraph", "gateway", "--config.file="+f.file("gateway-"+name+".yml"), "--web.listen-address="+admin))
	}
	for i := range 2 {
		admin := loopback.FreeAddress(t)
		f.admins = append(f.admins, "http://"+admin)
		f.sidecars = append(f.sidecars, f.member(fmt.Sprint("sidecar", i), "delegraph", "serve", "--config.file="+f.file("sidecar.yml"), "--web.listen-address="+admin))
	}
	return f
}

func (f *shardFleet) file(name string) string { return filepath.Join(f.folder, name) }

func (f *shardFleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.file(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *shardFleet) member(name, program string, args ...string) *member {
	m := &member{t: f.t, program: program, args: args, log: &harness.LogBuffer{}}
	f.t.Cleanup(func() {
		if said := m.log.String(); f.t.Failed() {
			f.t.Logf("%s:\n%s", name, said[max(0, len(said)-3000):])
		}
	})
	return m
}

// addCluster prepares the servers of a shard.
func (f *shardFleet) addCluster(name string) {
	binary := harness.Component(f.t, "nats", "nats-server")
	var clients, routes []string
	for range f.replicas {
		clients, routes = append(clients, loopback.FreeAddress(f.t)), append(routes, loopback.FreeAddress(f.t))
		f.urls[name] = append(f.urls[name], "nats://"+clients[len(clients)-1])
	}
	for i := range f.replicas {
		server := fmt.Sprintf("%s%d", name, i)
		text := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream: {store_dir: %q, max_file: 1GB}\n", server, clients[i], f.file(server))
		if f.replicas > 1 {
			text += fmt.Sprintf("cluster: {name: %s, listen: %q, routes: [\"nats://%s\"], no_advertise: true}\n", name, routes[i], strings.Join(routes, `", "nats://`))
		}
		f.write(server+".conf", text)
		f.nats[name] = append(f.nats[name], f.member(server, binary, "-c", f.file(server+".conf")))
	}
}

// configure writes the files with these shards. moveAt is empty if no session moves.
func (f *shardFleet) configure(names []string, moveAt string) {
	var shards []string
	for _, name := range names {
		shards = append(shards, fmt.Sprintf(`{name: %s, gateway: "http://%s", urls: ["%s"]}`, name, f.listen[name], strings.Join(f.urls[name], `", "`)))
	}
	stream := fmt.Sprintf("store: jetstream, heartbeat: 1s, jetstream: {replicas: %d, max_age: %s, duplicates: 1m, max_bytes: 256MiB, shards: [%s]", f.replicas, f.maxAge, strings.Join(shards, ", "))
	if moveAt != "" {
		stream += fmt.Sprintf(", previous: [%s], move_at: %q", strings.Join(oneShard, ", "), moveAt)
	}
	for _, name := range twoShards {
		serve := name
		if !slices.Contains(names, name) {
			serve = names[0] // it has nothing to do yet
		}
		f.write("gateway-"+name+".yml", fmt.Sprintf("stream: {listen: %q, %s, serve: [%s]}}\n", f.listen[name], stream, serve))
	}
	text := fmt.Sprintf("stream: {listen: \"\", %s}}\nsources:\n", stream)
	for _, session := range slices.Concat(f.moving, f.staying) {
		text += fmt.Sprintf("  - {name: %[1]s, dialect: looopy, tail: {url: \"%[2]s/events/%[1]s\"}}\n", session, f.agent)
	}
	f.write("sidecar.yml", text)
}

// start starts everything.
func (f *shardFleet) start() {
	f.t.Helper()
	for _, servers := range f.nats {
		for _, server := range servers {
			server.start()
		}
	}
	all := slices.Concat(f.gateways, f.sidecars)
	for _, m := range all {
		m.start()
	}
	for i, m := range all {
		m.running.WaitReady(f.t, f.admins[i])
	}
}

// reload makes all processes read their files again, the gateways first, and waits until they have.
func (f *shardFleet) reload() {
	f.t.Helper()
	for _, m := range slices.Concat(f.gateways, f.sidecars) {
		before := strings.Count(m.log.String(), "msg=reloaded")
		m.running.Signal(f.t, syscall.SIGHUP)
		harness.Await(f.t, func(context.Context) error {
			if strings.Count(m.log.String(), "msg=reloaded") == before {
				return fmt.Errorf("it has not reloaded")
			}
			return nil
		})
	}
}

// read starts two readers of each session, one at each gateway, and waits until all are connected.
func (f *shardFleet) read(ctx context.Context, running *sync.WaitGroup) (readers []*follower) {
	f.t.Helper()
	for _, session := range slices.Concat(f.moving, f.staying) {
		for _, name := range twoShards {
			r := &follower{path: "/events/" + session, next: map[string]int{}}
			readers = append(readers, r)
			running.Go(func() { r.follow(ctx, []string{"http://" + f.listen[name]}, func(int) int { return 0 }) })
		}
	}
	for _, r := range readers {
		harness.Await(f.t, func(context.Context) error {
			if r.turn() == 0 {
				return fmt.Errorf("%s is not connected", r.path)
			}
			return nil
		})
	}
	return readers
}

// receive waits until all readers have everything.
func (f *shardFleet) receive(readers []*follower, said int) {
	f.t.Helper()
	for _, r := range readers {
		harness.Await(f.t, func(context.Context) error {
			if session := strings.TrimPrefix(r.path, "/events/"); !r.has(said, session) {
				r.mu.Lock()
				defer r.mu.Unlock()
				return fmt.Errorf("%s has received %v of %d at %s, %s, gaps %q", r.path, r.next, said, r.at, r.fail, r.gaps)
			}
			return nil
		})
	}
}

// published waits until the sidecars have published this number of frames, or found that the other one had.
func (f *shardFleet) published(frames int) {
	f.t.Helper()
	harness.Await(f.t, func(ctx context.Context) error {
		var n float64
		for _, admin := range f.admins[len(f.gateways):] {
			sidecar := &harness.Instance{Admin: admin}
			for _, name := range []string{"delegraph_stream_store_published_total", "delegraph_stream_store_repeated_total"} {
				more, err := sidecar.Metric(ctx, name)
				if err != nil {
					return err
				}
				n += more
			}
		}
		if int(n) != frames {
			return fmt.Errorf("%v of %d frames are published", n, frames)
		}
		return nil
	})
}

// forget removes the moving sessions from the first shard, as max_age does.
func (f *shardFleet) forget() {
	f.t.Helper()
	connection, err := nats.Connect(f.urls["north"][0])
	if err != nil {
		f.t.Fatal(err)
	}
	defer connection.Close()
	jet, err := natsjetstream.New(connection)
	if err != nil {
		f.t.Fatal(err)
	}
	stream, err := jet.Stream(f.t.Context(), "DELEGRAPH")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, session := range f.moving {
		subject := "delegraph.v1.*." + base64.RawURLEncoding.EncodeToString([]byte(session))
		if err := stream.Purge(f.t.Context(), natsjetstream.WithPurgeSubject(subject)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// check compares what readers got: everything once and in order, at the gateway of the session's shard, and one gap at most.
func (f *shardFleet) check(readers []*follower, movingGaps, stayingGaps int) {
	f.t.Helper()
	for _, r := range readers {
		r.mu.Lock()
		gaps, at := stayingGaps, f.listen["north"]
		if slices.Contains(f.moving, strings.TrimPrefix(r.path, "/events/")) {
			gaps = movingGaps
			if movingGaps > 0 {
				at = f.listen["south"]
			}
		}
		if r.fail != "" || len(r.gaps) > gaps || r.at != at {
			f.t.Errorf("%s: %s; gaps %q, at most %d expected; at %s, want %s", r.path, r.fail, r.gaps, gaps, r.at, at)
		}
		f.t.Logf("%s connected %d times, was refused %d times, and received %v with the gaps %q", r.path, r.came, r.refused, r.next, r.gaps)
		r.mu.Unlock()
	}
}

// TestShards adds a shard while an agent sends and readers are connected, at gateways that serve one shard each. Readers are
// redirected to the gateway of their session's shard, and get each frame once.
func TestShards(t *testing.T) {
	agent := newTalker(t)
	f := newShardFleet(t, agent.URL, 1, "1h")
	f.configure(oneShard, "")
	f.start()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	readers := f.read(ctx, &running)
	say := func(n int) int {
		for range n {
			agent.say()
		}
		said, _ := agent.so()
		return said
	}
	f.receive(readers, say(50))
	f.configure(twoShards, time.Now().Add(-time.Hour).Format(time.RFC3339))
	f.reload()
	f.receive(readers, say(50))
	for _, r := range readers { // gateway-south serves only its own shard now
		harness.Await(t, func(context.Context) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.at != f.listen["north"] {
				return fmt.Errorf("%s is still at %s", r.path, r.at)
			}
			return nil
		})
	}
	f.receive(readers, say(50))
	f.check(readers, 0, 0) // active sessions stay
	said, _ := agent.so()
	f.published(said * len(readers)) // two sidecars publish each session, which has two readers
	f.forget()
	f.receive(readers, say(50))
	f.check(readers, 1, 0)
	cancel()
	running.Wait()
}

// TestShardAddedUnderLoad does the same with two clusters of three servers, kills servers, a sidecar and a gateway, and waits until old
// messages are gone. Run it with -slow.
func TestShardAddedUnderLoad(t *testing.T) {
	harness.Slow(t)
	agent := newTalker(t)
	f := newShardFleet(t, agent.URL, 3, "1m")
	f.configure(oneShard, "")
	f.start()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	readers := f.read(ctx, &running)
	load := func() (stop func() int) {
		speaking, silence := context.WithCancel(ctx)
		var spoken sync.WaitGroup
		spoken.Go(func() {
			for speaking.Err() == nil {
				agent.say()
				time.Sleep(5 * time.Millisecond) // the pace of the agent
			}
		})
		return func() int {
			silence()
			spoken.Wait()
			said, _ := agent.so()
			return said
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	kill := func(m *member) {
		m.running.Kill()
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		m.start()
		time.Sleep(4 * time.Second)
	}

	stop := load()
	kill(f.nats["north"][0])
	f.configure(twoShards, time.Now().Add(2*time.Second).UTC().Format(time.RFC3339))
	f.reload()
	kill(f.nats["north"][1])
	kill(f.sidecars[0])
	said := stop()
	f.receive(readers, said)
	t.Logf("%d frames of each session were sent while the shard was added", said)

	time.Sleep(100 * time.Second) // the old messages reach max_age, and the move time passes for the gateways
	stop = load()
	kill(f.nats["south"][1])
	kill(f.nats["north"][2])
	kill(f.gateways[1]) // a sidecar would read the agent from the beginning, and publish again what is older than duplicates
	said = stop()
	f.receive(readers, said)
	f.check(readers, 1, 1) // a killed server may have a feed that cannot know whether it missed what reached max_age
	cancel()
	running.Wait()
}
