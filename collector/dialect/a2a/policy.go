package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// The types of frames: those that the protocol has, and those of what a frame says where less of it may leave.
const (
	typeTask     = "task"
	typeMessage  = "message"
	typeStatus   = "status-update"
	typeArtifact = "artifact-update"
	typeError    = "error"
	typeWorking  = "working"  // a status, or a snapshot, whose words are about the work
	typeAside    = "aside"    // an artifact, or a message, whose words are not for everybody: then there is nothing to it
	typeAsking   = "asking"   // one whose words are a question
	typeAsked    = "asked"    // one that asks without words that may leave
	typeForeign  = "foreign"  // a message that no agent says it is from
	typeThoughts = "thoughts" // an answer with thoughts in it
	typeCalls    = "calls"    // an ADK agent's calls of tools, and nothing else
	typeResults  = "results"  // what they gave back, and nothing else
)

// typeOf is the type of a frame that says how a task stands.
func (s status) typeOf(plain string) string {
	switch {
	case isAmbiguous(s.message):
		return typeWorking
	case s.asks() && (fromUser(s.message) || s.parts.thought || hides(s.parts)):
		return typeAsked
	case s.asks():
		return typeAsking
	case s.over() && !fromUser(s.message):
		return typeOf(plain, s.parts)
	case all(partCall, s.parts):
		return typeCalls
	case all(partResponse, s.parts):
		return typeResults
	}
	return typeWorking
}

// typeOfTask is the type of a snapshot. What its artifacts hold is no call of a tool, whatever its status says.
func (s status) typeOfTask(task strictjson.Value) string {
	kind := s.typeOf(typeTask)
	for artifact := range task.Get("artifacts").Elements() {
		parts := partsOfArtifact(artifact, task)
		switch {
		case (kind == typeCalls || kind == typeResults) && s.over():
			kind = typeTask
		case kind == typeCalls || kind == typeResults:
			kind = typeWorking
		}
		switch {
		case (parts.thought || hides(parts)) && (kind == typeTask || kind == typeThoughts):
			kind = typeWorking
		case kind == typeTask && hasThought(parts):
			kind = typeThoughts
		}
	}
	return kind
}

// typeOf is the type of an answer, by its parts.
func typeOf(plain string, parts parts) string {
	switch {
	case all(partCall, parts):
		return typeCalls
	case all(partResponse, parts):
		return typeResults
	case parts.thought || hides(parts): // what says so does not leave, so that to its reader they would be words
		return typeWorking
	case hasThought(parts):
		return typeThoughts
	}
	return plain
}

func hasThought(parts parts) bool {
	for p := range parts.all() {
		if p.mark {
			return true
		}
	}
	return false
}

// hides reports whether a part is a thought whose mark would not leave with it.
func hides(parts parts) bool {
	for p := range parts.all() {
		if p.hidden {
			return true
		}
	}
	return false
}

// isAmbiguous says whether readers could take different parts for those of a message.
func isAmbiguous(message strictjson.Value) bool {
	return message.Get("parts").Exists() && message.Get("content").Exists()
}

func all(kind partKind, parts parts) bool {
	for p := range parts.all() {
		if p.kind != kind {
			return false
		}
	}
	return parts.len() > 0
}

