package looopy

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

var table = event.Table{
	// If the data has the kind, Looopy names it in "kind". Other protocols name it in "type".
	Discriminators:  []string{"kind", "type"},
	Labels:          []string{"event"}, // no frame of the protocol has this member; another protocol would name its frame there
	DeepEnvelopes:   true,
	FreeMembers:     []string{"metadata", "arguments", "result", "schema", "data", "rows", "delta", "change"},
	TypeIsEventName: true,
	Instructions:    &event.Instructions{Roles: wire.InstructionRoles, Skipped: toolMembers},
	FailureType:     "task-status",
	OversizeData:    `{"kind":"task-status","contextId":"unknown","taskId":"unknown","status":"failed","message":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		// The state of tasks. The texts of statuses do not leave: they include errors and what a
		// task waits for.
		kindTaskCreated: {Client: true, Public: public(rules{
			"initiator": &scalar,
			"metadata":  members(rules{"agentId": &scalar}),
		})},
		"task-status": {Client: true, Public: public(rules{
			"status": {Fact: event.KindError, AllowedValues: []string{
				"working", "waiting-input", "waiting-auth", "waiting-subtask", "completed", "canceled",
			}},
			"metadata": members(rules{
				"blockedBy":        &scalar,
				"pendingInputIds":  {Elements: &scalar},
				"pendingToolNames": {Elements: &toolName},
				"pendingAuths":     {Elements: members(rules{"authId": &scalar, "authType": &scalar, "provider": &scalar})},
			}),
		}), Words: &statusWords},
		kindTaskComplete: {Client: true, Public: public(rules{
			"content":   &answerText,
			"artifacts": {Elements: &scalar},
			"metadata":  members(rules{"duration": &flag, "iterations": &flag, "finishReason": &reason}),
		}), Words: &responseWords},
		"subtask-created": {Client: true, Public: public(rules{"subtaskId": &scalar, "agentId": &scalar})},

		// What the model says. Thoughts leave if the settings allow it. Usage and the model's input
		// never leave.
		"content-delta": {Client: true, Public: public(rules{"delta": &answerText, "index": &flag}), Words: &responseWords},
		"content-complete": {Client: true, Public: public(rules{
			"content":      &answerText,
			"finishReason": &reason,
			"toolCalls": {Elements: members(rules{
				"id": &id, "type": &scalar, "function": members(rules{"name": &toolName}),
			}), Fact: event.KindToolStarted},
		}), Words: &responseWords},
		"thought-stream": {Client: true, Public: &publicThought},
		"llm-usage":      {Client: true},
		kindMessage:      {Client: true, Words: &words},

		// Tools: names and ids without arguments, results, or texts about them.
		"tool-call":     {Client: true, Public: public(rules{"toolCallId": &id, "toolName": &toolStarted})},
		"tool-start":    {Client: true, Public: public(rules{"toolCallId": &id, "toolName": &toolStarted})},
		"tool-progress": {Client: true, Public: public(rules{"toolCallId": &id, "progress": {Fact: event.KindToolProgress, Form: event.FormEnum}})},
		"tool-complete": {Client: true, Public: public(rules{
			"toolCallId": &id, "toolName": {Fact: event.KindToolEnded, Form: event.FormTool}, "success": &flag,
		})},

		// Questions: only what the person who answers needs.
		"tool-input-required": {Client: true, Public: public(rules{
			"toolCallId": &id, "toolName": &toolName, "inputId": &inputID, "requireUser": &flag, "inputType": &scalar,
			"prompt": &inputText, "schema": &inputWhole, "options": &inputWhole, "metadata": &inputMetadata,
		})},
		"input-required": {Client: true, Public: public(rules{
			"inputId": &inputID, "requireUser": &flag, "inputType": &scalar,
			"prompt": &inputText, "schema": &inputWhole, "options": &inputWhole, "metadata": &inputMetadata,
		})},
		"auth-required": {Client: true, Public: public(rules{
			"authId": &inputID, "authType": &scalar, "provider": &scalar, "scopes": {Elements: &scalar}, "prompt": &inputText,
			"authUrl": &inputURL, "infoUrl": &inputURL,
			"authorizationEndpoint": &inputURL, "clientId": &scalar, "codeChallenge": &scalar, "codeChallengeMethod": &scalar,
			// The user's client encrypts its answer with this public key. Other members, such as
			// those of a private key, are removed.
			"encryptionKey": members(rules{"kty": &scalar, "crv": &scalar, "x": {Form: event.FormText}, "y": {Form: event.FormText}, "kid": &scalar, "alg": &scalar}),
			"metadata":      &inputMetadata,
		})},
		// userId and agentId are withheld, because they identify who answered. providedBy is only a role.
		"input-received": {Client: true, Public: public(rules{"inputId": &answeredID, "providedBy": &scalar})},
		"auth-completed": {Client: true, Public: public(rules{"authId": &answeredID})},

		// Artifacts: names and progress without contents.
		"file-write": {Client: true, Public: public(rules{
			"artifactId": &artifactField, "name": &artifactField, "mimeType": {Form: event.FormMedia}, "index": &flag, "complete": &flag,
		})},
		"data-write": {Client: true, Public: public(rules{
			"artifactId": &artifactField, "name": &artifactField, "metadata": members(rules{"version": &flag}),
		})},
		"dataset-write": {Client: true, Public: public(rules{
			"artifactId": &artifactField, "name": &artifactField, "index": &flag, "complete": &flag,
		})},
	},
}

// toolMembers hold arguments and results of tools, data of artifacts, and what a tool asks for.
var toolMembers = []string{"arguments", "toolArguments", "result", "data", "rows", "schema", "options"}

// Table returns the rules for the external stream.
func (Dialect) Table() *event.Table { return &table }

// words finds the texts in a message of the model's history, which repeats what other events say.
var words = event.Words{
	Containers: []string{"message", "metadata"},
	Members: wire.WithThoughts(map[string]event.Kind{
		"content": event.KindText, "toolCalls": event.KindToolStarted, "tool_calls": event.KindToolStarted,
	}),
	AuthorMembers: []string{"name", "agentId"},
	RoleMember:    "role",
	UserRoles:     []string{"user"},
	RoleKinds:     map[string]event.Kind{"tool": event.KindToolEnded},
}

// responseWords finds the thoughts and calls of a model's response, statusWords the texts of a status.
var (
	responseWords = event.Words{Containers: []string{"metadata"}, Members: wire.WithThoughts(map[string]event.Kind{"toolCalls": event.KindToolStarted, "tool_calls": event.KindToolStarted})}
	statusWords   = event.Words{Containers: []string{"metadata"}, Members: wire.WithThoughts(map[string]event.Kind{"message": event.KindText})}
)

type rules = map[string]*event.Rule

var (
	scalar        = event.Rule{}
	id            = event.Rule{Form: event.FormID}
	toolName      = event.Rule{Form: event.FormTool}
	flag          = event.Rule{Form: event.FormEnum}
	timestamp     = event.Rule{Form: event.FormTime}
	answerText    = event.Rule{Fact: event.KindText, Form: event.FormText}
	reason        = event.Rule{Replacement: `"other"`, AllowedValues: append(slices.Concat(wire.FailedReasons(), wire.NoReasons), "stop", "length", "tool_calls", "completed", "max_iterations")}
	toolStarted   = event.Rule{Fact: event.KindToolStarted, Form: event.FormTool}
	inputID       = event.Rule{Fact: event.KindInputRequested}
	inputText     = event.Rule{Fact: event.KindInputRequested, Form: event.FormText}
	inputURL      = event.Rule{Fact: event.KindInputRequested, Form: event.FormURL}
	inputWhole    = event.Rule{Fact: event.KindInputRequested, AllowAny: true}
	answeredID    = event.Rule{Fact: event.KindInputAnswered}
	artifactField = event.Rule{Fact: event.KindArtifact}

	// inputMetadata keeps the urgency of a question and its timeout in seconds.
	inputMetadata = event.Rule{Members: rules{"urgency": &scalar, "timeout": &flag, "expiresIn": &flag, "toolCallId": &id, "toolName": &toolName}}
)

// publicThought keeps a thought without the alternatives that were considered.
var publicThought = event.Rule{
	Fact:           event.KindThought,
	ThoughtMarkers: []string{"thoughtId", "thoughtType", "content"},
	Members: withCommon(rules{
		"thoughtId": &scalar, "thoughtType": &scalar, "verbosity": &scalar, "index": &flag,
		"content":  {Fact: event.KindThought, Form: event.FormText},
		"metadata": members(rules{"confidence": {Fact: event.KindConfidence}}),
	}),
}

// public returns the rule for an event: the members that every event has, and its own.
func public(own rules) *event.Rule { return members(withCommon(own)) }

func members(m rules) *event.Rule { return &event.Rule{Members: m} }

func withCommon(own rules) rules {
	for name, rule := range (rules{
		"kind": &scalar, "contextId": &scalar, "taskId": &scalar, "parentTaskId": &scalar, "path": {Elements: &scalar}, "timestamp": &timestamp,
	}) {
		own[name] = rule
	}
	return own
}
