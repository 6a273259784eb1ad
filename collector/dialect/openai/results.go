package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// areResults reports whether all choices of a chunk are messages of tools, or may continue such messages. Servers that run a loop send
// them between two completions. In a completion that is open, such a role is only a mark of its message.
//
// Source: packages/tiny-agents/src/lib/webServer.ts of huggingface/huggingface.js.
func (d *decoder) areResults(chunk strictjson.Value) bool {
	choices := chunk.Get("choices")
	for one := range choices.Elements() {
		delta := one.Get("delta")
		role := delta.Get("role").Text()
		continues := d.inResults && len(role) == 0 && isBlank(delta.Get("tool_calls")) && isBlank(delta.Get("function_call"))
		if !continues && !lenient.MatchesAny(role, toolRoles) {
			return false
		}
	}
	return choices.Len() > 0 && (!d.chat.started || d.chat.finished)
}

// chunkResults reads a chunk with the results of calls, which belongs to no completion. The chunk or its choice names the call.
func (d *decoder) chunkResults(id string, chunk strictjson.Value, m marks, b *event.Batch) {
	b.Type, d.chat.chunkID = typeResults, id
	for one := range chunk.Get("choices").Elements() {
		d.choice(one, m, false, b)
	}
	if b.Internal || !d.begun || d.ended || d.chat.ended {
		return
	}
	for one := range chunk.Get("choices").Elements() {
		delta := one.Get("delta")
		call := d.name(delta.Get("tool_call_id"))
		if call == "" && d.calls.indexOf(id) >= 0 {
			call = id
		}
		if content := delta.Get("content"); call != "" && !isBlank(content) {
			e := b.Add(event.KindToolEnded)
			e.CallID, e.Name = call, d.calls.end(call, nil).tool
			e.SetPayload(content)
		}
	}
}

// chunkCalls holds the calls that a chunk begins or continues, and those of which it has the result.
type chunkCalls struct{ begun, answered place }

func callsOf(chunk strictjson.Value) (calls chunkCalls) {
	add := func(v strictjson.Value) {
		calls.answered.addID(v.Get("tool_call_id"))
		for piece := range v.Get("tool_calls").Elements() {
			calls.begun.addID(piece.Get("id"))
		}
	}
	add(chunk)
	for one := range chunk.Get("choices").Elements() {
		add(one)
		add(one.Get("delta"))
		add(one.Get("message"))
	}
	return calls
}

// isWithheldCall reports whether one of the calls is withheld. A call of which only the result is known may have begun in an unreadable
// frame.
func (w *withheldSet) isWithheldCall(calls chunkCalls) bool {
	isLost := func(key string) bool { return w.missed && !w.seen.MayContain(key) }
	return slices.ContainsFunc(slices.Concat(calls.begun.keys, calls.answered.keys), w.isWithheldKey) || slices.ContainsFunc(calls.answered.keys, isLost)
}

// recordCalls records the calls of a chunk, which is withheld or not.
func (w *withheldSet) recordCalls(calls chunkCalls, isWithheld bool) {
	if isWithheld {
		w.withholdKeys(calls.begun.keys)
		w.withholdKeys(calls.answered.keys)
		return
	}
	w.begin(calls.begun)
}

// toolOfOutput returns the tool of an item with a result, if its type says it. The call may be in an earlier stream, whose run waited for
// an approval. The SDK for JavaScript also repeats the name of a function.
//
// Source: packages/agents-core/src/types/protocol.ts, FunctionCallResultItem and ComputerCallResultItem, of @openai/agents 0.17.
func toolOfOutput(item strictjson.Value) string {
	kind := strings.TrimSuffix(strings.TrimSuffix(item.Get("type").String(), "_output"), "_result")
	return cmp.Or(clientTools[kind], clientTools[kind+"_call"])
}

// beginMissedCall reports a client's call that the end of a resumed response repeats, unless the response may have the call's output too.
func (d *decoder) beginMissedCall(item strictjson.Value, answered *wire.Set[string], b *event.Batch) {
	tool, client := clientTools[item.Get("type").String()]
	if client && !answered.MayContain(d.name(callID(item))) {
		d.callDone(tool, item, b)
	}
}

// answeredCalls returns the IDs of the calls that have an output in a response.
func (d *decoder) answeredCalls(output strictjson.Value) (answered wire.Set[string]) {
	for item := range output.Elements() {
		if isOutput(item.Get("type").String()) {
			answered.Add(d.name(callID(item)))
		}
	}
	return answered
}
