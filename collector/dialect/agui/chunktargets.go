package agui

import (
	"github.com/delegraph/delegraph/collector/strictjson"
)

// chunkTargets holds the IDs of the calls and thoughts that chunks without an ID continue, by kind and owner: the protocol lets only the
// first chunk have the ID. messages.chunkTarget does the same for messages.
type chunkTargets map[key]string

// note ends what a frame of an owner does not continue, and records what the next chunk may continue.
func (t *chunkTargets) note(k *kind, id, owner string) {
	if k.endsAllChunks {
		clear(*t)
	}
	for _, of := range [...]entity{entityCall, entityThought} {
		lane := key{entity: of, owner: owner}
		switch {
		case !k.chunk || k.entity != of:
			if k.endsChunks || k.chunk {
				delete(*t, lane)
			}
		case id != "" && len(*t) < maxOpen:
			if *t == nil {
				*t = make(chunkTargets)
			}
			(*t)[lane] = id
		case id != "":
			delete(*t, lane)
		}
	}
}

// find returns what a chunk without an ID continues: that of its owner or, for a chunk without an owner, the only one.
func (t chunkTargets) find(of entity, owner string) string {
	id, is := t[key{entity: of, owner: owner}]
	if is || owner != "" {
		return id
	}
	n := 0
	for lane, one := range t {
		if lane.entity == of {
			id, n = one, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return id
}

// idOf returns the ID of what a frame is a piece of, or "".
func (d *decoder) idOf(k *kind, v strictjson.Value) string {
	if k.idMember == "" {
		return ""
	}
	id := d.name(v.Get(k.idMember))
	switch {
	case id != "" || !k.chunk:
		return id
	case k.entity != entityMessage:
		return d.chunkTargets.find(k.entity, d.owner(v))
	}
	if m := d.messages.chunkTarget(d.owner(v)); m != nil {
		return m.id
	}
	return ""
}

// callOf returns the open call that a frame of arguments is of, or nil.
func (d *decoder) callOf(v strictjson.Value) *call {
	return d.calls.find(d.idOf(kinds[typeToolChunk], v), d.owner(v))
}
