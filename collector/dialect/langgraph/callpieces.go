package langgraph

import (
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// callPieces says which calls the pieces of messages continue. Only the first piece of a call names its tool. Each mode sends the pieces
// at its own pace, even after another mode has sent the whole message.
type callPieces struct {
	source   uint64                  // of the frame being read: its mode, or the run of LangChain and the kind of its event
	internal wire.Set[string]        // messages, by ID, with a call of an internal tool or subagent
	last     map[callPlace]begunCall // the call that began last at a place; at most maxSeen
}

// callPlace is where the pieces of a call are.
type callPlace struct{ source, message, index uint64 }

// begunCall is a call whose first piece was read.
type begunCall struct {
	id         string
	isInternal bool
}

// from records where the frame being read is from.
func (p *callPieces) from(mode string, v strictjson.Value) {
	p.source = maphash.String(seed, mode)
	if mode == modeEvents {
		p.source = maphash.Bytes(seed, v.Get("event").Text()) ^ 3*maphash.Bytes(seed, v.Get("run_id").Text())
	}
}

func (p *callPieces) place(message strictjson.Value, index []byte) callPlace {
	return callPlace{p.source, maphash.Bytes(seed, message.Get("id").Text()), maphash.Bytes(seed, index)}
}

// indexOf returns the index of a piece, or nothing.
func indexOf(piece strictjson.Value) []byte {
	if index := piece.Get("index"); index.Kind() > strictjson.Null {
		return index.Raw()
	}
	return nil
}

// begin records the first piece of a call. A piece without an index continues the call that began last. If too many calls were read,
// continuesWithheld needs no more than the messages.
func (p *callPieces) begin(message, piece strictjson.Value, call begunCall) {
	if p.last == nil || len(p.last) >= maxSeen {
		p.last = make(map[callPlace]begunCall)
	}
	p.last[p.place(message, indexOf(piece))], p.last[p.place(message, nil)] = call, call
}

// argumentPieces are the members of a part of a message that may have a piece of the arguments of a call.
var argumentPieces = []string{"args", "partial_json", "input", "arguments", "function"}

// isContinuation reports whether a part of a message may be a piece of a call, but not the first one.
func isContinuation(message, part strictjson.Value) bool {
	if part.Kind() != strictjson.Object || part.Get("type").Is("text") || len(part.First("call_id", "id").Text()) > 0 {
		return false
	}
	isWhole := !lenient.HasSuffix(message.Get("type").Text(), "chunk")
	return lenient.HasMember(part, argumentPieces) || !isWhole && !isThoughtBlock(part)
}

// continuesWithheld reports whether a piece of a message continues a withheld call, or may do so.
func (d *decoder) continuesWithheld(message, piece strictjson.Value) bool {
	if c, isKnown := d.pieces.last[d.pieces.place(message, indexOf(piece))]; isKnown {
		return c.isInternal || c.id != "" && d.withheld.MayContain(c.id)
	}
	return d.pieces.internal.MayContain(d.name(message.Get("id")))
}

// cutContinuations cuts the pieces that continue withheld calls. The pieces of a message with an index tell about those without one,
// which repeat them.
//
// Source: langchain_core/messages/ai.py, AIMessageChunk.init_tool_calls.
func (d *decoder) cutContinuations(message strictjson.Value, pieces []strictjson.Value) {
	var indexed []strictjson.Value
	for _, piece := range pieces {
		if len(indexOf(piece)) > 0 {
			indexed = append(indexed, piece)
		}
	}
	isWithheld := func(piece strictjson.Value) bool { return d.continuesWithheld(message, piece) }
	repeatWithheld := slices.ContainsFunc(indexed, isWithheld)
	for _, piece := range pieces {
		if isRepeated := len(indexed) > 0 && len(indexOf(piece)) == 0; isRepeated && repeatWithheld || !isRepeated && isWithheld(piece) {
			d.cutCall(piece)
		}
	}
}
