package a2a

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// codeKey identifies code, or a result of code, in an event. Results of different code are often equal: many are empty.
type codeKey struct {
	event      string
	data, code uint64 // hashes; code is that of the code before a result, if the event has no ID
}

// addCode reports executed code, or its result, unless an earlier frame had it: servers repeat an event as the answer. Equal parts in one
// frame are executions of their own. inFrame counts them. Once the set is full, it reports nothing more.
func (t *task) addCode(m adkMetadata, p part, inFrame map[codeKey]int, b *event.Batch) {
	key := codeKey{event: string(m.event.Raw()), data: maphash.Bytes(seed, p.data.Raw())}
	kind := event.KindToolStarted
	if p.kind != partCodeResult {
		t.lastCode = key.data
	} else if kind = event.KindToolEnded; key.event == "" {
		key.code = t.lastCode
	}
	inFrame[key]++
	id := maphash.Comparable(seed, struct {
		key codeKey
		n   int
	}{key, inFrame[key]})
	if t.codes.MayContain(id) {
		return
	}
	t.codes.Add(id)
	e := b.Add(kind)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.data.Get("id").String())
	if e.SetPayload(p.data); kind == event.KindToolEnded {
		e.TurnMayEnd = true // the model may execute code within a response
		e.Error, e.Code = wire.CodeFailure(p.data)
	}
}
