// Package access decides who may read the external stream, and listens for them: nobody reads without a grant, and a grant
// ends with what it was given for.
//
// A tokens file has one token a line: 128 random bits or more, in 22 to 512 characters from A-Z a-z 0-9 . _ ~ + / - with any
// number of = at the end, or sha256: and the 64 hexadecimal digits of such a token's hash. Behind it may stand name=LABEL,
// for limits and logs, and any number of session=ID, escaped as in a URL's path, to which the token is then bound. A # begins
// a comment. Two lines may have one name, as while a token is replaced. Put a new file in place by renaming it: one that is
// read half-written is taken at its word.
package access

import (
	"errors"
	"time"
)

// Settings say who may read.
type Settings struct {
	TokensFile         string           // of bearer tokens; "" for none
	ClientCertificates bool             // a certificate that WebConfigFile's client CA has signed is enough
	Anonymous          bool             // anyone may who asks for a loopback host
	AnonymousAnywhere  bool             // anyone may, at any address
	WebConfigFile      string           // of the exporter toolkit, which Serve is given too; "" for none
	MaxTickets         int              // given out and not yet used; at least one
	Report             func(error)      // told once, by any goroutine, of each change of the tokens file that is refused; nil: nobody
	Now                func() time.Time // nil: time.Now
}

// Gate gives grants. It is safe for concurrent use.
type Gate struct {
	tokens       *tokensFile // nil: no bearer tokens
	tickets      *tickets
	certificates bool
	passwords    bool // of the toolkit, which lets nobody pass without one
	anonymous    bool
	anyHost      bool // of the anonymous: see mayBeAnonymous
	now          func() time.Time
}

// New makes a gate, or says why its files cannot be read. See CheckListen for settings that contradict each other.
func New(s Settings) (*Gate, error) {
	web, err := readWebConfig(s.WebConfigFile)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		certificates: s.ClientCertificates || !s.named() && web.certificates == required,
		passwords:    !s.named() && web.passwords,
		anonymous:    s.open(),
		anyHost:      s.AnonymousAnywhere || web.authenticates(),
		now:          s.Now,
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.tickets = newTickets(g.now, s.MaxTickets)
	if s.TokensFile == "" {
		return g, nil
	}
	g.tokens = &tokensFile{path: s.TokensFile, now: g.now, report: s.Report}
	if err := g.tokens.reload(); err != nil {
		return nil, err
	}
	return g, nil
}

// open says whether someone may read who has not said who they are.
func (s Settings) open() bool { return s.Anonymous || s.AnonymousAnywhere }

// named says whether the settings themselves name a way in; if not, what the toolkit asks for is the way in.
func (s Settings) named() bool { return s.TokensFile != "" || s.ClientCertificates || s.open() }

// Reload reads the tokens file again. After an error the tokens are those from before.
func (g *Gate) Reload() error {
	if g.tokens == nil {
		return nil
	}
	return g.tokens.reload()
}

// Warning says what is unwise, though valid, about the tokens file as it was read last; nil for nothing.
func (g *Gate) Warning() error {
	if g.tokens == nil {
		return nil
	}
	return g.tokens.warning()
}

// Counts are totals since New.
type Counts struct {
	FailedReadings uint64 // of the tokens file, after which the tokens stayed as they were
	EvictedTickets uint64 // that made room for later ones, unused
}

// Counts says what was lost.
func (g *Gate) Counts() Counts {
	c := Counts{EvictedTickets: g.tickets.evicted.Load()}
	if g.tokens != nil {
		c.FailedReadings = g.tokens.failures.Load()
	}
	return c
}

// ErrUnauthorized is every refusal. That it is one for all keeps a reader from learning what there would be to read.
var ErrUnauthorized = errors.New("access: no valid bearer token, ticket or client certificate")
