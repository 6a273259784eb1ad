package main

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/delegraph/delegraph/exporter/waterfall"
)

// screen is what text is printed to.
type screen struct {
	width  int  // of a chart, in cells
	folds  bool // lines end at the width
	colour bool
}

const (
	narrowest = 40
	widest    = 400
	unfolded  = 100 // what a chart is wide where nobody says how wide it may be
)

// screenOf is the terminal behind a writer, if there is one. Colours are as terminals' users are used to say: NO_COLOR
// (no-color.org), CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors), TERM=dumb.
func screenOf(behind io.Writer, env func(string) string) screen {
	s := screen{width: unfolded}
	if columns, isTerminal := terminal(behind); isTerminal {
		s.folds = true
		s.colour = env("TERM") != "dumb" && env("CLICOLOR") != "0"
		if columns > 0 { // a serial line does not know
			s.width = min(max(columns, narrowest), widest)
		}
	}
	if force := env("CLICOLOR_FORCE"); force != "" && force != "0" {
		s.colour = true
	}
	s.colour = s.colour && env("NO_COLOR") == ""
	return s
}

// terminal says whether a writer is one, and how many columns it has, where it knows.
func terminal(behind io.Writer) (columns int, isTerminal bool) {
	file, ok := behind.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _, _ = term.GetSize(int(file.Fd()))
	return columns, true
}

// piece is a part of a line in one colour, by its ECMA-48 SGR parameter; "" for the terminal's own.
type piece struct{ text, colour string }

func (s screen) paint(p piece) string {
	if !s.colour || p.colour == "" {
		return p.text
	}
	return "\x1b[" + p.colour + "m" + p.text + "\x1b[0m"
}

// lay joins pieces with a separator, or breaks the line there where the screen ends. What follows is indented.
func (s screen) lay(pieces []piece, separator string, indent int) string {
	var b strings.Builder
	column := 0
	for i, p := range pieces {
		if i > 0 {
			if s.folds && column+cells(separator)+cells(p.text) > s.width {
				b.WriteString("\n" + strings.Repeat(" ", indent))
				column = indent
			} else {
				b.WriteString(separator)
				column += cells(separator)
			}
		}
		for s.folds && column+cells(p.text) > s.width {
			fits := head(p.text, s.width-column)
			b.WriteString(s.paint(piece{fits, p.colour}) + "\n" + strings.Repeat(" ", indent))
			p.text, column = p.text[len(fits):], indent
		}
		b.WriteString(s.paint(p))
		column += cells(p.text)
	}
	return b.String()
}

// cells is how many columns of a terminal a text takes.
func cells(s string) (n int) {
	for _, r := range s {
		n += cell(r)
	}
	return n
}

// cell is what one character takes: none where it joins the one before it, two where it is wide (Unicode UAX 11).
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

// head is as much of a text as so many columns hold, with what joins its last character.
func head(s string, columns int) string {
	for i, r := range s {
		if columns -= cell(r); columns < 0 {
			return s[:i]
		}
	}
	return s
}

// padded cuts or fills a text to a number of columns.
func padded(s string, columns int) string {
	if n := cells(s); n <= columns {
		return s + strings.Repeat(" ", columns-n)
	}
	s = head(s, columns-1) + "…"
	return s + strings.Repeat(" ", columns-cells(s))
}

// longestText is where a text from the wire is cut, in bytes.
const longestText = 100

// printable keeps what comes from an agent from being more than text in a terminal. Of what joins two characters, terminals make
// too different things to tell how wide that is.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return unicode.ReplacementChar
		}
		return r
	}, waterfall.Text(s, longestText))
}

// legible is a name in a terminal, or a question mark.
func legible(name string) string { return readable(&name, "?") }
