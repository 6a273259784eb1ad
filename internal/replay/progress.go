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

// progress shows on a terminal how much of a file has been read, once that takes long.
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
	return &progress{out: out, screen: terminal.Of(out, os.Getenv), now: now}
}

// begin starts with another file.
func (p *progress) begin(name string) {
	if p != nil {
		p.name, p.began = filepath.Base(name), p.now()
	}
}

// see notes how many bytes were read, of how many; a size of 0 is unknown.
func (p *progress) see(read, size int64) {
	if p == nil {
		return
	}
	now := p.now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn, p.shown = now, true
	far := "  " + mebibytes(read)
	if size > 0 {
		done := min(float64(read)/float64(size), 1)
		far = fmt.Sprintf(" %3d %%  %s of %s", int(100*done), mebibytes(read), mebibytes(size))
		if full := int(done * progressBar); p.screen.Width >= 2*terminal.Narrowest {
			far = "  " + strings.Repeat("█", full) + strings.Repeat("░", progressBar-full) + far
		}
	}
	name := terminal.Printable(p.name)
	if room := p.screen.Width - 1 - terminal.Cells(far); room < terminal.Cells(name) { // in the last column some terminals go to the next line
		name = terminal.Padded(name, max(room, 1))
	}
	_, _ = io.WriteString(p.out, eraseLine+name+far) // a terminal that fails cannot be told
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
