package langgraph

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// callPieces joins the pieces of calls. Only the first piece of a call names its tool, and the arguments may name an internal subagent in
// any of them. Each mode sends the pieces at its own pace, even after another mode has sent the whole message.
type callPieces struct {
	source        uint64                    // of the frame being read: its mode, or the run of LangChain and the kind of its event
	internal      wire.Set[string]          // messages, by ID, with a call of an internal tool or subagent
	recent, older map[callPlace]*joinedCall // the call that began last at a place; at most wire.MaxSet each
	whole         map[callPlace]*joinedCall // the same of the complete message being read
	hasForgotten  bool                      // pieces of forgotten calls may follow

	answered, answeredBefore wire.Set[string] // calls with results that have left, by ID; since calls were forgotten last, and before
}

// callPlace is where the pieces of a call are.
type callPlace struct{ source, message, index uint64 }

// joinedCall is a call of which the first piece was read.
type joinedCall struct {
	id, tool   string
	isInternal bool
	forms      map[callForm]*joinedPieces
}

// joinedPieces is what the pieces of a call in one form have said so far.
type joinedPieces struct {
	tool      string // some models' servers divide even the name
	arguments argumentScan
}

// setSource records where the frame being read is from.
func (p *callPieces) setSource(mode string, v strictjson.Value) {
	p.source = maphash.String(seed, mode)
	if mode == modeEvents {
		p.source = maphash.Bytes(seed, v.Get("event").Text()) ^ 3*maphash.Bytes(seed, v.Get("run_id").Text())
	}
}

func (p *callPieces) place(message strictjson.Value, index []byte) callPlace {
	return callPlace{p.source, maphash.Bytes(seed, message.Get("id").Text()), maphash.Bytes(seed, index)}
}

// of returns the call that a part of a message continues, or nil. A piece without an index continues the call that began last.
func (p *callPieces) of(message, part strictjson.Value) *joinedCall {
	at := p.place(message, indexOf(part))
	return cmp.Or(p.whole[at], p.recent[at], p.older[at])
}

// isWhole reports whether no other frame has pieces of a message. States have complete messages even of the types of pieces.
func (d *decoder) isWhole(message strictjson.Value) bool {
	return d.withheldCalls.inState || !lenient.HasSuffix(message.Get("type").Text(), "chunk")
}

// joining holds a message while its pieces are joined to calls.
type joining struct {
	message                        strictjson.Value
	isWhole, hasPieces, hasIndexes bool
	begun                          []*joinedCall
}

func (d *decoder) beginJoining(message strictjson.Value) *joining {
	j := &joining{message: message, isWhole: d.isWhole(message)}
	for _, part := range callsOf(message) {
		j.hasPieces = j.hasPieces || !j.isWhole || isContinuation(message, part)
		j.hasIndexes = j.hasIndexes || len(indexOf(part)) > 0
	}
	d.pieces.whole = nil
	return j
}

// callPart is a part of a message that may be of a call.
type callPart struct {
	strictjson.Value
	form       callForm
	id         string // of its call, or ""
	isInternal bool   // it names something internal
}

// join joins a part to its call. If the call is thereby known to be internal, join returns its ID. Parts without an index repeat those with
// one.
//
// Source: langchain_core/messages/ai.py, AIMessageChunk.init_tool_calls.
func (j *joining) join(d *decoder, p callPart) (internal string) {
	if !j.hasPieces || p.id == "" && !p.isInternal && !isContinuation(j.message, p.Value) {
		return ""
	}
	call := j.callOf(d, p)
	if call == nil {
		return ""
	}
	isRepeated := j.hasIndexes && len(indexOf(p.Value)) == 0
	if isFound := !isRepeated && call.join(p); !isFound && !p.isInternal {
		return ""
	}
	call.isInternal = true
	d.pieces.internal.Add(d.name(j.message.Get("id")))
	switch {
	case call.id == "":
		d.withholdUnnamedJoined(j.message, p.Value, call)
	case p.id == "" || !p.isInternal:
		d.withholdJoined(j.message, call, !slices.Contains(j.begun, call))
	}
	return call.id
}

