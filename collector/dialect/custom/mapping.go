package custom

import (
	"maps"
	"slices"
)

// Mapping says what the frames of one agent's stream mean. A path names the members, from the outermost to the innermost, that lead to a
// value of a frame's JSON, with a dot between two: "data.run.id".
type Mapping struct {
	Paths  map[string]string // of every frame, by the names of Common
	Failed []string          // what a status says of something that failed
	End    string            // the data of a frame without JSON that ends the run, such as "[DONE]"; "" for none
	Hidden []string          // outermost members that no reader outside gets
	Frames map[string]Frame  // by type
}

// Frame says what a type of frame means.
type Frame struct {
	Means string            // the name of a Meaning
	Paths map[string]string // by the names of Meaning.Needs and Meaning.Takes, and of Common without PathType
}

// The names of paths.
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

// Common lists the paths that every frame may have. Without PathType, the SSE event name is a frame's type.
func Common() []string { return []string{PathType, pathRun, pathSession, pathAgent, pathTime} }

// Meaning is what a type of frame can mean.
type Meaning struct {
	Name  string
	Says  string   // for the documentation
	Needs []string // paths, each the name of one or of either of two: "name|call"
	Takes []string // paths that may be left out
}

// Meanings lists what a type of frame can mean.
func Meanings() []Meaning { return slices.Clone(meanings) }

var (
	outcome = []string{pathStatus, pathError, pathCode}
	usage   = []string{pathModel, pathInput, pathOutput}
	proof   = []string{pathConfidence, pathProof}
)

var meanings = []Meaning{
	{"run_started", "A run begins. Its agent is the root; without a path to its name, the source's `agent`, else the source's name.", nil, nil},
	{"run_ended", "The run is over. It failed if its status or its error says so.", nil, join(outcome, usage, proof)},
	{"run_failed", "The run failed.", nil, []string{pathCode}},
	{"agent_started", "An agent begins.", nil, nil},
	{"agent_ended", "An agent has ended.", nil, join(outcome, proof)},
	{"agent_failed", "An agent failed.", nil, []string{pathCode}},
	{"transfer", "The agent hands control to another, its `target`.", []string{pathTarget}, []string{pathCall}},
	{"tool_started", "The agent calls a tool.", []string{pathName}, []string{pathCall, pathArguments}},
	{"tool_ended", "A call has its result. It is joined by the call's id, else by the tool's name.", []string{pathName + "|" + pathCall}, join([]string{pathResult}, outcome)},
	{"tool_failed", "A call failed.", []string{pathName + "|" + pathCall}, []string{pathResult, pathCode}},
	{"text_delta", "A piece of a text.", []string{pathText}, nil},
	{"text", "A whole text, after pieces of it or without any.", []string{pathText}, proof},
	{"answer", "A whole text that is the agent's final answer.", []string{pathText}, proof},
	{"thought", "A model's reasoning, or a piece of it.", []string{pathText}, nil},
	{"model_ended", "A model has responded.", nil, join(usage, []string{pathFinish}, outcome)},
	{"confidence", "How sure an answer is: a number from 0 to 1, a percentage, or a word.", []string{pathConfidence}, []string{pathProof}},
	{"input_requested", "The run waits for an answer from a person.", nil, []string{pathCall}},
	{"input_answered", "The answer has come.", nil, []string{pathCall}},
	{"other", "Nothing that a signal needs. The frame may leave.", nil, nil},
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }

// paths returns those of a type of frame, the common ones included.
func (m Mapping) paths(f Frame) map[string]string {
	all := maps.Clone(m.Paths)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, f.Paths)
	all[PathType] = m.Paths[PathType]
	return all
}
