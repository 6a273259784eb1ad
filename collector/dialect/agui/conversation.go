package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagesSnapshot reads a snapshot of the whole conversation. It reports only the tool results that no earlier frame
// had. It withholds messages with instructions for models, and messages that repeat or belong to something withheld. If
// more was withheld than is remembered, the whole snapshot is internal.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	messages, ok := lenient.Messages(&conversationRule, v)
	if !ok {
		b.Internal = true
		return
	}
	for _, one := range d.withholdMessages(messages) {
		b.Cut(one)
	}
	b.Internal = b.Internal || d.withheld.overflowed
	for one := range messages.Elements() {
		b.HasThoughts = b.HasThoughts || d.mayRepeatThought(one) || statesThought(one)
		switch _, isCut := b.Cuts[one]; {
		case isCut:
		case d.cutNested(one, "id", b):
			b.Cut(one)
		default:
			d.addSnapshotResult(one, b)
		}
	}
}
