package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var (
	// links are the members that name the speaker of a frame, or the message, call or run of the frame.
	// otherLinks are the same members as Python names them.
	links      = []string{"role", "messageId", "toolCallId", "subagentRunId", "parentMessageId", "parentToolCallId", "parentSubagentRunId", "entityId"}
	otherLinks = []string{"message_id", "tool_call_id", "subagent_run_id", "parent_message_id", "parent_tool_call_id", "parent_subagent_run_id", "entity_id"}
	allLinks   = slices.Concat(links, otherLinks)

	linkPrefilter = lenient.NewPrefilter(&event.Table{Labels: allLinks})
)

// misspellsLink reports whether a lenient reader may take a member for one of the links although the protocol spells the
// link differently. Readers then disagree about what the frame is part of. The events of a run are part of nothing else.
func misspellsLink(k *kind, v strictjson.Value) bool {
	if k.name == typeRunStarted || k.name == typeRunFinished || k.name == typeRunError {
		return false
	}
	for name, value := range v.Members() {
		text := name.Text()
		if linkPrefilter.MayMatch(text) && lenient.MatchesAny(text, allLinks) && !slices.ContainsFunc(links, name.Is) && value.Kind() > strictjson.Null {
			return true
		}
	}
	return false
}

// The members with the ids of a run and of the run that started it, in JavaScript and in Python.
var (
	runIDs       = []string{"runId", "run_id"}
	parentRunIDs = []string{"parentRunId", "parent_run_id"}
)

// memberOf returns the id in the first member that a lenient reader might take for one of names.
func (d *decoder) memberOf(v strictjson.Value, names []string) string {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), names) {
			return d.name(value)
		}
	}
	return ""
}
