package jetstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// follower reads a session at the gateway, and resumes after each disconnect.
type follower struct {
	*reader
	session string
	frames  []string // without gaps
	gaps    int
}

// poll reads the available frames, and reports whether the reader has every published frame.
func (f *follower) poll(gateway *Shards, said []string) bool {
	frames, batch := f.place.Ring.Frames(f.cursor, f.selection, make([]replay.Frame, 0, 100))
	for _, frame := range frames {
		if frame.Gap != nil {
			f.gaps++
			continue
		}
		data, _ := frame.Data(nil)
		f.frames = append(f.frames, string(data))
	}
	f.cursor = batch.Next
	f.place.OnRead(f.cursor)
	if !slices.Equal(f.frames, said[:min(len(f.frames), len(said))]) {
		f.Fatalf("%s: got %q, published were %q", f.session, f.frames, said)
	}
	if hasMoved(f.place) && len(frames) == 0 {
		id := f.id()
		f.place.Release()
		at, why := gateway.Attach(f.Context(), stream.Request{Query: replay.Query{Sessions: []string{f.session}}, LastEventID: id})
		if why != stream.NotRefused {
			f.Fatalf("session %s: the reader is refused: %s", f.session, why)
		}
		if at.Gap != nil {
			f.gaps++
			if at.Gap.Reason != replay.GapMoved {
				f.Fatalf("session %s: unexpected gap: %s", f.session, at.Gap.Reason)
			}
		}
		f.place, f.cursor = at, at.Cursor
	}
	return len(f.frames) == len(said)
}

// TestGrowth adds a shard in random steps. Sidecars and the gateway have different clocks and get the new list one
// after the other. Meanwhile time passes, sidecars are restarted, and old shards forget sessions. Every reader must get
// each frame once and in order, and at most one gap.
func TestGrowth(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			g := newGrowth(t)
			var readers []*follower
			said := map[string][]string{}
			for i, to := range []string{"c", "c", "c", "a", "b"} {
				session := movingSession(beforeGrowth, afterGrowth, []string{"a", "b", "a", "a", "b"}[i], to, fmt.Sprint("s", i, "-"))
				readers = append(readers, &follower{reader: attach(t, g.gateway, "", session), session: session})
			}
			sidecars := []**Shards{&g.one, &g.other}
			var clock atomic.Int64 // seconds since start
			start := time.Now()
			with := func(l Layout) Layout { // a layout of a process whose clock is wrong by up to half of moveWait
				wrong := time.Duration(random.Int64N(int64(moveWait))) - moveWait/2
				l.now = func() time.Time { return start.Add(time.Duration(clock.Load())*time.Second + wrong) }
				return l
			}
			moveAt := start.Add(100 * time.Second)
			layouts := []Layout{g.layout(g.seen, true, beforeGrowth...), g.layout(g.seen, true, beforeGrowth...)}
			say := func() {
				session := readers[random.IntN(len(readers))].session
				text := fmt.Sprint(session, " ", len(said[session]))
				said[session] = append(said[session], text)
				through := []*Shards{g.one, g.other}
				if random.IntN(2) == 0 {
					slices.Reverse(through)
				}
				g.said++
				for _, s := range through {
					s.Publish(heardFrame(session, fmt.Sprint(g.said), text))
				}
			}
			stored := func() {
				t.Helper()
				until(t, "everything is stored", func() bool { return g.seen.count("published")+g.seen.count("repeated") == 2*g.said })
			}
			forget := func() {
				r := readers[random.IntN(len(readers))]
				at := Owner(beforeGrowth, r.session)
				if err := g.servers[at].storedStream().Purge(t.Context(), jetstream.WithPurgeSubject(sessionSubjects(r.session))); err != nil {
					t.Fatal(err)
				}
			}
			caughtUp := func() {
				t.Helper()
				stored()
				until(t, "readers get everything", func() bool {
					g.gateway.moveReaders(t.Context())
					all := true
					for _, r := range readers {
						all = r.poll(g.gateway, said[r.session]) && all
					}
					return all
				})
			}
			talk := func(steps int) {
				for range steps {
					switch n := random.IntN(10); {
					case n < 7:
						say()
					case n == 7:
						caughtUp()
						forget()
					case n == 8:
						i := random.IntN(2)
						stored()
						_ = (*sidecars[i]).Close(context.Background())
						*sidecars[i] = g.open(layouts[i])
					default:
						caughtUp()
					}
				}
			}
			talk(10)
			for _, i := range random.Perm(3) {
				if i == 2 {
					if err := g.gateway.Configure(with(g.grown(false, moveAt))); err != nil {
						t.Fatal(err)
					}
				} else {
					layouts[i] = with(g.grown(true, moveAt))
					g.configure(*sidecars[i], layouts[i])
				}
				talk(8)
			}
			for _, now := range []int64{84, 89, 95, 100, 105, 111, 116, 130, 170} {
				// Frames of sessions that are about to move are published once the new shard is decided.
				clock.Store(now)
				if now >= 80 && now <= 120 {
					for range 4 {
						say()
					}
					continue
				}
				talk(15)
			}
			caughtUp()
			for i, r := range readers {
				if most := map[bool]int{true: 1}[i < 3]; r.gaps > most {
					t.Errorf("session %s: %d gaps, want at most %d", r.session, r.gaps, most)
				}
				r.place.Release()
			}
		})
	}
}
