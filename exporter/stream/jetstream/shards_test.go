package jetstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// clusters are NATS servers that are shards, by name.
type clusters struct {
	testing.TB
	servers map[string]*server
}

func newClusters(t testing.TB, names ...string) *clusters {
	t.Helper()
	c := &clusters{t, map[string]*server{}}
	for _, name := range names {
		c.servers[name] = newServer(t, "")
	}
	return c
}

// layout returns a layout of the named shards.
func (c *clusters) layout(observer Observer, publish bool, names ...string) Layout {
	var l Layout
	for _, name := range names {
		set := c.servers[name].settings(observer)
		set.Publish = publish
		l.Shards = append(l.Shards, Shard{Name: name, Settings: set, Gateway: "https://" + name + ".example.org"})
	}
	return l
}

// open opens a store and returns once it has reached every stream that it uses.
func (c *clusters) open(l Layout) *Shards {
	c.Helper()
	s, err := OpenShards(l)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = s.Close(c.Context()) })
	c.reached(s)
	return s
}

func (c *clusters) configure(s *Shards, l Layout) {
	c.Helper()
	if err := s.Configure(l); err != nil {
		c.Fatal(err)
	}
	c.reached(s)
}

func (c *clusters) reached(s *Shards) {
	c.Helper()
	until(c, "every stream is reached", func() bool {
		for _, store := range s.layout.Load().stores {
			if store.Ready() != nil {
				return false
			}
		}
		return true
	})
}

