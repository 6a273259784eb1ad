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

// compareGolden compares got with the content of a file. If the flag -update is set, it writes the file
// first.
func compareGolden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test with -update to write it, and review it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; if the new text is right, run go test with -update:\n%s", file, diff)
	}
}

// checkGoldens checks that each golden file has a capture.
func checkGoldens(dir string) error {
	goldens, err := filepath.Glob(filepath.Join(dir, "*.golden"))
	if err != nil {
		return err
	}
	for _, golden := range goldens {
		if _, err := os.Stat(strings.TrimSuffix(golden, ".golden") + ".sse"); err != nil {
			return fmt.Errorf("%s has no capture: delete it", golden)
		}
	}
	return nil
}

// facts describes the request, then each frame.
func (c *capture) facts(d dialect.Dialect) string {
	var all strings.Builder
	if c.request != nil {
		id, err := c.request.identify(d)
		fmt.Fprintf(&all, "request app=%q user=%q session=%q answers=%q\n", id.App, id.User, id.Session, id.Answers)
		if err != nil {
			fmt.Fprintf(&all, "  fault: %v\n", err)
		}
	}
	source := c.source
	if source == nil {
		source = &event.Stream{}
	}
	s := newStreamSession(d, source)
	s.write = formatShort
	for i, f := range c.frames {
		got, err := s.decode(f)
		fmt.Fprintf(&all, "%d %s", i+1, got.facts)
		if err != nil {
			fmt.Fprintf(&all, "  fault: %v\n", err)
		}
	}
	return all.String()
}

// formatShort describes a batch and shortens long texts and values.
func formatShort(b *event.Batch) string { return format(b, shorten) }

// formatFull describes a batch and shortens nothing.
func formatFull(b *event.Batch) string { return format(b, func(s string) string { return s }) }

func format(b *event.Batch, cut func(string) string) string {
	var all strings.Builder
	for one := range b.Turns() {
		all.WriteString(formatTurn(one, cut))
	}
	return all.String()
}

func formatTurn(b *event.Batch, cut func(string) string) string {
	w := factWriter{cut: cut}
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
	w.put("renames", b.Renames)
	w.put("step", b.Step)
	w.put("branch", b.Branch)
	w.put("place", formatPlace(b.Place))
	w.put("within", b.EnclosingCall)
	w.mark("unknown call", b.InUnknownCall)
	w.put("parent", b.ParentBranch)
	for up := b.Around; up != nil; up = up.Above {
		w.put("around", up.Branch)
	}
	w.put("follows", b.Follows)
	w.put("response", b.Response)
	w.mark("agent unknown", b.AgentUnknown)
	if b.Sent != nil {
		fmt.Fprintf(&w, " sent=%q", strings.TrimSpace(b.Sent.Response+" "+b.Sent.Call))
		w.mark("only call", b.Sent.OnlyCall)
		w.mark("open", b.Sent.IsOpen)
	}
	w.mark("may be root", b.MayBeRoot)
	w.mark("parallel", b.IsParallel)
	w.mark("written", b.IsWritten)
	w.mark("may be beside", b.MayBeBeside)
	if !b.Time.IsZero() {
		w.WriteString(" " + b.Time.Format(time.RFC3339Nano))
	}
	w.mark("partial", b.Partial)
	w.mark("repeats", b.Repeats)
	w.mark("agent waits", b.AgentWaits)
	w.mark("work left", b.WorkLeft)
	w.mark("internal", b.Internal)
	w.mark("rejected="+string(b.Rejected), b.Rejected != "")
	w.WriteString("\n")
	for i := range b.Events {
		w.fact(&b.Events[i])
	}
	return w.String()
}

type factWriter struct {
	strings.Builder
	cut func(string) string // shortens texts and values, or not
}

func (w *factWriter) put(name, value string) {
	if value != "" {
		fmt.Fprintf(w, " %s=%q", name, value)
	}
}

