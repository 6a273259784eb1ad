package aisdk

import (
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// contentKey identifies a part that comes whole: one that the application defines, a source or a file. A later part with a key of it
// replaces or repeats it. A source has two keys: its ID and its URL.
type contentKey struct{ kind, id string }

// Kinds of keys besides the types of parts that the application defines.
const (
	sourceIDs = "source"
	urls      = "url"
)

func (k contentKey) shared() sharedID { return sharedID(k) }

// sourceKey returns the key of a source. Both types of sources share their IDs.
func (d *decoder) sourceKey(id strictjson.Value) contentKey { return contentKey{sourceIDs, d.key(id)} }

// urlKey returns the key of the URL of a source or a file. The URL may contain the whole file.
func urlKey(url strictjson.Value) contentKey {
	text := string(url.Raw())
	switch {
	case url.Kind() == strictjson.String:
		text = url.String()
	case !url.Exists():
		return contentKey{kind: urls}
	}
	return contentKey{urls, strconv.FormatUint(wire.Hash(text), 16)}
}

// contents holds the parts that come whole.
type contents struct {
	shown, withheld wire.Set[contentKey]
}

// mayBeWithheld reports whether a part may replace or repeat a withheld one. If missed is true, an unreadable frame may have been a part of
// this kind, so only a part that left before leaves again. A part without an ID never replaces another one.
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

// missedContent reports whether an unreadable frame may have been a part with a key of this kind.
func (d *decoder) missedContent(key contentKey) bool {
	switch key.kind {
	case sourceIDs:
		return d.missed.sources
	case urls:
		return d.missed.sources || d.missed.files
	}
	return d.missed.data
}

// isWithheldContent reports whether a part with a key was withheld or may have been, on this stream or on one that it continues.
func (d *decoder) isWithheldContent(key contentKey) bool {
	return d.contents.mayBeWithheld(key, d.missedContent(key)) || d.replacesWithheld(key.shared())
}

// checkContent marks a part internal if it replaces or repeats a withheld one, and remembers it.
func (d *decoder) checkContent(b *event.Batch, keys ...contentKey) {
	for _, key := range keys {
		b.Internal = b.Internal || d.isWithheldContent(key)
	}
	isWithheld := d.withheld || b.Internal
	for _, key := range keys {
		d.contents.add(key, isWithheld)
		if key.id != "" && isWithheld {
			d.withhold(key.shared())
		}
	}
}

// citesWithheld reports whether a citation is of a source that was withheld or may have been.
func (d *decoder) citesWithheld(citation strictjson.Value) bool {
	return slices.ContainsFunc(d.citedKeys(citation), d.isWithheldContent)
}

// citedKeys returns the keys of the source of a citation.
func (d *decoder) citedKeys(citation strictjson.Value) []contentKey {
	source := citation.Get("source")
	return []contentKey{
		d.sourceKey(source.First("id", "sourceId")), d.sourceKey(citation.Get("sourceId")), urlKey(source.Get("url")), urlKey(citation.Get("url")),
	}
}

// withholdCited withholds the sources that the withheld end of a text cites, except for those that left before.
func (d *decoder) withholdCited(end strictjson.Value) {
	for citation := range end.Get("citations").Elements() {
		for _, key := range d.citedKeys(citation) {
			if key.id != "" && !d.contents.shown.Contains(key) {
				d.contents.add(key, true)
				d.withhold(key.shared())
			}
		}
	}
}
