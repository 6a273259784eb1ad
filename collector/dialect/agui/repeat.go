package agui

import (
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// kept is what stayed in of a stream, wholly or in part, in each of its runs: a snapshot must not repeat it.
type kept struct {
	things map[which]bool
	over   bool // there is more than is remembered, or something without an id; then no snapshot leaves
}

func (k *kept) add(w which) {
	switch w.of {
	case aMessage, aPhase, aThought, anActivity:
		w.of = aListed
	}
	switch {
	case w.id == "" || w.of == aStep || k.things[w]:
	case len(k.things) >= maxHeld:
		k.over = true
	case k.things == nil:
		k.things = map[which]bool{w: true}
	default:
		k.things[w] = true
	}
}

// hold keeps in what goes on with things, and what repeats them.
func (d *decoder) hold(all ...which) {
	d.guard.hold(all...)
	for _, w := range all {
		d.kept.add(w)
	}
}

// repeatNot notes what a frame that stays in is part of. A result is one of a call that may itself have left.
func (d *decoder) repeatNot(k *kind, v strictjson.Value) {
	id := ""
	if k.id != "" {
		id = d.name(v.Get(k.id))
	}
	switch {
	case k.name == typeToolResult:
		d.kept.add(which{of: aResult, id: id})
		d.kept.add(which{of: aListed, id: d.name(v.Get("messageId"))})
	case k.of == aMessage && id == "":
		if m := d.messages.continued(d.owner(v)); m != nil {
			d.kept.add(which{of: aListed, id: m.id})
		}
	case k.chunk && id == "":
		d.kept.over = true // it is unknown what it is a piece of
	case k.of != nothing && k.of != aSubagent:
		d.kept.add(which{of: k.of, id: id})
	}
}

// isListed reports whether a frame goes on with a message of a snapshot that stays in, or with a call of one.
func (d *decoder) isListed(k *kind, w which) bool {
	return k.id == "messageId" && d.inner[which{of: aListed, id: w.id}] || k.of == aCall && d.inner[which{of: aCall, id: w.id}]
}

// How a message of a list names what it is and what it goes on with, in JavaScript and in Python.
var (
	ownID     = []string{"id"}
	callID    = []string{"toolCallId", "tool_call_id"}
	callsOf   = []string{"toolCalls", "tool_calls"}
	subagents = []string{"subagentRunId", "subagent_run_id"}
)

// repeats reports whether a message of a list has stayed in before, or is part of what has.
func (d *decoder) repeats(message strictjson.Value) bool {
	if len(d.kept.things) == 0 {
		return false
	}
	for name, value := range message.Members() {
		text, id := name.Text(), d.name(value)
		switch {
		case generous.Among(text, ownID) && d.kept.things[which{of: aListed, id: id}]:
			return true
		case generous.Among(text, callID) && (d.kept.things[which{of: aCall, id: id}] || d.kept.things[which{of: aResult, id: id}]):
			return true
		case generous.Among(text, subagents) && d.kept.things[which{of: aSubagent, id: id}]:
			return true
		}
	}
	for id := range d.callsIn(message) {
		if d.kept.things[which{of: aCall, id: id}] {
			return true
		}
	}
	return false
}

// callsIn returns the ids of the calls in a message.
func (d *decoder) callsIn(message strictjson.Value) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name, calls := range message.Members() {
			if !generous.Among(name.Text(), callsOf) {
				continue
			}
			for call := range calls.Elements() {
				for name, value := range call.Members() {
					if generous.Among(name.Text(), ownID) && !yield(d.name(value)) {
						return
					}
				}
			}
		}
	}
}

// withholdMessages finds the messages of a list that stay in: those that are for no reader outside, those that repeat what stayed in, and
// the results of their calls. It returns their places. What goes on with the first stays in too.
func (d *decoder) withholdMessages(messages strictjson.Value) (places []int) {
	calls := map[string]bool{}
	for one := range messages.Elements() {
		inner := generous.IsInner(&table, &conversationRule, one)
		if inner {
			d.keepIn(which{of: aListed, id: d.name(one.Get("id"))})
		}
		if inner || d.repeats(one) {
			for id := range d.callsIn(one) {
				calls[id] = true
				if inner {
					d.keepIn(which{of: aCall, id: id})
				}
			}
		}
	}
	place := -1
	for one := range messages.Elements() {
		place++
		answers := false
		for name, value := range one.Members() {
			answers = answers || generous.Among(name.Text(), callID) && calls[d.name(value)]
		}
		if answers || d.repeats(one) || generous.IsInner(&table, &conversationRule, one) {
			places = append(places, place)
		}
	}
	return places
}

// keepIn notes a message of a list that stays in, or a call of one.
func (d *decoder) keepIn(w which) {
	d.kept.add(w)
	if w.id == "" || len(d.inner) >= maxHeld {
		return
	}
	if d.inner == nil {
		d.inner = make(map[which]bool)
	}
	d.inner[w] = true
}

// prompted reports whether the request that began a run holds messages that stay in, or thoughts. Its client has sent most of it, and misses
// nothing without it.
func (d *decoder) prompted(v strictjson.Value) bool {
	held := false
	for name, input := range v.Members() {
		if !generous.Among(name.Text(), inputMember) || input.Kind() == strictjson.Null {
			continue
		}
		messages, ok := generous.Messages(&conversationRule, input)
		held = held || !ok || input.Kind() != strictjson.Object || len(d.withholdMessages(messages)) > 0 || d.kept.over
		for one := range messages.Elements() {
			held = held || isThought(one.Get("role").Text())
		}
	}
	return held
}

// inputMember names the request in the event that begins a run.
var inputMember = []string{"input"}
