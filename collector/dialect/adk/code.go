package adk

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

func (d *decoder) addCode(p part, b *event.Batch) {
	e := b.Add(event.KindToolStarted)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.id.String())
	d.pending.add(e.CallID, wire.CodeTool, b)
	e.SetPayload(p.body)
}

// addCodeResult ends an execution. If the result is the last part, the model is asked again. If an
// answer follows in the same frame, the model's API executed the code as part of its response.
func (d *decoder) addCodeResult(p part, fr *frame, b *event.Batch) {
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.id.String())
	e.TurnMayEnd = fr.mayEndTurn() || b.Output || fr.isFinal()
	d.pending.remove(e.CallID, wire.CodeTool)
	e.SetPayload(p.body)
	e.Error, e.Code = wire.CodeFailure(p.body)
}

// awaitsCode reports whether the frame's last piece of code has no result in the frame.
func (f *frame) awaitsCode() bool {
	awaits := false
	for _, p := range f.parts {
		if p.kind == partCode || p.kind == partCodeResult {
			awaits = p.kind == partCode
		}
	}
	return awaits
}
