package replay

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// model is a simple model of Ring: every frame that was ever published, and the oldest one still held.
type model struct {
	settings Settings
	epoch    string
	given    bool // whether a store assigns the numbers
	clock    time.Time
	frames   []published // frames[i] has sequence i+1
	oldest   uint64
}

type published struct {
	entry  Entry
	number uint64
	wire   string
	at     time.Time
}

// passed reports whether a reader that resumes with a number has read a frame.
func (f *published) passed(number uint64) bool {
	return f.number < number || f.number == number && f.entry.Gap == nil
}

// last returns the last assigned number.
func (m *model) last() uint64 {
	if m.head() == 0 {
		return m.settings.After
	}
	return m.frame(m.head()).number
}

func (m *model) head() uint64              { return uint64(len(m.frames)) }
func (m *model) frame(n uint64) *published { return &m.frames[n-1] }
func (m *model) tooOld(f *published) bool  { return m.clock.Sub(f.at) >= m.settings.Age }
func (m *model) id(number uint64) string   { return fmt.Sprintf("%s-%d", m.epoch, number) }
func cost(f *published) int                { return len(f.wire) + len(f.entry.Source+f.entry.Run+f.entry.Session) }
func (m *model) held() (frames, bytes int) {
	for n := m.oldest; n <= m.head(); n++ {
		frames, bytes = frames+1, bytes+cost(m.frame(n))
	}
	return frames, bytes
}

func (m *model) evict() {
	for m.oldest <= m.head() {
		frames, size := m.held()
		if frames <= m.settings.Frames && size <= m.settings.Bytes && !m.tooOld(m.frame(m.oldest)) {
			return
		}
		m.oldest++
	}
}

// readable returns the oldest sequence from which a reader can still resume.
func (m *model) readable() uint64 {
	n := m.oldest
	for n <= m.head() && m.tooOld(m.frame(n)) {
		n++
	}
	return n
}

func (m *model) publish(e Entry) Drop {
	number := e.Number
	if number == 0 && e.Gap == nil {
		number = m.last() + 1
	}
	wire := fmt.Sprintf("id: %s\n", m.id(number))
	if e.Name != "" {
		wire += "event: " + e.Name + "\n"
	}
	f := published{entry: e, number: number, wire: wire + "data: " + string(e.Data) + "\n\n", at: m.clock}
	if cost(&f) > m.settings.Bytes {
		return TooLarge
	}
	m.frames = append(m.frames, f)
	m.evict()
	return NotDropped
}

