package replay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/delegraph/delegraph/internal/terminal"
	"github.com/delegraph/delegraph/test/component"
)

// pseudoTerminal is a pseudo terminal that records its output.
type pseudoTerminal struct {
	*os.File // the end that the program writes to
	shown    func() string
}

// openTerminal opens a pseudo terminal with a number of columns, or 0 for unknown. The output is available after the program's end is closed.
// The terminal driver adds a carriage return before each line feed.
func openTerminal(t *testing.T, columns int) pseudoTerminal {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		component.Missing(t, "there are no pseudo terminals: "+err.Error())
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		component.Missing(t, "there are no pseudo terminals: "+err.Error())
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&text, screen) // ends with EIO when the other end is closed
	}()
	return pseudoTerminal{program, func() string {
		program.Close()
		<-read
		return text.String()
	}}
}

// TestTerminal checks the width and colors of a replay on a terminal.
func TestTerminal(t *testing.T) {
	file := "../../collector/dialect/adk/adkserver/testdata/captures/python/transfer.sse"
	for _, c := range []struct {
		columns, want int
		env           string
		colour        bool
	}{
		{80, 80, "", true}, {40, 40, "", true}, {10, terminal.MinWidth, "", true}, {163, 163, "", true}, {1000, terminal.MaxWidth, "", true}, {0, terminal.DefaultWidth, "", true},
		{80, 80, "NO_COLOR=1", false}, {80, 80, "TERM=dumb", false}, {80, 80, "CLICOLOR=0", false}, {80, 80, "CLICOLOR_FORCE=1 CLICOLOR=0 TERM=dumb", true}, {80, 80, "CLICOLOR_FORCE=1 NO_COLOR=1", false},
	} {
		t.Run(fmt.Sprint(c.columns, " ", c.env), func(t *testing.T) {
			env := environment(c.env)
			for _, name := range []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"} {
				t.Setenv(name, env(name))
			}
			t.Setenv("TERM", "xterm")
			if dumb := env("TERM"); dumb != "" {
				t.Setenv("TERM", dumb)
			}
			tty := openTerminal(t, c.columns)
			r := New(tty.File, tty.File)
			r.Dialect, r.Format, r.Files = "auto", "text", []string{file}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			shown := tty.shown()
			if got := strings.Contains(shown, "\x1b[34m"); got != c.colour {
				t.Errorf("the output has colors: %t", got)
			}
			longest := 0
			for line := range strings.Lines(sgr.ReplaceAllString(shown, "")) {
				longest = max(longest, terminal.DisplayWidth(strings.TrimRight(line, "\r\n")))
			}
			if bars := c.want - spanColumn - 1; longest > c.want || longest < bars {
				t.Errorf("the longest line has %d columns, want %d:\n%s", longest, c.want, shown)
			}
			if strings.Contains(shown, eraseLine) {
				t.Errorf("there is a progress bar for a short file:\n%q", shown)
			}
		})
	}
}

// withClock returns a replay whose clock advances by step at each call.
func withClock(r Command, step time.Duration) *Command {
	now := time.Unix(0, 0)
	r.now = func() time.Time {
		now = now.Add(step)
		return now
	}
	r.Dialect = "auto"
	return &r
}

// longCapture writes a file that takes several reads.
func longCapture(t *testing.T, name string) string {
	t.Helper()
	frame := "data: {\"invocationId\":\"e-1\",\"author\":\"agent\",\"actions\":{},\"content\":{\"parts\":[{\"text\":\"" + strings.Repeat("x", 1000) + "\"}]},\"partial\":true}\n\n"
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(strings.Repeat(frame, 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestProgress checks that a terminal shows the progress while a long file is read, and that it is erased at the end.
func TestProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	file := longCapture(t, "long 漢\x1b[31m.sse")
	for _, columns := range []int{40, 80} {
		tty := openTerminal(t, columns)
		var out bytes.Buffer
		if err := withClock(Command{Format: "json", Files: []string{file}, Out: &out, Stderr: tty.File}, 30*time.Millisecond).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		drawn := strings.Split(tty.shown(), eraseLine)
		if len(drawn) < 10 || drawn[0] != "" || drawn[len(drawn)-1] != "" {
			t.Fatalf("the bar has %d states, from %q to %q", len(drawn)-2, drawn[0], drawn[len(drawn)-1])
		}
		last := 0
		for _, state := range drawn[1 : len(drawn)-1] {
			var percent int
			words := strings.Fields(state)
			if i := slices.Index(words, "%"); i > 0 {
				percent, _ = strconv.Atoi(words[i-1])
			}
			if percent < last || percent > 100 {
				t.Errorf("the bar shows %d %% after %d %%", percent, last)
			}
			last = percent
			if terminal.DisplayWidth(state) >= columns || strings.ContainsAny(state, "\x1b\n\r") {
				t.Errorf("with %d columns, the bar is %q", columns, state)
			}
		}
		if last < 50 {
			t.Errorf("the last state is %d %%", last)
		}
		if strings.Contains(out.String(), "MiB") || !strings.Contains(out.String(), `"frames":1000`) {
			t.Errorf("standard output is %s", &out)
		}
	}
}

// TestProgressLine checks that output on the same terminal is never on the line of the bar.
func TestProgressLine(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	tty := openTerminal(t, 80)
	file := longCapture(t, "long.sse")
	if err := withClock(Command{Format: "stream", Policy: "public", StreamFormat: NativeFormat, Files: []string{file}, Out: tty.File, Stderr: tty.File}, 30*time.Millisecond).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := tty.shown()
	if !strings.Contains(shown, " MiB of ") || strings.Count(shown, "data: ") != 1000 {
		t.Fatalf("there are %d frames and %d states of the bar", strings.Count(shown, "data: "), strings.Count(shown, " MiB of "))
	}
	for state := range strings.SplitSeq(shown, eraseLine) {
		if strings.Contains(state, " MiB of ") && strings.Contains(state, "data: ") {
			t.Fatalf("there is output on the line of the bar: %q", state)
		}
	}
}

// TestNoProgress checks that no bar is drawn in the first second, into a pipe, or on a dumb terminal.
func TestNoProgress(t *testing.T) {
	file := longCapture(t, "long.sse")
	for name, c := range map[string]struct {
		term string
		step time.Duration
	}{"in less than a second": {"xterm", time.Microsecond}, "on a dumb terminal": {"dumb", time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", c.term)
			tty := openTerminal(t, 80)
			if err := withClock(Command{Format: "json", Files: []string{file}, Out: io.Discard, Stderr: tty.File}, c.step).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if shown := tty.shown(); shown != "" {
				t.Errorf("the terminal shows %q", shown)
			}
		})
	}
	var pipe bytes.Buffer
	if err := withClock(Command{Format: "json", Files: []string{file}, Out: io.Discard, Stderr: &pipe}, time.Hour).Run(t.Context()); err != nil || pipe.Len() > 0 {
		t.Errorf("a pipe gets %q, %v", &pipe, err)
	}
}

// environment returns a function that looks up variables in a list of pairs.
func environment(pairs string) func(string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(pairs) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
