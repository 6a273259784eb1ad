package a2a

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// addCode reports executed code, or its result, once per event, because servers repeat an event as the answer. Once the
// set is full, it reports nothing more.
func (t *task) addCode(m adkMetadata, p part, b *event.Batch) {
	id := maphash.Comparable(seed, struct{ event, data string }{string(m.event.Raw()), string(p.data.Raw())})
	if t.codes.MayContain(id) {
		return
	}
	t.codes.Add(id)
	kind := event.KindToolStarted
	if p.kind == partCodeResult {
		kind = event.KindToolEnded
	}
	e := b.Add(kind)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.data.Get("id").String())
	if e.SetPayload(p.data); kind == event.KindToolEnded {
		e.TurnMayEnd = true // the model may execute code within a response
		e.Error, e.Code = wire.CodeFailure(p.data)
	}
}
