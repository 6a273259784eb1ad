package deepagents

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// Types of frames: values of the member `type`.
const (
	typeStart         = "start"
	typeThinking      = "thinking"
	typePlan          = "plan"
	typeToolStart     = "tool_start"
	typeToolEnd       = "tool_end"
	typeSubagentStart = "subagent_start"
	typeSubagentEnd   = "subagent_end"
	typeContentStart  = "content_start"
	typeContent       = "content"
	typeContentEnd    = "content_end"
	typeStatus        = "status"
	typeInterrupt     = "interrupt" // a status that asks for input
	typeEnd           = "end"
	typeError         = "error"
)

var table = event.Table{
	Discriminators: []string{"type", "kind"},
	Labels:         []string{"event"}, // no frame of the protocol has this member; other protocols name their frames in it
	NameMembers:    []string{"event"}, // of a frame within a frame
	Envelopes:      []string{"result", "event", "rawEvent", "raw_event", "md", "interrupt"},
	FreeMembers:    []string{"args", "input", "output", "result", "options", "md", "interrupt"},
	EncodedTexts:   []string{"md", "interrupt"},
	FailureData:    `{"v":2,"type":"error","error":"the run failed"}`,
	OversizeData:   `{"v":2,"type":"error","error":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		typeStart: public(event.KindOther, members{"message_id": &scalar, "chat_id": &scalar, "status": &runStatus}),
		typeThinking: {Client: true, Public: &event.Rule{Fact: event.KindThought, ThoughtMarkers: []string{"text"}, Members: withCommon(members{
			"text": {Fact: event.KindThought, Form: event.FormText},
		})}},
		// The texts of the items are the agent's own plan. Their number and status are progress.
		typePlan: public(event.KindPlan, members{"items": {Elements: &event.Rule{Members: members{"id": &scalar, "status": &itemStatus}}}}),
		// The arguments, raw or for display, may quote the user.
		typeToolStart:     public(event.KindToolStarted, members{"name": &toolName, "call_id": &id}),
		typeToolEnd:       public(event.KindToolEnded, members{"name": &toolName, "call_id": &id, "status": &toolStatus, "ms": &number}),
		typeSubagentStart: public(event.KindOther, nil), // the description is a prompt
		typeSubagentEnd:   public(event.KindOther, members{"ms": &number}),
		typeContentStart:  public(event.KindOther, nil),
		typeContent:       public(event.KindOther, members{"md": {Fact: event.KindText, Form: event.FormText}}),
		typeContentEnd:    public(event.KindOther, nil),
		typeStatus:        public(event.KindOther, members{"text": {Replacement: `"Processing..."`}}),
		// The string in md also contains the question, its context, and the id that resumes the thread.
		typeInterrupt: public(event.KindInputRequested, members{
			"text": {Replacement: `"\u23f8\ufe0f ` + inputRequestText + `"`},
			"md":   {Replacement: `"{\"interrupt\":true}"`},
		}),
		typeEnd:   public(event.KindOther, members{"status": &runStatus, "ms_total": &number, "tool_calls": &number}),
		typeError: public(event.KindOther, members{"error": {Replacement: `"the run failed"`, Fact: event.KindError}}),
	},
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// thoughtWords finds thoughts in members that the protocol does not have.
var thoughtWords = event.Words{Members: wire.WithThoughts(nil)}

type members = map[string]*event.Rule

// public returns a type whose frames clients get whole. The public gets them with these members only.
func public(fact event.Kind, own members) event.Type {
	return event.Type{Client: true, Words: &thoughtWords, Public: &event.Rule{Fact: fact, Members: withCommon(own)}}
}

// withCommon adds the members that every frame has.
func withCommon(own members) members {
	all := members{
		"v": &number, "type": &scalar, "id": &scalar, "ts": &timestamp,
		"agent_type": &scalar, "agent_id": &scalar, "parent_call_id": &id,
	}
	maps.Copy(all, own)
	return all
}

var (
	scalar    = event.Rule{}
	id        = event.Rule{Form: event.FormID}
	toolName  = event.Rule{Form: event.FormTool}
	number    = event.Rule{Form: event.FormEnum}
	timestamp = event.Rule{Form: event.FormTime}
)

// Rules for statuses. Any other value may be a message, so "other" replaces it.
var (
	runStatus  = event.Rule{AllowedValues: slices.Concat(successes, cancellations, []string{"processing", "interrupted", "error"}), Replacement: `"other"`}
	toolStatus = event.Rule{AllowedValues: slices.Concat(successes, cancellations, []string{"error"}), Replacement: `"other"`}
	itemStatus = event.Rule{AllowedValues: []string{"pending", "in_progress", "completed", "cancelled", "canceled"}, Replacement: `"other"`}
)
