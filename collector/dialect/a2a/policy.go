package a2a

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of frames: those of the protocol, and our own types. Our own types are for frames of which the filter passes less to readers. The
// public are the readers under event.PolicyPublic.
const (
	typeTask     = "task"
	typeMessage  = "message"
	typeStatus   = "status-update"
	typeArtifact = "artifact-update"
	typeError    = "error"
	typeWorking  = "working"  // a status or snapshot whose texts are about the work or its failure
	typeProgress = "progress" // a snapshot whose artifacts are answers, but not the text of its status
	typeAside    = "aside"    // an artifact or message whose texts may be thoughts or internal; the public gets nothing of it
	typeSummary  = "summary"  // see decoder.isSummary
	typeQuestion = "asking"   // a status whose text is a question
	typeWaiting  = "asked"    // a status that asks without a text that may leave
	typeAwaited  = "awaited"  // a status that asks for responses to calls
	typeForeign  = "foreign"  // a message whose role is not an agent's
	typeThoughts = "thoughts" // an answer that includes thoughts
	typeCalls    = "calls"    // tool calls of an ADK agent; the public gets no text beside them
	typeResults  = "results"  // responses to such calls; the public gets no text beside them
)

// typeOf returns the type of a frame that states the status of a task. plain is the type of an
// ordinary answer.
func (s status) typeOf(plain string) string {
	switch {
	case isAmbiguous(s.message):
		return typeWorking
	case s.isWaiting() && (fromUser(s.message) || s.parts.thought):
		return typeWaiting
	case s.isWaiting() && hasPart(s.parts, partCall):
		return typeAwaited
	case s.isWaiting():
		return typeQuestion
	case s.state == completed && !fromUser(s.message):
		return typeOf(plain, s.parts)
	case s.parts.thought:
		return typeWorking
	case hasPart(s.parts, partCall):
		return typeCalls
	case hasPart(s.parts, partResponse):
		return typeResults
	}
	return typeWorking
}

// hasPart reports whether one of the parts has a kind.
func hasPart(parts parts, kind partKind) bool {
	return parts.contain(func(p part) bool { return p.kind == kind })
}

// withArtifacts returns the type of a snapshot with artifacts, which are the answer in every state. areThoughts says that an
// object around the parts of an artifact is marked as a thought, and haveThoughts that a part itself is.
func (s status) withArtifacts(kind string, areThoughts, haveThoughts bool) string {
	switch {
	case isAmbiguous(s.message):
		return typeWorking
	case s.isWaiting() && areThoughts:
		return typeWaiting
	case s.isWaiting():
		return kind
	case areThoughts: // the filter removes the mark, so the thoughts would look like answers
		return typeWorking
	case kind == typeThoughts, kind != typeWorking && s.state == completed && haveThoughts:
		return typeThoughts
	case kind != typeWorking && s.state == completed:
		return typeTask
	}
	return typeProgress
}

// typeOf returns the type of an answer, by its parts.
func typeOf(plain string, parts parts) string {
	switch {
	case parts.thought: // the filter removes the mark around the parts, so the thoughts would look like answers
		return typeWorking
	case all(partCall, parts):
		return typeCalls
	case all(partResponse, parts):
		return typeResults
	case hasMarkedThought(parts):
		return typeThoughts
	}
	return plain
}

// hasMarkedThought reports whether a part is a thought that leaves with its mark.
func hasMarkedThought(parts parts) bool {
	return parts.contain(func(p part) bool { return p.isThought && !p.hiddenMark })
}

// isAmbiguous reports whether a message has two lists of parts. Readers could choose either.
func isAmbiguous(message strictjson.Value) bool {
	return message.Get("parts").Exists() && message.Get("content").Exists()
}

// all reports whether there are parts, all of one kind.
func all(kind partKind, parts parts) bool {
	return parts.len() > 0 && !parts.contain(func(p part) bool { return p.kind != kind })
}

// relayEnvelopes are the members of an ADK agent's custom metadata that have the frames of a remote agent.
var relayEnvelopes = []string{"a2a:request", "a2a:response", "updateEvent", "event", "rawEvent"}

// opaqueMembers are the errors of a model's API, such as {"error":{"type":"internal_server_error"}}, the state of a session, what a tool asks to
// confirm, the metadata of the request, which ADK's servers repeat in each event, and the schema of a part's data.
//
// Source: google/adk/a2a/converters/request_converter.py of google-adk 2.13; fasta2a 2.1.
var opaqueMembers = append(adkErrorMessages, "stateDelta", "state_delta", "requestedToolConfirmations", "requested_tool_confirmations",
	"a2a_metadata", "json_schema")

