package openai

import (
	"slices"

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

// withheldBy begins the keys of items that a frame of the source has withheld.
var withheldBy = [...]string{ofResponse: "", ofItem: "item ", ofCall: "call "}

// withholdItem is withhold for an item of the SDK. Its ID may also be that of other items, but not of those that responses show.
func (d *decoder) withholdItem(at place, call strictjson.Value) {
	if key := idKey(call); key != "" {
		d.withhold(place{keys: []string{key}})
	}
	for _, key := range at.keys {
		d.items.seen.Remove(key)
		d.items.withheld.Add(withheldBy[at.source] + key)
	}
}

// isIDWithheld reports whether a frame that another source can tell from others of its ID has withheld the item with a key.
func (d *decoder) isIDWithheld(key string, by source) bool {
	return slices.ContainsFunc(withheldBy[:len(withheldBy)-int(by)], func(prefix string) bool { return d.items.withheld.Contains(prefix + key) })
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