func (q Query) fits(e Entry) bool {
	in := func(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
	if e.Gap != nil {
		return in(q.Sessions, e.Session)
	}
	return in(q.Sources, e.Source) && in(q.Runs, e.Run) && in(q.Sessions, e.Session) && (q.Kinds == 0 || q.Kinds&e.Kinds != 0)
}

// lost reports whether a selected frame after a sequence was evicted.
func (m *model) lost(after uint64, q Query) bool {
	for n := after + 1; n <= m.head(); n++ {
		f := m.frame(n)
		switch {
		case q.Sessions != nil && len(q.Sessions) == 0:
			return false
		case n < m.oldest && (len(q.Sessions) != 1 || q.Sessions[0] == f.entry.Session):
			return true // a reader of one session knows which frames were its own, others do not
		case n >= m.oldest && m.tooOld(f) && q.fits(f.entry):
			return true
		}
	}
	return false
}

// reader reads from both the Ring and the model.
type reader struct {
	query     Query
	selection *Selection
	cursor    Cursor
	wait      <-chan struct{}
}

// check reads once and compares the result with the model.
func (r *reader) check(t *testing.T, ring *Ring, m *model, scratch []byte) (lost bool) {
	t.Helper()
	after := r.cursor.sequence
	wantLost := m.lost(after, r.query)
	b := ring.Read(r.cursor, r.selection, scratch)
	if b.Lost != wantLost {
		t.Fatalf("after %d of %d..%d for %+v: Lost is %v, want %v", after, m.oldest, m.head(), r.query, b.Lost, wantLost)
	}
	if b.Lost {
		return true
	}
	var want strings.Builder
	n, first := b.Frames, 0
	for s := after + 1; s <= b.Next.sequence; s++ {
		if f := m.frame(s); r.query.fits(f.entry) {
			if want.WriteString(f.wire); n == b.Frames {
				first = len(f.wire)
			}
			n--
		}
	}
	if n != 0 || want.String() != string(b.Bytes) {
		t.Fatalf("from %d to %d for %+v: read %d frames\n%q\nwant\n%q", after, b.Next.sequence, r.query, b.Frames, b.Bytes, want.String())
	}
	limit := MaxBatch
	if r.selection != nil {
		limit = cap(scratch)
	}
	if len(b.Bytes) > max(limit, first) {
		t.Fatalf("a batch of %d bytes, the limit is %d", len(b.Bytes), limit)
	}
	if (b.Wait == nil) != (b.Frames > 0) || b.Frames == 0 && b.Next.sequence != m.head() {
		t.Fatalf("%d frames, Wait is set: %v, next %d, head %d", b.Frames, b.Wait != nil, b.Next.sequence, m.head())
	}
	r.cursor, r.wait = b.Next, b.Wait
	return false
}

func (r *reader) woken() bool {
	select {
	case <-r.wait:
		return true
	default:
		return false
	}
}

// resume acts like a subscriber that reconnects: it resumes after its last id and reads at once.
func (r *reader) resume(t *testing.T, ring *Ring, m *model, id string, asked uint64, want GapReason) {
	t.Helper()
	readable := m.readable()
	place := readable - 1
	for place < m.head() && m.frame(place+1).passed(asked) {
		place++
	}
	switch {
	case want != "":
	case asked > m.last():
		want = GapFuture
	case asked < m.settings.After || readable > 1 && !m.frame(readable-1).passed(asked):
		want = GapEvicted
	}
	cursor, gap := ring.Resume(id)
	if want != "" {
		place = readable - 1
		wantGap := Gap{Reason: want, Requested: id, Head: m.id(m.last())}
		if readable <= m.head() {
			wantGap.Oldest = m.id(m.frame(readable).number)
		}
		if gap == nil || *gap != wantGap {
			t.Fatalf("resume after %q: gap %+v, want %+v", id, gap, wantGap)
		}
	} else if gap != nil {
		t.Fatalf("resume after %q: gap %+v, want none", id, gap)
	}
	if cursor.sequence != place {
		t.Fatalf("resume after %q: at %d, want %d", id, cursor.sequence, place)
	}
	if r.cursor = cursor; r.check(t, ring, m, make([]byte, 0, 500)) {
		t.Fatalf("resume after %q: the frames that it found are lost", id)
	}
}

// TestModel publishes, reads, resumes, evicts, expires and restarts in random order, and compares every read with the model.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { testModel(t, rand.New(rand.NewPCG(seed, 1)), 1500) })
	}
}

