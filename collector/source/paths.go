package source

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ambiguity is a set of path spellings that servers interpret differently. A server that takes such a
// spelling literally treats it as part of a segment.
type ambiguity uint16

const (
	encodedSlash ambiguity = 1 << iota
	backslash
	encodedBackslash
	parameters // text after a semicolon
	fragment   // text after a number sign
	dots       // a segment "." or ".."
	encodedDot
	emptySegment // except the last one
	blanks       // white space at the end of a segment; Starlette's routes ignore a line feed at the end of a path
)

// maxAmbiguousPath is the length in bytes up to which all interpretations of an ambiguous path are
// computed: there are up to 512.
const maxAmbiguousPath = 4 << 10

// interpretations holds the different ways in which servers may read a path, in lower case.
type interpretations struct {
	all     []string // the canonical one first
	tooLong bool     // not all interpretations were computed
}

// interpretPath returns the interpretations of a path. They only select the route: the agent gets the
// path as the client sent it.
func interpretPath(u *url.URL) interpretations {
	raw := rawPath(u)
	plain, found := interpret(raw, 0)
	paths := interpretations{all: []string{strings.ToLower(plain)}, tooLong: found != 0 && len(raw) > maxAmbiguousPath}
	for literal := found; literal > 0 && !paths.tooLong; literal = (literal - 1) & found {
		other, _ := interpret(raw, literal)
		paths.all = append(paths.all, strings.ToLower(other))
	}
	return paths
}

// canonical returns the interpretation of a path that takes no ambiguous spelling literally. It keeps
// upper case.
func canonical(u *url.URL) string {
	plain, _ := interpret(rawPath(u), 0)
	return plain
}

// rawPath returns a path as the client sent it.
func rawPath(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.EscapedPath()
}

// canonical returns only the canonical interpretation.
func (paths interpretations) canonical() interpretations { return interpretations{all: paths.all[:1]} }

// isAmbiguous reports whether servers may interpret the path differently.
func (paths interpretations) isAmbiguous() bool { return len(paths.all) > 1 || paths.tooLong }

// match reports whether the glob matches any interpretation, ignoring case. If no server interprets the path
// in that way, the answer is filtered without need, which is harmless.
func (paths interpretations) match(glob string) bool {
	glob = strings.ToLower(glob)
	return paths.tooLong || slices.ContainsFunc(paths.all, func(one string) bool { return matchGlob(glob, one) })
}

// literalMark replaces a spelling that is taken literally. It is no separator, and no glob or path
// contains it.
const literalMark = "\x00"

// interpret returns a path without fragment, parameters and white space at the end of segments, and with
// one spelling of slashes and dots. It takes the spellings in the set literal literally: see literalMark. It also
// returns all ambiguous spellings that it found.
func interpret(raw string, literal ambiguity) (canonical string, found ambiguity) {
	plain, found := decodePath(raw, literal)
	segments := strings.Split(strings.ReplaceAll(plain, `\`, "/"), "/")
	end := len(segments)
	for i, s := range segments { // even after a number sign: some servers take it literally, so later spellings count too
		s, _, isCut := strings.Cut(s, "#")
		if isCut {
			found |= fragment
			end = min(end, i+1)
		}
		if s, _, isCut = strings.Cut(s, ";"); isCut {
			found |= parameters
		}
		if trimmed := strings.TrimRightFunc(s, unicode.IsSpace); trimmed != s {
			found |= blanks
			if literal&blanks == 0 {
				s = trimmed
			}
		}
		switch {
		case s == "." || s == "..":
			found |= dots
			if literal&dots != 0 {
				s = literalMark
			}
		case s == "" && i > 0 && i < len(segments)-1:
			found |= emptySegment
			if literal&emptySegment != 0 {
				s = literalMark
			}
		}
		segments[i] = s
	}
	return path.Clean("/" + strings.Join(segments[:end], "/")), found
}

// decodePath undoes the percent-encoding of a path. It also returns the ambiguous spellings that it found.
func decodePath(raw string, literal ambiguity) (plain string, found ambiguity) {
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
		is := ambiguityOf(c, encoded)
		found |= is
		if is&literal != 0 {
			b.WriteString(literalMark)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), found
}

func ambiguityOf(c byte, encoded bool) ambiguity {
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
