package openai

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	singleRun  bool
	agent      string     // the configured name: only the Agents SDK names agents
	joined     string     // the ID of the response that the request retrieves, or ""
	resumed    bool       // the stream begins after that response's first event
	firstRun   string     // the ID of the single run
	hasBegun   bool       // the single run has begun
	runState              // of the current run
	others     []runState // the other open runs; the one that was current last is at the end
	frames     int        // so far
	unreadable int        // the number of those that could not be read
	responses  int        // the number of those with a name, see nameResponse
	items      itemSet    // by their IDs, also those of calls, responses and completions

	begunResponses int
	names          wire.NameCache
	inResults      bool // the last chunk had results of calls
	results        results
	callIDs        wire.Set[string] // the run and the ID of each call of a completion
	unanswered     wire.Set[string] // the IDs of calls without a result so far, see followCalls
	done           wire.Set[string] // the keys of the IDs of items that were reported
	at             place            // of the current event of a response
	eventAgent     string           // the agent that the application names in the current event, or ""
	itemAgent      *string          // the agent of the item that the current event is part of, see readAgents; nil if the response names none
}

func (d *decoder) decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	b.Run, b.Session, b.Agent = d.run, d.session, d.speaker()
	switch {
	case bytes.Equal(bytes.TrimSpace(f.Data), []byte(typeDone)):
		b.Type = typeDone
		d.streamDone(b)
	case !v.Exists():
		b.Rejected = f.Malformed
		switch isError, isFailed := isBrokenError(f.Data), isBrokenFailure(f); {
		case (isError || isFailed) && d.begun:
			b.StreamError = isError
			d.fail(strictjson.Value{}, b)
		case isError || isFailed: // a frame that cannot be read begins no run
			b.Add(event.KindError).Error = event.AgentError
		}
	case v.Kind() != strictjson.Object:
		b.Rejected = event.ReasonShape
	default:
		d.decodeObject(f, b)
	}
	switch {
	case b.Rejected == "" && len(b.Events) == 0:
		b.Add(event.KindOther)
	case b.Rejected != "" && !v.Exists() && f.MayContainObject(), v.Kind() != strictjson.Object && mayContainEvent(v):
		d.unreadable++
	}
}

// Decode decodes a frame. The content hash lets other parts recognize a frame of a response that another stream
// repeats.
func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	d.frames++
	d.itemAgent, d.eventAgent = nil, ""
	if d.decode(f, b); d.sdk.wrapped {
		d.sdk.followFrame(b)
		d.sdk.agents.placeIn(b)
		b.AgentUnknown = b.Agent == ""
	} else {
		d.setSpeaker(b)
		d.followCalls(b)
	}
	b.Response = d.responseName
	if b.Run != "" && !d.chat.started {
		b.ContentHash = wire.ContentHash(f)
	}
}

func (d *decoder) decodeObject(f dialect.Frame, b *event.Batch) {
	v, failure := f.JSON, errorOf(f)
	switch named := v.Get("type"); {
	case failure.Exists():
		b.Type, b.StreamError = typeServerError, true
		listError(v, b)
		d.fail(failure, b)
	case !named.Is(typeError) && namesOther(f):
		d.rejectShape(v, b)
	case isChunk(v):
		b.Type = typeChunk
		d.chunk(f, b)
	case isType(v, typeAgentUpdated):
		b.Type = typeAgentUpdated
		d.agentUpdated(v, b)
	case isType(v, typeRunItem):
		b.Type = typeRunItem
		d.runItem(v, b)
	case isType(v, typeRaw):
		d.sdk.on, d.sdk.wrapped = true, true
		b.Type = typeRaw
		if d.responseEvent(f, v.Get("data"), b); b.Type != typeRaw {
			b.Type = wrapped(typeRaw, b.Type)
		}
		d.sdk.on, d.sdk.wrapped = true, true // it may have begun a run
	case isType(v, typeModel):
		d.modelEvent(f, b)
	case named.Kind() == strictjson.String:
		d.responseEvent(f, v, b)
	default:
		d.rejectShape(v, b)
	}
	b.HasThoughts = b.HasThoughts || marksOf(v, v.Get("data")).shows
}

// rejectShape rejects an object that is not an event, although it may belong to an item.
func (d *decoder) rejectShape(v strictjson.Value, b *event.Batch) {
	b.Rejected = event.ReasonShape
	d.at.read(v)
	d.checkUnknown(d.at, b)
}

// namesOther reports whether a frame's SSE event name is the type of an event of a response, but neither
// the frame nor what it wraps has this type. Some clients trust the name.
func namesOther(f dialect.Frame) bool {
	_, known := kinds[string(f.Event)]
	data := f.JSON.Get("data")
	return known && !slices.ContainsFunc([]strictjson.Value{f.JSON, data, data.Get("event")}, func(v strictjson.Value) bool { return isType(v, string(f.Event)) })
}

