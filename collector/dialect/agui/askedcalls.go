package agui

import (
	"iter"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// askedCalls finds withheld calls in questions. LangChain's middleware asks about a call by its tool and arguments, without its ID. A call
// that left may have the same tool, so its arguments count too.
//
// Source: langchain/agents/middleware/human_in_the_loop.py, HITLRequest, and langgraph/prebuilt/interrupt.py, HumanInterrupt.
type askedCalls struct {
	withheld map[string]string // tools of withheld calls without a result, by the IDs of the calls; at most wire.MaxSet
	tools    map[string]int    // how many of these calls a tool has
	isFull   bool              // there were more
	shown    map[string]request
	index    map[request]bool // of shown; nil if it is out of date
	again    wire.SharedSet   // withheld requests of all streams of the agent, by key
}

// request is what a question has of a call.
type request struct {
	tool string
	args digest
}

// key returns the key of a request. It has no form that counts in all sessions.
func (r request) key() string {
	return strconv.FormatUint(wire.Hash(r.tool), 36) + " " + strconv.FormatUint(r.args.hash, 36)
}

// withhold records that a call, or a piece of it, was withheld.
func (a *askedCalls) withhold(id, tool string) {
	before, known := a.withheld[id]
	switch {
	case tool == "" || before == tool:
		return
	case !known && len(a.withheld) >= wire.MaxSet:
		a.isFull = true
		return
	case a.withheld == nil:
		a.withheld, a.tools = make(map[string]string), make(map[string]int)
	}
	a.remove(id)
	a.withheld[id] = tool
	a.tools[tool]++
}

// withholdCallsIn records the calls of a withheld message that only LangChain's event has: an agent may switch their own frames off.
func (d *decoder) withholdCallsIn(message strictjson.Value) {
	for id, call := range d.callsIn(message) {
		if !d.answered.Contains(id) {
			d.asked.withhold(id, d.toolOf(call))
		}
	}
}

// show records that a call left. args are unknown if its pieces left one by one: decoder.pieces has these.
func (a *askedCalls) show(id string, call request) {
	if _, known := a.shown[id]; call.tool == "" || !known && len(a.shown) >= wire.MaxSet {
		return
	}
	if a.shown == nil {
		a.shown = make(map[string]request)
	}
	a.shown[id] = call
}

// end records that a call has its result. No question is about it anymore.
func (a *askedCalls) end(id string) {
	delete(a.shown, id)
	a.index = nil
	a.remove(id)
}

func (a *askedCalls) remove(id string) {
	if tool, is := a.withheld[id]; is {
		delete(a.withheld, id)
		if a.tools[tool]--; a.tools[tool] == 0 {
			delete(a.tools, tool)
		}
	}
}

// showCall records the start of a call that leaves, or that a piece of its arguments does.
func (d *decoder) showCall(k *kind, v strictjson.Value) {
	if d.asked.index = nil; k.begins || k.chunk {
		d.asked.show(d.name(v.Get(k.idMember)), request{d.name(v.Get("toolCallName")), unknownText})
	}
}

// showListedCalls records the calls that leave in a message of a list: all but the withheld ones.
func (d *decoder) showListedCalls(message strictjson.Value, withheld map[string]bool) {
	for id, call := range d.callsIn(message) {
		for _, args := range argTexts(call) {
			if len(args) > 0 && !withheld[id] && !d.answered.Contains(id) {
				d.asked.index = nil
				d.asked.show(id, request{d.toolOf(call), digestOf(args)})
			}
		}
	}
}

// toolOf returns the tool of a call in a list.
func (d *decoder) toolOf(call strictjson.Value) string {
	if function := call.Get("function"); function.Exists() {
		call = function
	}
	return d.name(call.Get("name"))
}

var (
	// requestMembers hold the requests of a question.
	requestMembers = []string{"action_requests", "action_request"}
	// Members of a request with its tool and its arguments.
	requestTools = []string{"name", "action", "tool", "toolName", "tool_name"}
	requestArgs  = []string{"args", "arguments", "input"}
)

// mayAskAboutWithheld reports whether a question can be about a call that was withheld or unreadable.
func (d *decoder) mayAskAboutWithheld() bool {
	return len(d.asked.tools) > 0 || d.asked.isFull || d.unread.any || !d.asked.again.IsEmpty()
}

// isRequestOfWithheld reports whether an object asks about a call that was withheld or unreadable, or may do so.
func (d *decoder) isRequestOfWithheld(v strictjson.Value) bool {
	if _, isShown := d.asked.shown[d.memberOf(v, callIDs)]; isShown || !d.mayAskAboutWithheld() {
		return false
	}
	isWithheld := false
	for asked := range d.requestsIn(v) {
		switch {
		case d.asked.indexed(&d.pieces)[asked]:
			d.asked.again.Remove(asked.key())
		case d.asked.tools[asked.tool] > 0: // the stream of a later run repeats a question, but not the call
			d.asked.again.Add(asked.key())
			isWithheld = true
		case asked == request{}, d.asked.isFull, d.unread.any, d.asked.again.Contains(asked.key()):
			isWithheld = true
		}
	}
	return isWithheld
}

// isRequestOfShown reports whether an object asks about a call that left, by its tool and arguments.
func (d *decoder) isRequestOfShown(v strictjson.Value) bool {
	for asked := range d.requestsIn(v) {
		if d.asked.indexed(&d.pieces)[asked] {
			return true
		}
	}
	return false
}

// maxTools bounds the members of a request that name its tool, in any spelling.
const maxTools = 8

// requestsIn yields what an object may ask of tools, and the zero request in place of those beyond maxTools.
func (d *decoder) requestsIn(v strictjson.Value) iter.Seq[request] {
	return func(yield func(request) bool) {
		n := 0
		for member, named := range v.Members() {
			tool := d.name(named)
			if tool == "" || !lenient.MatchesAny(member.Text(), requestTools) {
				continue
			}
			n++
			for name, args := range v.Members() {
				text := args.Raw()
				if args.Kind() == strictjson.String {
					text = args.Text()
				}
				switch {
				case !lenient.MatchesAny(name.Text(), requestArgs):
				case n > maxTools:
					yield(request{})
					return
				case !yield(request{tool, digestOf(text)}):
					return
				}
			}
		}
	}
}

// indexed returns the calls that left.
func (a *askedCalls) indexed(streamed *pieces) map[request]bool {
	if a.index == nil {
		a.index = make(map[request]bool)
		for id, call := range a.shown {
			if call.args == unknownText {
				call.args = streamed.left[key{entity: entityCall, id: id}]
			}
			a.index[call] = true
		}
	}
	return a.index
}

// cutQuestions calls cut for each part of a value that is a question of LangChain's middleware about a withheld call, at any depth. Within
// the requests of a question, it reports whether one of these is about such a call.
func (d *decoder) cutQuestions(v strictjson.Value, inRequests bool, cut func(strictjson.Value)) (isWithheld bool) {
	if !d.mayAskAboutWithheld() {
		return false
	}
	inner, cutInner := decoded(v), cut
	if inRequests && d.isRequestOfWithheld(inner) {
		return true
	}
	if inner != v { // the part is the string
		cutInner = func(strictjson.Value) { cut(v) }
	}
	for name, member := range inner.Members() {
		isWithheld = d.cutQuestions(member, inRequests || lenient.MatchesAny(name.Text(), requestMembers), cutInner) || isWithheld
	}
	for element := range inner.Elements() {
		isWithheld = d.cutQuestions(element, inRequests, cutInner) || isWithheld
	}
	if isWithheld && !inRequests {
		cutInner(inner)
	}
	return isWithheld && inRequests
}

// hasQuestion reports whether a value has such a question.
func (d *decoder) hasQuestion(v strictjson.Value) (has bool) {
	d.cutQuestions(v, false, func(strictjson.Value) { has = true })
	return has
}
