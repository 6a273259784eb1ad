package adkshapes

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kind says what an operation does.
type Kind string

// The kinds of operations, after ADK's span names.
const (
	Workflow Kind = "workflow" // invoke_workflow; in ADK 1 invocation
	Agent    Kind = "agent"    // invoke_agent
	Node     Kind = "node"     // invoke_node
	Chat     Kind = "chat"     // generate_content
	Tool     Kind = "tool"     // execute_tool
)

// Operation is one thing that ADK did, after its own spans.
type Operation struct {
	Kind       Kind
	Name       string // of the workflow, agent, node or tool; of a chat the model
	Parent     int    // an index, or -1
	Runner     bool   // a workflow that ADK's runner opened around an agent or a node; no author wrote it
	Start, End time.Time
	Failed     bool
	ErrorType  string  // where ADK gives one
	Tokens     *Tokens // nil where the model reported none
	CallID     string  // of a tool that has answered
	EventID    string  // the id of the frame that a chat or a tool became
}

// Tokens are the tokens of one model call. Output includes those of thoughts with ADK 2 and excludes them with ADK 1.
type Tokens struct {
	Input, Output int
}

var kinds = map[string]Kind{
	"invocation": Workflow, "invoke_workflow": Workflow, "invoke_agent": Agent, "invoke_node": Node,
	"generate_content": Chat, "execute_tool": Tool, "execute_node": Node,
}

// Truth returns the operations of the run in the order of their starts, parents first. Spans of the HTTP server, call_llm
// and execute_tool (merged) are not operations; their children belong to the next operation above. So do the children of a
// chat, and the chat ends when the first of them starts: ADK 1 keeps its span open while tools and other agents run.
func (r Recording) Truth() []Operation {
	spans := r.ordered()
	index := make(map[string]int, len(spans)) // an operation, for every span
	cut := map[int]bool{}                     // chats that have children
	failed := map[string]bool{}               // spans that are no operation
	wraps := map[string]bool{}                // by id and name of a span: there is an agent or a workflow of that name right below it
	for _, span := range spans {
		if verb, name, _ := strings.Cut(span.Name, " "); verb == "invoke_agent" || verb == "invoke_workflow" {
			wraps[span.Parent+" execute_node "+name] = true
		}
	}
	var operations []Operation
	for _, span := range spans {
		parent, below := index[span.Parent]
		if !below {
			parent = -1
		}
		kind, name := span.operation()
		if wraps[span.ID+" "+span.Name] {
			kind = "" // JavaScript has a span around the agents and workflows that are nodes, which alone says that they failed
			failed[span.ID] = span.Status == "ERROR"
		}
		if kind == "" {
			index[span.ID] = parent
			continue
		}
		if parent >= 0 && operations[parent].Kind == Chat {
			if !cut[parent] {
				cut[parent], operations[parent].End = true, time.Unix(0, span.Start)
			}
			parent = operations[parent].Parent
		}
		if parent >= 0 && operations[parent].Kind == Workflow && operations[parent].Name == name {
			operations[parent].Runner = true
		}
		index[span.ID] = len(operations)
		operations = append(operations, Operation{
			Kind: kind, Name: name, Parent: parent, Runner: span.Name == "invocation",
			Start: time.Unix(0, span.Start), End: time.Unix(0, span.End),
			Failed: span.Status == "ERROR" || failed[span.Parent], ErrorType: span.text("error.type"), Tokens: span.tokens(),
			CallID: span.callID(), EventID: span.text("gcp.vertex.agent.event_id"),
		})
	}
	return operations
}

// ordered returns the spans by start, a parent before a child of the same nanosecond.
func (r Recording) ordered() []Span {
	parents := map[string]string{}
	for _, span := range r.Spans {
		parents[span.ID] = span.Parent
	}
	depth := func(span Span) (n int) {
		for id := span.Parent; id != ""; id = parents[id] {
			n++
		}
		return n
	}
	return slices.SortedStableFunc(slices.Values(r.Spans), func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(depth(a), depth(b)))
	})
}

func (s Span) operation() (Kind, string) {
	verb, name, _ := strings.Cut(s.Name, " ")
	if name == "(merged)" {
		return "", ""
	}
	return kinds[verb], name
}

func (s Span) text(attribute string) string {
	text, _ := s.Attributes[attribute].(string)
	return text
}

func (s Span) callID() string {
	id := s.text("gen_ai.tool.call.id")
	if id == "<not specified>" { // the tool has not answered
		return ""
	}
	return id
}

func (s Span) tokens() *Tokens {
	input, ok := s.Attributes["gen_ai.usage.input_tokens"].(float64)
	if !ok {
		return nil
	}
	output, _ := s.Attributes["gen_ai.usage.output_tokens"].(float64)
	return &Tokens{Input: int(input), Output: int(output)}
}
