package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagesSnapshot reads a whole conversation: results of tools that stand nowhere else. What else is in it was said before; the table
// says where, for settings that exclude it. Messages that stay in do so whatever goes on with them. A snapshot with more of them than
// are remembered stays in whole.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	messages, ok := generous.Messages(&conversationRule, v)
	if !ok {
		b.Internal = true
		return
	}
	b.Withheld = d.withholdMessages(messages)
	b.Internal = b.Internal || d.kept.over
	place, withheld := -1, b.Withheld
	for one := range messages.Elements() {
		if place++; len(withheld) > 0 && withheld[0] == place {
			withheld = withheld[1:]
			continue
		}
		d.resultIn(one, b)
	}
}
