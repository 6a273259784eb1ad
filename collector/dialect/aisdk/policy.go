package aisdk

import "github.com/delegraph/delegraph/collector/event"

// failure replaces an error without saying why the answer failed.
const failure = `{"type":"error","errorText":"the run failed"}`

var table = event.Table{
	Discriminators: []string{"type"},
	TypePrefixes:   []string{dataPrefix},
	// Other protocols name their events in these members. In this protocol, only a chunk of a model's
	// provider has a kind, and none has a name or an event.
	Labels:      []string{"kind", "name", "event"},
	NameMembers: []string{"kind"},
	// Applications put anything into these members, such as another protocol's events. Arguments and results of
	// tools are not searched, because they are the user's data.
	DeepMembers:     []string{"approvalDescriptor", "citations", "data", "event", "result", "rawEvent", "raw_event", "messageMetadata", "parts", "providerMetadata", "toolMetadata"},
	FreeMembers:     []string{"input", "output", "data", "messageMetadata", "providerMetadata", "toolMetadata", "approvalDescriptor", "inputSchemaInput"},
	IgnoreEventName: true, // the SDK reads only the data
	FailureData:     failure,
	OversizeData:    `{"type":"error","errorText":"` + event.OversizeMessage + `"}`,

	Types: map[string]event.Type{
		typeStart:      {Client: true, Public: members(rules{"messageId": &messageID})},
		typeFinish:     {Client: true, Public: members(rules{"finishReason": &finishReason})},
		typeAbort:      {Client: true, Public: members(rules{})}, // without the reason, which is the server's own text
		typeError:      {Client: true, Public: members(rules{"errorText": {Fact: event.KindError, Replacement: `"the run failed"`}})},
		typeStartStep:  {Client: true, Public: members(rules{})},
		typeFinishStep: {Client: true, Public: members(rules{})},
		typeResetStep:  {Client: true, Public: members(rules{})},
		typeDone:       {Client: true, Text: true, Public: &event.Rule{Form: event.FormEnum, AllowedValues: []string{typeDone}}},

		typeTextStart: {Client: true, Public: members(rules{"id": &id})},
		typeTextDelta: {Client: true, Public: members(rules{"id": &id, "delta": {Fact: event.KindText, Form: event.FormText, Required: true}})},
		typeTextEnd:   {Client: true, Public: members(rules{"id": &id})},

		typeCutOffTextEnd:      {Client: true, InternalMembers: contentMembers, Public: members(rules{"id": &id})},
		typeCutOffReasoningEnd: {Client: true, InternalMembers: contentMembers, Public: &event.Rule{ThoughtMarkers: []string{"type"}, Members: members(rules{"id": &id}).Members}},

		typeReasoningStart: {Client: true, Public: &publicThought},
		typeReasoningDelta: {Client: true, Public: &publicThought},
		typeReasoningEnd:   {Client: true, Public: &publicThought},
		typeReasoningFile:  {Client: true, Words: &fileWords},

		// Tools: names and IDs without arguments, results and titles. A client needs the members that are
		// replaced.
		typeToolInputStart: {Client: true, Public: members(rules{"toolCallId": &id, "toolName": &toolStarted, "providerExecuted": &flag, "dynamic": &flag})},
		typeToolInputDelta: {Client: true, Shows: []event.Kind{event.KindToolStarted}},
		typeToolInput: {Client: true, Public: members(rules{
			"toolCallId": &id, "toolName": &toolStarted, "providerExecuted": &flag, "dynamic": &flag, "input": {Replacement: "{}"},
		})},
		typeToolInputError: {Client: true, Public: members(rules{
			"toolCallId": &id, "toolName": &toolStarted, "providerExecuted": &flag, "dynamic": &flag, "input": {Replacement: "{}"}, "errorText": &inputFailure,
		})},
		typeToolOutput: {Client: true, Public: members(rules{
			"toolCallId": &toolEnded, "providerExecuted": &flag, "dynamic": &flag, "preliminary": &flag, "output": {Replacement: "{}"},
		})},
		typeToolOutputError: {Client: true, Public: members(rules{
			"toolCallId": &toolEnded, "providerExecuted": &flag, "dynamic": &flag, "errorText": &toolFailure,
		})},
		typeToolOutputDenied: {Client: true, Public: members(rules{"toolCallId": &toolEnded})},

		// Questions, without the signature that proves to the server that it asked.
		typeApprovalRequest:  {Client: true, Public: members(rules{"approvalId": {Fact: event.KindInputRequested, Required: true}, "toolCallId": &id, "isAutomatic": &flag})},
		typeApprovalResponse: {Client: true, Public: members(rules{"approvalId": {Fact: event.KindInputAnswered, Required: true}, "approved": &flag})},

		// Sources are for readers, but not those in a text-end: a setting that excludes them would withhold the end of a text. Of a file, the public only learns that it exists.
		typeSourceURL:      {Client: true, Public: members(rules{"sourceId": &citationID, "url": &citationURL, "title": &citationText})},
		typeSourceDocument: {Client: true, Public: members(rules{"sourceId": &citationID, "mediaType": &mediaType, "title": &citationText, "filename": &citationText})},
		typeFile:           {Client: true, Public: members(rules{"mediaType": {Fact: event.KindArtifact, Form: event.FormMedia, Required: true}, "url": {Replacement: `"data:,"`}})},

		// Content of the application, of a provider, and of the user.
		typeData:     {Client: true},
		typeMetadata: {Client: true},
		typeCustom:   {Client: true},
		typeSteering: {Client: true, Words: &steeringWords},
		// Not for the public: only the start, which this stream lacks, may say that a text is a thought.
		typeContinuedText:    {Client: true},
		typeContinuedThought: {Client: true, Shows: []event.Kind{event.KindThought}},
	},
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

type rules = map[string]*event.Rule

// members returns a rule for members and the type, which every chunk has.
func members(m rules) *event.Rule {
	m["type"] = &scalar
	return &event.Rule{Members: m}
}

var (
	scalar       = event.Rule{DropNull: true}
	flag         = event.Rule{Form: event.FormEnum, DropNull: true}
	finishReason = event.Rule{Form: event.FormEnum, DropNull: true, AllowedValues: []string{"stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"}}
	id           = event.Rule{Form: event.FormID, DropNull: true, Required: true} // without it, clients fail at the next chunk of the call or part
	messageID    = event.Rule{Form: event.FormID, DropNull: true}
	toolStarted  = event.Rule{Fact: event.KindToolStarted, Form: event.FormTool, Required: true}
	toolEnded    = event.Rule{Fact: event.KindToolEnded, Form: event.FormID, Required: true}
	toolFailure  = event.Rule{Replacement: `"the tool failed"`}
	inputFailure = event.Rule{Replacement: `"the tool failed"`, Fact: event.KindToolEnded, Required: true}
	citationID   = event.Rule{Fact: event.KindCitation, Form: event.FormID, Required: true}
	citationText = event.Rule{Fact: event.KindCitation, Form: event.FormText, DropNull: true}
	citationURL  = event.Rule{Fact: event.KindCitation, Form: event.FormURL, DropNull: true}
	mediaType    = event.Rule{Form: event.FormMedia, DropNull: true, Fallback: `"application/octet-stream"`} // clients require it

	// publicThought treats every chunk of reasoning as a thought, so that a thought leaves with its
	// start and end or not at all.
	publicThought = event.Rule{ThoughtMarkers: []string{"type"}, Members: members(rules{
		"id": &id, "delta": {Fact: event.KindThought, Form: event.FormText, Required: true},
	}).Members}

	// contentMembers are the members of an end that may be about the withheld content.
	contentMembers = []string{"citations", "providerMetadata"}

	fileWords     = event.Words{Members: map[string]event.Kind{"url": event.KindThought}}
	steeringWords = event.Words{Containers: []string{"parts"}, Members: map[string]event.Kind{"text": event.KindText}, FromUser: true}
)