func testModel(t *testing.T, random *rand.Rand, steps int) {
	sessions := differentShards(4)
	m := &model{clock: time.Now()}
	var ring *Ring
	epochs := 0
	start := func() {
		m.settings = Settings{
			Frames: 1 + random.IntN(40), Bytes: 60 + random.IntN(20_000), Age: time.Duration(1+random.IntN(60)) * time.Second,
			Now: func() time.Time { return m.clock }, Epoch: fmt.Sprintf("ep.%d-x", epochs),
		}
		if m.given = random.IntN(2) == 0; m.given {
			m.settings.After = uint64(random.IntN(5))
		}
		if random.IntN(3) == 0 {
			m.settings.Bytes = 200_000 // several batches
			m.settings.Frames = 2000
		}
		var err error
		if ring, err = New(m.settings); err != nil {
			t.Fatal(err)
		}
		m.epoch, m.frames, m.oldest = m.settings.Epoch, nil, 1
		epochs++
	}
	start()
	queries := []Query{
		{}, {}, {Sessions: sessions[:1]}, {Sessions: sessions[1:2]}, {Sessions: sessions[:2]}, {Sessions: []string{}},
		{Sources: []string{"a", "b"}}, {Runs: []string{"r1"}}, {Kinds: KindsOf(event.KindText, event.KindError)},
		{Sources: []string{"a"}, Sessions: sessions[:1], Kinds: KindsOf(event.KindFinal)}, {Runs: []string{"none"}},
	}
	var readers []*reader
	for _, q := range queries {
		readers = append(readers, &reader{query: q, selection: NewSelection(q), cursor: ring.Head()})
	}
	for range steps {
		r := readers[random.IntN(len(readers))]
		switch op := random.IntN(100); {
		case op < 50:
			e := randomEntry(random, sessions)
			if m.given {
				m.number(random, &e)
			}
			if got, want := ring.Publish(e), m.publish(e); got != want {
				t.Fatalf("publish %d bytes: %q, want %q", len(e.Data), got, want)
			} else if got == NotDropped {
				checkWoken(t, readers, e)
			}
		case op < 85:
			if r.check(t, ring, m, make([]byte, 0, random.IntN(3000))) {
				r.resume(t, ring, m, ring.ID(r.cursor), r.cursor.number, "")
			}
		case op < 90:
			m.clock = m.clock.Add(time.Duration(random.IntN(20_000)) * time.Millisecond)
		case op < 97:
			n := uint64(random.IntN(int(m.last()) + 3))
			r.resume(t, ring, m, m.id(n), n, "")
		case op < 98:
			r.resume(t, ring, m, "42", 0, GapUnknown)
		case op < 99:
			m.evict()
			frames, size := m.held()
			if got := ring.Stats(); got != (Stats{Frames: frames, Bytes: size}) {
				t.Fatalf("the ring holds %+v, want %d frames, %d bytes", got, frames, size)
			}
		default:
			old := ring
			start()
			for _, r := range readers {
				r.resume(t, ring, m, old.ID(r.cursor), 0, GapRestarted)
			}
		}
	}
}

// number gives an entry a number as a store might, and turns some entries into gaps.
func (m *model) number(random *rand.Rand, e *Entry) {
	e.Number = m.last() + 1 + uint64(random.IntN(3))
	gapBefore := m.head() > 0 && m.frame(m.head()).entry.Gap != nil
	if random.IntN(8) == 0 && !gapBefore {
		e.Gap, e.Number = &Gap{Reason: GapLost}, e.Number-1
	}
}

func randomEntry(random *rand.Rand, sessions []string) Entry {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	size := random.IntN(300)
	if random.IntN(40) == 0 {
		size = random.IntN(30_000)
	}
	return Entry{
		Source: pick("a", "b", "c"), Run: pick("r1", "r2", "", "r3"), Session: pick(append(sessions, "")...),
		Kinds: KindsOf(event.Kind(random.IntN(len(event.Kinds()))), event.Kind(random.IntN(len(event.Kinds())))),
		Name:  pick("", "content-delta"), Data: bytes.Repeat([]byte("x"), size),
	}
}

// checkWoken checks that readers waiting for the entry are woken, and that readers of a single other session are not.
func checkWoken(t *testing.T, readers []*reader, e Entry) {
	t.Helper()
	for _, r := range readers {
		if r.wait == nil {
			continue
		}
		woken := r.woken()
		if r.query.fits(e) && !woken {
			t.Fatalf("%+v was not woken for %+v", r.query, e)
		}
		if woken && len(r.query.Sessions) == 1 && r.query.Sessions[0] != e.Session {
			t.Fatalf("%+v was woken for session %q", r.query, e.Session)
		}
		if woken {
			r.wait = nil
		}
	}
}

func differentShards(n int) []string {
	var names []string
	used := map[uint64]bool{bucketOf(""): true}
	for i := 0; len(names) < n; i++ {
		name := fmt.Sprint("session", i)
		if !used[bucketOf(name)] {
			used[bucketOf(name)] = true
			names = append(names, name)
		}
	}
	return names
}
