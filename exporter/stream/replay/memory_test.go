package replay

import (
	"strconv"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestRingKeepsToTheMemory checks a ring with a shared memory budget: it accounts for the bytes it holds, shrinks when others use
// more, always keeps its newest frames, and grows again.
func TestRingKeepsToTheMemory(t *testing.T) {
	b := budget.New(10_000)
	memory, other := b.Account("replay", 0.5, 0.9), b.Account("other", 1, 1)
	r, err := New(Settings{Frames: 1000, Bytes: 8000, Age: time.Hour, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	fill := func() (held int) {
		for i := range 200 {
			if drop := r.Publish(Entry{Data: []byte(strconv.Itoa(i) + "0123456789012345678901234567890123456789")}); drop != NotDropped {
				t.Fatal(drop)
			}
		}
		held = r.Stats().Bytes
		if used := int(b.Usage()[0].Bytes); used != held {
			t.Errorf("%d bytes are held and %d taken", held, used)
		}
		return held
	}
	if held := fill(); held > 5000 || held < 4800 {
		t.Errorf("%d bytes held of a part of 5000", held)
	}
	other.Charge(7000)
	if held := fill(); held > 2000 || held < 1800 {
		t.Errorf("%d bytes held while others leave 2000", held)
	}
	other.Charge(7000)
	fill()
	if s := r.Stats(); s.Frames != 2 {
		t.Errorf("%d frames held while others leave nothing", s.Frames)
	}
	other.Release(14_000)
	if held := fill(); held < 4800 {
		t.Errorf("%d bytes held when there is room again", held)
	}
	if b.Usage()[0].Shed == 0 {
		t.Error("no shed frame is counted")
	}
	r.ReleaseBudget()
	if used := b.Usage()[0].Bytes; used != 0 {
		t.Errorf("%d bytes are taken by a ring that has left", used)
	}
}

// TestOnlyMemorySheds checks that frames that other limits evict do not count as shed for memory.
func TestOnlyMemorySheds(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		used     int // of the memory
		settings Settings
	}{
		{"frames", 0, Settings{Frames: 5, Bytes: 8000, Age: time.Hour}},
		{"bytes", 0, Settings{Frames: 1000, Bytes: 500, Age: time.Hour}},
		{"age", 9000, Settings{Frames: 1000, Bytes: 8000, Age: time.Second / 8}},
		{"budget", 0, Settings{Frames: 1000, Bytes: 8000, Age: time.Hour, Budget: NewBudget(500)}},
	} {
		b := budget.New(10_000)
		b.Account("other", 1, 1).Charge(c.used)
		c.settings.Memory, c.settings.Now = b.Account("replay", 0.5, 0.9), func() time.Time { return now }
		r, err := New(c.settings)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			r.Publish(Entry{Data: []byte("0123456789")})
			now = now.Add(time.Second / 4)
		}
		if b.Usage()[1].Shed > 0 || r.Stats().Frames == 20 {
			t.Errorf("%s: %+v, %+v", c.name, r.Stats(), b.Usage())
		}
	}
}