// responseEvent decodes an event of a response: a frame, or what a frame of the Agents SDK wraps.
func (d *decoder) responseEvent(f dialect.Frame, v strictjson.Value, b *event.Batch) {
	if isType(v, typeError) {
		b.Type = typeError
		d.fail(v, b)
		return
	}
	d.at.read(v)
	k, known := kinds[string(typeOf(v))]
	if !known {
		b.UnknownKind = dialect.UnknownKind(v.Get("type").Text())
		d.checkUnknown(d.at, b)
		return
	}
	b.Type = d.names.Truncate(typeOf(v), dialect.MaxName)
	b.Internal = wire.IsFiltered(b, prefilter) || d.isWithheldResponse(v)
	d.readEventAgent(f.JSON, f.JSON.Get("data"), v)
	d.selectResponse(v, b)
	d.at.shared, d.at.reasons = d.response.shared, d.at.reasons || k.thinks
	agents := d.readAgents(v, b)
	if d.ended && (d.response.id != "" && d.name(v.Get("response").Get("id")) == d.response.id || d.failed && isType(v, typeFailed)) {
		b.Internal = b.Internal || d.response.internal
		return // the response or its failure is repeated, and its end has reported everything
	}
	d.resumed = d.resumed || d.joined != "" && !d.begun && !isType(v, typeCreated)
	m := marksOf(f.JSON, f.JSON.Get("data"), v, v.Get("delta"), v.Get("response"))
	b.Internal = b.Internal || m.instructs
	if k.part {
		if !d.ended {
			d.openAnswer(v.Get("item"), b)
		}
		d.markPart(k, v, m, b)
		d.readItemAgent(agents, b)
	}
	d.setAuthor(b)
	k.decode(d, v, b)
	if d.setAuthor(b); k.part && isID(d.at.name()) && (d.responses > 0 || d.isLaterMessage(b)) {
		b.NameTexts(d.at.name()) // a response that is open too may have the item
	}
	d.response.sequence, _ = v.Get("sequence_number").Int()
	if k.part {
		d.checkPart(k, v, b)
	} else {
		d.checkResponse(k, v, m, b)
	}
	b.Type += d.repeated(v, b)
}

// checkPart withholds an event that is part of a withheld item, or of an item that may have begun in an unreadable frame.
func (d *decoder) checkPart(k kind, v strictjson.Value, b *event.Batch) {
	switch b.Internal = b.Internal || d.isPartWithheld(d.at) || !k.begins && d.isLost(d.at); {
	case b.Internal:
		d.withholdPart(d.at, k.begins)
	case k.begins:
		d.addSeen(d.at)
	case d.lacksStart(v):
		b.Type = typeUnbegun
	}
}

// checkResponse withholds an event of a response that is withheld from its beginning, or that has a withheld item. What the event begins
// is withheld too.
func (d *decoder) checkResponse(k kind, v strictjson.Value, m marks, b *event.Batch) {
	isOfResponse := v.Get("response").Exists() && d.anyCurrent(func(r *response) bool { return r.internal })
	b.Internal = b.Internal || isOfResponse
	d.checkOutput(m, v.Get("response"), b)
	if b.Internal && k.starts {
		d.withholdResponse(d.name(v.Get("response").Get("id")))
	}
}

// checkUnknown withholds the item at a place if an event without a known type calls itself internal.
func (d *decoder) checkUnknown(at place, b *event.Batch) {
	if b.Internal = lenient.IsInternal(b.Frame.Event) || lenient.HasInternalDiscriminator(&anyMark, b.JSON); b.Internal {
		d.withhold(at)
	}
}

// withholdResponse withholds the current response up to its end. Later events that name its ID are withheld too.
func (d *decoder) withholdResponse(id string) {
	d.response.internal = true
	d.withholdNameless(false)
	d.withholdNameless(true)
	if id != "" && !isFake(id) {
		d.items.withheld.Add(responseID + id)
	}
}

// isWithheldResponse reports whether an event names a response that is withheld.
func (d *decoder) isWithheldResponse(v strictjson.Value) bool {
	id := d.name(responseIDOf(v))
	return id != "" && d.items.withheld.Contains(responseID+id)
}

// lacksStart reports whether an event is part of an item whose start is not in the stream, so that it is unknown what the item is. It
// returns false if the stream shows only parts of responses (MLflow, or an application that passes on only texts), or if the part may be
// of several responses. A whole item says itself what it is, but if a client resumes a response, its start may have been withheld.
func (d *decoder) lacksStart(v strictjson.Value) bool {
	if d.resumed {
		return !d.saw(d.at)
	}
	ofSeveral := d.response.shared || d.responses > 0 && !isID(d.at.name())
	return !d.response.implied && !ofSeveral && !isType(v, typeItemDone) && !d.mayHaveBegun(d.at)
}

