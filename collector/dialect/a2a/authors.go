package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// contentAuthors remembers who wrote the messages and artifacts of a stream, at most wire.MaxSet.
type contentAuthors struct {
	names map[contentKey][]string
	count int
}

func (a *contentAuthors) add(id contentKey, name string) {
	if slices.Contains(a.names[id], name) || a.count == wire.MaxSet {
		return
	}
	if a.names == nil {
		a.names = make(map[contentKey][]string)
	}
	a.names[id] = append(a.names[id], name)
	a.count++
}

// of returns the authors of a message or an artifact. If not all are known, one is wire.UnknownAuthor.
func (a *contentAuthors) of(id contentKey) []string {
	if a.count == wire.MaxSet {
		return append(slices.Clone(a.names[id]), wire.UnknownAuthor)
	}
	return a.names[id]
}

// trackAuthors remembers the authors that an update names, and reports those of what a snapshot repeats: the snapshot
// may name another or none.
func (d *decoder) trackAuthors(c content, around []strictjson.Value, b *event.Batch) {
	if c.extent == extentSnapshot {
		b.AddAuthors(c.around[len(c.around)-1], d.authors.of(c.id)...)
		return
	}
	for author := range valuesOf(authorMembers, slices.AppendSeq(around, c.parts.list.Elements())...) {
		if author.Kind() > strictjson.Null && !author.Is("") {
			d.authors.add(c.id, d.name(author))
		}
	}
}
