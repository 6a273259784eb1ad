package adkshapes

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var ids = regexp.MustCompile(`(adk-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// labels replaces each id in text by the number of its first appearance.
func labels(text string) string {
	seen := map[string]int{}
	return ids.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == 0 {
			seen[id] = len(seen) + 1
		}
		return fmt.Sprintf("#%d", seen[id])
	})
}

// facts shows what the frames of a run say and what ADK made of it.
func (r Recording) facts() string {
	var out strings.Builder
	fmt.Fprintf(&out, "== %s: app %s, root %s\n", r.Name, r.App, r.Root)
	for _, f := range r.Frames {
		fmt.Fprintln(&out, f.fact())
	}
	out.WriteString("--\n")
	tree(&out, r.Truth(), -1, "")
	return labels(out.String())
}

func tree(out *strings.Builder, operations []Operation, parent int, indent string) {
	for i, o := range operations {
		if o.Parent == parent {
			fmt.Fprintf(out, "%s%s\n", indent, o.fact())
			tree(out, operations, i, indent+"  ")
		}
	}
}

// structure is what two runs of one shape have in common, whatever runs first in parallel.
func (r Recording) structure() string {
	var lines []string
	for _, f := range r.Frames {
		lines = append(lines, "frame "+f.fact())
	}
	operations := r.Truth()
	for _, o := range operations {
		path := o.fact()
		for above := o.Parent; above >= 0; above = operations[above].Parent {
			path = operations[above].fact() + " > " + path
		}
		lines = append(lines, path)
	}
	for i := range lines {
		lines[i] = ids.ReplaceAllString(lines[i], "#") // before sorting
	}
	return strings.Join(slices.Sorted(slices.Values(lines)), "\n")
}

func (o Operation) fact() string {
	said := []string{string(o.Kind)}
	if o.Name != "" {
		said = append(said, o.Name)
	}
	if o.CallID != "" {
		said = append(said, o.CallID)
	}
	if o.Tokens != nil {
		said = append(said, fmt.Sprintf("%d/%d", o.Tokens.Input, o.Tokens.Output))
	}
	if o.Runner {
		said = append(said, "(runner)")
	}
	if o.Failed {
		said = append(said, strings.TrimSpace("failed "+o.ErrorType))
	}
	return strings.Join(said, " ")
}

type factFrame struct {
	Author, Branch, ErrorCode, FinishReason string
	Partial                                 bool
	Output                                  json.RawMessage
	NodeInfo                                struct {
		Path      string
		OutputFor []string
	}
	UsageMetadata *struct{ PromptTokenCount, CandidatesTokenCount int }
	Content       struct{ Parts []map[string]json.RawMessage }
	Actions       map[string]json.RawMessage
	LongRunning   []string `json:"longRunningToolIds"`
	Error         string
	ErrorDetails  struct {
		Type string `json:"error_type"`
	} `json:"error_details"`
}

func (f Frame) fact() string {
	var e factFrame
	if json.Unmarshal([]byte(f.Data), &e) != nil {
		return "no JSON"
	}
	if e.Error != "" {
		return strings.TrimSpace("error frame " + e.ErrorDetails.Type)
	}
	said := []string{e.Author}
	if e.NodeInfo.Path != "" {
		said = append(said, "path="+e.NodeInfo.Path)
	}
	if e.Branch != "" {
		said = append(said, "branch="+e.Branch)
	}
	if e.Partial {
		said = append(said, "partial")
	}
	said = append(said, e.parts()...)
	for _, action := range slices.Sorted(maps.Keys(e.Actions)) {
		if value := string(e.Actions[action]); value != "{}" && value != "null" && action != "stateDelta" {
			said = append(said, e.action(action, value))
		}
	}
	if e.Output != nil {
		said = append(said, "output")
	}
	for _, above := range e.NodeInfo.OutputFor {
		if above != e.NodeInfo.Path {
			said = append(said, "for="+above)
		}
	}
	if e.UsageMetadata != nil {
		said = append(said, fmt.Sprintf("%d/%d", e.UsageMetadata.PromptTokenCount, e.UsageMetadata.CandidatesTokenCount))
	}
	if e.ErrorCode != "" {
		said = append(said, "error="+e.ErrorCode)
	} else if e.FinishReason != "" && e.FinishReason != "STOP" {
		said = append(said, e.FinishReason)
	}
	return strings.Join(said, " ")
}

func (e factFrame) action(name, value string) string {
	switch name {
	case "transferToAgent", "route", "escalate", "endOfAgent", "skipSummarization", "agentState":
		return name + "=" + value
	}
	return name
}

func (e factFrame) parts() []string {
	var said []string
	for _, part := range e.Content.Parts {
		var named struct{ ID, Name string }
		switch {
		case part["functionCall"] != nil:
			_ = json.Unmarshal(part["functionCall"], &named)
			verb := "calls"
			if slices.Contains(e.LongRunning, named.ID) {
				verb = "asks"
			}
			said = append(said, fmt.Sprintf("%s %s %s", verb, named.Name, named.ID))
		case part["functionResponse"] != nil:
			_ = json.Unmarshal(part["functionResponse"], &named)
			said = append(said, fmt.Sprintf("answers %s %s", named.Name, named.ID))
		case part["thought"] != nil:
			said = append(said, "thinks")
		case part["text"] != nil:
			said = append(said, "says")
		default:
			said = append(said, slices.Sorted(maps.Keys(part))[0])
		}
	}
	return said
}
