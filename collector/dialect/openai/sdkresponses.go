package openai

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// otherAnswer is an open response of a run of the Agents SDK besides the current one.
type otherAnswer struct {
	response
	name string // see event.Batch.Response
}

// selectAnswer makes the response current that an event names, or that has the event's item. The first event of an item names no response.
// If several are open, it belongs to the one whose numbers it continues.
func (d *decoder) selectAnswer(id string, v strictjson.Value) {
	n, _ := v.Get("sequence_number").Int()
	switch {
	case id == fakeID:
	case id != "" && id != d.response.id:
		d.restoreAnswer(func(r otherAnswer) bool { return r.id == id })
	case id != "" || d.response.containsItem(d.at):
	case kinds[v.Get("type").String()].begins:
		if d.response.sequence+1 != n {
			d.restoreAnswer(func(r otherAnswer) bool { return r.sequence+1 == n })
		}
	default:
		d.restoreAnswer(func(r otherAnswer) bool { return r.containsItem(d.at) })
	}
}

func (d *decoder) restoreAnswer(matches func(otherAnswer) bool) {
	i := slices.IndexFunc(d.sdk.others, matches)
	if i < 0 {
		return
	}
	found := d.sdk.others[i]
	d.sdk.others = slices.Delete(d.sdk.others, i, i+1)
	d.saveAnswer()
	d.response, d.responseName = found.response, found.name
	d.withheld.nextResponse()
	d.withheld.shared.SetScopes(d.response.id)
}

// saveAnswer adds the current response to the other open ones. Another one begins, or goes on.
func (d *decoder) saveAnswer() {
	if !d.response.open || d.response.id == "" {
		return
	}
	if len(d.sdk.others) == maxOthers {
		d.sdk.others = slices.Delete(d.sdk.others, 0, 1)
	}
	d.sdk.others = append(d.sdk.others, otherAnswer{d.response, d.responseName})
}

// endImplied ends the current response if the application shows only parts of it. The item of a whole message shows its end, and so
// does the result of a call.
func (d *decoder) endImplied(b *event.Batch) {
	if r := &d.response; r.open && r.implied && (r.author == "" || r.author == b.Agent) {
		b.Add(event.KindModelEnded)
		d.response = response{}
		d.sdk.agents.finished = len(d.openCallsOf(b.Agent)) == 0
	}
}

// openAnswer is openResponse for a part of a response whose beginning is not on the stream.
func (d *decoder) openAnswer(b *event.Batch) {
	if !d.response.open {
		d.openResponse(strictjson.Value{}, b)
		d.response.implied, d.response.author = true, d.sdk.agents.current
	}
}

// setAuthor sets the batch's agent to that of the current response. An item may have named it since the response began.
func (d *decoder) setAuthor(b *event.Batch) {
	if d.sdk.on && d.response.open {
		d.response.author = cmp.Or(d.response.author, d.sdk.agents.speaker())
		b.Agent = d.response.author
	}
}
