package a2a

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Members of the metadata of a part that has a call or a response.
var (
	adkTypes         = wire.ADKNames("type")
	longRunningMarks = wire.ADKNames("is_long_running")
)

// adkErrorMessages are the members of metadata with the text of an event's error. JavaScript's servers write them.
var adkErrorMessages = wire.ADKNames("error_message")

// callData returns the data of a call or a response: what is nested, if the data around it names no tool. The policy public finds it
// by the same rule.
func callData(data strictjson.Value) strictjson.Value {
	if inner := data.Get("data"); inner.Exists() && len(data.Get("name").Text()) == 0 {
		return inner
	}
	return data
}

// repeatsCalls reports whether an artifact has a whole event again, perhaps without its thoughts, as JavaScript's servers send it. They do not
// send its ID, so its calls show it: no other event has a call with the same UUID.
//
// Source: dist/esm/context/trajectory_thought_pruning_compactor.js of @google/adk 2.0.
func (d *decoder) repeatsCalls(t *task, m adkMetadata, artifact strictjson.Value) bool {
	calls, repeated := 0, 0
	for p := range partsOfArtifact(artifact, false).all() {
		if id := dialect.Name(p.data.Get("id").String()); p.kind == partCall && !p.streamed {
			if calls++; isUnique(id) && len(t.calls[id]) > 0 {
				repeated++
			}
		}
	}
	return m.hasAllCalls && !m.partial && calls > 0 && repeated == calls
}

// addPauses reports the calls that wait for a confirmation or a credential. It runs before the
// responses are read: the response of such a call contains an error text that is not an error.
func (t *task) addPauses(m adkMetadata, b *event.Batch) {
	for _, asked := range wire.RequestsIn(m.actions) {
		for name := range asked.Members() {
			id := dialect.Name(name.String())
			b.Add(event.KindToolPaused).CallID = id
			t.pauses.Take(id)
			if c := t.callOf(id, b.Branch, ""); c != nil {
				c.paused = true
			}
		}
	}
}

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
