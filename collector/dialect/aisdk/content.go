package aisdk

import (
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// contentKey identifies a part that comes whole: one that the application defines, a source or a file. A later part with the same key
// replaces or repeats it.
type contentKey struct{ kind, id string }

func (k contentKey) shared() sharedID { return sharedID(k) }

// sourceKey returns the key of a source. Both types of sources share their IDs.
func sourceKey(id strictjson.Value) contentKey {
	if id.Kind() == strictjson.String {
		return contentKey{"source", dialect.Name(id.String())}
	}
	return contentKey{"source", dialect.Name(string(id.Raw()))} // a lenient reader may take 7 for "7"
}

// fileKey returns the key of a file, which has no ID. Its URL may contain the whole file.
func fileKey(url strictjson.Value) contentKey {
	return contentKey{typeFile, strconv.FormatUint(wire.Hash(url.String()), 16)}
}

// contents holds the parts that come whole.
type contents struct {
	shown, withheld wire.Set[contentKey]
}

// mayBeWithheld reports whether a part may replace or repeat a withheld one. missed says that an unreadable frame may have been such a
// part. A part without an ID is another one than all others.
func (c *contents) mayBeWithheld(key contentKey, missed bool) bool {
	return key.id != "" && (c.withheld.MayContain(key) || missed && !c.shown.Contains(key))
}

func (c *contents) add(key contentKey, withheld bool) {
	switch {
	case key.id == "":
	case withheld:
		c.withheld.Add(key)
	default:
		c.shown.Add(key)
	}
}

// checkContent marks a part internal if it replaces or repeats a withheld one, and remembers it.
func (d *decoder) checkContent(key contentKey, missed bool, b *event.Batch) {
	b.Internal = b.Internal || d.contents.mayBeWithheld(key, missed) || d.isWithheldElsewhere(key.shared())
	isWithheld := d.withheld || b.Internal
	d.contents.add(key, isWithheld)
	if key.id != "" && isWithheld {
		d.withhold(key.shared())
	}
}

// citesWithheld reports whether a citation is of a withheld source.
func (d *decoder) citesWithheld(citation strictjson.Value) bool {
	for _, id := range []strictjson.Value{citation.Get("source").First("id", "sourceId"), citation.Get("sourceId")} {
		if key := sourceKey(id); id.Exists() && (d.contents.mayBeWithheld(key, false) || d.isWithheldElsewhere(key.shared())) {
			return true
		}
	}
	return false
}
