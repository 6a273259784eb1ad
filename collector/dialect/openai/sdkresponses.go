package openai

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// lastAnswer is the response of a run of the Agents SDK that ended last. Items name its agent, also while another one is current.
type lastAnswer struct {
	response
	name string // see event.Batch.Response
}

// otherAnswer is an open response of a run of the Agents SDK besides the current one.
type otherAnswer struct {
	response
	name string // see event.Batch.Response
}

// selectAnswer makes the response current that an event names, or that has the event's item. The first event of an item names no
// response. If several are open, it belongs to the one whose numbers it continues. If that is not clear either, the item is of the
// shared response. Responses of models that the SDK calls by the Chat Completions API have no IDs, only numbers. Other models may give
// all responses one ID.
func (d *decoder) selectAnswer(id string, v strictjson.Value) {
	n, _ := v.Get("sequence_number").Int()
	continued := func(r *response) bool { return r.sequence+1 == n }
	switch {
	case isType(v, typeCreated): // another one
		d.selectRepeated(id)
	case id != "":
		if isFake(id) {
			id = ""
		}
		named := func(r *response) bool { return r.open && r.id == id && !r.shared }
		d.selectNamed(func(r *response) bool { return named(r) && continued(r) }, named)
	case slices.ContainsFunc(d.at.keys, d.sdk.left.Contains): // another agent has begun, but the one before goes on
		d.sdk.agents.activate(d.sdk.leftBy)
		d.shareAnswer(nil)
	case d.response.containsItem(d.at), d.restoreAnswer(func(r *response) bool { return r.containsItem(d.at) }):
	case d.selectNamedBy(d.eventAgent):
	case len(d.sdk.others) > 0:
		d.selectOpen(continued, cmp.Or(v.Get("text"), v.Get("part").First("text", "refusal")).Text())
	}
}

// selectNamed makes the response current that matches the first of the functions that any matches. If there is none, the current one
// stays, unless it is the shared one.
func (d *decoder) selectNamed(functions ...func(*response) bool) {
	for _, matches := range functions {
		if matches(&d.response) || d.restoreAnswer(matches) {
			return
		}
	}
	if d.response.shared {
		d.saveAnswer()
		d.response = response{}
	}
}

// selectNamedBy selects the open response of an agent: the first event of that response names the agent. It returns false if there is
// none, or more than one.
func (d *decoder) selectNamedBy(agent string) bool {
	n := 0
	of := func(r *response) bool { return agent != "" && r.open && r.agent == agent && !r.shared }
	for r := range d.openAnswers() {
		if of(r) {
			n++
		}
	}
	return n == 1 && (of(&d.response) || d.restoreAnswer(of))
}

// selectOpen makes the matching open response current. If none matches, it takes the only open one. If several match, it takes the one
// whose pieces are the beginning of the event's whole text. If several remain, it makes the shared response current.
func (d *decoder) selectOpen(matches func(*response) bool, whole []byte) {
	var open, matching []*response
	for r := range d.openAnswers() {
		if r.shared {
			continue
		}
		open = append(open, r)
		if matches(r) {
			matching = append(matching, r)
		}
	}
	if len(matching) == 0 {
		matching = open
	}
	if begun := begunOf(matching, whole); begun != nil {
		matching = []*response{begun}
	}
	switch {
	case len(matching) > 1:
		d.shareAnswer(open)
	case len(matching) == 1 && matching[0] != &d.response:
		d.restoreAnswer(func(r *response) bool { return r == matching[0] })
	}
}

// begunOf returns the response whose pieces a whole text begins with. It returns nil if responses of several agents match. If several of
// one agent match, any will do: each of them gets one whole text.
func begunOf(all []*response, whole []byte) (begun *response) {
	for _, r := range all {
		switch {
		case !r.pieces.begin(whole):
		case begun == nil:
			begun = r
		case r.author != begun.author:
			return nil
		}
	}
	return begun
}

// pieces identifies the part of a text that has arrived so far.
type pieces struct {
	length int
	sum    uint64 // the FNV-1 hash of the text
}

