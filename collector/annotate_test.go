package collector_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
)

const confident = `data: {"invocationId":"e-1","author":"a","id":"f","actions":{},"timestamp":1.5,"content":{"role":"model","parts":[{"text":"Yes.\n\nConfidence: 90%"}]}}` + "\n\n"

// TestAnnotatedOnDelivery checks that an answer's confidence is read when its batch is delivered to the
// sink, and not while a filtered relay decodes it, because it can take long.
func TestAnnotatedOnDelivery(t *testing.T) {
	sink := &kinds{}
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}}, sink)
	now := func() time.Time { return time.Time{} }
	d := c.Decode(&event.Stream{SingleRun: true}, collector.Input{Reader: strings.NewReader(confident), ReceivedAt: now}, "adk")
	b, err := d.Next()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindConfidence }) {
		t.Error("the confidence is read while the relay's client waits")
	}
	queue := []*event.Batch{d.Detach()}
	next := func() (b *event.Batch) {
		if len(queue) > 0 {
			b, queue = queue[0], nil
		}
		return b
	}
	c.Deliver(&event.Stream{SingleRun: true}, next, func() (event.End, time.Time) { return event.EndOfStream, time.Time{} })
	if !slices.Contains(sink.all, event.KindConfidence) {
		t.Errorf("the sink gets the kinds %v, want a confidence", sink.all)
	}
}

// kinds is a sink that collects the kinds of all events.
type kinds struct{ all []event.Kind }

func (*kinds) Open(*event.Stream)                        {}
func (*kinds) Close(*event.Stream, event.End, time.Time) {}
func (k *kinds) Consume(b *event.Batch) {
	for _, e := range b.Events {
		k.all = append(k.all, e.Kind)
	}
}
