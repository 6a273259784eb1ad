package accuracy

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// difference names fields in which the accounts of some runs cannot be equal, and why. docs/design/accuracy.md lists the reasons.
type difference struct {
	versions string // separated by spaces
	runs     []string
	fields   []string
	why      string
}

// python is both versions of ADK for Python.
const python = "2.13 1.38"

// silent are what the stream does not tell.
var silent = []difference{
	{python, []string{"loop_in_loop", "loop_of_sequential", "sequence_in_sequence", "sequence_with_loop", "sequence_with_loop.stream"}, []string{inAgents, inTree},
		"the path and the branch do not tell containers, or attempts, apart"},
	{python, []string{"branch_fails"}, []string{inAgents, inChats, inTree},
		"an agent, function, task or answer leaves no frame"},
	{python, []string{"branch_tool_fails"}, []string{inAgents, inToolErrors, inChats, inTree},
		"the error does not name what failed"},
	{"2.13", []string{"workflow_branch_raises"}, []string{inAgents, inChats, inTree},
		"an agent, function, task or answer leaves no frame"},
	{python, []string{"step_fails"}, []string{inAgents, inTree},
		"the error does not name what failed"},
	{"2.13", []string{"workflow_parallel_worker_raises"}, []string{inAgents, inTree},
		"an agent, function, task or answer leaves no frame"},
	{python, []string{"transferred_step_fails"}, []string{inAgents, inTree},
		"the error does not name what failed"},
	{"2.13", []string{"workflow_retry_sequence"}, []string{inAgents, inChats, inTree},
		"the error does not name what failed"},
	{"2.13", []string{"workflow_retry_nested"}, []string{inAgents, inTree},
		"the path and the branch do not tell containers, or attempts, apart"},
	{"2.13", []string{"workflow_agent_raises"}, []string{inAgents, inChats, inTree},
		"the error does not name what failed"},
	{python, []string{"after_agent_adds_root"}, []string{inTree},
		"what a container or a callback says looks like an agent's or a model's answer"},
	{"2.13", []string{"before_model_raises"}, []string{inChats, inTree},
		"the error does not name what failed"},
	{"2.13", []string{"after_model_raises"}, []string{inTokens},
		"an agent, function, task or answer leaves no frame"},
	{"1.38", []string{"after_model_raises"}, []string{inChats, inTokens, inTree},
		"an agent, function, task or answer leaves no frame"},
	{"2.13", []string{"task_in_step"}, []string{inTimes},
		"an agent, function, task or answer leaves no frame"},
	{python, []string{"tool_raises_beside"}, []string{inToolErrors},
		"the error does not name what failed"},
	{"2.13", []string{"model_empty.stream"}, []string{inChats, inTokens, inTree},
		"an agent, function, task or answer leaves no frame"},
	{"1.38", []string{"model_empty", "model_empty.stream"}, []string{inChats, inTokens, inTree},
		"an agent, function, task or answer leaves no frame"},
	{python, []string{"on_model_error_answers"}, []string{inChats, inTree},
		"what a container or a callback says looks like an agent's or a model's answer"},
	{python, []string{"code_executed"}, []string{inTokens},
		"the frame with the usage is missing, or ADK removed its usage"},
	{"2.13", []string{"model_breaks_off.stream"}, []string{inTokens},
		"the frame with the usage is missing, or ADK removed its usage"},
	{"2.13", []string{"workflow_silent_node"}, []string{inAgents, inTree},
		"an agent, function, task or answer leaves no frame"},
	{"2.13", []string{"sequence_resumable.2"}, []string{inTree},
		"the path and the branch do not tell containers, or attempts, apart"},
	{"2.13", []string{"parallel_tools", "parallel_tools.stream", "single_turn_beside_tool", "single_turns_and_tools", "transfer_beside_tool", "unknown_tool_beside"}, []string{inTimes},
		"no frame shows when a call or the run began or ended"},
	{"2.13", []string{"workflow_parallel_worker"}, []string{inTimes},
		"no frame shows when a call or the run began or ended"},
	{"2.13", []string{"model_429.stream"}, []string{inTimes},
		"no frame shows when a call or the run began or ended"},
	{"1.38 js-2.0", []string{"after_model_replaces", "after_model_replaces.stream"}, []string{inChats, inTokens, inTree},
		"what a container or a callback says looks like an agent's or a model's answer"},
	{"1.38", []string{"model_breaks_off", "model_raises"}, []string{inChats, inTree},
		"the error does not name what failed"},
	{"1.38", []string{"parallel_resumable.2", "sequence_resumable.2", "transfer_resumable.2"}, []string{inAgents, inTree},
		"an agent, function, task or answer leaves no frame"},
	{"js-2.0", []string{"loop_of_sequential", "sequence_in_sequence", "sequence_with_loop", "sequence_with_loop.stream"}, []string{inAgents, inTree},
		"the path and the branch do not tell containers, or attempts, apart"},
	{"js-2.0", []string{"workflow_branch_fails"}, []string{inAgents, inChats, inTokens, inTree},
		"an agent, function, task or answer leaves no frame"},
	{"js-2.0", []string{"branch_fails"}, []string{inTree},
		"the error does not name what failed"},
	{"js-2.0", []string{"no_usage"}, []string{inChats, inTree},
		"what a container or a callback says looks like an agent's or a model's answer"},
	{"js-2.0", []string{"agent_tools_parallel", "parallel_tools", "parallel_tools.stream", "transfer_beside_tool"}, []string{inTimes},
		"no frame shows when a call or the run began or ended"},
}

