package filter_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRelayedIDs relays IDs of blocks without data. One that not all clients can send back clears the ID before it.
func TestRelayedIDs(t *testing.T) {
	r := filter.NewRelay(filter.Settings{Policy: event.PolicyPublic}, nil)
	for _, c := range []struct{ id, want string }{
		{"", ""}, {"a b", ""}, {"1-0", "id: 1-0\n\n"}, {"a\nb", "id\n\n"}, {"", ""}, {"2", "id: 2\n\n"}, {"", "id\n\n"},
	} {
		if got := string(r.AppendID(nil, []byte(c.id))); got != c.want {
			t.Errorf("the ID %q is relayed as %q, want %q", c.id, got, c.want)
		}
	}
}
