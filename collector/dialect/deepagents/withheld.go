package deepagents

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Once a start was missed, a frame that continues a call, a text or a subagent leaves only if its start was shown. The
// record of each open call, text and subagent says so. What has no record was not shown.

var prefilter = lenient.NewPrefilter(&table)

// leaves reports whether nothing in the frame or before it withholds it.
func leaves(b *event.Batch) bool { return !b.Internal && !wire.IsFiltered(b, prefilter) }

// start records whether the frame, which starts something, leaves. The latest start of an ID counts.
func (d *decoder) start(shown *bool, b *event.Batch) {
	*shown = leaves(b)
	d.missed = d.missed || !*shown
}

// requireStart marks the frame as internal if the start of what it continues was, or may have been, withheld.
func (d *decoder) requireStart(shown bool, b *event.Batch) {
	b.Internal = b.Internal || d.missed && !shown
}

// checkAgent checks the subagent that a frame names and, if it starts, the call in which it works. record is that of the subagent.
func (d *decoder) checkAgent(kind string, v strictjson.Value, record *subagent, b *event.Batch) {
	call := v.Get("parent_call_id")
	switch {
	case kind == typeSubagentStart:
		d.requireStart(!isSet(call) || call.Is(b.EnclosingCall) && d.calls.find(b.EnclosingCall).shown, b)
		d.start(&record.shown, b)
		return
	case b.Branch != "":
		d.requireStart(record.shown && isNamedClearly(v, b), b)
	default:
		d.requireStart(kind != typeSubagentEnd && !isSet(call) && isOfMain(v), b)
	}
	record.shown = record.shown || leaves(b)
}

// isNamedClearly reports whether a frame names its subagent by an ID that no other subagent has.
func isNamedClearly(v strictjson.Value, b *event.Batch) bool {
	id, call := v.Get("agent_id"), v.Get("parent_call_id")
	return (isSet(id) || isSet(call)) && (!isSet(id) || id.Is(b.Branch)) && (!isSet(call) || call.Is(b.EnclosingCall))
}

// isOfMain reports whether a frame says that it is the main agent's, or names no agent.
func isOfMain(v strictjson.Value) bool {
	kind, id := v.Get("agent_type"), v.Get("agent_id")
	if kind.Is(mainAgent) {
		return !strings.HasPrefix(id.String(), subAgent)
	}
	return !isSet(kind) && (!isSet(id) || strings.HasPrefix(id.String(), mainAgent))
}

func isSet(v strictjson.Value) bool { return v.Kind() > strictjson.Null && !v.Is("") }

// idOf returns an ID by which calls are told apart, or "" if v is none.
func idOf(v strictjson.Value) string {
	if id := v.String(); len(id) <= dialect.MaxName {
		return id
	}
	return ""
}
