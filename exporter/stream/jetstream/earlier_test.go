package jetstream

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// converted returns a reader that also needs the frames before its position.
func converted(t *testing.T, s *Store, lastEventID string, q replay.Query) *reader {
	t.Helper()
	at, refused := s.Attach(t.Context(), stream.Request{Query: q, LastEventID: lastEventID, Earlier: true})
	if refused != stream.NotRefused {
		t.Fatal(refused)
	}
	t.Cleanup(at.Release)
	r := &reader{TB: t, place: at, selection: replay.NewSelection(q), cursor: at.Cursor}
	if at.Gap != nil {
		r.got = append(r.got, "<"+string(at.Gap.Reason)+">")
	}
	return r
}

// earlier returns the data of the frames that the ring holds before the reader's first frame.
func (r *reader) earlier() (all []string) {
	frames, _ := r.place.Ring.Frames(r.place.Cursor, r.selection, make([]replay.Frame, 0, 100))
	i := slices.IndexFunc(frames, func(f replay.Frame) bool { return f.Stream != nil })
	r.place.Ring.EarlierFrames(frames[i].Stream, frames[i].Sequence, r.selection, 100, func(f replay.Frame) {
		data, _ := f.Data(nil)
		all = append(all, string(data))
	})
	return all
}

// TestEarlier resumes and joins at a gateway that had no reader. The ring must hold the frames before the position, and
// readers must get none of them.
func TestEarlier(t *testing.T) {
	session := replay.Query{Sessions: []string{"c1"}}
	for name, test := range map[string]struct {
		after         int // 0: no id
		query         replay.Query
		earlier, then []string
	}{
		"a session":             {after: 2, query: session, earlier: []string{"c1-0", "c1-1"}, then: []string{"c1-2", "c1-3", "c1-4"}},
		"after another's":       {after: 4, query: session, earlier: []string{"c1-0", "c1-1", "c1-2"}, then: []string{"c1-3", "c1-4"}},
		"all sessions":          {after: 5, query: replay.Query{}, earlier: []string{"c1-2", "c1-3"}, then: []string{"c1-4"}}, // as many frames as the ring holds
		"a source of a session": {after: 3, query: replay.Query{Sessions: []string{"c1"}, Sources: []string{"support"}}, earlier: []string{"c1-0", "c1-1", "c1-2"}, then: []string{"c1-3", "c1-4"}},
		"the newest frame":      {after: 6, query: session, earlier: []string{"c1-0", "c1-1", "c1-2", "c1-3", "c1-4"}},
		"without an id":         {query: session, earlier: []string{"c1-0", "c1-1", "c1-2", "c1-3", "c1-4"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, "")
			sidecar, _ := s.open(nil)
			publishAll(t, sidecar, "c1", 0, 3)
			publishAll(t, sidecar, "c2", 0, 1)
			publishAll(t, sidecar, "c1", 3, 5)
			epoch := sidecar.connection.state.Load().epoch
			gateway, seen := s.open(func(set *Settings) {
				if set.Publish = false; test.query.Sessions == nil {
					set.Ring.Frames = 4
				}
			})
			id := ""
			if test.after > 0 {
				id = string(replay.AppendID(nil, epoch, uint64(test.after)))
			}
			r := converted(t, gateway, id, test.query)
			if native := attach(t, gateway, id, test.query.Sessions...); native.place.Ring != r.place.Ring && test.query.Sources == nil {
				t.Error("a native reader has another feed")
			}
			if test.then == nil { // only new frames
				until(t, "the feed has read everything", func() bool { return gateway.Stats().Frames == 5 })
				publishAll(t, sidecar, "c1", 5, 6)
				test.then = []string{"c1-5"}
			}
			r.wants(test.then...)
			if got := r.earlier(); !slices.Equal(got, test.earlier) {
				t.Errorf("the earlier frames are %q, want %q", got, test.earlier)
			}
			if seen.count("gap evicted")+seen.count("gap lost") > 0 {
				t.Errorf("there are gaps: %v", seen.events)
			}
		})
	}
}

// TestEarlierNeedsAFeed opens feeds for native readers first. A reader that needs earlier frames gets a feed that has
// them, and later readers share it.
func TestEarlierNeedsAFeed(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	publishAll(t, store, "c1", 0, 3)
	native := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 3, 4)
	native.wants("c1-3")
	session := replay.Query{Sessions: []string{"c1"}}
	r := converted(t, store, native.id(), session)
	until(t, "the feed has read everything", func() bool { return store.Stats().Frames == 1+4 })
	another := converted(t, store, "", session)
	publishAll(t, store, "c1", 4, 5)
	for _, r := range []*reader{r, another} {
		r.wants("c1-4")
		if got := r.earlier(); !slices.Equal(got, []string{"c1-0", "c1-1", "c1-2", "c1-3"}) {
			t.Errorf("the earlier frames are %q", got)
		}
	}
	if n := store.OpenFeeds(); n != 2 {
		t.Errorf("%d feeds are open, want 2", n)
	}
}

// TestEarlierSkipped reads earlier frames for too long. Readers get the frames after their position, and the ring keeps
// none before it.
func TestEarlierSkipped(t *testing.T) {
	s := newServer(t, "")
	store, seen := s.open(func(set *Settings) { set.maxEarlierTime = 1 })
	publishAll(t, store, "c1", 0, 5)
	r := converted(t, store, string(replay.AppendID(nil, store.connection.state.Load().epoch, 3)), replay.Query{Sessions: []string{"c1"}})
	r.wants("c1-3", "c1-4")
	if got := r.earlier(); len(got) > 0 {
		t.Errorf("the earlier frames are %q", got)
	}
	if seen.count("gap evicted")+seen.count("feed retried") > 0 {
		t.Errorf("the counted events are %v", seen.events)
	}
}

// TestEarlierGap removes messages before and after a reader's position. The reader gets a gap only for those after it.
func TestEarlierGap(t *testing.T) {
	s := newServer(t, "")
	store, _ := s.open(nil)
	publishAll(t, store, "c1", 0, 8)
	kept := s.storedStream()
	remove := func(numbers ...uint64) {
		for _, n := range numbers {
			if err := kept.DeleteMsg(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
	}
	epoch := store.connection.state.Load().epoch
	remove(2, 3)
	for _, q := range []replay.Query{{Sessions: []string{"c1"}}, {}} {
		r := converted(t, store, string(replay.AppendID(nil, epoch, 3)), q)
		r.wants("c1-3", "c1-4", "c1-5", "c1-6", "c1-7")
		if got := r.earlier(); !slices.Equal(got, []string{"c1-0"}) {
			t.Errorf("the earlier frames are %q", got)
		}
	}
	remove(4, 6)
	gateway, _ := s.open(nil)
	for _, q := range []replay.Query{{Sessions: []string{"c1"}}, {}} {
		converted(t, gateway, string(replay.AppendID(nil, epoch, 3)), q).wants("<evicted>", "c1-4", "<evicted>", "c1-6", "c1-7")
	}
}
