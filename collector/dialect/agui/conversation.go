package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// conversation is what the messages in a frame say of who speaks, as the most generous of readers would find it.
type conversation struct {
	instructs bool             // some are meant for models, or nobody can say whose they are
	thought   strictjson.Value // the first that is one
}

// The members in which conversations stand.
var (
	messagesMember = []string{"messages"}
	inputMember    = []string{"input"}
)

// read takes the messages that are members of an object.
func (c *conversation) read(v strictjson.Value) {
	for name, messages := range v.Members() {
		if !generous.Among(name.Text(), messagesMember) || messages.Kind() == strictjson.Null {
			continue
		}
		c.instructs = c.instructs || messages.Kind() != strictjson.Array
		for one := range messages.Elements() {
			c.add(one)
		}
	}
}

func (c *conversation) add(v strictjson.Value) {
	var m message
	odd := v.Kind() != strictjson.Object
	for name, value := range v.Members() {
		if generous.Among(name.Text(), role) {
			m.is(value)
			odd = odd || value.Kind() != strictjson.String
		}
	}
	c.instructs = c.instructs || odd || m.internal
	if m.thinks && !c.thought.Exists() {
		c.thought = v
	}
}

// messagesSnapshot finds in a conversation what is not for everybody. What else is in it was said before.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	var said conversation
	said.read(v)
	b.Internal = said.instructs
	if !said.thought.Exists() {
		return
	}
	if b.AddText(event.KindThought, said.thought.Get("content")) == nil {
		b.Add(event.KindThought).SetText([]byte("reasoning")) // what there is to read is that somebody thought
	}
}

// prompted says whether the request that began a run holds what is for models, or their thoughts. Its client has sent most of it,
// and misses nothing without it.
func prompted(v strictjson.Value) bool {
	var said conversation
	for name, input := range v.Members() {
		if generous.Among(name.Text(), inputMember) {
			said.read(input)
			said.instructs = said.instructs || input.Kind() != strictjson.Object && input.Kind() != strictjson.Null
		}
	}
	return said.instructs || said.thought.Exists()
}
