package langgraph

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/lenient"
)

// argumentScan looks for the name of an internal subagent in the arguments of a call, which are JSON in pieces of any size. It keeps only
// the string that is being read, so long arguments need no more memory.
type argumentScan struct {
	text     []byte // of the string that is being read or was read last; at most dialect.MaxName
	inString bool
	escape   escapeState
	units    rune // the digits so far of an escape \uXXXX
	high     rune // the unit before, if it is half a character

	hasBegun bool
	depth    int
	isName   bool // the last string may be a member that names the subagent
	inValue  int  // 1 + the depth of the object with such a member, while its value is read; else 0
	found    bool
	target   string // the subagent that was found; "" until its name has ended
}

// escapeState says which part of an escape in a string comes next.
type escapeState uint8

const (
	noEscape escapeState = iota
	escapeKind
	firstDigit
	lastDigit = firstDigit + 3
)

// escapedBlanks are the letters of JSON's short escapes for blanks and control characters.
const escapedBlanks = "bfnrt"

// add reads a piece, and reports whether the arguments so far name an internal subagent. The server may close a string that the model
// left open, so the beginning of a name is enough.
//
// Source: langchain_core/utils/json.py, parse_partial_json.
func (s *argumentScan) add(piece []byte) (found bool) {
	for _, c := range piece {
		if s.inString {
			s.addToString(c)
		} else {
			s.addToken(c)
		}
	}
	s.found = s.found || s.inString && s.inValue > 0 && s.isInternal()
	return s.found
}

// isComplete reports whether the arguments have ended.
func (s *argumentScan) isComplete() bool { return s.hasBegun && s.depth == 0 }

func (s *argumentScan) addToken(c byte) {
	switch c {
	case '"':
		s.inString, s.isName, s.text = true, false, s.text[:0]
	case ':':
		if s.isName && s.inValue == 0 {
			s.inValue = s.depth + 1
		}
	case '{', '[':
		s.hasBegun = true
		s.depth++
	case '}', ']':
		if s.depth = max(s.depth-1, 0); s.depth+1 < s.inValue {
			s.inValue = 0
		}
	case ',':
		if s.depth < s.inValue {
			s.inValue = 0
		}
	}
}

func (s *argumentScan) addToString(c byte) {
	switch {
	case s.escape == escapeKind && c == 'u':
		s.escape, s.units = firstDigit, 0
	case s.escape == escapeKind:
		s.escape = noEscape
		if strings.IndexByte(escapedBlanks, c) >= 0 {
			c = ' '
		}
		s.append(c)
	case s.escape >= firstDigit:
		s.addDigit(c)
	case c == '\\':
		s.escape = escapeKind
	case c == '"':
		s.endString()
	default:
		s.append(c)
	}
}

func (s *argumentScan) addDigit(c byte) {
	digit := rune(c|0x20) - 'a' + 10
	if c <= '9' {
		digit = rune(c) - '0'
	}
	s.units = s.units<<4 | digit&0xf
	if s.escape++; s.escape > lastDigit {
		s.escape = noEscape
		s.addUnit()
	}
}

// addUnit adds the UTF-16 unit of an escape. Two units may be one character.
func (s *argumentScan) addUnit() {
	r := s.units
	if paired := utf16.DecodeRune(s.high, r); paired != utf8.RuneError {
		r = paired
	}
	if s.high = 0; utf16.IsSurrogate(r) {
		s.high = r
		return
	}
	s.append(utf8.AppendRune(nil, r)...)
}

func (s *argumentScan) append(text ...byte) {
	if len(s.text)+len(text) <= dialect.MaxName {
		s.text = append(s.text, text...)
	}
}

func (s *argumentScan) endString() {
	s.inString = false
	s.isName = lenient.MatchesAny(s.text, subagentMembers)
	if s.inValue > 0 && s.isInternal() {
		s.found, s.target = true, dialect.Name(string(s.text))
	}
}

// isInternal reports whether the string is an internal name, or may be one that is too long to be kept.
func (s *argumentScan) isInternal() bool {
	isCut := len(s.text) > dialect.MaxName-utf8.UTFMax
	return lenient.IsInternal(s.text) || isCut && len(lenient.Text(s.text)) < len("internal")
}
