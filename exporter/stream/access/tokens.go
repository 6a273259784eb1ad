package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// Limits of a tokens file. The length of a line is not limited.
const (
	maxFile     = 1 << 20 // bytes
	maxTokens   = 10_000
	maxSessions = 100 // of a token
	maxSession  = event.MaxSession
	minToken    = 22  // characters of base64: 128 bits
	maxToken    = 512 // characters
)

// digest is the SHA-256 of a token or ticket; the secret itself is not stored. A map
// lookup leaks nothing useful through timing: it compares the hash of a guess, and an attacker cannot
// choose guesses by their hash. Nor does a stored hash reveal the 128 random bits.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// holder is the reader that a token was given to.
type holder struct {
	name     string
	sessions []string // sorted and unique; nil: all
	line     int
}

type tokens map[digest]holder

// parseError says why a line is rejected and how to fix it. It never quotes the line, where a token
// may be anywhere.
type parseError struct{ problem, remedy string }

var (
	badToken = parseError{
		"the line does not begin with a token of 22 to 512 characters from A-Z a-z 0-9 . _ ~ + / - (and = at its end)",
		"create one with: openssl rand -base64 24",
	}
	badHash    = parseError{"sha256: is not followed by 64 hexadecimal digits", "create them with: printf %s TOKEN | sha256sum"}
	badSetting = parseError{"the text after the token is neither session=ID nor name=LABEL", "write one token per line, and comments after #"}
	badSession = parseError{
		"a session ID is empty, longer than 250 bytes, or has a % without two hexadecimal digits after it",
		"write it as in the path of /events/ID, where a space is %20 and a % is %25",
	}
	badName     = parseError{"the name does not have 1 to 64 characters from A-Z a-z 0-9 . _ -", "choose another name"}
	twoNames    = parseError{"the token has two names", "delete one"}
	tooMany     = parseError{fmt.Sprintf("the token has more than %d sessions", maxSessions), "omit session=, or use several tokens"}
	tokensLimit = parseError{fmt.Sprintf("the file has more than %d tokens", maxTokens), "delete unused ones"}
)

// parseTokens parses a tokens file. Its error names the first invalid line and how to fix it.
func parseTokens(file string, content []byte) (tokens, error) {
	parsed := make(tokens)
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		d, reader, wrong := parseLine(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		first, repeated := parsed[d]
		switch {
		case wrong != nil:
		case reader == nil:
			continue
		case repeated:
			wrong = &parseError{fmt.Sprintf("the token repeats the one on line %d", first.line), "put all of its sessions on one line"}
		case len(parsed) == maxTokens:
			wrong = &tokensLimit
		}
		if wrong != nil {
			return nil, fmt.Errorf("%s:%d: %s; %s", file, number, wrong.problem, wrong.remedy)
		}
		reader.line = number
		parsed[d] = *reader
	}
	return parsed, nil
}

// parseLine returns a nil holder for a line without a token.
func parseLine(line string) (digest, *holder, *parseError) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if comment := slices.IndexFunc(fields, func(f string) bool { return f[0] == '#' }); comment >= 0 {
		fields = fields[:comment]
	}
	if len(fields) == 0 {
		return digest{}, nil, nil
	}
	d, wrong := parseToken(fields[0])
	if wrong != nil {
		return digest{}, nil, wrong
	}
	reader := &holder{}
	for _, field := range fields[1:] {
		if wrong := reader.parseSetting(field); wrong != nil {
			return digest{}, nil, wrong
		}
	}
	if reader.name == "" {
		reader.name = "sha256:" + hex.EncodeToString(d[:6])
	}
	slices.Sort(reader.sessions)
	reader.sessions = slices.Compact(reader.sessions)
	return d, reader, nil
}

func parseToken(field string) (digest, *parseError) {
	hash, hashed := strings.CutPrefix(field, "sha256:")
	if !hashed {
		if !isWellFormed(field) {
			return digest{}, &badToken
		}
		return digestOf(field), nil
	}
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != sha256.Size {
		return digest{}, &badHash
	}
	return digest(raw), nil
}

var label = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (r *holder) parseSetting(field string) *parseError {
	key, value, _ := strings.Cut(field, "=")
	switch key {
	case "session":
		session, err := url.PathUnescape(value)
		if err != nil || session == "" || len(session) > maxSession {
			return &badSession
		}
		if len(r.sessions) == maxSessions {
			return &tooMany
		}
		r.sessions = append(r.sessions, session)
	case "name":
		if r.name != "" {
			return &twoNames
		}
		if !label.MatchString(value) {
			return &badName
		}
		r.name = value
	default:
		return &badSetting
	}
	return nil
}

// isWellFormed reports whether a token has the form of RFC 6750, where = is only allowed at the
// end, and room for 128 bits.
func isWellFormed(token string) bool {
	if len(token) > maxToken {
		return false
	}
	digits := strings.TrimRight(token, "=")
	return len(digits) >= minToken && strings.IndexFunc(digits, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._~+/-", c)
	}) < 0
}
