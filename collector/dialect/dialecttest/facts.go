package dialecttest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares got with the content of a file, or writes it there where the flag -update is set.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; `go test -update` writes it, then read it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; where the new text is right, `go test -update` keeps it:\n%s", file, diff)
	}
}

// paired says which golden files have lost their capture.
func paired(dir string) error {
	goldens, err := filepath.Glob(filepath.Join(dir, "*.golden"))
	if err != nil {
		return err
	}
	for _, golden := range goldens {
		if _, err := os.Stat(strings.TrimSuffix(golden, ".golden") + ".sse"); err != nil {
			return fmt.Errorf("%s is of no capture: delete it", golden)
		}
	}
	return nil
}

// facts is a capture in words: who asked, then frame by frame.
func (c *capture) facts(d dialect.Dialect) string {
	var all strings.Builder
	if c.asked != nil {
		id, err := c.asked.identify(d)
		fmt.Fprintf(&all, "request app=%q user=%q session=%q answers=%q\n", id.App, id.User, id.Session, id.Answers)
		if err != nil {
			fmt.Fprintf(&all, "  fault: %v\n", err)
		}
	}
	source := c.source
	if source == nil {
		source = &event.Stream{}
	}
	s := beginStream(d, source)
	s.write = write
	for i, f := range c.frames {
		got, err := s.decode(f)
		fmt.Fprintf(&all, "%d %s", i+1, got.facts)
		if err != nil {
			fmt.Fprintf(&all, "  fault: %v\n", err)
		}
	}
	return all.String()
}

// write puts a batch into words, of which long ones are cut.
func write(b *event.Batch) string { return inWords(b, short) }

// writeWhole puts all of a batch into words.
func writeWhole(b *event.Batch) string { return inWords(b, func(s string) string { return s }) }

func inWords(b *event.Batch, cut func(string) string) string {
	w := words{cut: cut}
	w.WriteString("-")
	if b.Type != "" {
		w.Reset()
		w.WriteString(b.Type)
	}
	if _, known := b.Table.Types[b.Type]; !known && b.Type != "" {
		w.WriteString(" withheld")
	}
	w.put("run", b.Run)
	w.mark("orphan", b.Orphan)
	w.put("session", b.Session)
	w.put("agent", b.Agent)
	w.put("step", b.Step)
	w.put("branch", b.Branch)
	w.put("place", place(b.Place))
	w.put("within", b.Within)
	w.put("parent", b.Parent)
	if !b.Time.IsZero() {
		w.WriteString(" " + b.Time.Format(time.RFC3339Nano))
	}
	w.mark("partial", b.Partial)
	w.mark("internal", b.Internal)
	w.mark("rejected="+string(b.Rejected), b.Rejected != "")
	w.WriteString("\n")
	for i := range b.Events {
		w.fact(&b.Events[i])
	}
	return w.String()
}

type words struct {
	strings.Builder
	cut func(string) string // shortens texts and values
}

func (w *words) put(name, value string) {
	if value != "" {
		fmt.Fprintf(w, " %s=%q", name, value)
	}
}

func (w *words) mark(name string, on bool) {
	if on {
		w.WriteString(" " + name)
	}
}

func (w *words) count(name string, c event.Count) {
	if c.Known {
		fmt.Fprintf(w, " %s=%d", name, c.N)
	}
}

func (w *words) duration(name string, d event.Duration) {
	if d.Known {
		fmt.Fprintf(w, " %s=%s", name, d.D)
	}
}

