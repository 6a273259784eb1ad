package agui

import "github.com/delegraph/delegraph/collector/event"

// The types of frames that the protocol has no word for.
const (
	typePrompted  = "prompted run"  // a run whose request is told, with what is meant for models
	typeForeign   = "foreign text"  // what is no assistant's: the user's words, or those for models
	typeReasoned  = "reasoned text" // a thought that comes as a message
	typeStray     = "stray text"    // a piece of what nobody began; in no table, so that it stays in
	typeInterrupt = "on_interrupt"  // a question in an event of the framework's own
	typeError     = "error"         // of the server around the agent
)

// failure says that a run failed, and not why.
const failure = `{"type":"RUN_ERROR","message":"the run failed"}`

var table = event.Table{
	// A kind would be something of another protocol; it may stand in what the agent's framework said.
	Discriminators: []string{"type", "kind"},
	// Beside those of the protocol: no event that leaves has a member `event`, in which another protocol would name it.
	Labels: []string{"name", "activityType", "activity_type", "event"},
	// Applications send what they like in CUSTOM and ACTIVITY events.
	Envelopes: []string{"result", "event", "rawEvent", "value", "content", "patch", "metadata"},
	Events:    []string{"error"},                 // the ADK middleware names its errors
	Inner:     []string{"rawEvent", "raw_event"}, // as RAW: what the agent's framework said, with what models are told
	Failure:   failure,
	Oversize:  `{"type":"RUN_ERROR","message":"` + event.Withheld + `"}`,
	Types: map[string]event.Type{
		typeRunStarted:  {Client: true, Public: publicRun, Words: &conversationWords},
		typePrompted:    {Client: true, Inner: inputMember, Public: publicRun},
		typeRunFinished: {Client: true, Words: &resultWords, Public: frame(rules{"threadId": &scalar, "runId": &scalar, "outcome": &publicOutcome})},
		typeRunError:    {Client: true, Public: frame(rules{"message": &publicFailure})},
		typeError:       {Client: true, Public: &event.Rule{Fact: event.KindError, Instead: failure}}, // no event of the protocol's is like it

		typeStepStarted:  {Client: true, Public: frame(rules{"stepName": &scalar})},
		typeStepFinished: {Client: true, Public: frame(rules{"stepName": &scalar})},
		typeSubagentStarted: {Client: true, Public: frame(rules{
			"name": &scalar, "parentSubagentRunId": &scalar, "parentToolCallId": &scalar, "parentMessageId": &scalar,
		})},
		typeSubagentFinished: {Client: true, Public: frame(rules{
			"outcome": {Members: rules{"type": &scalar, "interruptIds": {Each: &scalar}}},
		})},
		typeSubagentError: {Client: true, Public: frame(rules{"message": {Instead: `"the subagent failed"`}})},

		typeTextStart:   {Client: true, Public: frame(rules{"messageId": &scalar, "role": &publicRole, "name": &scalar})},
		typeTextContent: {Client: true, Public: frame(rules{"messageId": &scalar, "delta": &publicText})},
		typeTextEnd:     {Client: true, Public: frame(rules{"messageId": &scalar})},
		typeTextChunk:   {Client: true, Public: frame(rules{"messageId": &scalar, "role": &publicRole, "name": &scalar, "delta": &publicText})},
		typeForeign:     {Client: true, Words: &userWords},
		typeReasoned:    {Client: true, Public: &publicThought},

		typeToolStart: {Client: true, Public: &publicCall},
		typeToolArgs:  {Client: true},
		typeToolEnd:   {Client: true, Public: frame(rules{"toolCallId": &scalar})},
		typeToolChunk: {Client: true, Public: &publicCall},
		typeToolResult: {Client: true, Public: frame(rules{
			"messageId": &scalar, "toolCallId": {Fact: event.KindToolEnded}, "role": &publicRole, "content": {Instead: `""`},
		})},

		typeReasoningStart:          {Client: true, Public: &publicThought},
		typeReasoningMessageStart:   {Client: true, Public: &publicThought},
		typeReasoningMessageContent: {Client: true, Public: &publicThought},
		typeReasoningMessageEnd:     {Client: true, Public: &publicThought},
		typeReasoningMessageChunk:   {Client: true, Public: &publicThought},
		typeReasoningEnd:            {Client: true, Public: &publicThought},
		typeThinkingStart:           {Client: true, Public: &publicThought},
		typeThinkingEnd:             {Client: true, Public: &publicThought},
		typeThinkingTextStart:       {Client: true, Public: &publicThought},
		typeThinkingTextContent:     {Client: true, Public: &publicThought},
		typeThinkingTextEnd:         {Client: true, Public: &publicThought},
		typeReasoningEncryptedValue: {Client: true}, // its client must send it back with the next request

		// To the public the configured keys are all of the state: those that a snapshot does not have are gone.
		typeStateSnapshot:    {Client: true, Public: frame(rules{"snapshot": {Fact: event.KindState, State: true, Else: "{}", Needed: true}})},
		typeStateDelta:       {Client: true, Public: frame(rules{"delta": {Fact: event.KindState, Patch: true, Needed: true}})},
		typeMessagesSnapshot: {Client: true, Messages: &conversationRule, Words: &conversationWords}, // the whole conversation
		typeActivitySnapshot: {Client: true, Public: frame(rules{
			"messageId": &publicArtifact, "activityType": &publicArtifact, "content": {Instead: "{}"}, "replace": &flag,
		})},
		typeActivityDelta: {Client: true, Public: frame(rules{
			"messageId": &publicArtifact, "activityType": &publicArtifact, "patch": {Instead: "[]"},
		})},

		typeCustom:    {Client: true},
		typeInterrupt: {Client: true, Public: frame(rules{"name": {Fact: event.KindInputRequested}, "value": {Instead: `""`}})},

		// Not here, so that they stay in: RAW, which is what the agent's framework says, and pieces of messages that nobody began.
	},
}

