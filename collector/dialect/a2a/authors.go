package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// trackAuthors remembers the authors that an update names. A snapshot may name other authors, or none, for what it
// repeats. For a snapshot, trackAuthors adds the remembered authors to the batch.
func (d *decoder) trackAuthors(c content, u update, frame strictjson.Value, b *event.Batch) {
	if c.extent == extentSnapshot {
		b.AddAuthors(c.around[len(c.around)-1], d.authors.Of(c.id)...)
		return
	}
	around := slices.Concat(c.around, []strictjson.Value{frame, frame.Get("result")})
	if c.inBody {
		around = append(around, u.body)
	}
	for _, object := range around {
		d.authors.Add(c.id, b.Authors[object]...) // of the answer of a remote agent
	}
	for author := range valuesOf(wire.ADKAuthors, slices.AppendSeq(around, c.parts.list.Elements())...) {
		if author.Kind() > strictjson.Null && !author.Is("") {
			d.authors.Add(c.id, d.name(author))
		}
	}
}
