package langgraph

import (
	"bytes"
	"sync"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// callLists are the members of a message that list its calls.
var callLists = []string{"tool_calls", "tool_call_chunks", "invalid_tool_calls"}

// withheldItems are the IDs of what the streams of a run have withheld: messages, their calls, and tasks. The streams of a run share one, so it
// is safe for concurrent use. A nil *withheldItems is empty.
type withheldItems struct {
	mu  sync.Mutex
	ids wire.Set[string]
}

func (w *withheldItems) add(id string) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ids.Add(id)
	}
}

// addAll adds the IDs of a set.
func (w *withheldItems) addAll(ids *wire.Set[string]) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ids.AddAll(ids)
	}
}

// copy returns the IDs as a set.
func (w *withheldItems) copy() (ids wire.Set[string]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids.AddAll(&w.ids)
	return ids
}

func (w *withheldItems) remove(id string) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ids.Remove(id)
	}
}

func (w *withheldItems) len() int {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ids.Len()
}

func (w *withheldItems) mayContain(id string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ids.MayContain(id)
}

func (e *examination) addWithheld(id string) {
	e.withheld.Add(id)
	e.ofRun.add(id)
}

func (e *examination) hasWithheld() bool {
	return e.withheld.Len() > 0 || e.ofRun.len() > 0 || e.lastRun.len() > 0
}

// mayBeWithheld reports whether this stream, or another one of the run, has withheld an ID or, if it does not remember all of them, may have.
func (e *examination) mayBeWithheld(id string) bool {
	return e.withheld.MayContain(id) || e.ofRun.mayContain(id) || e.lastRun.mayContain(id)
}

// isWithheld reports whether an ID is that of a withheld message, call or task or, if not all of them are remembered, may be.
func (e *examination) isWithheld(id strictjson.Value) bool {
	return e.hasWithheld() && isText(id) && e.mayBeWithheld(dialect.Name(id.String()))
}

// callIDs returns the IDs of a message's calls, in LangChain's form or OpenAI's.
func callIDs(message strictjson.Value) (ids []strictjson.Value) {
	for _, in := range []strictjson.Value{message, message.Get("additional_kwargs")} {
		for _, list := range callLists {
			for c := range in.Get(list).Elements() {
				ids = append(ids, c.Get("id"))
			}
		}
	}
	return ids
}

// withhold remembers the ID of a message or a task, and those of the message's calls.
func (e *examination) withhold(item strictjson.Value) {
	for _, part := range []strictjson.Value{item, item.Get(savedMembers[0]), item.Get(savedMembers[1])} {
		for _, id := range append(callIDs(part), part.Get("id")) {
			if isText(id) {
				e.addWithheld(dialect.Name(id.String()))
			}
		}
	}
}

// beginCalls forgets the calls of earlier messages that have the ID of a call of this message.
func (e *examination) beginCalls(message strictjson.Value) {
	for _, id := range callIDs(message) {
		if name := dialect.Name(id.String()); numberedID.MatchString(name) {
			e.withheld.Remove(name)
			e.ofRun.remove(name)
		}
	}
}

// withholdItems remembers what an internal frame is about: messages, announced messages, or a task and what it returns. The data of an
// application has no messages.
func (d *decoder) withholdItems(mode string, v strictjson.Value) {
	switch mode = string(lenient.WithoutMark([]byte(mode))); mode {
	case modeCustom, modeFeedback, modeStateUpdate:
	case modeMessagesMetadata:
		for id := range v.Members() {
			d.addWithheld(d.name(id))
		}
	case modeMessages, modeEvents:
		d.noteGiven(v.Get("data").Get("input"))
		for _, item := range describedIn(mode, v) {
			d.withhold(item)
			d.withholdNew(item)
		}
	case modeTasks, modeDebug:
		task := taskIn(mode, v)
		d.noteGiven(task.Get("input"))
		d.withhold(task)
		d.withholdNew(task.Get("result"))
	default:
		d.withholdNew(v)
	}
}

// noteGiven remembers the messages that a withheld node or task gets. The node may return these messages, so they are not withheld.
func (d *decoder) noteGiven(input strictjson.Value) {
	for _, m := range messagesIn(input, 0) {
		d.given.add(seenMessage, d.name(m.Get("id")))
	}
}

// withholdNew remembers the messages in a part of an internal frame, apart from those of earlier frames.
func (d *decoder) withholdNew(v strictjson.Value) {
	for _, m := range messagesIn(v, 0) {
		if id := d.name(m.Get("id")); !d.seen.contains(seenMessage, id) && !d.seen.contains(seenInput, id) && !d.given.contains(seenMessage, id) {
			d.withhold(m)
		}
	}
}

// isOfWithheldTask reports whether a frame is of a withheld task, or of what works within one: the ID of the task is its own, in its
// namespace, or in LangGraph's metadata.
func (d *decoder) isOfWithheldTask(mode string, namespace []byte, v strictjson.Value) bool {
	if !d.hasWithheld() {
		return false
	}
	if d.isWithheld(taskIn(mode, v).Get("id")) || d.isWithinWithheld(namespace) {
		return true
	}
	if mode != modeMessagesMetadata {
		return d.isWithinWithheld(metadataOf(mode, v).First(placeMembers...).Text())
	}
	for _, entry := range v.Members() {
		if d.isWithinWithheld(entry.Get("metadata").First(placeMembers...).Text()) {
			return true
		}
	}
	return false
}

// isWithinWithheld reports whether a namespace has the ID of a withheld task.
func (e *examination) isWithinWithheld(namespace []byte) bool {
	for segment := range bytes.SplitSeq(namespace, []byte("|")) {
		if _, id, hasID := bytes.Cut(segment, []byte(":")); hasID && e.mayBeWithheld(dialect.Name(string(id))) {
			return true
		}
	}
	return false
}