// Table is what may leave a stream of the Agent-User Interaction protocol.
func (Dialect) Table() *event.Table { return &table }

// conversationRule keeps in what is meant for models. Roles are read as generously as those of messages that come in pieces.
var conversationRule = event.Messages{Member: "messages", Role: "role", Inner: instructing, Parts: []string{"content", "toolCalls", "tool_calls"}}

var (
	// conversationWords are those of messages that were said before, in events of their own.
	conversationWords = event.Words{
		Within: []string{"input", "messages"},
		Members: map[string]event.Kind{
			"content": event.KindText, "reasoning": event.KindThought, "reasoning_content": event.KindThought,
			"toolCalls": event.KindToolStarted, "tool_calls": event.KindToolStarted,
		},
		Authors: []string{"name", "subagentRunId", "subagent_run_id"},
		Role:    "role",
		Users:   []string{"user"},
		Roles: map[string]event.Kind{
			"reasoning": event.KindThought, "tool": event.KindToolEnded, "activity": event.KindArtifact,
			"system": event.KindOther, "developer": event.KindOther,
		},
	}
	resultWords = event.Words{Members: map[string]event.Kind{"result": event.KindText}}
	userWords   = event.Words{Members: map[string]event.Kind{"delta": event.KindText}, User: true}
)

type rules = map[string]*event.Rule

// frame adds what every event may have. The event that it was made of and its metadata are nobody's but the client's.
func frame(m rules) *event.Rule {
	m["type"], m["timestamp"], m["subagentRunId"] = &scalar, &moment, &scalar
	return &event.Rule{Members: m}
}

var (
	scalar         = event.Rule{Given: true} // integrations write null for what they leave out
	moment         = event.Rule{Form: event.FormTime, Given: true}
	flag           = event.Rule{Form: event.FormPlain, Given: true}
	publicRole     = event.Rule{Form: event.FormPlain, Given: true, Values: []string{"assistant", "user", "tool", "reasoning"}}
	publicText     = event.Rule{Fact: event.KindText, Form: event.FormText, Given: true}
	thoughtRole    = event.Rule{Form: event.FormPlain, Given: true, Values: []string{"reasoning"}, Else: `"reasoning"`}
	publicWords    = event.Rule{Form: event.FormText, Given: true} // of a question
	publicArtifact = event.Rule{Fact: event.KindArtifact}
	publicFailure  = event.Rule{Fact: event.KindError, Instead: `"the run failed"`}

	publicRun  = frame(rules{"threadId": &scalar, "runId": &scalar, "protocolVersion": &scalar, "parentRunId": &scalar})
	publicCall = *frame(rules{"toolCallId": &scalar, "toolCallName": {Fact: event.KindToolStarted, Given: true}, "parentMessageId": &scalar})

	// publicThought has every event about reasoning for a thought, so that a thought leaves with its beginning and its end or not
	// at all.
	publicThought = event.Rule{Thought: []string{"type"}, Members: frame(rules{
		"messageId": &scalar, "role": &thoughtRole, "title": {Fact: event.KindThought, Form: event.FormText, Given: true}, "delta": {Fact: event.KindThought, Form: event.FormText, Given: true},
	}).Members}

	// publicOutcome shows questions as they are meant for who answers them.
	publicOutcome = event.Rule{Members: rules{
		"type":               &scalar,
		"pendingToolCallIds": {Each: &scalar},
		"interrupts": {Fact: event.KindInputRequested, Each: &event.Rule{Members: rules{
			"id": &scalar, "reason": &publicWords, "message": &publicWords, "toolCallId": &scalar, "subagentRunId": &scalar,
			"responseSchema": schema(4), "expiresAt": &moment,
		}}},
	}}
)

// schema is what an answer is to look like, down to a depth: without defaults and examples, in which state may stand.
func schema(depth int) *event.Rule {
	m := rules{
		"type": &scalar, "title": &publicWords, "description": &publicWords, "enum": {Each: &publicWords}, "required": {Each: &scalar},
	}
	if depth > 0 {
		m["properties"], m["items"] = &event.Rule{Names: schema(depth - 1)}, schema(depth-1)
	}
	return &event.Rule{Members: m}
}
