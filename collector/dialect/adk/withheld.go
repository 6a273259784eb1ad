package adk

import (
	"bytes"
	"hash/maphash"
	"iter"
	"regexp"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxWithheldEvents bounds the events that are remembered. The pieces of an event follow one another, so the latest suffice.
const maxWithheldEvents = 256

// withheld remembers what was withheld on a stream, and the calls that were withheld on other streams of its agent.
type withheld struct {
	calls   wire.WithheldCalls
	events  *simplelru.LRU[uint64, struct{}] // hashes of IDs
	texts   wire.WithheldTexts
	values  wire.WithheldValues
	pieces  streamedTexts
	updates wire.WithheldUpdates
	named   []wire.NamedCall // by the current frame; reused
}

func newWithheld(s *event.Stream) withheld {
	events, _ := simplelru.NewLRU[uint64, struct{}](maxWithheldEvents, nil) // the only error is a size below one
	w := withheld{calls: wire.NewWithheldCalls(s), events: events, values: wire.NewWithheldValues(s), updates: wire.NewWithheldUpdates(s)}
	if s.Session != "" {
		scope := s.App + "\x00" + s.User + "\x00" + s.Session
		w.calls.SetScope(scope)
		w.values.SetScopes(scope)
		w.updates.SetScope(scope)
	}
	return w
}

var prefilter = lenient.NewPrefilter(&table)

// miss records a frame that cannot be read. Its event may go on in other frames, with the same ID.
func (w *withheld) miss(f dialect.Frame) {
	w.calls.Miss(f)
	w.texts.Miss(f)
	w.values.Miss(f)
	w.updates.Miss(f)
	for _, id := range eventID.FindAllSubmatch(f.Data, maxWithheldEvents) {
		w.events.Add(maphash.Bytes(seed, id[1]), struct{}{})
	}
}

// eventID finds IDs in data that is not strict JSON.
var eventID = regexp.MustCompile(`"id"\s*:\s*"([^"]+)"`)

// check marks an event as internal if it repeats or continues a withheld event, or belongs to a call in a withheld event.
// The pieces of an event, and the event that repeats them, have the same ID.
//
// Source: google/adk/flows/llm_flows/base_llm_flow.py of google-adk 2.13.
func (w *withheld) check(fr *frame, b *event.Batch) {
	w.acceptKept(fr, b)
	id := maphash.Bytes(seed, fr.id.Text())
	place := wire.NewCallPlace(fr.author, fr.branch, fr.nodeInfo.Get("path"))
	isRepeat := len(fr.id.Text()) > 0 && w.events.Contains(id) || w.pieces.completes(fr, place, b) || w.isCopy(fr, b) || w.isSummaryOf(fr) || w.updates.Contain(b, fr.customMetadata)
	w.named = fr.appendCalls(w.named[:0], place, b)
	isFiltered := wire.IsFiltered(b, prefilter)
	b.Internal = w.calls.Check(w.named, isRepeat || isFiltered) || isRepeat
	isOfOpen := fr.hasError() && w.pieces.areOpen()
	w.pieces.add(fr, place, b, b.Internal || isFiltered)
	if (b.Internal || isFiltered) && len(fr.id.Text()) > 0 {
		w.events.Add(id, struct{}{})
	}
	w.updates.Add(b, fr.customMetadata, b.Internal || isFiltered)
	if isOfOpen { // it may quote the pieces, and the end of the run repeats it
		w.texts.Add(b, fr.errorMessages()...)
	}
	b.PublicForm = isOfOpen || fr.hasError() && w.mayQuote(append(fr.errorMessages(), fr.errorCode)...) || w.isInResultOf(fr)
	if fr.answers(b) && !fr.isRepeat { // a repeat is not the latest answer
		w.values.SetAnswer(b.Internal || isFiltered, fr.author.String(), fr.branch, fr.nodeInfo.Get("path"))
	}
	if b.Internal || isFiltered {
		w.addTexts(fr, b)
		w.addAnswers(fr, b)
	} else {
		w.cutCopies(fr, b)
	}
	w.values.CheckRemote(b, fr.customMetadata, b.Internal || isFiltered, &w.calls)
	if cap(w.named) > maxReusedParts {
		w.named = nil
	}
}

// appendCalls appends the calls that an event at a place names, and those that may run its agent.
func (f *frame) appendCalls(calls []wire.NamedCall, place wire.CallPlace, b *event.Batch) []wire.NamedCall {
	pauses := f.pauses()
	isWhole := !b.Partial && !slices.ContainsFunc(pauses[:], func(requests strictjson.Value) bool { return requests.Len() > 0 })
	for part := range f.partList.Elements() {
		calls = appendPart(calls, part, isWhole, place, b)
	}
	calls = wire.AppendActions(calls, f.actionsValue)
	calls = wire.AppendPaused(calls, pauses[2:]...) // those of a remote agent
	for id := range f.longRunning.Elements() {
		calls = append(calls, wire.NamedCall{ID: dialect.Name(id.String()), As: wire.CallRepeated})
	}
	for _, place := range []strictjson.Value{f.branch, f.nodeInfo.Get("path"), f.nodeInfo.First("outputFor", "output_for")} {
		calls = appendWithin(calls, place)
		for one := range place.Elements() {
			calls = appendWithin(calls, one)
		}
	}
	return wire.AppendScope(calls, f.scope.String())
}

func appendWithin(calls []wire.NamedCall, place strictjson.Value) []wire.NamedCall {
	if bytes.IndexByte(place.Text(), '@') < 0 { // as most
		return calls
	}
	return wire.AppendWithin(calls, place.String())
}

// callMember is a member of a part that holds a call or its result.
type callMember struct {
	as   wire.CallRole
	tool string // the member with the tool's name, or ""
}

var callMembers = map[string]callMember{
	"functionCall": {wire.CallBegins, "name"}, "function_call": {wire.CallBegins, "name"},
	"functionResponse": {wire.CallRepeated, "name"}, "function_response": {wire.CallRepeated, "name"},
	"toolCall": {wire.CallBegins, "toolType"}, "tool_call": {wire.CallBegins, "tool_type"},
	"toolResponse": {wire.CallRepeated, "toolType"}, "tool_response": {wire.CallRepeated, "tool_type"},
	"executableCode": {wire.CodeBegins, ""}, "executable_code": {wire.CodeBegins, ""},
	"codeExecutionResult": {wire.CodeEnds, ""}, "code_execution_result": {wire.CodeEnds, ""},
}

// callsIn yields the calls and results in a part. A server that writes each member that is not set as null has none there.
func callsIn(part strictjson.Value) iter.Seq2[callMember, strictjson.Value] {
	return func(yield func(callMember, strictjson.Value) bool) {
		for name, value := range part.Members() {
			if member, is := callMembers[string(name.Text())]; is && value.Kind() > strictjson.Null && !yield(member, value) {
				return
			}
		}
	}
}

// appendPart appends the calls in a part. isWhole says that a response in the event is complete and that the event pauses no call.
func appendPart(calls []wire.NamedCall, part strictjson.Value, isWhole bool, place wire.CallPlace, b *event.Batch) []wire.NamedCall {
	for member, value := range callsIn(part) {
		id, n, as := firstOf(value.Get("id"), part.Get("id")), len(calls), member.as
		if member.tool == "" {
			calls = wire.AppendCode(calls, as, id, place)
			continue
		}
		if as == wire.CallBegins && member.tool == "name" {
			as = wire.CallRoleOf(value)
		}
		calls = wire.AppendCall(calls, as, id, value.Get(member.tool), value.Get("args"))
		calls[n].IsPiece, calls[n].Continues, calls[n].Place = b.Partial, b.Partial || wire.IsCallPiece(value), place
		calls[n].Ends = member.as == wire.CallRepeated && isWhole && calls[n].ID != "" && !wire.IsPending(value.Get("response")) // several calls without an ID may be open
	}
	if part.Get("name").Kind() == strictjson.String && part.Get("args").Exists() { // Rust
		calls = wire.AppendCall(calls, wire.CallBegins, part.Get("id"), part.Get("name"), part.Get("args"))
	}
	return calls
}
