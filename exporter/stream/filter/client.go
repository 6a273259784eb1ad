package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// applyClient applies the policy client, which is for the protocol's own client. It removes members, messages and
// other parts that are internal to the agent. In a frame with such parts it also removes white space between
// members. It changes nothing else.
func (f *Filter) applyClient(b *event.Batch, rules event.Type) (Frame, Reason) {
	if !rules.Client {
		return Frame{}, ReasonPolicy
	}
	if rules.AnyFact && f.excludesAnything() {
		return Frame{}, ReasonSetting
	}
	if hidden := f.hiddenKinds(b); hidden != 0 && hidden&f.shownKinds(b, rules) != 0 {
		return Frame{}, ReasonSetting // this policy does not remove values by kind
	}
	if f.hasExcludedWords(b, rules) {
		return Frame{}, ReasonSetting
	}
	c := cutter{table: b.Table, members: rules.InternalMembers, messages: rules.Messages, cuts: b.Cuts}
	if c.messages != nil {
		var ok bool
		if c.list, ok = lenient.Messages(c.messages, b.JSON); !ok {
			return Frame{}, ReasonInternal
		}
	}
	i := b.Table.Instructions
	if c.isCut(b.JSON) || i != nil && lenient.IsInstruction(i, b.JSON) {
		return Frame{}, ReasonInternal
	}
	c.mayHaveInstructions = i != nil && lenient.ContainsInstruction(i, b.JSON)
	if !c.hasCuts(b.JSON) {
		return Frame{Data: b.Frame.Data, Kinds: wholeFrameKinds(b)}, Passed
	}
	f.encoder.buf = c.frame(f.encoder.begin(), b.JSON)
	return Frame{Data: f.encoder.buf, Kinds: wholeFrameKinds(b)}, Passed
}

// cutter copies a frame without the members and messages that no external reader may see. It also leaves out
// the white space between members.
type cutter struct {
	table    *event.Table
	members  []string // hidden in frames of this type, in addition to the table's
	messages *event.Messages
	list     strictjson.Value // the list of messages

	cuts                map[strictjson.Value]struct{} // parts of this frame that are withheld, at any depth
	mayHaveInstructions bool                          // the value that is copied may contain instructions for models, at any depth
}

// hasCuts reports whether the frame has a part to leave out.
func (c *cutter) hasCuts(frame strictjson.Value) bool {
	if lenient.HasMember(frame, c.members) || lenient.HasMember(frame, c.table.InternalMembers) {
		return true
	}
	for message := range c.list.Elements() {
		if lenient.IsInternalMessage(c.table, c.messages, message) {
			return true
		}
	}
	return c.mayHaveInstructions || len(c.cuts) > 0
}

func (c *cutter) isHidden(name strictjson.Value) bool {
	text := name.Text()
	return lenient.MatchesAny(text, c.members) || lenient.MatchesAny(text, c.table.InternalMembers)
}

func (c *cutter) frame(dst []byte, v strictjson.Value) []byte {
	if v.Kind() != strictjson.Object {
		return c.value(dst, v)
	}
	dst = append(dst, '{')
	for name, value := range v.Members() {
		if !c.isHidden(name) {
			dst = c.member(dst, name, value)
		}
	}
	return append(dst, '}')
}

// value copies a value without the parts that are withheld.
func (c *cutter) value(dst []byte, v strictjson.Value) []byte {
	switch kind := v.Kind(); {
	case v == c.list:
		return c.messageList(dst)
	case !c.mayHaveInstructions && len(c.cuts) == 0:
	case kind == strictjson.Object:
		dst = append(dst, '{')
		for name, value := range v.Members() {
			dst = c.member(dst, name, value)
		}
		return append(dst, '}')
	case kind == strictjson.Array:
		dst = append(dst, '[')
		for element := range v.Elements() {
			if !c.isCut(element) {
				dst = c.value(separate(dst), element)
			}
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}

// member copies a member, unless it is withheld. Members that Instructions.Skipped names are not searched for
// instructions.
func (c *cutter) member(dst []byte, name, value strictjson.Value) []byte {
	outer := c.mayHaveInstructions
	c.mayHaveInstructions = outer && !lenient.MatchesAny(name.Text(), c.table.Instructions.Skipped)
	if !c.isCut(value) && (!c.mayHaveInstructions || !lenient.MatchesAny(name.Text(), c.table.Instructions.Members)) {
		dst = c.value(append(append(separate(dst), name.Raw()...), ':'), value)
	}
	c.mayHaveInstructions = outer
	return dst
}

// isCut reports whether a value is withheld.
func (c *cutter) isCut(v strictjson.Value) bool {
	_, isCut := c.cuts[v]
	return isCut || c.mayHaveInstructions && lenient.IsInstruction(c.table.Instructions, v)
}

// messageList copies the list of messages without those that are withheld.
func (c *cutter) messageList(dst []byte) []byte {
	dst = append(dst, '[')
	for message := range c.list.Elements() {
		if !c.isCut(message) && !lenient.IsInternalMessage(c.table, c.messages, message) {
			dst = c.value(separate(dst), message)
		}
	}
	return append(dst, ']')
}

// separate appends a comma, except at the start of a list or object.
func separate(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}
