package openai

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// fakeID is the id that the Agents SDK gives to responses and items of a model that it calls by the Chat
// Completions API.
//
// Source: agents/models/fake_id.py of openai-agents 0.24; packages/agents-openai/src/openaiItemIds.ts of @openai/agents 0.20.
const fakeID, fakeIDOfJavaScript = "__fake_id__", "FAKE_ID"

func isFake(id string) bool { return id == fakeID || id == fakeIDOfJavaScript }

// response is the state of the current response.
type response struct {
	id        string
	model     string
	open      bool
	ended     bool    // it has ended, and no other has started
	hasItems  bool    // an item was reported, so the end of the response only repeats the items
	hasCalls  bool    // it or the completion has calls that the client or the Agents SDK executes
	final     bool    // its agent sends no further response
	failed    bool    // it ended with response.failed: the SDK raises an exception, unless an agent around it goes on
	implied   bool    // only parts of it were seen so far
	outlined  bool    // only its beginning and its end are shown, and items of the Agents SDK show the rest, see modelAnswer
	reason    string  // why it finishes, if it is outlined
	internal  bool    // its start was withheld, so the rest is too
	withholds bool    // a part of it was withheld
	overtaken bool    // another response has ended since its last event
	shared    bool    // it stands for several open responses of which one has the item
	author    string  // the agent that it is of, or "". It does not change, so that the response ends where it began
	agent     string  // the agent that its first event names, or ""
	besides   bool    // an item of the Agents SDK came while it was open
	named     bool    // an item has named its agent, after its end
	sequence  int64   // the number of its last event
	number    int     // counts the responses of a stream; 0 if it is not known which response it is
	items     itemSet // by their numbers
	states    map[string]*itemState
	itemKeys  wire.Set[string] // the keys of the IDs of its items
	pieces    pieces           // of the last text
	message   string           // the key of its first message, if only parts of it were seen

	namesAgents bool // several agents answer, and its events and items name them
}

// responseCreated starts a response. Without the Agents SDK it is a run.
//
// Source: openai/types/responses/response.py of openai 3.54.
func (d *decoder) responseCreated(v strictjson.Value, b *event.Batch) {
	r := v.Get("response")
	switch id := d.name(r.Get("id")); {
	case d.sdk.on && d.response.repeatsOutline(id):
		d.response.outlined, d.response.model, d.response.agent = false, cmp.Or(d.response.model, d.name(r.Get("model"))), cmp.Or(d.response.agent, d.eventAgent)
		return
	case d.response.open && id != "" && id == d.response.id && !d.sdk.on:
		return // repeated
	}
	d.startResponse(r, b)
}

// responseRepeated reads an event that repeats the unfinished response.
func (d *decoder) responseRepeated(v strictjson.Value, b *event.Batch) {
	d.openResponse(v.Get("response"), b)
}

// openResponse opens a response unless one is open. The first event of a response may be missing.
func (d *decoder) openResponse(r strictjson.Value, b *event.Batch) {
	if !d.response.open {
		d.startResponse(r, b)
	}
}

func (d *decoder) startResponse(r strictjson.Value, b *event.Batch) {
	d.startNamed(cmp.Or(d.name(r.Get("id")), d.joined), r, b)
}

// startNamed starts a response with an ID, which need not be in the response itself.
func (d *decoder) startNamed(id string, r strictjson.Value, b *event.Batch) {
	if isFake(id) {
		d.sdk.on, id = true, ""
	}
	startUnknown := false
	if d.sdk.on {
		d.begin("", "", b)
		startUnknown = d.isStartUnknown()
		d.saveAnswer()
		d.forgetOver()
	} else {
		if d.begun && (d.chat.started || id != cmp.Or(d.response.id, d.run)) {
			d.resetRun() // each response is a run
		}
		d.begin(id, d.conversation(r), b)
	}
	d.nameResponse()
	d.begunResponses++
	d.response = response{id: id, number: d.begunResponses, model: d.name(r.Get("model")), open: true, author: d.nextAuthor(), agent: d.eventAgent}
	d.sdk.agents.current = cmp.Or(d.response.author, d.sdk.agents.current)
	d.endEarlierCalls()
	d.forgetNameless()
	d.sdk.added = call{}
	if len(d.sdk.others) == 0 && !d.answersElsewhere() {
		d.done = wire.Set[string]{} // only the end of an open response repeats items
	}
	e := b.Add(event.KindModelStarted)
	e.Model, e.Uncertain = d.response.model, startUnknown
}

