package agui

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var (
	// agentMembers name the agent of an object that an application made.
	//
	// Source: agent_framework_ag_ui/_workflow_run.py of agent-framework-ag-ui 1.7, agno/run/agent.py of agno 3.1.
	agentMembers = []string{
		"executor_id", "executorId", "source_executor_id", "sourceExecutorId", "author_name", "authorName",
		"agent_name", "agentName", "agent_id", "agentId", "team_name", "teamName", "team_id", "teamId",
	}
	// toolMembers name the tool of a call. Mastra's objects of calls have the answers and questions of agents that are tools.
	//
	// Source: SubAgentToolResult in agent/agent.types.ts of @mastra/core 1, src/mastra.ts of @ag-ui/mastra 1.1.
	toolMembers = []string{"toolName", "tool_name", "toolCallName", "tool_call_name"}
)

// namesInternalAgent reports whether an object of an application names an internal agent as its own, or as the tool of its call.
func namesInternalAgent(v strictjson.Value) bool {
	for name, value := range v.Members() {
		switch text := value.Text(); {
		case lenient.IsInternal(text):
			if lenient.MatchesAny(name.Text(), agentMembers) {
				return true
			}
		case isInternalTool(text):
			if lenient.MatchesAny(name.Text(), toolMembers) {
				return true
			}
		}
	}
	return false
}

// hasInternalAgent is namesInternalAgent for the objects in a value, at any depth.
func hasInternalAgent(v strictjson.Value) bool { return anyObject(v, namesInternalAgent) }

// isOfInternalAgent reports whether a frame is of an internal agent, because an application's event has an object that names one, or the ID
// of an activity does. Of the content of an activity, such objects are withheld alone.
func isOfInternalAgent(k *kind, v strictjson.Value) bool {
	return k.name == typeCustom && hasInternalAgent(v.Get("value")) || k.entity == entityActivity && isInternalActivity(v.Get("messageId"))
}

// isInternalActivity reports whether a part of the ID of an activity, as in RUN:executor:NAME, is the name of an internal agent.
func isInternalActivity(id strictjson.Value) bool {
	for part := range bytes.SplitSeq(id.Text(), []byte(":")) {
		if lenient.IsInternal(part) {
			return true
		}
	}
	return false
}

// isInternalTool reports whether the function is an internal agent or workflow of Mastra, which runs these as tools.
//
// Source: listAgentTools and listWorkflowTools in agent/agent.ts of @mastra/core 1.
func isInternalTool[T ~string | ~[]byte](tool T) bool {
	for _, prefix := range [...]string{"agent-", "workflow-"} {
		if len(tool) > len(prefix) && string(tool[:len(prefix)]) == prefix {
			return lenient.IsInternal([]byte(tool[len(prefix):]))
		}
	}
	return false
}