var table = event.Table{
	// The kind stands in the result of a JSON-RPC response, else at the top; a type would be something of another protocol.
	Discriminators: []string{"kind", "type"},
	Envelopes: []string{
		"result", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "history", "parts",
		"content", "metadata", "adk_custom_metadata", "a2a:response", "event", "rawEvent",
	},
	DeepIn:   []string{"error", "params"},
	Unnamed:  true,              // Agno names its frames by their classes
	Kept:     []string{"error"}, // at which the SDKs for Python (1.3) and, over HTTP+JSON, for JavaScript raise an error
	Failure:  `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the run failed"}}`,
	Oversize: `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"` + event.Withheld + `"}}`,
	Types: map[string]event.Type{
		typeTask:     {Client: true, Words: &words, Public: frame(&publicAnswer, &publicState)},
		typeMessage:  {Client: true, Words: &words, Public: frame(&publicAnswer, &publicState)},
		typeStatus:   {Client: true, Words: &words, Public: frame(&publicAnswer, &publicState)},
		typeArtifact: {Client: true, Words: &words, Public: frame(&publicAnswer, &publicState)},
		typeThoughts: {Client: true, Words: &words, Public: frame(&publicThoughts, &publicState)},
		typeAsking:   {Client: true, Words: &pastWords, Public: frame(&publicQuestion, &publicAsked)},
		typeAsked:    {Client: true, Words: &pastWords, Public: frame(nil, &publicAsked)},
		typeForeign:  {Client: true, Words: &words, Public: frame(&publicForeign, &publicState)},
		typeCalls:    {Client: true, Words: &words, Public: frame(&publicCall, &publicState)},
		typeResults:  {Client: true, Words: &words, Public: frame(&publicResult, &publicState)},
		typeWorking:  {Client: true, Words: &words, Public: frame(nil, &publicState)},
		typeAside:    {Client: true, Words: &words},
		typeError: {Client: true, Public: members(rules{
			"jsonrpc": {Form: event.FormPlain, Values: []string{"2.0"}},
			"id":      &scalar,
			"error": {Fact: event.KindError, Needed: true, Members: rules{
				"code": &scalar, "status": &scalar, "message": {Instead: `"the run failed"`},
			}},
		})},
	},
}

// words are all that is said in an update, by whomever; pastWords only what was said before, where the rest is a question.
var (
	words     = wordsIn("result", "task", "message", "statusUpdate", "artifactUpdate", "status", "artifact", "artifacts", "parts", "content")
	pastWords = wordsIn("result", "task", "statusUpdate", "artifact", "artifacts", "parts", "content")
)

func wordsIn(members ...string) event.Words {
	return event.Words{
		Members: map[string]event.Kind{"text": event.KindText},
		Within:  members, Past: []string{"history"},
		Authors: []string{"adk_author"}, Role: "role", Users: []string{"user", "ROLE_USER"},
		Thought: marks, Metadata: metadata,
	}
}

// Table is what may leave a stream of the Agent2Agent protocol.
func (Dialect) Table() *event.Table { return &table }

type rules = map[string]*event.Rule

func members(m rules) *event.Rule { return &event.Rule{Members: m} }

// needed is an object that schemas want where it stands.
func needed(m rules) *event.Rule { return &event.Rule{Members: m, Needed: true} }

var (
	scalar       = event.Rule{}
	flag         = event.Rule{Form: event.FormPlain}
	mark         = event.Rule{Form: event.FormPlain, Else: "true"} // of a thought, which stays one
	stays        = event.Rule{Members: rules{}, Needed: true}      // and so does what it is part of
	artifactName = event.Rule{Fact: event.KindArtifact}
	artifactID   = event.Rule{Fact: event.KindArtifact, Else: `"artifact"`}
)

// What schemas want of a file that does not leave: a place where nothing is, so that nobody takes anything for its contents.
const nowhere = `"about:blank"`

// How a task stands.
var (
	publicState = event.Rule{Fact: event.KindError, Needed: true, Values: []string{
		"submitted", "working", "completed", "unknown",
		"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "TASK_STATE_UNSPECIFIED",
	}}
	publicAsked = event.Rule{Fact: event.KindInputRequested, Needed: true}
)