// conversation returns the id of a response's conversation, or "".
func (d *decoder) conversation(r strictjson.Value) string {
	return d.name(r.Get("conversation").Get("id"))
}

// responseEnded ends a response with its usage and status.
func (d *decoder) responseEnded(v strictjson.Value, b *event.Batch) {
	r := v.Get("response")
	if !d.response.open {
		if d.response.outlined && d.response.id == d.name(r.Get("id")) {
			return // repeated
		}
		d.openImplied(r, b)
	}
	var answered wire.Set[string]
	if d.resumed {
		answered = d.answeredCalls(r.Get("output"))
	}
	for item := range r.Get("output").Elements() {
		d.response.hasCalls = d.response.hasCalls || isClientCall(item)
		var at place
		at.addItem(item)
		d.response.addItem(at) // its events may be those of the shared response
		switch {
		case d.resumed:
			d.beginMissedCall(item, &answered, b)
		case !d.response.hasItems:
			if slices.ContainsFunc(at.keys, d.done.Contains) || len(at.keys) == 0 && d.sharesItems() {
				continue // an earlier event of another response or of the shared one has reported it
			}
			d.reportItem(item, &itemState{text: d.itemKind(item, at) != event.KindText}, b)
		}
	}
	e := b.Add(event.KindModelEnded)
	e.Model = cmp.Or(d.name(r.Get("model")), d.response.model)
	e.FinishReason = cmp.Or(d.name(r.Get("incomplete_details").Get("reason")), d.name(r.Get("status")))
	e.Usage = responseUsage(r.Get("usage"))
	e.Error, e.Code = responseFailure(v, r)
	failure, code := e.Error, e.Code
	d.response.open, d.response.ended, d.response.failed, d.sdk.answered = false, true, isType(v, typeFailed), true
	switch {
	case d.sdk.on:
		d.endTurn(r.Get("output"), failure, code, b)
	case r.Get("status").Is("cancelled"):
		b.Add(event.KindError).Error = event.FailureCanceled
		d.calls = nil
		d.end(event.FailureCanceled, "", b)
	case failure != event.NoFailure:
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, code
		d.calls = nil
		d.end(event.AgentError, code, b)
	default:
		if !d.leavesCalls(r.Get("output")) {
			b.Add(event.KindFinal)
		}
		d.pauseCalls(b)
		d.end(event.NoFailure, "", b)
	}
}

