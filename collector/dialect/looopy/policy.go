package looopy

import "github.com/delegraph/delegraph/collector/event"

var table = event.Table{
	// Where the kind stands in the data; a type would be something of another protocol.
	Discriminators: []string{"kind", "type"},
	Deep:           true,
	Named:          true,
	FailureType:    "task-status",
	Oversize:       `{"kind":"task-status","contextId":"unknown","taskId":"unknown","status":"failed","message":"` + event.Withheld + `"}`,
	Types: map[string]event.Type{
		// How a task goes. Its words are those of errors too, and of what it waits for.
		kindTaskCreated: {Client: true, Public: public(rules{
			"initiator": &scalar,
			"metadata":  members(rules{"agentId": &scalar}),
		})},
		"task-status": {Client: true, Public: public(rules{
			"status": {Fact: event.KindError, Values: []string{
				"working", "waiting-input", "waiting-auth", "waiting-subtask", "completed", "canceled",
			}},
			"metadata": members(rules{
				"blockedBy":        &scalar,
				"pendingInputIds":  {Each: &scalar},
				"pendingToolNames": {Each: &scalar},
				"pendingAuths":     {Each: members(rules{"authId": &scalar, "authType": &scalar, "provider": &scalar})},
			}),
		})},
		"task-complete": {Client: true, Public: public(rules{
			"content":   &answerText,
			"artifacts": {Each: &scalar},
			"metadata":  members(rules{"duration": &flag, "iterations": &flag, "finishReason": &reason}),
		})},
		"subtask-created": {Client: true, Public: public(rules{"subtaskId": &scalar, "agentId": &scalar})},

		// What the model says. Its thoughts leave where the settings say so; what it costs, and what it was told, never.
		"content-delta": {Client: true, Public: public(rules{"delta": &answerText, "index": &flag})},
		"content-complete": {Client: true, Public: public(rules{
			"content":      &answerText,
			"finishReason": &reason,
			"toolCalls": {Each: members(rules{
				"id": &scalar, "type": &scalar, "function": members(rules{"name": &scalar}),
			}), Fact: event.KindToolStarted},
		})},
		"thought-stream": {Client: true, Public: &publicThought},
		"llm-usage":      {Client: true},
		kindMessage:      {Client: true, Words: &words},

		// Tools: names and ids, no arguments, results, or words about them.
		"tool-call":     {Client: true, Public: public(rules{"toolCallId": &scalar, "toolName": &toolStarted})},
		"tool-start":    {Client: true, Public: public(rules{"toolCallId": &scalar, "toolName": &toolStarted})},
		"tool-progress": {Client: true, Public: public(rules{"toolCallId": &scalar, "progress": {Fact: event.KindToolProgress}})},
		"tool-complete": {Client: true, Public: public(rules{
			"toolCallId": &scalar, "toolName": {Fact: event.KindToolEnded}, "success": &flag,
		})},

		// What somebody is to answer: all that he needs for it, since the protocol wants it to reach him, and no more.
		"tool-input-required": {Client: true, Public: public(rules{
			"toolCallId": &scalar, "toolName": &scalar, "inputId": &asked, "requireUser": &flag, "inputType": &scalar,
			"prompt": &askedText, "schema": &wholly, "options": &wholly, "metadata": &waiting,
		})},
		"input-required": {Client: true, Public: public(rules{
			"inputId": &asked, "requireUser": &flag, "inputType": &scalar,
			"prompt": &askedText, "schema": &wholly, "options": &wholly, "metadata": &waiting,
		})},
		"auth-required": {Client: true, Public: public(rules{
			"authId": &asked, "authType": &scalar, "provider": &scalar, "scopes": {Each: &scalar}, "prompt": &askedText,
			"authUrl": &askedText, "infoUrl": &askedText,
			"authorizationEndpoint": &askedText, "clientId": &scalar, "codeChallenge": &scalar, "codeChallengeMethod": &scalar,
			// With it the user's client encrypts what it sends. Should more of the key stand there, it stays in.
			"encryptionKey": members(rules{"kty": &scalar, "crv": &scalar, "x": {Form: event.FormText}, "y": {Form: event.FormText}, "kid": &scalar, "alg": &scalar}),
			"metadata":      &waiting,
		})},
		// Who answered is nobody's business.
		"input-received": {Client: true, Public: public(rules{"inputId": &answered, "providedBy": &scalar})},
		"auth-completed": {Client: true, Public: public(rules{"authId": &answered})},

		// Artifacts: their names and how far they are, not what is in them.
		"file-write": {Client: true, Public: public(rules{
			"artifactId": &written, "name": &written, "mimeType": &scalar, "index": &flag, "complete": &flag,
		})},
		"data-write": {Client: true, Public: public(rules{
			"artifactId": &written, "name": &written, "metadata": members(rules{"version": &scalar}),
		})},
		"dataset-write": {Client: true, Public: public(rules{
			"artifactId": &written, "name": &written, "index": &flag, "complete": &flag,
		})},
	},
}

// Table is what may leave a Looopy stream.
func (Dialect) Table() *event.Table { return &table }

// words are those of a message of the model's history, which repeats what other events say.
var words = event.Words{
	Within: []string{"message"},
	Members: map[string]event.Kind{
		"content": event.KindText, "thoughts": event.KindThought, "reasoning": event.KindThought,
		"toolCalls": event.KindToolStarted, "tool_calls": event.KindToolStarted,
	},
	Role:  "role",
	Users: []string{"user"},
	Roles: map[string]event.Kind{"tool": event.KindToolEnded, "system": event.KindOther},
}

type rules = map[string]*event.Rule

var (
	scalar      = event.Rule{}
	flag        = event.Rule{Form: event.FormPlain}
	moment      = event.Rule{Form: event.FormTime}
	answerText  = event.Rule{Fact: event.KindText, Form: event.FormText}
	reason      = event.Rule{Instead: `"other"`, Values: []string{"stop", "length", "tool_calls", "content_filter", "error", "completed", "canceled", "max_iterations"}}
	toolStarted = event.Rule{Fact: event.KindToolStarted}
	asked       = event.Rule{Fact: event.KindInputRequested}
	askedText   = event.Rule{Fact: event.KindInputRequested, Form: event.FormText}
	wholly      = event.Rule{Fact: event.KindInputRequested, Whole: true}
	answered    = event.Rule{Fact: event.KindInputAnswered}
	written     = event.Rule{Fact: event.KindArtifact}

	// waiting is how urgent an answer is and how long it is waited for, in seconds.
	waiting = event.Rule{Members: rules{"urgency": &scalar, "timeout": &scalar, "expiresIn": &scalar, "toolCallId": &scalar, "toolName": &scalar}}
)

// publicThought is a thought without the others that were weighed.
var publicThought = event.Rule{
	Fact:    event.KindThought,
	Thought: []string{"thoughtId", "thoughtType", "content"},
	Members: with(rules{
		"thoughtId": &scalar, "thoughtType": &scalar, "verbosity": &scalar, "index": &flag,
		"content":  {Fact: event.KindThought, Form: event.FormText},
		"metadata": members(rules{"confidence": {Fact: event.KindConfidence}}),
	}),
}

// public is an event, with what every event says of its place, its own members, and nothing else.
func public(own rules) *event.Rule { return members(with(own)) }

func members(m rules) *event.Rule { return &event.Rule{Members: m} }

func with(own rules) rules {
	for name, rule := range (rules{
		"kind": &scalar, "contextId": &scalar, "taskId": &scalar, "parentTaskId": &scalar, "path": {Each: &scalar}, "timestamp": &moment,
	}) {
		own[name] = rule
	}
	return own
}
