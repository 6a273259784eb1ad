package budget

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"testing/fstest"
)

// TestReserve checks that an account reserves bytes up to its own limit and that of the total.
func TestReserve(t *testing.T) {
	b := New(1000)
	first, second, last := b.Account("first", 0.25, 0.75), b.Account("second", 0.75, 0.75), b.Account("last", 1, 1)
	for i, step := range []struct {
		account *Account
		n       int
		ok      bool
	}{
		{first, 250, true}, {first, 1, false}, // its own limit
		{second, 500, true}, {second, 1, false}, // the limit of the total
		{last, 250, true}, {last, 1, false},
	} {
		if ok := step.account.Reserve(step.n); ok != step.ok {
			t.Errorf("step %d: Reserve(%d) = %v, want %v", i, step.n, ok, step.ok)
		}
	}
	second.Release(500)
	if !second.Reserve(250) || second.Reserve(1) {
		t.Error("after a release, Reserve must succeed up to the limit of the total and no further")
	}
	second.Charge(1000) // never refused
	for _, use := range b.Usage() {
		want := map[string]Usage{"first": {"first", 250, 1}, "second": {"second", 1250, 2}, "last": {"last", 250, 1}}[use.Name]
		if use != want {
			t.Errorf("Usage() has %+v, want %+v", use, want)
		}
	}
}

// TestGuarantee checks that an account gets its guaranteed share when others have taken the rest, and no more.
func TestGuarantee(t *testing.T) {
	b := New(1000)
	readers, other := b.Account("readers", 0.5, 0.6).Guarantee(0.05), b.Account("other", 1, 1)
	other.Charge(700)
	if got := readers.Remaining(); got != 50 {
		t.Errorf("Remaining() = %d, want 50", got)
	}
	other.Charge(1000)
	if got := other.Remaining(); got != -700 {
		t.Errorf("without a guarantee, Remaining() = %d, want -700", got)
	}
	other.Release(1000)
	if !readers.Reserve(50) || readers.Reserve(1) || readers.Remaining() != 0 {
		t.Errorf("Reserve must succeed up to the guaranteed share and no further; %d remain", readers.Remaining())
	}
	other.Release(700)
	if got := readers.Remaining(); got != 450 || !readers.Reserve(450) || readers.Reserve(1) {
		t.Errorf("without others, %d remain, want 450", got)
	}
}

// TestRemaining checks that Remaining respects the limits of the account and of the total.
func TestRemaining(t *testing.T) {
	b := New(1000)
	ring, other := b.Account("ring", 0.5, 0.9), b.Account("other", 1, 1)
	for _, step := range []struct{ ring, other, want int }{
		{0, 0, 500}, // its own limit
		{400, 300, 100},
		{400, 450, 50}, // the limit of the total
		{400, 600, -100},
		{600, 0, -100},
	} {
		ring.Charge(step.ring)
		other.Charge(step.other)
		if got := ring.Remaining(); got != step.want {
			t.Errorf("with %d and %d bytes in use, Remaining() = %d, want %d", step.ring, step.other, got, step.want)
		}
		ring.Release(step.ring)
		other.Release(step.other)
	}
}

// TestChargeWithin checks that memory that is needed in any case is charged up to the account's own limit, whatever
// others use. The part that is not charged must not count as a refusal.
func TestChargeWithin(t *testing.T) {
	b := New(1000)
	streams, other := b.Account("streams", 0.5, 1), b.Account("other", 1, 1)
	other.Charge(1000)
	if !streams.ChargeWithin(500) {
		t.Error("ChargeWithin(500) = false while others use the budget up, want true")
	}
	if streams.ChargeWithin(1) {
		t.Error("ChargeWithin(1) = true over the account's own limit, want false")
	}
	if want := (Usage{"streams", 500, 0}); b.Usage()[0] != want || b.used.Load() != 1500 {
		t.Errorf("Usage() = %+v of %d, want %+v of 1500", b.Usage()[0], b.used.Load(), want)
	}
}

// TestNilAccount checks that a nil account refuses nothing.
func TestNilAccount(t *testing.T) {
	var none *Account
	none.Charge(1)
	none.Release(1)
	none.CountShed()
	if none.ChargeWithin(1) || !none.Reserve(math.MaxInt) || none.Remaining() != math.MaxInt {
		t.Error("a nil account refuses something")
	}
}

// TestConcurrent checks that nothing is in use after concurrent reservations and releases.
func TestConcurrent(t *testing.T) {
	b := New(100)
	a := b.Account("a", 1, 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10_000 {
				if a.Reserve(30) {
					a.Release(30)
				}
			}
		})
	}
	all.Wait()
	if use := b.Usage()[0]; use.Bytes != 0 || b.used.Load() != 0 {
		t.Errorf("after all releases: account %+v, total %d; want no bytes in use", use, b.used.Load())
	}
}

// TestContainerLimit checks both versions of the control group interface.
func TestContainerLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no files":          {nil, math.MaxInt64},
		"version 2":         {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		"version 2, nested": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1024\n", "sys/fs/cgroup/a/b/memory.max": "2048\n"}, 1024},
		"version 2, max":    {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, math.MaxInt64},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "4096\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 4096},
		"version 1, the group is the root": {map[string]string{"proc/self/cgroup": "4:cpu,memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "8192\n"}, 8192},
		"garbage":                          {map[string]string{"proc/self/cgroup": "x\n0::/\n", "sys/fs/cgroup/memory.max": "-1"}, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := containerLimit(root); got != c.want {
				t.Errorf("containerLimit() = %d, want %d", got, c.want)
			}
		})
	}
}

// TestShare checks the budget with and without a memory limit.
func TestShare(t *testing.T) {
	if got, limited := shareOf(461<<20, 7); got != 386714828 || !limited {
		t.Errorf("shareOf(461 MiB) = %d, %v, want 386714828, true", got, limited)
	}
	if got, limited := shareOf(math.MaxInt64, 7); got != 7 || limited {
		t.Errorf("shareOf(no limit) = %d, %v, want 7, false", got, limited)
	}
}

// TestGarbage checks that Default changes how often garbage is collected only in a process that has a memory limit and no GOGC.
func TestGarbage(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, c := range []struct {
		name  string
		limit int64
		gogc  string
		want  int
	}{{"a limit", 400 << 20, "", GCPercent}, {"a limit and GOGC", 400 << 20, "100", 100}} {
		t.Run(c.name, func(t *testing.T) {
			defer debug.SetGCPercent(debug.SetGCPercent(100))
			debug.SetMemoryLimit(c.limit)
			t.Setenv("GOGC", c.gogc)
			if c.gogc == "" {
				os.Unsetenv("GOGC")
			}
			Default(0)
			if got := debug.SetGCPercent(-1); got != c.want {
				t.Errorf("GOGC is %d after Default, want %d", got, c.want)
			}
		})
	}
}
