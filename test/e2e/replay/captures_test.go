package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestCaptures replays every capture and compares the reports with the golden file.
func TestCaptures(t *testing.T) {
	for family, folder := range recorded.Captures {
		t.Run(family, func(t *testing.T) {
			var got strings.Builder
			for _, file := range recorded.Files(t, folder) {
				fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
				for _, r := range harness.Replay(t, file) {
					account := outline(r)
					got.WriteString(account)
				}
			}
			golden := filepath.Join("testdata", family+".golden")
			if *harness.Update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// outline describes a run for people: its status, the tree of its operations, then its statements and questions.
func outline(r tracker.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Status, harness.Text(r.Agent))
	if r.StatusReason != nil {
		fmt.Fprintf(&b, ", %s", *r.StatusReason)
	}
	fmt.Fprintf(&b, "; %d events, %d errors; tokens %s in, %s out\n", r.Events, r.ParseErrors, tokens(r.Usage.Input), tokens(r.Usage.Output))
	below := map[string][]tracker.OperationReport{}
	for _, op := range r.Operations {
		below[harness.Text(op.Parent)] = append(below[harness.Text(op.Parent)], op)
	}
	outlineOperations(&b, below, "-", "  ")
	for _, x := range r.Transfers {
		fmt.Fprintf(&b, "  transfer %s to %s\n", harness.Text(x.From), x.To)
	}
	for _, c := range r.Confidence {
		fmt.Fprintf(&b, "  confidence of %s: %s %q %q overall=%v\n", harness.Text(c.Agent), c.Origin, c.Scope, c.Label, c.Overall)
	}
	for _, c := range r.Citations {
		fmt.Fprintf(&b, "  citation of %s: %s\n", harness.Text(c.Agent), c.Source)
	}
	for _, in := range r.Inputs {
		fmt.Fprintf(&b, "  input %s %s\n", in.Kind, in.Status)
	}
	for _, a := range r.Artifacts {
		fmt.Fprintf(&b, "  artifact %s %s\n", a.Kind, a.Name)
	}
	return b.String()
}

func outlineOperations(b *strings.Builder, below map[string][]tracker.OperationReport, parent, indent string) {
	for _, op := range below[parent] {
		fmt.Fprintf(b, "%s%s %s %s %s", indent, op.Kind, harness.Text(op.Name), op.Status, op.Timing)
		if op.Error != nil {
			fmt.Fprintf(b, " %s", *op.Error)
		}
		b.WriteString("\n")
		outlineOperations(b, below, op.ID, indent+"  ")
	}
}

func tokens(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

// TestCutAnywhere cuts every capture at random bytes and reads it in random sizes. Each run must end, and each of its
// operations must end once. The parent of an operation must exist and must not end before its children.
func TestCutAnywhere(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const cuts = 12
	random := rand.New(rand.NewPCG(1, 2))
	c := config.Default()
	for _, folder := range recorded.Captures {
		for _, file := range recorded.Files(t, folder) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for range cuts {
				n := random.IntN(len(content) + 1)
				w := &witness{ended: map[tracker.SpanID]bool{}, parents: map[tracker.SpanID]tracker.SpanID{}}
				follow := tracker.New(settings.Tracker(c, nil), nothingLost{}, w)
				pipeline := collector.New(collector.Dialects(), settings.Collector(c), follow)
				stream := &event.Stream{Source: "cut", Nonce: "n", SingleRun: random.IntN(2) == 0}
				read := collector.Input{Reader: shortReads{bytes.NewReader(content[:n]), random}}
				if random.IntN(4) == 0 {
					read.Reader = iotest.OneByteReader(bytes.NewReader(content[:n]))
				}
				if err := pipeline.Observe(stream, read, ""); err != nil {
					t.Errorf("%s cut at %d: %v", file, n, err)
				}
				if fault := w.verdict(); fault != "" {
					t.Errorf("%s cut at %d: %s", file, n, fault)
				}
			}
		}
	}
}

// shortReads reads between one byte and all of them.
type shortReads struct {
	*bytes.Reader
	random *rand.Rand
}

func (s shortReads) Read(p []byte) (int, error) { return s.Reader.Read(p[:1+s.random.IntN(len(p))]) }

// witness records what a tracker reports.
type witness struct {
	started, done int
	ended         map[tracker.SpanID]bool
	parents       map[tracker.SpanID]tracker.SpanID
	fault         string
}

func (w *witness) RunStarted(*tracker.Run) { w.started++ }

func (w *witness) OperationEnded(_ *tracker.Run, op *tracker.Operation) {
	switch {
	case op.Status == "":
		w.fault = "an operation without a status"
	case w.ended[op.ID]:
		w.fault = "an operation ended twice"
	case w.ended[op.Parent]:
		w.fault = "a parent ended before its child"
	}
	w.ended[op.ID], w.parents[op.ID] = true, op.Parent
}

func (w *witness) RunEnded(r *tracker.Run) {
	w.done++
	if r.Status == tracker.Running || len(r.Operations) > len(w.ended) {
		w.fault = "a run ended with something open"
	}
}

func (w *witness) verdict() string {
	if w.started != w.done {
		return fmt.Sprintf("%d runs began, %d ended", w.started, w.done)
	}
	for _, parent := range w.parents {
		if parent != (tracker.SpanID{}) && !w.ended[parent] {
			return "a parent that nobody knows"
		}
	}
	return w.fault
}

type nothingLost struct{}

func (nothingLost) CountEvicted(kind string) { panic("evicted " + kind) }
func (nothingLost) CountExpired(kind string) { panic("expired " + kind) }
func (nothingLost) CountLateFrame(string)    { panic("late") }
