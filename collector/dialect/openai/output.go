package openai

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// repeated returns the suffix of the type of an event that repeats an answer, or other items of a response.
func (d *decoder) repeated(v strictjson.Value, b *event.Batch) string {
	var answers bool
	switch b.Type {
	case typePartDone:
		answers = partTextKind(v.Get("part")) == event.KindText && d.withheld.itemTextKind(d.at) == event.KindText
	case typeItemDone:
		answers = d.withheld.itemKind(v.Get("item"), d.at) == event.KindText
	default:
		return d.repeatedOutput(v.Get("response").Get("output"), b)
	}
	if answers {
		return answerSuffix
	}
	return ""
}

// repeatedOutput is repeated for the output of a response. It sets the kind of messages that are no answers, so that they do not leave
// with the other items. In a response that a client resumes, items may have been withheld before, so it returns no
// suffix for any.
func (d *decoder) repeatedOutput(output strictjson.Value, b *event.Batch) (suffix string) {
	for item := range output.Elements() {
		var at place
		at.addItem(item)
		isReasoning := item.Get("type").Is("reasoning")
		switch kind := d.withheld.itemKind(item, at); {
		case kind == event.KindText:
			suffix = answerSuffix
		case !isReasoning && !isBlank(item.Get("content")):
			if !item.Get("type").Is("message") {
				kind = event.KindText // such as that of a message between agents
			}
			b.SetTextKind(item, kind)
		case !isReasoning && !item.Get("type").Is("message"):
			suffix = cmp.Or(suffix, itemsSuffix)
		}
	}
	if d.resumed {
		return ""
	}
	return suffix
}

// checkOutput checks whether the items of a response are internal or thoughts. If the response is withheld, later events about the
// items that it begins are withheld too. An instruction does not withhold the response, because the filter cuts it out.
func (d *decoder) checkOutput(f dialect.Frame, m marks, response strictjson.Value, unsure bool, b *event.Batch) {
	b.Internal = b.Internal || m.instructs
	for message := range response.Get("output_messages").Elements() { // vLLM
		said := itemMarks(message)
		b.HasThoughts = b.HasThoughts || said.thinks || said.shows
	}
	output := response.Get("output")
	if output.Kind() <= strictjson.Null {
		return
	}
	b.Internal = b.Internal || output.Kind() != strictjson.Array || wire.IsFiltered(b, prefilter)
	thinks, n := m.thinks, 0
	var begins []place
	for item := range output.Elements() {
		var at place
		at.addItem(item)
		ids := len(at.keys)
		at.keys = append(at.keys, itemNumber+strconv.Itoa(n))
		n++
		if lenient.IsInstruction(table.Instructions, item) {
			if !d.response.open {
				at.keys = at.keys[:ids] // from now on, the number means an item of another response
			}
			d.withheld.withholdKeys(at.keys)
			continue
		}
		known := place{keys: at.keys[:max(ids, 1)], asked: at.asked, implied: d.response.implied} // in the Agents SDK, items of chats have no ID
		b.Internal = b.Internal || isInternalItem(item) || d.withheld.isWithheld(known) || !unsure && d.withheld.isOrphan(known)
		thinks = thinks || d.withheld.itemKind(item, known) == event.KindThought
		begins = append(begins, at)
		said := itemMarks(item)
		b.HasThoughts = b.HasThoughts || said.shows
		if d.response.open {
			said.add(m)
			d.withheld.markItem(at, said)
		}
	}
	if thinks {
		b.Type, b.HasThoughts = withThoughts(b.Type), true
	}
	for _, at := range begins {
		switch {
		case b.Internal && !d.ended && !d.withheld.saw(at):
			d.withheld.withhold(at)
		case !b.Internal && unsure:
			d.withheld.doubt(at)
		}
	}
}

// markDone records that the current item was reported.
func (d *decoder) markDone() {
	for _, key := range d.at.keys {
		if isID(key) {
			d.done.Add(key)
		}
	}
}

// isDone reports whether an item was reported. One without an ID may be any of the last response.
func (d *decoder) isDone(at place) bool {
	return slices.ContainsFunc(at.keys, d.done.Contains) || len(at.keys) == 0 && d.response.hasItems
}
