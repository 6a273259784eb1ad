package custom

import (
	"maps"
	"slices"
)

// Mapping says what the frames of one agent's stream mean. A path leads to a value of a frame's JSON: it
// names the members from the outermost to the innermost, separated by dots ("data.run.id").
type Mapping struct {
	Paths           map[string]string // paths that apply to every frame, keyed by the names of CommonPaths
	FailureStatuses []string          // status values that mean failure
	EndMarker       string            // data without JSON that ends the run, such as "[DONE]"; "" for none
	HiddenMembers   []string          // outermost members that are removed from the external stream
	Frames          map[string]Frame  // keyed by frame type
}

// Frame says what a type of frame means.
type Frame struct {
	Means string            // the name of a Meaning
	Paths map[string]string // keyed by the names of Meaning.Required, Meaning.Optional, and CommonPaths except PathType
}

// Names of paths.
const (
	PathType    = "type"
	pathRun     = "run"
	pathSession = "session"
	pathAgent   = "agent"
	pathTime    = "time"

	pathName       = "name"
	pathCall       = "call"
	pathText       = "text"
	pathArguments  = "arguments"
	pathResult     = "result"
	pathTarget     = "target"
	pathStatus     = "status"
	pathError      = "error"
	pathCode       = "code"
	pathModel      = "model"
	pathFinish     = "finish_reason"
	pathInput      = "input_tokens"
	pathOutput     = "output_tokens"
	pathConfidence = "confidence"
	pathProof      = "proof"
)

// CommonPaths returns the names of the paths that every frame may have. Without PathType, a frame's type
// is its SSE event name.
func CommonPaths() []string { return []string{PathType, pathRun, pathSession, pathAgent, pathTime} }

// Meaning is something that a type of frame can mean, with the paths that it takes.
type Meaning struct {
	Name        string
	Description string   // for the documentation
	Required    []string // names of paths; "name|call" requires at least one of the two
	Optional    []string // names of paths
}

// Meanings returns all meanings.
func Meanings() []Meaning { return slices.Clone(meanings) }

var (
	outcome    = []string{pathStatus, pathError, pathCode}
	usage      = []string{pathModel, pathInput, pathOutput}
	statements = []string{pathConfidence, pathProof}
)

var meanings = []Meaning{
	{"run_started", "A run starts. Its agent is the root: by the path, else the source's `agent`, else its name.", nil, nil},
	{"run_ended", "The run has ended, or failed if status or error says so. Its tokens are the total of the run.", nil, slices.Concat(outcome, usage, statements)},
	{"run_failed", "The run failed.", nil, []string{pathCode}},
	{"agent_started", "An agent starts.", nil, nil},
	{"agent_ended", "An agent has ended.", nil, slices.Concat(outcome, statements)},
	{"agent_failed", "An agent failed.", nil, []string{pathCode}},
	{"transfer", "The agent hands control to its `target`.", []string{pathTarget}, []string{pathCall}},
	{"tool_started", "The agent calls a tool.", []string{pathName}, []string{pathCall, pathArguments}},
	{"tool_progress", "A call makes progress, such as a part of its result.", []string{pathCall}, nil},
	{"tool_ended", "A call has a result, joined by the call's ID, else the tool's name. The first one ends the call.", []string{pathName + "|" + pathCall}, slices.Concat([]string{pathResult}, outcome)},
	{"tool_failed", "A call failed.", []string{pathName + "|" + pathCall}, []string{pathResult, pathCode}},
	{"text_delta", "A piece of a text.", []string{pathText}, nil},
	{"text", "A whole text, perhaps after pieces of it.", []string{pathText}, statements},
	{"answer", "The agent's final answer, whole.", []string{pathText}, statements},
	{"thought", "A model's reasoning, or a piece of it.", []string{pathText}, nil},
	{"model_ended", "A model has responded.", nil, slices.Concat(usage, []string{pathFinish}, outcome)},
	{"confidence", "An answer's confidence, like that of a proof layer: `0.92`, `92`, `92%` or `high`.", []string{pathConfidence}, []string{pathProof}},
	{"input_requested", "The run waits for input from a person, as does the tool call with this ID.", nil, []string{pathCall}},
	{"input_answered", "The input has arrived.", nil, []string{pathCall}},
	{"other", "Nothing for signals. The frame may leave.", nil, nil},
}

// paths returns the paths of a type of frame, including the common ones.
func (m Mapping) paths(f Frame) map[string]string {
	all := map[string]string{}
	maps.Copy(all, m.Paths)
	maps.Copy(all, f.Paths)
	all[PathType] = m.Paths[PathType]
	return all
}
