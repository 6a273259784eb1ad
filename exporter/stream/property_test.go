package stream

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// world is a simple model of the stream: everything published since the last restart.
type world struct {
	*stand
	random  *rand.Rand
	set     replay.Settings
	entries []replay.Entry
	at      []time.Time
	oldest  int // the oldest sequence that is still held
	starts  int
}

// visitor is a client that keeps reconnecting with its last id.
type visitor struct {
	path, token string
	wants       func(replay.Entry) bool

	c     *client // nil while disconnected
	read  string  // everything read on this connection
	after int     // the sequence after which this connection begins
	gap   string  // the gap frame that must come first, or ""
	last  string  // the id to resume with
}

// TestProperty publishes, subscribes, cuts connections at any byte, resumes, evicts, expires and restarts in random
// order. Every connection must get each selected frame after the point where it was cut, or first a gap frame and then
// the remaining frames.
func TestProperty(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{random: rand.New(rand.NewPCG(seed, 2))}
				w.restart(t)
				defer func() { w.stop() }()
				visitors := visitors()
				for range 400 {
					w.step(visitors[w.random.IntN(len(visitors))], visitors)
					for _, v := range visitors {
						w.check(v)
					}
				}
			})
		})
	}
}

func visitors() []*visitor {
	in := func(session string) func(replay.Entry) bool {
		return func(e replay.Entry) bool { return e.Session == session }
	}
	all := func(replay.Entry) bool { return true }
	return []*visitor{
		{path: "/events", wants: all},
		{path: "/events", wants: all},
		{path: "/events/c1", wants: in("c1")},
		{path: "/events", token: "c2", wants: in("c2")},
		{path: "/events/c1", token: "c2", wants: func(replay.Entry) bool { return false }},
		{path: "/events?source=a&kind=text", wants: func(e replay.Entry) bool { return e.Source == "a" && e.Kinds == replay.KindsOf(event.KindText) }},
		{path: "/events/c2?run=r1", token: "c2", wants: func(e replay.Entry) bool { return e.Session == "c2" && e.Run == "r1" }},
	}
}

func (w *world) restart(t *testing.T) {
	if w.stand != nil {
		w.stop()
	}
	w.starts++
	w.stand = newStand(t, false, func(set *Settings) {
		set.Replay = replay.Settings{
			Frames: 1 + w.random.IntN(30), Bytes: 1 << 20, Age: time.Duration(1+w.random.IntN(100)) * time.Second,
			Epoch: fmt.Sprintf("epoch%d", w.starts),
		}
		set.MaxLifetime = 10 * time.Minute
		set.Authorize = func(r *http.Request) (Grant, error) {
			if token := r.Header.Get("Authorization"); token != "" {
				return Grant{Sessions: []string{token}}, nil
			}
			return Grant{}, nil
		}
		w.set = set.Replay
	})
	w.entries, w.at, w.oldest = nil, nil, 1
}

func (w *world) step(v *visitor, visitors []*visitor) {
	switch op := w.random.IntN(100); {
	case op < 40:
		w.publish(1 + w.random.IntN(3))
		w.settle()
	case op < 45:
		w.publish(1 + w.random.IntN(2*w.set.Frames)) // no subscriber reads meanwhile, so some fall behind
		w.settle()
	case op < 75 && v.c == nil:
		w.connect(v)
	case op < 85 && v.c != nil:
		w.cut(v)
	case op < 98:
		time.Sleep(time.Duration(w.random.IntN(60)) * time.Second)
		w.settle()
	case op == 98:
		time.Sleep(10 * time.Minute) // the longest life of a connection
		w.settle()
	default:
		for _, v := range visitors {
			if v.c != nil {
				w.cut(v)
			}
		}
		w.restart(w.T)
	}
}

func (w *world) publish(n int) {
	for range n {
		e := replay.Entry{
			Source: []string{"a", "b"}[w.random.IntN(2)], Run: []string{"r1", "r2"}[w.random.IntN(2)], Session: []string{"c1", "c2", ""}[w.random.IntN(3)],
			Kinds: replay.KindsOf(event.Kind(w.random.IntN(3))), Data: fmt.Append(nil, "frame ", len(w.entries)+1),
		}
		w.hub.store.Publish(e)
		w.entries, w.at = append(w.entries, e), append(w.at, time.Now())
		w.oldest = max(w.oldest, len(w.entries)+1-w.set.Frames)
	}
}

func (w *world) id(sequence int) string { return fmt.Sprintf("%s-%d", w.set.Epoch, sequence) }

// readable returns the oldest sequence that a new connection can get.
func (w *world) readable() int {
	n := w.oldest
	for n <= len(w.entries) && time.Since(w.at[n-1]) >= w.set.Age {
		n++
	}
	return n
}

func (w *world) connect(v *visitor) {
	path, header := v.path, []string(nil)
	switch {
	case v.last == "":
	case w.random.IntN(2) == 0:
		header = append(header, "Last-Event-ID: "+v.last)
	case strings.Contains(path, "?"):
		path += "&lastEventId=" + v.last
	default:
		path += "?last_event_id=" + v.last
	}
	if v.token != "" {
		header = append(header, "Authorization: "+v.token)
	}
	v.read, v.gap, v.after = "", "", len(w.entries)
	if v.last != "" {
		w.expectResume(v)
	}
	w.writers = w.random.IntN(3) > 0
	v.c = w.get(path, header...)
}

func (w *world) expectResume(v *visitor) {
	readable := w.readable()
	var sequence int
	reason := replay.GapRestarted
	if _, err := fmt.Sscanf(v.last, w.set.Epoch+"-%d", &sequence); err == nil {
		reason = ""
		if sequence+1 < readable {
			reason = replay.GapEvicted
		}
	}
	if v.after = sequence; reason == "" {
		return
	}
	v.after = readable - 1
	oldest := "null"
	if readable <= len(w.entries) {
		oldest = `"` + w.id(readable) + `"`
	}
	v.gap = fmt.Sprintf(`%s delegraph.gap {"reason":"%s","requested":"%s","oldest":%s,"head":"%s"}`, w.id(v.after), reason, v.last, oldest, w.id(len(w.entries)))
}

// check compares the frames of a connection with the expected ones.
func (w *world) check(v *visitor) {
	if v.c == nil {
		return
	}
	v.read += v.c.take()
	frames, last := received(w.T, v.read)
	whole := !v.c.ended() || strings.HasSuffix(v.read, ": life_over\n\n")
	w.compare(v, frames, whole)
	if v.c.ended() {
		v.c, v.last = nil, last
	}
}

// cut ends a connection after a random byte.
func (w *world) cut(v *visitor) {
	v.c.leave()
	v.c = nil
	frames, last := received(w.T, v.read[:w.random.IntN(len(v.read)+1)])
	w.compare(v, frames, false)
	if last != "" { // otherwise the client does not know that it was connected
		v.last = last
	}
}

func (w *world) compare(v *visitor, got []string, whole bool) {
	var want []string
	if v.gap != "" {
		want = append(want, v.gap)
	}
	for n := v.after + 1; n <= len(w.entries); n++ {
		if e := w.entries[n-1]; v.wants(e) {
			want = append(want, fmt.Sprintf("%s message %s", w.id(n), e.Data))
		}
	}
	if len(got) > len(want) || whole && len(got) < len(want) || !slices.Equal(got, want[:len(got)]) {
		w.Fatalf("%s %s, whole: %v, got\n%s\nwant\n%s", v.path, v.token, whole, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
