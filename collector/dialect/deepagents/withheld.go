package deepagents

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// itemID identifies a call or a subagent.
type itemID struct {
	isAgent bool
	hash    uint64
}

// itemOf returns the item with an ID. A lenient reader may take 7 for "7".
func itemOf(isAgent bool, id strictjson.Value) itemID {
	if id.Kind() == strictjson.String {
		return itemID{isAgent, wire.Hash(id.String())}
	}
	return itemID{isAgent, wire.Hash(string(id.Raw()))}
}

var prefilter = lenient.NewPrefilter(&table)

// leaves reports whether nothing in the frame or before it withholds it.
func leaves(b *event.Batch) bool { return !b.Internal && !wire.IsFiltered(b, prefilter) }

// check marks the frame as internal if it has the ID of a call or subagent with a withheld start, until another start with the ID.
// record is that of the frame's subagent.
func (d *decoder) check(kind string, v strictjson.Value, record *subagent, b *event.Batch) {
	agents := agentsOf(v, b.Branch)
	switch {
	case kind == typeToolStart:
		d.withheld.Remove(itemOf(false, v.Get("call_id")))
	case kind == typeSubagentStart:
		for _, one := range agents {
			d.withheld.Remove(one)
		}
	case kind == typeToolEnd && d.hidesCall(v.Get("call_id")):
		b.Internal = true
	}
	if d.withheld.IsFull() && kind != typeSubagentStart {
		b.Internal = b.Internal || b.Branch != "" && !record.shown || b.Branch == "" && !d.haveLeft(agents)
	}
	caller := v.Get("parent_call_id")
	b.Internal = b.Internal || isSet(caller) && d.hidesCall(caller) || slices.ContainsFunc(agents, d.withheld.Contains)
	if leaves(b) {
		record.shown = true
		if b.Branch == "" {
			d.addLeft(agents)
		}
		return
	}
	record.shown = record.shown && kind != typeSubagentStart
	d.withholdStart(kind, v, b.Branch)
}

// haveLeft reports whether a frame of each agent left.
func (d *decoder) haveLeft(agents []itemID) bool {
	return !slices.ContainsFunc(agents, func(one itemID) bool { return !d.left.Contains(one) })
}

func (d *decoder) addLeft(agents []itemID) {
	for _, one := range agents {
		d.left.Add(one)
	}
}

// hidesCall reports whether the start of a call was withheld or, if not all such calls are remembered, may have been.
func (d *decoder) hidesCall(id strictjson.Value) bool {
	return d.withheld.Contains(itemOf(false, id)) || d.withheld.IsFull() && !d.calls.find(dialect.Name(id.String())).shown
}

// withholdStart remembers the call or subagent that a withheld frame starts.
func (d *decoder) withholdStart(kind string, v strictjson.Value, agent string) {
	switch kind {
	case typeToolStart:
		d.withheld.Add(itemOf(false, v.Get("call_id")))
	case typeSubagentStart:
		for _, one := range agentsOf(v, agent) {
			d.withheld.Add(one)
			d.left.Remove(one)
		}
	}
}

// withholdMarked remembers what a frame starts that has a mark in its type, such as internal:tool_start. The frame is of no known type.
func (d *decoder) withholdMarked(v strictjson.Value) {
	marked := readers[string(lenient.WithoutMark(v.Get("type").Text()))]
	speaker := d.speakerOf(v, marked)
	d.withholdStart(marked.kind, v, speaker.id)
	if marked.kind == typeContentStart {
		d.content.begin(speaker, false, true).withheld = true
	}
}

// agentsOf returns the IDs of the frame's subagent: the one on the wire, and the one by which the decoder knows it.
func agentsOf(v strictjson.Value, known string) (all []itemID) {
	if id := v.Get("agent_id"); isSet(id) {
		all = append(all, itemOf(true, id))
	}
	if known != "" {
		all = append(all, itemID{true, wire.Hash(known)})
	}
	return all
}

func isSet(v strictjson.Value) bool { return v.Kind() > strictjson.Null && !v.Is("") }
