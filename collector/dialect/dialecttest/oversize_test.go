package dialecttest

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// uncounted counts nothing.
type uncounted struct{}

func (uncounted) Withheld(string, filter.Reason) {}
func (uncounted) IDWithheld(string)              {}

// relayed returns what the client of a dialect gets of a stream, and the facts of the last frame that is decoded.
func relayed(t *testing.T, name string, policy event.Policy, sent string) (got string, last *event.Batch) {
	t.Helper()
	settings := collector.Settings{Frame: 1 << 10, JSONDepth: 64}
	input := collector.Input{Reader: strings.NewReader(sent), Arrival: func() time.Time { return time.Time{} }}
	d := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{Dialect: name}, input, name)
	relay := filter.NewRelay(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}, uncounted{})
	var out []byte
	for b, err := d.Next(); err == nil; b, err = d.Next() {
		out, last = relay.Append(out, b), d.Detach()
	}
	return string(out), last
}

// TestOversize tells the protocol's own client, by an error that the protocol has, of an event over the limit of size. A stranger
// is told nothing, and nobody gets any of the event.
func TestOversize(t *testing.T) {
	for _, d := range collector.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			large := "data: " + strings.Repeat(canary, 1<<10) + "\n\n"
			got, _ := relayed(t, d.Name(), event.PolicyClient, large)
			if !strings.Contains(got, event.Withheld) || strings.Contains(got, canary) || strings.Count(got, "\n\n") != 1 {
				t.Fatalf("the client gets %.200q", got)
			}
			again, b := relayed(t, d.Name(), event.PolicyClient, got)
			if again != got {
				t.Errorf("of %q leaves %q", got, again)
			}
			if b.Rejected != "" || !hasError(b) {
				t.Errorf("%q is no error: %q, %v", got, b.Rejected, b.Events)
			}
			if got, _ := relayed(t, d.Name(), event.PolicyPublic, large); got != "" {
				t.Errorf("a stranger gets %.200q", got)
			}
		})
	}
}

func hasError(b *event.Batch) bool {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindError || b.Events[i].Error != event.NoFailure {
			return true
		}
	}
	return false
}