var table = event.Table{
	// A2A names the type of an update in "kind". Other protocols name it in "type".
	Discriminators: []string{"kind", "type"},
	NameMembers:    []string{"event"},
	Envelopes: slices.Concat([]string{
		"result", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "parts", "content", // of a history, see hasInternalHistory
	}, wire.ADKCustom, relayEnvelopes),
	TypePrefixes:    []string{"https://a2a-protocol.org/errors/", "about:blank"}, // of problem details
	DeepMembers:     []string{"error", "params"},
	DeepStrings:     []string{"metadata"},
	OpaqueMembers:   opaqueMembers,
	FreeMembers:     []string{"data", "metadata"},
	EncodedMembers:  wire.ADKEncodedMembers,
	EntryKeys:       wire.EntryKeys,
	IgnoreEventName: true,              // Agno uses class names as event names
	KeptEvents:      []string{"error"}, // the Python SDK (1.3) and the JavaScript SDK over HTTP+JSON raise an error on this event name
	FailureData:     `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the run failed"}}`,
	OversizeData:    `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"` + event.OversizeMessage + `"}}`,
	Types: map[string]event.Type{
		typeTask:     {Client: true, Words: &words, Answer: true, Public: frame(&publicAnswer, &publicAnswer, &publicState)},
		typeMessage:  {Client: true, Words: &words, Public: frame(&publicAnswer, &publicAnswer, &publicState)},
		typeStatus:   {Client: true, Words: &words, Answer: true, Public: frame(&publicAnswer, &publicAnswer, &publicState)},
		typeArtifact: {Client: true, Words: &words, Public: frame(&publicAnswer, &publicAnswer, &publicState)},
		typeThoughts: {Client: true, Words: &words, Public: frame(&publicThoughts, &publicThoughts, &publicState)},
		typeQuestion: {Client: true, Words: &pastWords, Answer: true, Public: frame(&publicQuestion, &publicAnswer, &publicWaiting)},
		typeWaiting:  {Client: true, Words: &pastWords, Public: frame(nil, nil, &publicWaiting)},
		typeAwaited:  {Client: true, Words: &words, Answer: true, Public: frame(&publicAwaited, &publicAnswer, &publicWaiting)},
		typeForeign:  {Client: true, Words: &words, Public: frame(&publicForeign, &publicForeign, &publicState)},
		typeCalls:    {Client: true, Words: &words, Public: frame(&publicCalls, &publicCalls, &publicState)},
		typeResults:  {Client: true, Words: &words, Public: frame(&publicCalls, &publicCalls, &publicState)},
		typeWorking:  {Client: true, Words: &words, Public: frame(nil, nil, &publicState)},
		typeProgress: {Client: true, Words: &words, Answer: true, Public: frame(nil, &publicAnswer, &publicState)},
		typeAside:    {Client: true, Words: &words},
		typeSummary:  {Client: true, AnyFact: true},
		typeError: {Client: true, Public: &event.Rule{Fact: event.KindError, Members: rules{
			"jsonrpc": {Form: event.FormEnum, AllowedValues: []string{"2.0"}},
			"id":      &scalar,
			"error":   {String: &failureText, Required: true, Members: publicError},
			"code":    &code, "status": &code, "message": &failureText, "title": &failureText, "detail": &failureText, // without an envelope
		}}},
	},
}

// publicError allows what an error states about its kind.
var publicError = rules{"code": &code, "status": &code, "message": &failureText}

var failureText = event.Rule{Replacement: `"the run failed"`}

var (
	// words lists all texts in an update, from any author. pastWords lists only earlier texts, for
	// updates whose other text is a question.
	words     = wordsIn("result", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "parts", "content")
	pastWords = wordsIn("result", "task", "statusUpdate", "artifact", "artifacts", "parts", "content")
)

func wordsIn(members ...string) event.Words {
	return event.Words{
		Members:    map[string]event.Kind{"text": event.KindText, "renderUiWidgets": event.KindToolStarted, "render_ui_widgets": event.KindToolStarted},
		Containers: members, ClientContainers: append([]string{"history", "metadata"}, wire.ADKNames("actions")...),
		AuthorMembers: wire.ADKAuthors, RoleMember: "role", UserRoles: []string{"user", "ROLE_USER"},
		ThoughtMarkers: wire.ThoughtMarkers, MetadataMembers: []string{"metadata"},
		TypedMembers: []string{"data"}, TypeMembers: wire.ADKTypes, TypeKinds: wire.ADKPartKinds,
	}
}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

