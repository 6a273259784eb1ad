package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// inStep puts a frame into a workflow step.
func inStep(name, place string) fact {
	return func(b *event.Batch) { b.Step, b.Branch = name, place }
}

// TestSteps checks that workflow steps are operations, and that what happens in them is counted for
// the agent.
func TestSteps(t *testing.T) {
	tell(t, []story{
		{"a call in a step", file(), []*event.Batch{
			says("me", fresh(event.KindRunStarted)), says("me", inStep("tools", "tools#1"), fresh(event.KindAgentStarted)),
			says("me", inStep("tools", "tools#1"), calls("t1", "search")), says("me", inStep("tools", "tools#1"), returns("t1", "search"), settles),
			says("me", inStep("tools", "tools#1"), ends), says("me", final)}, `
completed
invoke_agent me ok 1-6
  invoke_node tools ok 2-5
    execute_tool search ok 3-4`},
		{"a step that turns out to be an agent", file(), []*event.Batch{
			says("me", inStep("writer", "writer#1"), fresh(event.KindAgentStarted)), says("writer", lane("writer#1"), text), says("writer", lane("writer#1"), ends), says("me", final)}, `
completed
invoke_agent me ok 1-4
  invoke_agent writer ok 1-3`},
		{"a step whose model names its agent late", file(), []*event.Batch{
			says("me", inStep("tools", "t#1"), calls("t1", "search")), says("writer", lane("t#1"), responds("m")), says("writer", lane("t#1"), returns("t1", "search"), settles), says("me", final)}, `
completed
invoke_agent me ok 1-4
  invoke_agent writer ok 1-3
    execute_tool search ok 1-3
    chat m ok 1-2`},
		{"a step in which someone else writes", file(), []*event.Batch{
			says("me", inStep("tools", "t#1"), calls("t1", "search")), says("me", inStep("tools", "t#1"), returns("t1", "search"), settles), says("writer", lane("t#1"), text), says("me", final)}, `
completed
invoke_agent me ok 1-4
  invoke_node tools ok 1-2
    execute_tool search ok 1-2
  invoke_agent writer ok 3-3`},
		{"a step before anybody is named", file(), []*event.Batch{says("", inStep("model", "model#1"), fresh(event.KindAgentStarted)), says("", inStep("model", "model#1"), ends), says("", final)}, `
completed
invoke_agent  ok 1-3
  invoke_node model ok 1-2`},
		{"a transfer from a run that has no name", file(), []*event.Batch{
			says("", calls("t1", "transfer_to_agent")), says("", returns("t1", "transfer_to_agent"), settles, handsOver("t1", "billing")), says("billing", text), says("billing", final)}, `
completed
invoke_agent  ok 1-4
  execute_tool transfer_to_agent ok 1-2
  invoke_agent billing ok 2-4`},
	})
	run := follow(t, file(), says("me", fresh(event.KindRunStarted)), says("me", inStep("tools", "tools#1"), calls("t1", "search")), says("me", final))
	late := follow(t, file(), says("me", fresh(event.KindRunStarted)), says("me", inStep("tools", "t#1"), calls("t1", "search")), says("writer", lane("t#1"), responds("m")), says("me", final))
	if op := findOperation(t, late, tracker.ExecuteTool, "search"); op.Agent != "writer" {
		t.Errorf("the call of an agent that is named late is %q's", op.Agent)
	}
	for _, op := range run.Operations {
		if want := map[tracker.OperationKind]string{tracker.InvokeAgent: "me", tracker.ExecuteTool: "me"}[op.Kind]; op.Agent != want {
			t.Errorf("%s %s is %q's, want %q", op.Kind, op.Name, op.Agent, want)
		}
	}
}

// TestRecords checks frames that say nothing about an operation, such as those that store how far an agent or a workflow has come.
func TestRecords(t *testing.T) {
	record := func(b *event.Batch) { b.Place, b.SameStep = &event.Place{}, true; b.Add(event.KindOther) }
	output := func(b *event.Batch) { b.Output = true }
	other := func(b *event.Batch) { b.Add(event.KindOther) }
	tell(t, []story{
		{"of a workflow", proxied(), []*event.Batch{
			says("flow", record), says("a", streamRun("flow@1/a@1", "")), says("a", streamRun("flow@1/a@1", ""), responds("m"), final, output), says("flow", record)}, `
completed
invoke_workflow app ok 0-5
  invoke_workflow flow ok 1-3
    invoke_agent a ok 1-3
      chat m ok 2-3`},
		{"the output of a workflow", proxied(), []*event.Batch{
			says("a", streamRun("flow.a", ""), responds("m"), final, output),
			says("flow", func(b *event.Batch) {
				b.Place = &event.Place{Nodes: []event.Node{{Name: "flow", Kind: event.NodeWorkflow}}, Root: event.RootFirst}
				b.Add(event.KindText)
			}, final)}, `
completed
invoke_workflow app ok 0-3
  invoke_workflow flow ok 0-2
    invoke_agent a ok 0-1
      chat m ok 0-1`},
		{"of an agent that has given its answer", proxied(), []*event.Batch{
			says("a", streamRun("-", ""), responds("m"), final), says("a", streamRun("-", ""), other), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent a ok 0-2
    chat m ok 0-1`},
	})
}
