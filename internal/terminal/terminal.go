// Package terminal lays out text for terminals and keeps what comes from an agent from being more than text there.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/delegraph/delegraph/exporter/waterfall"
)

// Screen describes where text is printed.
type Screen struct {
	Width int  // of a chart, in columns
	Folds bool // lines are broken at the width
	Color bool
}

// The widths of charts, in columns.
const (
	Narrowest = 40
	Widest    = 400
	Unfolded  = 100 // where the output is no terminal, or does not say
)

// Of returns the screen behind a writer. Colors follow the environment variables NO_COLOR (no-color.org), CLICOLOR_FORCE and CLICOLOR
// (bixense.com/clicolors), and TERM=dumb.
func Of(behind io.Writer, env func(string) string) Screen {
	s := Screen{Width: Unfolded}
	if columns, isTerminal := Columns(behind); isTerminal {
		s.Folds = true
		s.Color = env("TERM") != "dumb" && env("CLICOLOR") != "0"
		if columns > 0 { // a serial line does not know
			s.Width = min(max(columns, Narrowest), Widest)
		}
	}
	if force := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		s.Color = true
	}
	s.Color = s.Color && env("NO_COLOR") == ""
	return s
}

// Columns reports whether a writer is a terminal, and its number of columns, 0 if the terminal does not know.
func Columns(behind io.Writer) (columns int, isTerminal bool) {
	file, ok := behind.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _, _ = term.GetSize(int(file.Fd()))
	return columns, true
}

// Piece is a part of a line in one color: an ECMA-48 SGR parameter, or "" for the terminal's own.
type Piece struct{ Text, Color string }

// Paint returns the text of a piece in its color.
func (s Screen) Paint(p Piece) string {
	if !s.Color || p.Color == "" {
		return p.Text
	}
	return "\x1b[" + p.Color + "m" + p.Text + "\x1b[0m"
}

// Lay joins pieces with a separator. Where a screen that folds ends, it breaks the line and indents the next one.
func (s Screen) Lay(pieces []Piece, separator string, indent int) string {
	var b strings.Builder
	column := 0
	for i, p := range pieces {
		if i > 0 {
			if s.Folds && column+Cells(separator)+Cells(p.Text) > s.Width {
				b.WriteString("\n" + strings.Repeat(" ", indent))
				column = indent
			} else {
				b.WriteString(separator)
				column += Cells(separator)
			}
		}
		for s.Folds && column+Cells(p.Text) > s.Width {
			fits := Head(p.Text, s.Width-column)
			b.WriteString(s.Paint(Piece{fits, p.Color}) + "\n" + strings.Repeat(" ", indent))
			p.Text, column = p.Text[len(fits):], indent
		}
		b.WriteString(s.Paint(p))
		column += Cells(p.Text)
	}
	return b.String()
}

// Cells returns the number of columns that a text takes.
func Cells(s string) (n int) {
	for _, r := range s {
		n += cell(r)
	}
	return n
}

// cell returns the number of columns of one character: 0 if it joins the one before it, 2 if it is wide (Unicode UAX 11).
func cell(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	const firstVowel, lastFinal = 0x1160, 0x11FF // Hangul letters that join the one before
	if unicode.In(r, unicode.Mn, unicode.Me) || r >= firstVowel && r <= lastFinal {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Head returns the beginning of a text that fits into a number of columns, with the characters that join its last one.
func Head(s string, columns int) string {
	for i, r := range s {
		if columns -= cell(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

// Padded returns a text cut or filled to a number of columns.
func Padded(s string, columns int) string {
	if n := Cells(s); n <= columns {
		return s + strings.Repeat(" ", columns-n)
	}
	s = Head(s, columns-1) + "…"
	return s + strings.Repeat(" ", columns-Cells(s))
}

// MaxText is the length in bytes to which Printable cuts a text.
const MaxText = 100

// Printable returns a text from an agent without anything that a terminal would obey. It also replaces the characters that join two
// others, because terminals differ in how wide the result is.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, waterfall.Text(s, MaxText))
}

// Legible returns a printable name, or "?" if there is none.
func Legible(name string) string { return Readable(&name, "?") }

// Readable returns a printable text, or otherwise if there is none.
func Readable(s *string, otherwise string) string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return otherwise
	}
	return Printable(*s)
}

// Count returns a number with its noun, in the plural if it is not 1.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
