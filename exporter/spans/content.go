package spans

import (
	"cmp"
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// message is an element of gen_ai.output.messages, by the convention's JSON schema.
type message struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason"` // required
}

type part struct {
	Type      string          `json:"type"`
	Content   *string         `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// content adds the convention's content attributes, each as a JSON string, if content was kept.
func (a *attributes) content(op *tracker.Operation) {
	c := detailsOf(op).Content
	if c == nil {
		return
	}
	if len(c.Arguments) > 0 {
		a.add(a.names.ToolArguments.String(string(c.Arguments)))
	}
	if len(c.Result) > 0 {
		a.add(a.names.ToolResult.String(string(c.Result)))
	}
	if len(c.Output) > 0 {
		// Marshal cannot fail here: arguments are valid JSON, and it accepts strings of any bytes.
		encoded, _ := json.Marshal([]message{{Role: "assistant", Parts: parts(c.Output), FinishReason: cmp.Or(finishReason(op), "unknown")}})
		a.add(a.names.OutputMessages.String(string(encoded)))
	}
	if c.Truncated {
		a.add(contentTruncated.Bool(true))
	}
}

// question adds the question of a request for input.
func (a *attributes) question(q *tracker.Question) {
	if q == nil {
		return
	}
	if q.Prompt != "" {
		a.add(inputPrompt.String(q.Prompt))
	}
	if len(q.Options) > 0 {
		a.add(inputOptions.String(string(q.Options)))
	}
	if len(q.Schema) > 0 {
		a.add(inputSchema.String(string(q.Schema)))
	}
}

func parts(output []tracker.MessagePart) []part {
	out := make([]part, len(output))
	for i, p := range output {
		text := string(p.Text)
		switch p.Kind {
		case event.KindThought:
			out[i] = part{Type: "reasoning", Content: &text}
		case event.KindToolStarted:
			out[i] = part{Type: "tool_call", ID: p.CallID, Name: p.Name, Arguments: p.Arguments}
		default:
			out[i] = part{Type: "text", Content: &text}
		}
	}
	return out
}
