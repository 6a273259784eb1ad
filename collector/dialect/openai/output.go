package openai

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// repeated returns the suffix of the type of an event that repeats an answer, or other items of a response.
func (d *decoder) repeated(v strictjson.Value, b *event.Batch) string {
	var answers bool
	switch b.Type {
	case typePartDone:
		answers = partTextKind(v.Get("part")) == event.KindText && d.itemTextKind(d.at) == event.KindText
	case typeItemDone:
		answers = d.itemKind(v.Get("item"), d.at) == event.KindText
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
		switch kind := d.itemKind(item, at); {
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

// checkOutput withholds a response that has a withheld item, or one that cannot be read. An item that begins in a withheld response is
// withheld too. An instruction does not withhold the response, because the filter cuts it out.
func (d *decoder) checkOutput(m marks, response strictjson.Value, b *event.Batch) {
	for message := range response.Get("output_messages").Elements() { // vLLM
		said := itemMarks(message)
		b.HasThoughts = b.HasThoughts || said.thinks || said.shows
	}
	output := response.Get("output")
	b.Internal = b.Internal || output.Kind() > strictjson.Null && output.Kind() != strictjson.Array
	thinks := m.thinks
	var items []place
	for item := range output.Elements() {
		var at place
		at.addItem(item)
		at.keys = append(at.keys, itemNumber+strconv.Itoa(len(items)))
		items = append(items, at)
		if lenient.IsInstruction(table.Instructions, item) {
			d.withhold(at)
			continue
		}
		known := at
		known.preferIDs()
		b.Internal = b.Internal || isHiddenItem(item) || d.isWithheld(known)
		thinks = thinks || d.itemKind(item, known) == event.KindThought
		said := itemMarks(item)
		b.HasThoughts = b.HasThoughts || said.shows
		if d.response.open {
			said.add(m)
			d.markItem(at, said)
		}
	}
	if thinks {
		b.Type, b.HasThoughts = withThoughts(b.Type), true
	}
	for _, at := range items {
		if b.Internal && !d.saw(at) {
			d.withhold(at)
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