// beginsAnother reports whether an event begins another item, although an earlier one has its number: the next response has begun, and
// the stream shows the start of neither response. It forgets the state of the earlier item.
func (d *decoder) beginsAnother() bool {
	number := d.response.states[d.at.number()]
	isAnother := d.hasNewID(d.at) && (number != nil && number.whole || d.isNoMessage(d.at.number()))
	if isAnother {
		delete(d.response.states, d.at.number())
	}
	return isAnother
}

// markPart records what an event says about the item that it is part of.
func (d *decoder) markPart(k kind, v strictjson.Value, m marks, b *event.Batch) {
	if k.begins || d.response.implied && d.beginsAnother() {
		d.forgetNumber(d.at)
	}
	if k.begins || d.sdk.on {
		d.response.addItem(d.at)
	}
	item := v.Get("item")
	if k.begins && !isResult(item) {
		d.addSeen(d.at) // unless checkPart withholds it
	}
	if item.Exists() {
		m.add(itemMarks(item))
	}
	d.markItem(d.at, m)
	if k.thinks && !d.saw(d.at) {
		d.markThought(d.at)
	}
	part := marksOf(v.Get("part"))
	b.Internal = b.Internal || m.instructs || part.instructs
	b.HasThoughts = m.shows || part.shows || d.itemTextKind(d.at) == event.KindThought
}

func (d *decoder) ignore(strictjson.Value, *event.Batch) {}

// begin starts a run unless one is open. If the stream is a single run, other responses and completions continue it.
func (d *decoder) begin(run, session string, b *event.Batch) {
	if d.ended {
		d.resetRun()
	}
	if d.begun {
		return
	}
	if d.singleRun {
		d.firstRun = cmp.Or(d.firstRun, run)
		run = d.firstRun
	}
	d.begun, d.run, d.session = true, run, session
	b.Run, b.Session, b.Agent = run, session, ""
	if !d.singleRun || !d.hasBegun {
		b.Add(event.KindRunStarted)
	}
	d.hasBegun = true
}

// end ends the run.
func (d *decoder) end(failure event.Failure, code string, b *event.Batch) {
	if !d.begun || d.ended {
		return
	}
	d.failure, d.code = failure, code
	if d.ended = true; d.chat.ended || d.singleRun && slices.ContainsFunc(d.others, d.mayContinue) {
		return // the end was reported before, or the stream's only run has other open responses
	}
	if d.singleRun {
		d.others = nil
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = failure, code
}

// streamDone handles [DONE], which ends a run of the Agents SDK or a chat completion. A response ends with
// its own event, unless the server shows only parts of it.
func (d *decoder) streamDone(b *event.Batch) {
	if d.singleRun && d.ended && len(d.others) > 0 && !slices.ContainsFunc(d.others, func(r runState) bool { return r.chat.started }) {
		d.others, d.ended = nil, false // the ends of the other responses are missing
		d.end(d.failure, d.code, b)
		return
	}
	if d.ended || !d.singleRun && d.chat.started && !d.chat.finished { // [DONE] belongs to a completion that has finished
		d.restoreRun(func(r *runState) bool { return r.chat.finished }, b)
	}
	if d.begun && !d.ended && (d.sdk.on || !d.response.open || d.response.implied) {
		d.finishChat(b)
		d.reportUsage(b)
		switch {
		case d.sdk.agents.beside:
			b.Agent = "" // the agents of the other runs may have ended long before
		case len(d.sdk.agents.active) == 0:
			b.Agent = d.sdk.agents.current // it has finished the run
		case b.Agent != d.sdk.lastBy:
			b.Agent = "" // its end is missing
		}
		d.setAuthor(b)
		if d.endImplied(b, false); !d.sdk.on {
			d.pauseCalls(b)
		}
		isCut := d.isCut()
		if !d.endAfterErrors(b) {
			d.end(d.chat.failure, d.chat.code, b)
		}
		if n := len(b.Events); isCut && n > 0 && b.Events[n-1].Kind == event.KindRunEnded {
			b.Events[n-1].Cuts = true
		}
	}
}

// pauseCalls reports the calls that the client has to execute. Its next request contains the results.
func (d *decoder) pauseCalls(b *event.Batch) {
	for _, open := range d.calls {
		if !open.hosted {
			b.Add(event.KindToolPaused).CallID = open.id
		}
	}
	d.calls = nil
}

// isBrokenError reports whether data that is not JSON looks like an error with an unescaped text.
func isBrokenError(data []byte) bool {
	return brokenError.Match(data)
}

// brokenError matches the beginning of an error.
var brokenError = regexp.MustCompile(`^\s*\{\s*"error"\s*:`)

// brokenFailure matches the beginning of the event of a failed response.
var brokenFailure = regexp.MustCompile(`^\s*\{\s*"type"\s*:\s*"` + regexp.QuoteMeta(typeFailed) + `"`)

// isBrokenFailure reports whether a frame that cannot be read says that a response has failed.
func isBrokenFailure(f dialect.Frame) bool {
	return string(f.Event) == typeFailed || brokenFailure.Match(f.Data)
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }
