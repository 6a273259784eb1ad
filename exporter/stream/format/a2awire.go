package format

import (
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
)

// a2aWire is how one version of the protocol writes updates.
type a2aWire struct{ old bool }

// response is that of JSON-RPC. There is no request of ours that it could answer.
type response struct {
	JSONRPC string `json:"jsonrpc"`
	ID      *int   `json:"id"`
	Result  any    `json:"result"`
}

func answer(result any) response { return response{JSONRPC: "2.0", Result: result} }

// a2aState is how a task stands, as version 0.3 has it.
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

// newStates are those of version 1.0.
var newStates = map[a2aState]a2aState{
	stateSubmitted: "TASK_STATE_SUBMITTED", stateWorking: "TASK_STATE_WORKING", stateCompleted: "TASK_STATE_COMPLETED",
	stateFailed: "TASK_STATE_FAILED", stateCanceled: "TASK_STATE_CANCELED",
	stateInput: "TASK_STATE_INPUT_REQUIRED", stateAuth: "TASK_STATE_AUTH_REQUIRED",
}

// asking is the state of a task that asks.
func (w a2aWire) asking(kind event.InputKind) a2aState {
	if kind == event.InputCredential {
		return stateAuth
	}
	return stateInput
}

type a2aTask struct {
	Kind      string       `json:"kind,omitempty"` // in 0.3
	ID        string       `json:"id"`
	ContextID string       `json:"contextId"`
	Status    a2aStatus    `json:"status"`
	Metadata  *taskRemarks `json:"metadata,omitempty"`
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
	File      *a2aFile        `json:"file,omitempty"` // in 0.3, in place of the two and of what follows
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Data      any             `json:"data,omitempty"`
	Metadata  *partRemarks    `json:"metadata,omitempty"`
}

func textPart(text string) a2aPart { return a2aPart{Text: &text} }

type a2aStatusUpdate struct {
	Kind      string         `json:"kind,omitempty"` // in 0.3
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Status    a2aStatus      `json:"status"`
	Final     bool           `json:"-"`
	OldFinal  *bool          `json:"final,omitempty"` // in 0.3
	Metadata  *updateRemarks `json:"metadata,omitempty"`
}

type a2aArtifactUpdate struct {
	Kind      string         `json:"kind,omitempty"` // in 0.3
	TaskID    string         `json:"taskId"`
	ContextID string         `json:"contextId"`
	Artifact  a2aArtifact    `json:"artifact"`
	Append    bool           `json:"append"`
	LastChunk bool           `json:"lastChunk"`
	Metadata  *updateRemarks `json:"metadata,omitempty"`
}

type a2aArtifact struct {
	ID    string    `json:"artifactId"`
	Name  string    `json:"name,omitempty"`
	Parts []a2aPart `json:"parts"`
}

// toolPart is a call of a tool, or what it gave back, as the ADK writes it.
type toolPart struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Args     any    `json:"args,omitempty"`
	Response any    `json:"response,omitempty"`
}

// What stands in metadata.
type (
	taskRemarks struct {
		Gap *gap `json:"delegraph.gap"`
	}
	updateRemarks struct {
		Author string `json:"adk_author"`
	}
	partRemarks struct {
		Type    string `json:"adk_type,omitempty"`
		Long    bool   `json:"adk_is_long_running,omitempty"`
		Thought bool   `json:"adk_thought,omitempty"`
		Kind    string `json:"delegraph_thought_type,omitempty"`
		Wrapped bool   `json:"data_part_compat,omitempty"` // so the project's SDKs mark data of 1.0 that 0.3 has no form for
	}
)

func (w a2aWire) task(t a2aTask) response {
	w.rewrite(&t.Status)
	if w.old {
		t.Kind = "task"
		return answer(t)
	}
	return answer(struct {
		Task a2aTask `json:"task"`
	}{t})
}

func (w a2aWire) status(u a2aStatusUpdate) response {
	w.rewrite(&u.Status)
	if w.old {
		u.Kind, u.OldFinal = "status-update", &u.Final
		return answer(u)
	}
	return answer(struct {
		Update a2aStatusUpdate `json:"statusUpdate"`
	}{u})
}

func (w a2aWire) artifact(u a2aArtifactUpdate) response {
	w.kinds(u.Artifact.Parts)
	if w.old {
		u.Kind = "artifact-update"
		return answer(u)
	}
	return answer(struct {
		Update a2aArtifactUpdate `json:"artifactUpdate"`
	}{u})
}

// rewrite gives a status the words of the version.
func (w a2aWire) rewrite(s *a2aStatus) {
	if !w.old {
		s.State = newStates[s.State]
	}
	if s.Message == nil {
		return
	}
	if s.Message.Role = "ROLE_AGENT"; w.old {
		s.Message.Kind, s.Message.Role = "message", "agent"
	}
	w.kinds(s.Message.Parts)
}

func (w a2aWire) kinds(parts []a2aPart) {
	for i := range parts {
		switch p := &parts[i]; {
		case !w.old:
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
