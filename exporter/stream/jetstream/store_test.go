package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// reader reads like a subscriber.
type reader struct {
	testing.TB
	place     stream.Attachment
	selection *replay.Selection
	cursor    replay.Cursor
	most      int      // frames read at once; 0: 100
	got       []string // the data of frames, the reasons of gaps
}

func attach(t testing.TB, s stream.Store, lastEventID string, sessions ...string) *reader {
	t.Helper()
	q := replay.Query{Sessions: sessions}
	place, refused := s.Attach(context.Background(), stream.Request{Query: q, LastEventID: lastEventID})
	if refused != stream.NotRefused {
		t.Fatalf("refused: %s", refused)
	}
	r := &reader{TB: t, place: place, selection: replay.NewSelection(q), cursor: place.Cursor}
	if place.Gap != nil {
		r.got = append(r.got, "<"+string(place.Gap.Reason)+">")
	}
	return r
}

// id returns the reader's last id.
func (r *reader) id() string { return r.place.Ring.ID(r.cursor) }

// read returns after a number of frames and gaps.
func (r *reader) read(n int) []string {
	r.Helper()
	timeout := time.After(patient)
	for len(r.got) < n {
		frames, batch := r.place.Ring.Frames(r.cursor, r.selection, make([]replay.Frame, 0, cmp.Or(r.most, 100)))
		if batch.Lost {
			r.Fatalf("the reader fell behind after %q", r.got)
		}
		for _, f := range frames {
			data, _ := f.Data(nil)
			switch {
			case f.Gap != nil:
				data = []byte("<" + string(f.Gap.Reason) + ">")
			case f.StreamEnded:
				data = []byte("<over>")
			}
			r.got = append(r.got, string(data))
		}
		r.cursor = batch.Next
		r.place.OnRead(r.cursor)
		if batch.Wait == nil {
			continue
		}
		select {
		case <-batch.Wait:
		case <-r.place.Done:
			r.got = append(r.got, "<ended>")
		case <-timeout:
			r.Fatalf("after 30 s the reader has %q, want %d frames", r.got, n)
		}
	}
	return r.got
}

func (r *reader) wants(want ...string) {
	r.Helper()
	if got := r.read(len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
		r.Fatalf("got %q, want %q", got, want)
	}
}

var tailed = &replay.Stream{Dialect: "looopy"}

// heardFrame returns a frame of a shared stream, with the agent's own id.
func heardFrame(session, id, text string) replay.Entry {
	return replay.Entry{
		Source: "support", Session: session, Run: "r", Kinds: replay.KindsOf(event.KindText), Name: "content-delta",
		Data: []byte(text), Stream: tailed, EventID: []byte(id),
	}
}

// TestStore publishes and reads through two stores, like two sidecars and two gateways.
func TestStore(t *testing.T) {
	s := newServer(t, "")
	one, seen := s.open(nil)
	other, seenByOther := s.open(nil)
	live := attach(t, other, "", "c1")
	all := attach(t, one, "")
	for i := range 5 {
		one.Publish(heardFrame("c1", fmt.Sprint(i), fmt.Sprint("a", i)))
	}
	live.wants("a0", "a1", "a2", "a3", "a4")
	for i := range 7 {
		other.Publish(heardFrame("c1", fmt.Sprint(i), fmt.Sprint("a", i)))
	}
	live.wants("a0", "a1", "a2", "a3", "a4", "a5", "a6")
	all.wants("a0", "a1", "a2", "a3", "a4", "a5", "a6")
	until(t, "every frame is accounted for", func() bool {
		return seen.count("published")+seen.count("repeated") == 5 && seenByOther.count("published")+seenByOther.count("repeated") == 7
	})
	if seen.count("published") != 5 || seenByOther.count("repeated") != 5 {
		t.Errorf("one %v, the other %v", seen.events, seenByOther.events)
	}
	one.Publish(heardFrame("c2", "7", "b"))
	all.wants("a0", "a1", "a2", "a3", "a4", "a5", "a6", "b")
	back := attach(t, one, live.id(), "c1")
	one.Publish(heardFrame("c1", "8", "a8"))
	live.wants("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a8")
	back.wants("a8")
}