func (w *words) fact(e *event.Event) {
	fmt.Fprintf(w, "  %v", e.Kind)
	w.put("name", e.Name)
	w.put("call", e.CallID)
	w.put("id", e.ID)
	w.put("model", e.Model)
	w.put("finish", e.FinishReason)
	w.mark(string(e.Input), e.Input != "")
	w.mark(string(e.Error), e.Error != event.NoFailure)
	w.put("code", e.Code)
	w.mark("from_code", e.FromCode)
	w.mark("long_running", e.LongRunning)
	w.mark("pending", e.Pending)
	w.mark("settled", e.Settled)
	w.mark("unmetered", e.Unmetered)
	w.mark("awaits_outcome", e.AwaitsOutcome)
	w.mark("asks_model", e.AsksModel)
	w.mark("resumes", e.Resumes)
	w.duration("took", e.Took)
	w.count("tool_calls", e.ToolCalls)
	w.count("iterations", e.Iterations)
	w.count("iteration", e.Loop.Iteration)
	w.count("messages", e.Loop.Messages)
	w.count("tools", e.Loop.Tools)
	w.mark(fmt.Sprintf("progress=%v", e.Progress.Value), e.Progress.Known)
	w.put("thought", e.Thought)
	w.duration("expires", e.Expires)
	w.put("routing", string(e.Routing))
	w.mark(fmt.Sprintf("verbosity=%d", e.Verbosity), e.Verbosity != event.ThoughtsNone)
	w.count("input", e.Usage.Input)
	w.count("output", e.Usage.Output)
	w.count("cached", e.Usage.CacheRead)
	w.count("reasoning", e.Usage.Reasoning)
	if e.Kind == event.KindArtifact {
		w.mark(string(e.Artifact.Kind), true)
		w.count("bytes", e.Artifact.Bytes)
		w.count("index", e.Artifact.Index)
		w.mark("append", e.Artifact.Append)
		w.mark("complete", e.Artifact.Complete)
		w.pieces(e)
	}
	if e.Kind == event.KindPlan {
		fmt.Fprintf(w, " %+v", e.Plan)
	}
	if len(e.State().Keys) > 0 {
		fmt.Fprintf(w, " keys=%q", e.State().Keys)
	}
	w.count("bytes", e.State().Bytes)
	if e.Kind == event.KindReasoning {
		fmt.Fprintf(w, " steps=%d", e.Steps)
	}
	w.statement(e)
	if len(e.Text()) > 0 {
		w.WriteString(" " + w.cut(fmt.Sprintf("%q", e.Text())))
	}
	if e.Payload().Exists() {
		w.WriteString(" " + w.cut(string(e.Payload().Raw())))
	}
	w.WriteString("\n")
}

func (w *words) pieces(e *event.Event) {
	for _, p := range e.Pieces() {
		fmt.Fprintf(w, " (%s", p.Kind)
		w.put("name", p.Name)
		w.put("media", p.Media)
		w.WriteString(" " + w.cut(string(p.Value.Raw())))
		if p.Schema.Exists() {
			w.WriteString(" schema=" + w.cut(string(p.Schema.Raw())))
		}
		w.WriteString(")")
	}
	w.mark(fmt.Sprintf("more=%d", e.More), e.More > 0)
}

// statement is what few dialects say of an answer's worth in a field of its own.
func (w *words) statement(e *event.Event) {
	if e.Confidence != (event.Confidence{}) {
		c := e.Confidence
		fmt.Fprintf(w, " {Value:%v Known:%v Scope:%s Label:%s Topic:%s Overall:%v Origin:%s}", c.Value, c.Known, c.Scope, c.Label, c.Topic, c.Overall, c.Origin)
		if c.Low.Known || c.High.Known {
			fmt.Fprintf(w, " %+v to %+v", c.Low, c.High)
		}
	}
	if e.Citation != (event.Citation{}) {
		fmt.Fprintf(w, " %+v", e.Citation)
	}
}

// short keeps a line readable; its length tells long ones apart.
func short(s string) string {
	const most = 96
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// place shows where a speaker stands, unless nothing but its own name says so.
func place(p *event.Place) string {
	if p == nil || p.Root == event.RootUnknown && len(p.Nodes) < 2 {
		return ""
	}
	steps := []string{[...]string{"…", "", "-"}[p.Root]} // somewhere, from the root on, below a silent root
	for _, n := range p.Nodes {
		step := n.Name
		if n.Run != "" {
			step += "@" + n.Run
		}
		if n.Call != "" && n.Call != n.Run {
			step += "#" + n.Call
		}
		if n.Lane != "" {
			step += "[" + n.Lane + "]"
		}
		steps = append(steps, step+[...]string{"", "?", ":container", ":workflow", ":function"}[n.Kind])
	}
	return strings.Join(steps, "/")
}
