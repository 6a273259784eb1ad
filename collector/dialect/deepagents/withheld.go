package deepagents

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// starts tracks the calls, texts and subagents whose start was shown. Once a start was missed, a frame leaves only if it
// starts something or continues one of these.
type starts struct {
	missed bool             // a start was withheld, or may have been in an unreadable frame
	shown  wire.Set[string] // keys from callKey, textKey and agentKey
}

func callKey(id string) string { return "call " + id }

func textKey(by agent) string { return "text " + by.name + "\x00" + by.id + "\x00" + by.startedBy }

func agentKey(id string) string { return "agent " + id }

var prefilter = lenient.NewPrefilter(&table)

// check marks a frame as internal if it continues something whose start was perhaps withheld. The batch must already name
// the frame's speaker.
func (s *starts) check(kind string, v strictjson.Value, filtered bool, b *event.Batch) {
	call, text := callKey(dialect.Name(v.Get("call_id").String())), textKey(speakerOf(b))
	b.Internal = b.Internal || s.missed && s.isOrphan(kind, call, text, b)
	if b.Internal || filtered {
		s.withhold(kind, text)
		return
	}
	switch kind {
	case typeToolStart:
		s.shown.Add(call)
	case typeContentStart, typeContent:
		s.shown.Add(text)
	case typeContentEnd:
		s.shown.Remove(text)
	}
	if b.Branch != "" {
		s.shown.Add(agentKey(b.Branch))
	}
	if b.EnclosingCall != "" {
		s.shown.Add(callKey(b.EnclosingCall))
	}
}

// isOrphan reports whether a frame continues a call, a text or a subagent that was not shown.
func (s *starts) isOrphan(kind, call, text string, b *event.Batch) bool {
	switch {
	case b.EnclosingCall != "" && !s.shown.Contains(callKey(b.EnclosingCall)):
		return true
	case b.Branch != "" && kind != typeSubagentStart && !s.shown.Contains(agentKey(b.Branch)):
		return true
	case kind == typeSubagentEnd && b.Branch == "": // it names no subagent
		return true
	case kind == typeToolEnd:
		return !s.shown.Contains(call)
	}
	return (kind == typeContent || kind == typeContentEnd) && !s.shown.Contains(text)
}

// withhold records a frame that does not leave.
func (s *starts) withhold(kind, text string) {
	switch kind {
	case typeContentStart:
		s.missed = true
		s.shown.Remove(text)
	case typeToolStart, typeSubagentStart:
		s.missed = true
	}
}
