package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagesSnapshot reads a snapshot of the whole conversation. It reports only the tool results that no earlier frame
// had. It withholds messages with instructions for models, and messages that repeat, name or quote something withheld. If
// more was withheld than is remembered, the whole snapshot is internal.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	messages, ok := lenient.Messages(&conversationRule, v)
	if !ok {
		b.Internal = true
		return
	}
	isInternal := d.filtered || d.isWithheldRun(d.owner(v))
	if d.isInOpenWork(v) {
		d.withholdOpenWork(messages, b)
	}
	for _, one := range d.withholdMessages(messages, isInternal, b) {
		b.Cut(one)
	}
	b.Internal = b.Internal || d.withheld.overflowed
	for one := range messages.Elements() {
		b.HasThoughts = b.HasThoughts || d.mayRepeatThought(one) || statesThought(one)
		switch _, isCut := b.Cuts[one]; {
		case isCut:
			if open := d.calls.find(d.name(one.Get("toolCallId")), ""); open != nil && isResult(one) {
				open.isListed = true
			}
		case d.cutNested(one, "id", b):
			b.Cut(one)
		case d.isQuotingResult(one, b):
			b.Cut(one) // a reader requires its content
			d.withheld.add(key{entity: entityResult, id: d.name(one.Get("toolCallId"))})
			fallthrough
		default:
			d.addSnapshotResult(one, b)
		}
	}
}
