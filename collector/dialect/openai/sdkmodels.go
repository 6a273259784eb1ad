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

// modelEvent reads an event about a model's answer from the SDK for JavaScript.
func (d *decoder) modelEvent(f dialect.Frame, b *event.Batch) {
	data := f.JSON.Get("data")
	inner := data.Get("event")
	var at place
	at.addID(data.First("itemId", "item_id"))
	b.Type = typeRaw
	switch {
	case isType(data, pieceOfModel) && (isOfResponse(inner) || isType(inner, typeError)):
		d.sdk.on, d.sdk.wrapped, d.sdk.responses = true, true, true
		if d.responseEvent(f, inner, b); b.Type != typeRaw {
			b.Type = wrapped(typeModel, b.Type)
		}
		d.sdk.on, d.sdk.wrapped = true, true // it may have begun a run
	case !slices.Contains(modelEvents, string(typeOf(data))):
		b.UnknownKind = dialect.UnknownKind([]byte(typeModel + "." + data.Get("type").String()))
		d.checkUnknown(at, b)
	default:
		b.Type = typeModel
		b.Internal = marksOf(f.JSON, data, inner, data.Get("providerData")).instructs || wire.IsFiltered(b, prefilter)
		d.beginSDK(b)
		d.readEventAgent(f.JSON, data)
		d.checkModel(data, at, d.modelAnswer(data, b), b)
	}
}

// checkModel withholds an event about a model's answer that is withheld, or that belongs to a withheld item or response. isOfCurrent says that
// it is of the current response. If not, it may be of any that is open.
func (d *decoder) checkModel(data strictjson.Value, at place, isOfCurrent bool, b *event.Batch) {
	isText, isUnnamed := isType(data, textOfModel), len(at.keys) == 0
	withholds := func(r *response) bool { return r.internal || r.withholds && isText && isUnnamed }
	b.Internal = b.Internal || withholds(&d.response) || !isOfCurrent && d.anyOpen(withholds)
	switch {
	case isType(data, endOfModel):
		d.checkOutput(marksOf(), data.Get("response"), b)
		b.Type = typeModel
	case isText:
		if b.Internal = b.Internal || d.isWithheld(at) || !isUnnamed && d.isLost(at); b.Internal {
			d.withholdPart(at, false)
		}
	case b.Internal:
		d.withholdResponse(cmp.Or(d.name(data.Get("providerData").Get("response").Get("id")), d.response.id))
	}
}

// isOfResponse reports whether an event of a model's API is one of the Responses API.
func isOfResponse(v strictjson.Value) bool {
	return bytes.HasPrefix(typeOf(v), []byte("response."))
}

// modelAnswer reads the beginning, a piece or the end of a model's answer. Models that the SDK does not call by the Responses API show only
// these: the SDK's items show the texts and calls. The AI SDK's models do not name the answer at its beginning. It reports whether the event is
// of the current response.
//
// Source: packages/agents-openai/src/openaiChatCompletionsStreaming.ts of @openai/agents 0.20, and packages/agents-extensions/src/ai-sdk of
// @openai/agents-extensions 0.18.
func (d *decoder) modelAnswer(data strictjson.Value, b *event.Batch) (selected bool) {
	source, piece, answer := data.Get("providerData"), data.Get("event"), data.Get("response")
	if isType(data, startOfModel) {
		d.forgetResponse()
		if isOfResponse(source) {
			source = source.Get("response")
		}
		d.startOutline(source, b)
		return true
	}
	id := d.name(cmp.Or(piece.Get("id"), source.Get("id"), answer.Get("id")))
	selected = d.selectOutline(id)
	r := &d.response
	if d.setAuthor(b); !selected && len(d.sdk.others) > 0 {
		b.Agent = ""
	}
	switch {
	case isType(data, textOfModel):
		if !d.sdk.responses && (selected || !d.hasOutlines()) {
			b.Partial = b.AddText(event.KindText, data.Get("delta")) != nil
		}
	case !selected:
	case isType(data, pieceOfModel):
		r.model, r.reason = cmp.Or(r.model, d.name(piece.First("model", "modelId"))), cmp.Or(d.name(reasonOf(piece)), r.reason)
	case isFake(id) || r.id == "" || r.id == id:
		d.endOutline(answer, b)
	}
	return selected
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
		var at place
		at.addItem(item)
		r.addItem(at) // its items may name its agent
	}
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.Usage = r.model, r.reason, outlineUsage(answer.Get("usage"))
	e.Error, e.Code = wire.FinishFailure(r.reason)
	r.open, r.ended = false, true
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
// pass on both forms of each event, the SDK's own first. The model of an application may not name the answer in its first form.
func (d *decoder) selectRepeated(id string) {
	if r := &d.response; r.repeatsOutline("") && len(d.sdk.others) == 0 {
		r.id = id
		return
	}
	repeated := func(r *response) bool { return r.repeatsOutline(id) }
	if !repeated(&d.response) {
		d.restoreAnswer(repeated)
	}
}

// repeatsOutline reports whether a response with an ID is an outlined one that is open.
func (r *response) repeatsOutline(id string) bool { return r.open && r.outlined && r.id == id }

// showedItems reports whether a response has ended that showed its items.
func (r *response) showedItems() bool { return r.ended && !r.outlined }
