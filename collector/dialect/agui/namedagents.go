package agui

// agentMembers name the agent of an object that an application made.
//
// Source: agent_framework_ag_ui/_workflow_run.py of agent-framework-ag-ui 1.7, agno/run/agent.py of agno 3.1.
var agentMembers = []string{
	"executor_id", "executorId", "source_executor_id", "sourceExecutorId", "author_name", "authorName",
	"agent_name", "agentName", "agent_id", "agentId", "team_name", "teamName", "team_id", "teamId",
}
