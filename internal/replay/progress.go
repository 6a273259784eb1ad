package replay

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/delegraph/delegraph/internal/terminal"
)

// progress shows on a terminal how much of a file has been read, once that takes longer than progressAfter.
type progress struct {
	out    io.Writer
	screen terminal.Screen
	now    func() time.Time

	began, drawn time.Time
	name         string
	shown        bool
}

const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
	progressBar   = 20
)

// newProgress returns nil, which draws nothing, if the output is no terminal.
func newProgress(out io.Writer, now func() time.Time) *progress {
	if _, isTerminal := terminal.Columns(out); !isTerminal || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{out: out, screen: terminal.NewScreen(out, os.Getenv), now: now}
}

// begin starts with another file.
func (p *progress) begin(name string) {
	if p != nil {
		p.name, p.began = filepath.Base(name), p.now()
	}
}

// report draws the progress. read and size are in bytes; a size of 0 means unknown.
func (p *progress) report(read, size int64) {
	if p == nil {
		return
	}
	now := p.now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn, p.shown = now, true
	state := "  " + mebibytes(read)
	if size > 0 {
		done := min(float64(read)/float64(size), 1)
		state = fmt.Sprintf(" %3d %%  %s of %s", int(100*done), mebibytes(read), mebibytes(size))
		if full := int(done * progressBar); p.screen.Width >= 2*terminal.MinWidth {
			state = "  " + strings.Repeat("█", full) + strings.Repeat("░", progressBar-full) + state
		}
	}
	name := terminal.Printable(p.name)
	if room := p.screen.Width - 1 - terminal.DisplayWidth(state); room < terminal.DisplayWidth(name) { // some terminals wrap after the last column
		name = terminal.Pad(name, max(room, 1))
	}
	_, _ = io.WriteString(p.out, eraseLine+name+state) // an error of the terminal has nowhere to go
}

// erase removes what was drawn.
func (p *progress) erase() {
	if p != nil && p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, eraseLine)
	}
}

// eraseLine is a carriage return and EL (ECMA-48).
const eraseLine = "\r\x1b[K"

// above returns a writer to the same terminal, which erases the bar first.
func (p *progress) above(out io.Writer) io.Writer {
	if p == nil {
		return out
	}
	return writerFunc(func(b []byte) (int, error) {
		p.erase()
		return out.Write(b)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
