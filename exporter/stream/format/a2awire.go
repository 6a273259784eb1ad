package format

import (
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
)

// a2aVersion writes updates in one version of the protocol.
type a2aVersion struct{ v03 bool }

// response is a JSON-RPC response. Its id is null, because it answers no request.
type response struct {
	JSONRPC string `json:"jsonrpc"`
	ID      *int   `json:"id"`
	Result  any    `json:"result"`
}

func newResponse(result any) response { return response{JSONRPC: "2.0", Result: result} }

// a2aState is the state of a task, in the names of version 0.3.
type a2aState string

const (
	stateSubmitted a2aState = "submitted"
	stateWorking   a2aState = "working"
	stateCompleted a2aState = "completed"
	stateFailed    a2aState = "failed"
	stateCanceled  a2aState = "canceled"
	stateInput     a2aState = "input-required"
	stateAuth      a2aState = "auth-required"
)

// statesV1 maps states to the names of version 1.0.
var statesV1 = map[a2aState]a2aState{
	stateSubmitted: "TASK_STATE_SUBMITTED", stateWorking: "TASK_STATE_WORKING", stateCompleted: "TASK_STATE_COMPLETED",
	stateFailed: "TASK_STATE_FAILED", stateCanceled: "TASK_STATE_CANCELED",
	stateInput: "TASK_STATE_INPUT_REQUIRED", stateAuth: "TASK_STATE_AUTH_REQUIRED",
}

// inputState returns the state of a task that waits for input.
func inputState(kind event.InputKind) a2aState {
	if kind == event.InputCredential {
		return stateAuth
	}
	return stateInput
}

type a2aTask struct {
	Kind      string        `json:"kind,omitempty"` // in 0.3
	ID        string        `json:"id"`
	ContextID string        `json:"contextId"`
	Status    a2aStatus     `json:"status"`
	Metadata  *taskMetadata `json:"metadata,omitempty"`
}

type a2aStatus struct {
	State     a2aState    `json:"state"`
	Message   *a2aMessage `json:"message,omitempty"`
	Timestamp string      `json:"timestamp,omitempty"`
}

type a2aMessage struct {
	Kind      string    `json:"kind,omitempty"` // in 0.3
	MessageID string    `json:"messageId"`
	TaskID    string    `json:"taskId"`
	ContextID string    `json:"contextId"`
	Role      string    `json:"role"`
	Parts     []a2aPart `json:"parts"`
}

type a2aPart struct {
	Kind      string          `json:"kind,omitempty"` // in 0.3
	Text      *string         `json:"text,omitempty"`
	Raw       *string         `json:"raw,omitempty"` // base64
	URL       json.RawMessage `json:"url,omitempty"`
	File      *a2aFile        `json:"file,omitempty"` // in 0.3; replaces Raw, URL and the two members below
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Data      any             `json:"data,omitempty"`
	Metadata  *partMetadata   `json:"metadata,omitempty"`
}

func textPart(text string) a2aPart { return a2aPart{Text: &text} }

type a2aStatusUpdate struct {
	Kind      string          `json:"kind,omitempty"` // in 0.3
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Status    a2aStatus       `json:"status"`
	Final     bool            `json:"-"`
	OldFinal  *bool           `json:"final,omitempty"` // in 0.3
	Metadata  *updateMetadata `json:"metadata,omitempty"`
}

type a2aArtifactUpdate struct {
	Kind      string          `json:"kind,omitempty"` // in 0.3
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Artifact  a2aArtifact     `json:"artifact"`
	Append    bool            `json:"append"`
	LastChunk bool            `json:"lastChunk"`
	Metadata  *updateMetadata `json:"metadata,omitempty"`
}

type a2aArtifact struct {
	ID    string    `json:"artifactId"`
	Name  string    `json:"name,omitempty"`
	Parts []a2aPart `json:"parts"`
}

// toolPart is a tool call or its result, in the form of the ADK.
type toolPart struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Args     any    `json:"args,omitempty"`
	Response any    `json:"response,omitempty"`
}

// Contents of metadata.
type (
	taskMetadata struct {
		Gap *gap `json:"delegraph.gap"`
	}
	updateMetadata struct {
		Author string `json:"adk_author,omitempty"`
		Gap    *gap   `json:"delegraph.gap,omitempty"`
	}
	partMetadata struct {
		Type        string `json:"adk_type,omitempty"`
		LongRunning bool   `json:"adk_is_long_running,omitempty"`
		Thought     bool   `json:"adk_thought,omitempty"`
		ThoughtType string `json:"delegraph_thought_type,omitempty"`
		Status      status `json:"delegraph_run_status,omitempty"` // of a run whose end has no state in A2A
		Wrapped     bool   `json:"data_part_compat,omitempty"`     // data of 1.0 that 0.3 has no form for; the SDKs of the A2A project mark it so too
	}
)

func (w a2aVersion) task(t a2aTask) response {
	w.setNames(&t.Status)
	if w.v03 {
		t.Kind = "task"
		return newResponse(t)
	}
	return newResponse(struct {
		Task a2aTask `json:"task"`
	}{t})
}

func (w a2aVersion) status(u a2aStatusUpdate) response {
	w.setNames(&u.Status)
	if w.v03 {
		u.Kind, u.OldFinal = "status-update", &u.Final
		return newResponse(u)
	}
	return newResponse(struct {
		Update a2aStatusUpdate `json:"statusUpdate"`
	}{u})
}

func (w a2aVersion) artifact(u a2aArtifactUpdate) response {
	w.setKinds(u.Artifact.Parts)
	if w.v03 {
		u.Kind = "artifact-update"
		return newResponse(u)
	}
	return newResponse(struct {
		Update a2aArtifactUpdate `json:"artifactUpdate"`
	}{u})
}

// setNames sets the state, the role and the kinds to the names of the version.
func (w a2aVersion) setNames(s *a2aStatus) {
	if !w.v03 {
		s.State = statesV1[s.State]
	}
	if s.Message == nil {
		return
	}
	s.Message.Role = "ROLE_AGENT"
	if w.v03 {
		s.Message.Kind, s.Message.Role = "message", "agent"
	}
	w.setKinds(s.Message.Parts)
}

// setKinds brings parts into the form of version 0.3, if that is the version.
func (w a2aVersion) setKinds(parts []a2aPart) {
	for i := range parts {
		switch p := &parts[i]; {
		case !w.v03:
		case p.Text != nil:
			p.Kind = "text"
		case p.Raw != nil || p.URL != nil:
			p.Kind, p.File = "file", &a2aFile{p.Filename, p.MediaType, p.Raw, p.URL}
			p.Raw, p.URL, p.Filename, p.MediaType = nil, nil, "", ""
		default:
			p.Kind, p.MediaType = "data", ""
		}
	}
}
