package openai

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// runState is the state of a run. If a stream interleaves responses or completions, each is a run.
type runState struct {
	run, session string
	begun, ended bool
	failed       bool          // an error ended it
	responseName string        // see event.Batch.Response
	failure      event.Failure // with which it ended
	code         string
	leftAt       int // the frame at which another run became current
	sdk          sdk
	response     response
	chat         chat
	calls        calls // that the client or the Agents SDK executes
	serverCalls  calls
}

// maxOthers limits the open runs besides the current one. When there are more, one is forgotten, and its later frames count as another run.
const maxOthers = 15

// resetRun saves the current run and makes an empty one current.
func (d *decoder) resetRun() {
	d.saveRun()
	d.runState = runState{}
}

// saveRun adds the current run to the other open ones unless it has ended.
func (d *decoder) saveRun() {
	if d.begun && !d.ended {
		if len(d.others) == maxOthers {
			d.forgetRun()
		}
		d.leftAt = d.frames
		d.others = append(d.others, d.runState)
	}
}

// forgetRun forgets the oldest of the other runs: a completion that has finished, if there is one. If the text of an open completion was no
// answer, the rest of the completion is withheld.
func (d *decoder) forgetRun() {
	oldest := max(slices.IndexFunc(d.others, func(r runState) bool { return r.chat.finished }), 0)
	c := &d.others[oldest].chat
	if c.id != "" && !c.finished && slices.ContainsFunc(c.choices, func(one *choice) bool { return one.nature != answer }) {
		d.items.withheld.Add(chatID + c.id)
	}
	d.others = slices.Delete(d.others, oldest, oldest+1)
}

// isAnswering reports whether a model's answer is open in the run.
func (r *runState) isAnswering() bool { return r.response.open || r.chat.started && !r.chat.finished }

// answersElsewhere reports whether a model's answer is open in another run.
func (d *decoder) answersElsewhere() bool {
	return slices.ContainsFunc(d.others, func(r runState) bool { return r.isAnswering() })
}

// mayContinue reports whether another open run may continue after the end of the current completion or response. If a completion has
// sent nothing since the current one began, it was cut off.
func (d *decoder) mayContinue(r runState) bool {
	return !r.chat.finished && !(r.chat.started && d.chat.started && r.leftAt <= d.chat.begunAt)
}

// nameResponse names a response or completion that begins before the end of another one in the same run. The other one is parallel, or
// it was cut off. From then on, each one gets a name.
func (d *decoder) nameResponse() {
	if d.responses > 0 || d.sdk.on && d.response.open || d.singleRun && d.answersElsewhere() {
		d.responses++
		d.responseName = strconv.Itoa(d.responses)
	}
}

// restoreRun makes another open run current: the latest that matches. It returns false if there is none.
func (d *decoder) restoreRun(matches func(*runState) bool, b *event.Batch) bool {
	for i := len(d.others) - 1; i >= 0; i-- {
		if found := d.others[i]; matches(&found) {
			d.others = slices.Delete(d.others, i, i+1)
			d.saveRun()
			d.runState = found
			b.Run, b.Session, b.Agent = d.run, d.session, d.speaker()
			return true
		}
	}
	return false
}

// selectResponse makes the run of an event current. The event names its response or an item. An event that names neither belongs
// to the current run. On a stream that is a single run, so does an event of an unknown response, because some servers change the ID.
func (d *decoder) selectResponse(v strictjson.Value, b *event.Batch) {
	id := d.name(responseIDOf(v))
	switch {
	case d.sdk.on:
		d.selectAnswer(id, v)
	case isFake(id):
	case id == "":
		if !d.response.containsItem(d.at) && !d.restoreRun(func(r *runState) bool { return r.response.containsItem(d.at) }, b) && d.ended {
			d.restoreRun(func(r *runState) bool { return r.response.open }, b)
		}
	case id == d.response.id, d.restoreRun(func(r *runState) bool { return r.response.id == id }, b):
	case d.response.open && d.response.id != "" && d.joined == "" && !d.singleRun:
		d.startNamed(id, v.Get("response"), b)
	}
}

// responseIDOf returns the ID of the response that an event names.
func responseIDOf(v strictjson.Value) strictjson.Value {
	return cmp.Or(v.Get("response").Get("id"), v.Get("response_id"))
}

// addItem records the IDs of an item of the response.
func (r *response) addItem(at place) {
	for _, key := range at.keys {
		if isID(key) {
			r.itemKeys.Add(key)
		}
	}
}

// containsItem reports whether an item of the response has one of the IDs of a place.
func (r *response) containsItem(at place) bool {
	return slices.ContainsFunc(at.keys, r.itemKeys.Contains)
}

// selectChat makes the completion of a chunk current. Some servers give each chunk another ID. So a chunk with a new ID begins a
// completion only if the current one has finished or has shown its ID twice, or if the chunk begins a message. A chunk without choices,
// such as that with the usage, begins none.
func (d *decoder) selectChat(id string, v strictjson.Value, b *event.Batch) {
	if d.begun && !d.ended && d.response.id != "" {
		d.resetRun()
	}
	c := &d.chat
	switch {
	case id == c.id && !(c.finished && beginsAgain(v)), id == "" && c.id != "" && !(c.finished && d.beginsMessage(v)):
	case id != "" && id != c.id && d.restoreRun(func(r *runState) bool { return r.chat.id == id }, b):
	case c.started && v.Get("choices").Len() > 0 && (c.finished || c.repeated || c.id != "" && d.beginsMessage(v)):
		d.saveRun()
		d.runState = runState{}
	}
}

// endFinished ends the run of a finished completion, because another one may follow before [DONE]. Its usage may follow.
func (d *decoder) endFinished(b *event.Batch) {
	if d.singleRun || !d.chat.finished || d.chat.ended {
		return
	}
	d.chat.ended = true
	d.pauseCalls(b)
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code, e.AwaitsOutcome = d.chat.failure, d.chat.code, true
}

// beginsAgain reports whether a chunk with the ID of a finished completion begins another one. Some servers give all completions the
// same ID or none. A chunk with the usage begins none, although it has a role on OpenRouter.
func beginsAgain(v strictjson.Value) bool {
	begins := v.Get("usage").Kind() <= strictjson.Null
	for one := range v.Get("choices").Elements() {
		begins = begins && one.Get("delta").Get("role").Kind() == strictjson.String && !finishReason(one).Exists()
	}
	return begins
}

// addsNothing reports whether a chunk adds nothing to its choices. Such a chunk has the usage, or the results of a content filter.
func addsNothing(v strictjson.Value) bool {
	for one := range v.Get("choices").Elements() {
		if finishReason(one).Exists() || hasText(one) {
			return false
		}
		for name, value := range one.Get("delta").Members() {
			if !name.Is("role") && !isBlank(value) {
				return false
			}
		}
	}
	return true
}

// beginsMessage reports whether a chunk has a role, or the name of a call with the index but not the ID of an open call.
func (d *decoder) beginsMessage(v strictjson.Value) bool {
	for one := range v.Get("choices").Elements() {
		delta := one.Get("delta")
		if delta.Get("role").Kind() == strictjson.String {
			return true
		}
		index := indexOf(one)
		for piece := range delta.Get("tool_calls").Elements() {
			within, _ := piece.Get("index").Int()
			id := d.name(piece.Get("id"))
			if id != "" && !isBlank(piece.Get("function").Get("name")) && slices.ContainsFunc(d.chat.choices, func(c *choice) bool {
				return c.index == index && c.call != nil && c.call.index == within && c.call.id != "" && c.call.id != id
			}) {
				return true
			}
		}
	}
	return false
}
