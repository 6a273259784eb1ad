package replay

import "testing"

// TestEarlierFramesFromFirst checks that a caller learns whether the ring still holds the first frame of a stream, also if it may not see it.
func TestEarlierFramesFromFirst(t *testing.T) {
	for _, c := range []struct {
		name    string
		frames  int
		session string
		most    int
		n       int
		want    bool
	}{
		{"all are there", 10, "s", 10, 3, true},
		{"the first is of another session", 10, "t", 10, 1, true},
		{"the first is evicted", 3, "s", 10, 1, false},
		{"there are more than the limit", 10, "s", 2, 2, false},
	} {
		ring, _ := newRing(t, Settings{Frames: c.frames, Bytes: roomy.Bytes, Age: roomy.Age})
		stream := &Stream{SingleRun: true}
		for i, session := range []string{"s", "s", "t", "s", "s"} {
			ring.Publish(Entry{Stream: stream, Session: session, Data: []byte("data"), Ordinal: uint64(i + 1)})
		}
		n, fromFirst := ring.EarlierFrames(stream, 5, NewSelection(Query{Sessions: []string{c.session}}), c.most, func(Frame) {})
		if n != c.n || fromFirst != c.want {
			t.Errorf("%s: %d frames, from the first: %t, want %d and %t", c.name, n, fromFirst, c.n, c.want)
		}
	}
}
