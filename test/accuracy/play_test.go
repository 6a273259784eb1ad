package accuracy

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

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
func (a *audience) CountEvicted(string)                             {}
func (a *audience) CountExpired(string)                             {}
func (a *audience) CountLateFrame(string)                           {}

// play reads a recording as the answer to its request.
func play(t *testing.T, run adkshapes.Recording, observers ...tracker.Observer) tracker.Report {
	t.Helper()
	return playSession(t, []adkshapes.Recording{run}, observers...)
}

// playSession reads the runs of a session in turn, and returns the report of the last.
func playSession(t *testing.T, runs []adkshapes.Recording, observers ...tracker.Observer) tracker.Report {
	t.Helper()
	told := &audience{}
	follow := tracker.New(tracker.Settings{MaxOpenRuns: 1, MaxOperations: 1000, MaxFacts: 100, IdleTimeout: time.Hour}, told, append(observers, told)...)
	for _, run := range runs {
		stream := &event.Stream{
			Source: "agent", Live: true, SingleRun: true, OpenedAt: time.Unix(0, run.Arrived),
			Identity: event.Identity{App: run.App, Session: "session"},
		}
		in := &frames{run: run}
		read := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 100}, follow)
		err := read.Observe(stream, collector.Input{Reader: in, ReceivedAt: func() time.Time { return in.now }}, "adk")
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if len(told.reports) != len(runs) {
		t.Fatalf("%d runs ended", len(told.reports))
	}
	return told.reports[len(runs)-1]
}

// session returns the runs of a recording's session up to that recording.
func session(run adkshapes.Recording, all []adkshapes.Recording) []adkshapes.Recording {
	name, again := strings.CutSuffix(run.Name, ".2")
	if !again {
		return []adkshapes.Recording{run}
	}
	first := slices.IndexFunc(all, func(r adkshapes.Recording) bool { return r.Version == run.Version && r.Name == name })
	return []adkshapes.Recording{all[first], run}
}

// reported returns Delegraph's account of a run after its report.
func reported(r tracker.Report, since int64) Account {
	a := Account{Failed: r.Status == tracker.Failed}
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
		o := Operation{Kind: string(op.Kind), Parent: -1, Start: at(op.Started), End: at(op.Ended), Failed: op.Status == tracker.OperationError, Untimed: op.Timing != "observed"}
		switch {
		case op.Kind == tracker.Chat && op.Agent != nil:
			o.Name = *op.Agent
		case op.Kind != tracker.Chat && op.Name != nil:
			o.Name = *op.Name
		}
		if op.Parent != nil {
			o.Parent = index[*op.Parent]
		}
		a.Operations = append(a.Operations, o)
	}
	if r.Usage.Input != nil {
		a.Operations[0].Input = int(*r.Usage.Input)
	}
	if r.Usage.Output != nil {
		a.Operations[0].Output = int(*r.Usage.Output)
	}
	return a
}