func (p *pieces) add(piece []byte) {
	if p.length == 0 {
		p.sum = 14695981039346656037
	}
	for _, c := range piece {
		p.sum = p.sum*1099511628211 ^ uint64(c)
	}
	p.length += len(piece)
}

// begin reports whether a whole text begins with the pieces.
func (p *pieces) begin(whole []byte) bool {
	if p.length == 0 || p.length > len(whole) {
		return false
	}
	var same pieces
	same.add(whole[:p.length])
	return same == *p
}

// isOfOne reports whether it is known which response the current piece belongs to. Other pieces are not reported, because they would mix
// several texts. The whole text follows.
func (d *decoder) isOfOne() bool { return !d.response.shared || isID(d.at.name()) }

// selectOnly makes the only open response current. It returns false if there are none or several.
func (d *decoder) selectOnly() bool {
	if len(d.sdk.others) == 0 {
		return d.response.open
	}
	d.selectOpen(func(*response) bool { return true }, nil)
	return d.response.open && !d.response.shared
}

// forgetOver forgets responses whose ends are missing:
//   - those without an ID, if their agent asks its model again or works no more, because they would count as parallel to the next one;
//   - those without an ID that another one seems to have replaced, unless something of an open response was withheld: later events may continue it;
//   - the shared response, once all others have ended.
func (d *decoder) forgetOver() {
	a, speaker := &d.sdk.agents, d.speaker()
	withholds := d.anyOpen(func(r *response) bool { return r.internal || r.withholds })
	d.sdk.others = slices.DeleteFunc(d.sdk.others, func(o otherAnswer) bool {
		isOver := !slices.Contains(a.active, o.author) || o.author == speaker
		isReplaced := d.isReplaced(&o.response) && !withholds
		return !o.shared && o.id == "" && (isReplaced || o.author != "" && !a.twice.Contains(o.author) && isOver)
	})
	if len(d.sdk.others) == 1 && d.sdk.others[0].shared {
		d.sdk.others = nil
	}
}

// isReplaced reports whether the request for an open response seems to have failed, and another response has replaced it. If several agents
// may work, it may be of another one.
func (d *decoder) isReplaced(r *response) bool { return r.overtaken && d.sdk.agents.known.Len() == 0 }

// sharesItems reports whether the shared response has items that were reported.
func (d *decoder) sharesItems() bool {
	for r := range d.openAnswers() {
		if r.shared {
			return r.hasItems
		}
	}
	return false
}

// openAnswers returns the current response, if it is open, and the others.
func (d *decoder) openAnswers() iter.Seq[*response] {
	return func(yield func(*response) bool) {
		if d.response.open && !yield(&d.response) {
			return
		}
		for i := range d.sdk.others {
			if !yield(&d.sdk.others[i].response) {
				return
			}
		}
	}
}

// anyOpen reports whether an open response matches.
func (d *decoder) anyOpen(matches func(*response) bool) bool {
	for r := range d.openAnswers() {
		if matches(r) {
			return true
		}
	}
	return false
}

// shareAnswer makes the response current that stands for the open ones. It has an author only as long as they all have the same.
func (d *decoder) shareAnswer(open []*response) {
	author := ""
	if len(open) > 0 {
		author = open[0].author
	}
	for _, r := range open {
		r.overtaken = false
	}
	if slices.ContainsFunc(open, func(r *response) bool { return r.author != author }) {
		author = ""
	}
	if !d.response.shared && !d.restoreAnswer(func(r *response) bool { return r.shared }) {
		d.saveAnswer()
		d.response, d.responseName = response{open: true, shared: true, author: author}, sharedName
	}
	if d.response.author != author {
		d.response.author = ""
	}
}

// sharedName is the name of the shared response, see event.Batch.Response.
const sharedName = "shared"

