// Package accuracy holds what Delegraph makes of a stream against what the agent itself says of the run, in its own spans.
package accuracy

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// operation is an operation of either side.
type operation struct {
	kind, name string
	parent     int // an index, or -1
	start, end time.Duration
	failed     bool
	untimed    bool
	input      int // tokens
	output     int
}

// account is what one side says of a run.
type account struct {
	operations []operation
	failed     bool
	status     string
}

// frames gives a reader one frame at a time, and sets the clock to when the server wrote it.
type frames struct {
	run  adkshapes.Recording
	next int
	now  time.Time
}

func (f *frames) Read(p []byte) (int, error) {
	if f.next == len(f.run.Frames) {
		f.now = time.Unix(0, f.run.Ended)
		return 0, io.EOF
	}
	frame := f.run.Frames[f.next]
	f.next++
	f.now = time.Unix(0, frame.At)
	return copy(p, "data: "+frame.Data+"\n\n"), nil
}

// audience takes the reports of the runs that end.
type audience struct{ reports []tracker.Report }

func (a *audience) RunStarted(*tracker.Run)                         {}
func (a *audience) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (a *audience) RunEnded(r *tracker.Run)                         { a.reports = append(a.reports, r.Report()) }
func (a *audience) Evicted(string)                                  {}
func (a *audience) Expired(string)                                  {}
func (a *audience) Late(string)                                     {}

// play reads a recording as the answer to its request.
func play(t *testing.T, run adkshapes.Recording, observers ...tracker.Observer) tracker.Report {
	t.Helper()
	told := &audience{}
	follow := tracker.New(tracker.Settings{MaxOpen: 1, MaxOperations: 1000, MaxFacts: 100, Idle: time.Hour}, told, append(observers, told)...)
	stream := &event.Stream{
		Source: "agent", Live: true, Answer: true, Opened: time.Unix(0, run.Arrived),
		Identity: event.Identity{App: run.App, Session: "session"},
	}
	in := &frames{run: run}
	read := collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 20, JSONDepth: 100}, follow)
	err := read.Observe(stream, collector.Input{Reader: in, Arrival: func() time.Time { return in.now }}, "adk")
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(told.reports) != 1 {
		t.Fatalf("%d runs ended", len(told.reports))
	}
	return told.reports[0]
}

// ours is Delegraph's account.
func ours(r tracker.Report, since int64) account {
	a := account{status: string(r.Status), failed: r.Status == tracker.Failed}
	index := map[string]int{}
	for i, op := range r.Operations {
		index[op.ID] = i
	}
	at := func(text *string) time.Duration {
		if text == nil {
			return 0
		}
		moment, _ := time.Parse(time.RFC3339Nano, *text)
		return time.Duration(moment.UnixNano() - since)
	}
	for _, op := range r.Operations {
		o := operation{kind: string(op.Kind), parent: -1, start: at(op.Started), end: at(op.Ended), failed: op.Status == tracker.Error, untimed: op.Timing != "observed"}
		switch {
		case op.Kind == tracker.Chat && op.Agent != nil:
			o.name = *op.Agent
		case op.Kind != tracker.Chat && op.Name != nil:
			o.name = *op.Name
		}
		if op.Parent != nil {
			o.parent = index[*op.Parent]
		}
		a.operations = append(a.operations, o)
	}
	if r.Usage.Input != nil {
		a.operations[0].input = int(*r.Usage.Input)
	}
	if r.Usage.Output != nil {
		a.operations[0].output = int(*r.Usage.Output)
	}
	return a
}

var kinds = map[adkshapes.Kind]string{
	adkshapes.Workflow: "invoke_workflow", adkshapes.Agent: "invoke_agent", adkshapes.Node: "invoke_node",
	adkshapes.Chat: "chat", adkshapes.Tool: "execute_tool",
}

// agents is the agent's account, without what never stands in a stream: the runner's own span, and what goes on within a tool.
func agents(run adkshapes.Recording) account {
	all := run.Truth()
	a, index := account{}, map[int]int{-1: -1}
	for i, op := range all {
		inTool := false
		for up := op.Parent; up >= 0; up = all[up].Parent {
			inTool = inTool || all[up].Kind == adkshapes.Tool
		}
		switch {
		case op.Parent < 0:
			a.failed = a.failed || op.Failed
		case inTool:
			continue
		}
		if op.Runner {
			index[i] = index[op.Parent]
			continue
		}
		o := operation{
			kind: kinds[op.Kind], parent: index[op.Parent], failed: op.Failed,
			start: time.Duration(op.Start.UnixNano() - run.Arrived), end: time.Duration(op.End.UnixNano() - run.Arrived),
		}
		o.name = op.Name
		if op.Kind == adkshapes.Chat {
			o.name = all[op.Parent].Name
		}
		if op.Tokens != nil {
			o.input, o.output = op.Tokens.Input, op.Tokens.Output
		}
		index[i] = len(a.operations)
		a.operations = append(a.operations, o)
	}
	return a
}

// align gives both sides' roots one name. A root that never speaks has its application's name in ours, and a root agent of another
// name than its application's has the application above it.
func align(run adkshapes.Recording, ours, theirs *account) {
	root := &ours.operations[0]
	for _, o := range ours.operations[1:] {
		if o.parent == 0 && o.name == run.Root && root.kind == "invoke_workflow" {
			root.kind = "application"
			return
		}
	}
	for i := range theirs.operations {
		if o := &theirs.operations[i]; o.parent == -1 && o.name == run.Root {
			o.kind, root.kind, root.name = "root", "root", run.Root
			return
		}
	}
	root.kind = "application"
}

// byKindAndStart orders indexes of operations so that those of both sides pair.
func (a account) byKindAndStart() []int {
	at := make([]int, len(a.operations))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		x, y := a.operations[i], a.operations[j]
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.name, y.name), cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end))
	})
	return slices.DeleteFunc(at, func(i int) bool { return a.operations[i].kind == "application" })
}
