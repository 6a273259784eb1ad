package main

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
)

// TestCells counts what terminals make of characters.
func TestCells(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain": 5, "naïve": 5, "nai\u0308ve": 5, "日本語": 6, "ｗｉｄｅ": 8, "한글": 4, "\u1112\u1161\u11ab": 2, "שלום": 4, "🔥": 2, "a\u0301\u0302": 1, "█░▏": 3,
	} {
		if got := cells(text); got != want {
			t.Errorf("%q takes %d, want %d", text, got, want)
		}
		for columns := range want + 3 {
			if got := head(text, columns); cells(got) > columns || !strings.HasPrefix(text, got) || columns >= want && got != text {
				t.Errorf("%d columns of %q are %q", columns, text, got)
			}
			if got := padded(text, columns+1); cells(got) != columns+1 {
				t.Errorf("%q padded to %d is %q", text, columns+1, got)
			}
		}
	}
}

// TestPrintable leaves nothing that steers a terminal or turns its text around, and cuts no character in half.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mred\x07": "\uFFFD[31mred\uFFFD", "a\u202eb\u2066c\u200fd": "a\uFFFDb\uFFFDc\uFFFDd", "two\nlines\r": "two\uFFFDlines\uFFFD",
		"\u009b31m": "\uFFFD31m", "👩\u200d🚒": "👩\uFFFD🚒", "bad\xffutf8": "bad\uFFFDutf8", "no\u00a0break\u3000": "no break ", "שלום": "שלום", "日本": "日本",
		strings.Repeat("日", 40): strings.Repeat("日", 33) + "…",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestColours asks for them as terminals' users do, where there is none.
func TestColours(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "CLICOLOR_FORCE=1": true, "CLICOLOR_FORCE=0": false, "CLICOLOR_FORCE=1 NO_COLOR=1": false, "CLICOLOR_FORCE=1 TERM=dumb": true, "CLICOLOR=1": false,
	} {
		if s := screenOf(&bytes.Buffer{}, environmentOf(env)); s.colour != want || s.folds || s.width != unfolded {
			t.Errorf("with %q it is %+v", env, s)
		}
	}
}

func environmentOf(pairs string) func(string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(pairs) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// hostileRun has every name that an agent may make up, at the end of a deep delegation.
func hostileRun() *tracker.Run {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := &tracker.Run{Status: tracker.Failed, Reason: tracker.ErrorFrame, Dialect: "adk", ID: strings.Repeat("run", 50), Session: "日本語 " + hostileNames[3], Agent: hostileNames[5]}
	above := tracker.SpanID{}
	for i := range 60 {
		name := hostileNames[i%len(hostileNames)]
		if i%3 == 0 {
			name = strings.Repeat("漢字e\u0301", i)
		}
		op := &tracker.Operation{ID: tracker.SpanID{byte(i + 1)}, Parent: above, Kind: tracker.InvokeAgent, Name: name, Status: tracker.Error, Error: "agent_error", Timing: tracker.Reported}
		op.Started.At, op.Ended.At = noon.Add(time.Duration(i)*time.Second), noon.Add(time.Duration(100-i)*time.Second)
		if i%7 == 3 {
			op.Timing = tracker.Unknown
		}
		above = op.ID
		r.Operations = append(r.Operations, op)
		r.Transfers = append(r.Transfers, tracker.Transfer{From: name, To: name})
	}
	r.Root = r.Operations[0]
	r.Root.Code = strings.Repeat("E", 64)
	return r
}

// TestWidths draws on screens of 40 to 400 columns: no line is longer, a chart's bars are in one column, and nothing but our own
// colours steers the terminal.
func TestWidths(t *testing.T) {
	run := hostileRun()
	for width := narrowest; width <= widest; width++ {
		var text bytes.Buffer
		people := &texts{screen: screen{width: width, folds: true, colour: true}, out: bufio.NewWriter(&text)}
		people.RunEnded(run)
		if people.err != nil || people.out.Flush() != nil {
			t.Fatal(people.err)
		}
		plain := sgr.ReplaceAllString(text.String(), "")
		if bad := strings.IndexFunc(plain, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }); bad >= 0 || !utf8.ValidString(plain) {
			t.Fatalf("at %d columns: %q", width, plain[max(bad, 0):][:20])
		}
		bars := map[string]int{}
		for line := range strings.Lines(plain) {
			line = strings.TrimSuffix(line, "\n")
			if n := cells(line); n > width {
				t.Fatalf("at %d columns one line takes %d: %s", width, n, line)
			}
			if at := strings.IndexAny(line, ink+unknownInk); at >= 0 && strings.Contains(line, " agent ") || strings.HasPrefix(line, "agent ") {
				bars[fmt.Sprint(cells(line))]++
			}
		}
		if len(bars) != 1 || bars[fmt.Sprint(width)] == 0 {
			t.Fatalf("at %d columns rows take %v", width, bars)
		}
	}
}

// TestMarks has a name that is too long for its column: that its operation failed is seen without colours too. What has no name is
// not left out.
func TestMarks(t *testing.T) {
	root := &tracker.Operation{ID: tracker.SpanID{1}, Kind: tracker.InvokeAgent, Name: strings.Repeat("long ", 100), Status: tracker.Error}
	tool := &tracker.Operation{ID: tracker.SpanID{2}, Parent: root.ID, Kind: tracker.ExecuteTool, Name: strings.Repeat("日", 50), Status: tracker.OperationInterrupted}
	blank := &tracker.Operation{ID: tracker.SpanID{3}, Parent: root.ID, Kind: tracker.ExecuteTool, Name: " \u00a0"}
	run := &tracker.Run{Root: root, Operations: []*tracker.Operation{root, tool, blank}, Artifacts: []tracker.Artifact{{Artifact: event.Artifact{Kind: event.ArtifactOther}}}}
	for _, width := range []int{narrowest, unfolded, widest} {
		var text bytes.Buffer
		people := &texts{screen: screen{width: width}, out: bufio.NewWriter(&text)}
		people.RunEnded(run)
		if err := people.out.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`(?m)^agent long .*… ✗ +[░?]`, `(?m)^├ tool 日.*… *⏸ +[░?]`, `(?m)^└ tool \? +[░?]`, `(?m)^artifact +\? \(other\)$`} {
			if !regexp.MustCompile(want).MatchString(text.String()) {
				t.Errorf("at %d columns no %s in\n%s", width, want, &text)
			}
		}
	}
}

// sgr is a colour of ours.
var sgr = regexp.MustCompile("\x1b\\[\\d+m")
