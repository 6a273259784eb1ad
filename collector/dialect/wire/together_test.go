package wire

import (
	"testing"
	"time"
)

func TestArriveTogether(t *testing.T) {
	first := time.Unix(1, 0)
	for _, c := range []struct {
		first, last time.Time
		want        bool
	}{
		{first, first, true}, {first, first.Add(200 * time.Microsecond), true}, {first, first.Add(10 * time.Millisecond), false},
		{time.Time{}, time.Time{}, false}, {time.Time{}, first, false},
	} {
		if got := ArriveTogether(c.first, c.last); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.first, c.last, got, c.want)
		}
	}
}
