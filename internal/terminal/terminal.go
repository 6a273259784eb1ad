// Package terminal lays out text for terminals and removes control characters from the text of agents.
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
	Wraps bool // lines are broken at the width
	Color bool
}

// Widths of charts, in columns.
const (
	MinWidth     = 40
	MaxWidth     = 400
	DefaultWidth = 100 // if the output is no terminal, or its width is unknown
)

// NewScreen returns the screen behind a writer. Colors follow the environment variables NO_COLOR (no-color.org),
// CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors), and TERM=dumb.
func NewScreen(behind io.Writer, env func(string) string) Screen {
	s := Screen{Width: DefaultWidth}
	if columns, isTerminal := Columns(behind); isTerminal {
		s.Wraps = true
		s.Color = env("TERM") != "dumb" && env("CLICOLOR") != "0"
		if columns > 0 { // a serial line has no width
			s.Width = min(max(columns, MinWidth), MaxWidth)
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

// Join joins pieces with a separator. If the screen wraps, Join breaks lines at its width and indents the next ones.
func (s Screen) Join(pieces []Piece, separator string, indent int) string {
	var b strings.Builder
	column := 0
	for i, p := range pieces {
		if i > 0 {
			if s.Wraps && column+DisplayWidth(separator)+DisplayWidth(p.Text) > s.Width {
				b.WriteString("\n" + strings.Repeat(" ", indent))
				column = indent
			} else {
				b.WriteString(separator)
				column += DisplayWidth(separator)
			}
		}
		for s.Wraps && column+DisplayWidth(p.Text) > s.Width {
			fits := Truncate(p.Text, s.Width-column)
			b.WriteString(s.Paint(Piece{fits, p.Color}) + "\n" + strings.Repeat(" ", indent))
			p.Text, column = p.Text[len(fits):], indent
		}
		b.WriteString(s.Paint(p))
		column += DisplayWidth(p.Text)
	}
	return b.String()
}

// DisplayWidth returns the number of columns that a text takes.
func DisplayWidth(s string) (n int) {
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

// Truncate returns the beginning of a text that fits into a number of columns, including combining characters.
func Truncate(s string, columns int) string {
	for i, r := range s {
		if columns -= cell(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

// Pad returns a text truncated or padded to a number of columns.
func Pad(s string, columns int) string {
	if n := DisplayWidth(s); n <= columns {
		return s + strings.Repeat(" ", columns-n)
	}
	s = Truncate(s, columns-1) + "…"
	return s + strings.Repeat(" ", columns-DisplayWidth(s))
}

// MaxText is the length in bytes to which Printable truncates a text.
const MaxText = 100

// Printable returns a text from an agent without control characters, truncated to MaxText. It also replaces characters that join two
// others, because terminals differ in the width of the result.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, waterfall.Sanitize(s, MaxText))
}

// PrintableName returns a printable name, or "?" if there is none.
func PrintableName(name string) string { return PrintableOr(&name, "?") }

// PrintableOr returns a printable text, or fallback if s is nil or blank.
func PrintableOr(s *string, fallback string) string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return fallback
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
