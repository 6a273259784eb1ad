package openai

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The Agents SDK has no unique IDs for items of models that it calls by the Chat Completions API. For JavaScript, all items of a response have
// the ID of the completion, for Python all items of all responses have fakeID.

// source says which frame names an item.
type source int

const (
	ofResponse source = iota // an event of a response
	ofItem                   // an item of the SDK
	ofCall                   // an item of the SDK with the ID of a call, by which other items know it
)

// Beginnings of the keys of items that an item of the SDK has withheld.
const byItem, byCall = "item ", "call "

// withholdItem is withhold for an item of the SDK. Its ID may also be that of other items, but not of those that responses show.
func (d *decoder) withholdItem(at place, call strictjson.Value) {
	callKey, by := idKey(call), byItem
	if at.source == ofCall {
		by = byCall
	}
	for _, key := range at.keys {
		d.items.seen.Remove(key)
		if key == callKey { // no other item has it
			d.items.withheld.Add(key)
		} else {
			d.items.withheld.Add(by + key)
		}
	}
}

// isIDWithheld reports whether the key was withheld by a frame that the source cannot distinguish from its own.
func (d *decoder) isIDWithheld(key string, by source) bool {
	has := d.items.withheld.Contains
	switch by {
	case ofCall:
		return has(key)
	case ofItem:
		return has(key) || has(byItem+key)
	default:
		return has(key) || has(byItem+key) || has(byCall+key)
	}
}

// namelessItems says of which items without IDs parts were withheld in the current responses: whether they are reasoning, and the agents of
// their responses. Items of the SDK repeat them.
type namelessItems [2]wire.Set[string]

// withholdNameless records that the current response has a withheld item without an ID. The item of the SDK that repeats it is withheld.
func (d *decoder) withholdNameless(reasons bool) {
	i := 0
	if reasons {
		i = 1
	}
	d.sdk.nameless[i].Add(d.response.author)
}

// forgetNameless forgets the withheld items of the agent whose next response has begun, unless others may work beside it that are not known.
func (d *decoder) forgetNameless() {
	author, a := d.response.author, &d.sdk.agents
	switch {
	case len(d.sdk.others) > 0, a.twice.Contains(author):
	case author != "":
		for i := range d.sdk.nameless {
			d.sdk.nameless[i].Remove(author)
			if a.known.Len() <= 1 {
				d.sdk.nameless[i].Remove("")
			}
		}
	case a.known.Len() <= 1:
		d.sdk.nameless = namelessItems{}
	}
}

// repeatsNameless reports whether an item of the SDK without an ID may repeat one that is withheld.
func (d *decoder) repeatsNameless(v, item, raw strictjson.Value, agent string) bool {
	is := func(name, kind string) bool {
		return v.Get("name").Is(name) || raw.Get("type").Is(kind) || item.Get("type").Is(kind+"_item") || item.Get("type").Is(kind+"_output_item")
	}
	for i, isOfKind := range []bool{is("message_output_created", "message"), is("reasoning_item_created", "reasoning")} {
		authors := &d.sdk.nameless[i]
		if isOfKind && (authors.MayContain(agent) || authors.Contains("") || agent == "" && authors.Len() > 0) {
			return true
		}
	}
	return false
}
