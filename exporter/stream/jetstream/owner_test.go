package jetstream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOwner pins the hash: `printf 'NAME\0SESSION' | sha256sum` computes the weights.
func TestOwner(t *testing.T) {
	for _, c := range []struct {
		names   []string
		session string
		want    string
	}{
		{nil, "s", ""},
		{[]string{"a"}, "", "a"},
		{[]string{"a", "b", "c"}, "", "a"},
		{[]string{"a", "b", "c"}, "ctx-1", "c"},
		{[]string{"a", "b", "c"}, "ctx-2", "b"},
		{[]string{"a", "b", "c"}, "größe/ü", "c"},
		{[]string{"a", "b", "c"}, string(make([]byte, 1000)), "b"},
	} {
		if got := Owner(c.names, c.session); got != c.want {
			t.Errorf("%.40q in %q belongs to %q, want %q", c.session, c.names, got, c.want)
		}
	}
}

// TestOwnerGrowth adds a shard to random lists: no session moves between old shards, and about
// 1/(N+1) of the sessions move to the new one. The order of a list does not matter.
func TestOwnerGrowth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const sessions = 20_000
	for n := 1; n <= 12; n++ {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("shard-%d-%x", i, random.Uint32()))
		}
		grown := append(slices.Clone(names), fmt.Sprintf("new-%x", random.Uint32()))
		shuffled := slices.Clone(grown)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		held := map[string]int{}
		for i := range sessions {
			session := fmt.Sprintf("%x-%d", random.Uint64(), i)
			before, after := Owner(names, session), Owner(grown, session)
			if after != before && after != grown[n] {
				t.Fatalf("%d shards: %q moved from %s to %s, which is not the new one", n, session, before, after)
			}
			if again := Owner(shuffled, session); again != after {
				t.Fatalf("%q: %s in one order, %s in another", session, after, again)
			}
			held[after]++
		}
		for _, name := range grown {
			share := float64(held[name]) * float64(n+1) / sessions
			if share < 0.85 || share > 1.15 { // 5 standard deviations at 13 shards
				t.Errorf("%d shards: %s has %.2f of its share of the sessions", n+1, name, share)
			}
		}
	}
}

func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("shard-", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Owner(names, "3f6c1f6e-8a0b-4b57-9d63-3c8d3f1a1b2c")
			}
		})
	}
}
