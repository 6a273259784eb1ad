package openai

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// modelEvents are the types of what a raw_model_stream_event contains. A "model" event has an event of the model's API, which the others
// repeat in the SDK's own form.
//
// Source: packages/agents-core/src/types/protocol.ts of @openai/agents 0.17.
var modelEvents = []string{pieceOfModel, textOfModel, startOfModel, endOfModel}

const pieceOfModel, textOfModel, startOfModel, endOfModel = "model", "output_text_delta", "response_started", "response_done"

// modelEvent reads an event about a model's answer from the SDK for JavaScript. An event that wraps no event of a response does not
// reliably name its item. So it is withheld if anything was withheld before.
func (d *decoder) modelEvent(f dialect.Frame, b *event.Batch) {
	b.Type = typeModel
	data := f.JSON.Get("data")
	inner := data.Get("event")
	if isType(data, pieceOfModel) && isOfResponse(inner) {
		d.sdk.on, d.sdk.wrapped, d.sdk.responses = true, true, true
		b.Type = typeOrphan
		if d.responseEvent(f, inner, b); b.Type != typeOrphan {
			b.Type = wrapped(typeModel, b.Type)
		}
		d.sdk.on, d.sdk.wrapped = true, true // it may have begun a run
		return
	}
	var at place
	at.addID(data.First("itemId", "item_id"))
	if !slices.Contains(modelEvents, string(typeOf(data))) {
		if namesMessage(f.JSON) {
			d.withheld.withholdUnseen(at)
		}
		b.Type, b.UnknownKind = typeOrphan, dialect.UnknownKind([]byte(typeModel+"."+data.Get("type").String()))
		return
	}
	d.beginSDK(b)
	d.readEventAgent(f.JSON, data)
	switch {
	case hasInternalAgent(f.JSON, data):
		b.Internal = true
		d.withheld.withholdItem(at)
	case marksOf(f.JSON, data, inner, data.Get("providerData")).instructs, wire.IsFiltered(b, prefilter), d.withheld.isWithheld(at):
		b.Internal = true
		d.withheld.withhold(at)
	case d.withheld.missed, d.withheld.inResponse, len(d.sdk.others) > 0 && d.withheld.withheld.Len() > 0:
		b.Type = typeOrphan
	}
	unsure := d.modelAnswer(data, b)
	if b.Internal && (isType(data, startOfModel) || isType(data, pieceOfModel)) {
		d.withholdResponse(cmp.Or(d.name(data.Get("providerData").Get("response").Get("id")), d.response.id))
	}
	b.Internal = b.Internal || d.isOfInternalWork("", at) || unsure && !d.isOrdinary
}

// isOfResponse reports whether an event of a model's API is one of the Responses API.
func isOfResponse(v strictjson.Value) bool {
	return bytes.HasPrefix(typeOf(v), []byte("response."))
}

// modelAnswer reads the beginning, a piece or the end of a model's answer. Models that the SDK does not call by the Responses API show only
// these: the SDK's items show the texts and calls. The AI SDK's models do not name the answer at its beginning. It returns whether the answer may
// be of an internal agent.
//
// Source: packages/agents-openai/src/openaiChatCompletionsStreaming.ts of @openai/agents 0.20, and packages/agents-extensions/src/ai-sdk of
// @openai/agents-extensions 0.18.
func (d *decoder) modelAnswer(data strictjson.Value, b *event.Batch) (unsure bool) {
	source, piece, answer := data.Get("providerData"), data.Get("event"), data.Get("response")
	if isType(data, startOfModel) || isType(data, endOfModel) {
		d.turns.seeHandoffs()
	}
	if isType(data, startOfModel) {
		d.turns.setAnswers(false)
		d.forgetResponse()
		if isOfResponse(source) {
			source = source.Get("response")
		}
		d.startOutline(source, b)
		return d.turns.mayBeInternal()
	}
	id := d.name(cmp.Or(piece.Get("id"), source.Get("id"), answer.Get("id")))
	selected, r := d.selectOutline(id), &d.response
	d.isNamed = selected
	unsure = d.isUnsure()
	if d.setAuthor(b); !selected && len(d.sdk.others) > 0 {
		b.Agent = ""
	}
	if id == "" || isFake(id) { // the answer's end may be missing
		unsure = unsure || d.turns.mayBeInternal()
	}
	switch {
	case isType(data, textOfModel):
		d.turns.setAnswers(true)
		if !d.sdk.responses && (selected || !d.hasOutlines()) && !b.Internal && b.Type != typeOrphan {
			b.Partial = b.AddText(event.KindText, data.Get("delta")) != nil
		}
	case !selected:
	case isType(data, pieceOfModel):
		r.model, r.reason = cmp.Or(r.model, d.name(piece.First("model", "modelId"))), cmp.Or(d.name(reasonOf(piece)), r.reason)
	case isFake(id) || r.id == "" || r.id == id:
		d.endOutline(answer, b)
	}
	return unsure
}