// leavesCalls reports whether a response that has ended left calls to be executed. If several responses are open, the calls may be
// recorded in the run of another one.
func (d *decoder) leavesCalls(output strictjson.Value) bool {
	for item := range output.Elements() {
		id := d.name(callID(item))
		if isClientCall(item) && slices.ContainsFunc(d.others, func(r runState) bool { return r.calls.indexOf(id) >= 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(d.calls, func(open call) bool { return !open.hosted })
}

// endTurn ends a turn of the Agents SDK. The run continues if the response has calls.
func (d *decoder) endTurn(output strictjson.Value, failure event.Failure, code string, b *event.Batch) {
	switch {
	case failure != event.NoFailure:
		e := b.Add(event.KindError)
		e.Error, e.Code, e.Inline = failure, code, true
	case !d.response.hasCalls && (d.response.hasItems || output.Len() > 0 || !d.sharesItems()): // else the calls may be among the shared items
		b.Add(event.KindFinal)
		d.response.final = true
		d.sdk.agents.finish(d.response.author)
	}
	d.sdk.last = lastAnswer{d.response, d.responseName}
	for i := range d.sdk.others {
		d.sdk.others[i].overtaken = true
	}
}

// responseFailure returns the failure with which a response ended, and its code. A response that a content
// filter ended has failed. One that reached its maximum length has not: it contains a part of the answer.
func responseFailure(v, r strictjson.Value) (event.Failure, string) {
	switch status := r.Get("status"); {
	case status.Is("failed"), isType(v, typeFailed), r.Get("error").Len() > 0:
		code, _ := errorCode(r.Get("error"))
		return event.ModelError, code
	case status.Is("cancelled"):
		return event.FailureCanceled, ""
	case r.Get("incomplete_details").Get("reason").Is(contentFilter):
		return event.ModelError, contentFilter
	}
	return event.NoFailure, ""
}

const contentFilter = "content_filter"

// responseUsage reads the usage of a response. The input includes cached tokens, and the output
// includes reasoning tokens.
//
// Source: openai/types/responses/response_usage.py of openai 3.54.
func responseUsage(v strictjson.Value) event.Usage {
	return wire.WithTotal(event.Usage{
		Input: dialect.Count(v.Get("input_tokens")), Output: dialect.Count(v.Get("output_tokens")),
		CacheRead: dialect.Count(v.Get("input_tokens_details").Get("cached_tokens")),
		Reasoning: dialect.Count(v.Get("output_tokens_details").Get("reasoning_tokens")),
	}, dialect.Count(v.Get("total_tokens")))
}

// textDelta reports a piece of an answer. A refusal is an answer too.
func (d *decoder) textDelta(v strictjson.Value, b *event.Batch) {
	if kind := d.itemTextKind(d.at); isAnswerOrThought(kind) && d.isOfOne() {
		b.Partial = b.AddText(kind, v.Get("delta")) != nil
		d.response.pieces.add(v.Get("delta").Text())
	}
}

// textDone reports a whole text.
func (d *decoder) textDone(v strictjson.Value, b *event.Batch) {
	if kind := d.itemTextKind(d.at); isAnswerOrThought(kind) && b.AddText(kind, v.First("text", "refusal")) != nil {
		known := d.response.item(d.at)
		known.texts, known.text = known.texts+1, true
		d.markDone()
	}
}

// isAnswerOrThought reports whether text of a kind is an answer or a thought.
func isAnswerOrThought(kind event.Kind) bool {
	return kind == event.KindText || kind == event.KindThought
}

// partAdded begins a part.
func (d *decoder) partAdded(v strictjson.Value, _ *event.Batch) {
	d.response.pieces = pieces{}
	d.markTextOfPart(v)
}

// markTextOfPart records the kind of a part's text.
func (d *decoder) markTextOfPart(v strictjson.Value) {
	if kind := partTextKind(v.Get("part")); kind != event.KindText {
		d.mark(d.at.partKeys(), marks{kind: kind})
	}
}

// partDone reports a part's text unless it was reported. The Agents SDK sends no other whole text for
// models that it calls by the Chat Completions API.
func (d *decoder) partDone(v strictjson.Value, b *event.Batch) {
	d.markTextOfPart(v)
	known := d.response.item(d.at)
	if known.texts > 0 {
		known.texts--
		return
	}
	switch d.itemTextKind(d.at) {
	case event.KindText:
		if reportPart(v.Get("part"), b) {
			known.text = true
			d.markDone()
		}
	case event.KindThought:
		known.thoughts = b.AddText(event.KindThought, v.Get("part").Get("text")) != nil || known.thoughts
	}
}

// reportPart reports the text of a part of a message. It returns false if there is none.
func reportPart(part strictjson.Value, b *event.Batch) bool {
	kind := partTextKind(part)
	return kind != event.KindOther && b.AddText(kind, part.First("text", "refusal")) != nil
}

// partTextKind returns the kind of a part's text. It is KindOther for text that is neither an answer nor a
// thought.
func partTextKind(part strictjson.Value) event.Kind {
	m := marksOf(part)
	switch kind := part.Get("type"); {
	case kind.Is("reasoning_text"), kind.Is("summary_text"), m.thinks, lenient.ContainsThoughtMarker(part):
		return event.KindThought
	case m.kind != event.KindText:
		return event.KindOther
	case kind.Is("output_text"), kind.Is("refusal"):
		return event.KindText
	}
	return event.KindOther
}

// thoughtDelta reports a piece of a thought, which is the reasoning itself or a summary.
func (d *decoder) thoughtDelta(v strictjson.Value, b *event.Batch) {
	piece := v.Get("delta")
	if piece.Kind() == strictjson.Object {
		piece = piece.Get("text")
	}
	b.Partial = d.isOfOne() && b.AddText(event.KindThought, piece) != nil
}

func (d *decoder) thoughtDone(v strictjson.Value, b *event.Batch) {
	if b.AddText(event.KindThought, v.Get("text")) != nil {
		d.response.item(d.at).thoughts = true
	}
}