// stored returns the data of a session's messages in a shard.
func (c *clusters) stored(shard, session string) (found []string) {
	c.Helper()
	kept := c.servers[shard].storedStream()
	info, err := kept.Info(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	for n := max(info.State.FirstSeq, 1); n <= info.State.LastSeq; n++ {
		if m, err := kept.GetMsg(c.Context(), n); err == nil && m.Subject == subjectOf("support", session) {
			found = append(found, string(m.Data))
		}
	}
	return found
}

// movingSession returns a session that belongs to different shards in two lists.
func movingSession(before, after []string, from, to, prefix string) string {
	for i := 0; ; i++ {
		if s := fmt.Sprint(prefix, i); Owner(before, s) == from && Owner(after, s) == to {
			return s
		}
	}
}

// TestShards publishes to two shards and reads from all of them, and from one.
func TestShards(t *testing.T) {
	c := newClusters(t, "a", "b")
	both := []string{"a", "b"}
	inA, inB := movingSession(both, both, "a", "a", "s"), movingSession(both, both, "b", "b", "s")
	seen := &tally{}
	sidecar := c.open(c.layout(seen, true, both...))
	all := c.open(c.layout(&tally{}, false, "b", "a"))
	part := c.layout(&tally{}, false, both...)
	part.Serve = []string{"b"}
	onlyB := c.open(part)

	readsA, readsB, ofB := attach(t, all, "", inA), attach(t, all, "", inB), attach(t, onlyB, "", inB)
	for i := range 3 {
		sidecar.Publish(heardFrame(inA, fmt.Sprint(i), fmt.Sprint("a", i)))
		sidecar.Publish(heardFrame(inB, fmt.Sprint(i), fmt.Sprint("b", i)))
	}
	readsA.wants("a0", "a1", "a2")
	readsB.wants("b0", "b1", "b2")
	ofB.wants("b0", "b1", "b2")
	attach(t, all, ofB.id(), inB).wants()
	if inOther := append(c.stored("a", inB), c.stored("b", inA)...); len(inOther) > 0 {
		t.Errorf("the wrong shard has the frames %q", inOther)
	}
	for name, r := range map[string]stream.Request{
		"other_shard https://a.example.org": {Query: replay.Query{Sessions: []string{inA}}},
		"shard_required a b":                {},
		"unknown_shard a b":                 {Shard: "c"},
	} {
		at, why := onlyB.Attach(t.Context(), r)
		if got := strings.TrimSpace(fmt.Sprintf("%s %s%s", why, at.Location, strings.Join(at.Shards, " "))); got != name {
			t.Errorf("%+v: %q, want %q", r, got, name)
		}
	}
	if at, why := onlyB.Attach(t.Context(), stream.Request{Shard: "a"}); why != stream.OtherShard || at.Location == "" {
		t.Errorf("all of a: %s %+v", why, at)
	}
	at, why := onlyB.Attach(t.Context(), stream.Request{Shard: "b", LastEventID: string(replay.AppendID(nil, c.epoch(onlyB, "b"), 0))})
	if why != stream.NotRefused {
		t.Fatal(why)
	}
	(&reader{TB: t, place: at, cursor: at.Cursor}).wants("b0", "b1", "b2")
	if at, why := onlyB.Attach(t.Context(), stream.Request{Query: replay.Query{Sessions: []string{}}}); why != stream.NotRefused {
		t.Errorf("nothing: %s", why)
	} else {
		at.Release()
	}
	if at, why := all.Attach(t.Context(), stream.Request{Shard: "a"}); why != stream.NotRefused {
		t.Errorf("all of a: %s", why)
	} else { // readers stay until another process serves a
		noLonger := c.layout(&tally{}, false, both...)
		noLonger.Serve = []string{"b"}
		all.moveReaders(t.Context())
		if got := hasMoved(readsA.place) || hasMoved(at); got {
			t.Error("readers were moved without need")
		}
		c.configure(all, noLonger)
		all.moveReaders(t.Context())
		if !hasMoved(readsA.place) || !hasMoved(at) || hasMoved(readsB.place) {
			t.Error("the moved readers are not exactly those of shard a")
		}
		at.Release()
	}
	if len(onlyB.layout.Load().stores) != 1 {
		t.Error("a gateway connects to a shard that it does not serve")
	}
	for _, l := range []Layout{c.layout(seen, true, "a"), c.layout(seen, true, "b"), {Shards: []Shard{{Name: "a", Settings: c.servers["b"].settings(seen)}, {Name: "b"}}}} {
		if err := sidecar.Configure(l); err == nil || !strings.Contains(err.Error(), "restart delegraph") {
			t.Errorf("a reload removes or changes a shard: %v", err)
		}
	}
}

func hasMoved(at stream.Attachment) bool {
	select {
	case <-at.Moved:
		return true
	default:
		return false
	}
}

func (c *clusters) epoch(s *Shards, shard string) string {
	return s.layout.Load().stores[shard].connection.state.Load().epoch
}

// growth is a setup of two sidecars that read the same agent, and a gateway. The shard c is added to the shards a and b.
type growth struct {
	*clusters
	one, other, gateway *Shards
	seen                *tally
	said                int // frames
}

var beforeGrowth, afterGrowth = []string{"a", "b"}, []string{"a", "b", "c"}

func newGrowth(t *testing.T) *growth {
	g := &growth{clusters: newClusters(t, afterGrowth...), seen: &tally{}}
	g.one, g.other = g.open(g.layout(g.seen, true, beforeGrowth...)), g.open(g.layout(g.seen, true, beforeGrowth...))
	g.gateway = g.open(g.layout(&tally{}, false, beforeGrowth...))
	return g
}

// grown returns the new layout.
func (g *growth) grown(publish bool, moveAt time.Time) Layout {
	l := g.layout(g.seen, publish, afterGrowth...)
	l.Previous, l.MoveAt = beforeGrowth, moveAt
	return l
}

// grow gives the new layout to all processes.
func (g *growth) grow(moveAt time.Time) {
	g.Helper()
	if err := g.gateway.Configure(g.grown(false, moveAt)); err != nil { // the new stream need not exist yet
		g.Fatal(err)
	}
	for _, s := range []*Shards{g.one, g.other} {
		g.configure(s, g.grown(true, moveAt))
	}
	g.reached(g.gateway)
}

// say publishes a frame through sidecars, and returns once NATS has it.
func (g *growth) say(session, text string, through ...*Shards) {
	g.Helper()
	before := g.seen.count("published") + g.seen.count("repeated")
	g.said++
	for _, s := range through {
		s.Publish(heardFrame(session, fmt.Sprint(g.said), text))
	}
	until(g, text+" is stored", func() bool {
		return g.seen.count("published")+g.seen.count("repeated") == before+len(through)
	})
}

// leave waits until the gateway disconnects a reader whose session moves, and returns a reader that resumes.
func (g *growth) leave(r *reader, session string) *reader {
	g.Helper()
	until(g, "the reader must leave", func() bool {
		g.gateway.moveReaders(g.Context())
		return hasMoved(r.place)
	})
	r.place.Release()
	return attach(g, g.gateway, r.id(), session)
}

// TestShardAdded adds a shard while readers are connected.
func TestShardAdded(t *testing.T) {
	g := newGrowth(t)
	active := movingSession(beforeGrowth, afterGrowth, "a", "c", "active")
	waits := movingSession(beforeGrowth, afterGrowth, "b", "c", "waits")
	fresh := movingSession(beforeGrowth, afterGrowth, "a", "c", "fresh")
	stays := movingSession(beforeGrowth, afterGrowth, "a", "a", "stays")
	ofActive, ofWaits, ofStays := attach(t, g.gateway, "", active), attach(t, g.gateway, "", waits), attach(t, g.gateway, "", stays)
	g.say(active, "1", g.one, g.other)
	g.say(stays, "1", g.one)

	later := time.Now().Add(time.Hour)
	g.grow(later)
	g.say(active, "2", g.one, g.other)
	g.say(fresh, "before the move", g.one)
	g.gateway.moveReaders(t.Context())
	ofFresh := attach(t, g.gateway, "", fresh)

	past := time.Now().Add(-time.Hour)
	g.configure(g.one, g.grown(true, past))
	g.say(active, "3", g.one, g.other) // the layout of one already moves sessions, the layout of other does not yet
	g.grow(past)
	g.say(active, "4", g.other, g.one)
	g.say(fresh, "after the move", g.one)
	g.say(stays, "2", g.one)
	late := attach(t, g.gateway, "", active)
	g.say(active, "4b", g.open(g.grown(true, past))) // a sidecar that has just started
	g.gateway.moveReaders(t.Context())
	ofActive.wants("1", "2", "3", "4", "4b")
	late.wants("4b")
	ofFresh.wants("after the move")
	ofStays.wants("1", "2")
	if got := g.stored("a", active); !slices.Equal(got, []string{"1", "2", "3", "4", "4b"}) {
		t.Errorf("an active session moved: %q", got)
	}

	// A session without messages is in the new shard, also for a reader that waits for it.
	g.say(waits, "1", g.other, g.one)
	if len(g.stored("b", waits)) > 0 {
		t.Error("a new session is in its old shard")
	}
	g.leave(ofWaits, waits).wants("<moved>", "1")

	// A session moves once its old shard has forgotten it.
	if err := g.servers["a"].storedStream().Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.say(active, "5", g.one, g.other)
	g.say(active, "6", g.other)
	back := g.leave(ofActive, active)
	back.wants("<moved>", "5", "6")
	g.say(active, "7", g.one, g.other)
	back.wants("<moved>", "5", "6", "7")
	attach(t, g.gateway, back.id(), active).wants()
	if got := g.stored("a", active); len(got) > 0 {
		t.Errorf("the old shard has the frames %q", got)
	}
	if g.seen.count("repeated") != 7 {
		t.Errorf("the counted events are %v", g.seen.events)
	}
	if hasMoved(ofStays.place) {
		t.Error("a session that stays was moved")
	}
}

// TestFirstShardAdded checks that a reader of everything must choose a shard once there are two.
func TestFirstShardAdded(t *testing.T) {
	c := newClusters(t, "a", "b")
	gateway := c.open(c.layout(&tally{}, true, "a"))
	all := attach(t, gateway, "")
	c.configure(gateway, c.layout(&tally{}, true, "a", "b"))
	gateway.moveReaders(t.Context())
	if !hasMoved(all.place) {
		t.Error("a reader of everything stays connected to one of two shards")
	}
	if _, why := gateway.Attach(t.Context(), stream.Request{LastEventID: all.id()}); why != stream.ShardRequired {
		t.Errorf("a reader of everything is answered with %q", why)
	}
	all.place.Release()
	if n := len(gateway.readers.open); n > 0 {
		t.Errorf("%d entries are left", n)
	}
}

// TestShardAway checks that an unreachable shard takes no room from the others, and loses no frame that fits into its
// part of the queue.
func TestShardAway(t *testing.T) {
	c := newClusters(t, "a", "b")
	both := []string{"a", "b"}
	inA, inB := movingSession(both, both, "a", "a", "s"), movingSession(both, both, "b", "b", "s")
	seen := &tally{}
	small := c.layout(seen, true, both...)
	for i := range small.Shards {
		small.Shards[i].Settings.QueueBytes = 8 << 10
	}
	sidecar, gateway := c.open(small), c.open(c.layout(&tally{}, false, both...))
	readsA, readsB := attach(t, gateway, "", inA), attach(t, gateway, "", inB)
	c.servers["b"].kill()
	until(t, "the connection is lost", func() bool { return !sidecar.Connected() && !gateway.Connected() })
	sidecar.Publish(heardFrame(inB, "0", "waits"))
	for i := range 100 {
		sidecar.Publish(heardFrame(inB, fmt.Sprint("b", i), strings.Repeat("x", 1000)))
	}
	for i := range 3 {
		sidecar.Publish(heardFrame(inA, fmt.Sprint("a", i), fmt.Sprint("a", i)))
	}
	readsA.wants("a0", "a1", "a2")
	if n := seen.count("dropped queue_full"); n < 90 || n >= 100 {
		t.Errorf("%d frames were dropped; the queue has room for some of them", n)
	}
	c.servers["b"].start()
	if got := readsB.read(1); got[0] != "waits" {
		t.Errorf("the reader of shard b got %.40q", got)
	}
}

// TestNewShardAway checks that sessions that did not move need only their old shard.
func TestNewShardAway(t *testing.T) {
	g := newGrowth(t)
	session := movingSession(beforeGrowth, afterGrowth, "a", "c", "s")
	g.say(session, "1", g.one)
	past := time.Now().Add(-time.Hour)
	g.grow(past)
	restarted := g.open(g.grown(true, past))
	g.servers["c"].kill()
	until(t, "the connection is lost", func() bool { return !restarted.Connected() && !g.gateway.Connected() })
	late := attach(t, g.gateway, "", session)
	g.say(session, "2", restarted)
	late.wants("2")
}

// TestOldShardAway checks that frames of moving sessions wait for an unreachable shard, and that readers are refused.
func TestOldShardAway(t *testing.T) {
	g := newGrowth(t)
	session := movingSession(beforeGrowth, afterGrowth, "a", "c", "s")
	g.grow(time.Now().Add(-time.Hour))
	g.servers["a"].kill()
	until(t, "the connection is lost", func() bool { return !g.one.Connected() && !g.gateway.Connected() })
	g.one.Publish(heardFrame(session, "1", "waits"))
	if _, why := g.gateway.Attach(t.Context(), stream.Request{Query: replay.Query{Sessions: []string{session}}}); why != stream.Unavailable {
		t.Errorf("a reader is answered with %q", why)
	}
	until(t, "it is retried", func() bool { return g.seen.count("retried") > 1 })
	if n := g.seen.count("published"); n > 0 {
		t.Errorf("%d were published", n)
	}
	g.servers["a"].start()
	until(t, "the frame is published", func() bool { return g.seen.count("published") == 1 })
	if got := g.stored("c", session); !slices.Equal(got, []string{"waits"}) {
		t.Errorf("the new shard has the frames %q", got)
	}
}