// restoreAnswer makes the first other response current that matches. It returns false if there is none.
func (d *decoder) restoreAnswer(matches func(*response) bool) bool {
	for i := range d.sdk.others {
		if !matches(&d.sdk.others[i].response) {
			continue
		}
		found := d.sdk.others[i]
		d.sdk.others = slices.Delete(d.sdk.others, i, i+1)
		d.saveAnswer()
		d.response, d.responseName = found.response, found.name
		d.response.overtaken = false
		return true
	}
	return false
}

// saveAnswer adds the current response to the other open ones. Another one begins, or goes on.
func (d *decoder) saveAnswer() {
	if !d.response.open || d.response.implied {
		return
	}
	if len(d.sdk.others) == maxOthers {
		d.sdk.others = slices.Delete(d.sdk.others, 0, 1)
	}
	d.sdk.others = append(d.sdk.others, otherAnswer{d.response, d.responseName})
}

// endImplied ends the current response if the application shows only parts of it, and reports whether it did. The Agents SDK's item of a
// whole message shows its end. Other events only show that it has ended before, so isNow is false.
func (d *decoder) endImplied(b *event.Batch, isNow bool) bool {
	r := &d.response
	if !r.open || !r.implied || r.author != "" && r.author != b.Agent {
		return false
	}
	b.Add(event.KindModelEnded).Uncertain = d.sdk.on && !isNow
	d.response = response{}
	if len(d.openCallsOf(b.Agent)) == 0 {
		d.sdk.agents.finish(b.Agent)
	}
	return true
}

// isCut reports whether the end of a run cuts its only open response. Its agent has not answered, so the run is not complete.
func (d *decoder) isCut() bool {
	r := &d.response
	isOnly := d.sdk.on && r.open && !r.implied && !r.shared && len(d.sdk.others) == 0
	isOfCurrent := r.author == d.sdk.agents.current && (r.author != "" || d.sdk.agents.known.Len() == 0)
	hasWhole := r.besides || r.hasItems
	for _, one := range r.states {
		hasWhole = hasWhole || one.texts > 0 || one.text || one.whole
	}
	return isOnly && isOfCurrent && !hasWhole
}

// leaveImplied is endImplied where another agent begins. An application may pass on several runs at once: then parts of the response
// follow, which have no agent.
func (d *decoder) leaveImplied(b *event.Batch) bool {
	keys, author := d.response.itemKeys, d.response.author
	if b.Agent = cmp.Or(author, b.Agent); !d.endImplied(b, false) {
		return false
	}
	d.sdk.left, d.sdk.leftBy = keys, author
	return true
}

// openAnswer is openResponse for a part of a response whose beginning is not on the stream. item is the whole item of the part, if any. If
// only parts are shown, an item with the result of a call ends the response with the call, except a response that a client resumes: that
// one has an end of its own.
//
// Source: mlflow/types/responses.py, ResponsesAgentStreamEvent, of mlflow 3.
func (d *decoder) openAnswer(item strictjson.Value, b *event.Batch) {
	showsParts := d.joined == ""
	isResult := showsParts && !d.sdk.on && strings.HasSuffix(item.Get("type").String(), "_call_output")
	switch {
	case isResult && d.endImplied(b, false), d.response.open:
	case isResult:
		d.begin("", "", b)
	default:
		d.openImplied(strictjson.Value{}, b)
	}
}

// isLaterMessage reports whether a part is of another message than the first one of a response of which only parts are shown. Items repeat each
// message after the parts of all.
func (d *decoder) isLaterMessage(b *event.Batch) bool {
	r := &d.response
	if !d.sdk.on || !r.implied || !slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindText }) {
		return false
	}
	if r.message = cmp.Or(r.message, d.at.name()); r.message == d.at.name() {
		return false
	}
	d.sdk.messages.Add(d.at.name())
	return true
}

// openImplied opens a response whose beginning is not on the stream.
func (d *decoder) openImplied(r strictjson.Value, b *event.Batch) {
	d.startResponse(r, b)
	d.response.implied = d.joined == ""
}

// setAuthor sets the batch's agent to that of the current response.
func (d *decoder) setAuthor(b *event.Batch) {
	if d.sdk.on && d.response.open {
		b.Agent = d.response.author
	}
}
