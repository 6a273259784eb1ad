package format

import (
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
)

// aguiEvent is any AG-UI event. Which members are set depends on its type.
type aguiEvent struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp,omitempty"` // milliseconds

	ThreadID string       `json:"threadId,omitempty"`
	RunID    string       `json:"runId,omitempty"`
	Outcome  *aguiOutcome `json:"outcome,omitempty"`
	Result   any          `json:"result,omitempty"`
	Usage    []aguiTokens `json:"usage,omitempty"`
	Message  string       `json:"message,omitempty"`
	Code     string       `json:"code,omitempty"`

	StepName string `json:"stepName,omitempty"`

	MessageID    string           `json:"messageId,omitempty"`
	Role         string           `json:"role,omitempty"`
	Name         string           `json:"name,omitempty"`
	Delta        string           `json:"delta,omitempty"`
	ToolCallID   string           `json:"toolCallId,omitempty"`
	ToolCallName *string          `json:"toolCallName,omitempty"`
	Content      any              `json:"content,omitempty"`
	ActivityType string           `json:"activityType,omitempty"`
	Patch        []patchOperation `json:"patch,omitempty"`
	Value        any              `json:"value,omitempty"`
}

// patchOperation is an operation of a JSON Patch (RFC 6902).
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// artifactPatch returns what an event changes in the reader's artifact: contents are appended,
// other members replaced.
func artifactPatch(w *artifact) (all []patchOperation) {
	add := func(path string, value any) { all = append(all, patchOperation{"add", path, value}) }
	for i := range w.Contents {
		add("/contents/-", &w.Contents[i])
	}
	if w.Bytes != nil {
		add("/bytes", w.Bytes)
	}
	if w.Index != nil {
		add("/index", w.Index)
	}
	if w.More > 0 {
		add("/more", w.More)
	}
	add("/append", w.Append)
	add("/complete", w.Complete)
	return all
}

type aguiOutcome struct {
	Type       string          `json:"type"`
	Interrupts []aguiInterrupt `json:"interrupts,omitempty"`
	Pending    []string        `json:"pendingToolCallIds,omitempty"`
}

type aguiInterrupt struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`

	Message  string          `json:"message,omitempty"`
	Schema   json.RawMessage `json:"responseSchema,omitempty"`
	Metadata *aguiChoices    `json:"metadata,omitempty"`
}

// aguiChoices holds the options of a question, for which the protocol has no member.
type aguiChoices struct {
	Options json.RawMessage `json:"options"`
}

// interruptsOf returns the open questions of a run. The protocol defines the reasons confirmation
// and input_required; producers may use others.
func interruptsOf(r *run) []aguiInterrupt {
	var all []aguiInterrupt
	for _, asked := range r.inputs {
		reason := string(asked.Kind)
		switch asked.Kind {
		case event.InputClarification, event.InputSelection, event.InputData:
			reason = "input_required"
		}
		one := aguiInterrupt{ID: asked.ID, Reason: reason, Message: asked.Prompt, Schema: asked.Schema}
		if len(asked.Options) > 0 {
			one.Metadata = &aguiChoices{asked.Options}
		}
		all = append(all, one)
	}
	return all
}

type aguiTokens struct {
	Model     string `json:"model,omitempty"`
	Input     *int64 `json:"inputTokens,omitempty"`
	Output    *int64 `json:"outputTokens,omitempty"`
	Reasoning *int64 `json:"reasoningTokens,omitempty"`
	Cached    *int64 `json:"cachedInputTokens,omitempty"`
}

func aguiUsage(r *run) []aguiTokens {
	var all []aguiTokens
	for _, model := range r.models {
		u := r.usage[model]
		all = append(all, aguiTokens{model, count(u.Input), count(u.Output), count(u.Reasoning), count(u.CacheRead)})
	}
	return all
}
