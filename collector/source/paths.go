package source

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// spelling says what servers disagree about in a path: those that take it literally take it for a part of a segment.
type spelling uint16

const (
	encodedSlash spelling = 1 << iota
	backslash
	encodedBackslash
	parameters // after a semicolon
	fragment   // after a number sign
	dots       // a segment of one or two
	encodedDot
	emptySegment // but for the last one
	blanks       // at the end of a segment; Starlette's routes match before a line feed
)

// maxSpelled bounds an odd path that is read in every way: there are up to 512.
const maxSpelled = 4 << 10

// readings are what servers may take a path for, each in lower case.
type readings struct {
	all     []string // the canonical one first
	tooLong bool     // to read in every way
}

// read returns the readings of a path. What is sent on is the path as it came.
func read(u *url.URL) readings {
	raw := sent(u)
	plain, odd := reading(raw, 0)
	as := readings{all: []string{strings.ToLower(plain)}, tooLong: odd != 0 && len(raw) > maxSpelled}
	for literal := odd; literal > 0 && !as.tooLong; literal = (literal - 1) & odd {
		other, _ := reading(raw, literal)
		as.all = append(as.all, strings.ToLower(other))
	}
	return as
}

// canonical returns the reading of a path in which nothing odd is literal, in the case in which it was sent.
func canonical(u *url.URL) string {
	plain, _ := reading(sent(u), 0)
	return plain
}

// sent returns a path as it was sent, as far as that matters: net/url encodes a backslash.
func sent(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.EscapedPath()
}

// canonical returns only the reading in which nothing odd is literal. It alone decides what a public reader may ask for.
func (as readings) canonical() readings { return readings{all: as.all[:1]} }

// isOdd reports whether servers may disagree about the path.
func (as readings) isOdd() bool { return len(as.all) > 1 || as.tooLong }

// match reports whether some server may take the path for one of a glob, in any case. What matches too much is only filtered.
func (as readings) match(glob string) bool {
	glob = strings.ToLower(glob)
	return as.tooLong || slices.ContainsFunc(as.all, func(one string) bool { return matchesExactly(glob, one) })
}

// literally stands for what is literal: a character that is no separator, in no glob and in no path.
const literally = "\x00"

// reading reads a path with some spellings taken literally, and returns which there are: without fragments, parameters and blanks at the end
// of segments, and in one spelling of slashes and dots.
func reading(raw string, literal spelling) (canonical string, odd spelling) {
	plain, odd := decoded(raw, literal)
	segments := strings.Split(strings.ReplaceAll(plain, `\`, "/"), "/")
	end := len(segments)
	for i, s := range segments { // also behind the end: what is odd there is so where the fragment is none
		s, _, isCut := strings.Cut(s, "#")
		if isCut {
			odd |= fragment
			end = min(end, i+1)
		}
		if s, _, isCut = strings.Cut(s, ";"); isCut {
			odd |= parameters
		}
		if trimmed := strings.TrimRightFunc(s, unicode.IsSpace); trimmed != s {
			odd |= blanks
			if literal&blanks == 0 {
				s = trimmed
			}
		}
		switch {
		case s == "." || s == "..":
			odd |= dots
			if literal&dots != 0 {
				s = literally
			}
		case s == "" && i > 0 && i < len(segments)-1:
			odd |= emptySegment
			if literal&emptySegment != 0 {
				s = literally
			}
		}
		segments[i] = s
	}
	return path.Clean("/" + strings.Join(segments[:end], "/")), odd
}

// decoded undoes the percent-encoding, and finds what servers disagree about in it.
func decoded(raw string, literal spelling) (plain string, odd spelling) {
	if !strings.ContainsAny(raw, `%\;#`) {
		return raw, 0
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c, encoded := raw[i], false
		if c == '%' && i+2 < len(raw) {
			if one, err := url.PathUnescape(raw[i : i+3]); err == nil {
				c, encoded, i = one[0], true, i+2
			}
		}
		is := spellingOf(c, encoded)
		odd |= is
		if is&literal != 0 {
			b.WriteString(literally)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), odd
}

func spellingOf(c byte, encoded bool) spelling {
	switch {
	case c == '/' && encoded:
		return encodedSlash
	case c == '.' && encoded:
		return encodedDot
	case c == '\\' && encoded:
		return encodedBackslash
	case c == '\\':
		return backslash
	case c == ';':
		return parameters
	case c == '#':
		return fragment
	}
	return 0
}