func (w *factWriter) mark(name string, on bool) {
	if on {
		w.WriteString(" " + name)
	}
}

func (w *factWriter) count(name string, c event.Count) {
	if c.Known {
		fmt.Fprintf(w, " %s=%d", name, c.N)
	}
}

func (w *factWriter) duration(name string, d event.Duration) {
	if d.Known {
		fmt.Fprintf(w, " %s=%s", name, d.D)
	}
}

func (w *factWriter) fact(e *event.Event) {
	fmt.Fprintf(w, "  %v", e.Kind)
	w.put("name", e.Name)
	w.put("call", e.CallID)
	w.put("id", e.ID)
	w.put("model", e.Model)
	w.put("finish", e.FinishReason)
	w.mark(string(e.Input), e.Input != "")
	w.mark(string(e.Error), e.Error != event.NoFailure)
	w.put("code", e.Code)
	w.mark("from_code", e.Inline)
	w.mark("elsewhere", e.Elsewhere)
	w.mark("beside", e.Beside)
	w.mark("truncated", e.Truncated)
	w.mark("long_running", e.LongRunning)
	w.mark("reuses_id", e.ReusesID)
	w.mark("pending", e.Pending)
	w.mark("settled", e.TurnMayEnd)
	w.mark("ends_agent", e.EndsAgent)
	w.mark("no_agent", e.AgentNotFound)
	w.mark("unmetered", e.UsageIncomplete)
	w.mark("uncertain", e.Uncertain)
	w.mark("start_unknown", e.StartUnknown)
	w.mark("awaits_outcome", e.AwaitsOutcome)
	w.mark("cuts", e.Cuts)
	w.mark("asks_model", e.CallsModel)
	w.mark("resumes", e.Resumes)
	w.duration("took", e.Duration)
	w.count("tool_calls", e.ToolCalls)
	w.count("iterations", e.Iterations)
	w.count("iteration", e.Loop.Iteration)
	w.count("messages", e.Loop.Messages)
	w.count("tools", e.Loop.Tools)
	w.mark(fmt.Sprintf("progress=%v", e.Progress.Value), e.Progress.Known)
	w.put("thought", e.ThoughtType)
	w.duration("expires", e.ExpiresIn)
	w.put("routing", string(e.Routing))
	w.put("prompt", e.Question().Prompt)
	w.put("options", string(e.Question().Options.Raw()))
	w.put("schema", string(e.Question().Schema.Raw()))
	w.mark(fmt.Sprintf("verbosity=%d", e.Verbosity), e.Verbosity != event.ThoughtsNone)
	w.count("input", e.Usage.Input)
	w.count("output", e.Usage.Output)
	w.count("cached", e.Usage.CacheRead)
	w.count("reasoning", e.Usage.Reasoning)
	if e.Kind == event.KindArtifact {
		w.artifact(e)
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

func (w *factWriter) artifact(e *event.Event) {
	w.WriteString(" " + string(e.Artifact.Kind))
	w.count("bytes", e.Artifact.Bytes)
	w.count("index", e.Artifact.Index)
	w.mark("append", e.Artifact.Append)
	w.mark("complete", e.Artifact.Complete)
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
	w.mark(fmt.Sprintf("more=%d", e.Omitted), e.Omitted > 0)
}

// statement describes a confidence or a citation, which few dialects state in a field of their own.
func (w *factWriter) statement(e *event.Event) {
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

// shorten cuts a long string for readability. Its length distinguishes it from others.
func shorten(s string) string {
	const limit = 96
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:limit], ""), len(s))
}

// formatPlace describes a speaker's place, unless only the speaker's own name is known.
func formatPlace(p *event.Place) string {
	if p == nil || p.Root == event.RootUnknown && len(p.Nodes) < 2 {
		return ""
	}
	steps := []string{[...]string{"…", "", "-"}[p.Root]} // RootUnknown, RootFirst, RootSilent
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