// The pieces of what is said. Of a file its name leaves and not what is in it or where it lies, of a tool's call its name, of other
// data nothing. A piece without what its schema wants does not leave. The decoder takes for text of an answer neither the words of
// an error nor the user's, nor what was known before.
var (
	publicAnswer   = event.Rule{Only: knownKinds, Members: pieces(event.KindText)}
	publicQuestion = event.Rule{Only: knownKinds, Members: pieces(event.KindInputRequested), Thought: signs}
	publicForeign  = event.Rule{Only: knownKinds, Members: rules{
		"kind": &scalar, "text": {Fact: event.KindText, Form: event.FormText, Needed: true},
		"file": &stays, "data": &stays, "raw": &stays, "url": &stays,
	}}
	publicCall   = event.Rule{Only: knownKinds, Members: named(event.KindToolStarted)}
	publicResult = event.Rule{Only: knownKinds, Members: named(event.KindToolEnded)}

	// publicThoughts has every piece with metadata for a thought, since there it says that it is one, if it does not say so itself.
	publicThoughts = event.Rule{Only: knownKinds, Thought: signs, Members: with(pieces(event.KindText), publicMarks, rules{"metadata": members(publicMarks)})}
	publicMarks    = rules{"adk_thought": &mark, "adk:thought": &mark, "thought": &mark}
	signs          = slices.Concat(metadata, marks, categories)
)

func pieces(text event.Kind) rules {
	return rules{
		"kind":      &scalar,
		"text":      {Fact: text, Form: event.FormText, Needed: true},
		"data":      {Instead: "{}"},
		"filename":  &artifactName,
		"mediaType": &scalar,
		"raw":       {As: "url", Instead: nowhere},
		"url":       {Instead: nowhere},
		"file": members(rules{
			"name": &artifactName, "mimeType": &scalar,
			"bytes": {As: "uri", Instead: nowhere}, "fileWithBytes": {As: "fileWithUri", Instead: nowhere},
			"uri": {Instead: nowhere}, "fileWithUri": {Instead: nowhere},
		}),
	}
}

func named(fact event.Kind) rules {
	return rules{
		"kind":     &scalar,
		"data":     {Members: rules{"id": &scalar, "name": {Fact: fact}}, Else: "{}"},
		"metadata": members(rules{"adk_type": &scalar, "adk_is_long_running": &flag}),
	}
}

// publicRemarks is what an ADK agent says of whose event an update is.
var publicRemarks = event.Rule{Members: rules{
	"adk_author": &scalar, "adk_branch": &scalar, "adk_invocation_id": &scalar, "adk_partial": &flag,
}}

// frame is an update in each of its envelopes, without history and other metadata. Where piece is nil, nothing that is said leaves.
func frame(piece, standing *event.Rule) *event.Rule {
	update := rules{
		"kind": &scalar, "id": &scalar, "contextId": &scalar, "taskId": &scalar,
		"final": &flag, "append": &flag, "lastChunk": &flag, "metadata": &publicRemarks,
	}
	status := rules{"state": standing, "timestamp": {Form: event.FormTime}}
	if piece != nil {
		artifact := rules{
			"artifactId": &artifactID, "name": &artifactName, "parts": {Each: piece, Else: "[]"}, "metadata": &publicRemarks,
		}
		status["message"] = members(message(piece))
		update = with(update, message(piece), rules{"artifact": needed(artifact), "artifacts": {Each: members(artifact)}})
	}
	update["status"] = needed(status)
	wrapped := rules{"task": needed(update), "message": needed(update), "statusUpdate": needed(update), "artifactUpdate": needed(update)}
	return members(with(update, wrapped, rules{"jsonrpc": {Form: event.FormPlain, Values: []string{"2.0"}}, "result": needed(with(update, wrapped))}))
}

func message(piece *event.Rule) rules {
	return rules{
		"kind": &scalar, "messageId": &scalar, "contextId": &scalar, "taskId": &scalar, "role": {Form: event.FormPlain, Values: []string{"agent", "user", "ROLE_AGENT", "ROLE_USER"}},
		"parts": {Each: piece, Needed: true}, "content": {Each: piece, Needed: true}, "metadata": &publicRemarks,
	}
}

// with returns one set of rules.
func with(all ...rules) rules {
	one := rules{}
	for _, some := range all {
		for name, rule := range some {
			one[name] = rule
		}
	}
	return one
}
