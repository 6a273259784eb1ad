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

// Limits of a tokens file. A line has no limit of its own.
const (
	maxFile     = 1 << 20 // bytes
	maxTokens   = 10_000
	maxSessions = 100 // a token
	maxSession  = event.MaxSession
	minToken    = 22  // characters of base64, which are 128 bits
	maxToken    = 512 // characters
)

// digest is the SHA-256 of a token or a ticket, which is all that is kept of it. Looking it up in a map tells an attacker
// who measures the time nothing of use: what is compared is not their guess but its hash, which they cannot steer towards
// a stored one, and a stored hash would not give them 128 random bits back.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// reader is whom a token was given to.
type reader struct {
	name     string
	sessions []string // sorted, each once; nil: all
	line     int
}

type tokens map[digest]reader

// mistake is why a line is refused. It never quotes the line, where a token may stand in any place.
type mistake struct{ problem, remedy string }

var (
	badToken = mistake{
		"the line does not begin with a token of 22 to 512 characters from A-Z a-z 0-9 . _ ~ + / - (and = at its end)",
		"write one made by: openssl rand -base64 24",
	}
	badHash    = mistake{"sha256: is not followed by 64 hexadecimal digits", "write those of: printf %s TOKEN | sha256sum"}
	badSetting = mistake{"what follows the token is neither session=ID nor name=LABEL", "write one token a line, and comments behind #"}
	badSession = mistake{
		"a session's id is empty, longer than 250 bytes, or has a % without two hexadecimal digits behind it",
		"write it as in the path of /events/ID, where a space is %20 and a % is %25",
	}
	badName     = mistake{"the name has not 1 to 64 characters from A-Z a-z 0-9 . _ -", "choose such a name"}
	twoNames    = mistake{"the token has two names", "delete one"}
	tooMany     = mistake{fmt.Sprintf("the token has more than %d sessions", maxSessions), "leave session= away, or use several tokens"}
	tokensLimit = mistake{fmt.Sprintf("the file has more than %d tokens", maxTokens), "delete those that nobody uses"}
)

// parse reads a tokens file, or says where its first mistake is and what to do about it.
func parse(file string, content []byte) (tokens, error) {
	parsed := make(tokens)
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		d, who, wrong := parseLine(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		first, twice := parsed[d]
		switch {
		case wrong != nil:
		case who == nil:
			continue
		case twice:
			wrong = &mistake{fmt.Sprintf("the token is that of line %d", first.line), "put all of its sessions on one line"}
		case len(parsed) == maxTokens:
			wrong = &tokensLimit
		}
		if wrong != nil {
			return nil, fmt.Errorf("%s:%d: %s; %s", file, number, wrong.problem, wrong.remedy)
		}
		who.line = number
		parsed[d] = *who
	}
	return parsed, nil
}

// parseLine gives nobody for a line without a token.
func parseLine(line string) (digest, *reader, *mistake) {
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
	who := &reader{}
	for _, field := range fields[1:] {
		if wrong := who.set(field); wrong != nil {
			return digest{}, nil, wrong
		}
	}
	if who.name == "" {
		who.name = "sha256:" + hex.EncodeToString(d[:6])
	}
	slices.Sort(who.sessions)
	who.sessions = slices.Compact(who.sessions)
	return d, who, nil
}

func parseToken(field string) (digest, *mistake) {
	hash, hashed := strings.CutPrefix(field, "sha256:")
	if !hashed {
		if !wellFormed(field) {
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

func (r *reader) set(field string) *mistake {
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

// wellFormed says whether a token has the form of RFC 6750, where = stands only at the end, and room for 128 bits.
func wellFormed(token string) bool {
	if len(token) > maxToken {
		return false
	}
	digits := strings.TrimRight(token, "=")
	return len(digits) >= minToken && strings.IndexFunc(digits, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._~+/-", c)
	}) < 0
}