// callOf returns the call that a part begins or continues, or nil. Some models' servers repeat the ID of a call in each piece.
func (j *joining) callOf(d *decoder, p callPart) *joinedCall {
	call := d.pieces.of(j.message, p.Value)
	isFirst := call == nil || p.id != "" && call.id != p.id || p.id == "" && lenient.IsInternal(toolOf(p.Value).Text())
	isUnknown := len(toolOf(p.Value).Text()) == 0 || d.beganBefore() && d.withheldCalls.continues // it may continue a call
	if !isFirst || p.id == "" && !p.isInternal && isUnknown {
		return call
	}
	places := &d.pieces.recent
	if j.isWhole {
		places = &d.pieces.whole
	} else if len(d.pieces.recent) >= wire.MaxSet {
		d.forgetPieces()
	}
	if *places == nil {
		*places = make(map[callPlace]*joinedCall)
	}
	call = &joinedCall{id: p.id}
	j.begun = append(j.begun, call)
	(*places)[d.pieces.place(j.message, indexOf(p.Value))], (*places)[d.pieces.place(j.message, nil)] = call, call
	return call
}

// forgetPieces forgets the calls that began first. What one of them will ask is unknown if its arguments may continue, so its result does
// not leave, and neither does a piece of an unknown call.
func (d *decoder) forgetPieces() {
	p := &d.pieces
	for _, call := range p.older {
		if p.mayContinue(call) {
			d.withholdCallID(call.id)
			p.hasForgotten = true
		}
	}
	p.recent, p.older = nil, p.recent
	p.answered, p.answeredBefore = wire.Set[string]{}, p.answered
}

// mayContinue reports whether more pieces of a call may follow. A call without arguments has none after its result.
func (p *callPieces) mayContinue(c *joinedCall) bool {
	hasBegun := false
	for _, joined := range c.forms {
		if hasBegun = hasBegun || joined.arguments.hasBegun; joined.arguments.hasBegun && !joined.arguments.isComplete() {
			return true
		}
	}
	return !hasBegun && !p.answered.Contains(c.id) && !p.answeredBefore.Contains(c.id)
}

// size returns the approximate size in bytes.
func (p *callPieces) size() int {
	const ofCall = 1024
	calls := make(map[*joinedCall]struct{}) // a call is at its index, and as the last one of its message
	for _, places := range []map[callPlace]*joinedCall{p.recent, p.older} {
		for _, call := range places {
			calls[call] = struct{}{}
		}
	}
	return ofCall * len(calls)
}

// join adds a piece to a call, and reports whether the call is now known to be of an internal tool or subagent.
func (c *joinedCall) join(p callPart) bool {
	joined := c.forms[p.form]
	if joined == nil {
		if c.forms == nil {
			c.forms = make(map[callForm]*joinedPieces)
		}
		joined = new(joinedPieces)
		c.forms[p.form] = joined
	}
	if len(joined.tool) < dialect.MaxName {
		joined.tool = dialect.Name(joined.tool + toolOf(p.Value).String())
	}
	if len(joined.tool) > len(c.tool) {
		c.tool = joined.tool
	}
	return joined.arguments.add(argumentText(p.Value)) || lenient.IsInternal([]byte(joined.tool))
}

// target returns the subagent that the arguments name if it is internal and its name has ended, or "".
func (c *joinedCall) target() (target string) {
	for _, joined := range c.forms {
		target = cmp.Or(target, joined.arguments.target)
	}
	return target
}

// indexOf returns the index of a piece, or nothing.
func indexOf(piece strictjson.Value) []byte {
	if index := piece.Get("index"); index.Kind() > strictjson.Null {
		return index.Raw()
	}
	return nil
}

// argumentPieces are the members of a part of a message that may have a piece of the arguments of a call.
var argumentPieces = []string{"args", "partial_json", "input", "arguments", "function"}

// argumentText returns the arguments, or a piece of them, in a part of a message that has them as a text.
func argumentText(part strictjson.Value) []byte {
	for _, name := range argumentPieces {
		if text := cmp.Or(part.Get(name).Get("arguments"), part.Get(name)).Text(); len(text) > 0 {
			return text
		}
	}
	return nil
}

// isContinuation reports whether a part of a message may be a piece of a call, but not the first one.
func isContinuation(message, part strictjson.Value) bool {
	if part.Kind() != strictjson.Object || part.Get("type").Is("text") || len(part.First("call_id", "id").Text()) > 0 {
		return false
	}
	isWhole := !lenient.HasSuffix(message.Get("type").Text(), "chunk")
	return lenient.HasMember(part, argumentPieces) || !isWhole && !isThoughtBlock(part)
}

// continuesWithheld reports whether a piece of a message continues a withheld call, or may do so: the first piece of the call came before the
// stream, or was forgotten.
func (d *decoder) continuesWithheld(message, piece strictjson.Value) bool {
	if c := d.pieces.of(message, piece); c != nil {
		return c.isInternal || c.id != "" && d.withheld.MayContain(c.id)
	}
	return d.pieces.internal.MayContain(d.name(message.Get("id"))) || d.pieces.hasForgotten || d.beganBefore() && d.withheldCalls.continues
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