type rules = map[string]*event.Rule

func members(m rules) *event.Rule { return &event.Rule{Members: m} }

// needed returns the rule for an object that the protocol's schemas require.
func needed(m rules) *event.Rule { return &event.Rule{Members: m, Required: true} }

var (
	scalar       = event.Rule{}
	id           = event.Rule{Form: event.FormID}
	code         = event.Rule{Form: event.FormCode} // of a kind, type or error
	mediaType    = event.Rule{Form: event.FormMedia}
	flag         = event.Rule{Form: event.FormEnum}
	mark         = event.Rule{Form: event.FormEnum, Fallback: "true"} // of a thought; a removed value becomes true, so that the part stays a thought
	withheldPart = event.Rule{Members: rules{}, Required: true}       // withholds the part that has the member
	pastMessages = event.Rule{Members: rules{}, OwnMarkers: true}     // messages that do not leave
	artifactName = event.Rule{Fact: event.KindArtifact}
	artifactID   = event.Rule{Fact: event.KindArtifact, Fallback: `"artifact"`}
)

// blankURI replaces the required contents of a file whose contents do not leave. No reader mistakes it for contents.
const blankURI = `"about:blank"`

// Rules for the state of a task.
var (
	publicState = event.Rule{Form: event.FormCode, Fact: event.KindError, Required: true, AllowedValues: []string{
		"submitted", "working", "completed", "unknown",
		"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_UNSPECIFIED",
	}}
	publicWaiting = event.Rule{Form: event.FormCode, Fact: event.KindInputRequested, Required: true}
)

var (
	// Rules for the parts of messages and artifacts. Of a file, only the name leaves, not its
	// contents or location. Of a tool call, only the name leaves. Other data does not leave. A part without a
	// member that its schema requires does not leave either. The decoder does not report error texts,
	// the user's texts or earlier texts as text of an answer.
	publicAnswer   = beside(event.Rule{Members: partRules(event.KindText)})
	publicQuestion = beside(event.Rule{ThoughtMarkers: signs, Members: merge(partRules(event.KindInputRequested), publicMarks, rules{"metadata": members(publicMarks)})})
	publicCalls    = beside(event.Rule{})
	publicAwaited  = beside(event.Rule{ThoughtMarkers: wire.ThoughtMarkers, ThoughtMarkersIn: []string{"metadata"}, Members: merge(publicMarks, rules{
		"kind": &code, "text": {Fact: event.KindInputRequested, Form: event.FormText, Required: true}, "metadata": members(publicMarks),
		"file": &withheldPart, "data": &withheldPart, "raw": &withheldPart, "url": &withheldPart,
	})})
	publicForeign = event.Rule{AllowedTypes: knownKinds, Members: rules{
		"kind": &code, "text": {Fact: event.KindText, Form: event.FormText, Required: true},
		"file": &withheldPart, "data": &withheldPart, "raw": &withheldPart, "url": &withheldPart,
	}}

	// publicThoughts treats every part with metadata as a thought, because the mark may be in the metadata.
	publicThoughts = beside(event.Rule{ThoughtMarkers: signs, Members: merge(partRules(event.KindText), publicMarks, rules{"metadata": members(publicMarks)})})
	publicMarks    = each(&mark, wire.ThoughtMarkers...)
	signs          = slices.Concat([]string{"metadata"}, wire.ThoughtMarkers, wire.ThoughtCategories)
)

// beside adds to the rule for a part the rules for an ADK agent's calls and responses, which may be beside it.
func beside(rule event.Rule) event.Rule {
	rule.AllowedTypes = knownKinds
	rule.TypePath = [][]string{{"metadata"}, adkTypes}
	rule.ByType = rules{
		"function_call":     callRule(event.KindToolStarted, rules{}),
		"function_response": callRule(event.KindToolEnded, rules{"response": &wire.PublicResponse}),
	}
	return rule
}

