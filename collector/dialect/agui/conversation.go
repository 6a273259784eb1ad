package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagesSnapshot reads a whole conversation: results of tools that stand nowhere else, and a thought, which settings may keep in. What else
// is in it was said before. Messages that stay in do so whatever goes on with them; the filter judges them by the same rule.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	messages, ok := generous.Messages(&conversationRule, v)
	if !ok {
		b.Internal = true
		return
	}
	d.inner = nil // of the snapshot before
	var thought strictjson.Value
	for one := range messages.Elements() {
		if generous.IsInner(&table, &conversationRule, one) {
			d.keepIn(d.name(one.Get("id")), b)
			continue
		}
		d.resultIn(one, b)
		if !thought.Exists() && isThought(one.Get("role").Text()) {
			thought = one
		}
	}
	if !thought.Exists() {
		return
	}
	if b.AddText(event.KindThought, thought.Get("content")) == nil {
		b.Add(event.KindThought).SetText([]byte("reasoning")) // what there is to read is that somebody thought
	}
}

// keepIn notes that a message of the snapshot stays in, so that whatever goes on with it does too. A snapshot with more of them than are
// remembered stays in whole.
func (d *decoder) keepIn(id string, b *event.Batch) {
	switch {
	case id == "":
	case len(d.inner) == maxHeld:
		b.Internal = true
	case d.inner == nil:
		d.inner = map[string]bool{id: true}
	default:
		d.inner[id] = true
	}
}

// prompted says whether the request that began a run holds what is for models, or their thoughts. Its client has sent most of it,
// and misses nothing without it.
func prompted(v strictjson.Value) bool {
	for name, input := range v.Members() {
		if !generous.Among(name.Text(), inputMember) || input.Kind() == strictjson.Null {
			continue
		}
		messages, ok := generous.Messages(&conversationRule, input)
		if !ok || input.Kind() != strictjson.Object {
			return true
		}
		for one := range messages.Elements() {
			if generous.IsInner(&table, &conversationRule, one) || isThought(one.Get("role").Text()) {
				return true
			}
		}
	}
	return false
}

// inputMember names the request in the event that begins a run.
var inputMember = []string{"input"}
