package budget

import (
	"math"
	"sync"
	"testing"
	"testing/fstest"
)

func TestReserve(t *testing.T) {
	b := New(1000)
	first, second, last := b.Account("first", 0.25, 0.75), b.Account("second", 0.75, 0.75), b.Account("last", 1, 1)
	for i, step := range []struct {
		account *Account
		n       int
		ok      bool
	}{
		{first, 250, true}, {first, 1, false}, // its part
		{second, 500, true}, {second, 1, false}, // the share of all
		{last, 250, true}, {last, 1, false},
	} {
		if ok := step.account.Reserve(step.n); ok != step.ok {
			t.Errorf("step %d: %v", i, ok)
		}
	}
	second.Release(500)
	if !second.Reserve(250) || second.Reserve(1) {
		t.Error("what was released cannot be reserved again up to the share")
	}
	second.Hold(1000) // which is never refused
	for _, use := range b.Uses() {
		want := map[string]Use{"first": {"first", 250, 1}, "second": {"second", 1250, 2}, "last": {"last", 250, 1}}[use.Name]
		if use != want {
			t.Errorf("%+v; want %+v", use, want)
		}
	}
}

func TestLeft(t *testing.T) {
	b := New(1000)
	ring, other := b.Account("ring", 0.5, 0.9), b.Account("other", 1, 1)
	for _, step := range []struct{ ring, other, left int }{
		{0, 0, 500}, // its part
		{400, 300, 100},
		{400, 450, 50}, // the share of all
		{400, 600, -100},
		{600, 0, -100},
	} {
		ring.Hold(step.ring)
		other.Hold(step.other)
		if left := ring.Left(); left != step.left {
			t.Errorf("%+v: %d are left", step, left)
		}
		ring.Release(step.ring)
		other.Release(step.other)
	}
}

func TestNoAccount(t *testing.T) {
	var none *Account
	none.Hold(1)
	none.Release(1)
	none.Shed()
	if !none.Reserve(math.MaxInt) || none.Left() != math.MaxInt {
		t.Error("no account refuses something")
	}
}

// TestConcurrent has many reserve and release: the limit is never passed, and in the end nothing is used.
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
	if use := b.Uses()[0]; use.Bytes != 0 || b.used.Load() != 0 {
		t.Errorf("%+v, %d in all", use, b.used.Load())
	}
}

func TestContainerLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":           {nil, math.MaxInt64},
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
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestShare(t *testing.T) {
	if got := of(461 << 20); got != 386714828 {
		t.Errorf("of 461MiB: %d", got)
	}
	if got := of(math.MaxInt64); got != fallback {
		t.Errorf("without a limit: %d", got)
	}
}
