package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/terminal"
)

// hostileNames lists hostile names of agents and tools.
var hostileNames = []string{
	`<script>alert("script")</script>`, `</td></tr></table><img src=x onerror=alert("image")>`, `"><b onmouseover=alert(1)>`,
	"\u202egnp.exe", "\x1b[31mred\x07", strings.Repeat("long ", 1<<18), "שלום", "javascript:alert(1)", "{{.}}", "a\u2028b",
}

// hostileRun returns a run with hostile names and a deep delegation.
func hostileRun() *tracker.Run {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := &tracker.Run{Status: tracker.Failed, Reason: tracker.ReasonErrorFrame, Dialect: "adk", ID: strings.Repeat("run", 50), Session: "日本語 " + hostileNames[3], Agent: hostileNames[5]}
	above := tracker.SpanID{}
	for i := range 60 {
		name := hostileNames[i%len(hostileNames)]
		if i%3 == 0 {
			name = strings.Repeat("漢字e\u0301", i)
		}
		op := &tracker.Operation{ID: tracker.SpanID{byte(i + 1)}, Parent: above, Kind: tracker.InvokeAgent, Name: name, Status: tracker.OperationError, Failure: "agent_error", Timing: tracker.TimingReported}
		op.Started.At, op.Ended.At = noon.Add(time.Duration(i)*time.Second), noon.Add(time.Duration(100-i)*time.Second)
		if i%7 == 3 {
			op.Timing = tracker.TimingUnknown
		}
		above = op.ID
		r.Operations = append(r.Operations, op)
		r.Transfers = append(r.Transfers, tracker.Transfer{From: name, To: name})
	}
	r.Root = r.Operations[0]
	r.Root.ErrorCode = strings.Repeat("E", 64)
	sure := tracker.Confidence{Confidence: event.Confidence{Value: 0.123456, Known: true}}
	r.Operations[1].Details = &tracker.Details{Confidence: []tracker.Confidence{sure}}
	r.Inputs = []*tracker.InputRequest{{Kind: event.InputClarification, Status: tracker.InputOpen, Requested: tracker.Timestamp{At: noon.Add(50 * time.Second)}}}
	return r
}

// TestWidths checks screens of 40 to 400 columns. No line may be longer, bars must start in the same column, and the
// only control sequences are our colors.
func TestWidths(t *testing.T) {
	run := hostileRun()
	for width := terminal.MinWidth; width <= terminal.MaxWidth; width++ {
		var text bytes.Buffer
		reporter := &textReporter{Screen: terminal.Screen{Width: width, Wraps: true, Color: true}, out: bufio.NewWriter(&text)}
		reporter.RunEnded(run)
		if reporter.err != nil || reporter.out.Flush() != nil {
			t.Fatal(reporter.err)
		}
		plain := sgr.ReplaceAllString(text.String(), "")
		if bad := strings.IndexFunc(plain, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }); bad >= 0 || !utf8.ValidString(plain) {
			t.Fatalf("at %d columns, the output has a control character: %q", width, plain[max(bad, 0):][:20])
		}
		bars := map[string]int{}
		for line := range strings.Lines(plain) {
			line = strings.TrimSuffix(line, "\n")
			if n := terminal.DisplayWidth(line); n > width {
				t.Fatalf("at %d columns, a line has %d: %s", width, n, line)
			}
			if at := strings.IndexAny(line, ink+unknownInk); at >= 0 && strings.Contains(line, " agent ") || strings.HasPrefix(line, "agent ") {
				bars[fmt.Sprint(terminal.DisplayWidth(line))]++
			}
		}
		if len(bars) != 1 || bars[fmt.Sprint(width)] == 0 {
			t.Fatalf("at %d columns, the rows have the widths %v", width, bars)
		}
	}
}

// TestMarks checks that the mark of a failed operation is visible even if its name is long, and that operations without a name are shown.
func TestMarks(t *testing.T) {
	root := &tracker.Operation{ID: tracker.SpanID{1}, Kind: tracker.InvokeAgent, Name: strings.Repeat("long ", 100), Status: tracker.OperationError}
	tool := &tracker.Operation{ID: tracker.SpanID{2}, Parent: root.ID, Kind: tracker.ExecuteTool, Name: strings.Repeat("日", 50), Status: tracker.OperationInterrupted}
	blank := &tracker.Operation{ID: tracker.SpanID{3}, Parent: root.ID, Kind: tracker.ExecuteTool, Name: " \u00a0"}
	run := &tracker.Run{Root: root, Operations: []*tracker.Operation{root, tool, blank}, Artifacts: []tracker.Artifact{{Artifact: event.Artifact{Kind: event.ArtifactOther}}}}
	for _, width := range []int{terminal.MinWidth, terminal.DefaultWidth, terminal.MaxWidth} {
		var text bytes.Buffer
		reporter := &textReporter{Screen: terminal.Screen{Width: width}, out: bufio.NewWriter(&text)}
		reporter.RunEnded(run)
		if err := reporter.out.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`(?m)^agent long .*… ✗ +[░?]`, `(?m)^├ tool 日.*… *⏸ +[░?]`, `(?m)^└ tool \? +[░?]`, `(?m)^artifact +\? \(other\)$`} {
			if !regexp.MustCompile(want).MatchString(text.String()) {
				t.Errorf("at %d columns, there is no %s in\n%s", width, want, &text)
			}
		}
	}
}

// sgr matches a color sequence.
var sgr = regexp.MustCompile("\x1b\\[\\d+m")
