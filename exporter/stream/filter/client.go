package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// leaveClient returns a frame for the protocol's own client: as it came, but without what is for no reader outside.
func (f *Filter) leaveClient(b *event.Batch, rules event.Type) (Frame, Reason) {
	if !rules.Client {
		return Frame{}, Policy
	}
	if hidden := f.withheld(b); hidden != 0 && hidden&f.shown(b, rules) != 0 {
		return Frame{}, Setting // a frame that leaves as it came leaves whole or not at all
	}
	if f.repeats(b, rules) {
		return Frame{}, Setting
	}
	c := cut{table: b.Table, members: rules.Inner, messages: rules.Messages, withheld: b.Withheld}
	if c.messages != nil {
		var ok bool
		if c.list, ok = generous.Messages(c.messages, b.JSON); !ok {
			return Frame{}, Internal
		}
	}
	if !c.applies(b.JSON) {
		return Frame{Data: b.Frame.Data, Kinds: kinds(b)}, Passed
	}
	f.encoder.buf = c.frame(f.encoder.begin(), b.JSON)
	return Frame{Data: f.encoder.buf, Kinds: kinds(b)}, Passed
}

// cut copies a frame without the members and messages that are for no reader outside, and without blanks.
type cut struct {
	table    *event.Table
	members  []string // of the frame's type, in addition to the table's
	messages *event.Messages
	list     strictjson.Value // the messages
	withheld []int            // those that stay in for what earlier frames say
}

// applies reports whether there is something to leave out.
func (c *cut) applies(frame strictjson.Value) bool {
	for name := range frame.Members() {
		if c.isInner(name) {
			return true
		}
	}
	for message := range c.list.Elements() {
		if generous.IsInner(c.table, c.messages, message) {
			return true
		}
	}
	return len(c.withheld) > 0
}

func (c *cut) isInner(name strictjson.Value) bool {
	return generous.Among(name.Text(), c.members) || generous.Among(name.Text(), c.table.Inner)
}

func (c *cut) frame(dst []byte, v strictjson.Value) []byte {
	dst = append(dst, '{')
	for name, value := range v.Members() {
		if c.isInner(name) {
			continue
		}
		dst = append(append(separate(dst), name.Raw()...), ':')
		if c.list.Exists() && name.Is(c.messages.Member) {
			dst = c.elements(dst)
		} else {
			dst = append(dst, value.Raw()...)
		}
	}
	return append(dst, '}')
}

func (c *cut) elements(dst []byte) []byte {
	dst = append(dst, '[')
	place, withheld := 0, c.withheld
	for message := range c.list.Elements() {
		switch {
		case len(withheld) > 0 && withheld[0] == place:
			withheld = withheld[1:]
		case !generous.IsInner(c.table, c.messages, message):
			dst = append(separate(dst), message.Raw()...)
		}
		place++
	}
	return append(dst, ']')
}

// separate appends a comma unless a list or an object has just begun.
func separate(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}