// fuller are what the stream shows and ADK's spans leave out.
var fuller = []difference{
	{python, []string{"model_malformed_call", "model_safety", "model_safety.stream"}, []string{inStatus},
		"a run that ends in an error code failed; ADK leaves the status of its spans unset"},
	{"2.13", []string{"model_empty"}, []string{inStatus},
		"a run that ends in an error code failed; ADK leaves the status of its spans unset"},
	{"1.38", []string{"confirmation_refused.2", "on_tool_error_answers", "tool_returns_error"}, []string{inToolErrors},
		"a response with an error is a failed call; ADK's span succeeded"},
	{"1.38", []string{"thoughts", "thoughts.stream", "thoughts_and_tool"}, []string{inTokens},
		"output includes thoughts; ADK's spans leave them out"},
	{"1.38", []string{"unknown_tool"}, []string{inTools, inToolErrors, inTree},
		"ADK makes no span for a call that does not reach its tool"},
	{"1.38", []string{"unknown_tool_beside"}, []string{inTools, inTree},
		"ADK makes no span for a call that does not reach its tool"},
	{"js-2.0", []string{"model_429", "model_429.stream", "model_503", "model_breaks_off", "model_breaks_off.stream", "model_fails_after_tool", "model_fails_after_tool.stream", "model_raises", "model_safety", "model_safety.stream", "transfer_then_fails"}, []string{inStatus},
		"a run that ends in an error code failed; ADK leaves the status of its spans unset"},
	{"js-2.0", []string{"branch_tool_fails", "confirmation_refused.2", "tool_raises", "tool_raises.stream", "tool_raises_beside", "tool_returns_error"}, []string{inToolErrors},
		"a response with an error is a failed call; ADK's span succeeded"},
	{"js-2.0", []string{"unknown_tool", "unknown_tool.stream", "unknown_tool_beside"}, []string{inTools, inToolErrors, inTree},
		"ADK makes no span for a call that does not reach its tool"},
	{"2.13", []string{"task_after_transfer"}, []string{inTools, inToolErrors, inTree},
		"ADK makes no span for a call that does not reach its tool"},
	{"js-2.0", []string{"before_tool_answers"}, []string{inTools, inTree},
		"ADK makes no span for a call that does not reach its tool"},
}

func (d difference) isOf(run adkshapes.Recording) bool {
	return slices.Contains(strings.Fields(d.versions), run.Version) && slices.Contains(d.runs, run.Name)
}

func knownDifference(run adkshapes.Recording) difference {
	for _, d := range slices.Concat(silent, fuller) {
		if d.isOf(run) {
			return d
		}
	}
	return difference{}
}

// timesCount reports whether durations can be compared: ADK 1 keeps the spans of models and agents open until its generators are
// collected.
func timesCount(run adkshapes.Recording) bool { return run.Version != "1.38" }
