// Package accuracy compares what Delegraph makes of a run with what the agent itself says of it, in its own spans; for tests only.
package accuracy

import (
	"time"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// Operation is a timed thing in an account. Times count from the request.
type Operation struct {
	Kind       string // as in an operation's report: "chat"
	Name       string // of a chat its agent
	Parent     int    // an index, or -1
	Start, End time.Duration
	Failed     bool
	Untimed    bool // its times are not known
	Input      int  // tokens
	Output     int
}

// Account is what one side says of a run. Its operations begin with the root.
type Account struct {
	Operations []Operation
	Failed     bool
}

var kinds = map[adkshapes.Kind]string{
	adkshapes.Workflow: "invoke_workflow", adkshapes.Agent: "invoke_agent", adkshapes.Node: "invoke_node",
	adkshapes.Chat: "chat", adkshapes.Tool: "execute_tool",
}

// truth returns the agent's own account, without what is never in a stream: the span of ADK's runner, and what goes on in a tool.
func truth(run adkshapes.Recording) Account {
	all := run.Truth()
	a, index := Account{}, map[int]int{-1: -1}
	for i, op := range all {
		inTool := false
		for up := op.Parent; up >= 0; up = all[up].Parent {
			inTool = inTool || all[up].Kind == adkshapes.Tool
		}
		switch {
		case op.Parent < 0, all[op.Parent].Runner && all[op.Parent].Parent < 0:
			a.Failed = a.Failed || op.Failed
		case inTool:
			continue
		}
		if op.Runner {
			index[i] = index[op.Parent]
			continue
		}
		o := Operation{
			Kind: kinds[op.Kind], Name: op.Name, Parent: index[op.Parent], Failed: op.Failed,
			Start: time.Duration(op.Start.UnixNano() - run.Arrived), End: time.Duration(op.End.UnixNano() - run.Arrived),
		}
		if op.Kind == adkshapes.Chat {
			o.Name = all[op.Parent].Name
		}
		if op.Tokens != nil {
			o.Input, o.Output = op.Tokens.Input, op.Tokens.Output
		}
		index[i] = len(a.Operations)
		a.Operations = append(a.Operations, o)
	}
	return a
}

// align gives both sides' roots one name. A root that never speaks has its application's name in ours, and a root agent of another
// name than its application's has the application above it.
func align(run adkshapes.Recording, ours, theirs *Account) {
	root := &ours.Operations[0]
	for _, o := range ours.Operations[1:] {
		if o.Parent == 0 && o.Name == run.Root && root.Kind == "invoke_workflow" {
			root.Kind = "application"
			return
		}
	}
	for i := range theirs.Operations {
		if o := &theirs.Operations[i]; o.Parent == -1 && o.Name == run.Root {
			o.Kind, root.Kind, root.Name = "root", "root", run.Root
			return
		}
	}
	root.Kind = "application"
}
