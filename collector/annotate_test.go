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

// TestConfidenceIsReadBesideTheStream decodes an answer as a filtered relay does. Its confidence is not read then, because that can take
// long, but when the batch is delivered to the sink.
func TestConfidenceIsReadBesideTheStream(t *testing.T) {
	sink := &kinds{}
	c := collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 20, JSONDepth: 64, Proof: proof.Limits{Text: 1 << 16, Findings: 32}}, sink)
	now := func() time.Time { return time.Time{} }
	d := c.Decode(&event.Stream{Answer: true}, collector.Input{Reader: strings.NewReader(confident), Arrival: now}, "adk")
	b, err := d.Next()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindConfidence }) {
		t.Error("the relay's client waits until the confidence has been read")
	}
	left := []*event.Batch{d.Detach()}
	next := func() (b *event.Batch) {
		if len(left) > 0 {
			b, left = left[0], nil
		}
		return b
	}
	c.Deliver(&event.Stream{Answer: true}, next, func() (event.End, time.Time) { return event.EndOfStream, time.Time{} })
	if !slices.Contains(sink.all, event.KindConfidence) {
		t.Errorf("the sink gets %v and no confidence", sink.all)
	}
}

// kinds is a sink that notes the kinds of all events.
type kinds struct{ all []event.Kind }

func (*kinds) Open(*event.Stream)                        {}
func (*kinds) Close(*event.Stream, event.End, time.Time) {}
func (k *kinds) Consume(b *event.Batch) {
	for _, e := range b.Events {
		k.all = append(k.all, e.Kind)
	}
}