// callRule returns the rule for a call or a response. more are the rules for its data besides the ID and the name.
func callRule(fact event.Kind, more rules) *event.Rule {
	identity := merge(more, rules{"id": &id, "name": {Fact: fact, Form: event.FormTool, Required: true}})
	pause := members(merge(identity, rules{"args": &wire.PublicPause}))
	names := rules{"adk_request_confirmation": pause, "adk_request_credential": pause}
	nested := event.Rule{Members: identity, TypePath: [][]string{{"name"}}, ByType: names, Required: true}
	data := nested
	data.ByType, data.OwnMarkers = merge(names, rules{"": members(rules{"data": &nested})}), true // see callData
	return &event.Rule{
		AllowedTypes: knownKinds, ThoughtMarkers: wire.ThoughtMarkers, ThoughtMarkersIn: []string{"metadata"},
		Members: merge(publicMarks, rules{
			"kind": &code, "text": &withheldPart, "file": &withheldPart, "raw": &withheldPart, "url": &withheldPart, "data": &data,
			"metadata": members(merge(publicMarks, each(&code, adkTypes...), each(&flag, longRunningMarks...))),
		}),
	}
}

func partRules(text event.Kind) rules {
	return rules{
		"kind":      &code,
		"text":      {Fact: text, Form: event.FormText, Required: true},
		"data":      {Replacement: "{}"},
		"filename":  &artifactName,
		"mediaType": &mediaType,
		"raw":       {RenameTo: "url", Replacement: blankURI},
		"url":       {Replacement: blankURI},
		"file": members(rules{
			"name": &artifactName, "mimeType": &mediaType,
			"bytes": {RenameTo: "uri", Replacement: blankURI}, "fileWithBytes": {RenameTo: "fileWithUri", Replacement: blankURI},
			"uri": {Replacement: blankURI}, "fileWithUri": {Replacement: blankURI},
		}),
	}
}

// publicADKMetadata keeps an ADK agent's metadata about the author of an update, and the IDs of the calls whose responses only say that
// they wait for a confirmation or a credential.
var (
	publicADKMetadata = event.Rule{Members: merge(
		each(&scalar, wire.ADKNames("author", "branch", "invocation_id")...), each(&flag, wire.ADKNames("partial")...), rules{"kagent_adk_partial": &flag},
		each(&publicActions, wire.ADKNames("actions")...),
	)}
	publicActions = event.Rule{StatedOnly: true, Fact: event.KindToolPaused, Members: rules{
		"requestedToolConfirmations": &pausedCalls, "requested_tool_confirmations": &pausedCalls,
		"requestedAuthConfigs": &pausedCalls, "requested_auth_configs": &pausedCalls,
	}}
	pausedCalls = event.Rule{AnyMember: &event.Rule{Members: rules{}, Fallback: "{}", Fact: event.KindInputRequested}}
)

// frame returns the rule for an update in each of its envelopes, without the history and other
// metadata. piece is the rule for the parts of its message, and artifactPiece for those of its artifacts. Parts without
// a rule do not leave.
func frame(piece, artifactPiece, state *event.Rule) *event.Rule {
	update := rules{
		"kind": &code, "id": &scalar, "contextId": &scalar, "taskId": &scalar,
		"final": &flag, "append": &flag, "lastChunk": &flag, "metadata": &publicADKMetadata, "history": &pastMessages,
	}
	status := rules{"state": state, "timestamp": {Form: event.FormTime}}
	if piece != nil {
		status["message"] = members(message(piece))
		update = merge(update, message(piece))
	}
	if artifactPiece != nil {
		artifact := rules{
			"artifactId": &artifactID, "name": &artifactName, "parts": {Elements: artifactPiece, Fallback: "[]"}, "metadata": &publicADKMetadata,
		}
		update = merge(update, rules{"artifact": needed(artifact), "artifacts": {Elements: members(artifact)}})
	}
	update["status"] = &event.Rule{Members: status, Required: true, OwnMarkers: true}
	wrapped := rules{"task": needed(update), "message": needed(update), "statusUpdate": needed(update), "artifactUpdate": needed(update)}
	return members(merge(update, wrapped, rules{"jsonrpc": {Form: event.FormEnum, AllowedValues: []string{"2.0"}}, "result": needed(merge(update, wrapped))}))
}

func message(piece *event.Rule) rules {
	return rules{
		"kind": &code, "messageId": &id, "contextId": &scalar, "taskId": &scalar, "role": {Form: event.FormEnum, AllowedValues: []string{"agent", "user", "ROLE_AGENT", "ROLE_USER"}},
		"parts": {Elements: piece, Required: true}, "content": {Elements: piece, Required: true}, "metadata": &publicADKMetadata,
	}
}

// each returns the same rule for several members.
func each(rule *event.Rule, names ...string) rules {
	all := rules{}
	for _, name := range names {
		all[name] = rule
	}
	return all
}

// merge returns the union of sets of rules.
func merge(all ...rules) rules {
	union := rules{}
	for _, set := range all {
		maps.Copy(union, set)
	}
	return union
}
