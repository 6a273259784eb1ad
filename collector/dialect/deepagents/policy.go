package deepagents

import (
	"maps"

	"github.com/delegraph/delegraph/collector/event"
)

// The types of frames, as the member `type` has them.
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
	typeInterrupt     = "interrupt" // a status that asks for something
	typeEnd           = "end"
	typeError         = "error"
)

var table = event.Table{
	Discriminators: []string{"type", "kind"},
	Labels:         []string{"event"}, // no frame of the protocol has one: another would name its frame there
	Envelopes:      []string{"result", "event", "rawEvent", "raw_event"},
	Events:         []string{"message"}, // a browser's onmessage hears no others
	Failure:        `{"v":2,"type":"error","error":"the run failed"}`,
	Oversize:       `{"v":2,"type":"error","error":"` + event.Withheld + `"}`,
	Types: map[string]event.Type{
		typeStart: public(event.KindOther, members{"message_id": &scalar, "chat_id": &scalar, "status": &runStatus}),
		typeThinking: {Client: true, Public: &event.Rule{Fact: event.KindThought, Thought: []string{"text"}, Members: with(members{
			"text": {Fact: event.KindThought, Form: event.FormText},
		})}},
		// What the items say is the agent's own plan; that there are some, and how far they are, is progress.
		typePlan: public(event.KindPlan, members{"items": {Each: &event.Rule{Members: members{"id": &scalar, "status": &itemStatus}}}}),
		// The arguments, raw or for display, may quote the user.
		typeToolStart:     public(event.KindToolStarted, members{"name": &scalar, "call_id": &scalar}),
		typeToolEnd:       public(event.KindToolEnded, members{"name": &scalar, "call_id": &scalar, "status": &toolStatus, "ms": &number}),
		typeSubagentStart: public(event.KindOther, nil), // its description is a prompt
		typeSubagentEnd:   public(event.KindOther, members{"ms": &number}),
		typeContentStart:  public(event.KindOther, nil),
		typeContent:       public(event.KindOther, members{"md": {Fact: event.KindText, Form: event.FormText}}),
		typeContentEnd:    public(event.KindOther, nil),
		typeStatus:        public(event.KindOther, members{"text": {Instead: `"Processing..."`}}),
		// Beside the question stand the context and the id with which a thread is resumed, all in one string.
		typeInterrupt: public(event.KindInputRequested, members{
			"text": {Instead: `"\u23f8\ufe0f ` + asksHuman + `"`},
			"md":   {Instead: `"{\"interrupt\":true}"`},
		}),
		typeEnd:   public(event.KindOther, members{"status": &runStatus, "ms_total": &number, "tool_calls": &number}),
		typeError: public(event.KindOther, members{"error": {Instead: `"the run failed"`, Fact: event.KindError}}),
	},
}

// Table is what may leave a stream of DeepAgents.
func (Dialect) Table() *event.Table { return &table }

type members = map[string]*event.Rule

// public is a type that leaves whole to the protocol's client, and with these members to the public.
func public(fact event.Kind, own members) event.Type {
	return event.Type{Client: true, Public: &event.Rule{Fact: fact, Members: with(own)}}
}

// with adds what every frame has.
func with(own members) members {
	all := members{
		"v": &scalar, "type": &scalar, "id": &scalar, "ts": &moment,
		"agent_type": &scalar, "agent_id": &scalar, "parent_call_id": &scalar,
	}
	maps.Copy(all, own)
	return all
}

var (
	scalar = event.Rule{}
	number = event.Rule{Form: event.FormPlain}
	moment = event.Rule{Form: event.FormTime}
)

// Words for how something ended or stands. In the place of any other, which might be a message, stands that it is another.
var (
	runStatus  = event.Rule{Values: []string{"processing", "completed", "interrupted", "cancelled", "canceled", "error"}, Instead: `"other"`}
	toolStatus = event.Rule{Values: []string{"ok", "success", "completed", "cancelled", "canceled", "error"}, Instead: `"other"`}
	itemStatus = event.Rule{Values: []string{"pending", "in_progress", "completed", "cancelled", "canceled"}, Instead: `"other"`}
)