// TestStreams checks that readers can tell agents' streams apart, and that a stream read by several sidecars is one stream.
func TestStreams(t *testing.T) {
	s := newServer(t, "")
	one, _ := s.open(nil)
	other, _ := s.open(nil)
	all := attach(t, other, "")
	mine, theirs := &replay.Stream{Dialect: "looopy"}, &replay.Stream{Dialect: "looopy"}
	answer, next := &replay.Stream{Dialect: "adk", SingleRun: true, Nonce: "x"}, &replay.Stream{Dialect: "adk", SingleRun: true, Nonce: "y"}
	publish := func(by *Store, stream *replay.Stream, e replay.Entry) {
		e.Source, e.Session, e.Stream = "s", "c", stream
		by.Publish(e)
		until(t, "it is published", func() bool { return by.QueuedBytes() == 0 })
	}
	publish(one, mine, replay.Entry{Data: []byte("1"), EventID: []byte("1")})
	publish(other, theirs, replay.Entry{Data: []byte("1"), EventID: []byte("1")})
	publish(other, theirs, replay.Entry{Data: []byte("2"), EventID: []byte("2")})
	publish(one, mine, replay.Entry{StreamEnded: true, End: event.EndShutdown}) // the other sidecars continue
	publish(one, answer, replay.Entry{Data: []byte("a1"), Ordinal: 1})
	publish(one, next, replay.Entry{Data: []byte("b1"), Ordinal: 1})
	publish(one, answer, replay.Entry{StreamEnded: true, End: event.EndBroken, Ordinal: 2})
	publish(other, theirs, replay.Entry{StreamEnded: true, End: event.EndOfStream})
	all.read(6)
	frames, _ := all.place.Ring.Frames(all.place.Cursor, nil, make([]replay.Frame, 0, 10))
	names := map[*replay.Stream]string{}
	var got []string
	for _, f := range frames {
		if names[f.Stream] == "" {
			names[f.Stream] = string(rune('A' + len(names)))
		}
		data, _ := f.Data(nil)
		got = append(got, fmt.Sprint(names[f.Stream], " ", f.Stream.Dialect, f.Stream.SingleRun, " ", string(data), f.StreamEnded, f.End))
	}
	want := "[A looopyfalse 1false 0 A looopyfalse 2false 0 B adktrue a1false 0 C adktrue b1false 0 B adktrue true 4 A looopyfalse true 0]"
	if fmt.Sprint(got) != want {
		t.Errorf("the streams are\n%s\nwant\n%s", got, want)
	}
}

// TestSubjects checks the subjects of queries: no wildcard if source and session are known, and never too many.
func TestSubjects(t *testing.T) {
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		of   replay.Query
		want []string
		n    int
	}{
		"everything":            {of: replay.Query{}, want: []string{"delegraph.v1.>"}},
		"a source":              {of: replay.Query{Sources: []string{"s"}}, want: []string{"delegraph.v1.>"}},
		"a session":             {of: replay.Query{Sessions: []string{"c", "c"}}, want: []string{"delegraph.v1.*.Yw"}},
		"of a source":           {of: replay.Query{Sources: []string{"s"}, Sessions: []string{"c"}}, want: []string{"delegraph.v1.cw.Yw"}},
		"of two":                {of: replay.Query{Sources: []string{"t", "s"}, Sessions: []string{"c"}}, want: []string{"delegraph.v1.cw.Yw", "delegraph.v1.dA.Yw"}},
		"nothing":               {of: replay.Query{Sources: []string{"s"}, Sessions: []string{}}},
		"many of two":           {of: replay.Query{Sources: []string{"s", "t"}, Sessions: many}, n: len(many)},
		"of many that are many": {of: replay.Query{Sources: many, Sessions: many}, n: len(many)},
	} {
		got := subjectsOf(c.of)
		if c.n > 0 && len(got) == c.n && strings.HasPrefix(got[0], prefix+"*.") {
			continue
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNamedSource reads a session of one of its two sources, and gets only that source's gaps.
func TestNamedSource(t *testing.T) {
	s := newServer(t, "")
	few := func(set *Settings) { set.Limits.MaxMessagesPerSubject = 2 }
	store, _ := s.open(few)
	publish := func(source string, from, to int) {
		for i := from; i < to; i++ {
			e := heardFrame("c1", fmt.Sprint(i), fmt.Sprint(source, i))
			e.Source = source
			store.Publish(e)
		}
		until(t, "all is published", func() bool { return store.QueuedBytes() == 0 })
	}
	publish("a", 0, 1)
	publish("b", 0, 1)
	other, _ := s.open(few)
	epoch := other.connection.state.Load().epoch
	at := func(source string) *reader {
		q := replay.Query{Sources: []string{source}, Sessions: []string{"c1"}}
		place, refused := other.Attach(t.Context(), stream.Request{Query: q, LastEventID: string(replay.AppendID(nil, epoch, 0))})
		if refused != stream.NotRefused {
			t.Fatal(refused)
		}
		t.Cleanup(place.Release)
		return &reader{TB: t, place: place, cursor: place.Cursor, selection: replay.NewSelection(q)}
	}
	publish("b", 1, 5)
	at("a").wants("a0")
	at("b").wants("<evicted>", "b3", "b4")
}
