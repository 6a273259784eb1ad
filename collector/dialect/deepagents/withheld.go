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

// check marks the frame as internal if it has the ID of a call or subagent whose start was withheld, until another start with the ID.
// record is that of the frame's subagent.
func (d *decoder) check(kind string, v strictjson.Value, record *subagent, b *event.Batch) {
	call, agents := itemOf(false, v.Get("call_id")), agentsOf(v, b)
	switch isFull := d.withheld.IsFull(); {
	case kind == typeToolStart:
		d.withheld.Remove(call)
	case kind == typeSubagentStart:
		for _, one := range agents {
			d.withheld.Remove(one)
		}
	case kind == typeToolEnd && (d.withheld.Contains(call) || isFull && !d.calls.find(dialect.Name(v.Get("call_id").String())).shown), isFull && b.Branch != "" && !record.shown:
		b.Internal = true
	}
	caller := v.Get("parent_call_id")
	b.Internal = b.Internal || isSet(caller) && d.withheld.Contains(itemOf(false, caller)) || slices.ContainsFunc(agents, d.withheld.Contains)
	if leaves(b) {
		record.shown = true
		return
	}
	switch kind {
	case typeToolStart:
		d.withheld.Add(call)
	case typeSubagentStart:
		record.shown = false
		for _, one := range agents {
			d.withheld.Add(one)
		}
	}
}

// agentsOf returns the IDs of the frame's subagent: the one on the wire, and the one by which the decoder knows it.
func agentsOf(v strictjson.Value, b *event.Batch) (all []itemID) {
	if id := v.Get("agent_id"); isSet(id) {
		all = append(all, itemOf(true, id))
	}
	if b.Branch != "" {
		all = append(all, itemID{true, wire.Hash(b.Branch)})
	}
	return all
}

func isSet(v strictjson.Value) bool { return v.Kind() > strictjson.Null && !v.Is("") }