// reasonOf returns why a chunk of a completion, or a part of the AI SDK, finishes an answer.
func reasonOf(piece strictjson.Value) strictjson.Value {
	for one := range piece.Get("choices").Elements() {
		if reason := finishReason(one); reason.Exists() {
			return reason
		}
	}
	reason := piece.Get("finishReason")
	return wire.FinishReason(cmp.Or(reason.Get("unified"), reason))
}

// startOutline begins an answer of which items will show the texts and calls. Unlike a response, it does not show the beginnings of items.
func (d *decoder) startOutline(source strictjson.Value, b *event.Batch) {
	d.startResponse(source, b)
	d.response.outlined = true
	d.setAuthor(b)
}

// selectOutline makes the outlined response current that has an ID, else the only open one. It returns false if that is not clear.
func (d *decoder) selectOutline(id string) bool {
	n := 0
	named := func(r *response) bool { return r.open && r.outlined && r.id == id && id != "" }
	for r := range d.openAnswers() {
		if named(r) {
			n++
		}
	}
	if n == 1 {
		return named(&d.response) || d.restoreAnswer(named)
	}
	return d.response.open && d.response.outlined && len(d.sdk.others) == 0
}

// hasOutlines reports whether an outlined response is open.
func (d *decoder) hasOutlines() bool { return d.anyOpen(func(r *response) bool { return r.outlined }) }

// endOutline ends an outlined response.
func (d *decoder) endOutline(answer strictjson.Value, b *event.Batch) {
	r := &d.response
	for item := range answer.Get("output").Elements() {
		r.hasCalls = r.hasCalls || isClientCall(item)
		d.followCall(item)
		var at place
		at.addItem(item)
		r.addItem(at) // its items may name its agent
	}
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.Usage = r.model, r.reason, outlineUsage(answer.Get("usage"))
	e.Error, e.Code = wire.FinishFailure(r.reason)
	r.open, r.ended = false, true
	d.turns.showEnds = true
	d.turns.setAnswers(!r.hasCalls)
	d.handOver()
	d.endTurn(answer.Get("output"), e.Error, e.Code, b)
}

// outlineUsage reads the usage of an outlined response. The SDK writes 0 for what the model's server did not count.
func outlineUsage(v strictjson.Value) event.Usage {
	counted := func(v strictjson.Value) event.Count {
		if n := dialect.Count(v); n.N > 0 {
			return n
		}
		return event.Count{}
	}
	input, output := dialect.Count(v.Get("inputTokens")), dialect.Count(v.Get("outputTokens"))
	if input.N == 0 && output.N == 0 {
		return event.Usage{}
	}
	return event.Usage{
		Input: input, Output: output,
		CacheRead: counted(v.Get("inputTokensDetails").Get("cached_tokens")),
		Reasoning: counted(v.Get("outputTokensDetails").Get("reasoning_tokens")),
	}
}

// selectRepeated makes the outlined response current that an event of the Responses API begins again, if there is one. An application may
// pass on both forms of each event, the SDK's own first.
func (d *decoder) selectRepeated(id string) {
	repeated := func(r *response) bool { return r.repeatsOutline(id) }
	if !repeated(&d.response) {
		d.restoreAnswer(repeated)
	}
}

// repeatsOutline reports whether a response with an ID is an outlined one that is open.
func (r *response) repeatsOutline(id string) bool { return r.open && r.outlined && r.id == id }

// showedItems reports whether a response has ended that showed its items.
func (r *response) showedItems() bool { return r.ended && !r.outlined }
