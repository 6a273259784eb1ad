package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// progress says on a terminal how far a command has read, once that takes longer than people wait without asking.
type progress struct {
	out    io.Writer
	screen screen
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

// newProgress draws on standard error if that is a terminal; else it is nil, which draws nothing.
func newProgress(out io.Writer, now func() time.Time) *progress {
	if _, isTerminal := terminal(out); !isTerminal || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{out: out, screen: screenOf(out, os.Getenv), now: now}
}

// begin is of another file.
func (p *progress) begin(name string) {
	if p != nil {
		p.name, p.began = filepath.Base(name), p.now()
	}
}

// see takes how much was read, of how much, 0 where nobody knows.
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
		if full := int(done * progressBar); p.screen.width >= 2*narrowest {
			far = "  " + strings.Repeat("█", full) + strings.Repeat("░", progressBar-full) + far
		}
	}
	name := printable(p.name)
	if room := p.screen.width - 1 - cells(far); room < cells(name) { // in the last column some terminals go to the next line
		name = padded(name, max(room, 1))
	}
	_, _ = io.WriteString(p.out, eraseLine+name+far) // nobody is told where it fails: it is their terminal
}

// erase leaves nothing of what was drawn.
func (p *progress) erase() {
	if p != nil && p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, eraseLine)
	}
}

// eraseLine is a carriage return and EL (ECMA-48).
const eraseLine = "\r\x1b[K"

// above writes to where the line may stand too, and so first erases it.
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
